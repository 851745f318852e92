"""Test what an OpenAI-compatible endpoint does beyond the contract of all targets (test_target_contract.py)."""

from __future__ import annotations

from typing import Any

import pytest

from collector.errors import TargetError
from collector.targets.base import Request
from collector.targets.chat import ChatTarget
from tests.python.collector.chat_targets import chat_target

KEY = "sk-very-secret-0123456789"
VARIABLE = "BIASLEDGER_TEST_KEY"


def target(endpoint: Any, **settings: Any) -> ChatTarget:
    entry = {"base_url": endpoint.base_url, "model": "my-model", "timeout_seconds": 5.0, **settings}
    return chat_target(**entry)


def test_a_question_and_its_answer(endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    endpoint.answers("Grüße 👋")
    asked = target(endpoint, api_key_env=VARIABLE, parameters={"temperature": 0.5})
    reply = asked.ask(Request("Hello 日本", "Be brief.", 1, 42))
    assert (reply.text, reply.finish_reason) == ("Grüße 👋", "stop")
    sent = endpoint.requests[0]
    assert sent["path"] == "/v1/chat/completions"
    assert sent["headers"]["Authorization"] == f"Bearer {KEY}"
    assert sent["body"] == {
        "model": "my-model",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello 日本"}],
        "temperature": 0.5,
    }


def test_seeds_are_sent_when_asked_for_and_no_header_without_a_key(endpoint: Any) -> None:
    endpoint.answers("Hello")
    target(endpoint).ask(Request("Hello", seed=42))
    target(endpoint, send_seed=True).ask(Request("Hello", seed=42))
    assert [sent["body"].get("seed") for sent in endpoint.requests] == [None, 42]
    assert not any("Authorization" in sent["headers"] for sent in endpoint.requests)


def test_a_question_without_a_key_is_named_so(endpoint: Any) -> None:
    endpoint.sends(401, "no")
    with pytest.raises(TargetError, match=r"it refuses a question without a key \(api_key_env\)"):
        target(endpoint).ask(Request("Hello"))


def test_content_in_parts(endpoint: Any) -> None:
    endpoint.answers([{"type": "text", "text": "Hello "}, {"type": "image"}, {"type": "text", "text": "you"}])
    assert target(endpoint).ask(Request("Hello")).text == "Hello you"
