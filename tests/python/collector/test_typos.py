"""Test typing errors: they follow the stated rules, change one word, and are the same everywhere."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.spec.typos import RULES, longest_word, mistype, mistype_one

WORDS = st.text(st.characters(categories=["L"]), min_size=4, max_size=12)


@pytest.mark.parametrize(
    ("descriptor", "word"),
    [
        ("African American", "American"),
        ("middle-aged", "middle"),
        ("d'âge moyen", "moyen"),
        ("Asian woman", "Asian"),
        ("18", ""),
        ("日本人", "日本人"),
    ],
)
def test_the_longest_word_is_changed(descriptor: str, word: str) -> None:
    assert longest_word(descriptor) == word


@pytest.mark.parametrize(
    ("rule", "descriptor", "possible"),
    [
        ("typo_swap", "thin", {"tihn"}),
        ("typo_swap", "old", {"odl"}),
        ("typo_swap", "noon", {"nono"}),
        ("typo_drop", "fat", {"ft"}),
        ("typo_drop", "thin", {"thn", "tin"}),
        ("typo_drop", "it", {"i"}),
        ("typo_double", "old", {"olld"}),
        (
            "typo_swap",
            "African American",
            {f"African {word}" for word in "Aemrican Amreican Ameircan Amercian Ameriacn".split()},
        ),
    ],
)
def test_each_rule_does_what_it_says(rule: str, descriptor: str, possible: set[str]) -> None:
    assert mistype(rule, descriptor) in possible


@given(rule=st.sampled_from(sorted(RULES)), word=WORDS)
def test_the_first_letter_stays_and_the_word_does_not(rule: str, word: str) -> None:
    try:
        typed = mistype(rule, word)
    except ValueError:
        # Only a swap can fail: if all letters but the first are the same.
        assert rule == "typo_swap"
        assert len(set(word[1:])) == 1
        return
    assert typed != word
    assert typed[0] == word[0]
    assert len(typed) - len(word) == {"typo_swap": 0, "typo_drop": -1, "typo_double": 1}[rule]
    if rule == "typo_swap":
        assert sorted(typed) == sorted(word)


@pytest.mark.parametrize(
    ("rule", "descriptor"),
    [("typo_swap", "ooo"), ("typo_swap", "it"), ("typo_drop", "a"), ("typo_double", "18")],
)
def test_what_cannot_be_changed_is_said(rule: str, descriptor: str) -> None:
    with pytest.raises(ValueError, match=f"cannot change '{descriptor}'"):
        mistype(rule, descriptor)


def test_other_processes_make_the_same_error() -> None:
    script = "from collector.spec.typos import *; print([mistype(r, 'Brazilian') for r in RULES])"
    finished = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "9"},
    )
    assert finished.stdout.strip() == str([mistype(rule, "Brazilian") for rule in RULES])
    assert len({mistype(rule, "Brazilian") for rule in RULES}) == 3


def test_of_several_descriptors_one_is_changed() -> None:
    assert mistype_one("typo_drop", ["old", "female"]) == ["old", mistype("typo_drop", "female")]
    assert mistype_one("typo_swap", ["Asian", "woman"]) == [mistype("typo_swap", "Asian"), "woman"]
