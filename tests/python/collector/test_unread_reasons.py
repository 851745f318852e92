"""Test the counts of unread answers by reason, and the suggestion for each reason."""

from __future__ import annotations

import pytest

from collector.answers.decisions import read_label, read_score
from collector.answers.unread_reasons import UnreadReasons, suggestion


@pytest.mark.parametrize(("problem", "names"), [
    (read_score("54.000 €", 10_000, 300_000, currency="USD").problem, "answer.currency"),
    (read_score("£54,000", 10_000, 300_000, currency="EUR").problem, "answer.currency"),
    (read_score("I say $8,000 or 7,000 €.", 10, 300_000).problem, "answer.currency"),
    (read_score("$4,500 a month", 10_000, 300_000, currency="USD", per="year").problem, "answer.per"),
    (read_score("$30 per hour", 10, 300_000, currency="USD").problem, "answer.per"),
    (read_score("$900,000", 10_000, 300_000, currency="USD").problem, "answer.minimum and answer.maximum"),
    (read_score("8/10", 0, 100).problem, "answer.rescale"),
    (read_score("It depends.", 0, 100).problem, "biasledger read"),
    (read_score("7 or 9", 0, 10).problem, "answer.key or answer.pattern"),
    (read_score("The verdict is 12.", 0, 10, pattern=r"verdict is (\w+)").problem, "Correct answer.pattern"),
    (read_label("perhaps", ["accept", "reject"]).problem, "answer.labels"),
    (read_label('{"decision": "hold"}', ["accept", "reject"], key="decision").problem, "answer.key"),
    (read_label("Either accept or reject.", ["accept", "reject"]).problem, "answer.key or answer.pattern"),
])  # fmt: skip
def test_the_way_out_fits_the_reason(problem: str | None, names: str) -> None:
    assert problem is not None
    assert names in suggestion(problem), problem


def test_reasons_that_differ_in_numbers_and_quotes_are_one() -> None:
    reasons = UnreadReasons()
    for number in range(11, 23):
        text = f"{number} points"
        reasons.note(f"The score {number} is outside 0 to 10.", text)
    reasons.note("The answer holds 2 different numbers: 7, 8.", "7, 8")
    reasons.note("The answer holds 3 different numbers: 7, 8, 9.", "7, 8, 9")
    reasons.note("The answer states 'hold', which is none of the labels 'yes', 'no'.", "hold")
    reasons.note(None, None)
    first, second, third, last = reasons.sentences()
    assert first == (
        "12 answers cannot be read: The score … is outside 0 to 10. Examples: '11 points', '12 points', '13 points'. If such "
        "scores are right, change answer.minimum and answer.maximum."
    )
    assert second.startswith("2 answers cannot be read: The answer holds … different numbers: …. ")
    assert third.startswith(
        "1 answer cannot be read: The answer states 'hold', which is none of the labels 'yes', 'no'."
    )
    assert last.startswith("1 answer cannot be read: No rule reads the answer.")


def test_a_few_examples_and_reasons_are_shown() -> None:
    reasons = UnreadReasons()
    for reason in range(20):
        for text in range(reason + 1):
            reasons.note(f"The answer is in {'A' * (reason + 3)}, and not in USD.", f"{text}")
    sentences = list(reasons.sentences())
    assert len(sentences) == 9
    assert sentences[0].count("'") == 6
    assert sentences[-1] == "78 answers cannot be read for 12 other reasons."
