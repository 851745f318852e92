"""Write attempts into the journal: the thread that asked writes its own, and another thread waits for the disk."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from collector.asking.attempts import AttemptResult
    from collector.journal.writer import JournalWriter


class JournalQueue:
    """Writes attempts into the journal, and yields those that are on disk.

    A thread that asked writes its attempt before it asks again, so that a crash loses at most one answer per thread. One more
    thread brings all that was written meanwhile to disk at once. Neither runs in the main thread, so an interrupt cannot split a
    write.

    Args:
        writer: the run's journal.
        most_unsynced: how many attempts may be written and not on disk; the next one blocks its thread.
        counts: counts the last attempts on disk by status. The syncing thread counts, because an interrupt could stop the main
            thread between two of them.

    Attributes:
        failure: why the journal could not be written, None while it could.
        n_waiting: how many threads hold an attempt that has no space yet.
    """

    def __init__(self, writer: JournalWriter, most_unsynced: int, counts: Counter[str]) -> None:
        self.failure: BaseException | None = None
        self._writer = writer
        self._most_unsynced = most_unsynced
        self._counts = counts
        lock = threading.Lock()
        self._has_work, self._has_space = threading.Condition(lock), threading.Condition(lock)
        self._is_closed = False
        self._asking_failure: BaseException | None = None
        self._written: list[AttemptResult] = []
        # Those in `_written`, and those that the syncing thread brings to disk now.
        self._n_unsynced = 0
        self.n_waiting = 0
        # None is the end.
        self._synced: queue.SimpleQueue[list[AttemptResult] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._sync, name="journal-sync", daemon=True)
        self._thread.start()

    def keep(self, result: AttemptResult) -> None:
        """Write an attempt, as soon as fewer than `most_unsynced` attempts wait for the disk.

        An attempt that waits when `close` is called is still written; a later one is not, and none after a failure.
        """
        with self._has_space:
            if self._is_closed:
                return
            self.n_waiting += 1
            self._has_space.wait_for(
                lambda: self.failure is not None or self._n_unsynced < self._most_unsynced
            )
            self.n_waiting -= 1
            if self.failure is not None:
                return
            try:
                self._writer.write([result.row])
            except BaseException as error:  # noqa: BLE001 (a thread's error has to reach the main thread, whatever it is)
                self.failure = error
                self._close()
            else:
                self._n_unsynced += 1
                self._written.append(result)
                self._has_work.notify()

    def end(self, failure: BaseException | None) -> None:
        """Mark the end of the attempts, with the error that caused it, if any."""
        with self._has_work:
            self._asking_failure = failure
            self._close()

    def synced_groups(self, poll_seconds: float) -> Iterator[list[AttemptResult] | None]:
        """Yield groups of attempts that are on disk, and None where none came for so long, until the end.

        Raises:
            LedgerError: the journal cannot be written.
            BaseException: the error that `end` was called with.
        """
        while True:
            try:
                group = self._synced.get(timeout=poll_seconds)
            except queue.Empty:
                yield None
                continue
            if group is None:
                break
            yield group
        if (failure := self.failure or self._asking_failure) is not None:
            raise failure

    def close(self) -> list[AttemptResult]:
        """Write what was submitted before, take no more, and return the attempts on disk that were not yielded.

        `failure` says if some attempts are not on disk.
        """
        with self._has_work:
            self._close()
        self._thread.join()
        rest: list[AttemptResult] = []
        while not self._synced.empty():
            rest += self._synced.get() or ()
        return rest

    def _close(self) -> None:
        self._is_closed = True
        self._has_work.notify()
        self._has_space.notify_all()

    def _sync(self) -> None:
        """Bring all written attempts to disk, many at once, until this is closed and nothing is left."""
        try:
            while group := self._next_group():
                # Attempts are counted only after this returns; after a failed write it raises again.
                self._writer.sync()
                self._counts.update(one.row.status for one in group if one.row.is_last)
                self._synced.put(group)
                with self._has_space:
                    self._n_unsynced -= len(group)
                    self._has_space.notify_all()
        except BaseException as error:  # noqa: BLE001 (a thread's error has to reach the main thread, whatever it is)
            with self._has_work:
                self.failure = self.failure or error
                self._close()
        self._synced.put(None)

    def _next_group(self) -> list[AttemptResult]:
        """Wait for written attempts, and return them; none at the end."""
        with self._has_work:
            self._has_work.wait_for(
                lambda: self._written or self.failure is not None or (self._is_closed and not self.n_waiting)
            )
            group, self._written = self._written, []
        return group
