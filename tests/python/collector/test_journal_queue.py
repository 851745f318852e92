"""Test the queue before a slow or failing disk: how much may be lost, and which errors are raised."""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections import Counter
from collections.abc import Iterable
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
from tests.python.collector.test_journal import ANALYSIS, PROMPTS, RUN, answered, path, writer  # noqa: F401 (fixtures)
from tests.python.collector.test_runner import GOOD, Scripted

CAPACITY = 4


class Disk:
    """Takes nothing before it is let go, and then fails or not."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, fails: bool) -> None:
        self.fails = fails
        self.is_waited_for = threading.Event()
        self.go_on = threading.Event()
        monkeypatch.setattr(journal.os, "fsync", self.sync)

    def sync(self, _: int) -> None:
        self.is_waited_for.set()
        assert self.go_on.wait(600)
        if self.fails:
            raise OSError(errno.EIO, os.strerror(errno.EIO))


def keep_in_threads(queue: JournalQueue, results: Iterable[AttemptResult]) -> list[threading.Thread]:
    threads = [threading.Thread(target=queue.keep, args=(result,)) for result in results]
    for thread in threads:
        thread.start()
    return threads


def n_written(path: Path) -> int:  # noqa: F811
    return path.read_bytes().count(b'"kind":"response"')


def test_no_more_answers_than_the_bound_are_written_and_not_on_disk(
    path: Path,  # noqa: F811
    writer: JournalWriter,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk = Disk(monkeypatch, fails=True)
    journal_queue = JournalQueue(writer, 2 * CAPACITY, counts := Counter())
    for number in range(2 * CAPACITY):
        journal_queue.keep(AttemptResult(answered(number)))
    assert disk.is_waited_for.wait(600)
    more = keep_in_threads(journal_queue, [AttemptResult(answered(100 + one)) for one in range(CAPACITY)])
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
    path: Path,  # noqa: F811
    writer: JournalWriter,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The disk is slow, every thread has an answer that was paid for, and the run is stopped."""
    n_attempts = 3 * CAPACITY
    disk = Disk(monkeypatch, fails=False)
    journal_queue = JournalQueue(writer, 2 * CAPACITY, counts := Counter())
    # Every one is the last at its question.
    results = [AttemptResult(answered(2 * number)) for number in range(n_attempts)]
    keep_in_threads(journal_queue, results)
    assert disk.is_waited_for.wait(600)
    # The bound is reached, and the others have no space.
    wait_for(lambda: journal_queue.n_waiting == CAPACITY and n_written(path) == 2 * CAPACITY)
    journal_queue.end(None)
    disk.go_on.set()
    closed = journal_queue.close()
    assert {id(result) for result in closed} == {id(result) for result in results}
    assert (counts, journal_queue.failure) == ({"ok": n_attempts}, None)
    assert n_written(path) == n_attempts
    # A closed queue takes nothing.
    journal_queue.keep(AttemptResult(answered(100)))
    assert n_written(path) == n_attempts


def test_what_is_on_disk_is_counted_whoever_takes_it(writer: JournalWriter) -> None:  # noqa: F811
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
        sentence = r"cannot be written \(Input/output error\).* keeps (\d+) of 40"
        with pytest.raises(LedgerError, match=sentence) as message:
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
    path: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    writer = JournalWriter.create(path, RUN, ANALYSIS, PROMPTS, {"ledger": ledger_path.name})  # noqa: F811
    writer.write([answered(1)])
    writer.close()
    Disk(monkeypatch, fails=True).go_on.set()
    (message,) = load_all(ledger_path)
    sentence = "cannot be brought to disk: Input/output error. The journal of run small-sim-1 is left out"
    assert sentence in message
    monkeypatch.undo()
    (message,) = load_all(ledger_path)
    assert message == "Run small-sim-1: 6 records loaded from its journal."
