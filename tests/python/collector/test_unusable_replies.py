"""Test that a run names unusable replies, and stops early if it gets nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from collector.asking.breaker import MAX_UNUSABLE
from collector.asking.runner import resume
from collector.errors import TargetError
from collector.targets.chat import ChatTarget
from tests.python.collector.chat_targets import chat_target
from tests.python.collector.running import Run
from tests.python.collector.scripted import Query

TARGETS = {
    "openai": chat_target("openai", base_url="http://127.0.0.1:9/v1"),
    "anthropic": chat_target("anthropic"),
    "gemini": chat_target("gemini"),
}
CALLS = "It calls a tool (search) and says nothing."
THOUGHT = "It holds what the model thought, and no answer."


def completion(message: dict[str, Any], usage: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": None, **message}}], "usage": usage}


def content(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "content": list(blocks)}


def candidate(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": list(parts)}}]}


@pytest.mark.parametrize(
    ("vendor", "document", "instead"),
    [
        ("openai", completion({"tool_calls": [{"function": {"name": "search"}}]}), CALLS),
        ("openai", completion({"function_call": {"name": "search", "arguments": "{}"}}), CALLS),
        (
            "openai",
            completion({"tool_calls": [{"function": {"name": "a\x1b[2J"}}, {"type": "custom"}]}),
            "It calls a tool (a\N{REPLACEMENT CHARACTER}[2J, None) and says nothing.",
        ),
        ("openai", completion({"content": "", "reasoning_content": "Let me see."}), THOUGHT),
        ("openai", completion({"reasoning": "Let me see."}), THOUGHT),
        ("openai", completion({}, {"completion_tokens_details": {"reasoning_tokens": 64}}), THOUGHT),
        ("openai", completion({"tool_calls": "no list", "function_call": 3}), None),
        ("openai", completion({}), None),
        ("anthropic", content({"type": "tool_use", "name": "search", "input": {}}), CALLS),
        ("anthropic", content({"type": "thinking", "thinking": "Let me see."}), THOUGHT),
        ("anthropic", content({"type": "redacted_thinking", "data": "x"}), THOUGHT),
        ("anthropic", content(), None),
        ("gemini", candidate({"functionCall": {"name": "search", "args": {}}}), CALLS),
        ("gemini", candidate({"text": "Let me see.", "thought": True}), THOUGHT),
        ("gemini", candidate(), None),
    ],
)
def test_what_came_in_place_of_text_is_named(
    vendor: str, document: dict[str, Any], instead: str | None
) -> None:
    target: ChatTarget = TARGETS[vendor]
    reply = target.read(200, json.dumps(document))
    assert (reply.text or "", reply.instead) == ("", instead)


def test_a_run_of_tool_calls_alone_stops(run: Run, ledger_path: Path, query: Query, endpoint: Any) -> None:
    endpoint.answers(None, finish_reason="tool_calls", tool_calls=[{"function": {"name": "search"}}])
    target = chat_target(base_url=endpoint.base_url, concurrency=4)
    with pytest.raises(TargetError) as sentence:
        run(target, trials=100)
    assert str(sentence.value).startswith(
        "No reply to the first 30 questions could be used, so the run stops (--max-unusable). The first: The answer is empty. It "
        "calls a tool (search) and says nothing. {"
    )
    # A resumed run keeps its spec, and would stop in the same way.
    assert (
        "The run keeps the spec and the settings that it was started with. After a change of the spec or of the target, start a "
        "new run: biasledger collect AUDIT.yml --target mine. If only the service was repaired, go on with: biasledger collect "
    ) in str(sentence.value)
    # Not 1,200; those that were asked while the first ones were written to disk.
    assert MAX_UNUSABLE <= len(endpoint.requests) < 300
    assert query("select distinct status, error from raw.responses") == [
        ("malformed", f"The answer is empty. {CALLS}")
    ]
    ((event, reason),) = query(
        "select event, detail ->> 'reason' from raw.run_events where event <> 'started'"
    )
    assert (event, reason) == ("failed", "The target was given up; the error of its last response says why.")
    # It can go on, and asks no question again that was asked to its end.
    n_asked = len(endpoint.requests)
    endpoint.answers('{"Tea": "Warm."}')
    (path,) = (ledger_path.parent / "journal").glob("*.jsonl")
    summary = resume(path.stem, target, ledger_path)
    assert summary.counts["ok"] > 400 - 2 * MAX_UNUSABLE
    assert len(endpoint.requests) - n_asked == summary.counts["ok"]


def test_an_answer_that_was_only_thought_about_is_truncated(run: Run, query: Query, endpoint: Any) -> None:
    endpoint.answers("", finish_reason="length", reasoning_content="Let me see.")
    run(chat_target(base_url=endpoint.base_url))
    ((status, error),) = query("select distinct status, error from raw.responses")
    assert status == "truncated"
    assert error.endswith(f" {THOUGHT}")
