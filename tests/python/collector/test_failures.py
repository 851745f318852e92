"""Test finish reasons and error messages of services, and answers that only mention errors."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from collector.answers.failures import (
    UnknownReasons,
    is_error,
    load_failures,
    read_failure,
    read_finish_reason,
)
from collector.answers.replies import classify
from collector.errors import InputError
from collector.importers.plan import PlannedAnswer
from collector.importers.reading import Reader
from collector.spec.audit import Audit

ROOT = Path(__file__).parents[3]
RULES = (ROOT / "collector/answers/answer_rules/common.yml").read_text(encoding="utf-8")
SHAPES: list[dict[str, Any]] = yaml.safe_load(
    (ROOT / "benchmarks/reading/failures.yml").read_text(encoding="utf-8")
)["shapes"]
LIMIT = 10_000
LABELS = {
    "audit": "decisions",
    "attributes": {"g": {"reference": "man", "groups": ["man", "woman"]}},
    "answer": {"kind": "label", "labels": ["reject", "accept"]},
    "import": {"columns": {"text": "a", "error": "e", "subject": "n", "attributes": {"g": "g"}}},
    "analysis": {"decisions": {"favourable": ["accept"]}},
}


def _imported(text: str | None, finish_reason: str | None = None, error: str | None = None) -> Any:
    found = PlannedAnswer(1, 1, 1, 1, 1.0, None, text, finish_reason, error)
    return Reader(Audit.model_validate(LABELS)).answer_of(found)


def test_the_table_of_shapes_is_large() -> None:
    kinds = Counter(next(key for key in shape if key != "status") for shape in SHAPES)
    assert sum(kinds.values()) >= 120
    assert set(kinds) == {"finish_reason", "error", "answer"}


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: str(next(iter(shape.values())))[:60])
def test_shapes(shape: dict[str, Any]) -> None:
    if "finish_reason" in shape:
        assert read_finish_reason(shape["finish_reason"]) is not None
        assert classify("", "text", LIMIT, shape["finish_reason"]).status == shape["status"]
    elif "error" in shape:
        assert _imported(None, error=shape["error"]).status == shape["status"]
    else:
        for kind in ("text", "list"):
            status = classify(shape["answer"], kind, LIMIT).status
            # A list may be missing, but nothing failed that did not.
            allowed = {shape["status"]} if shape["status"] != "ok" or kind == "text" else {"ok", "malformed"}
            assert status in allowed, kind


@pytest.mark.parametrize(
    ("text", "labels", "elsewhere"),
    [
        ("content_filter", ["content_filter", "other"], {"refused"}),
        ("[blocked]", ["blocked", "no response"], {"refused", "error"}),
        ("(No response)", ["blocked", "no response"], {"refused", "error"}),
    ],
)
def test_a_label_may_be_what_elsewhere_is_an_error(text: str, labels: list[str], elsewhere: set[str]) -> None:
    assert classify(text, "label", LIMIT, labels=labels).status == "ok"
    assert classify(text, "label", LIMIT, labels=["a", "b"]).status in elsewhere


def test_of_a_traceback_the_exception_counts() -> None:
    lines = 'Traceback (most recent call last):\n  File "content_filter.py", line 429, in ask\n    raise Timeout(x)\n'
    assert read_failure(lines + "KeyError: 'choices'").rule == "other_error"
    assert read_failure(lines + "openai.RateLimitError: Error code: 429 - {}").rule == "rate_limit"
    assert read_failure(lines + "openai.BadRequestError: content_filter").status == "refused"
    assert read_failure(lines).rule == "other_error"


def test_each_failure_names_its_rule() -> None:
    answer = classify("Error 429: Too Many Requests", "text", LIMIT)
    assert (answer.status, answer.read_by) == ("error", "rate_limit")
    assert answer.error == "The service was asked too often (rule rate_limit)."
    assert answer.language is None
    assert read_failure("something else").rule == "other_error"


def test_a_model_that_refuses_in_the_body_of_an_error_refuses() -> None:
    body = '{"error": {"code": 403, "message": "I\'m sorry, but I can\'t help with that."}}'
    assert classify(body, "json_object", LIMIT).status == "refused"


def test_an_error_counts_where_text_stands_next_to_it() -> None:
    assert _imported("accept").status == "ok"
    assert _imported("accept", error="Error code: 500").status == "error"
    refused = _imported("[no answer]", error="Error code: 400 - content_filter")
    assert (refused.status, refused.read_by) == ("refused", "filter_message")
    assert refused.error.endswith("(rule filter_message). Error code: 400 - content_filter")
    for nothing in ("", " ", "None", "null", "ok", "0", "False", "N/A"):
        assert not is_error(nothing)
        assert _imported("accept", error=nothing).status == "ok"
    assert not is_error(None)


def test_a_refusal_stays_one_where_the_error_says_nothing_more() -> None:
    assert _imported(None, finish_reason="SAFETY", error="blocked").status == "refused"
    assert _imported(None, finish_reason="SAFETY", error="Error code: 500").status == "error"


@pytest.mark.parametrize(
    ("kind", "text", "reason", "status"),
    [
        ("label", "accept", "Stop", "ok"),
        ("label", "accept", "LENGTH", "ok"),
        ("text", "I think that", "LENGTH", "truncated"),
        ("label", "accept", "FinishReason.SAFETY", "refused"),
        ("label", "accept", "error", "error"),
        ("label", "accept", "no such reason", "ok"),
    ],
)
def test_a_finish_reason_counts_whatever_its_spelling(kind: str, text: str, reason: str, status: str) -> None:
    assert classify(text, kind, LIMIT, reason, labels=["accept"]).status == status


def test_unknown_reasons_are_named_with_their_counts() -> None:
    reasons = UnknownReasons()
    for reason in ("stop", None, "", "zap", "zap", "zop\x1b", "STOP"):
        reasons.note(reason)
    assert reasons.sentences() == [
        "These finish reasons are unknown, so these answers are read by their text alone: 'zap' (2), 'zop\\x1b' (1)."
    ]
    many = UnknownReasons()
    for number in range(2_000):
        many.note(f"reason {number}")
    assert len(many.counts) == 500
    assert many.sentences()[0].endswith("and 495 more.")
    assert UnknownReasons().sentences() == []


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("no_errors:", "no_error:", "has no key 'no_errors'"),
        ("  - id: cut_off\n", "  - idea: cut_off\n", r"finish_reasons\[4\] has no key 'id'"),
        ("    status: truncated\n", "    status: cut\n", "should be one of error, ok, refused, truncated"),
        ("names: [refusal,", "names: [stop, refusal,", "'stop' is listed under finished and declined"),
        ("    pattern: |-\n      \\b429", "    pattern: |-\n      (\\b429", "is not a regular expression"),
        ('    pattern: ""', "    pattern: x", "last entry of failures should have an empty pattern"),
        ("    - rest: json", "    - rest: all", r"shapes\[0\]\.rest is 'all'"),
    ],
)
def test_wrong_tables_are_reported(before: str, after: str, message: str, tmp_path: Path) -> None:
    assert before in RULES
    path = tmp_path / "common.yml"
    path.write_text(RULES.replace(before, after, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_failures(path)
