"""Test the contract that every kind of target keeps, over an HTTP server on loopback with each vendor's wire format."""

from __future__ import annotations

import json
import logging
import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from collector.answers.replies import classify
from collector.errors import TargetError
from collector.redaction import KEY_PLACEHOLDER
from collector.targets import load_target
from collector.targets.base import Reply, Request, Target
from tests.python.collector.fake_services import (
    KEY,
    MODEL,
    SERVED_MODEL,
    WIRES,
    Bytes,
    Failure,
    FakeServices,
    Good,
    compressed,
)

VARIABLE = "BIASLEDGER_TEST_KEY"


def _vendor(kind: str, address: str, more: str = "") -> str:
    return f"""
    kind: {kind}
    base_url: ROOT/{kind}{address}
    model: {MODEL}
    api_key_env: {VARIABLE}
    parameters: {{temperature: 0.5}}
    timeout_seconds: 5
{more}"""


SERVICES = {
    "openai": _vendor("openai", "/v1", "    send_seed: true\n"),
    "anthropic": _vendor("anthropic", ""),
    "gemini": _vendor("gemini", "/v1beta", "    send_seed: true\n"),
    "http": f"""
    kind: http
    url: ROOT/custom/recommend?key=${{{VARIABLE}}}
    headers: {{X-Api-Key: '${{{VARIABLE}}}'}}
    body: '{{"question": "{{prompt}}", "role": "{{system_prompt}}", "seed": {{seed}}, "temperature": 0.5}}'
    secret_env: {VARIABLE}
    answer: data.reply
    finish_reason: data.end
    model_answered: data['served by']
    prompt_tokens: usage[0].n
    completion_tokens: usage[-1].n
    timeout_seconds: 5
""",
}
REDIRECT = Bytes(status=307, headers={"Location": "http://127.0.0.1:1/elsewhere"})
# The place of the audit's settings in each vendor's request.
CONFIG = "generationConfig"
PLACES: dict[str, dict[str, tuple[str | int, ...]]] = {
    "openai": {
        "prompt": ("messages", -1, "content"),
        "system": ("messages", 0, "content"),
        "seed": ("seed",),
        "temperature": ("temperature",),
    },
    "anthropic": {
        "prompt": ("messages", -1, "content"),
        "system": ("system",),
        "temperature": ("temperature",),
    },
    "gemini": {
        "prompt": ("contents", 0, "parts", 0, "text"),
        "system": ("systemInstruction", "parts", 0, "text"),
        "seed": (CONFIG, "seed"),
        "temperature": (CONFIG, "temperature"),
    },
    "http": {
        "prompt": ("question",),
        "system": ("role",),
        "seed": ("seed",),
        "temperature": ("temperature",),
    },
}


def at(document: Any, place: tuple[str | int, ...]) -> Any:
    for step in place:
        document = document[step]
    return document


@dataclass
class Setting:
    """One kind of target and the services it asks."""

    kind: str
    services: FakeServices
    folder: Path

    def target(self, *changes: tuple[str, str]) -> Target:
        text = SERVICES[self.kind].replace("ROOT", self.services.root)
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = self.folder / "targets.yml"
        path.write_text(f"targets:\n  mine:\n{text}", encoding="utf-8")
        return load_target(path, "mine")

    def failure(self, *changes: tuple[str, str], request: Request | None = None) -> TargetError:
        with pytest.raises(TargetError) as caught:
            self.target(*changes).ask(request or Request("Hello"))
        assert KEY not in str(caught.value) + str(caught.value.raw_body)
        return caught.value


