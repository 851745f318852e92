"""Test the chat endpoint over HTTP on loopback: the request, the reply, and the places where the key must not be."""

from __future__ import annotations

import json
import logging
import socket
from typing import Any

import pytest

from collector.errors import TargetError
from collector.redaction import KEY_PLACEHOLDER
from collector.targets.base import Request
from collector.targets.openai import OpenAITarget

KEY = "sk-very-secret-0123456789"
VARIABLE = "BIASLEDGER_TEST_KEY"


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(VARIABLE, KEY)
    return KEY


def target(endpoint: Any, **settings: Any) -> OpenAITarget:
    return OpenAITarget(
        "mine", base_url=endpoint.base_url, model="my-model", **{"timeout_seconds": 5.0, **settings}
    )


def failure(asked: OpenAITarget) -> TargetError:
    with pytest.raises(TargetError) as caught:
        asked.ask(Request("Hello"))
    assert KEY not in str(caught.value) + str(caught.value.raw_body)
    return caught.value


def test_a_question_and_its_answer(endpoint: Any, key: str) -> None:
    endpoint.answers("Grüße 👋")
    asked = target(endpoint, api_key_env=VARIABLE, parameters={"temperature": 0.5})
    reply = asked.ask(Request("Hello 日本", "Be brief.", 1, 42))
    assert (reply.text, reply.finish_reason, reply.model_answered) == ("Grüße 👋", "stop", "served-model")
    assert (reply.prompt_tokens, reply.completion_tokens) == (11, 7)
    assert 0 < float(reply.latency_ms or 0) < 5000
    assert '"served-model"' in str(reply.raw_body)
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


@pytest.mark.parametrize(
    ("status", "is_retryable", "stops_run"),
    [
        (400, False, False),
        (401, False, True),
        (403, False, False),
        (404, False, True),
        (408, True, False),
        (422, False, False),
        (429, True, False),
        (500, True, False),
        (503, True, False),
    ],
)
def test_which_failures_are_tried_again(
    endpoint: Any, key: str, status: int, is_retryable: bool, stops_run: bool
) -> None:
    endpoint.sends(status, json.dumps({"error": {"message": f"Incorrect key {KEY}, or so."}}))
    error = failure(target(endpoint, api_key_env=VARIABLE))
    assert (error.retryable, error.stops_run) == (is_retryable, stops_run)
    assert f"mine answered {status}" in str(error)
    assert KEY_PLACEHOLDER in str(error.raw_body)


def test_a_wrong_key_is_named_by_its_variable(endpoint: Any, key: str) -> None:
    endpoint.sends(401, "no")
    assert f"it refuses the key in {VARIABLE}" in str(failure(target(endpoint, api_key_env=VARIABLE)))
    assert "it refuses a question without a key (api_key_env)" in str(failure(target(endpoint)))


def test_a_missing_key_is_reported_before_anything_is_sent(
    endpoint: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    error = failure(target(endpoint, api_key_env=VARIABLE))
    assert error.stops_run
    assert VARIABLE in str(error)
    assert endpoint.requests == []


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7.0), ("0.5", 0.5), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0), ("-1", None), ("soon", None)],
)
def test_the_wish_to_be_left_alone_is_read(endpoint: Any, header: str, seconds: float | None) -> None:
    endpoint.sends(429, "slow down", Retry_After=header)
    assert failure(target(endpoint)).retry_after_seconds == seconds


def test_redirects_are_refused(endpoint: Any, key: str) -> None:
    endpoint.sends(307, "", Location="http://127.0.0.1:1/elsewhere")
    error = failure(target(endpoint, api_key_env=VARIABLE))
    assert error.stops_run
    assert "a redirect, which is refused" in str(error)
    assert len(endpoint.requests) == 1


def test_a_slow_endpoint_times_out(endpoint: Any) -> None:
    endpoint.answers("late", seconds=1.0)
    error = failure(target(endpoint, timeout_seconds=0.2))
    assert error.retryable
    assert "mine did not answer within 0.2 s" in str(error)


def test_nobody_listening() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    error = failure(OpenAITarget("mine", base_url=f"http://127.0.0.1:{port}/v1", model="m"))
    assert error.retryable
    assert f"mine cannot be reached at http://127.0.0.1:{port}/v1/chat/completions" in str(error)
    assert "refused" in str(error)
    assert "0x" not in str(error)


@pytest.mark.parametrize(
    "body", ["not json", "[]", "{}", '{"choices": []}', '{"choices": [{}]}', '{"choices": [1]}']
)
def test_replies_that_are_no_chat_completion(endpoint: Any, body: str) -> None:
    endpoint.sends(200, body)
    error = failure(target(endpoint))
    assert error.retryable
    assert error.raw_body == body


def test_refusals_and_filters_are_answers(endpoint: Any) -> None:
    endpoint.answers(None, refusal="I can't help with that.")
    endpoint.answers(None, finish_reason="content_filter")
    endpoint.sends(400, '{"error": {"code": "content_filter", "message": "flagged"}}')
    asked = target(endpoint)
    replies = [asked.ask(Request("Hello")) for _ in range(3)]
    assert [(reply.text, reply.finish_reason) for reply in replies] == [
        ("I can't help with that.", "refusal"),
        (None, "content_filter"),
        (None, "content_filter"),
    ]


def test_content_in_parts(endpoint: Any) -> None:
    endpoint.answers([{"type": "text", "text": "Hello "}, {"type": "image"}, {"type": "text", "text": "you"}])
    assert target(endpoint).ask(Request("Hello")).text == "Hello you"


def test_the_key_is_nowhere_to_be_seen(endpoint: Any, key: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    endpoint.answers(f"Your key is {KEY}!")
    asked = target(endpoint, api_key_env=VARIABLE)
    reply = asked.ask(Request("Hello"))
    assert reply.text == f"Your key is {KEY_PLACEHOLDER}!"
    everything = [repr(asked), repr(vars(asked)), repr(asked.parameters), repr(reply), caplog.text]
    assert KEY not in "".join(everything)
