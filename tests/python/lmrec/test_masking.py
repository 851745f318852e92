"""Names are taken out of texts, the longest first, and nothing else."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmrec.masking import PLACEHOLDER, Masker

X = PLACEHOLDER


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Dinner at Blue Door Grill!", f"Dinner at {X}!"),
        ("blue door was fine", f"{X} was fine"),
        ("Blue Doors", "Blue Doors"),
        ("MyBlue Door", "MyBlue Door"),
        ("Joe's (downtown) and Joe's", f"{X} and Joe's"),
    ],
)
def test_the_longest_name_is_masked_whatever_its_case_and_never_inside_a_word(text: str, masked: str) -> None:
    masker = Masker("venues", ["Blue Door", "Blue Door Grill", "Joe's (downtown)"])
    assert masker(text) == masked


def test_phrases_of_capitalised_words_go_and_single_words_stay() -> None:
    masker = Masker("phrases", [])
    assert (
        masker("We went to Island Creek Oyster Bar. Great Thai food.") == f"We went to {X}. Great Thai food."
    )
    assert masker("a trip to the House of Blues, and I Keisha saw") == f"a trip to the {X}, and I Keisha saw"
    assert masker("Can Keisha come? Take Keisha to dinner.") == "Can Keisha come? Take Keisha to dinner."


def test_nothing_is_masked_where_nothing_should_be() -> None:
    assert Masker("none", ["Blue Door"])("at the Blue Door Grill") == "at the Blue Door Grill"


def test_hidden_words_leave_no_trace() -> None:
    assert Masker("none", [], ["Keisha", "Jo"])("with keisha, Jo and John").split() == [
        "with",
        ",",
        "and",
        "John",
    ]


@given(
    st.lists(st.text("abcé '.", min_size=1, max_size=6).filter(str.strip), max_size=8),
    st.text("abcé '.A", max_size=40),
)
def test_all_names_together_are_found_as_a_list_of_them_is(names: list[str], text: str) -> None:
    listed = sorted(set(names), key=lambda name: (-len(name), name))
    expected = text
    if listed:
        pattern = rf"(?<!\w)(?:{'|'.join(map(re.escape, listed))})(?!\w)"
        expected = re.sub(pattern, X, text, flags=re.IGNORECASE)
    assert Masker("venues", names)(text) == expected
