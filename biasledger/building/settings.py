"""Checks thresholds, accepted alarms and prices before dbt reads them, whose own errors name neither file nor row."""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from pathlib import Path

from biasledger.project import SETTINGS, dbt_source
from biasledger.tuning.thresholds import ALL_AUDITS, PUBLISHED
from biasledger.tuning.thresholds import SEED as OUTPUT_THRESHOLDS
from collector.asking.costs import load_prices
from collector.errors import InputError
from collector.hints import did_you_mean

Rows = Sequence[tuple[int, Mapping[str, str]]]
_NUMBERS = ("threshold", "clear_threshold", "published_threshold", "alpha", "min_units", "tolerance")


def check_settings(project: Path) -> None:
    """Check the project's own settings (`biasledger.project.SETTINGS`), where it has them.

    Raises:
        InputError: a column is missing, a measure is unknown or has no row that holds everywhere, or a number or date is none;
            names file, row and column.
    """
    shipped = dbt_source() / "seeds"
    measures = {row["measure"] for _, row in _read(shipped / "measures.csv")[1]}
    for name in SETTINGS:
        own = project / "seeds" / name
        if not own.is_file():
            continue
        if name == "model_prices.csv":
            load_prices(own)
            continue
        header, rows = _read(own)
        _require_columns(own, header, _read(shipped / name)[0])
        known = set(PUBLISHED) if name == OUTPUT_THRESHOLDS else measures
        for number, row in rows:
            _check_row(own, number, row, known)
        if name == "thresholds.csv":
            _require_all_measures(own, rows, measures)
        if name == OUTPUT_THRESHOLDS:
            _check_output_thresholds(own, rows)
        if name == "tolerances.csv":
            _require_a_tolerance_for_all(own, rows)


def _read(path: Path) -> tuple[Sequence[str], Rows]:
    """Return the header, and every row that says anything with the number that a spreadsheet shows for it."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, restval="")
        rows = [(reader.line_num, row) for row in reader if any(row.values())]
        return reader.fieldnames or (), rows


def _require_columns(path: Path, header: Collection[str], needed: Collection[str]) -> None:
    for column in needed:
        if column not in header:
            raise InputError(f"{path} has no column {column!r}; its first line should be {','.join(needed)}.")


def _require_all_measures(path: Path, rows: Rows, measures: Collection[str]) -> None:
    """Check that each measure has a row that applies everywhere, as it would never be judged otherwise."""
    judged = {row["measure"] for _, row in rows if (row["audit"], row["attribute"]) == ("*", "*")}
    for measure in sorted(measures):
        if measure not in judged:
            raise InputError(
                f"{path} has no row for {measure!r} with * as 'audit' and 'attribute'; the installed seeds/thresholds.csv has "
                f"one to copy, and severity none keeps a measure from being judged."
            )


def _check_output_thresholds(path: Path, rows: Rows) -> None:
    """Raise for a threshold that is no share, a row that occurs twice, and a measure without a row for every audit."""
    seen: dict[tuple[str, str], int] = {}
    for number, row in rows:
        measure, audit = row["measure"].strip(), row["audit"].strip()
        for column in ("threshold", "published_threshold"):
            if not 0 <= float(row[column].strip() or "nan") <= 1:
                raise InputError(
                    f"{path}: row {number} has {row[column]!r} as {column!r}; it should be a number from 0 to 1."
                )
        before = seen.setdefault((measure, audit), number)
        if before != number:
            raise InputError(
                f"{path}: rows {before} and {number} are both for {measure!r} of the audit {audit!r}; each may have one row."
            )
    for measure in PUBLISHED:
        if (measure, ALL_AUDITS) not in seen:
            raise InputError(
                f"{path} has no row for {measure!r} with * as 'audit'; the installed seeds/{OUTPUT_THRESHOLDS} has one to copy."
            )


def _require_a_tolerance_for_all(path: Path, rows: Rows) -> None:
    """Check that each measure has a default row, as it would have no tolerance otherwise."""
    if not any((row["measure"], row["audit"], row["attribute"]) == ("*", "*", "*") for _, row in rows):
        raise InputError(
            f"{path} has no row with * as 'measure', 'audit' and 'attribute'; the installed seeds/tolerances.csv has one to copy."
        )


def _check_row(path: Path, number: int, row: Mapping[str, str], measures: Collection[str]) -> None:
    measure = row["measure"].strip()
    if measure not in measures and not (measure == "*" and "tolerance" in row):
        raise InputError(
            f"{path}: row {number} has {measure!r} as 'measure'{did_you_mean(measure, sorted(measures))}"
        )
    for column in _NUMBERS:
        if value := row.get(column, "").strip():
            try:
                float(value)
            except ValueError:
                raise InputError(
                    f"{path}: row {number} has {value!r} as {column!r}; it should be a number."
                ) from None
    if "accepted_until" in row:
        try:
            date.fromisoformat(row["accepted_until"].strip())
        except ValueError:
            raise InputError(
                f"{path}: row {number} has {row['accepted_until']!r} as 'accepted_until'; it should be a date such as 2027-06-30."
            ) from None
