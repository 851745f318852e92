"""Test that a run keeps its answers with locked ledgers, interrupts, slow disks and texts of every kind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from collector.asking.runner import CollectOptions, collect
from collector.ledger.database import Ledger, LedgerLockedError
from collector.ledger.loading import JournalLoader, load_all
from collector.ledger.overview import list_runs
from collector.spec.loading import load_audit
from collector.targets.base import Reply, Request
from collector.targets.simulator.target import Simulator
from tests.python.collector.running import Run
from tests.python.collector.scripted import GOOD, Query, Scripted, hold


def test_texts_of_every_kind_survive(run: Run, query: Query) -> None:
    huge = json.dumps({"Tea": "wärm 🍵 " * 600_000}, ensure_ascii=False)
    assert len(huge.encode()) > 5_000_000
    odd = '{"Tea": "nul \x00 half \ud83d, قهوة 日本 👩‍👩‍👧"}'
    texts = {1: huge, 2: odd}
    summary = run(Scripted(lambda request: Reply(texts[request.trial])))
    assert summary.counts == {"ok": 8}
    assert query("select distinct length(response_text) from raw.responses where trial = 1") == [(len(huge),)]
    assert query("select distinct answer_text from raw.responses where trial = 2") == [
        ("Tea nul � half �, قهوة 日本 👩‍👩‍👧",)
    ]


def test_an_answer_over_the_limit_is_kept_and_not_analysed(
    write_spec: Callable[..., Path], small_text: str, ledger_path: Path, query: Query
) -> None:
    spec = write_spec(small_text, ("max_characters: 6000000", "max_characters: 10"))
    collect(load_audit(spec), Scripted(lambda _: Reply(GOOD)), ledger_path, trials=1)
    assert query("select distinct status, response_text, answer_text, error from raw.responses") == [
        ("malformed", GOOD, None, f"The answer has {len(GOOD)} characters; the limit is 10.")
    ]


def test_a_locked_ledger_is_outlasted(
    run: Run, ledger_path: Path, query: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program has the ledger from the first answer on, and until the collector has been seen to meet it there."""
    holder: list[subprocess.Popen[bytes]] = []
    lock = threading.Lock()
    n_met = 0
    load = JournalLoader.load

    def met(self: JournalLoader, *arguments: Any, **options: Any) -> int:
        nonlocal n_met
        try:
            return load(self, *arguments, **(options | {"wait_seconds": 0.0}))
        except LedgerLockedError:
            n_met += 1
            holder[0].kill()
            return load(self, *arguments, **options)

    def answer(request: Request) -> Reply:
        with lock:
            if not holder:
                holder.append(hold(ledger_path, 60))
        return Reply(GOOD)

    monkeypatch.setattr(JournalLoader, "load", met)
    try:
        summary = run(Scripted(answer))
    finally:
        holder[0].kill()
        holder[0].wait()
    assert n_met >= 1
    assert summary.counts == {"ok": 8}
    assert query("select count(*) from raw.responses") == [(8,)]


def test_a_ledger_that_stays_locked_costs_nothing(
    run: Run, ledger_path: Path, query: Query, caplog: pytest.LogCaptureFixture
) -> None:
    run(Simulator("first"), trials=1)
    holder = hold(ledger_path, 60)
    try:
        summary = run(Scripted(lambda _: Reply(GOOD)), CollectOptions(lock_patience_seconds=0.5))
    finally:
        holder.kill()
        holder.wait()
    assert summary.counts == {"ok": 8}
    warning = summary.warnings[-1]
    assert f"process {holder.pid}" in warning
    assert warning.endswith(f"All of run {summary.run_id} is in the journal; the next build loads it.")
    sentence = [record.message for record in caplog.records if "Collecting goes on" in record.message]
    assert len(sentence) == 1
    assert query("select count(*) from raw.runs") == [(1,)]
    listed = {one.run_id: one for one in list_runs(ledger_path)[0]}[summary.run_id]
    assert (listed.n_kept, listed.n_ahead) == (8, 16)
    assert load_all(ledger_path) == [f"Run {summary.run_id}: 16 records loaded from its journal."]
    assert query(f"select count(*), max(seq) from raw.responses where run_id = '{summary.run_id}'") == [
        (8, 8)
    ]
    assert load_all(ledger_path) == []


def started(script: str, repository: Path) -> subprocess.Popen[str]:
    """Start a program that collects; a shell that runs the tests in the background may ignore interrupts."""
    head = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    return subprocess.Popen(
        [sys.executable, "-c", head + textwrap.dedent(script)],
        cwd=repository,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_an_interrupt_keeps_answers(
    small_spec: Path, ledger_path: Path, query: Query, repository: Path
) -> None:
    script = f"""
        import time
        from pathlib import Path
        from collector.asking.runner import collect
        from collector.spec.loading import load_audit
        from collector.targets.base import Reply
        from collector.targets.simulator.target import Simulator

        class Slow(Simulator):
            def ask(self, request):
                time.sleep(0.02)
                print("asked", flush=True)
                return super().ask(request)

        try:
            collect(load_audit(Path({str(small_spec)!r})), Slow("slow"), Path({str(ledger_path)!r}), trials=1000)
        except KeyboardInterrupt as interrupt:
            print(interrupt)
    """
    process = started(script, repository)
    assert process.stdout is not None
    for _ in range(20):
        process.stdout.readline()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=600)
    # A question that was under way when the run was interrupted may still be answered after the sentence.
    last = next((line for line in reversed(output.splitlines()) if line != "asked"), "")
    assert last.startswith("Interrupted: run small-slow-"), output + errors
    assert errors == ""
    (kept,) = query("select count(*) from raw.responses")[0]
    assert kept >= 19
    assert f"keeps {kept} of 4000 responses" in last
    events = query("select event, detail ->> 'reason' from raw.run_events order by happened_at")
    assert events[-1] == ("failed", "interrupted")
    assert [one.state for one in list_runs(ledger_path)[0]] == ["interrupted"]
    assert [one.state for one in Ledger(ledger_path).runs()] == ["interrupted"]
    assert query("select count(distinct seq), max(seq) from raw.responses") == [(kept, kept)]