@pytest.fixture(params=list(SERVICES))
def setting(
    request: pytest.FixtureRequest, services: FakeServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Setting:
    monkeypatch.setenv(VARIABLE, KEY)
    services.will(Good())
    return Setting(request.param, services, tmp_path)


def test_a_question_and_its_answer(setting: Setting) -> None:
    setting.services.will(Good('Grüße 👋\n\t"quoted" \\ {prompt} ${HOME}'))
    prompt = 'Hello 日本 "you" \\ {seed} ${BIASLEDGER_TEST_KEY}\nand {system_prompt}'
    reply = setting.target().ask(Request(prompt, 'Be brief: "1"\n{prompt}', 1, 2**31 - 1))
    assert reply.text == 'Grüße 👋\n\t"quoted" \\ {prompt} ${HOME}'
    assert reply.model_answered == SERVED_MODEL
    assert (reply.prompt_tokens, reply.completion_tokens) == (11, 7)
    assert 0 < float(reply.latency_ms or 0) < 5000
    assert SERVED_MODEL in str(reply.raw_body)
    (asked,) = setting.services.asked
    expected = {"prompt": prompt, "system": 'Be brief: "1"\n{prompt}', "temperature": 0.5}
    if setting.kind == "anthropic":
        assert "seed" not in asked.body
    else:
        expected["seed"] = 2**31 - 1
    assert {name: at(asked.body, place) for name, place in PLACES[setting.kind].items()} == expected
    assert asked.headers["content-type"] == "application/json"


def test_without_a_system_prompt_none_is_sent(setting: Setting) -> None:
    setting.target().ask(Request("Hello"))
    (asked,) = setting.services.asked
    if setting.kind == "http":
        assert asked.body["role"] == ""
    else:
        assert not {"system", "systemInstruction"} & set(asked.body)
        assert "system" not in str(asked.body.get("messages"))


@pytest.mark.parametrize(
    ("end", "text", "status"),
    [
        ("finished", "Tea.", "ok"),
        ("cut_off", "Te", "truncated"),
        ("filtered", None, "refused"),
        ("refused", "No.", "refused"),
    ],
)
def test_why_an_answer_ended(setting: Setting, end: str, text: str | None, status: str) -> None:
    ends = {"cut_off": "length", "filtered": "content_filter", "refused": "refusal"}
    # An endpoint of no vendor is expected to use words that the rules know.
    setting.services.will(Good(text, ends.get(end, "stop") if setting.kind == "http" else end))
    reply = setting.target().ask(Request("Hello"))
    assert reply.text == text
    assert classify(reply.text, "text", 1000, reply.finish_reason).status == status


# The meaning of each status: whether to ask again, and whether to stop the run.
RETRY, STOP, NEITHER = (True, False), (False, True), (False, False)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, NEITHER),
        (401, STOP),
        (402, STOP),
        (404, STOP),
        (408, RETRY),
        (409, RETRY),
        (413, NEITHER),
        (422, NEITHER),
        (429, RETRY),
        (500, RETRY),
        (502, RETRY),
        (503, RETRY),
        (529, RETRY),
    ],
)
def test_what_a_status_means(setting: Setting, status: int, expected: tuple[bool, bool]) -> None:
    setting.services.will(Failure(status, f"It is about {KEY}, or so."))
    error = setting.failure()
    assert (error.retryable, error.stops_run) == expected
    assert error.status == status
    assert f"mine answered {status}" in str(error)
    assert KEY_PLACEHOLDER in str(error.raw_body)
    assert error.asks_to_slow_down == (status in (429, 503, 529))


@pytest.mark.parametrize(
    ("setting", "failure", "expected"),
    [
        pytest.param("openai", Failure(403), NEITHER, id="openai-403"),
        pytest.param("openai", Failure(403, reason="country"), STOP, id="openai-country"),
        pytest.param("openai", Failure(429, reason="credit"), STOP, id="openai-credit"),
        pytest.param("openai", Failure(400, reason="model"), STOP, id="openai-model"),
        pytest.param("anthropic", Failure(403), STOP, id="anthropic-403"),
        pytest.param(
            "anthropic",
            Failure(400, "Your credit balance is too low to access the Anthropic API."),
            STOP,
            id="anthropic-credit",
        ),
        pytest.param("gemini", Failure(403), STOP, id="gemini-403"),
        pytest.param("gemini", Failure(400, reason="key"), STOP, id="gemini-key"),
        pytest.param("http", Failure(403), NEITHER, id="http-403"),
    ],
    indirect=["setting"],
)
def test_what_a_vendors_own_words_mean(
    setting: Setting, failure: Failure, expected: tuple[bool, bool]
) -> None:
    setting.services.will(failure)
    error = setting.failure()
    assert (error.retryable, error.stops_run) == expected
    assert not error.asks_to_slow_down


def test_a_wrong_key_stops_the_run_and_is_named_so(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "sk-a-wrong-one-0123456789")
    error = setting.failure()
    assert error.stops_run
    assert "sk-a-wrong-one" not in str(error) + str(error.raw_body)
    # Gemini answers 400 and names the error in its text.
    assert (VARIABLE if setting.kind != "gemini" else "API key not valid") in str(error)


@pytest.mark.parametrize("setting", ["openai", "anthropic", "gemini"], indirect=True)
def test_a_wrong_model_stops_the_run(setting: Setting) -> None:
    error = setting.failure((f"model: {MODEL}", "model: typo-1"))
    assert error.stops_run
    assert "check base_url and model 'typo-1'" in str(error)


def test_a_wish_to_be_left_alone_is_read(setting: Setting) -> None:
    setting.services.will(Failure(429, headers={"Retry-After": "7"}))
    error = setting.failure()
    assert error.retry_after_seconds == 7.0
    assert error.hints is not None
    if setting.kind == "gemini":
        setting.services.will(Failure(429, reason="delay"))
        assert setting.failure().retry_after_seconds == 12.0


