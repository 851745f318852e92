"""Takes the runs of an export into a ledger: one made anew, or one that gathers what several machines collected."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from collector.errors import InputError
from collector.exports.folder import OF_RUNS, SHARED, Manifest
from collector.exports.states import ledger_runs
from collector.ledger.database import Ledger

MEMORY = "768MB"


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What was done: the runs that came in, those that the ledger had, and how many responses came."""

    taken: tuple[str, ...]
    had: tuple[str, ...]
    n_responses: int


def take_in(folder: Path, manifest: Manifest, ledger_path: Path) -> TakenIn:
    """Take into a ledger what it lacks of an export that was verified, all of it or nothing.

    Args:
        folder, manifest: the export.
        ledger_path: the ledger; made if absent.

    Raises:
        InputError: the ledger has one of the runs otherwise than the export.
        LedgerError: the ledger cannot be written.
    """
    is_new = not ledger_path.exists()
    ledger = Ledger(ledger_path)
    ledger.create()
    with ledger.read() as connection:
        held = {run.run_id: run.state for run in ledger_runs(connection)}
    for run in manifest.runs.values():
        if held.get(run.run_id, run.state) != run.state:
            raise InputError(
                f"{ledger_path} has the run {run.run_id} otherwise than {folder}: one of both is older, or was changed. Name "
                f"another ledger with --ledger."
            )
    taken = [run for run in manifest.runs.values() if run.run_id not in held]
    with ledger.append(memory_limit=MEMORY, threads=1) as append:
        if is_new:
            append.date_migrations(
                {version: datetime.fromisoformat(moment) for version, _, moment in manifest.migrations}
            )
        for table, key in SHARED.items():
            if table in manifest.shared:
                append.shared_rows(table, folder / manifest.shared[table].path, key)
        for run in taken:
            for table in OF_RUNS:
                append.rows_of_run(table, folder / run.files[table].path, run.run_id)
            if run.seal is None:
                append.unchained(run.run_id)
    return TakenIn(
        tuple(run.run_id for run in taken),
        tuple(run_id for run_id in manifest.runs if run_id in held),
        sum(run.files["responses"].rows for run in taken),
    )