def test_a_second_interrupt_prints_how_to_resume(
    small_spec: Path, ledger_path: Path, repository: Path
) -> None:
    script = f"""
        import os
        import time
        from pathlib import Path
        from collector.asking.askers import Askers
        from collector.asking.runner import collect
        from collector.spec.loading import load_audit
        from collector.targets.simulator.target import Simulator

        wait = Askers.wait

        def announced(self, seconds):
            os.write(1, b"waiting\\n")
            wait(self, seconds)

        Askers.wait = announced

        class Hanging(Simulator):
            def ask(self, request):
                if request.trial > 5:
                    os.write(1, b"asked\\n")
                    time.sleep(60)
                return super().ask(request)

        try:
            collect(load_audit(Path({str(small_spec)!r})), Hanging("slow"), Path({str(ledger_path)!r}), trials=1000)
        except KeyboardInterrupt as interrupt:
            os.write(1, f"{{interrupt}}\\n".encode())
    """
    process = started(script, repository)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    while (line := process.stdout.readline()) and line != "waiting\n":
        pass
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=600)
    # A thread that was about to ask may still say so.
    last = next((line for line in output.splitlines() if line.startswith("Interrupted: run small-slow-")), "")
    assert last, output + errors
    (run,), _ = list_runs(ledger_path)
    assert last.endswith(f"Go on with: biasledger collect --resume {run.run_id}")
    assert errors == ""


def test_the_ledger_is_free_between_appends(run: Run, ledger_path: Path) -> None:
    """Another process can read while questions are being asked."""
    seen: list[int] = []
    lock = threading.Lock()

    def answer(request: Request) -> Reply:
        with lock:
            if not seen:
                # It is free again as soon as what was there has been appended.
                script = (
                    "import duckdb, time\n"
                    "while True:\n"
                    "    try:\n"
                    f"        c = duckdb.connect({str(ledger_path)!r}, read_only=True)\n"
                    "        n = c.execute('select count(*) from raw.prompts').fetchone()[0]\n"
                    "    except duckdb.Error:\n"
                    "        n = 0\n"
                    "    if n:\n"
                    "        break\n"
                    "    time.sleep(0.02)\n"
                    "print(n)"
                )
                done = subprocess.run(
                    [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=600
                )
                seen.append(int(done.stdout))
        return Reply(GOOD)

    run(Scripted(answer, concurrency=1), trials=1)
    assert seen == [4]
    with duckdb.connect(str(ledger_path)) as connection:
        assert connection.execute("select count(*) from raw.responses").fetchall() == [(4,)]


def test_a_made_up_answer_waits_for_no_disk(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs nothing to ask for again; a service's would wait here for ever, as of the ninth answer."""
    from collector.journal import writer as journal

    lock, n_answered = threading.Lock(), 0
    is_far_ahead = threading.Event()
    real_sync = os.fsync

    def sync(descriptor: int) -> None:
        assert not n_answered or is_far_ahead.wait(600)
        real_sync(descriptor)

    def answer(_: Request) -> Reply:
        nonlocal n_answered
        with lock:
            n_answered += 1
            if n_answered == 40:
                is_far_ahead.set()
        return Reply(GOOD)

    monkeypatch.setattr(journal.os, "fsync", sync)
    summary = run(Scripted(answer, is_simulated=True), trials=20)
    assert is_far_ahead.is_set()
    assert summary.counts == {"ok": 80}


def test_a_slow_disk_may_lose_one_answer_of_each_connection_and_no_more(
    run: Run, ledger_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the disk is waited for, what has arrived is in the journal's file already, and survives the process."""
    from collector.journal import writer as journal

    lock, lost = threading.Lock(), []
    n_answered = 0
    real_sync = os.fsync
    has_asked = threading.Event()

    def sync(descriptor: int) -> None:
        # The disk waits for twelve questions or until no more are asked; then the askers wait for the disk.
        for _ in range(12):
            has_asked.clear()
            if n_answered and not has_asked.wait(0.2):
                break
        real_sync(descriptor)

    def answer(request: Request) -> Reply:
        nonlocal n_answered
        (path,) = (ledger_path.parent / "journal").glob("*.jsonl")
        with lock:
            lost.append(n_answered - path.read_bytes().count(b'"kind":"response"'))
            n_answered += 1
        has_asked.set()
        return Reply(GOOD)

    monkeypatch.setattr(journal.os, "fsync", sync)
    run(Scripted(answer, concurrency=4), trials=20)
    assert len(lost) == 80
    assert max(lost) <= 4
