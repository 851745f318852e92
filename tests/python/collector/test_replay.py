"""Test answers from a file: which answer a question gets, and the file's columns."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from collector.errors import InputError, TargetError
from collector.hashing import hash_of_file
from collector.targets import load_target
from collector.targets.base import Request, Target

Load = Callable[..., Target]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def write_and_load(content: str | list[dict[str, Any]], file: str = "", **entry: Any) -> Target:
        file = file or ("answers.csv" if isinstance(content, str) else "answers.jsonl")
        text = content if isinstance(content, str) else "\n".join(json.dumps(row) for row in content)
        (tmp_path / file).write_text(text, encoding="utf-8")
        path = tmp_path / "targets.yml"
        path.write_text(json.dumps({"targets": {"mine": {"kind": "replay", "file": file, **entry}}}))
        return load_target(path, "mine")

    return write_and_load


def test_answers_are_found_by_the_prompts_text_and_its_trial(load: Load, tmp_path: Path) -> None:
    target = load('prompt,reply\nHello,one\n"Hello, you","a\nb"\nHello,two\n')
    assert target.ask(Request("Hello")).text == "one"
    assert target.ask(Request("Hello", trial=2)).text == "two"
    assert target.ask(Request("Hello, you")).text == "a\nb"
    # Without a column for it, the system prompt does not matter.
    assert target.ask(Request("Hello", "Be brief.")).text == "one"
    assert (target.kind, target.model, target.is_simulated) == ("replay", "answers.csv", False)
    file_hash = hash_of_file(tmp_path / "answers.csv")
    assert target.parameters == {"file": "answers.csv", "file_hash": file_hash}


def test_a_file_may_begin_with_a_byte_order_mark(load: Load) -> None:
    row = json.dumps({"prompt": "Hello", "reply": "one"})
    assert load(f"\ufeff{row}\n", "answers.jsonl").ask(Request("Hello")).text == "one"
    with pytest.raises(InputError, match=r"answers\.jsonl has no column 'reply'"):
        load('\ufeff{"prompt": "Hello"}\n', "answers.jsonl")


def test_a_prompt_id_goes_before_the_text(load: Load) -> None:
    target = load(
        [{"prompt_id": "p1", "prompt": "Hello", "reply": "one"}, {"prompt": "Hello", "reply": "two"}]
    )
    assert target.ask(Request("Hello", prompt_id="p1")).text == "one"
    assert target.ask(Request("Hello", prompt_id="p2")).text == "two"


def test_a_system_prompt_tells_prompts_apart(load: Load) -> None:
    target = load("prompt,system_prompt,reply\nHello,,plain\nHello,Be brief.,brief\n")
    assert target.ask(Request("Hello")).text == "plain"
    assert target.ask(Request("Hello", "Be brief.")).text == "brief"
    with pytest.raises(TargetError, match="has no answer to 'Hello'"):
        target.ask(Request("Hello", "Be long."))


def test_everything_a_row_may_say(load: Load) -> None:
    target = load(
        [
            {"prompt": "A", "trial": 2, "reply": "x", "finish_reason": "length", "model": "m-2"},
            {"prompt": "B", "reply": ["Song 1", "Song 2"]},
            {"prompt": "C", "reply": None},
        ],
        model="old-model",
        simulated=True,
    )
    reply = target.ask(Request("A", trial=2))
    assert (reply.text, reply.finish_reason, reply.model_answered) == ("x", "length", "m-2")
    assert target.ask(Request("B")).text == '["Song 1","Song 2"]'
    assert target.ask(Request("C")).text is None
    assert (target.model, target.is_simulated) == ("old-model", True)


def test_columns_may_have_other_names(load: Load) -> None:
    target = load(
        "prompt_text,response_text,n\nHello,one,1\n",
        columns={"prompt": "prompt_text", "reply": "response_text", "trial": "n"},
    )
    assert target.ask(Request("Hello")).text == "one"
    # Another column's answers are another target's, so these are frozen with a run.
    assert target.parameters["columns"] == {"prompt": "prompt_text", "reply": "response_text", "trial": "n"}


def test_a_file_is_read_as_imports_read_one(load: Load, tmp_path: Path) -> None:
    semicolons = load("prompt;reply\nHello, you;one, two\n")
    assert semicolons.ask(Request("Hello, you")).text == "one, two"
    tabs = load("prompt\treply\nHello\tone\n", "answers.tsv")
    assert tabs.ask(Request("Hello")).text == "one"
    duckdb.sql("select 'Hello' as prompt, 5 as reply").write_parquet(str(tmp_path / "answers.parquet"))
    (tmp_path / "targets.yml").write_text("targets: {mine: {kind: replay, file: answers.parquet}}")
    assert load_target(tmp_path / "targets.yml", "mine").ask(Request("Hello")).text == "5"


def test_null_is_any_system_prompt_and_an_empty_text_is_none(load: Load) -> None:
    target = load(
        '{"prompt": "A", "reply": "any"}\n{"prompt": "B", "system_prompt": "", "reply": "none"}\n'
        '{"prompt": "C", "system_prompt": "S", "reply": null}\n',
        "a.jsonl",
    )
    assert target.ask(Request("A", system_prompt="S")).text == "any"
    assert target.ask(Request("C", system_prompt="S")).text is None
    assert target.ask(Request("B")).text == "none"
    with pytest.raises(TargetError, match="has no answer to 'B'"):
        target.ask(Request("B", system_prompt="S"))
    empty = load('prompt,system_prompt,reply\nA,,\nB,"",""\n')
    assert [empty.ask(Request(prompt)).text for prompt in "AB"] == ["", ""]
    with pytest.raises(TargetError, match="has no answer to 'A'"):
        empty.ask(Request("A", system_prompt="S"))


def test_what_is_not_in_the_file_fails_its_question_only(load: Load) -> None:
    target = load("prompt,reply\nHello,one\n")
    for request, message in (
        (Request("Other"), "answers.csv has no answer to 'Other'."),
        (Request("Hello", trial=2), "answers.csv has 1 answer to 'Hello' and none for trial 2."),
    ):
        with pytest.raises(TargetError) as caught:
            target.ask(request)
        assert str(caught.value) == message
        assert (caught.value.retryable, caught.value.stops_run) == (False, False)


@pytest.mark.parametrize(("content", "file", "message"), [
    ("", "a.jsonl", "has no rows; it should hold one for each response"),
    ("prompt,reply\n", "a.csv", "has no rows"),
    ("prompt,answer\nHello,one\n", "a.csv", "has no column 'reply'"),
    ("text,reply\nHello,one\n", "a.csv",
     "has neither 'prompt' nor 'prompt_id', which say what was asked; its columns are 'text', 'reply'"),
    ("prompt,reply,trial\nHello,one,1\nHello,two,1\n", "a.csv", "row 2 answers trial 1 of its prompt a second time"),
    ("prompt,reply,trial\nHello,one,first\n", "a.csv", "row 1 has the trial 'first', which should be a number from 1"),
    ('{"prompt": "a", "reply": "b"}\n[1]\n', "a.jsonl", "line 2 is a JSON list and no object"),
    ("{\n", "a.jsonl", "line 1 is not valid JSON"),
    ('{"prompt": "a", "reply": "b"}\n{"reply": "b"}\n', "a.jsonl", "row 2 has no prompt and no prompt_id"),
    ("prompt,reply\nHello,one\n", "a.txt",
     "should be a file of answers that ends in .csv, .tsv, .jsonl, .ndjson, .json, .parquet, .xlsx, .xlsm"),
])  # fmt: skip
def test_what_the_file_has_to_hold(load: Load, tmp_path: Path, content: str, file: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load(content, file)
    assert message in str(caught.value)
    assert str(tmp_path / file) in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "targets.yml"
    path.write_text(json.dumps({"targets": {"mine": {"kind": "replay", "file": "a.csv"}}}))
    with pytest.raises(InputError, match=r"a\.csv does not exist"):
        load_target(path, "mine")
