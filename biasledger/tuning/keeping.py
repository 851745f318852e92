"""From a file of labels into the ledger, in the name of who gave them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from biasledger.tuning.labels import ADDRESS, HERE, hash_digits, key_columns, label_of
from collector.errors import InputError
from collector.files.csv import read_csv, require_cells
from collector.ledger.database import Ledger
from collector.ledger.labels import Label, Labelling, keep_labels

if TYPE_CHECKING:
    import duckdb

_OF_HASH = """
    select wanted.number, responses.run_id, responses.prompt_id, responses.trial
    from (select unnest($digits) as digits, unnest($numbers) as number) as wanted
    inner join raw.kept_responses as responses on starts_with(responses.content_hash, 'sha256:' || wanted.digits)
    where responses.response_text is not null
    group by all
"""


def keep_file(path: Path, ledger_path: Path, by: str) -> tuple[Labelling, int]:
    """Keep the labels of a file: of each output that a row names by its hash, in every run that has it.

    Args:
        path: a CSV file as `tune` reads it; rows without a label are left out.
        ledger_path: the ledger.
        by: who gave them.

    Returns:
        What was kept, and how many rows have no label.

    Raises:
        InputError: a row's label or answer is wrong, or no row has a label; names file and row.
        LedgerError: the ledger cannot be read or written.
    """
    rows = read_csv(path, "a row for each labelled answer", key_columns, seen_from=HERE)
    labels = {
        number: label for number, row in enumerate(rows, start=1) if (label := label_of(path, number, row))
    }
    if not labels:
        raise InputError(f"{path}: no row has a label.")
    ledger = Ledger(ledger_path)
    ledger.update()
    if "response" in rows[0]:
        with ledger.read() as connection:
            found = _by_hash(connection, path, rows, labels)
    else:
        found = [_by_address(path, number, rows[number - 1], label) for number, label in labels.items()]
    return keep_labels(ledger, found, by), len(rows) - len(labels)


def _by_hash(
    connection: duckdb.DuckDBPyConnection, path: Path, rows: Sequence[dict[str, str]], labels: dict[int, str]
) -> list[Label]:
    digits = {number: hash_digits(path, number, rows[number - 1]["response"]) for number in labels}
    found = connection.execute(
        _OF_HASH, {"digits": list(digits.values()), "numbers": list(digits)}
    ).fetchall()
    if absent := set(labels) - {number for number, *_ in found}:
        number = min(absent)
        raise InputError(
            f"{path}: row {number} has {rows[number - 1]['response']!r} as 'response', which is no answer of the ledger."
        )
    return [Label(run_id, prompt_id, trial, labels[number]) for number, run_id, prompt_id, trial in found]


def _by_address(path: Path, number: int, row: dict[str, str], label: str) -> Label:
    require_cells(path, number, row, ADDRESS)
    if not row["trial"].isdecimal():
        raise InputError(
            f"{path}: row {number} has {row['trial']!r} as 'trial'; it should be a whole number."
        )
    return Label(row["run"], row["prompt"], int(row["trial"]), label)