@pytest.mark.parametrize(
    ("setting", "reaction"),
    [
        ("openai", Failure(400, reason="filter")),
        ("openai", Failure(403, reason="moderation")),
        ("gemini", Good(None, "blocked")),
    ],
    indirect=["setting"],
)
def test_a_prompt_that_a_filter_rejects_is_a_refusal(setting: Setting, reaction: Good | Failure) -> None:
    setting.services.will(reaction)
    reply = setting.target().ask(Request("Hello"))
    assert reply.text is None
    assert classify(None, "text", 1000, reply.finish_reason).status == "refused"


@pytest.mark.parametrize("setting", ["openai"], indirect=True)
@pytest.mark.parametrize(
    "document",
    [
        {"error": {"code": 502, "message": "The model is down."}},
        {"choices": [{"finish_reason": "error", "error": {"code": 502, "message": "The model is down."}}]},
        {"error": {"message": "The model is down."}},
    ],
)
def test_an_error_that_is_sent_as_a_success_is_one(setting: Setting, document: dict[str, Any]) -> None:
    setting.services.will(Bytes(json.dumps(document).encode()))
    error = setting.failure()
    assert error.retryable
    assert "The model is down." in str(error)


def test_rate_headers_come_with_the_answer(setting: Setting) -> None:
    setting.services.will(
        Good(headers={"x-ratelimit-remaining-requests": "59", "x-ratelimit-reset-requests": "6m0s"})
    )
    hints = setting.target().ask(Request("Hello")).hints
    assert hints is not None
    assert (hints.remaining_requests, hints.reset_requests_seconds) == (59, 360.0)


@pytest.mark.parametrize(
    ("reaction", "seconds", "request_"),
    [
        (Bytes(b"{}", seconds=60.0), 0.2, Request("Hello")),
        (Bytes(b"{}", seconds=60.0), 5, Request("Hello", timeout_seconds=0.2)),
        # A byte now and then.
        (Bytes(b" " * 10_000, drip=0.05), 0.2, Request("Hello")),
    ],
)
def test_slow_services_time_out(setting: Setting, reaction: Bytes, seconds: float, request_: Request) -> None:
    setting.services.will(reaction)
    error = setting.failure(("timeout_seconds: 5", f"timeout_seconds: {seconds}"), request=request_)
    assert error.retryable
    assert "mine did not answer within 0.2 s" in str(error)


def test_nobody_listening(setting: Setting) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        root = f"http://127.0.0.1:{free.getsockname()[1]}"
    error = setting.failure((setting.services.root, root))
    assert error.retryable
    assert f"mine cannot be reached at {root}" in str(error)
    assert "refused" in str(error)
    assert "0x" not in str(error)


def test_a_connection_that_breaks_off(setting: Setting) -> None:
    setting.services.will(Bytes(b'{"data": ', headers={"Content-Length": "1000", "Connection": "close"}))
    assert setting.failure(("timeout_seconds: 5", "timeout_seconds: 0.5")).retryable


def test_redirects_to_another_host_are_refused(setting: Setting) -> None:
    setting.services.will(REDIRECT)
    error = setting.failure()
    assert error.stops_run
    assert "307, a redirect, which is refused" in str(error)
    assert len(setting.services.asked) == 1


@pytest.mark.parametrize("reaction", [Bytes(b"a" * 1_000_000, repeated=60), compressed(60_000_000)])
def test_a_body_of_60_megabytes_is_cut_and_the_cut_is_reported(setting: Setting, reaction: Bytes) -> None:
    setting.services.will(reaction)
    error = setting.failure()
    assert not error.retryable
    assert not error.stops_run
    assert "more than 50,000,000 bytes" in str(error)
    assert error.raw_body == "a" * (1 << 20)


@pytest.mark.parametrize(
    "body",
    [
        b"not json",
        b"[]",
        b"{}",
        b'"text"',
        b"[" * 100_000,
        b"",
        b'{"a": 1e999}',
        b'{"choices": []}',
        b'{"choices": [{}]}',
        b'{"choices": [1]}',
    ],
)
def test_bodies_that_are_no_answer(setting: Setting, body: bytes) -> None:
    setting.services.will(Bytes(body))
    error = setting.failure()
    assert error.retryable
    assert error.raw_body == body.decode()


