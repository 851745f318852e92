"""Test that a resumed run asks only the rest of the questions, of the same target."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from collector.asking import askers, pacing, runner
from collector.asking.costs import CostMeter, Price
from collector.asking.runner import CollectOptions, resume
from collector.errors import InputError, LedgerError, TargetError
from collector.journal.reader import journal_path, read_journal
from collector.journal.writer import JournalWriter
from collector.ledger.loading import load_all
from collector.ledger.overview import list_runs
from collector.targets.base import Reply, Request
from tests.python.collector.running import Run, too_many
from tests.python.collector.scripted import GOOD, Query, Scripted

Stopped = Callable[..., str]
PRICE = Price("m", 0.0, 1000.0, date(2026, 1, 1), "made up")


def stopping_after(n: int, error: Exception | None = None) -> Callable[[Request], Reply]:
    """Answers so often and then raises."""
    lock = threading.Lock()
    left = n

    def answer(_: Request) -> Reply:
        nonlocal left
        with lock:
            left -= 1
            if left < 0:
                raise error or TargetError("Your key is wrong.", stops_run=True, status=401)
        return Reply(GOOD, prompt_tokens=10, completion_tokens=20, model_answered="m-1")

    return answer


@pytest.fixture
def stopped(run: Run, ledger_path: Path) -> Callable[..., str]:
    """Collect until the target stops it: stopped(target, meter, seed=…); return the run."""

    def stop(target: Scripted, meter: CostMeter | None = None, **choices: Any) -> str:
        with pytest.raises(TargetError) as message:
            run(target, CollectOptions(meter=meter, backoff_seconds=0), trials=10, **choices)
        (one,), _ = list_runs(ledger_path)
        assert f"biasledger collect --resume {one.run_id}" in str(message.value)
        return one.run_id

    return stop


def test_what_is_left_is_asked_and_nothing_else(
    stopped: Stopped, small_spec: Path, ledger_path: Path, query: Query
) -> None:
    first = Scripted(stopping_after(13))
    run_id = stopped(first, seed=5)
    (listed,), _ = list_runs(ledger_path)
    assert (listed.state, listed.n_kept, listed.n_planned, listed.is_complete) == ("failed", 13, 40, False)
    # Neither the audit's file nor anything else but the target is needed.
    small_spec.unlink()
    second = Scripted()
    summary = resume(run_id, second, ledger_path)
    assert (summary.run_id, summary.n_prompts, summary.n_responses) == (run_id, 4, 40)
    assert summary.counts == {"ok": 40}
    assert summary.stopped is None
    answered_first = set(
        query(
            "select prompt_text, trial from raw.responses inner join raw.prompts using (run_id, prompt_id) "
            "where model_answered = 'm-1'"
        )
    )
    assert len(answered_first) == 13
    assert not answered_first & set(second.asked)
    assert second.asked.total() == 27
    assert query("select event from raw.run_events order by happened_at") == [
        ("started",),
        ("failed",),
        ("resumed",),
        ("finished",),
    ]
    assert query("select count(*), count(distinct seq), max(seq) from raw.responses") == [
        (summary.n_attempts, summary.n_attempts, summary.n_attempts)
    ]
    assert query("select max(attempt) from raw.responses") == [(2,)]
    (listed,), notes = list_runs(ledger_path)
    assert (listed.state, listed.n_kept, listed.n_asked, listed.n_ahead, notes) == (
        *("finished", 40, summary.n_attempts, 0),
        [],
    )


def test_a_resumed_run_asks_as_it_would_have(run: Run, ledger_path: Path, query: Query) -> None:
    whole = run(Scripted(lambda r: Reply(f'{{"a": "{r.seed}"}}')), trials=10, seed=5)
    target = Scripted(stopping_after(13), name="second")
    with pytest.raises(TargetError):
        run(target, trials=10, seed=5)
    run_id = list_runs(ledger_path)[0][1].run_id
    target.answer = lambda request: Reply(f'{{"a": "{request.seed}"}}')
    resume(run_id, target, ledger_path)
    seeds = (
        "select prompt_id, trial, response_text from raw.responses where attempt = 1 and run_id = '{}' "
        "and response_text like '{{\"a%' order by all"
    )
    resumed = query(seeds.format(run_id))
    # All but what the two threads had under way when they were stopped, and what was answered before.
    assert 40 - 13 - 2 <= len(resumed) <= 40 - 13
    assert set(resumed) <= set(query(seeds.format(whole.run_id)))


def test_a_finished_run_says_so_and_asks_nobody(run: Run, ledger_path: Path, query: Query) -> None:
    first = run(Scripted())
    content = journal_path(ledger_path, first.run_id).read_bytes()
    target = Scripted()
    summary = resume(first.run_id, target, ledger_path)
    assert summary.warnings == (f"Run {first.run_id} was complete before, so nothing was asked.",)
    assert (summary.counts, summary.seal, summary.n_attempts) == (first.counts, first.seal, first.n_attempts)
    assert target.asked == {}
    assert journal_path(ledger_path, first.run_id).read_bytes() == content
    assert query("select count(*) from raw.run_events") == [(2,)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parameters": {"temperature": 0.5, "top": [1]}}, "has another temperature now (0.5) than run"),
        ({"parameters": {"top": [1]}}, "has another temperature now (none) than run"),
        ({"parameters": {"temperature": 1, "top": [1, 2]}}, "has another top now ([1, 2]) than run"),
        ({"model": "n"}, "has another model now ('n') than run"),
        ({"kind": "other"}, "has another kind now ('other') than run"),
        ({"is_simulated": True}, "has another simulated now (True) than run"),
    ],
)
def test_another_target_is_refused(
    stopped: Stopped, ledger_path: Path, changes: dict[str, Any], message: str
) -> None:
    settings = {"temperature": 1, "top": (1,)}
    run_id = stopped(Scripted(stopping_after(3), parameters=settings))
    content = journal_path(ledger_path, run_id).read_bytes()
    with pytest.raises(InputError, match=re.escape(message)):
        resume(run_id, Scripted(**{"parameters": settings, **changes}), ledger_path)
    assert journal_path(ledger_path, run_id).read_bytes() == content
    # How fast it may be asked can change, and so can how a tuple is written.
    faster = Scripted(parameters=settings, concurrency=5, requests_per_minute=1e6, total_timeout_seconds=60)
    assert resume(run_id, faster, ledger_path).counts == {"ok": 40}


def test_tries_go_on_where_they_were(stopped: Stopped, ledger_path: Path, query: Query) -> None:
    def answer(request: Request) -> Reply:
        if request.trial == 1:
            return Reply("no JSON")
        raise TargetError("Your key is wrong.", stops_run=True)

    run_id = stopped(Scripted(answer, concurrency=1), seed=1)
    before = query(
        "select prompt_id, trial, max(attempt), count(*) from raw.responses group by all order by all"
    )
    second = Scripted(lambda _: Reply("no JSON"))
    # Nothing here can be used, which would end the run.
    resume(run_id, second, ledger_path, CollectOptions(max_unusable=0))
    after = {
        (prompt, trial): (last, n)
        for prompt, trial, last, n in query(
            "select prompt_id, trial, max(attempt), count(*) from raw.responses group by all"
        )
    }
    for prompt, trial, last, n in before:
        assert last == n
        # Three tries in all, and one at least after what ended the run.
        assert after[prompt, trial] == (3, 3)
    assert set(after.values()) == {(3, 3)}


def test_what_failed_with_the_target_is_asked_again(run: Run, ledger_path: Path, query: Query) -> None:
    down = TargetError("Nobody is there.", retryable=False)
    with pytest.raises(TargetError, match=r"so the run stops.* keeps 8 of 40 responses"):
        run(Scripted(stopping_after(8, down), concurrency=1), CollectOptions(backoff_seconds=0), trials=10)
    assert query("select count(*) from raw.responses where status = 'error'")[0][0] >= 20
    (listed,), _ = list_runs(ledger_path)
    assert (listed.n_kept, listed.state) == (8, "failed")
    summary = resume(listed.run_id, Scripted(), ledger_path)
    assert summary.counts == {"ok": 40}


def test_single_failures_stay_unless_they_are_asked_for(run: Run, ledger_path: Path, query: Query) -> None:
    def answer(request: Request) -> Reply:
        if request.trial == 3:
            raise TargetError("This prompt is not allowed.", retryable=False)
        return Reply(GOOD)

    first = run(Scripted(answer), trials=10)
    assert first.counts == {"ok": 36, "error": 4}
    assert first.warnings[-1] == (
        f"4 questions got no answer; raw.responses says why, and this asks again: biasledger collect --resume {first.run_id} "
        f"--retry-failed"
    )
    target = Scripted()
    assert resume(first.run_id, target, ledger_path).counts == {"ok": 36, "error": 4}
    assert target.asked.total() == 0
    assert resume(first.run_id, target, ledger_path, retry_failed=True).counts == {"ok": 40}
    assert target.asked.total() == 4
    assert query("select max(attempt), count(*) from raw.responses where trial = 3") == [(2, 8)]
    (listed,), _ = list_runs(ledger_path)
    assert (listed.n_kept, listed.n_asked, listed.state) == (40, 44, "finished")


def test_a_killed_end_is_made_up_for(run: Run, ledger_path: Path, query: Query) -> None:
    run_id = run(Scripted()).run_id
    path = journal_path(ledger_path, run_id)
    lines = path.read_bytes().splitlines(keepends=True)
    assert b'"event":"finished"' in lines[-1]
    path.write_bytes(b"".join(lines[:-1]))
    ledger_path.unlink()
    target = Scripted()
    summary = resume(run_id, target, ledger_path)
    assert (summary.counts, target.asked.total()) == ({"ok": 8}, 0)
    events = [record.body["event"] for record in read_journal(path) if record.kind == "event"]
    assert events == ["started", "resumed", "finished"]


@pytest.mark.parametrize(
    ("status", "advice"),
    [(404, "start a new run: biasledger collect AUDIT.yml"), (401, "When that is put right, go on with")],
)
def test_a_wrong_setting_needs_a_new_run_and_a_wrong_key_does_not(run: Run, status: int, advice: str) -> None:
    def answer(_: Request) -> Reply:
        raise TargetError("Refused.", stops_run=True, status=status)

    with pytest.raises(TargetError, match=re.escape(advice)):
        run(Scripted(answer))


def test_a_budget_ends_a_run_and_counts_what_was_spent_before(
    run: Run, ledger_path: Path, query: Query
) -> None:
    def within(usd: float) -> CollectOptions:
        """Return a budget, of which an answer of 20 tokens takes 0.02 USD."""
        return CollectOptions(meter=CostMeter(PRICE, usd, answer_tokens=20))

    target = Scripted(stopping_after(1000), concurrency=3)
    summary = run(target, within(0.25), trials=10)
    assert summary.stopped is not None
    assert f"collect --resume {summary.run_id}" in summary.stopped
    assert (summary.counts, summary.cost_usd) == ({"ok": 12}, pytest.approx(0.24))
    assert query("select count(*) from raw.responses") == [(12,)]
    assert query("select event from raw.run_events order by happened_at") == [("started",), ("stopped",)]
    (listed,), _ = list_runs(ledger_path)
    assert (listed.state, listed.is_complete) == ("stopped", False)
    again = resume(summary.run_id, target, ledger_path, within(0.25))
    assert (again.stopped is not None, again.counts) == (True, {"ok": 12})
    more = resume(summary.run_id, target, ledger_path, within(1.0))
    assert (more.stopped, more.counts, more.cost_usd) == (None, {"ok": 40}, pytest.approx(0.8))
    assert target.asked.total() == 40


def test_refusals_for_the_rate_leave_no_hole(run: Run, query: Query) -> None:
    def answer(request: Request) -> Reply:
        n = target.asked[request.prompt_text, request.trial]
        if n <= 5 and request.trial == 1 and "Asian Woman" in request.prompt_text:
            raise too_many(seconds=0.01)
        return Reply(GOOD)

    target = Scripted(answer)
    summary = run(target)
    assert (summary.counts, summary.n_attempts) == ({"ok": 8}, 13)
    assert query("select max(attempt) from raw.responses") == [(6,)]


def test_a_question_that_is_always_refused_does_not_stop_the_others(run: Run, query: Query) -> None:
    """A prompt that is larger than a service's limit of tokens gets a 429 every time."""
    n_others, lock, mine = 0, threading.Lock(), threading.local()
    is_refused, is_answered = threading.Event(), threading.Event()

    class Meter(CostMeter):
        def release(self, prompt_tokens: int) -> None:
            super().release(prompt_tokens)
            if getattr(mine, "has_answered", False):
                is_answered.set()

    def answer(request: Request) -> Reply:
        nonlocal n_others
        if request.trial == 1 and "Asian Woman" in request.prompt_text:
            # It is refused again when another question has been asked and answered since it was refused first.
            assert not is_refused.is_set() or is_answered.wait(600)
            is_refused.set()
            raise too_many("Too large.", 0.01)
        with lock:
            n_others += 1
            n = n_others
        # By the order that the seed fixes it is asked as the 32nd; six are answered after it was refused first.
        mine.has_answered = n > 33 and is_refused.wait(600)
        return Reply(GOOD)

    # After a refusal half as many are asked at once, and one of those waits here.
    target = Scripted(answer, concurrency=8)
    summary = run(target, CollectOptions(meter=Meter(None)), trials=10)
    assert (summary.counts, summary.stopped) == ({"ok": 39, "error": 1}, None)
    assert query("select count(*), any_value(error) from raw.responses where status = 'error'") == [
        (10, "Too large.")
    ]


