"""The runs of a ledger and of the journals next to it: how far each has come, also while it is being collected."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from collector.errors import LedgerError
from collector.journal.reader import end_of, is_being_written
from collector.ledger.database import WAIT_SECONDS, Ledger, LedgerLockedError, RunInfo
from collector.ledger.loading import Head, read_heads
from collector.rows import INTERRUPTED, NO_PROGRESS

LOCK_SECONDS = 2.0
# Quotes inside JSON texts are escaped, so neither occurs in a text, and whole bodies need not be parsed.
_DONE = b'"is_last":true'
_FAILED = b'"status":"error"'
_RESPONSE = b'"kind":"response"'
_EVENT = b'"kind":"event"'


@dataclass(frozen=True, slots=True)
class RunOverview:
    """A run and how far it has come.

    Attributes:
        state: its last event: started, resumed, stopped, finished, failed, interrupted; None where it has none.
        n_planned: trials to be asked in all; None without a journal, as for imports.
        n_asked: attempts kept; None without a journal.
        n_kept: trials that are done; without a journal those in the ledger.
        n_ahead: records that the journal has and the ledger has not; None where the ledger could not be read.
        is_being_collected: a process is writing its journal now.
    """

    run_id: str
    audit: str
    target: str
    is_simulated: bool
    model_asked: str | None
    started_at: datetime
    state: str | None
    n_planned: int | None
    n_asked: int | None
    n_kept: int
    n_ahead: int | None
    is_being_collected: bool

    @property
    def is_complete(self) -> bool:
        """Return whether all that was planned is kept."""
        return self.state == "finished" if self.n_planned is None else self.n_kept >= self.n_planned


@dataclass(frozen=True, slots=True)
class _Progress:
    state: str
    n_asked: int
    n_kept: int


def list_runs(ledger_path: Path, *, wait_seconds: float | None = None) -> tuple[list[RunOverview], list[str]]:
    """Return the runs of a ledger and of its journals, oldest first, and a sentence for each thing that could not be read.

    Args:
        ledger_path: the ledger.
        wait_seconds: how long to wait for a process that has it open; None waits longer where there is no journal to list.

    Raises:
        LedgerError: there is neither a ledger nor a journal, or the ledger is none.
    """
    listed_heads, notes = read_heads(ledger_path)
    heads = {head.run_id: head for head in listed_heads}
    if wait_seconds is None:
        # With journals there is something to list without the ledger, too.
        wait_seconds = LOCK_SECONDS if heads else WAIT_SECONDS
    ledger = Ledger(ledger_path, wait_seconds=wait_seconds)
    in_ledger: dict[str, RunInfo] = {}
    loaded: Mapping[str, int] | None = {}
    if ledger_path.is_file() or not heads:
        try:
            in_ledger = {info.run_id: info for info in ledger.runs()}
            loaded = ledger.chain_lengths()
        except LedgerLockedError as error:
            if not heads:
                raise
            notes.append(f"{error} Only what has a journal is listed.")
            loaded = None
    listed = [_of_ledger(info) for info in in_ledger.values() if info.run_id not in heads]
    for head in heads.values():
        try:
            listed.append(_of_journal(head, loaded))
        except LedgerError as error:
            notes.append(str(error))
    return sorted(listed, key=lambda run: (run.started_at, run.run_id)), notes


def _of_ledger(info: RunInfo) -> RunOverview:
    return RunOverview(
        run_id=info.run_id,
        audit=info.audit,
        target=info.target,
        is_simulated=info.is_simulated,
        model_asked=info.model_asked,
        started_at=info.started_at,
        state=info.state,
        n_planned=None,
        n_asked=None,
        n_kept=info.n_responses,
        n_ahead=0,
        is_being_collected=False,
    )


def _of_journal(head: Head, loaded: Mapping[str, int] | None) -> RunOverview:
    # In this order: a collector that goes on meanwhile can only look more complete, not less.
    is_being_collected = is_being_written(head.path)
    progress = _progress(head.path)
    run = head.run
    return RunOverview(
        run_id=run.run_id,
        audit=run.audit,
        target=run.target,
        is_simulated=run.is_simulated,
        model_asked=run.model_asked,
        started_at=run.started_at,
        state=progress.state,
        n_planned=int(head.started["planned"]),
        n_asked=progress.n_asked,
        n_kept=progress.n_kept,
        n_ahead=None if loaded is None else max(0, end_of(head.path).count - loaded.get(run.run_id, 0)),
        is_being_collected=is_being_collected,
    )


def _progress(path: Path) -> _Progress:
    """Count a journal's responses by searching their lines, without parsing them."""
    state, n_asked, n_kept, n_failed_last = "", 0, 0, 0
    with path.open("rb") as stream:
        for line in stream:
            if not line.endswith(b"\n"):
                break
            if _RESPONSE in line:
                n_asked += 1
                if _DONE in line:
                    n_kept += 1
                    n_failed_last = n_failed_last + 1 if _FAILED in line else 0
            elif _EVENT in line:
                try:
                    body = json.loads(line)["body"]
                    if body["event"] in NO_PROGRESS:
                        continue
                    is_interrupt = body["event"] == "failed" and body["detail"].get("reason") == INTERRUPTED
                    state = INTERRUPTED if is_interrupt else body["event"]
                    if body["detail"].get("by_target"):
                        # Trials that failed with the target are asked again, see `RunState`.
                        n_kept, n_failed_last = n_kept - n_failed_last, 0
                    # A resumed run may ask again what had failed.
                    n_kept = body["detail"].get("kept", n_kept) if state == "resumed" else n_kept
                except (ValueError, KeyError, TypeError, AttributeError):
                    raise LedgerError(
                        f"{path} holds an event that cannot be read; `biasledger verify {path.stem}` says more."
                    ) from None
    return _Progress(state, n_asked, n_kept)
