"""Add the runs of an export to a ledger: a new one, or one that gathers the runs of several machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from collector.errors import InputError
from collector.exports.folder import OF_RUNS, SHARED, ExportedRun, Manifest
from collector.exports.reading import open_export
from collector.exports.states import LedgerRun, ledger_runs
from collector.journal.chain import Seal
from collector.ledger.database import Ledger
from collector.ledger.evidence import has_seal

if TYPE_CHECKING:
    import duckdb

MEMORY = "768MB"
# Tables that grow with a run that goes on; its row is the chain's first record, and its scores are no part of the chain.
_GROWING = tuple(table for table in OF_RUNS if table not in {"runs", "response_scores"})


@dataclass(frozen=True, slots=True)
class Gathered:
    """The result of taking in an export.

    Attributes:
        taken: the runs that came in.
        renewed: those of which the export had more than the ledger: records at the end of the chain, or scores.
        had: those of which the ledger has all.
        n_responses: how many responses came with the runs that came in.
    """

    taken: tuple[str, ...]
    renewed: tuple[str, ...]
    had: tuple[str, ...]
    n_responses: int


def take_in(folder: Path, manifest: Manifest, ledger_path: Path) -> Gathered:
    """Add to a ledger the parts of a verified export that it lacks, all of them or nothing.

    If both have a run, the longer chain is kept, provided that it continues the other one. An erasure in either is applied.

    Args:
        folder, manifest: the export.
        ledger_path: the ledger; made if absent.

    Raises:
        InputError: ledger and export have chains of a run neither of which goes on from the other.
        LedgerError: the ledger cannot be written.
    """
    is_new = not ledger_path.exists()
    ledger = Ledger(ledger_path)
    ledger.create()
    with ledger.read() as connection:
        held = {run.run_id: run for run in ledger_runs(connection)}
        taken = [run for run in manifest.runs.values() if run.run_id not in held]
        shared = [run for run in manifest.runs.values() if run.run_id in held]
        changed = [run for run in shared if run.state != held[run.run_id].state]
        longer = _longer(folder, manifest, changed, held, connection, ledger_path) if changed else []
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
        for run in longer:
            for table in _GROWING:
                append.without_rows_of_run(table, run.run_id)
                append.rows_of_run(table, folder / run.files[table].path, run.run_id)
        scored = [
            run
            for run in changed
            if append.scores_of_run(folder / run.files["response_scores"].path, run.run_id)
        ]
    if any(run.files["erasures"].rows for run in longer):
        ledger.rewrite()
    renewed = {run.run_id for run in (*longer, *scored)}
    return Gathered(
        tuple(run.run_id for run in taken),
        tuple(run.run_id for run in shared if run.run_id in renewed),
        tuple(run.run_id for run in shared if run.run_id not in renewed),
        sum(run.files["responses"].rows for run in taken),
    )


def _longer(
    folder: Path,
    manifest: Manifest,
    runs: Sequence[ExportedRun],
    held: Mapping[str, LedgerRun],
    ledger: duckdb.DuckDBPyConnection,
    ledger_path: Path,
) -> list[ExportedRun]:
    """Return the runs whose chain in the export continues the chain in the ledger.

    Raises:
        InputError: neither does in the ledger.
    """
    longer = []
    with open_export(folder, manifest) as exported:
        for run in runs:
            here, there = held[run.run_id].seal, Seal.parse(run.seal) if run.seal else None
            if here is not None and there is not None:
                if has_seal(ledger, run.run_id, there):
                    continue
                exported.show(run.run_id)
                if has_seal(exported.connection, run.run_id, here):
                    longer.append(run)
                    continue
            raise InputError(
                f"{ledger_path} and {folder} each have something of the run {run.run_id} that the other has not, so nothing was "
                f"taken in. Name another ledger with --ledger."
            )
    return longer