def test_any_number_of_refused_questions_do_not_stop_others(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With more of them than connections, none blocks a connection, and their refusals do not count against the others."""
    monkeypatch.setattr(pacing, "MAX_PAUSE_AT_ONCE_SECONDS", 0.001)

    def answer(request: Request) -> Reply:
        if request.trial <= 10 and "Asian Woman" in request.prompt_text:
            raise too_many("Too large.")
        return Reply(GOOD)

    summary = run(Scripted(answer, concurrency=8), trials=25)
    assert (summary.counts, summary.stopped) == ({"ok": 90, "error": 10}, None)
    assert 90 + 10 * 10 <= summary.n_attempts <= 90 + 10 * askers.MOST_REFUSALS


def test_refused_questions_in_a_row_do_not_stop_the_others(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """On one connection, the first three that are asked: they are set aside until others were tried."""
    monkeypatch.setattr(pacing, "MAX_PAUSE_AT_ONCE_SECONDS", 0.001)
    refused: set[tuple[str, int]] = set()

    def answer(request: Request) -> Reply:
        if len(refused) < 3:
            refused.add((request.prompt_text, request.trial))
        if (request.prompt_text, request.trial) in refused:
            raise too_many("Too large.")
        return Reply(GOOD)

    summary = run(Scripted(answer, concurrency=1), trials=10)
    assert (summary.counts, summary.stopped) == ({"ok": 37, "error": 3}, None)


def test_a_question_is_kept_where_others_are_refused_as_often(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of all replies are refusals, and one question happens to meet fifteen of them.

    Which of the others' are follows the Thue-Morse sequence, in whatever order they are asked: never three alike in a row,
    not even of every other one, so that no other question meets many, and some are answered between the fifteen.
    """
    monkeypatch.setattr(pacing, "MAX_PAUSE_AT_ONCE_SECONDS", 0.001)
    n_unlucky = n_others = n_refused = 0
    lock = threading.Lock()

    def answer(request: Request) -> Reply:
        nonlocal n_unlucky, n_others, n_refused
        with lock:
            if request.trial == 1 and "Asian Woman" in request.prompt_text:
                n_unlucky += 1
                is_refused = n_unlucky <= 15
            else:
                is_refused = n_others.bit_count() % 2 == 0
                n_others += 1
                n_refused += is_refused
        if is_refused:
            raise too_many()
        return Reply(GOOD)

    summary = run(Scripted(answer), trials=15)
    assert (summary.counts, summary.n_attempts) == ({"ok": 60}, 60 + n_refused + 15)


def test_a_pause_that_the_service_names_is_waited_for_before_a_run_is_given_up(run: Run) -> None:
    n_asked = 0

    def answer(_: Request) -> Reply:
        nonlocal n_asked
        n_asked += 1
        if n_asked == 1:
            raise too_many(seconds=1.0)
        return Reply(GOOD)

    target = Scripted(answer, concurrency=1)
    assert run(target, CollectOptions(give_up_seconds=0.5)).counts == {"ok": 8}


def test_where_all_are_refused_the_run_stops(run: Run) -> None:
    def answer(_: Request) -> Reply:
        raise too_many(seconds=0.01)

    target = Scripted(answer, concurrency=1)
    with pytest.raises(TargetError, match="refused 10 times for the rate, and no other was answered"):
        run(target)
    # Each of eight questions is asked once before the first has been refused ten times, and then none.
    assert sorted(target.asked.values()) == [1] * 7 + [10]


def test_a_question_may_not_take_for_ever(run: Run, query: Query, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float | None] = []

    def answer(request: Request) -> Reply:
        waits.append(request.timeout_seconds)
        raise TargetError("Too slow.", retryable=True, retry_after_seconds=0.2)

    # Tries take no time on this clock, and pauses count as long as they should have been.
    monkeypatch.setattr(askers, "time", SimpleNamespace(monotonic=lambda: 0.0))
    target = Scripted(answer, total_timeout_seconds=0.3)
    with pytest.raises(TargetError, match="None of the first"):
        run(target, trials=10)
    # One try and a pause; after another pause the time would be over.
    assert query("select max(attempt) from raw.responses where status = 'error'") == [(2,)]
    assert all(wait is not None and 0 < wait <= 0.3 for wait in waits)


def test_models_that_change_are_said(run: Run) -> None:
    def answer(request: Request) -> Reply:
        return Reply(GOOD, model_answered="m-2" if request.trial == 2 else "m-1")

    summary = run(Scripted(answer))
    assert summary.warnings[-1] == (
        "2 models answered in this run, though one was asked: m-1 (4 answers), m-2 (4 answers)."
    )


def test_other_rules_for_answers_are_said(
    stopped: Stopped, ledger_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = stopped(Scripted(stopping_after(3)))

    class Rules:
        version = "99"

    monkeypatch.setattr(runner, "load_rules", Rules)
    summary = resume(run_id, Scripted(), ledger_path)
    assert "of the rules that read answers and goes on with 99" in summary.warnings[0]


def test_a_run_that_is_not_there(ledger_path: Path) -> None:
    sentence = r"There is no journal .*; `biasledger runs` lists the runs, and --ledger"
    with pytest.raises(InputError, match=sentence):
        resume("small-sim-1", Scripted(), ledger_path)


def test_a_journal_under_another_name_is_not_resumed(stopped: Stopped, ledger_path: Path) -> None:
    run_id = stopped(Scripted(stopping_after(3)))
    path = journal_path(ledger_path, run_id)
    path.rename(path.with_name("mine.jsonl"))
    target = Scripted()
    with pytest.raises(LedgerError, match="journal of run mine does not say"):
        resume("mine", target, ledger_path)
    assert not target.asked


def test_an_error_that_cannot_be_stored_as_it_is_ends_a_run(
    stopped: Stopped, ledger_path: Path, query: Query
) -> None:
    """It comes from a function that quotes what it read in some odd encoding."""
    down = TargetError("Nobody is there: \ud800 \x00", retryable=False)
    run_id = stopped(Scripted(stopping_after(8, down), concurrency=1))
    assert query("select event from raw.run_events order by rowid") == [("started",), ("failed",)]
    with JournalWriter.resume(journal_path(ledger_path, run_id)) as writer:
        writer.event("noted", {"error": "half \ud800 of a pair", "all": ["\x00"], "n": 1})
    assert load_all(ledger_path) == [f"Run {run_id}: 1 record loaded from its journal."]
    assert query("select detail from raw.run_events where event = 'noted'") == [
        ('{"all":["\ufffd"],"error":"half \ufffd of a pair","n":1}',)
    ]
    assert resume(run_id, Scripted(), ledger_path).counts == {"ok": 40}


def test_answers_without_text_count_for_the_cost_of_a_resumed_run(
    stopped: Stopped, ledger_path: Path
) -> None:
    """A model may think for money and then say nothing."""
    answers = stopping_after(9)

    def answer(request: Request) -> Reply:
        return replace(answers(request), text=None, finish_reason="content_filter")

    meter = CostMeter(PRICE)
    run_id = stopped(Scripted(answer), meter=meter)
    assert meter.cost_usd == pytest.approx(9 * 0.02)
    again = CostMeter(PRICE)
    resume(run_id, Scripted(stopping_after(31)), ledger_path, CollectOptions(meter=again))
    assert again.cost_usd == pytest.approx(40 * 0.02)


class _SlowMeter(CostMeter):
    """Takes its time to say that a question may be asked, as a thread does that another one gets in front of."""

    def reserve(self, prompt_tokens: int) -> bool:
        is_granted = super().reserve(prompt_tokens)
        if is_granted:
            time.sleep(0.02)
        return is_granted


def test_a_budget_that_has_room_for_one_question_at_a_time_ends_nothing(run: Run) -> None:
    """Until the first answer has come, it is taken for a long one: 0.50 USD, which turns out to be 0.02 USD."""
    target = Scripted(stopping_after(1000), concurrency=4)
    summary = run(target, CollectOptions(meter=_SlowMeter(PRICE, 0.9)), trials=10)
    assert (summary.stopped, summary.counts) == (None, {"ok": 40})


def test_a_run_goes_on_in_its_own_ledger_only(stopped: Stopped, ledger_path: Path) -> None:
    run_id = stopped(Scripted(stopping_after(3)))
    other = ledger_path.with_name("other.duckdb")
    target = Scripted()
    message = (
        f"Run {run_id} was collected for the ledger ledger.duckdb, and this is other.duckdb: name it with "
        f"--ledger {ledger_path}, or give the file its old name back."
    )
    with pytest.raises(InputError, match=re.escape(message)):
        resume(run_id, target, other)
    assert not target.asked
    assert not other.exists()
