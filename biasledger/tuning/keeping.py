"""From a file of labels into the ledger, in the name of who gave them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from biasledger.tuning.labels import (
    ADDRESS,
    HERE,
    hash_digits,
    key_columns,
    labels_of_outputs,
    labels_of_rows,
)
from collector.errors import InputError
from collector.ledger.database import Ledger
from collector.ledger.labels import LABELS, Label, Labelling, keep_labels
from collector.rows import GRADED
from collector.tables.rows import read_rows, require_cells

if TYPE_CHECKING:
    import duckdb

DRAWN = "random"
_Address = tuple[str, str, int]  # run, prompt and trial
_OF_HASH = """
    select distinct
        wanted.number, responses.content_hash, responses.run_id, responses.prompt_id, responses.trial
    from (select unnest($digits) as digits, unnest($numbers) as number) as wanted
    inner join raw.kept_responses as responses on starts_with(responses.content_hash, 'sha256:' || wanted.digits)
    where responses.response_text is not null
    order by all
"""
_OTHER_VERSION = """
    select run_id from raw.kept_run_events
    where event = ? and list_contains(?, run_id) and detail ->> '$.rubric' = ? and detail ->> '$.rubric_hash' != ?
"""


def keep_file(
    path: Path,
    ledger_path: Path,
    by: str,
    rubric: str = "",
    answers: Sequence[str] = LABELS,
    rubric_hash: str = "",
) -> tuple[Labelling, int, int]:
    """Keep the labels of a file: of each output that a row names by its hash, in every run that has it.

    Args:
        path: a CSV file as `tune` reads it; rows without a label are left out. A column drawn says random of answers that were
            drawn at random.
        ledger_path: the ledger.
        by: who gave them.
        rubric, answers, rubric_hash: name, answers and hash of the rubric of a judge that they are answers of; without one they
            are acceptable or problematic.

    Returns:
        The stored labels, how many labelled answers were drawn at random, and how many rows have no label.

    Raises:
        InputError: a row's label, answer or drawn is wrong, its digits belong to several outputs, two rows contradict each other,
            no row has a label, or a judge graded by another version of the rubric; names file and row.
        LedgerError: the ledger cannot be read or written.
    """
    rows = read_rows(path, "a row for each labelled answer", key_columns, seen_from=HERE)
    labels = labels_of_rows(path, rows, tuple(answers))
    if not labels:
        raise InputError(f"{path}: no row has a label.")
    ledger = Ledger(ledger_path)
    ledger.update()
    if "response" in rows[0]:
        with ledger.read() as connection:
            found = _by_hash(connection, path, rows, labels)
    else:
        found = [(number, _address(path, number, rows[number - 1])) for number in labels]
    given = labels_of_outputs(path, labels, found)
    if rubric_hash:
        with ledger.read() as connection:
            asked = [GRADED, [run_id for run_id, *_ in given], rubric, rubric_hash]
            if other := connection.execute(_OTHER_VERSION, asked).fetchone():
                sentence = (
                    f"{path}: a judge graded run {other[0]} by another version of the rubric {rubric!r}"
                )
                raise InputError(f"{sentence}: give yours a name of its own.")
    drawn = {address for number, address in found if _is_drawn(path, number, rows[number - 1])}
    kept = Labelling(0, 0, 0)
    for is_drawn in (False, True):
        part = [Label(*one, label) for one, label in given.items() if (one in drawn) is is_drawn]
        kept += keep_labels(ledger, part, by, is_drawn=is_drawn, rubric=rubric)
    return kept, len(drawn), len(rows) - len(labels)


def _is_drawn(path: Path, number: int, row: dict[str, str]) -> bool:
    """Return whether a row is of an answer that was drawn at random."""
    drawn = row.get("drawn", "")
    if drawn not in {"", DRAWN}:
        raise InputError(
            f"{path}: row {number} has {drawn!r} as 'drawn'; it should be {DRAWN}, of an answer drawn at random, or nothing."
        )
    return drawn == DRAWN


def _by_hash(
    connection: duckdb.DuckDBPyConnection, path: Path, rows: Sequence[dict[str, str]], numbers: Iterable[int]
) -> list[tuple[int, _Address]]:
    """Return the answers that rows name by the hash of their output."""
    digits = {number: hash_digits(path, number, rows[number - 1]["response"]) for number in numbers}
    found = connection.execute(
        _OF_HASH, {"digits": list(digits.values()), "numbers": list(digits)}
    ).fetchall()
    hashes: dict[int, set[str]] = {number: set() for number in digits}
    for number, content_hash, *_ in found:
        hashes[number].add(content_hash)
    for number, named in hashes.items():
        if len(named) != 1:
            which = (
                "belongs to several outputs of the ledger; give more digits"
                if named
                else "is no answer of the ledger"
            )
            raise InputError(
                f"{path}: row {number} has {rows[number - 1]['response']!r} as 'response', which {which}."
            )
    return [(number, (run_id, prompt_id, trial)) for number, _, run_id, prompt_id, trial in found]


def _address(path: Path, number: int, row: dict[str, str]) -> _Address:
    require_cells(path, number, row, ADDRESS)
    if not row["trial"].isdecimal():
        raise InputError(
            f"{path}: row {number} has {row['trial']!r} as 'trial'; it should be a whole number."
        )
    return row["run"], row["prompt"], int(row["trial"])
