"""Events of a run after it was collected or imported: at the end of its chain, and in its journal if it has one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from collector.journal.chain import event_body
from collector.journal.reader import journal_path
from collector.journal.writer import JournalWriter
from collector.ledger.loading import load_journal
from collector.rows import utc_now

if TYPE_CHECKING:
    from collector.ledger.database import Ledger


def keep_event(ledger: Ledger, run_id: str, event: str, detail: Mapping[str, Any]) -> None:
    """Put an event at the end of a run's chain, and seal it; a run of before chains were kept has the event alone.

    Raises:
        InputError: the run is being collected.
        LedgerError: its journal cannot be written, and nothing is kept; or the ledger cannot, and what has a journal is kept
            there until the next build loads it.
    """
    path = journal_path(ledger.path, run_id)
    if path.is_file():
        with JournalWriter.resume(path) as writer:
            writer.event(event, detail)
        load_journal(path, ledger)
        return
    now = utc_now()
    body = event_body(event, detail, now)
    with ledger.append() as append:
        append.extend_chain(run_id, "event", [body])
        append.event(run_id, event, body["detail"], now)
