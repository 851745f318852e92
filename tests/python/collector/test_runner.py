"""Collecting end to end: real threads, a real DuckDB file, a real HTTP server where one is needed."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pytest

from collector.answers.replies import load_rules
from collector.asking.attempts import request_seed
from collector.asking.runner import collect
from collector.errors import InputError, TargetError
from collector.hashing import canonical_json, tagged_hash
from collector.ledger.database import Ledger, LedgerLockedError
from collector.ledger.loading import JournalLoader, load_all
from collector.ledger.overview import list_runs
from collector.spec.loading import load_audit
from collector.targets import load_target
from collector.targets.base import Reply, Request
from collector.targets.openai import OpenAITarget
from collector.targets.simulator.target import Simulator

Query = Callable[[str], list[tuple[Any, ...]]]
Write = Callable[..., Path]
GOOD = '{"Tea": "Warm. Good."}'
KEY = "sk-very-secret-0123456789"


@dataclass
class Scripted:
    """A target whose answers a function gives."""

    answer: Callable[[Request], Reply]
    name: str = "scripted"
    kind: str = "scripted"
    is_simulated: bool = False
    model: str = "none"
    concurrency: int = 2
    parameters: Mapping[str, Any] = field(default_factory=dict)
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    total_timeout_seconds: float | None = None

    def ask(self, request: Request) -> Reply:
        return self.answer(request)


def test_a_run_of_the_simulator_is_complete(small_spec: Path, ledger_path: Path, query: Query) -> None:
    audit = load_audit(small_spec)
    summary = collect(
        audit,
        Simulator("sim", seed=3),
        ledger_path,
        variants=["masked"],
        trials=3,
        versions={"biasledger": "9.9"},
    )
    assert (summary.audit, summary.target, summary.is_simulated) == ("small", "sim", True)
    assert (summary.n_prompts, summary.n_responses, summary.n_attempts) == (8, 24, 24)
    assert summary.counts == {"ok": 24}
    assert summary.run_id.startswith("small-sim-")
    assert "3 trials a persona" in summary.warnings[0]

    run = query(
        "select run_id, audit, spec::varchar, spec_hash, target, target_kind, is_simulated, model_asked, "
        "answer_rules_version, origin, source_name, versions::varchar from raw.runs"
    )[0]
    spec = canonical_json(audit.with_trials(3).asked())
    assert run[:11] == (
        *(summary.run_id, "small", spec, tagged_hash(spec), "sim", "simulator", True, "simulator"),
        *(load_rules().version, "collected", None),
    )
    assert set(json.loads(run[11])) == {"biasledger", "python", "duckdb"}

    events = query("select event, detail::varchar from raw.run_events order by happened_at")
    assert [event for event, _ in events] == ["started", "finished"]
    assert json.loads(events[0][1]) == {
        "ledger": "ledger.duckdb",
        "prompts": 8,
        "planned": 24,
        "trials": 3,
        "trials_of": {"one": 3},
        "variants": ["masked"],
        "parts": [],
        "seed": 0,
        "concurrency": 2,
    }
    assert json.loads(events[1][1]) == {"responses": 24, "counts": {"ok": 24}}

    assert query("select count(*), count(distinct prompt_id) from raw.prompts") == [(8, 8)]
    assert query("select count(*), count(distinct group_name) from raw.prompt_attributes") == [(16, 4)]
    assert query(
        "select count(*), min(seq), max(seq), count(distinct seq), count(distinct (prompt_id, trial)), "
        "count(*) filter (attempt = 1 and status = 'ok' and weight = 1 and answer_text is not null) from raw.responses"
    ) == [(24, 1, 24, 24, 24, 24)]
    assert query(
        "select count(*) from raw.responses as r inner join raw.prompts as p using (run_id, prompt_id)"
    ) == [(24,)]
    assert query("select count(*) from raw.readings where audit = 'small'") == [(1,)]


def test_the_same_seed_gives_the_same_run_and_another_one_does_not(
    small_spec: Path, ledger_path: Path, query: Query
) -> None:
    audit = load_audit(small_spec)
    ids = [collect(audit, Simulator("sim"), ledger_path, seed=seed, trials=5).run_id for seed in (7, 7, 8)]
    contents = [
        query(f"select content_hash from raw.responses where run_id = '{one}' order by 1") for one in ids
    ]
    assert contents[0] == contents[1]
    assert contents[0] != contents[2]
    orders = [
        query(f"select prompt_id, trial from raw.responses where run_id = '{one}' order by requested_at")
        for one in ids
    ]
    assert sorted(orders[0]) == sorted(orders[2])
    assert orders[0] != sorted(orders[0])
    assert (
        len(
            {
                request_seed(*one)
                for one in [(0, "a", 1, 1), (1, "a", 1, 1), (0, "b", 1, 1), (0, "a", 2, 1), (0, "a", 1, 2)]
            }
        )
        == 5
    )


def test_the_planted_bias_shows_in_the_ledger(repository: Path, ledger_path: Path, query: Query) -> None:
    audit = load_audit(repository / "audits" / "products.yml")
    collect(audit, load_target(repository / "targets.yml", "simulator"), ledger_path)
    assert query("select count(*), count(*) filter (status = 'ok') from raw.responses") == [(240, 240)]
    rows = query(
        "select group_name, count(distinct product) from raw.responses "
        "inner join raw.prompt_attributes as a using (run_id, prompt_id), unnest(json_keys(response_text)) as t(product) "
        "where a.attribute = 'race' group by 1"
    )
    distinct = dict(rows)
    assert distinct["White"] == 60
    assert distinct["Asian"] > 60


def test_malformed_answers_are_asked_again_and_kept(
    small_spec: Path, ledger_path: Path, query: Query
) -> None:
    asked: Counter[tuple[str, int]] = Counter()
    lock = threading.Lock()

    def answer(request: Request) -> Reply:
        with lock:
            asked[request.prompt_text, request.trial] += 1
            attempt = asked[request.prompt_text, request.trial]
        if "Asian" in request.prompt_text:
            return Reply("{oops", raw_body="raw")
        return Reply("{" if attempt == 1 and request.trial == 1 else GOOD)

    summary = collect(load_audit(small_spec), Scripted(answer), ledger_path)
    assert summary.counts == {"ok": 4, "malformed": 4}
    assert (summary.n_responses, summary.n_attempts) == (8, 4 * 3 + 2 + 2 * 2)
    by_attempt = query("select attempt, status, count(*) from raw.responses group by all order by all")
    assert by_attempt == [
        (1, "malformed", 6),
        (1, "ok", 2),
        (2, "malformed", 4),
        (2, "ok", 2),
        (3, "malformed", 4),
    ]
    assert query(
        "select distinct response_text, answer_text, raw_body from raw.responses where attempt = 3"
    ) == [("{oops", None, "raw")]


def test_truncated_and_refused_answers_are_not_asked_again(
    small_spec: Path, ledger_path: Path, query: Query
) -> None:
    replies = {
        1: Reply("I'm sorry, but I can't help with that."),
        2: Reply('{"Tea": "W', finish_reason="length"),
    }
    summary = collect(load_audit(small_spec), Scripted(lambda request: replies[request.trial]), ledger_path)
    assert summary.counts == {"refused": 4, "truncated": 4}
    assert summary.n_attempts == 8
    assert query("select count(*) from raw.responses where error like '%rule apology%'") == [(4,)]


def test_failures_that_may_pass_are_tried_three_times(
    small_spec: Path, ledger_path: Path, query: Query
) -> None:
    asked: Counter[tuple[str, int]] = Counter()
    lock = threading.Lock()

    def answer(request: Request) -> Reply:
        with lock:
            asked[request.prompt_text, request.trial] += 1
            attempt = asked[request.prompt_text, request.trial]
        if "Asian Woman" in request.prompt_text:
            raise TargetError("bad request", retryable=False, raw_body="because")
        if "Asian" in request.prompt_text or attempt == 1:
            raise TargetError("busy", retryable=True, retry_after_seconds=0.001)
        return Reply(GOOD)

    summary = collect(load_audit(small_spec), Scripted(answer), ledger_path)
    assert summary.counts == {"ok": 4, "error": 4}
    rows = query(
        "select attempt, status, error, raw_body, count(*) from raw.responses group by all order by all"
    )
    assert rows == [
        (1, "error", "bad request", "because", 2),
        (1, "error", "busy", None, 6),
        (2, "error", "busy", None, 2),
        (2, "ok", None, None, 4),
        (3, "error", "busy", None, 2),
    ]


def test_a_real_endpoint_from_request_to_row(
    small_spec: Path,
    ledger_path: Path,
    query: Query,
    endpoint: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("BIASLEDGER_TEST_KEY", KEY)
    endpoint.sends(429, f"slow down, {KEY}", Retry_After="0")
    endpoint.answers(f'{{"Tea 🍵": "Warm, {KEY}."}}')
    target = OpenAITarget(
        "mine", base_url=endpoint.base_url, model="m", api_key_env="BIASLEDGER_TEST_KEY", concurrency=4
    )
    summary = collect(load_audit(small_spec), target, ledger_path)
    assert summary.counts == {"ok": 8}
    assert summary.n_attempts == 9
    assert not summary.is_simulated
    row = query(
        "select answer_text, finish_reason, model_answered, prompt_tokens from raw.responses where status = 'ok'"
    )[0]
    assert row == ("Tea 🍵 Warm, [key].", "stop", "served-model", 11)
    assert len({sent["headers"]["Authorization"] for sent in endpoint.requests}) == 1
    assert KEY.encode() not in ledger_path.read_bytes()
    tables = [name for (name,) in query("select table_name from duckdb_tables()")]
    assert KEY not in repr([query(f"from raw.{table}") for table in tables])
    assert KEY not in caplog.text


def test_malformed_json_from_a_real_endpoint_three_times(
    write_spec: Callable[..., Path], small_text: str, ledger_path: Path, query: Query, endpoint: Any
) -> None:
    endpoint.answers('{"Tea": Warm}')
    target = OpenAITarget("mine", base_url=endpoint.base_url, model="m")
    summary = collect(load_audit(write_spec(small_text, ("trials: 2", "trials: 1"))), target, ledger_path)
    assert summary.counts == {"malformed": 4}
    assert query(
        "select count(*), max(attempt) from raw.responses where response_text = '{\"Tea\": Warm}'"
    ) == [(12, 3)]
    assert len(endpoint.requests) == 12


def test_a_wrong_key_stops_the_run_at_once(
    small_spec: Path, ledger_path: Path, query: Query, endpoint: Any
) -> None:
    endpoint.sends(401, "no")
    target = OpenAITarget("mine", base_url=endpoint.base_url, model="m", concurrency=1)
    with pytest.raises(TargetError, match="answered 401"):
        collect(load_audit(small_spec), target, ledger_path, trials=50)
    assert len(endpoint.requests) <= 3
    assert query("select distinct status from raw.responses") == [("error",)]
    (reason,) = query("select detail ->> 'reason' from raw.run_events where event = 'failed'")[0]
    assert "401" in reason
    assert [run.state for run in Ledger(ledger_path).runs()] == ["failed"]


def test_a_dead_endpoint_is_not_asked_for_ever(small_spec: Path, ledger_path: Path, query: Query) -> None:
    def answer(request: Request) -> Reply:
        raise TargetError("nobody there", retryable=True)

    with pytest.raises(
        TargetError, match="None of the first 10 questions was answered, so the run stops: nobody"
    ) as told:
        collect(load_audit(small_spec), Scripted(answer), ledger_path, trials=50, backoff_seconds=0.0)
    (kept,) = query("select count(*) from raw.responses")[0]
    assert 30 <= kept < 200
    (run,) = Ledger(ledger_path).runs()
    assert f"collect --resume {run.run_id}" in str(told.value)
    assert run.state == "failed"


def test_a_target_with_a_bug_does_not_hang(small_spec: Path, ledger_path: Path, query: Query) -> None:
    def answer(request: Request) -> Reply:
        raise ZeroDivisionError("bug")

    with pytest.raises(ZeroDivisionError):
        collect(load_audit(small_spec), Scripted(answer), ledger_path)
    assert query("select event from raw.run_events order by happened_at") == [("started",), ("failed",)]


def test_questions_are_asked_at_once_but_not_more_than_allowed(
    small_spec: Path, ledger_path: Path, endpoint: Any
) -> None:
    endpoint.answers(GOOD, seconds=0.05)
    target = OpenAITarget("mine", base_url=endpoint.base_url, model="m", concurrency=4)
    collect(load_audit(small_spec), target, ledger_path, trials=8)
    assert 2 <= endpoint.most_at_once <= 4


def test_work_does_not_pile_up_in_memory(
    small_spec: Path, ledger_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from collector.asking import runner

    taken, answered, most = 0, 0, 0
    real_tasks = runner._tasks

    def counted(*arguments: Any) -> Any:
        nonlocal taken, most
        for task in real_tasks(*arguments):
            taken += 1
            most = max(most, taken - answered)
            yield task

    def answer(request: Request) -> Reply:
        nonlocal answered
        answered += 1
        return Reply(GOOD)

    monkeypatch.setattr(runner, "_tasks", counted)
    summary = collect(load_audit(small_spec), Scripted(answer, concurrency=1), ledger_path, trials=500)
    assert summary.n_responses == 2000
    assert most <= 3


def test_texts_of_every_kind_survive(small_spec: Path, ledger_path: Path, query: Query) -> None:
    huge = json.dumps({"Tea": "wärm 🍵 " * 600_000}, ensure_ascii=False)
    assert len(huge.encode()) > 5_000_000
    odd = '{"Tea": "nul \x00 half \ud83d, قهوة 日本 👩‍👩‍👧"}'
    texts = {1: huge, 2: odd}
    summary = collect(
        load_audit(small_spec), Scripted(lambda request: Reply(texts[request.trial])), ledger_path
    )
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
    small_spec: Path, ledger_path: Path, query: Query, monkeypatch: pytest.MonkeyPatch
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
        summary = collect(load_audit(small_spec), Scripted(answer), ledger_path)
    finally:
        holder[0].kill()
        holder[0].wait()
    assert n_met >= 1
    assert summary.counts == {"ok": 8}
    assert query("select count(*) from raw.responses") == [(8,)]


def test_a_ledger_that_stays_locked_costs_nothing(
    small_spec: Path, ledger_path: Path, query: Query, caplog: pytest.LogCaptureFixture
) -> None:
    collect(load_audit(small_spec), Simulator("first"), ledger_path, trials=1)
    holder = hold(ledger_path, 60)
    try:
        summary = collect(
            load_audit(small_spec), Scripted(lambda _: Reply(GOOD)), ledger_path, lock_patience_seconds=0.5
        )
    finally:
        holder.kill()
        holder.wait()
    assert summary.counts == {"ok": 8}
    warning = summary.warnings[-1]
    assert f"process {holder.pid}" in warning
    assert warning.endswith(f"All of run {summary.run_id} is kept in the journal; the next build loads it.")
    told = [record.message for record in caplog.records if "Collecting goes on" in record.message]
    assert len(told) == 1
    assert query("select count(*) from raw.runs") == [(1,)]
    assert load_all(ledger_path) == [f"Run {summary.run_id}: 16 records loaded from its journal."]
    assert query(f"select count(*), max(seq) from raw.responses where run_id = '{summary.run_id}'") == [
        (8, 8)
    ]
    assert load_all(ledger_path) == []


def hold(path: Path, seconds: float) -> subprocess.Popen[bytes]:
    """Start a process that has the ledger open for some seconds; return once it has."""
    script = (
        "import duckdb, time\n"
        "while True:\n"
        "    try:\n"
        f"        c = duckdb.connect({str(path)!r})\n"
        "        break\n"
        "    except duckdb.Error:\n"
        "        time.sleep(0.05)\n"
        f"print('held', flush=True); time.sleep({seconds})"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    return process


def test_an_interrupt_keeps_what_was_answered(
    small_spec: Path, ledger_path: Path, query: Query, repository: Path
) -> None:
    script = f"""
        import signal
        import time
        from pathlib import Path
        from collector.asking.runner import collect
        from collector.spec.loading import load_audit
        from collector.targets.base import Reply
        from collector.targets.simulator.target import Simulator

        # What runs the tests in the background may have it ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)

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
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=repository,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
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
    assert query("select count(distinct seq), max(seq) from raw.responses") == [(kept, kept)]


