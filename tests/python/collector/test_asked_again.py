"""Test questions that were asked again: counts by group, and filter errors that count as answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from biasledger.cli import cli
from collector.asking.asked_again import AskedAgain
from collector.asking.runner import CollectOptions, collect, resume
from collector.errors import TargetError
from collector.spec.loading import load_audit
from collector.spec.prompts import Prompt, PromptAttribute
from collector.targets.base import Reply, Request
from collector.targets.http.errors import reply_of_error
from collector.targets.python_function import of_function
from tests.python.collector.importing import Query
from tests.python.collector.scripted import Scripted

GOOD = Reply('{"Tea": "Warm."}', finish_reason="stop")


First = Callable[[str], Reply | TargetError | None]


class Failing:
    """Answers that depend on how often a question was asked: the first ones of some questions fail."""

    def __init__(self, first: First) -> None:
        self._first = first
        self._asked: set[tuple[str, int]] = set()

    def __call__(self, request: Request) -> Reply:
        key = (request.prompt_text, request.trial)
        found = None if key in self._asked else self._first(request.prompt_text)
        self._asked.add(key)
        if isinstance(found, TargetError):
            raise found
        return found or GOOD


def _collect(spec: Path, ledger: Path, first: First) -> Any:
    options = CollectOptions(show_progress=False, backoff_seconds=0.0)
    return collect(load_audit(spec), Scripted(Failing(first), concurrency=1), ledger, options, trials=5)


def test_what_is_asked_again_is_counted_by_group(small_spec: Path, ledger_path: Path, query: Query) -> None:
    summary = _collect(small_spec, ledger_path, lambda prompt: Reply("") if "an Asian" in prompt else None)
    assert summary.counts == {"ok": 20}
    assert summary.asked_again == "10 asked again: 10 Asian (race); 5 Man, 5 Woman (gender)"
    first = query("select status, count(*) from raw.responses where attempt = 1 group by 1 order by 1")
    assert first == [("malformed", 10), ("ok", 10)]
    assert _collect(small_spec, ledger_path, lambda _: None).asked_again is None


def test_refusals_for_the_rate_are_not_counted(small_spec: Path, ledger_path: Path, query: Query) -> None:
    busy = TargetError("busy", retryable=True, status=429, retry_after_seconds=0.01)
    down = TargetError("answered 500: down", retryable=True, status=500)
    n_busy = 0

    def first(prompt: str) -> Reply | TargetError | None:
        nonlocal n_busy
        if "White" in prompt and "Woman" in prompt:
            return down
        n_busy += 1
        return busy if n_busy == 1 else None

    summary = _collect(small_spec, ledger_path, first)
    assert summary.asked_again == "5 asked again: 5 White (race); 5 Woman (gender)"
    rules = query("select read_by, count(*) from raw.responses where status = 'error' group by 1 order by 1")
    assert rules == [("rate_limit", 1), ("server_error", 5)]


def test_a_resumed_run_counts_what_was_asked_again_before(small_spec: Path, ledger_path: Path) -> None:
    asked = 0

    def stop_after_ten(_: str) -> Reply | TargetError:
        nonlocal asked
        asked += 1
        return Reply("") if asked <= 10 else TargetError("wrong key", stops_run=True, status=401)

    with pytest.raises(TargetError) as stopped:
        _collect(small_spec, ledger_path, stop_after_ten)
    run_id = str(stopped.value).rpartition("--resume ")[2]
    target = Scripted(Failing(lambda _: None))
    summary = resume(run_id, target, ledger_path, CollectOptions(show_progress=False))
    assert summary.counts == {"ok": 20}
    # The question that met the wrong key was asked again as well.
    assert summary.asked_again is not None
    assert summary.asked_again.startswith("11 asked again: ")


def test_the_sentence() -> None:
    prompts = [
        Prompt("one", "en", "plain", name, attributes=(PromptAttribute(1, "herkunft", group, name),))
        for name, group in (("Ewa", "polnisch"), ("Emre", "türkisch"), ("Uta", "deutsch"))
    ]
    again = AskedAgain()
    for prompt, n in zip(prompts, (34, 3, 3), strict=True):
        for trial in range(1, n + 1):
            again.note(prompt.prompt_id, trial, status="malformed", read_by=None, is_last=False)
            again.note(prompt.prompt_id, trial, status="ok", read_by="list", is_last=True)
    assert again.sentence(prompts) == "40 asked again: 34 polnisch, 3 deutsch, 3 türkisch"


def test_a_reason_that_no_table_knows_is_named(small_spec: Path, ledger_path: Path) -> None:
    odd = Reply(GOOD.text, finish_reason="zap")
    summary = _collect(small_spec, ledger_path, lambda prompt: odd if "Asian" in prompt else None)
    assert summary.warnings[-1] == (
        "This finish reason is unknown, so these answers are read by their text alone: 'zap' (10)."
    )


def test_an_error_message_as_answer_is_asked_again(small_spec: Path, ledger_path: Path, query: Query) -> None:
    down = Reply("Error code: 503 - {'error': {'message': 'overloaded', 'code': 503}}")
    summary = _collect(small_spec, ledger_path, lambda prompt: down if "White" in prompt else None)
    assert summary.counts == {"ok": 20}
    assert query("select distinct read_by from raw.responses where status = 'error'") == [("server_error",)]


@pytest.mark.parametrize(
    ("status", "body", "finish_reason"),
    [
        (400, '{"error": {"code": "content_filter", "message": "flagged"}}', "content_filter"),
        (
            400,
            '{"type":"error","error":{"message":"Output blocked by content filtering policy"}}',
            "content_filter",
        ),
        (403, '{"error": {"message": "flagged", "metadata": {"flagged_input": "x"}}}', "content_filter"),
        (500, '{"error": "litellm.ContentPolicyViolationError: filtered"}', "content_filter"),
        (400, '{"error": {"message": "max_tokens or model output limit was reached"}}', "length"),
        (400, '{"error": {"message": "Unknown parameter: \'content_filter\'"}}', None),
        (400, '{"error": {"message": "the prompt is too long"}}', None),
        (429, '{"error": {"message": "blocked by our content filter for a minute"}}', None),
        (401, '{"error": {"code": "content_filter"}}', None),
        (503, '{"error": {"message": "overloaded"}}', None),
    ],
)
def test_what_an_http_error_amounts_to(status: int, body: str, finish_reason: str | None) -> None:
    reply = reply_of_error(body, status=status)
    assert (reply and reply.finish_reason) == finish_reason
    assert reply is None or (reply.text, reply.raw_body) == (None, body)


def test_what_a_function_raises_for_a_filter_is_a_refusal() -> None:
    def ask(prompt: str, system_prompt: str | None, seed: int | None) -> str:
        raise ValueError("Error code: 400 - {'error': {'code': 'content_filter'}}")

    reply = of_function(ask).ask(Request("Hello"))
    assert (reply.text, reply.finish_reason) == (None, "content_filter")


def test_collect_prints_it(small_spec: Path, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(
        "from collections import Counter\n"
        "asked = Counter()\n"
        "def ask(prompt, system_prompt, seed):\n"
        "    asked[prompt] += 1\n"
        "    return '' if 'Asian' in prompt and asked[prompt] == 1 else '{\"Tea\": \"Warm.\"}'\n",
        encoding="utf-8",
    )
    targets = tmp_path / "targets.yml"
    targets.write_text("targets: {bot: {kind: python, function: 'bot:ask'}}\n", encoding="utf-8")
    command = ["collect", str(small_spec), "--target", "bot", "--targets", str(targets)]
    done = CliRunner().invoke(cli, [*command, "--ledger", str(tmp_path / "ledger.duckdb")])
    assert done.exit_code == 0, done.output
    assert "  2 asked again: 2 Asian (race); 1 Man, 1 Woman (gender)\n" in done.output
