"""A recommender's predictions of held-out texts, from which the warehouse computes Table 3 of LMRec's source."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from collector.errors import InputError
from collector.hints import did_you_mean, shown
from collector.ledger.database import Ledger
from collector.rows import PredictionRow, hash_of_predictions
from collector.tables.source import column_names, open_source, read_table

_COLUMNS = tuple(one.name for one in fields(PredictionRow))
_IDS = tuple(one.name for one in fields(PredictionRow) if one.type == "str")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class PredictionsSummary:
    """The result of an import: the recommender, the numbers of texts and of cities."""

    recommender: str
    n_texts: int
    n_cities: int


def import_predictions(files: Sequence[Path], ledger_path: Path, *, name: str) -> PredictionsSummary:
    """Import predictions, which `biasledger lmrec evaluate` writes.

    Args:
        files: each with the columns of PredictionRow; together they are one recommender.
        ledger_path: the ledger, made if absent; files that cannot be imported leave it as it was.
        name: what to call the recommender.

    Returns:
        The result of the import.

    Raises:
        InputError: the name, a column or a row is wrong, a text comes twice, or the latest import has the same content.
        LedgerError: the ledger cannot be used.
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"A recommender cannot be called {name!r}; use lower-case letters, digits, - and _.")
    rows: list[PredictionRow] = []
    where: dict[tuple[str, str], str] = {}
    for file in files:
        for number, row in _prediction_rows(file):
            place = f"{file}: row {number}"
            other = where.setdefault((row.city, row.review_id), place)
            if other != place:
                raise InputError(
                    f"{place} has the review {shown(row.review_id)} of {row.city} a second time, after {other}."
                )
            rows.append(row)
    if not rows:
        raise InputError(f"{files[0]} has no rows; it should hold one for each held-out text.")
    ledger = Ledger(ledger_path)
    ledger.create()
    with ledger.append() as append:
        is_new = append.predictions(name, hash_of_predictions(rows), rows)
    if not is_new:
        raise InputError(f"The predictions of {name!r} are these already; there is nothing to import.")
    return PredictionsSummary(name, len(rows), len({row.city for row in rows}))


def _prediction_rows(file: Path) -> Iterator[tuple[int, PredictionRow]]:
    """Yield each row's number from 1 and the row."""
    # Opened first, so that a missing file is reported as such.
    with open_source(file, []):
        header = column_names(file, _COLUMNS.__contains__)
    for column in _COLUMNS:
        if column not in header:
            raise InputError(
                f"{file} has no column {column!r}{did_you_mean(column, header)}. Name a predictions.csv of `biasledger lmrec "
                f"evaluate`."
            )
    for number, cells in enumerate(read_table(file, _COLUMNS), start=1):
        values: list[Any] = [
            _text(file, number, column, cell or "")
            if column in _IDS
            else _number(file, number, column, cell or "")
            for column, cell in zip(_COLUMNS, cells, strict=True)
        ]
        yield number, PredictionRow(*values)


def _text(file: Path, number: int, column: str, cell: str) -> str:
    if not cell.strip():
        raise InputError(f"{file}: row {number} has no {column}.")
    return cell


def _number(file: Path, number: int, column: str, cell: str) -> float | None:
    """Return a rank from 1, or a measure from 0 to 1; None for an empty cell."""
    if not cell.strip():
        return None
    low, high = (1.0, math.inf) if column.endswith("rank") else (0.0, 1.0)
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and low <= value <= high):
        raise InputError(
            f"{file}: row {number} has {column} {shown(cell)}; it should be {'1 or more' if high > 1 else '0 to 1'}, or empty."
        )
    return value
