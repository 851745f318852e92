"""Test a Python function as a target: how it is found, its return values and its exceptions."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from collector.errors import InputError, TargetError
from collector.hashing import hash_of_file
from collector.redaction import KEY_PLACEHOLDER
from collector.targets import load_target
from collector.targets.base import Request, Target

MODULE = "recommender_under_test"
KEY = "sk-a-secret-0123456789"
VARIABLE = "BIASLEDGER_TEST_KEY"
Load = Callable[..., Target]


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Load]:
    """Write a module and a targets file next to it and load the target; the module is retracted afterwards."""
    before = list(sys.path)

    def write_and_load(code: str, function: str = f"{MODULE}:ask", **entry: Any) -> Target:
        (tmp_path / f"{MODULE}.py").write_text(code, encoding="utf-8")
        lines = "".join(f"    {name}: {value}\n" for name, value in entry.items())
        targets = tmp_path / "targets.yml"
        targets.write_text(f"targets:\n  mine:\n    kind: python\n    function: '{function}'\n{lines}")
        sys.modules.pop(MODULE, None)
        return load_target(targets, "mine")

    yield write_and_load
    sys.path[:] = before
    sys.modules.pop(MODULE, None)


def returns(value: str) -> str:
    return f"def ask(prompt, system_prompt, seed):\n    return {value}\n"


def test_a_function_is_asked(load: Load, tmp_path: Path) -> None:
    target = load(returns("f'{prompt}|{system_prompt}|{seed}'"))
    reply = target.ask(Request("Hello", "Be brief.", 1, 42))
    assert reply.text == "Hello|Be brief.|42"
    assert float(reply.latency_ms or 0) >= 0
    assert target.ask(Request("Hello")).text == "Hello|None|None"
    assert (target.kind, target.is_simulated, target.concurrency) == ("python", False, 1)
    assert target.model == f"{MODULE}:ask"
    source_hash = hash_of_file(tmp_path / f"{MODULE}.py")
    assert target.parameters == {"function": f"{MODULE}:ask", "source_hash": source_hash}


def test_the_settings_of_the_entry(load: Load) -> None:
    target = load(returns("'a'"), model="als-2", simulated="true", concurrency=4, requests_per_minute=60)
    assert (target.model, target.is_simulated, target.concurrency) == ("als-2", True, 4)
    assert target.requests_per_minute == 60


def test_a_function_needs_no_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{MODULE}.py").write_text(returns("'Hello'"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    sys.modules.pop(MODULE, None)
    name = f"python:{MODULE}:ask"
    target = load_target(Path("targets.yml"), name)
    assert target.name == name
    assert target.ask(Request("Hello")).text == "Hello"
    sys.modules.pop(MODULE, None)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("None", None),
        ("''", ""),
        ("{'text': 'yes'}", "yes"),
        ("{'text': None}", None),
        ("{'items': ['A', 'é']}", '["A", "é"]'),
        ("{'items': (n for n in 'AB')}", '["A", "B"]'),
        ("{'items': [{'name': 'A', 'price_level': 2}]}", '[{"name": "A", "price_level": 2}]'),
    ],
)
def test_what_may_be_returned(load: Load, value: str, text: str | None) -> None:
    assert load(returns(value)).ask(Request("Hello")).text == text


def test_everything_that_may_be_returned_next_to_the_answer(load: Load) -> None:
    returned = {
        "text": "a",
        "finish_reason": "length",
        "model": "m-2",
        "prompt_tokens": 3,
        "completion_tokens": 4,
        "raw": {"scores": [1]},
    }
    reply = load(returns(repr(returned))).ask(Request("Hello"))
    assert (reply.finish_reason, reply.model_answered) == ("length", "m-2")
    assert (reply.prompt_tokens, reply.completion_tokens) == (3, 4)
    assert reply.raw_body == '{"scores": [1]}'


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("7", "returned a value of type int; it should return a text or a mapping"),
        ("['A']", "returned a value of type list"),
        ("{'txt': 'a'}", "returned a mapping with the key 'txt'; did you mean 'text'?"),
        ("{'model': 'a'}", "should have one of the keys text and items"),
        ("{'text': 'a', 'items': []}", "should have one of the keys text and items"),
        ("{'text': 7}", "returned text of type int"),
        ("{'items': 'AB'}", "returned items that cannot be written as JSON"),
        ("{'items': [object()]}", "returned items that cannot be written as JSON"),
    ],
)
def test_what_is_no_answer_stops_the_run(load: Load, value: str, sentence: str) -> None:
    with pytest.raises(TargetError) as caught:
        load(returns(value)).ask(Request("Hello"))
    assert sentence in str(caught.value)
    assert caught.value.stops_run


def test_what_it_raises_fails_the_question_and_its_traceback_goes_to_the_log(
    load: Load, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    target = load(
        "import os\n\ndef ask(prompt, system_prompt, seed):\n"
        f"    raise ValueError('no model for ' + os.environ['{VARIABLE}'])\n",
        secret_env=VARIABLE,
    )
    with pytest.raises(TargetError) as caught:
        target.ask(Request("Hello"))
    assert str(caught.value) == f"mine raised ValueError: no model for {KEY_PLACEHOLDER}"
    assert caught.value.retryable
    assert "Traceback" in caplog.text
    assert f"{MODULE}.py" in caplog.text
    assert KEY not in caplog.text


def test_a_function_may_say_what_its_failure_means(load: Load) -> None:
    target = load(
        "from collector.errors import TargetError\n\ndef ask(prompt, system_prompt, seed):\n"
        "    raise TargetError('gone', stops_run=True)\n"
    )
    with pytest.raises(TargetError, match=r"^gone$") as caught:
        target.ask(Request("Hello"))
    assert caught.value.stops_run


def test_a_function_that_ends_the_process_does_not(load: Load) -> None:
    with pytest.raises(TargetError, match="mine raised SystemExit: 3"):
        load("def ask(prompt, system_prompt, seed):\n    raise SystemExit(3)\n").ask(Request("Hello"))


def test_secrets_are_cut_out_of_what_it_returns(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    reply = load(returns(f"{{'text': '{KEY}', 'raw': ['{KEY}']}}"), secret_env=VARIABLE).ask(Request("Hello"))
    assert reply.text == KEY_PLACEHOLDER
    assert reply.raw_body == f'["{KEY_PLACEHOLDER}"]'


@pytest.mark.parametrize(
    ("code", "function", "sentence"),
    [
        (returns("1"), "ask", "is 'ask' and should be module:function"),
        (returns("1"), "nowhere_at_all:ask", "there is no module nowhere_at_all"),
        (returns("1"), f"{MODULE}.inner:ask", f"there is no module {MODULE}.inner"),
        (returns("1"), f"{MODULE}:aks", "has no function 'aks'; did you mean 'ask'?"),
        ("ask = 1\n", f"{MODULE}:ask", "has no function 'ask'"),
        ("import nowhere_at_all\n", f"{MODULE}:ask", "imports nowhere_at_all, which is not installed"),
        ("def ask(\n", f"{MODULE}:ask", "raised SyntaxError"),
        ("1 / 0\n", f"{MODULE}:ask", "raised ZeroDivisionError: division by zero"),
        (
            "def ask(prompt):\n    return ''\n",
            f"{MODULE}:ask",
            "takes (prompt) and is called with (prompt_text, system_prompt",
        ),
        ("async def ask(a, b, c):\n    return ''\n", f"{MODULE}:ask", "is async"),
    ],
)
def test_a_question_that_cannot_be_asked_is_reported_before_the_run(
    load: Load, tmp_path: Path, code: str, function: str, sentence: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    with pytest.raises(InputError) as caught:
        load(code, function)
    message = str(caught.value)
    assert sentence in message
    assert message.startswith(str(tmp_path / "targets.yml"))
    assert "Traceback" not in message