def test_whoever_interrupts_twice_is_told_how_to_go_on_all_the_same(
    small_spec: Path, ledger_path: Path, repository: Path
) -> None:
    script = f"""
        import os
        import signal
        import time
        from pathlib import Path
        from collector.asking.askers import Askers
        from collector.asking.runner import collect
        from collector.spec.loading import load_audit
        from collector.targets.simulator.target import Simulator

        signal.signal(signal.SIGINT, signal.default_int_handler)
        wait = Askers.wait

        def told(self, seconds):
            os.write(1, b"waiting\\n")
            wait(self, seconds)

        Askers.wait = told

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
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=repository,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
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


def test_progress_is_quiet_unless_asked_for(
    small_spec: Path, ledger_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = load_audit(small_spec)
    collect(audit, Simulator("sim"), ledger_path)
    assert capsys.readouterr() == ("", "")
    collect(audit, Simulator("sim", malformed=1.0), ledger_path, show_progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "8/8" in err
    assert "8 failed" in err
    assert "/s" in err


def test_wrong_arguments_leave_no_ledger(small_spec: Path, ledger_path: Path) -> None:
    audit = load_audit(small_spec)
    with pytest.raises(InputError, match="no variant 'maskd'"):
        collect(audit, Simulator(), ledger_path, variants=["maskd"])
    with pytest.raises(InputError, match="at least 1 is needed"):
        collect(audit, Simulator(), ledger_path, trials=0)
    assert not ledger_path.exists()


def test_the_ledger_is_free_between_appends(small_spec: Path, ledger_path: Path) -> None:
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

    collect(load_audit(small_spec), Scripted(answer, concurrency=1), ledger_path, trials=1)
    assert seen == [4]
    with duckdb.connect(str(ledger_path)) as connection:
        assert connection.execute("select count(*) from raw.responses").fetchall() == [(4,)]


LISTS_AUDIT = """
audit: fans
subjects: {file: entities.csv, name: entity, domain: domain}
templates:
  - {id: neutral, text: 'I am a fan of {entity}. List {k}.', trials: 3}
  - {id: fan, text: 'I am {a race} fan of {entity}. List {k}.', neutral: neutral}
  - {id: typo, part: robustness, text: 'I am {a race} fan of {entity}. {k}.', neutral: neutral, perturbations: [typo_drop]}
