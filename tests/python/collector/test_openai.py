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


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(VARIABLE, KEY)
    return KEY


def target(endpoint: Any, **settings: Any) -> ChatTarget:
    entry = {"base_url": endpoint.base_url, "model": "my-model", "timeout_seconds": 5.0, **settings}
    return chat_target(**entry)


def failure(asked: ChatTarget) -> TargetError:
    with pytest.raises(TargetError) as caught:
        asked.ask(Request("Hello"))
    assert KEY not in str(caught.value) + str(caught.value.raw_body)
    return caught.value


def test_a_question_and_its_answer(endpoint: Any, key: str) -> None:
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


def test_no_key_no_header_and_no_login_from_netrc(
    endpoint: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    endpoint.answers("Hello")
    target(endpoint).ask(Request("Hello"))
    assert "Authorization" not in endpoint.requests[0]["headers"]


def test_seeds_are_sent_when_asked_for(endpoint: Any) -> None:
    endpoint.answers("Hello")
    target(endpoint).ask(Request("Hello", seed=42))
    target(endpoint, send_seed=True).ask(Request("Hello", seed=42))
    assert [sent["body"].get("seed") for sent in endpoint.requests] == [None, 42]


def test_a_question_without_a_key_is_named_so(endpoint: Any) -> None:
    endpoint.sends(401, "no")
    assert "it refuses a question without a key (api_key_env)" in str(failure(target(endpoint)))


@pytest.mark.parametrize("body", ['{"choices": []}', '{"choices": [{}]}', '{"choices": [1]}'])
def test_replies_that_are_no_chat_completion(endpoint: Any, body: str) -> None:
    endpoint.sends(200, body)
    error = failure(target(endpoint))
    assert error.retryable
    assert error.raw_body == body


def test_content_in_parts(endpoint: Any) -> None:
    endpoint.answers([{"type": "text", "text": "Hello "}, {"type": "image"}, {"type": "text", "text": "you"}])
    assert target(endpoint).ask(Request("Hello")).text == "Hello you"
