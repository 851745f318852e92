"""Runs of a ledger, and of the journals next to it, by what people call them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from biasledger.comparing.run_names import NamedRun, find_run
from collector.errors import InputError, LedgerError
from collector.journal.reader import journal_folder
from collector.ledger.database import Ledger, RunInfo
from collector.ledger.loading import read_head

_LATEST = frozenset({"latest", "previous"})


def known_runs(runs: list[RunInfo]) -> list[NamedRun]:
    """A ledger's runs in the order of `find_run`; those that were retracted come last."""
    return [
        NamedRun(one.run_id, one.audit, one.target)
        for one in sorted(runs, key=lambda one: (not one.is_retracted, _standing(one)), reverse=True)
    ]


def _standing(run: RunInfo) -> tuple[bool, bool, datetime, str]:
    """As int_runs ranks built runs: one that was never finished, or kept nothing, takes no other's place."""
    has_answers = run.n_responses > 0
    return (run.is_finished and has_answers, has_answers, run.started_at, run.run_id)


def run_in_ledger(ledger: Path, name: str) -> str:
    """Return the id of the run that a name means: its id, the beginning of one, its target, `latest` or `previous`.

    An unknown name is returned as it is: the caller that looks for the run reports it, and knows what the ledger lacks.

    Raises:
        InputError: several runs are called so.
    """
    try:
        runs = known_runs(Ledger(ledger).runs())
    except LedgerError:
        return name
    return _named(name, runs)


def run_in_journals(ledger: Path, name: str) -> str:
    """The same of the runs that have a journal, which may not be in the ledger yet; `latest` is the one begun last.

    Raises:
        InputError: several runs are called so, or `latest` is asked for and no run was collected.
    """
    paths = sorted(journal_folder(ledger).glob("*.jsonl"))
    if name not in _LATEST:
        return _named(name, [NamedRun(path.stem, "", "") for path in paths])
    heads = []
    for path in paths:
        try:
            heads.append(read_head(path).run)
        except LedgerError:  # what cannot be read cannot be gone on with
            continue
    if not heads:
        raise InputError(
            f"There is nothing to resume: no journal lies next to {ledger}, and imported runs are complete."
        )
    heads.sort(key=lambda run: (run.started_at, run.run_id), reverse=True)
    return _named(name, [NamedRun(run.run_id, run.audit, run.target) for run in heads])


def _named(name: str, runs: list[NamedRun]) -> str:
    if name not in _LATEST and not any(run.run_id.startswith(name) or run.target == name for run in runs):
        return name
    return find_run(name, runs, None, can_narrow=False).run_id
