"""Test the prompts and settings that an audit spec gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.errors import InputError
from collector.hashing import hash_of
from collector.spec.loading import load_audit
from tests.python.collector.specs import Write


def test_shipped_audits_are_right(repository: Path) -> None:
    specs = sorted((repository / "audits").rglob("*.yml"))
    names = {load_audit(path).audit for path in specs}
    assert {"products", "personas"} <= names


def test_asked_keeps_the_order_of_groups_and_leaves_out_the_analysis(repository: Path) -> None:
    asked = load_audit(repository / "audits" / "products.yml").asked()
    assert [one["attribute"] for one in asked["attributes"]] == ["race", "gender"]
    race, gender = asked["attributes"]
    assert [one["group"] for one in race["groups"]] == ["White", "Asian", "Black", "Latino", "Middle-Eastern"]
    assert gender["reference"] == "Man"
    assert gender["groups"][0]["descriptors"][:2] == ["Man", "gentleman"]
    assert asked["trials"] == 2
    assert {"analysis", "import"}.isdisjoint(asked)


def test_asked_tells_group_and_descriptor_apart(repository: Path) -> None:
    asked = load_audit(repository / "audits" / "replications" / "personas.yml").asked()
    assert asked["attributes"][0]["groups"][2] == {"group": "Asian", "descriptor": "an Asian"}


def test_asked_is_the_same_whatever_comments_and_reading_say(write_spec: Write, small_text: str) -> None:
    first = hash_of(load_audit(write_spec(small_text)).asked())
    second = hash_of(
        load_audit(write_spec("# a comment\n" + small_text + "analysis: {crossed: [race*gender]}\n")).asked()
    )
    third = hash_of(load_audit(write_spec(small_text, ("trials: 2", "trials: 3"))).asked())
    assert first == second
    assert first != third


def test_the_analysis_document_is_sorted_lower_case_and_distinct(write_spec: Write, small_text: str) -> None:
    analysis = """
analysis:
  crossed: [race * gender]
  pairwise: true
  words:
    schemes: [seed, words]
    weighting: counts
    remove:
      second: [Zoo, 'middle   Eastern', zoo]
      first: [She]
      none: []
"""
    assert load_audit(write_spec(small_text + analysis)).analysis_document() == {
        "version": 1,
        "crossed": [["race", "gender"]],
        "pairwise": True,
        "words": {
            "schemes": ["seed", "words"],
            "weighting": "counts",
            "terms": [
                {"list": "first", "term": "she"},
                {"list": "second", "term": "middle eastern"},
                {"list": "second", "term": "zoo"},
            ],
        },
    }


def test_a_spec_without_reading_has_one(small_spec: Path) -> None:
    assert load_audit(small_spec).analysis_document() == {
        "version": 1,
        "crossed": [],
        "pairwise": False,
        "words": {"schemes": ["words"], "weighting": "tfidf", "terms": []},
    }


def test_few_trials_are_warned_about(write_spec: Write, small_text: str) -> None:
    few = load_audit(write_spec(small_text)).warnings()
    assert len(few) == 1
    assert "2 trials a group" in few[0]
    assert "15" in few[0]
    assert load_audit(write_spec(small_text, ("trials: 2", "trials: 15"))).warnings() == []


def test_another_number_of_trials(small_spec: Path) -> None:
    audit = load_audit(small_spec)
    assert audit.with_trials(7).asked()["trials"] == 7
    assert audit.trials == 2
    with pytest.raises(InputError, match="trials is 0; at least 1"):
        audit.with_trials(0)


def test_only_settings_of_words_that_differ_are_in_the_document(write_spec: Write, small_text: str) -> None:
    def document(words: str) -> dict[str, object]:
        words_read: dict[str, object] = load_audit(
            write_spec(f"{small_text}analysis: {{words: {words}}}\n")
        ).analysis_document()["words"]
        return words_read

    plain = {"schemes": ["words"], "weighting": "tfidf", "terms": []}
    assert document("{}") == plain
    assert document("{schemes: [words, keys]}") == {**plain, "schemes": ["words", "keys"]}
    assert document("{remove: none}") == {**plain, "unasked": False}
    assert document("{keep: [Man, man,  a  Man]}") == {**plain, "keep": ["a man", "man"]}
    assert document("{unasked: false, remove: {titles: [Mr]}}") == {
        **plain,
        "terms": [{"list": "titles", "term": "mr"}],
        "unasked": False,
    }
