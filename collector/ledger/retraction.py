"""Retract a run, such as an import by a wrong spec: it counts for nothing any more, and its chain records this.

Unlike an erasure this removes nothing from the ledger: what was kept can still be checked, and older seals hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from collector.errors import InputError
from collector.hints import did_you_mean
from collector.journal.chain import Seal
from collector.journal.reader import journal_path
from collector.ledger.database import Ledger, RunInfo
from collector.ledger.events import keep_event
from collector.ledger.loading import load_journal
from collector.rows import RETRACTED


@dataclass(frozen=True, slots=True)
class Retracting:
    """The result of a retraction.

    Attributes:
        run: the run as it was listed before.
        was_retracted: it had been retracted before, and nothing was written.
        was_baseline: it was pinned as a baseline, which was undone.
        has_restored_analysis: the run had changed the audit's analysis, and the one before was restored.
        seal: its chain's end after it; None in a run of before chains were kept.
    """

    run: RunInfo
    was_retracted: bool
    was_baseline: bool
    has_restored_analysis: bool
    seal: Seal | None


def find_run_to_retract(ledger_path: Path, run_id: str) -> RunInfo:
    """Return the run that a call of `retract` would be about, what its journal has beyond the ledger included.

    Raises:
        InputError: there is no such run.
        LedgerError: the ledger cannot be read.
    """
    ledger = Ledger(ledger_path)
    ledger.update()
    path = journal_path(ledger_path, run_id)
    if path.is_file():
        load_journal(path, ledger)
    runs = {run.run_id: run for run in ledger.runs()}
    if run_id not in runs:
        hint = did_you_mean(run_id, list(runs)) or "; `biasledger runs` lists them."
        raise InputError(f"There is no run {run_id!r} in {ledger_path}{hint}")
    return runs[run_id]


def retract(ledger_path: Path, run_id: str, *, reason: str) -> Retracting:
    """Take a run back: from the next build on no table has anything of it, and its file may be imported again.

    An event `retracted` with the reason is put at the end of the run's chain, in its journal where it has one. Where the run is
    pinned as a baseline, the pin goes. Where the audit's analysis in force came with it, the one of before is registered again.
    Retracting again changes nothing.

    Args:
        ledger_path: the ledger.
        run_id: the run.
        reason: why, kept for good.

    Raises:
        InputError: no reason; no such run; or it is being collected.
        LedgerError: ledger or journal cannot be written.
    """
    if not reason.strip():
        raise InputError("To retract a run needs a reason, which is kept.")
    run = find_run_to_retract(ledger_path, run_id)
    ledger = Ledger(ledger_path)
    if not run.is_retracted:
        keep_event(ledger, run_id, RETRACTED, {"reason": reason.strip()})
    with ledger.append() as append:
        end = append.chain_end(run_id)
        was_baseline = append.clear_baselines_of(run_id)
        has_restored = append.restore_analysis_settings(run_id)
    return Retracting(run, run.is_retracted, was_baseline, has_restored, end)
