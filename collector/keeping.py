"""Keeps attempts: one thread writes them into the journal in groups, another brings the ledger up to date meanwhile."""

from __future__ import annotations

import logging
import queue
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from collector.errors import LedgerError
from collector.ledger import LedgerLockedError
from collector.loading import JournalLoader

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from collector.asking import Attempted
    from collector.journal import JournalWriter
    from collector.ledger import Ledger

MAX_GROUP = 500
# How soon a thread that waits sees that this is closed.
_LOOK_SECONDS = 0.5
# How long more is gathered where nobody waits: a write of each answer alone takes the machine from asking.
_GATHER_SECONDS = 0.02
LEDGER_SECONDS = 2.0
# Appending takes the machine from asking: at most a tenth of the time.
LEDGER_SHARE = 0.1
# Where each append stays a row group of its own, which takes 256 kB at least, it should bring so much of a journal.
LEDGER_BYTES = 1 << 20

logger = logging.getLogger(__name__)


class _End:
    """The end of what is to be kept: nothing more will come."""

    def __init__(self, failure: BaseException | None) -> None:
        self.failure = failure


@dataclass(frozen=True, slots=True)
class _Handed:
    """An attempt that was handed in; `written` is set when the end of this process cannot take it away any more."""

    attempted: Attempted
    written: threading.Event | None = None


