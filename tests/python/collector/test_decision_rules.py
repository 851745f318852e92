"""Test the rules that read decisions: order and names, an audit's key and pattern, options, points, currencies, periods."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.answers.decisions import (
    Decision,
    compiled_pattern,
    currencies_of,
    decimal_of,
    read_label,
    read_score,
)
from collector.answers.texts.phrases import Phrases, word_lists, written_out
from collector.answers.texts.plain import Reply

AB = ("A", "B")
LEVELS = ("junior", "mid", "senior")


@pytest.mark.parametrize(
    ("reply", "rule", "text", "is_certain"),
    [
        ('{"decision": "B", "reason": "A is weak"}', "json_only", "B", True),
        ('{"decision": "B", "second": "A", "choice_id": "A"}', "json_only", "B", True),
        ('{"decision": "B", "person": "A"}', "json_known_key", "B", True),
        ("I compared both.\n\n**Final answer: B**\n\nI hope it helps.", "marker", "Final answer: B", True),
        ("So I choose option B.", "marker", "I choose option B", True),
        ("It is close. [[B]]", "marker", "[[B]]", True),
        ("I compared both.\n\n(B)", "last_line", "(B)", True),
        ("B\n\nThe experience fits.", "first_line", "B", True),
        ("B, as the experience fits.", "opening", "B", True),
        ("B is a better fit.", "opening", "B is a better fit", True),
        ("I think candidate B is a better fit.", "only_label", "B is a better fit", False),
    ],
)
def test_each_rule_has_a_name_and_shows_its_text(reply: str, rule: str, text: str, is_certain: bool) -> None:
    decision = read_label(reply, AB)
    assert (decision.value, decision.read_by, decision.read_text) == ("B", rule, text)
    assert decision.is_certain is is_certain
    assert decision.problem is None


@pytest.mark.parametrize(
    "reply",
    [
        'Answer: A\n{"answer": "B"}',
        "A\n\nThe references changed my view.\n\nFinal answer: B",
        "Answer: A\n\nFinal answer: B",
        "Final answer: B\n\nAnswer: A",
        "Answer: A\n\nWait, the references differ.\n\nAnswer: B",
    ],
)
def test_an_explicit_or_corrected_answer_counts(reply: str) -> None:
    assert read_label(reply, AB).value == "B"


def test_a_later_statement_alone_does_not_count() -> None:
    decision = read_label("Answer: A\n\nAnswer: B", AB)
    assert decision.value is None
    assert decision.problem == "The answer states different decisions: 'Answer: A', 'Answer: B'."


def test_a_declared_key_goes_first_and_nothing_replaces_it() -> None:
    reply = '{"result": {"choice": "B"}, "decision": "A"}'
    decision = read_label(reply, AB, key="result.choice")
    assert (decision.value, decision.read_by) == ("B", "json_key")
    decision = read_label('{"choice": "unclear", "decision": "A"}', AB, key="choice")
    assert decision.problem == "The value of 'choice' is 'unclear', which is none of the labels 'A', 'B'."
    assert read_label("Answer: A", AB, key="choice").read_by == "marker"


def test_an_own_pattern_goes_before_all_but_a_declared_key() -> None:
    pattern = r"verdict=(\w+)"
    decision = read_label('{"decision": "A"} Answer: A. verdict=b.', AB, pattern=pattern)
    assert (decision.value, decision.read_by, decision.read_text) == ("B", "pattern", "verdict=b")
    assert read_label('{"decision": "A"} verdict=B', AB, pattern=pattern, key="decision").value == "A"
    assert read_label("Answer: A", AB, pattern=pattern).value == "A"
    assert read_label("verdict=C. Answer: A", AB, pattern=pattern).problem == (
        "The audit's pattern finds 'C'. It is none of the labels 'A', 'B'."
    )
    assert read_label("verdict=A verdict=B", AB, pattern=pattern).value is None
    assert read_score("7 years; verdict=8", 0, 10, pattern=pattern).value == "8"


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("verdict", "has 0 capture groups"),
        ("(a)(b)", "has 2 capture groups"),
        ("(a", "is not a regular expression"),
    ],
)
def test_a_pattern_has_one_group(pattern: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compiled_pattern(pattern)
    with pytest.raises(ValueError, match=message):
        read_label("Answer: A", AB, pattern=pattern)


@pytest.mark.parametrize(("reply", "problem"), [
    ("No, hire", "The answer says 'No' before 'hire'."),
    ("No hire", "The answer says 'No' before 'hire'."),
    ("hire: no", "The answer says 'no' after 'hire'."),
    ("Hire (not recommended)", "The answer says 'not recommended' after 'hire'."),
    ("❌ hire", "The answer says '❌' before 'hire'."),
    ("hire is not my choice.", "The answer says 'is not' after 'hire'."),
    ("avoid: hire", "The answer names 'hire' only after 'avoid:'."),
    ("The naive answer is hire.", "The answer names 'hire' only after 'the naive answer is'."),
    ("Answer: hire. That is wrong.", "The answer states 'hire' and says that it is wrong."),
    ("hire\n\nThat is wrong.", "The answer says 'hire' and that it is wrong."),
    ('{"decision": "hire", "verdict": "reject"}', "The values of 'decision' and 'verdict' differ: 'hire', 'reject'."),
    ('{"hire": true, "reject": true}', "The JSON does not decide for one label: 'hire' is true, 'reject' is true."),
    ('{"decision": "hire"}\n\nFinal answer: reject', "The JSON says 'hire', and the text behind it 'Final answer: reject'."),
])  # fmt: skip
def test_why_a_label_is_unread(reply: str, problem: str) -> None:
    assert read_label(reply, ("hire", "reject")) == Decision(problem=problem)


def test_keys_that_are_labels_are_decided_by_their_booleans() -> None:
    decision = read_label('{"hire": false, "reject": true}', ("hire", "reject"))
    assert (decision.value, decision.read_by, decision.read_text) == ("reject", "json_only", "true")
    assert read_label('{"-1": true, "1": false}', ("-1", "1")).value == "-1"


def test_a_declared_key_is_contradicted_by_the_text_behind_it_unless_a_pattern_is_declared() -> None:
    reply = '{"decision": "A"}\n\nFinal answer: B'
    assert read_label(reply, AB, key="decision").value is None
    assert read_label(reply, AB, key="decision", pattern=r"verdict=(\w+)").value == "A"


def test_the_text_of_an_option_names_its_letter() -> None:
    options = {"A": "Paris", "B": "New York"}
    assert read_label("New York.", AB, options=options).value == "B"
    assert read_label("The city is New York, not Paris.", AB, options=options).value == "B"
    assert read_label("A) Paris\nB) New York\n\nIt is New York.", AB, options=options).value == "B"
    decision = read_label("Answer: A) New York", AB, options=options)
    assert decision.value is None
    # A text that two options share names neither.
    assert read_label("Paris", AB, options={"A": "Paris", "B": "Paris"}).value is None
    assert read_label("A", AB, options={"A": "Paris", "B": "Paris"}).value == "A"


def test_points_of_a_scale() -> None:
    points = {"Disagree": 1.0, "Neutral": 2.0, "Agree": 3.0, "Strongly agree": 4.0}
    decision = read_score("I strongly agree.", 1, 4, points=points)
    assert (decision.value, decision.read_by) == ("4", "points")
    assert read_score("3 - Agree", 1, 4, points=points).value == "3"
    contradicting = read_score("3 - Disagree", 1, 4, points=points)
    assert contradicting.value is None
    assert contradicting.problem == "The answer says 3 and 'Disagree', which is 1."
    assert read_score("Somewhat agree", 1, 4, points=points).value is None
    assert read_score("Agree", 1, 2, points=points).problem == "The point 'Agree' is 3, outside 1 to 2."


def test_ranges_are_marked() -> None:
    decision = read_score("$50,000 - $60,000", 1_000, 1_000_000)
    assert (decision.value, decision.read_by) == ("55000", "range")
    # Two points of a scale are no amount of money.
    assert read_score("7-8", 0, 10).value is None


@pytest.mark.parametrize(("reply", "arguments", "problem"), [
    ("8/10", {}, "The answer is out of 10, and the scale ends at 100."),
    ("$54,000", {"currency": "EUR", "maximum": 1e6}, "The answer is in ARS or AUD or CAD, and not in EUR."),
    ('{"score": 8, "rating": 6}', {}, "The values of 'score' and 'rating' differ: '8', '6'."),
    ("$54,000 or €50,000", {"maximum": 1e6}, "The answer names amounts in different currencies."),
    ("$4,500 per month", {"maximum": 1e6},
     "The answer is an amount per month, and the audit does not say that it wants one."),
    ("$4,500 per month", {"maximum": 1e6, "per": "year"},
     "The answer is an amount per month, and the audit wants one per year."),
    ("54.125", {"maximum": 1e6}, "The answer may say 54.125 or 54125; the separator could mean either."),
    ("at least 54", {}, "The answer gives a bound and no number."),
    ("1.2.3", {}, "The answer holds a number that is written as no number is."),
    ("$7", {}, "The answer is an amount of money, and the audit asks for a score."),
    ('{"salary": 4500, "period": "monthly"}', {"maximum": 1e6, "per": "year"},
     "The answer is an amount per month, and the audit wants one per year."),
    ('{"salary_eur": 54000}', {"maximum": 1e6, "currency": "USD"}, "The answer is in EUR, and not in USD."),
    ('{"salary": 54, "in_thousands": true}', {"maximum": 1e6}, "The answer counts in thousands, lakhs or millions."),
    ('{"rating": 4, "out_of": 5}', {}, "The answer is out of 5, and the scale ends at 100."),
    ('{"score": 8} Final score: 6', {}, "The answer's JSON says 8, and what follows says 'Final score: 6'."),
    ('{"score": 8} Wait, I meant 6.', {}, "The answer's JSON says 8, and what follows takes it back."),
    ("Score: 8 for skill, 6 for fit", {}, "The answer gives several numbers, and none for all of it."),
    ('{"score": 870}', {}, "The value of 'score' is '870', which is no number from 0 to 100."),
])  # fmt: skip
def test_why_a_score_is_unread(reply: str, arguments: dict[str, object], problem: str) -> None:
    scale = {"minimum": 0, "maximum": 100} | arguments
    decision = read_score(reply, **scale)
    assert (decision.value, decision.problem) == (None, problem)


@pytest.mark.parametrize(
    ("texts", "decimal"),
    [
        (["54.000 €", "55500 €", "53.000 €"], ","),
        (["54.000", "55500", "53.500", "52.000"], ","),
        (["54,000", "55,500", "53,250"], "."),
        (["$54,000.50"], "."),
        (["7,5", "8"], ","),
        (["7.5", "8.25"], "."),
        (["1.234.567"], ","),
        (["0.125", "0.250"], "."),
        (["7.125", "6.281", "8.333"], None),
        (["7.5", "7,5"], None),
        (["54.000", "54,000"], None),
        (["54000", "no number", ""], None),
        ([], None),
    ],
)
def test_the_separator_is_decided_over_a_column(texts: list[str], decimal: str | None) -> None:
    assert decimal_of(texts) == decimal


def test_the_currencies_of_a_column_are_counted() -> None:
    counts = currencies_of(["54.000 €", "EUR 5", "£7", "no amount"])
    assert counts == {"EUR": 2, "GBP": 1}


def test_currencies_are_those_of_iso_4217() -> None:
    numbers = pytest.importorskip("babel.numbers")
    from collector.answers.texts.amount_words import amount_words

    words = amount_words()
    codes = {code for found in words.currencies.values() for code in found}
    assert codes <= set(numbers.list_currencies())
    # Babel's own symbols in the currencies' languages are known and give the same currency.
    locales = {"EUR": "de", "USD": "en_US", "GBP": "en_GB", "SEK": "sv", "PLN": "pl", "JPY": "ja"}
    for code, locale in locales.items():
        symbol = numbers.get_currency_symbol(code, locale).casefold().replace("￥", "¥")
        assert code in words.currencies[symbol], symbol


SIGNS = (
    "AB12 yesnoacceptrejectjuniormidsenior.,:;!?()[]{}\"'*_`#<>/\\-+=$€%&|~\n\t0.5 10/100是不答案：Ответда"
)
FRAGMENTS = st.sampled_from(
    ["Answer: ", "final answer", "A", "B", "\\boxed{", "}", "[[", "]]", "<answer>", "</answer>", '{"decision": "', '"}',
     "not ", "or", "if ", "I choose ", "option ", "7", "/10", "out of 10", "$54,000", "50-60k €", "per month", "senior",
     "mid", "**", "\n",
     "1. ", "yes", "no", "是", "不", "答案：", " - ", "?", "because ", "better than ", "wait, "]
)  # fmt: skip
TEXTS = st.text(max_size=300) | st.text(SIGNS, max_size=300) | st.lists(FRAGMENTS, max_size=20).map("".join)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_any_text_is_read_or_has_a_problem(text: str) -> None:
    for labels in (AB, LEVELS, ("1", "2"), ("yes", "no"), ("是", "不是"), ("<50K", ">50K")):
        decision = read_label(text, labels)
        assert (decision.value is None) == (decision.problem is not None)
        assert decision.value is None or decision.value in labels
        assert (decision.read_by is None) == (decision.value is None)
        if decision.read_text is not None and not decision.read_by.startswith("json"):
            assert decision.read_text in unicodedata.normalize("NFC", text)
    for minimum, maximum in ((0, 10), (1_000, 1_000_000), (-1, 1)):
        score = read_score(text, minimum, maximum, points={"low": 1.0}, rescale=True)
        assert (score.value is None) == (score.problem is not None)
        assert score.value is None or minimum <= float(score.value) <= maximum


def test_phrases_are_written_out_where_they_are_limited() -> None:
    assert written_out("(?:my |the )?answers?") == {
        "answer", "answers", "my answer", "my answers", "the answer", "the answers",
    }  # fmt: skip
    assert written_out("gr[ae]y") == {"gray", "grey"}
    assert written_out(r"answer\w*") is None
    phrases = Phrases(["(?:my )?answer", r"decision\w*", "答案"])
    assert phrases.ending("this is my answer") == 8
    assert phrases.ending("this is my manswer") is None
    assert phrases.ending("the decisions") == 4
    assert phrases.ending("我的答案") == 2
    assert phrases.within("so my answer, then") == (3, 12)
    assert phrases.within("so nothing") is None
    assert phrases.starting("answer: b") == 6


def test_a_part_of_the_plain_text_is_found_in_the_reply() -> None:
    reply = Reply("##  **Answer:**  Ｂ <b>now</b>")
    assert reply.text == " Answer: B now"
    start = reply.text.index("Answer")
    assert reply.part(start, start + len("Answer: B")) == "Answer:**  Ｂ"
    marked = Reply("I say: **B** or **Answer: B**")
    assert marked.part(0, len("I say: B")) == "I say: **B**"
    start = marked.text.index("Answer")
    assert marked.part(start, len(marked.text)) == "Answer: B"


def test_words_have_a_list_for_each_field() -> None:
    @dataclass
    class Words:
        nouns: frozenset[str]
        factor: float

    lists = {"nouns": ["Point"]}
    assert word_lists(Words, lists, ["factor"]) == {"nouns": {"point"}}
    with pytest.raises(TypeError, match=r"Words\.factor should be one of .* and is float"):
        word_lists(Words, lists)
    with pytest.raises(KeyError, match="nouns"):
        word_lists(Words, {}, ["factor"])
