"""Test asking by batch on loopback: the same rows as one by one, and nothing lost or paid for twice."""

from __future__ import annotations

import json
import multiprocessing
import re
import signal
from collections.abc import Callable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from biasledger.cli import cli
from collector.asking import batch as batch_module
from collector.asking.costs import CostMeter, Price
from collector.asking.runner import CollectOptions, collect, resume
from collector.errors import InputError, TargetError
from collector.journal.reader import journal_path, read_journal
from collector.ledger.summary import RunSummary
from collector.rows import utc_now
from collector.spec.loading import load_audit
from collector.targets.base import BatchRequest, Request, Submission
from collector.targets.batching import batch_interface
from collector.targets.simulator.target import Simulator
from tests.python.collector import fake_batches
from tests.python.collector.fake_batches import KEY, KEY_VARIABLE, Hold, Service, answered
from tests.python.collector.importing import Query
from tests.python.collector.scripted import wait_for

Ask = Callable[..., RunSummary]
N_TRIALS = 8
PAID = Price("asked-model", 1.0, 1.0, utc_now().date(), "made up")


# Tests that do not depend on the wire format use one vendor.
one_vendor = pytest.mark.parametrize("service", ["openai"], indirect=True)


@pytest.fixture(params=["openai", "anthropic"])
def service(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    # These tests do not wait for submissions that did not arrive.
    monkeypatch.setattr(batch_module, "SETTLE_SECONDS", 0.0)
    with fake_batches.batch_service(request.param) as running:
        yield running


@pytest.fixture
def ask(service: Service, small_spec: Path, ledger_path: Path) -> Ask:
    def run(meter: CostMeter | None = None, *, batch: bool = True, **choices: Any) -> RunSummary:
        options = CollectOptions(meter=meter, poll_seconds=0.02, backoff_seconds=0.01)
        audit, target = load_audit(small_spec), service.target()
        return collect(audit, target, ledger_path, options, batch=batch, **choices)

    return run


@pytest.fixture
def go_on(service: Service, ledger_path: Path) -> Ask:
    def run(meter: CostMeter | None = None, *, retry_failed: bool = False) -> RunSummary:
        (path,) = (ledger_path.parent / "journal").glob("*.jsonl")
        options = CollectOptions(meter=meter, poll_seconds=0.02, backoff_seconds=0.01)
        return resume(path.stem, service.target(), ledger_path, options, retry_failed=retry_failed)

    return run


def events(ledger_path: Path) -> list[str]:
    (path,) = (ledger_path.parent / "journal").glob("*.jsonl")
    return [record.body["event"] for record in read_journal(path) if record.kind == "event"]


def sizes(service: Service) -> list[int]:
    return [len(batch.questions) for batch in service.batches.values()]


def after_making(service: Service, act: Callable[..., None]) -> None:
    """Call act(make) after the service has made a batch."""
    made = service.make

    def make(questions: dict[str, dict[str, Any]], label: str | None = None) -> Any:
        found = made(questions, label)
        act(made)
        return found

    service.make = make


def break_off(ask: Ask, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop a run whose first submission arrived but got no reply."""
    monkeypatch.setattr(batch_module, "MAX_TRIES", 1)
    service.drop = 1
    with pytest.raises(TargetError, match="cannot be reached"):
        ask()


def test_the_rows_are_those_of_asking_one_by_one(ask: Ask, service: Service, query: Query) -> None:
    by_batch = ask()
    assert by_batch.counts == {"ok": N_TRIALS}
    one_by_one = ask(batch=False)
    rows = {
        run: query(
            "select prompt_id, trial, attempt, status, response_text, answer_text, finish_reason, model_answered, "
            f"prompt_tokens, completion_tokens, error, content_hash from raw.responses where run_id = '{run}' order by all"
        )
        for run in (by_batch.run_id, one_by_one.run_id)
    }
    assert len(rows[by_batch.run_id]) == N_TRIALS
    assert rows[by_batch.run_id] == rows[one_by_one.run_id]
    nulls = "requested_at is null, latency_ms is null, raw_body is null"
    kept = query(f"select distinct {nulls} from raw.responses where run_id = '{by_batch.run_id}'")
    assert kept == [(False, True, False)]
    assert len(service.batches) == 1
    assert service.keys == {f"Bearer {KEY}" if service.vendor == "openai" else KEY}


@one_vendor
def test_what_a_journal_says(ask: Ask, ledger_path: Path) -> None:
    ask()
    of_batches = ["batch_submitting", "batch_submitted", "batch_collected"]
    assert events(ledger_path) == ["started", *of_batches, "finished"]


@one_vendor
def test_a_large_run_is_split(ask: Ask, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = type(batch_interface(service.target()))
    monkeypatch.setattr(kind, "max_requests", 3)
    assert ask().counts == {"ok": N_TRIALS}
    assert sizes(service) == [3, 3, 2]
    size = batch_interface(service.target()).size(BatchRequest("c", Request("Recommend products.")))
    monkeypatch.setattr(kind, "max_bytes", 3 * size)
    assert ask().counts == {"ok": N_TRIALS}
    assert max(service.asked().values()) == 1
    assert len(service.batches) > 6


def test_errors_of_single_questions(ask: Ask, service: Service, query: Query) -> None:
    def outcome(custom_id: str, text: str) -> str | int:
        first = "-1-1-" in custom_id
        wrong = {"White Man": 400, "White Woman": 500, "Asian Man": "no JSON at all"} if first else {}
        return next((one for who, one in wrong.items() if who in text), answered(custom_id, text))

    service.outcome = outcome
    assert ask().counts == {"ok": N_TRIALS - 1, "error": 1}
    tries = query(
        "select replace(replace(prompt_text, 'Recommend products for a', ''), '. Answer in JSON.', ''), attempt, status "
        "from raw.responses inner join raw.prompts using (run_id, prompt_id) where trial = 1 order by 1, 2"
    )
    assert [row[1:] for row in tries if "White Man" in row[0]] == [(1, "error")]
    assert [row[1:] for row in tries if "White Woman" in row[0]] == [(1, "error"), (2, "ok")]
    assert [row[1:] for row in tries if "Asian Man" in row[0]] == [(1, "malformed"), (2, "ok")]
    # The second batch holds nothing but what has to be asked again.
    assert sizes(service) == [N_TRIALS, 2]
    first = "select error from raw.responses where status = 'error' order by error"
    assert "It went wrong (400)." in query(first)[0][0]


@one_vendor
def test_unusable_replies_are_not_bought_again(ask: Ask, go_on: Ask, service: Service, query: Query) -> None:
    service.outcome = lambda *_: "no JSON at all"
    sentence = r"No reply to the first 40 questions could be used.* no JSON at all\. Run"
    with pytest.raises(TargetError, match=sentence):
        ask(trials=10)
    assert sizes(service) == [40]
    assert query("select status, count(*) from raw.responses group by all") == [("malformed", 40)]
    service.outcome = answered
    assert go_on().counts == {"ok": 40}
    assert sizes(service) == [40, 40]


@one_vendor
@pytest.mark.parametrize(
    ("is_answered", "outcome", "trials", "counts", "expected"),
    [
        (lambda _n, one, _text: "-2-1-" in one, 400, 12, {"error": 44, "ok": 4}, [48]),
        (lambda _n, _one, text: "Asian Man" not in text, "expired", 2, {"ok": 6, "error": 2}, [8, 2, 2]),
        (lambda n, one, _text: n > 1 or "-1-1-" not in one, "lost", 2, {"ok": 8}, [8, 4]),
    ],
    ids=["many errors", "always expired", "missing once"],
)
def test_questions_without_an_answer_do_not_end_a_run(
    ask: Ask,
    service: Service,
    is_answered: Callable[[int, str, str], bool],
    outcome: str | int,
    trials: int,
    counts: dict[str, int],
    expected: list[int],
) -> None:
    """`is_answered` gets the number of batches so far, the custom_id and the question's text."""
    service.outcome = lambda one, text: (
        answered(one, text) if is_answered(len(service.batches), one, text) else outcome
    )
    assert ask(trials=trials).counts == counts
    assert sizes(service) == expected


def test_an_expired_batch(ask: Ask, service: Service, query: Query) -> None:
    service.outcome = lambda custom_id, text: "expired" if "-1-1-" in custom_id else answered(custom_id, text)
    service.ends = ["expired"]
    assert ask().counts == {"ok": N_TRIALS}
    tries = query("select attempt, status, count(*) from raw.responses group by all order by all")
    assert tries == [(1, "error", 4), (1, "ok", 4), (2, "ok", 4)]


def cancel(service: Service) -> None:
    service.outcome = lambda custom_id, text: (
        "canceled" if "-1-1-" in custom_id else answered(custom_id, text)
    )
    service.ends = ["cancelled"]


def refuse_the_key(service: Service) -> None:
    service.refuse = [401]


def refuse_the_key_later(service: Service) -> None:
    after_making(service, lambda _: refuse_the_key(service))


def know_no_model(service: Service) -> None:
    service.outcome = lambda *_: 404


@pytest.mark.parametrize(
    ("prepare", "sentence", "expected"),
    [
        (cancel, r"Batch batch_1 was cancelled at the service; .* keeps 4 of 8 responses", [8, 4]),
        (refuse_the_key, "answered 401: it refuses the key in FAKE_BATCH_KEY", [8]),
        (refuse_the_key_later, "answered 401", [8]),
        (know_no_model, r"answered 404: It went wrong \(404\)", [8, 8]),
    ],
)
def test_a_run_that_the_service_stops_goes_on_where_it_was(
    ask: Ask,
    go_on: Ask,
    service: Service,
    prepare: Callable[[Service], None],
    sentence: str,
    expected: list[int],
) -> None:
    prepare(service)
    with pytest.raises(TargetError, match=sentence):
        ask()
    service.outcome = answered
    assert go_on().counts == {"ok": N_TRIALS}
    assert sizes(service) == expected


def test_a_batch_that_the_service_rejects(ask: Ask, go_on: Ask, service: Service, ledger_path: Path) -> None:
    service.ends = ["failed"]
    with pytest.raises(TargetError, match=r"The file is wrong\..* keeps 0 of 8 responses"):
        ask()
    assert "batch_failed" in events(ledger_path)
    assert go_on().counts == {"ok": N_TRIALS}
    assert "failed" not in [batch.ends for batch in service.batches.values()] or service.vendor == "openai"


@one_vendor
def test_results_that_never_come_end_the_run(ask: Ask, service: Service) -> None:
    service.outcome = lambda *_: "lost"
    with pytest.raises(TargetError, match="No result came for any of the 8 questions left"):
        ask()


@pytest.mark.parametrize(
    ("status", "lag", "n_others"),
    [
        (None, 0, 5),
        (429, 0, 0),
        (500, 0, 0),
        (503, 0, 0),
        (529, 0, 0),
        (None, 3, 0),
    ],
)
def test_a_submission_that_arrived_is_found_and_not_made_again(
    ask: Ask, service: Service, monkeypatch: pytest.MonkeyPatch, status: int | None, lag: int, n_others: int
) -> None:
    """Without a reply or with any error, listed late, and next to batches of other sizes or names."""
    monkeypatch.setattr(batch_module, "SETTLE_SECONDS", 60.0 if lag else 0.0)
    service.drop, service.drop_with, service.lag = 1, status, lag

    def others(make: Callable[..., Any]) -> None:
        for number in range(n_others):
            make({f"other-{number}": {"messages": [{"content": "x"}]}}, f"other-{number}")

    after_making(service, others)
    assert ask().counts == {"ok": N_TRIALS}
    assert (len(service.batches), max(service.asked().values())) == (1 + n_others, 1)


@pytest.mark.parametrize("lag", [0, 3])
def test_a_submission_whose_process_ended_is_found(
    ask: Ask, go_on: Ask, service: Service, ledger_path: Path, monkeypatch: pytest.MonkeyPatch, lag: int
) -> None:
    break_off(ask, service, monkeypatch)
    assert [name for name in events(ledger_path) if name.startswith("batch")] == ["batch_submitting"]
    monkeypatch.setattr(batch_module, "SETTLE_SECONDS", 60.0 if lag else 0.0)
    service.lag = lag
    assert go_on().counts == {"ok": N_TRIALS}
    assert (len(service.batches), max(service.asked().values())) == (1, 1)


def test_where_only_a_person_can_tell_one_is_asked(
    ask: Ask, go_on: Ask, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that is not listed after all the waiting was not made, where batches have names; without, who knows?"""
    break_off(ask, service, monkeypatch)
    service.lag = 1
    if service.vendor == "anthropic":
        sentence = (
            r"The end of a submission of 8 questions at \d\d:\d\d:\d\d UTC is not known.*--retry-failed"
        )
        with pytest.raises(TargetError, match=sentence):
            go_on()
        assert len(service.batches) == 1
        service.lag = 1
    assert go_on(retry_failed=True).counts == {"ok": N_TRIALS}
    assert len(service.batches) == 2


@pytest.mark.parametrize("service", ["anthropic"], indirect=True)
@pytest.mark.parametrize("status", [500, 504, 529])
def test_a_nameless_batch_is_bought_again_only_when_asked(
    ask: Ask, go_on: Ask, service: Service, status: int
) -> None:
    """An error comes back though the batch was made, and it is not listed in time; --retry-failed speaks of earlier ones only."""
    service.drop, service.drop_with, service.lag = 1, status, 1
    question = r"The end of a submission of 8 questions .* is not known"
    with pytest.raises(TargetError, match=question):
        ask()
    assert len(service.batches) == 1
    service.drop, service.lag = 1, 2
    with pytest.raises(TargetError, match=question):
        go_on(retry_failed=True)
    assert len(service.batches) == 2
    service.lag = 0
    assert go_on().counts == {"ok": N_TRIALS}
    assert len(service.batches) == 2


def test_another_batch_of_the_same_size_does_no_harm(service: Service, ask: Ask) -> None:
    """Anthropic's batches have no names: a wrong guess brings no result of ours, and the right one is submitted again."""
    foreign = {f"0123456789abcdef-{n}-1-00000000": {"messages": [{"content": "x"}]} for n in range(N_TRIALS)}
    service.make(foreign, "foreign")
    service.refuse = [500]
    assert ask().counts == {"ok": N_TRIALS}
    ours = [one for one, n in service.asked().items() for _ in range(n) if one not in foreign]
    assert len(ours) == len(set(ours)) == N_TRIALS


def test_a_service_that_stumbles(ask: Ask, service: Service) -> None:
    refused = [503, 429, 500]
    service.looks = 4
    service.cut = 2
    if service.vendor == "anthropic":
        # A 503 to a submission leaves open whether it arrived, so that a person is asked; one that comes later does not.
        after_making(service, lambda _: service.refuse.extend(refused))
        service.refuse = [429]
    else:
        service.refuse = refused
    assert ask().counts == {"ok": N_TRIALS}
    assert max(service.asked().values()) == 1
    assert service.n_downloads >= 3


@one_vendor
def test_an_absent_service(ask: Ask, go_on: Ask, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_module, "MAX_TRIES", 3)
    service.refuse = [503] * 5
    with pytest.raises(TargetError, match=r"answered 503: Not now\..* keeps 0 of 8"):
        ask()
    service.refuse = []
    assert go_on().counts == {"ok": N_TRIALS}
    assert max(service.asked().values()) == 1


def test_a_batch_that_is_gone_is_submitted_anew(ask: Ask, go_on: Ask, service: Service) -> None:
    is_lost = iter([True])
    after_making(service, lambda _: service.batches.clear() if next(is_lost, False) else None)
    sentence = r"answered 404.* If batch batch_1 is gone for good .*--retry-failed"
    with pytest.raises(TargetError, match=sentence):
        ask()
    with pytest.raises(TargetError, match="answered 404"):
        go_on()
    assert not service.batches
    assert go_on(retry_failed=True).counts == {"ok": N_TRIALS}


def test_the_key_is_written_nowhere(ask: Ask, service: Service, ledger_path: Path) -> None:
    service.outcome = lambda custom_id, _: 400 if "-1-1-" in custom_id else json.dumps({"echo": KEY})
    ask()
    kept = b"".join(path.read_bytes() for path in ledger_path.parent.rglob("*") if path.is_file())
    assert b"[key]" in kept
    assert KEY.encode() not in kept


@one_vendor
def test_a_limit_on_the_cost(ask: Ask, go_on: Ask, service: Service, query: Query) -> None:
    def meter(usd: float) -> CostMeter:
        return CostMeter(PAID, usd, 7)

    # A question of about 20 tokens and an answer of 7 are about 0.00003 USD.
    summary = ask(meter=meter(0.0001))
    assert summary.stopped is not None
    assert 0 < summary.n_responses < N_TRIALS
    assert summary.cost_usd is not None
    assert summary.cost_usd <= 0.0001
    assert go_on(meter=meter(1.0)).counts == {"ok": N_TRIALS}
    assert max(service.asked().values()) == 1
    assert query("select count(*) from raw.responses") == [(N_TRIALS,)]


def test_a_target_without_batches(small_spec: Path, ledger_path: Path) -> None:
    sentence = "kind 'simulator', which has no batch interface; --batch is for anthropic and openai"
    with pytest.raises(InputError, match=sentence):
        collect(load_audit(small_spec), Simulator("simulator"), ledger_path, batch=True)
    assert not ledger_path.exists()


def test_what_a_batch_asks(service: Service) -> None:
    target = service.target(parameters={"temperature": 0.5})
    batches = batch_interface(target)
    question = Request("Who?", system_prompt="Be brief.")
    submission = Submission("run-1", 1, utc_now())
    batch_id = batches.submit(submission, [BatchRequest("abc-1-1-00000000", question)])
    assert service.batches[batch_id].questions == {"abc-1-1-00000000": target.question(question)}
    assert batches.find(submission) == batch_id
    known = Submission("run-2", 1, utc_now(), frozenset({batch_id}))
    assert batches.find(known) is None


@one_vendor
def test_the_cli(service: Service, small_spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    address = f"http://127.0.0.1:{service.port}{'/v1' if service.vendor == 'openai' else ''}"
    (tmp_path / "targets.yml").write_text(
        f"targets: {{fake: {{kind: {service.vendor}, base_url: '{address}', model: m, api_key_env: {KEY_VARIABLE}}}}}",
        encoding="utf-8",
    )

    cancel(service)
    stopped = CliRunner().invoke(cli, ["collect", small_spec.name, "--target", "fake", "--batch"])
    assert stopped.exit_code == 3, stopped.output
    assert "was cancelled at the service" in stopped.stderr
    (run,) = re.findall(r"--resume (\S+)", stopped.stderr)
    service.outcome = answered
    finished = CliRunner().invoke(cli, ["collect", "--resume", run])
    assert finished.exit_code == 0, finished.output
    assert "8 ok" in finished.stdout
    assert sizes(service) == [8, 4]


# Where a process is killed, one after the other: with a request that the service has not done, or has done and not answered, or
# before that, as soon as it has written so many answers down.
KILLS = (
    ("submit", False, 0),
    ("submit", True, 0),
    ("look", False, 0),
    ("look", True, 0),
    ("download", False, 0),
    ("download", True, 0),
    ("submit", False, 1),
    ("submit", False, 60),
    ("submit", False, 120),
    ("submit", False, 0),
    ("submit", True, 0),
    ("look", True, 0),
    ("download", True, 0),
)


@pytest.mark.slow
def test_killed_again_and_again(service: Service, small_spec: Path, ledger_path: Path, query: Query) -> None:
    """Nothing is lost, kept twice or paid twice, wherever a process is killed; ledger and journal agree."""
    # Each process is forked from one that has imported everything.
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["duckdb", "numpy", "tests.python.collector.fake_batches"])

    def start(run: str | None, hold: Hold) -> BaseProcess:
        service.hold = hold
        arguments = (service.vendor, service.port, small_spec, ledger_path, run)
        child = processes.Process(target=fake_batches.collect_by_batch, args=arguments)
        child.start()
        return child

    def n_answers() -> int:
        paths = (ledger_path.parent / "journal").glob("*.jsonl")
        return sum(path.read_bytes().count(b'"kind":"response"') for path in paths)

    def kill(run: str | None, hold: Hold, n_more: int) -> None:
        child = start(run, hold)
        n_before = n_answers()
        # It is killed at the request named at the latest, which it cannot go beyond; none may end before that.
        wait_for(
            lambda: hold.reached.is_set() or 0 < n_more <= n_answers() - n_before or not child.is_alive()
        )
        child.kill()
        child.join(600)
        hold.go_on.set()
        assert child.exitcode == -signal.SIGKILL

    service.looks = 6
    service.outcome = lambda custom_id, text: (
        "no JSON" if re.search(r"-[1-9]-1-", custom_id) else answered(custom_id, text)
    )
    run = None
    for kind, is_done, n_more in (("upload", True, 0), *KILLS) if service.vendor == "openai" else KILLS:
        kill(run, Hold(kind, is_done), n_more)
        (journal,) = (ledger_path.parent / "journal").glob("*.jsonl")
        run = journal.stem
    child = start(run, Hold(""))
    child.join(600)
    assert child.exitcode == 0
    assert run is not None
    assert len(list((ledger_path.parent / "journal").glob("*.jsonl"))) == 1
    kept = [
        (record.body["prompt_id"], record.body["trial"], record.body["attempt"])
        for record in read_journal(journal_path(ledger_path, run))
        if record.kind == "response"
    ]
    # 4 prompts 60 times, and 9 trials of each again.
    assert len(kept) == len(set(kept)) == 4 * 60 + 4 * 9
    assert sorted(kept) == query("select prompt_id, trial, attempt from raw.responses order by all")
    assert len(service.asked()) == len(kept)
    assert max(service.asked().values()) == 1
