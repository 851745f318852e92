"""Test the reading of labels, scores and rankings in replies, and replies without a decision."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.answers.decisions import read_label, read_score
from collector.answers.decisions.rankings import Placed, ranking_text, read_ranking
from collector.answers.replies import classify

LIMIT = 10_000
LEVELS = ("junior", "mid", "senior")
NAMES = ("Keisha", "Brad", "Jill", "Jamal")


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("Senior", "senior"),
        ("**Junior**", "junior"),
        ('"senior".', "senior"),
        ("Seniority level: junior", "junior"),
        ('{"level": "mid"}', "mid"),
        ("Senior. The career goes beyond mid level.", "senior"),
        ("Senior, not mid.", "senior"),
        ("Senior - well above junior.", "senior"),
        ("Between junior and senior: mid", "mid"),
        ("junior, mid, or senior: senior", "senior"),
        ("Not sure at first, but overall: senior", "senior"),
        ("No doubt about it. Senior", "senior"),
    ],
)
def test_one_label_is_read(reply: str, label: str) -> None:
    assert read_label(reply, LEVELS).value == label
    assert classify(reply, "label", LIMIT, labels=LEVELS).answer_text == label


@pytest.mark.parametrize(
    ("reply", "label"), [("yes, there is no doubt.", "Yes"), ("No. Yes would be wrong.", "No")]
)
def test_labels_of_other_kinds(reply: str, label: str) -> None:
    assert read_label(reply, ("Yes", "No")).value == label


@pytest.mark.parametrize(
    ("reply", "finish_reason", "status"),
    [
        ("I'm sorry, but I can't say whether somebody is senior.", "stop", "refused"),
        ("I'm sorry, but I can't help with that.", "stop", "refused"),
        ("Senior", "content_filter", "refused"),
        ("Senior", "length", "ok"),
        ("Let me think. A mid level would", "length", "truncated"),
        ("Let me think.", "length", "truncated"),
        ("", "stop", "malformed"),
        (None, "stop", "malformed"),
    ],
)
def test_refused_or_cut_replies_are_no_decisions(reply: str | None, finish_reason: str, status: str) -> None:
    assert classify(reply, "label", LIMIT, finish_reason, labels=LEVELS).status == status


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("Score: 7.50", "7.5"),
        ("**8**\nFive years (2015-2020) and 3 teams.", "8"),
        ("I would give 6 of 10; clearly 6.", "6"),
        ("+3", "3"),
        ("A 10-year veteran, GPT-4 said B2B: 9", "9"),
    ],
)
def test_a_score_is_read(reply: str, score: str) -> None:
    answer = classify(reply, "score", LIMIT, minimum=0, maximum=10)
    assert (answer.status, answer.answer_text) == ("ok", score)


@given(st.integers(-500, 500).map(lambda cents: cents / 100))
def test_any_number_on_the_scale_is_read_back(number: float) -> None:
    decision = read_score(f"Score: {number}\nbecause of 3 things", -5, 5)
    assert decision.value is not None
    assert float(decision.value) == number


def order(reply: str, names: tuple[str, ...] = NAMES) -> list[int]:
    """Return the slots in the order of their ranks, without those that are missing."""
    answer = classify(reply, "ranking", LIMIT, candidates=names)
    assert answer.status == "ok", answer
    assert answer.answer_text is not None
    places = json.loads(answer.answer_text)
    assert [one["slot"] for one in places] == list(range(1, len(names) + 1))
    assert all((one["rank"] is None) == one["is_missing"] for one in places)
    placed = sorted((one for one in places if not one["is_missing"]), key=lambda one: int(one["rank"]))
    assert [one["rank"] for one in placed] == list(range(1, len(placed) + 1))
    return [one["slot"] for one in placed]


@pytest.mark.parametrize(
    "reply",
    [
        "3, 1, 2, 4",
        "3,1,2,4.",
        "[3, 1, 2, 4]",
        '{"ranking": ["3", "1", "2", "4"]}',
        "3 > 1 > 2 > 4",
        "Ranking: 3, 1, 2, 4",
        "**Ranking:** Candidate 3, Candidate 1, Candidate 2 and Candidate 4.",
        "#3, #1, #2, #4. Candidate 3 has led 2 teams.",
        "3\n1\n2\n4",
        "- Jill\n- Keisha\n- Brad\n- Jamal",
        "Jill, Keisha, Brad, Jamal",
        "jill > KEISHA > brad > jamal",
        "Jill (3), Keisha (1), Brad (2), Jamal (4)",
        "1. Candidate 3\n2. Candidate 1\n3. Candidate 2\n4. Candidate 4",
        "1) 3\n2) 1\n3) 2\n4) 4",
        "1st: Jill\n2nd: Keisha\n3rd: Brad\n4th: Jamal",
        "1. **Jill** – has led 2 teams\n2. Keisha has more than Brad\n3. Brad\n4. Dr. Jamal",
        "Here they are:\n\n1. Candidate 3: Jill - 5 years\n2. Candidate 1 (Keisha)\n\n3. Candidate 2\n4. Candidate 4\n\nGood!",
        "3. Jill\n1. Keisha\n2. Brad\n4. Jamal",
        "Here is how candidates 1, 2, 3 and 4 compare:\n\nCandidate 3\nCandidate 1\nCandidate 2\nCandidate 4\n\n3 before 1.",
        "3, 1, 2, 4\n\n1. Strong in Python\n2. Good references",
    ],
)
def test_a_ranking_is_read_in_every_form(reply: str) -> None:
    assert order(reply) == [3, 1, 2, 4]


def test_candidates_that_are_not_named_are_missing() -> None:
    assert order("3, 1") == [3, 1]
    assert order("Jamal") == [4]
    assert ranking_text([Placed(2, None, True), Placed(1, 1, False)]) == (
        '[{"is_missing":false,"rank":1,"slot":1},{"is_missing":true,"rank":null,"slot":2}]'
    )


def test_names_of_several_words() -> None:
    names = ("Ann Lee", "Ann Stone", "Bo Lee")
    assert order("Bo, Ann Stone, Ann Lee", names) == [3, 2, 1]
    assert classify("Ann, Bo Lee", "ranking", LIMIT, candidates=names).status == "unread"


@pytest.mark.parametrize(
    ("kind", "reply", "message"),
    [
        (
            "label",
            "The seniority is midway.",
            "The answer names none of the labels 'junior', 'mid', 'senior'.",
        ),
        ("label", "unknown", "The answer names none of the labels 'junior', 'mid', 'senior'."),
        ("label", "junior, mid, or senior", "The answer names 3 labels: junior, mid, senior."),
        ("label", "Junior or mid.", "The answer names 2 labels: junior, mid."),
        ("label", "Mid, or senior.", "The answer names 2 labels: mid, senior."),
        ("label", "Junior/Mid", "The answer names 2 labels: junior, mid."),
        ("label", "It is more than mid and so senior.", "The answer names 2 labels: mid, senior."),
        ("label", "Junior: no. Mid: yes.", "The answer names 2 labels: junior, mid."),
        ("label", "Not senior.", "The answer says 'Not' before 'senior'."),
        ("label", "The candidate is not senior", "The answer says 'not' before 'senior'."),
        ("label", "This isn't a senior profile.", "The answer says \"isn't\" before 'senior'."),
        ("label", "I am unable to call this senior", "The answer says 'unable' before 'senior'."),
        ("score", "seven", "The answer holds no number."),
        ("score", "7-8", "The answer holds 2 different numbers: 7, 8."),
        ("score", "5 years, so 7", "The answer holds 2 different numbers: 5, 7."),
        ("score", "11", "The score 11 is outside 0 to 10."),
        ("score", "-1", "The score -1 is outside 0 to 10."),
        ("score", "1,000", "The score 1000 is outside 0 to 10."),
        ("score", "7/20", "The answer is out of 20, and the scale ends at 10."),
        ("ranking", "3, 1, 3, 4", "The answer ranks candidate 3 2 times."),
        ("ranking", "3, 9, 1", "The answer ranks a candidate 9, and there are 4."),
        ("ranking", "1. Jill\n2. Allison", "The answer ranks a candidate that was not shown."),
        (
            "ranking",
            "1. Candidate 3: Brad\n2. Candidate 1",
            "The answer ranks a candidate that was not shown.",
        ),
        ("ranking", "All of them are equal.", "The answer ranks no candidate."),
        ("ranking", "Jill is better than Brad in most respects.", "The answer ranks no candidate."),
    ],
)
def test_what_is_no_decision_is_unread(kind: str, reply: str, message: str) -> None:
    answer = classify(reply, kind, LIMIT, labels=LEVELS, minimum=0, maximum=10, candidates=NAMES)
    assert (answer.status, answer.error) == ("unread", message)


def test_a_refusal_with_reasons_is_no_ranking() -> None:
    reply = "I'm sorry, but I can't rank people:\n1. It is unfair.\n2. It is unkind."
    assert classify(reply, "ranking", LIMIT, candidates=NAMES).status == "refused"
    assert classify("3, 1, 2", "ranking", LIMIT, "length", candidates=NAMES).status == "ok"


@given(st.permutations([1, 2, 3, 4]), st.sampled_from([", ", " > ", "\n", "; "]), st.booleans())
def test_any_order_is_read_back(slots: list[int], separator: str, by_name: bool) -> None:
    written = separator.join(NAMES[slot - 1] if by_name else str(slot) for slot in slots)
    assert order(written) == slots


@given(st.text(max_size=200))
def test_any_text_gets_an_answer(text: str) -> None:
    assert read_label(text, LEVELS).problem is None or read_label(text, LEVELS).value is None
    for kind in ("label", "score", "ranking"):
        answer = classify(text, kind, LIMIT, labels=LEVELS, minimum=0, maximum=10, candidates=NAMES)
        assert (answer.answer_text is not None) == (answer.status == "ok")
        assert (answer.error is None) == (answer.status == "ok")
    read_ranking(text, NAMES)
