"""Test that masking removes names from texts, the longest first, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.errors import InputError
from lmrec.encoders.tfidf import TfidfSettings
from lmrec.masking import PLACEHOLDER, Masker
from lmrec.model import load
from lmrec.training import TrainSettings, train

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


@pytest.fixture
def pipeline(tmp_path: Path) -> str:
    """A pipeline that knows a bar, a person and a brand; trained ones have to be downloaded."""
    spacy = pytest.importorskip("spacy", reason="the extra 'entities' is not installed")
    blank = spacy.blank("en")
    blank.add_pipe("entity_ruler").add_patterns(
        [
            {"label": "FAC", "pattern": "the Alley"},
            {"label": "PERSON", "pattern": "Keisha"},
            {"label": "PRODUCT", "pattern": "Negroni"},
        ]
    )
    blank.to_disk(tmp_path / "pipeline")
    return str(tmp_path / "pipeline")


def test_what_spacy_takes_for_a_venue_goes_and_people_stay(pipeline: str) -> None:
    masker = Masker("entities", ["Blue Door"], ["Bob"], pipeline)
    assert masker("Keisha and Bob left the Alley for Blue Door, Negroni in hand.").split() == (
        f"Keisha and left {X} for {X}, {X} in hand.".split()
    )


def test_a_model_says_which_pipeline_it_was_trained_with_and_is_asked_with_it(
    example_files: tuple[Path, Path], pipeline: str, tmp_path: Path
) -> None:
    settings = TrainSettings(
        mask="entities", pipeline=pipeline, encoder=TfidfSettings(solver="sag", max_terms=50)
    )
    train(*example_files, tmp_path / "model", settings)
    found = load(tmp_path / "model")
    assert found.card["masked"].endswith(f"or product ({pipeline})")
    assert found.masker("at the Alley") == f"at {X}"


def test_a_pipeline_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs a pipeline of spaCy: name one"):
        Masker("entities", [])
    spacy = pytest.importorskip("spacy", reason="the extra 'entities' is not installed")
    with pytest.raises(InputError, match="spaCy has no pipeline 'en_nowhere' here"):
        Masker("entities", [], pipeline="en_nowhere")
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(InputError, match="finds no entities"):
        Masker("entities", [], pipeline=str(tmp_path / "blank"))


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
