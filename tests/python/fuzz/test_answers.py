"""Fuzz the reading of answers: it never fails, and gives only values that the audit allows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.answers.replies import classify
from collector.answers.texts.json_text import JsonObject, extract_json, json_values
from collector.answers.texts.stored_text import storable

from .conftest import JSON, damaged, examples

LABELS = ("hire", "do not hire")
NAMES = ("Anna Ott", "Ben Ott", "Cem Ay")
EXPECTED: dict[str, dict[str, Any]] = {
    "text": {},
    "json_object": {},
    "list": {"k": 3},
    "items": {"k": 3, "levels": 4},
    "label": {"labels": LABELS},
    "score": {"minimum": 0.0, "maximum": 10.0},
    "ranking": {"candidates": NAMES},
}
PIECES = st.sampled_from(
    [
        *LABELS, *NAMES,
        "1. ", "- ", "* ", "2) ", "**", "```json\n", "```", "{", "}", "[", "]", '"', ",", ":", "\n", " $$ ", "| ",
        "I'm sorry, but I can't", "Score: ", "10/10", "-3.5e7", "٣", "1,000", "NaN", "\u2028", "\x00", "e\u0301",
        "null", "true", '{"items": [', '"price": "$$"', "\\u0000", "[" * 3_000, "9" * 5_000,
    ]
)  # fmt: skip
REPLIES = (
    st.text(max_size=60)
    | st.lists(PIECES | st.text(max_size=5), max_size=12).map("".join)
    | JSON.map(json.dumps)
    | JSON.map(json.dumps)
    .flatmap(lambda text: damaged(text.encode()))
    .map(lambda content: content.decode(errors="replace"))
)
STATUSES = {"ok", "unread", "malformed", "refused", "truncated", "error"}


@pytest.mark.parametrize("kind", EXPECTED)
@examples(150)
@given(reply=REPLIES, finish_reason=st.sampled_from([None, "stop", "length", "content_filter", ""]))
def test_every_reply_has_a_status(kind: str, reply: str, finish_reason: str | None) -> None:
    answer = classify(reply, kind, 1_000_000, finish_reason, **EXPECTED[kind])
    assert answer.status in STATUSES
    assert (answer.status == "ok") == (answer.error is None)
    if answer.status != "ok":
        assert answer.error
        return
    assert answer.answer_text is not None
    if kind == "label":
        assert answer.answer_text in LABELS
    if kind == "score":
        assert 0 <= float(answer.answer_text) <= 10
    # The answer has to fit into the ledger.
    storable(answer.answer_text).encode()


@examples(200)
@given(reply=REPLIES)
def test_json_is_found_or_it_is_said_why_not(reply: str) -> None:
    value, reason, is_open = extract_json(reply)
    assert (value is None) == (bool(reason) or is_open)
    for found, _ in json_values(reply):
        assert isinstance(found, JsonObject | list)