attributes:
  race: {groups: [Black, Asian]}
trials: 1
answer: {kind: list, k: 2}
reading: {lists: {relevance: relevance.csv}}
"""


@pytest.fixture
def lists_spec(tmp_path: Path, write_spec: Write) -> Path:
    (tmp_path / "entities.csv").write_text("entity,domain\nAdele,music\nAng Lee,movies\n")
    (tmp_path / "relevance.csv").write_text("entity,item,grade\nAdele,Hello,2\nAdele,Skyfall,1\n")
    return write_spec(LISTS_AUDIT)


def test_a_template_has_its_own_number_of_trials(lists_spec: Path, ledger_path: Path, query: Query) -> None:
    target = Scripted(lambda _: Reply("1. Hello\n2. Skyfall"))
    summary = collect(load_audit(lists_spec), target, ledger_path, parts=["robustness"], trials=2)
    assert (summary.n_prompts, summary.n_responses, summary.counts) == (10, 22, {"ok": 22})
    assert query(
        "select template, subject, domain, perturbation, count(*), max(trial), count(distinct (prompt_id, trial)) "
        "from raw.prompts inner join raw.responses using (run_id, prompt_id) group by all order by template, subject"
    ) == [
        ("fan", "Adele", "music", None, 4, 2, 4),
        ("fan", "Ang Lee", "movies", None, 4, 2, 4),
        ("neutral", "Adele", "music", None, 3, 3, 3),
        ("neutral", "Ang Lee", "movies", None, 3, 3, 3),
        ("typo", "Adele", "music", "typo_drop", 4, 2, 4),
        ("typo", "Ang Lee", "movies", "typo_drop", 4, 2, 4),
    ]
    (detail,) = query("select detail::varchar from raw.run_events where event = 'started'")[0]
    assert json.loads(detail)["parts"] == ["robustness"]


def test_what_a_run_asks_is_some_of_the_audit(lists_spec: Path, ledger_path: Path, query: Query) -> None:
    audit = load_audit(lists_spec).with_subjects(domains=["music"])
    collect(audit, Scripted(lambda _: Reply("1. Hello\n2. Skyfall")), ledger_path)
    assert query("select distinct subject, domain, template from raw.prompts order by all") == [
        ("Adele", "music", "fan"),
        ("Adele", "music", "neutral"),
    ]
    assert query("select (spec -> 'subjects' ->> 'n')::integer from raw.runs") == [(1,)]
    with pytest.raises(InputError, match="no part 'persona'"):
        collect(audit, Scripted(lambda _: Reply("1. Hello")), ledger_path, parts=["persona"])


def test_relevance_is_kept_once(lists_spec: Path, ledger_path: Path, query: Query) -> None:
    audit = load_audit(lists_spec)
    for _ in range(2):
        collect(audit, Scripted(lambda _: Reply("1. Hello\n2. Skyfall")), ledger_path)
    assert query("from raw.relevance order by item") == [
        (audit.relevance_hash, "Adele", None, "Hello", 2.0),
        (audit.relevance_hash, "Adele", None, "Skyfall", 1.0),
    ]
    assert query("select distinct reading -> 'lists' ->> 'relevance_hash' from raw.readings") == [
        (audit.relevance_hash,)
    ]


def test_a_made_up_answer_waits_for_no_disk(
    small_spec: Path, ledger_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It costs nothing to ask for again; a service's would wait here for ever, as of the ninth answer."""
    from collector.journal import writer as journal

    lock, n_answered = threading.Lock(), 0
    is_far_ahead = threading.Event()
    real_sync = os.fsync

    def sync(descriptor: int) -> None:
        assert not n_answered or is_far_ahead.wait(60)
        real_sync(descriptor)

    def answer(_: Request) -> Reply:
        nonlocal n_answered
        with lock:
            n_answered += 1
            if n_answered == 40:
                is_far_ahead.set()
        return Reply(GOOD)

    monkeypatch.setattr(journal.os, "fsync", sync)
    summary = collect(load_audit(small_spec), Scripted(answer, is_simulated=True), ledger_path, trials=20)
    assert is_far_ahead.is_set()
    assert summary.counts == {"ok": 80}


def test_a_slow_disk_may_lose_one_answer_of_each_connection_and_no_more(
    small_spec: Path, ledger_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the disk is waited for, what has arrived is in the journal's file already, and survives the process."""
    from collector.journal import writer as journal

    lock, lost = threading.Lock(), []
    n_answered = 0
    real_sync = os.fsync
    has_asked = threading.Event()

    def sync(descriptor: int) -> None:
        # The disk waits for twelve questions, or for as long as nobody asks any: then those who ask wait for the disk.
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
    collect(load_audit(small_spec), Scripted(answer, concurrency=4), ledger_path, trials=20)
    assert len(lost) == 80
    assert max(lost) <= 4