def test_hostile_shapes_are_no_answers_and_no_crashes(setting: Setting) -> None:
    shapes: list[object] = [
        {"choices": 1, "content": 1, "candidates": 1, "data": 1, "type": "message"},
        {"choices": [1], "content": [1], "candidates": [1], "data": [1], "type": "message"},
        {"choices": [{"message": []}], "candidates": [{"content": []}], "type": ["message"], "usage": []},
        {"choices": [{"message": {"content": {}}}], "candidates": [{"content": {"parts": 1}}]},
        {"data": {"reply": {}}},
        {"error": [], "choices": [{"message": None, "error": 0}], "promptFeedback": [], "usageMetadata": []},
        {"error": {"code": [], "type": {}, "status": [], "message": 5, "details": 7, "metadata": []}},
        {"error": {"details": [1, {"reason": []}, {"retryDelay": {}}], "type": [], "code": {}}},
        {"model": 1, "content": [{"text": 5}], "type": "message", "usage": {"input_tokens": "many"}},
    ]
    for status in (200, 400, 503):
        for shape in shapes:
            setting.services.will(Bytes(json.dumps(shape).encode(), status=status))
            reply: Reply | TargetError
            try:
                reply = setting.target().ask(Request("Hello"))
            except TargetError as error:
                reply = error
            assert json.loads(str(reply.raw_body)) == shape


HOSTILE = {
    "nul": "a\x00b",
    "controls": "".join(map(chr, range(1, 32))) + "\x7f\x85\u2028\u202e",
    "terminal": "\x1b[2J\x1b]0;title\x07\x1b[31mred",
    "html": "<script>alert(1)</script><img src=x onerror=alert(1)>&amp;",
    "sql": "'; drop table raw.responses; --",
    "formula": "=cmd|' /C calc'!A0\n+1+1\n-2\n@SUM(A1)",
    "template": "{{ 7 * 7 }} ${7*7} %s {0} {prompt}",
    "json": '{"status": "ok"}\\u0000',
    "surrogate": "half \ud800 a pair",
    "long": "x" * 200_000,
}


@pytest.mark.parametrize("text", [*HOSTILE.values(), "é" * 5_000_000], ids=[*HOSTILE, "5 million characters"])
def test_hostile_text_is_only_text(setting: Setting, text: str) -> None:
    setting.services.will(Good(text))
    assert setting.target().ask(Request("Hello")).text == text


def test_invalid_utf8_is_kept_as_replacement_characters(setting: Setting) -> None:
    wire = WIRES["custom" if setting.kind == "http" else setting.kind]
    body = json.dumps(wire.good(Good("A\u00e9B")), ensure_ascii=False).encode("latin-1")
    setting.services.will(Bytes(body))
    assert setting.target().ask(Request("Hello")).text == "A\N{REPLACEMENT CHARACTER}B"


def test_errors_cannot_steer_a_terminal(setting: Setting) -> None:
    setting.services.will(Failure(400, "\x1b[2Jgone\x07\nand more"))
    message = str(setting.failure())
    assert "gone" in message
    assert message.isprintable()


def test_the_key_is_nowhere_to_be_seen(setting: Setting, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    setting.services.will(Good(f"Your key is {KEY}!", model=KEY))
    target = setting.target()
    reply = target.ask(Request("Hello"))
    assert reply.text == f"Your key is {KEY_PLACEHOLDER}!"
    assert reply.model_answered == KEY_PLACEHOLDER
    assert "POST" in caplog.text
    seen = [repr(target), repr(vars(target)), repr(target.parameters), repr(reply), caplog.text]
    for form in (KEY, "sk-test%2FSecret%2Bkey", "sk-test/Secret%2Bkey"):
        assert form not in "".join(seen)


def test_no_login_comes_from_netrc(setting: Setting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    setting.target().ask(Request("Hello"))
    assert "Basic" not in setting.services.asked[0].headers.get("authorization", "")


def test_a_missing_key_is_reported_before_a_question(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = setting.target()
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(TargetError, match=f"{VARIABLE}, which is not set") as caught:
        target.ask(Request("Hello"))
    assert caught.value.stops_run
    assert setting.services.asked == []


def test_a_proxy_of_the_environment_is_used(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
    error = setting.failure()
    assert error.retryable
    assert setting.services.asked == []


def test_the_settings_of_the_pace_are_those_of_the_file(setting: Setting) -> None:
    paces = {
        "requests_per_minute": 30.0,
        "tokens_per_minute": 9000.0,
        "total_timeout_seconds": 600.0,
        "concurrency": 3,
    }
    lines = "".join(f"    {name}: {value}\n" for name, value in paces.items())
    target = setting.target(("    timeout_seconds: 5\n", f"    timeout_seconds: 5\n{lines}"))
    assert {name: getattr(target, name) for name in paces} == paces
    assert not {*paces, "timeout_seconds"} & set(target.parameters)


def test_a_run_can_store_the_parameters(setting: Setting) -> None:
    parameters = setting.target().parameters
    assert json.loads(json.dumps(parameters)) == parameters
    assert os.environ[VARIABLE] not in json.dumps(parameters)
