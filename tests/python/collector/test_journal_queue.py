"""Test the queue before a slow or failing disk: how much may be lost, and which errors are raised."""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections import Counter
from pathlib import Path

import pytest

from collector.asking.attempts import AttemptResult
from collector.asking.journal_queue import JournalQueue
from collector.asking.runner import collect, resume
from collector.errors import LedgerError
from collector.journal import writer as journal
from collector.journal.writer import JournalWriter
from collector.ledger.loading import load_all
from collector.spec.loading import load_audit
from collector.targets.base import Reply, Request
from tests.python.collector.scripted import wait_for
from tests.python.collector.test_journal import ANALYSIS, PROMPTS, RUN, answered, path_fixture, writer_fixture  # noqa: F401 (fixtures)
from tests.python.collector.test_runner import GOOD, Scripted

CAPACITY = 4


class Disk:
    """Takes nothing before it is let go, and then fails."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_waited_for = threading.Event()
        self.go_on = threading.Event()
        monkeypatch.setattr(journal.os, "fsync", self.sync)

    def sync(self, _: int) -> None:
        self.is_waited_for.set()
        assert self.go_on.wait(600)
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def n_written(path: Path) -> int:
    return path.read_bytes().count(b'"kind":"response"')


def test_no_more_answers_than_the_bound_are_written_and_not_on_disk(
    path: Path,
    writer: JournalWriter,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk = Disk(monkeypatch)
    journal_queue = JournalQueue(writer, 2 * CAPACITY, counts := Counter())
    for number in range(2 * CAPACITY):
        journal_queue.keep(AttemptResult(answered(number)))
    assert disk.is_waited_for.wait(600)
    more = [
        threading.Thread(target=journal_queue.keep, args=(AttemptResult(answered(100 + one)),))
        for one in range(CAPACITY)
    ]
    for one in more:
        one.start()
    wait_for(lambda: journal_queue.n_waiting == CAPACITY)
    # None of them is written, because the disk is still busy.
    assert (n_written(path), more[0].is_alive()) == (2 * CAPACITY, True)
    disk.go_on.set()
    # Responses that did not reach the disk are not reported as kept; they stay in the file, and a resumed run finds them.
    assert journal_queue.close() == []
    assert not counts
    assert isinstance(journal_queue.failure, LedgerError)
    assert n_written(path) == 2 * CAPACITY
    writer.close()
    monkeypatch.undo()
    assert JournalWriter.resume(path).n_responses == 2 * CAPACITY


def test_attempts_that_wait_for_space_are_written_when_the_queue_closes(
    path: Path,
    writer: JournalWriter,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The disk is slow, every thread has an answer that was paid for, and the run is stopped."""
    n_attempts = 3 * CAPACITY
    is_waited_for, go_on = threading.Event(), threading.Event()

    def sync(_: int) -> None:
        is_waited_for.set()
        assert go_on.wait(600)

    monkeypatch.setattr(journal.os, "fsync", sync)
    journal_queue = JournalQueue(writer, 2 * CAPACITY, counts := Counter())
    # Every one is the last at its question.
    results = [AttemptResult(answered(2 * number)) for number in range(n_attempts)]
    threads = [threading.Thread(target=journal_queue.keep, args=(result,)) for result in results]
    for thread in threads:
        thread.start()
    assert is_waited_for.wait(600)
    # The bound is reached, and the others have no space.
    wait_for(lambda: journal_queue.n_waiting == CAPACITY and n_written(path) == 2 * CAPACITY)
    journal_queue.end(None)
    go_on.set()
    # An attempt that was given up would let `close` wait forever.
    for thread in threads:
        thread.join()
    assert n_written(path) == n_attempts
    closed = journal_queue.close()
    assert {id(result) for result in closed} == {id(result) for result in results}
    assert (counts, journal_queue.failure) == ({"ok": n_attempts}, None)
    # A closed queue takes nothing.
    journal_queue.keep(AttemptResult(answered(100)))
    assert n_written(path) == n_attempts


def test_what_is_on_disk_is_counted_whoever_takes_it(writer: JournalWriter) -> None:
    """An interrupt between two answers reaches the thread that takes them, and the totals count all of them."""
    counts = Counter({"ok": 5})
    journal_queue = JournalQueue(writer, 2 * CAPACITY, counts)
    for number in range(3):
        journal_queue.keep(AttemptResult(answered(number)))
    journal_queue.close()
    # Two of the three attempts are the last ones at their questions.
    assert counts == {"ok": 7}


def test_a_disk_that_fails_while_a_run_is_wound_down_is_reported(
    small_spec: Path, ledger_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt closes the journal; the disk fails only then, and the message counts the responses on disk."""
    lock, n_asked = threading.Lock(), 0
    real_close = JournalQueue.close
    is_interrupted, is_closing = threading.Event(), threading.Event()

    def answer(_: Request) -> Reply:
        nonlocal n_asked
        with lock:
            n_asked += 1
            if n_asked == 10:
                monkeypatch.setattr(journal.os, "fsync", disk)
        return Reply(GOOD)

    def disk(_: int) -> None:
        # Only the disk asked for what is written already interrupts, so that something is written and not on it.
        if not is_interrupted.is_set():
            is_interrupted.set()
            os.kill(os.getpid(), signal.SIGINT)
        assert is_closing.wait(600)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def close(self: JournalQueue) -> list[AttemptResult]:
        is_closing.set()
        return real_close(self)

    monkeypatch.setattr(JournalQueue, "close", close)
    # A shell that runs the tests in the background may ignore this signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(
            LedgerError, match=r"cannot be written \(Input/output error\).* keeps (\d+) of 40"
        ) as message:
            collect(load_audit(small_spec), Scripted(answer), ledger_path, trials=10)
    finally:
        signal.signal(signal.SIGINT, before)
    (journaled,) = (ledger_path.parent / "journal").glob("*.jsonl")
    n_kept = int(str(message.value).rpartition(" keeps ")[2].split()[0])
    # The rest is in the file, and on disk for all that anybody knows.
    assert n_kept < n_written(journaled) <= n_kept + 2 * 2
    monkeypatch.undo()
    assert resume(journaled.stem, Scripted(lambda _: Reply(GOOD)), ledger_path).counts == {"ok": 40}
    assert n_written(journaled) == 40


def test_what_a_killed_collector_wrote_is_on_disk_before_it_is_in_the_ledger(
    ledger_path: Path,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    writer = JournalWriter.create(path, RUN, ANALYSIS, PROMPTS, {"ledger": ledger_path.name})
    writer.write([answered(1)])
    writer.close()
    real_sync = os.fsync

    def fail(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(journal.os, "fsync", fail)
    (message,) = load_all(ledger_path)
    assert (
        "cannot be brought to disk: Input/output error. The journal of run small-sim-1 is left out" in message
    )
    monkeypatch.setattr(journal.os, "fsync", real_sync)
    (message,) = load_all(ledger_path)
    assert message == "Run small-sim-1: 6 records loaded from its journal."
