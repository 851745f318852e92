"""Write attempts into the journal: one thread writes them in groups, another waits for the disk meanwhile."""

from __future__ import annotations

import logging
import queue
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from collector.asking.askers import AttemptResult
    from collector.journal.writer import JournalWriter

MAX_GROUP = 500
# How soon a thread that waits sees that this is closed.
_LOOK_SECONDS = 0.5
# How long to gather more attempts if no thread waits: writing each answer alone would slow asking down.
_GATHER_SECONDS = 0.02

logger = logging.getLogger(__name__)


class _End:
    """The end of the attempts."""

    def __init__(self, failure: BaseException | None) -> None:
        self.failure = failure


@dataclass(frozen=True, slots=True)
class _Queued:
    """A queued attempt; `written` is set as soon as it would survive the end of this process."""

    result: AttemptResult
    written: threading.Event | None = None


class _Waiting:
    """A bounded queue of attempts to write. `take` removes many at once, and so wakes waiting threads once for all.

    Args:
        capacity: the bound.
        is_closed: when set, nothing more is taken in.
    """

    def __init__(self, capacity: int, is_closed: threading.Event) -> None:
        self._capacity = capacity
        self._is_closed = is_closed
        self._items: list[_Queued | _End] = []
        lock = threading.Lock()
        self._has_come, self._has_space = threading.Condition(lock), threading.Condition(lock)

    def put(self, item: _Queued | _End) -> None:
        """Add an item as soon as there is space."""
        with self._has_space:
            while len(self._items) >= self._capacity and not self._is_closed.is_set():
                self._has_space.wait(_LOOK_SECONDS)
            if not self._is_closed.is_set():
                self._items.append(item)
                self._has_come.notify()

    def take(self, most: int, seconds: float = 0.0) -> list[_Queued | _End]:
        """Return what is waiting, oldest first and no more than `most`; wait so long for the first."""
        with self._has_come:
            if not self._items and seconds:
                self._has_come.wait(seconds)
            taken = self._items[:most]
            del self._items[:most]
            self._has_space.notify_all()
        return taken


class JournalQueue:
    """Writes all waiting attempts into the journal at once, and reports those that are on disk.

    Only one thread writes, so that an interrupt, which reaches the main thread, cannot split a group. Another thread waits for
    the disk.

    Args:
        writer: the run's journal.
        capacity: how many attempts may wait to be written; the next one blocks its thread. Twice as many may be written
            and not on disk.
        counts: counts the last attempts on disk by status. The syncing thread counts, because an interrupt could stop the main
            thread between two of them.

    Attributes:
        failure: why the journal could not be written, None while it could.
    """

    def __init__(self, writer: JournalWriter, capacity: int, counts: Counter[str]) -> None:
        self.failure: BaseException | None = None
        self._counts = counts
        self._writer = writer
        self._is_closed = threading.Event()
        self._waiting = _Waiting(capacity, self._is_closed)
        self._most_in_group = min(capacity, MAX_GROUP)
        self._most_unsynced = 2 * capacity
        self._n_unsynced = 0
        self._synced = threading.Condition()
        self._written: queue.SimpleQueue[list[AttemptResult] | _End | None] = queue.SimpleQueue()
        self._outgoing: queue.SimpleQueue[list[AttemptResult] | _End] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=work, name=f"journal-{name}", daemon=True)
            for name, work in (("write", self._write), ("sync", self._sync))
        ]
        for thread in self._threads:
            thread.start()

    def keep(self, result: AttemptResult) -> None:
        """Queue an attempt without waiting, if asking again is free. After `close` nothing is queued."""
        self._waiting.put(_Queued(result))

    def keep_written(self, result: AttemptResult) -> None:
        """Queue an attempt and block until it is written, so that a crash loses at most one answer per thread."""
        written = threading.Event()
        self._waiting.put(_Queued(result, written))
        while not written.wait(_LOOK_SECONDS) and not self._is_closed.is_set():
            pass

    def end(self, failure: BaseException | None) -> None:
        """Mark the end of the attempts, with the error that caused it, if any."""
        self._waiting.put(_End(failure))

    def synced_groups(self, poll_seconds: float) -> Iterator[list[AttemptResult] | None]:
        """Yield groups of attempts that are on disk, and None where none came for so long, until the end.

        Raises:
            LedgerError: the journal cannot be written.
            BaseException: the error that `end` was called with.
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

    def close(self) -> list[AttemptResult]:
        """Write all submitted attempts, take no more, and return those not yet yielded; `failure` says if that failed."""
        self._is_closed.set()
        for thread in self._threads:
            thread.join()
        rest: list[AttemptResult] = []
        while True:
            try:
                group = self._outgoing.get_nowait()
            except queue.Empty:
                return rest
            rest += [] if isinstance(group, _End) else group

    def _write(self) -> None:
        try:
            for group in self._groups():
                self._wait_for_disk(len(group))
                self._writer.write([one.result.row for one in group])
                for one in group:
                    if one.written is not None:
                        one.written.set()
                self._written.put([one.result for one in group])
        except BaseException as error:  # noqa: BLE001 (a thread's error has to reach the caller, whatever it is)
            self._fail(error)
            self._written.put(_End(error))
        self._written.put(None)

    def _wait_for_disk(self, n: int) -> None:
        """Block until this many more may be written without too many being unsynced; the asking threads wait meanwhile."""
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
        """Sync all written groups to disk at once, until the end."""
        item: list[AttemptResult] | _End | None = []
        while item is not None:
            group: list[AttemptResult] = []
            item = self._written.get()
            while isinstance(item, list):
                group += item
                try:
                    item = self._written.get_nowait()
                except queue.Empty:
                    break
            try:
                if group:
                    # After a failure this fails again, so that no lost attempt counts as kept.
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

    def _groups(self) -> Iterator[list[_Queued]]:
        """Yield all waiting attempts as groups, until the end or until this is closed and nothing is left."""
        while True:
            taken = self._waiting.take(self._most_in_group, _LOOK_SECONDS)
            if not taken and self._is_closed.is_set():
                return
            if len(taken) < self._most_in_group and all(
                isinstance(one, _Queued) and one.written is None for one in taken
            ):
                self._is_closed.wait(_GATHER_SECONDS)
                taken += self._waiting.take(self._most_in_group - len(taken))
            # The end is always the last item.
            last = taken[-1] if taken else None
            end = last if isinstance(last, _End) else None
            if group := [one for one in taken if isinstance(one, _Queued)]:
                yield group
            if end is not None:
                self._written.put(end)
                return
