"""Test endpoints of unknown vendors: the request's body, the place of the answer, and refused settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from collector.errors import InputError, TargetError
from collector.targets import load_target
from collector.targets.base import Request, Target
from tests.python.collector.fake_services import KEY, Bytes, FakeServices

VARIABLE = "BIASLEDGER_TEST_KEY"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY)


def target(folder: Path, root: str, **entry: Any) -> Target:
    described = {"kind": "http", "url": f"{root}/custom/recommend", **entry}
    path = folder / "targets.yml"
    path.write_text(json.dumps({"targets": {"mine": described}}), encoding="utf-8")
    return load_target(path, "mine")


BODY = '{"q": "{prompt}"}'


def refused(folder: Path, **entry: Any) -> str:
    with pytest.raises(InputError) as caught:
        target(folder, "http://127.0.0.1:1", **entry)
    message = str(caught.value)
    assert message.startswith(f"{folder / 'targets.yml'}: ")
    assert "targets.mine" in message
    return message


def test_a_get_request_with_the_prompt_in_the_address(tmp_path: Path, services: FakeServices) -> None:
    services.will(Bytes(b"Tea & cake\n"))
    url = f"{services.root}/custom/recommend?q={{prompt}}&seed={{seed}}&trial={{trial}}"
    asked = target(tmp_path, services.root, url=url, method="GET")
    reply = asked.ask(Request("What? A & B = {seed} 日本/ü%", trial=3, seed=42))
    # Without a path the whole body is the answer.
    assert reply.text == "Tea & cake\n"
    (question,) = services.asked
    assert question.method == "GET"
    assert question.query == {"q": ["What? A & B = {seed} 日本/ü%"], "seed": ["42"], "trial": ["3"]}


def test_a_form(tmp_path: Path, services: FakeServices) -> None:
    services.will(Bytes(b'{"a": "yes"}'))
    headers = {"content-type": "application/x-www-form-urlencoded; charset=utf-8"}
    asked = target(tmp_path, services.root, headers=headers, body="q={prompt}&k=10", answer="a")
    assert asked.ask(Request("A & B = é")).text == "yes"
    assert services.asked[0].text == "q=A+%26+B+%3D+%C3%A9&k=10"


def test_secrets_go_where_they_are_named_and_nowhere_else(tmp_path: Path, services: FakeServices) -> None:
    services.will(Bytes(b'{"a": "yes"}'))
    headers = {"Authorization": f"Bearer ${{{VARIABLE}}}"}
    body = f'{{"q": "{{prompt}}", "k": "${{{VARIABLE}}}"}}'
    asked = target(tmp_path, services.root, headers=headers, body=body, secret_env=[VARIABLE], answer="a")
    # A prompt that asks for the key does not get it.
    asked.ask(Request(f"Give me ${{{VARIABLE}}}"))
    (question,) = services.asked
    assert question.headers["authorization"] == f"Bearer {KEY}"
    assert question.body == {"q": f"Give me ${{{VARIABLE}}}", "k": KEY}
    assert KEY not in json.dumps(dict(asked.parameters))


@pytest.mark.parametrize(
    ("document", "paths", "text"),
    [
        ({"items": ["A", "B"]}, {"items": "items"}, '["A", "B"]'),
        ({"r": [{"t": "A"}, {"t": "é"}, {}]}, {"items": "r[*].t"}, '["A", "é"]'),
        ({"r": []}, {"items": "r[*].t"}, "[]"),
        ({"r": []}, {"items": "r"}, "[]"),
        ([{"name": "A", "price_level": 2}], {"items": "$"}, '[{"name": "A", "price_level": 2}]'),
        ({"a": {"b": [1, 2]}}, {"answer": "a"}, '{"b": [1, 2]}'),
        ({"a": 7}, {"answer": "a"}, "7"),
        ({"a": True}, {"answer": "a"}, "true"),
        ({"a": None}, {"answer": "a"}, None),
        ({"a": ["x", "y"]}, {"answer": "a[*]"}, '["x", "y"]'),
    ],
)
def test_where_the_answer_is_read(
    tmp_path: Path, services: FakeServices, document: object, paths: dict[str, str], text: str | None
) -> None:
    services.will(Bytes(json.dumps(document).encode()))
    asked = target(tmp_path, services.root, body=BODY, **paths)
    assert asked.ask(Request("Hello")).text == text


@pytest.mark.parametrize(
    ("document", "paths"),
    [
        ({"other": 1}, {"answer": "a"}),
        ({"a": "text"}, {"items": "a"}),
        ({"a": {"b": 1}}, {"items": "a[*]"}),
        ({}, {"answer": "a[*]"}),
    ],
)
def test_a_reply_without_the_answer_is_reported_with_its_path(
    tmp_path: Path, services: FakeServices, document: object, paths: dict[str, str]
) -> None:
    services.will(Bytes(json.dumps(document).encode()))
    asked = target(tmp_path, services.root, body=BODY, **paths)
    with pytest.raises(TargetError, match="mine answered 200, but without") as caught:
        asked.ask(Request("Hello"))
    assert caught.value.retryable
    assert repr(next(iter(paths.values()))) in str(caught.value)


def test_a_system_prompt_without_a_place_stops_the_run(tmp_path: Path, services: FakeServices) -> None:
    asked = target(tmp_path, services.root, body=BODY)
    services.will(Bytes(b"Hello"))
    with pytest.raises(TargetError, match="cannot be given the audit's system prompt") as caught:
        asked.ask(Request("Hello", "Be brief."))
    assert caught.value.stops_run
    assert services.asked == []


def test_what_is_stored_of_the_request(tmp_path: Path) -> None:
    kept = {"body": BODY, "answer": "a.b", "finish_reason": "a.why", "prompt_tokens": "used[0]"}
    asked = target(tmp_path, "http://127.0.0.1:1", **kept, model="recommender-2", simulated=True)
    assert asked.parameters == {"url": "http://127.0.0.1:1/custom/recommend", "method": "POST", **kept}
    assert (asked.model, asked.is_simulated, asked.kind) == ("recommender-2", True, "http")
    assert target(tmp_path, "http://127.0.0.1:1", body=BODY).model == "mine"


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({}, "never says {prompt}"),
        ({"body": BODY, "answer": "a..b"}, "answer is 'a..b' and should be a path such as"),
        ({"body": BODY, "answer": "a", "items": "b"}, "has both answer and items"),
        ({"body": '{"q": {prompt}'}, "has a body that is no JSON"),
        ({"body": '{"q": {prompt}}'}, "has a body that is no JSON; put texts in double quotes"),
        ({"body": BODY, "method": "GET"}, "has a body, which a GET request does not carry"),
        ({"body": BODY, "method": "DELETE"}, "method is 'DELETE' and should be"),
        (
            {"body": "{prompt}", "headers": {"Content-Type": "text/plain"}},
            "has a body of Content-Type 'text/plain'",
        ),
        ({"body": BODY, "headers": {"X Y": "a"}}, "cannot be a header's name"),
        ({"body": BODY, "headers": {"X": "a\nb"}}, "a line break"),
        ({"body": BODY, "headers": {"X": "{prompt}"}}, "belong into url or body"),
        ({"body": BODY, "headers": {"X": "${A_KEY}"}}, "uses '${A_KEY}' without naming it in secret_env"),
        ({"body": BODY, "secret_env": [VARIABLE]}, "which neither url, headers nor body uses"),
        (
            {"body": BODY, "headers": {"X": "${UNSET_ANYWHERE}"}, "secret_env": "UNSET_ANYWHERE"},
            "secret_env names the environment variable UNSET_ANYWHERE, which is not set",
        ),
        ({"body": BODY, "anwser": "a"}, "the key targets.mine.anwser is unknown; did you mean 'answer'?"),
        ({"body": BODY, "url": "nowhere"}, "should be an address such as"),
    ],
)
def test_what_is_refused(tmp_path: Path, entry: dict[str, Any], sentence: str) -> None:
    assert sentence in refused(tmp_path, **entry)


@pytest.mark.parametrize(
    "entry",
    [
        {"headers": {"Authorization": "Bearer abcdef0123456789"}},
        {"headers": {"X-Api-Key": "abcdef0123456789"}},
        {"url": "https://host/x?api_key=abcdef0123456789"},
        {"headers": {"X": KEY}, "secret_env": VARIABLE, "url": f"https://host/x?key=${{{VARIABLE}}}"},
    ],
)
def test_a_key_in_the_file_is_refused_and_not_shown(tmp_path: Path, entry: dict[str, Any]) -> None:
    message = refused(tmp_path, **{"body": BODY, "url": "https://host/x", **entry})
    assert "keys do not belong in files" in message
    assert "abcdef0123456789" not in message
    assert KEY not in message
