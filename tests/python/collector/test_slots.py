"""Test slots in templates: one pass, plain substitution and agreeing articles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.spec.slots import Slot, SlotSyntaxError, fill, indefinite_article, parse_template, slot_names


@pytest.mark.parametrize(
    ("template", "descriptors", "expected"),
    [
        ("for {a race} {gender}.", {"race": "Asian", "gender": "Woman"}, "for an Asian Woman."),
        ("for {a race} {gender}.", {"race": "White", "gender": "Man"}, "for a White Man."),
        ("for {a race} {gender}.", {"race": "", "gender": "person"}, "for a person."),
        ("for {a race} {gender}.", {"race": "", "gender": "adult"}, "for an adult."),
        ("for {a race} {gender}.", {"race": "Asian", "gender": ""}, "for an Asian."),
        ("{A race} {gender} asks", {"race": "Asian", "gender": "Man"}, "An Asian Man asks"),
        ("{race} {gender} asks", {"race": "", "gender": "Man"}, "Man asks"),
        ("the {race} {gender} asks", {"race": "", "gender": "Man"}, "the Man asks"),
        ('{{"{race}": 1}}', {"race": "x"}, '{"x": 1}'),
        ("{{race}}", {}, "{race}"),
        ("{{{race}}}", {"race": "x"}, "{x}"),
        ("100 % {race} %s {{0}}", {"race": "{gender}"}, "100 % {gender} %s {0}"),
        ("नमस्ते {race} 👋", {"race": "日本人"}, "नमस्ते 日本人 👋"),
    ],
)
def test_filling(template: str, descriptors: dict[str, str], expected: str) -> None:
    assert fill(parse_template(template), descriptors) == expected


@pytest.mark.parametrize(
    ("phrase", "article"),
    [
        ("Asian", "an"),
        ("Black", "a"),
        ("European", "a"),
        ("unemployed person", "an"),
        ("unidentified person", "an"),
        ("university student", "a"),
        ("Ugandan", "a"),
        ("Ukrainian", "a"),
        ("honest man", "an"),
        ("house owner", "a"),
        ("one-legged man", "a"),
        ("LGBTQ person", "an"),
        ("US citizen", "a"),
        ("18-year-old", "an"),
        ("80-year-old", "an"),
        ("11-year-old", "an"),
        ("110-year-old", "a"),
        ("21-year-old", "a"),
        ("Émigré", "an"),
        ("“Asian”", "an"),
        ("", "a"),
    ],
)
def test_articles(phrase: str, article: str) -> None:
    assert indefinite_article(phrase) == article


@pytest.mark.parametrize(
    "template", ["{", "}", "a { b }", "{race", "{the race}", "{ race}", "{race!r}", "{0}", "{}"]
)
def test_single_braces_are_refused(template: str) -> None:
    with pytest.raises(SlotSyntaxError, match="a literal brace is doubled"):
        parse_template(template)


def test_slot_names_stand_once_in_order() -> None:
    parts = parse_template("{b} {a a} {b}")
    assert slot_names(parts) == ("b", "a")
    assert parts[0] == Slot("b", "")


def test_a_slot_without_descriptor_is_an_error() -> None:
    with pytest.raises(KeyError):
        fill(parse_template("{race}"), {})


@given(before=st.text(), descriptor=st.text(min_size=1), after=st.text())
def test_inserted_text_is_never_read_again(before: str, descriptor: str, after: str) -> None:
    def doubled(text: str) -> str:
        return text.replace("{", "{{").replace("}", "}}")

    template = f"{doubled(before)}|{{race}}|{doubled(after)}"
    assert fill(parse_template(template), {"race": descriptor}) == f"{before}|{descriptor}|{after}"


@given(st.text(alphabet="{}ab \n%"))
def test_any_text_is_either_a_template_or_refused(text: str) -> None:
    try:
        parts = parse_template(text)
    except SlotSyntaxError:
        return
    filled = fill(parts, dict.fromkeys(slot_names(parts), "{x}"))
    assert filled.count("{x}") >= sum(isinstance(part, Slot) for part in parts)
