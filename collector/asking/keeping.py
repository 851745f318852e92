"""Keeps attempts: one thread writes them into the journal in groups, another waits for the disk meanwhile."""

from __future__ import annotations

import logging
import queue
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from collector.asking.askers import Attempted
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
class _Handed:
    """A submitted attempt; `written` is set as soon as it would survive the end of this process."""

    attempted: Attempted
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
        self._items: list[_Handed | _End] = []
        lock = threading.Lock()
        self._has_come, self._has_space = threading.Condition(lock), threading.Condition(lock)

    def put(self, item: _Handed | _End) -> None:
        """Add an item as soon as there is space."""
        with self._has_space:
            while len(self._items) >= self._capacity and not self._is_closed.is_set():
                self._has_space.wait(_LOOK_SECONDS)
            if not self._is_closed.is_set():
                self._items.append(item)
                self._has_come.notify()

    def take(self, most: int, seconds: float = 0.0) -> list[_Handed | _End]:
        """Return what is waiting, oldest first and no more than `most`; wait so long for the first."""
        with self._has_come:
            if not self._items and seconds:
                self._has_come.wait(seconds)
            taken = self._items[:most]
            del self._items[:most]
            self._has_space.notify_all()
        return taken


class Keeper:
    """Writes attempts into the journal, as many at once as are waiting, and says which are kept.

    One thread writes, so that an interrupt, which always meets the main thread, never meets a half-written group. Another one
    waits for the disk meanwhile, however slow that is.

    Args:
        writer: the run's journal.
        capacity: how many attempts may wait to be written; the next one blocks its thread. Twice as many may be written
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
        self._is_closed = threading.Event()
        self._waiting = _Waiting(capacity, self._is_closed)
        self._most_in_group = min(capacity, MAX_GROUP)
        self._most_unsynced = 2 * capacity
        self._n_unsynced = 0
        self._synced = threading.Condition()
        self._written: queue.SimpleQueue[list[Attempted] | _End | None] = queue.SimpleQueue()
        self._outgoing: queue.SimpleQueue[list[Attempted] | _End] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=work, name=f"journal-{name}", daemon=True)
            for name, work in (("write", self._write), ("sync", self._sync))
        ]
        for thread in self._threads:
            thread.start()

    def keep(self, attempted: Attempted) -> None:
        """Hand in an attempt and go on: what costs nothing to ask for again, or stays at the service; none after `close`."""
        self._waiting.put(_Handed(attempted))

    def keep_written(self, attempted: Attempted) -> None:
        """Hand in an attempt and wait until it is written, or this is closed: who asks on before could lose two answers."""
        written = threading.Event()
        self._waiting.put(_Handed(attempted, written))
        while not written.wait(_LOOK_SECONDS) and not self._is_closed.is_set():
            pass

    def end(self, failure: BaseException | None) -> None:
        """Say that nothing more will come, and why, if that was an error."""
        self._waiting.put(_End(failure))

    def kept(self, poll_seconds: float) -> Iterator[list[Attempted] | None]:
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

    def close(self) -> list[Attempted]:
        """Write all submitted attempts, take no more, and return those not yet yielded; `failure` says if that failed."""
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
            taken = self._waiting.take(self._most_in_group, _LOOK_SECONDS)
            if not taken and self._is_closed.is_set():
                return
            if len(taken) < self._most_in_group and all(
                isinstance(one, _Handed) and one.written is None for one in taken
            ):
                self._is_closed.wait(_GATHER_SECONDS)
                taken += self._waiting.take(self._most_in_group - len(taken))
            # The end is always the last item.
            last = taken[-1] if taken else None
            end = last if isinstance(last, _End) else None
            if group := [one for one in taken if isinstance(one, _Handed)]:
                yield group
            if end is not None:
                self._written.put(end)
                return
