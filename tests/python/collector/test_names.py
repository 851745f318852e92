"""Test that swapping a name changes every occurrence, in its case, and nothing else."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.spec.names import NameSwap
from tests.python.growth import assert_linear


def swapped(text: str, old: str, new: str) -> str:
    return NameSwap(old, [text]).swap(text, new)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Emily led it.", "Keisha led it."),
        ("EMILY R. and emily", "KEISHA R. and keisha"),
        ("Emily's, Emily’s (Emily) “Emily”", "Keisha's, Keisha’s (Keisha) “Keisha”"),
        ("Emily\nEmily,Emily;Emily/Emily", "Keisha\nKeisha,Keisha;Keisha/Keisha"),
        ("2019: Emily – lead; x - Emily - y", "2019: Keisha – lead; x - Keisha - y"),
        ("emily.r@example.com", "keisha.r@example.com"),
        ("Emily.R@Example.com", "keisha.R@Example.com"),
        ("mail r_emily+jobs@example.org now", "mail r_keisha+jobs@example.org now"),
        ("emily88@example.com", "keisha88@example.com"),
        ("https://x.example/people/emily-r?q=Emily", "https://x.example/people/keisha-r?q=keisha"),
        ("www.emily.example and linkedin.com/in/emily", "www.keisha.example and linkedin.com/in/keisha"),
        ("@emily or @Emily_R or emily_r", "@keisha or @keisha_R or keisha_r"),
        ("Emily Stone, emilystone@example.com", "Keisha Stone, keishastone@example.com"),
        ("Emily Stone: @StoneEmily", "Keisha Stone: @stonekeisha"),
        ("see emily.dev.", "see keisha.dev."),
    ],
)
def test_a_name_is_swapped_wherever_it_stands(text: str, expected: str) -> None:
    assert swapped(text, "Emily", "Keisha") == expected


@pytest.mark.parametrize(
    "text",
    [
        "state-of-the-art",
        "Art-house, pop-Art",
        "artist, smart, Arthur, start-up",
        "O'Art, O’Art",
        "artist@example.com, marketing@smart.example",
        "https://smart.example/artwork",
        "@artist, the_artist, artist_x",
        "Ärt, art\u0301",
    ],
)
def test_what_only_holds_the_name_stays(text: str) -> None:
    assert swapped(text, "Art", "Jay") == text
    assert not NameSwap("Art", [text]).holds(text)


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("Emily Stone. Ms Stone", "Emily Stone", "Keisha Jones", "Keisha Jones. Ms Jones"),
        ("EMILY  STONE", "Emily Stone", "Keisha Jones", "KEISHA  JONES"),
        ("emily.stone@x.example", "Emily Stone", "Keisha Jones", "keisha.jones@x.example"),
        ("emilystone@x.example", "Emily Stone", "Keisha Jones", "keishajones@x.example"),
        ("Emily Stone", "Emily Stone", "Stone Emily", "Stone Emily"),
        ("Ana de Souza, de facto", "Ana de Souza", "Eve van Dyk", "Eve van Dyk, de facto"),
        ("Emily, emily@x.example", "Emily", "Mary Ann", "Mary Ann, maryann@x.example"),
        ("Emily, emily@x.example", "Emily", "José", "José, jose@x.example"),
        ("Emily, emily@x.example", "Emily", "De'Andre", "De'Andre, deandre@x.example"),
        ("José, Jose\u0301, jose@x.example", "José", "Emily", "Emily, Emily, emily@x.example"),
        (
            "minh lin, Minh",
            "minh lin",
            "emily koch",
            "emily koch, emily koch".replace(", emily koch", ", emily"),
        ),
        ("AJ, aj", "AJ", "Emily", "Emily, emily"),
        ("Иван, ИВАН", "Иван", "Пётр", "Пётр, ПЁТР"),
    ],
)
def test_names_of_several_words_and_accents(text: str, old: str, new: str, expected: str) -> None:
    assert swapped(text, old, new) == expected


def test_a_name_of_several_words_needs_as_many() -> None:
    swap = NameSwap("Emily Stone", ["Emily Stone"])
    sentence = r"^'Keisha' has 1 word and 'Emily Stone', which it takes the place of, has 2"
    with pytest.raises(ValueError, match=sentence):
        swap.swap("Emily Stone", "Keisha")


WORDS = st.lists(
    st.from_regex(r"[a-z]{1,8}(?:-[a-z]{1,5})?|[0-9]{1,4}", fullmatch=True).filter(
        lambda word: "quillon" not in word and "zebedee" not in word
    ),
    max_size=12,
)
FORMS = st.sampled_from(["Quillon", "QUILLON", "quillon", "Quillon's", "quillon.r@x.example", "@quillon"])


@given(st.lists(st.tuples(WORDS, FORMS), min_size=1, max_size=5))
def test_only_the_name_changes_and_back_it_is_the_same(parts: list[tuple[list[str], str]]) -> None:
    text = " ".join(word for words, form in parts for word in (*words, form))
    there = swapped(text, "Quillon", "Zebedee")
    assert "quillon" not in there.lower()
    for before, after in zip(text.split(" "), there.split(" "), strict=True):
        if "quillon" in before.lower():
            assert after == re.sub("Quillon", "Zebedee", before).replace("QUILLON", "ZEBEDEE").replace(
                "quillon", "zebedee"
            )
        else:
            assert after == before
    assert swapped(there, "Zebedee", "Quillon") == text


@given(st.text(max_size=80), st.sampled_from(["Emily", "Art", "Ana de Souza", "José"]))
def test_any_text_can_be_swapped_and_without_the_name_it_stays(text: str, name: str) -> None:
    swap = NameSwap(name, [text])
    other = " ".join(["Zoltan"] * len(name.split()))
    if not swap.holds(text):
        assert swap.swap(text, other) == text
    else:
        assert "zoltan" in swap.swap(text, other).lower()


def test_a_long_run_of_letters_is_read_once() -> None:
    text = "Na Nana, " + "na" * 20_000 + "x@example.com"
    assert swapped(text, "Na", "Emily").startswith("Emily Nana, nana")
    assert_linear(lambda part: swapped(part, "Na", "Emily"), text)
