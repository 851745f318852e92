"""Brings the ledger up to date with a journal while that is written."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from collector.errors import LedgerError
from collector.ledger.database import LedgerLockedError
from collector.ledger.loading import JournalLoader

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from collector.ledger.database import Ledger

LEDGER_SECONDS = 2.0
# Appending takes the machine from asking: at most a tenth of the time.
LEDGER_SHARE = 0.1
# If each append becomes a row group of its own (at least 256 kB), it should load this much of a journal.
LEDGER_BYTES = 1 << 22

logger = logging.getLogger(__name__)


class LedgerFollower:
    """Brings the ledger up to date with the journal while that grows; while it cannot, collecting goes on.

    Args:
        path: the journal.
        ledger: the ledger; made if absent.
        offset: gives the byte up to which the journal is on disk.
    """

    def __init__(self, path: Path, ledger: Ledger, offset: Callable[[], int]) -> None:
        self._ledger = ledger
        self._loader = JournalLoader(path, ledger)
        self._offset = offset
        # The ledger is there, with the newest schema.
        self._is_current = False
        self._loaded = 0
        self._has_warned = False
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="ledger", daemon=True)

    def start(self) -> None:
        """Load the present records of the journal and start to follow it.

        Raises:
            LedgerError: the ledger can never be written: it is no ledger, or belongs to something else.
        """
        try:
            self._load(0.0)
        except LedgerLockedError as error:
            self._warn(error)
        self._thread.start()

    def stop(self) -> None:
        """Follow no longer."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def finish(self, patience_seconds: float) -> LedgerError | None:
        """Stop to follow and write the rest and the seal; return what prevented it, None if nothing did.

        Args:
            patience_seconds: how long to wait while another process has the ledger open.
        """
        self.stop()
        try:
            self._load(patience_seconds, seal=True)
        except LedgerError as error:
            return error
        return None

    def _work(self) -> None:
        pause = LEDGER_SECONDS
        while not self._stopping.wait(pause):
            if self._loader.leaves_row_groups and self._offset() - self._loaded < LEDGER_BYTES:
                continue
            started = time.monotonic()
            try:
                self._load(0.0)
            except LedgerError as error:
                self._warn(error)
            pause = max(LEDGER_SECONDS, (time.monotonic() - started) / LEDGER_SHARE)

    def _load(self, wait_seconds: float, *, seal: bool = False) -> None:
        import duckdb

        try:
            if not self._is_current:
                self._ledger.create(wait_seconds=wait_seconds)
                self._is_current = True
            offset = self._offset()
            self._loader.load(offset, seal=seal, wait_seconds=wait_seconds)
            self._loaded = offset
        except (duckdb.Error, OSError) as error:
            first_line = str(error).splitlines()[0].rstrip(".")
            raise LedgerError(f"{self._ledger.path} cannot be written: {first_line}.") from error

    def _warn(self, error: LedgerError) -> None:
        if not self._has_warned:
            self._has_warned = True
            logger.warning(
                "%s Collecting goes on into the journal; the ledger is brought up to date as soon as it can be.",
                error,
            )
