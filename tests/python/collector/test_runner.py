"""Test collecting end to end, with real threads, a DuckDB file and an HTTP server."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from collector.answers.replies import load_rules
from collector.asking import runner
from collector.asking.attempts import request_seed
from collector.asking.resuming import RunState
from collector.asking.runner import CollectOptions, collect
from collector.errors import InputError, TargetError
from collector.hashing import canonical_json, tagged_hash
from collector.ledger.database import Ledger
from collector.spec.loading import load_audit
from collector.spec.prompts import build_prompts
from collector.targets.base import Reply, Request
from collector.targets.simulator.target import Simulator
from tests.python.collector.chat_targets import chat_target
from tests.python.collector.running import Run
from tests.python.collector.scripted import GOOD, Query, Scripted
from tests.python.collector.specs import Write


def test_a_run_of_the_simulator_is_complete(small_spec: Path, ledger_path: Path, query: Query) -> None:
    audit = load_audit(small_spec)
    summary = collect(
        audit,
        Simulator("sim", seed=3),
        ledger_path,
        CollectOptions(versions={"biasledger": "9.9"}),
        mitigations=["masked"],
        trials=3,
    )
    assert (summary.audit, summary.target, summary.is_simulated) == ("small", "sim", True)
    assert (summary.n_prompts, summary.n_responses, summary.n_attempts) == (8, 24, 24)
    assert summary.counts == {"ok": 24}
    assert summary.run_id.startswith("small-sim-")
    assert "3 trials a group" in summary.warnings[0]

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
        "mitigations": ["masked"],
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
    assert query("select count(*) from raw.analysis_settings where audit = 'small'") == [(1,)]


def test_the_same_seed_gives_the_same_run(run: Run, query: Query) -> None:
    ids = [run(Simulator("sim"), seed=seed, trials=5).run_id for seed in (7, 7, 8)]
    answers = [
        query(f"select content_hash from raw.responses where run_id = '{one}' order by all") for one in ids
    ]
    orders = [
        query(f"select prompt_id, trial from raw.responses where run_id = '{one}' order by requested_at")
        for one in ids
    ]
    assert answers[0] == answers[1] != answers[2]
    assert sorted(orders[0]) == sorted(orders[2])
    assert orders[0] != sorted(orders[0])
    asked = [(0, "a", 1, 1), (1, "a", 1, 1), (0, "b", 1, 1), (0, "a", 2, 1), (0, "a", 1, 2)]
    assert len({request_seed(*one) for one in asked}) == 5


def test_malformed_answers_are_asked_again_and_kept(run: Run, query: Query) -> None:
    def answer(request: Request) -> Reply:
        attempt = target.asked[request.prompt_text, request.trial]
        if "Asian" in request.prompt_text:
            return Reply("{oops", raw_body="raw")
        return Reply("{" if attempt == 1 and request.trial == 1 else GOOD)

    target = Scripted(answer)
    summary = run(target)
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


def test_truncated_and_refused_answers_are_not_asked_again(run: Run, query: Query) -> None:
    replies = {
        1: Reply("I'm sorry, but I can't help with that."),
        2: Reply('{"Tea": "W', finish_reason="length"),
    }
    summary = run(Scripted(lambda request: replies[request.trial]))
    assert summary.counts == {"refused": 4, "truncated": 4}
    assert summary.n_attempts == 8
    assert query("select count(*) from raw.responses where error like '%rule en-cannot%'") == [(4,)]


def test_failures_that_may_pass_are_tried_three_times(run: Run, query: Query) -> None:
    def answer(request: Request) -> Reply:
        attempt = target.asked[request.prompt_text, request.trial]
        if "Asian Woman" in request.prompt_text:
            raise TargetError("bad request", retryable=False, raw_body="because")
        if "Asian" in request.prompt_text or attempt == 1:
            raise TargetError("busy", retryable=True, retry_after_seconds=0.001)
        return Reply(GOOD)

    target = Scripted(answer)
    assert run(target).counts == {"ok": 4, "error": 4}
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


def test_a_real_endpoint_from_request_to_row(run: Run, query: Query, endpoint: Any) -> None:
    endpoint.sends(429, "slow down", Retry_After="0")
    endpoint.answers('{"Tea 🍵": "Warm."}')
    summary = run(chat_target(base_url=endpoint.base_url, concurrency=4))
    assert (summary.counts, summary.n_attempts, summary.is_simulated) == ({"ok": 8}, 9, False)
    columns = "answer_text, finish_reason, model_answered, prompt_tokens"
    assert query(f"select distinct {columns} from raw.responses where status = 'ok'") == [
        ("Tea 🍵 Warm.", "stop", "served-model", 11)
    ]


def test_malformed_json_from_a_real_endpoint_three_times(run: Run, query: Query, endpoint: Any) -> None:
    endpoint.answers('{"Tea": Warm}')
    assert run(chat_target(base_url=endpoint.base_url), trials=1).counts == {"malformed": 4}
    assert query(
        "select count(*), max(attempt) from raw.responses where response_text = '{\"Tea\": Warm}'"
    ) == [(12, 3)]
    assert len(endpoint.requests) == 12


def test_a_wrong_key_stops_the_run_at_once(run: Run, ledger_path: Path, query: Query, endpoint: Any) -> None:
    endpoint.sends(401, "no")
    target = chat_target(base_url=endpoint.base_url, concurrency=1)
    with pytest.raises(TargetError, match="answered 401"):
        run(target, trials=50)
    assert len(endpoint.requests) <= 3
    assert query("select distinct status from raw.responses") == [("error",)]
    (reason,) = query("select detail ->> 'reason' from raw.run_events where event = 'failed'")[0]
    assert "401" in reason
    assert [one.state for one in Ledger(ledger_path).runs()] == ["failed"]


def test_a_dead_endpoint_is_not_asked_for_ever(run: Run, ledger_path: Path, query: Query) -> None:
    def answer(request: Request) -> Reply:
        raise TargetError("nobody there", retryable=True)

    sentence = "None of the first 10 questions was answered, so the run stops: nobody"
    with pytest.raises(TargetError, match=sentence) as message:
        run(Scripted(answer), CollectOptions(backoff_seconds=0.0), trials=50)
    (kept,) = query("select count(*) from raw.responses")[0]
    assert 30 <= kept < 200
    (one,) = Ledger(ledger_path).runs()
    assert f"collect --resume {one.run_id}" in str(message.value)
    assert one.state == "failed"


def test_a_target_with_a_bug_does_not_hang(run: Run, query: Query) -> None:
    def answer(request: Request) -> Reply:
        raise ZeroDivisionError("bug")

    with pytest.raises(ZeroDivisionError):
        run(Scripted(answer))
    assert query("select event from raw.run_events order by happened_at") == [("started",), ("failed",)]


def test_questions_are_asked_at_once_but_not_more_than_allowed(run: Run, endpoint: Any) -> None:
    endpoint.answers(GOOD, seconds=0.05)
    target = chat_target(base_url=endpoint.base_url, concurrency=4)
    run(target, trials=8)
    assert 2 <= endpoint.most_at_once <= 4


def test_work_does_not_pile_up_in_memory(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
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
    summary = run(Scripted(answer, concurrency=1), trials=500)
    assert summary.n_responses == 2000
    assert most <= 3


def test_trials_come_in_the_order_that_the_seed_draws(small_spec: Path) -> None:
    """A run that another version began goes on in the order that it was begun in."""
    n_trials = {"often": 30, "never": 0, "once": 1}
    prompts = [
        replace(prompt, template=template)
        for prompt, template in zip(
            build_prompts(load_audit(small_spec)), ["never", "often", "once", "often"], strict=True
        )
    ]
    trials = [(prompt, trial) for prompt in prompts for trial in range(1, n_trials[prompt.template] + 1)]
    random.Random(7).shuffle(trials)
    state = RunState(started={"seed": 7, "trials_of": n_trials}, prompts=prompts)
    assert [(task.prompt, task.trial) for task in runner._tasks(state)] == trials
    assert len(trials) == 61


def test_progress_is_quiet_unless_asked_for(
    small_spec: Path, ledger_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = load_audit(small_spec)
    collect(audit, Simulator("sim"), ledger_path)
    assert capsys.readouterr() == ("", "")
    collect(audit, Simulator("sim", malformed=1.0), ledger_path, CollectOptions(show_progress=True))
    out, err = capsys.readouterr()
    assert out == ""
    assert "8/8" in err
    assert "8 not usable" in err
    assert "/s" in err


def test_wrong_arguments_leave_no_ledger(small_spec: Path, ledger_path: Path) -> None:
    audit = load_audit(small_spec)
    with pytest.raises(InputError, match="no mitigation 'maskd'"):
        collect(audit, Simulator(), ledger_path, mitigations=["maskd"])
    with pytest.raises(InputError, match="at least 1 is needed"):
        collect(audit, Simulator(), ledger_path, trials=0)
    assert not ledger_path.exists()


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
analysis: {lists: {relevance: relevance.csv}}
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
    assert query("select distinct analysis -> 'lists' ->> 'relevance_hash' from raw.analysis_settings") == [
        (audit.relevance_hash,)
    ]