class Keeper:
    """Writes attempts into the journal, as many at once as are waiting, and says which are kept.

    One thread writes, so that an interrupt, which always meets the main thread, never meets a half-written group. Another one
    waits for the disk meanwhile, however slow that is.

    Args:
        writer: the run's journal.
        capacity: how many attempts may wait to be written; whoever brings another one waits, too. Twice as many may be written
            and not on disk.
        counts: gains the last attempts at questions that are on disk, by status. They are counted by the thread that brings them
            there: an interrupt could meet the main thread between two of them.

    Attributes:
        failure: why the journal could not be written, None while it could.
    """

    def __init__(self, writer: JournalWriter, capacity: int, counts: Counter[str]) -> None:
        self.failure: BaseException | None = None
        self._counts = counts
        self._writer = writer
        self._incoming: queue.Queue[_Handed | _End] = queue.Queue(capacity)
        self._most_in_group = min(capacity, MAX_GROUP)
        self._most_unsynced = 2 * capacity
        self._n_unsynced = 0
        self._synced = threading.Condition()
        self._written: queue.SimpleQueue[list[Attempted] | _End | None] = queue.SimpleQueue()
        self._outgoing: queue.SimpleQueue[list[Attempted] | _End] = queue.SimpleQueue()
        self._is_closed = threading.Event()
        self._threads = [
            threading.Thread(target=work, name=f"journal-{name}", daemon=True)
            for name, work in (("write", self._write), ("sync", self._sync))
        ]
        for thread in self._threads:
            thread.start()

    def keep(self, attempted: Attempted) -> None:
        """Hand in an attempt; after `close` nothing is taken any more."""
        self._put(_Handed(attempted))

    def keep_written(self, attempted: Attempted) -> None:
        """Hand in an attempt and wait until it is written, or this is closed: who asks on before could lose two answers."""
        written = threading.Event()
        self._put(_Handed(attempted, written))
        while not written.wait(_LOOK_SECONDS) and not self._is_closed.is_set():
            pass

    def end(self, failure: BaseException | None) -> None:
        """Say that nothing more will come, and why, if that was an error."""
        self._put(_End(failure))

    def kept(self, poll_seconds: float) -> Iterator[list[Attempted] | None]:
        """Yield groups of attempts that are on disk, and None where none came for so long, until the end.

        Raises:
            LedgerError: the journal cannot be written.
            BaseException: what `end` was told.
        """
        while True:
            try:
                group = self._outgoing.get(timeout=poll_seconds)
            except queue.Empty:
                yield None
                continue
            if not isinstance(group, _End):
                yield group
                continue
            if group.failure is not None:
                raise group.failure
            return

    def close(self) -> list[Attempted]:
        """Write what was handed in, take no more, and return what is kept and was not yielded; `failure` says if that failed."""
        self._is_closed.set()
        for thread in self._threads:
            thread.join()
        rest: list[Attempted] = []
        while True:
            try:
                group = self._outgoing.get_nowait()
            except queue.Empty:
                return rest
            rest += [] if isinstance(group, _End) else group

    def _put(self, item: _Handed | _End) -> None:
        while not self._is_closed.is_set():
            try:
                self._incoming.put(item, timeout=_LOOK_SECONDS)
            except queue.Full:
                continue
            return

    def _write(self) -> None:
        try:
            for group in self._groups():
                self._wait_for_disk(len(group))
                self._writer.write([one.attempted.row for one in group])
                for one in group:
                    if one.written is not None:
                        one.written.set()
                self._written.put([one.attempted for one in group])
        except BaseException as error:  # noqa: BLE001 (a thread's error has to reach the caller, whatever it is)
            self._fail(error)
            self._written.put(_End(error))
        self._written.put(None)

    def _wait_for_disk(self, n: int) -> None:
        """Return when so many more may be written before the disk has taken what was; those who ask wait meanwhile."""
        with self._synced:
            self._synced.wait_for(
                lambda: self.failure is not None or self._n_unsynced + n <= self._most_unsynced
            )
            self._n_unsynced += n

    def _fail(self, error: BaseException) -> None:
        self._is_closed.set()
        with self._synced:
            self.failure = self.failure or error
            self._synced.notify_all()

    def _sync(self) -> None:
        """Bring what was written to disk, as many groups at once as there are, until the end."""
        item: list[Attempted] | _End | None = []
        while item is not None:
            group: list[Attempted] = []
            item = self._written.get()
            while isinstance(item, list):
                group += item
                try:
                    item = self._written.get_nowait()
                except queue.Empty:
                    break
            try:
                if group:
                    # After a failure it fails again, so that nothing counts as kept which may not be.
                    self._writer.sync()
                    self._counts.update(one.row.status for one in group if one.row.is_last)
                    self._outgoing.put(group)
                    with self._synced:
                        self._n_unsynced -= len(group)
                        self._synced.notify_all()
            except BaseException as error:  # noqa: BLE001 (as above)
                self._fail(error)
                self._outgoing.put(_End(error))
            if isinstance(item, _End):
                self._outgoing.put(item)

    def _groups(self) -> Iterator[list[_Handed]]:
        """Yield all that is waiting, again and again, until the end or until this is closed and nothing is left."""
        while True:
            group: list[_Handed] = []
            end: _End | None = None
            try:
                item = self._incoming.get(timeout=0.1)
                if isinstance(item, _Handed) and item.written is None:
                    self._is_closed.wait(_GATHER_SECONDS)
                while True:
                    if isinstance(item, _End):
                        end = item
                        break
                    group.append(item)
                    if len(group) >= self._most_in_group:
                        break
                    item = self._incoming.get_nowait()
            except queue.Empty:
                if not group and self._is_closed.is_set():
                    return
            if group:
                yield group
            if end is not None:
                self._written.put(end)
                return


class LedgerFollower:
    """Brings the ledger up to date with the journal while that grows; while it cannot, collecting goes on.

    Args:
        path: the journal.
        ledger: the ledger; made if absent.
        offset: gives the byte up to which the journal is on disk.
        is_current: the ledger is there, with the newest schema.
    """

    def __init__(
        self, path: Path, ledger: Ledger, offset: Callable[[], int], *, is_current: bool = False
    ) -> None:
        self._ledger = ledger
        self._loader = JournalLoader(path, ledger)
        self._offset = offset
        self._is_current = is_current
        self._loaded = 0
        self._has_warned = False
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="ledger", daemon=True)

    def start(self) -> None:
        """Write what the journal holds already and start to follow.

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
