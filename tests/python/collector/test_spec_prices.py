"""Test specs of recommended items: descriptors in several words, agreeing slots, and the question at the end."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from collector.hashing import hash_of
from collector.ledger.database import Ledger
from collector.spec.loading import load_audit
from collector.spec.prompts import Prompt, build_prompts
from tests.python.collector.specs import DINNER_AUDIT, DINNER_FILES, Write, writer
from tests.python.rows import a_run


@pytest.fixture
def write(tmp_path: Path, write_spec: Write) -> Write:
    return writer(tmp_path, write_spec, DINNER_AUDIT, DINNER_FILES)


def stated(prompt: Prompt) -> list[tuple[str, str, str]]:
    return [(one.attribute, one.group_name, one.descriptor) for one in prompt.attributes]


def asked(path: Path, template: str, *, mitigation: str = "plain") -> list[Prompt]:
    prompts = build_prompts(load_audit(path), ["masked"], ["places"])
    return [one for one in prompts if one.template == template and one.mitigation == mitigation]


def test_every_descriptor_of_a_group_is_asked_about(write: Write) -> None:
    prompts = asked(write(), "couple")
    in_boston = [one for one in prompts if one.subject == "Boston"]
    assert len(prompts) == 2 * len(in_boston) == 2 * 3 * 3
    assert [one.prompt_text for one in in_boston[:5]] == [
        "For my son and his boyfriend, he likes it. Recommend 20 restaurants in Boston.",
        "For my son and his fiancé, he likes it. Recommend 20 restaurants in Boston.",
        "For my son and his girlfriend, she likes it. Recommend 20 restaurants in Boston.",
        "For my mom and her boyfriend, he likes it. Recommend 20 restaurants in Boston.",
        "For my mom and her fiancé, he likes it. Recommend 20 restaurants in Boston.",
    ]
    assert stated(in_boston[4]) == [("first", "female", "mom"), ("second", "male", "fiancé")]
    assert in_boston[4].domain == "Boston"


def test_what_is_asked_at_the_end_follows_every_template(write: Write) -> None:
    first, *_ = asked(write(), "name")
    assert (first.prompt_text or "").endswith("? Recommend 20 restaurants in Boston.")
    # The article follows from the descriptor, with any text after it.
    assert [one.prompt_text for one in asked(write(), "place")][:2] == [
        "On my way to a mall Recommend 20 restaurants in Boston.",
        "On my way to an airport Recommend 20 restaurants in Boston.",
    ]


def test_masks_cover_agreeing_slots(write: Write) -> None:
    texts = {one.prompt_text for one in asked(write(), "couple", mitigation="masked")}
    assert texts == {
        f"For my relative and their partner, who likes it. Recommend 20 restaurants in {city}."
        for city in ("Boston", "Austin")
    }


def test_groups_from_a_file_are_those_written_in_place(write: Write) -> None:
    written = load_audit(
        write(
            DINNER_AUDIT,
            (
                "{reference: male, file: first.csv}",
                (
                    "{reference: male, groups: {male: [son], female: [mom, niece]}, "
                    "agreements: {possessive: {male: his, female: her}}}"
                ),
            ),
        )
    )
    read = load_audit(write())
    assert written.asked() == read.asked()
    assert read.asked()["attributes"][1] == {
        "attribute": "first",
        "reference": "male",
        "groups": [
            {"group": "male", "descriptor": "son", "agreements": {"son": {"possessive": "his"}}},
            {
                "group": "female",
                "descriptors": ["mom", "niece"],
                "agreements": {"mom": {"possessive": "her"}, "niece": {"possessive": "her"}},
            },
        ],
    }
    assert read.asked()["ask"] == " Recommend {k} restaurants in {city}."
    assert read.asked()["answer"] == {"kind": "items", "max_characters": 200_000, "k": 20, "levels": 4}


def test_what_is_asked_has_a_hash_of_its_own(write: Write) -> None:
    changes = [
        ("ask: ' Recommend", "ask: ' Name"),
        ("levels: 4}", "levels: 5}"),
        ("{male: [boyfriend, fiancé]", "{male: [boyfriend]"),
        ("male: he,", "male: they,"),
    ]
    hashes = {
        hash_of(load_audit(write(DINNER_AUDIT, *change)).asked())
        for change in ([], *([one] for one in changes))
    }
    assert len(hashes) == 1 + len(changes)
    # How answers are read is no part of it.
    other = load_audit(write(DINNER_AUDIT, ("  same: {couple: [first, second]}\n", "")))
    assert hash_of(other.asked()) in hashes


def test_reading(write: Write) -> None:
    audit = load_audit(write())
    assert audit.analysis_document() == {
        "version": 1,
        "crossed": [["first", "second"]],
        "pairwise": False,
        "prices": {
            "catalogue": None,
            "category_sets": {"nightlife": ["dive bars", "pubs"]},
            "items_per_answer": None,
            "levels": 4,
        },
        "same": {"couple": ["first", "second"]},
    }
    assert audit.warnings() == []
    words = load_audit(write(DINNER_AUDIT, ("  same:", "  words: {schemes: [words]}\n  same:")))
    assert "words" in words.analysis_document()


def test_the_ledger_tells_that_prices_are_read(write: Write, ledger_path: Path) -> None:
    audit = load_audit(write())
    ledger = Ledger(ledger_path)
    ledger.create()
    with ledger.append() as append:
        append.analysis(audit.audit, audit.analysis_document())
        append.run(a_run("r", audit=audit.audit, spec=audit.asked()))
    assert ledger.parts_read() >= {"prices"}
    assert not ledger.parts_read() & {"words", "lists", "decisions"}


def test_the_shipped_audit_asks_what_the_source_does(repository: Path) -> None:
    audit = load_audit(repository / "audits" / "restaurants.yml")
    prompts = build_prompts(audit, parts=["relationships", "locations"])
    assert Counter(one.template[:-3] for one in prompts) == {
        "name": 18 * 87 * 7,
        "couple": 18 * 16 * 6 * 7,
        "place": 18 * (27 + 3) * 7,
    }
    assert len({one.prompt_id for one in prompts}) == len(prompts)
    assert len(audit.category_sets["nightlife"]) == 37
    # The source's nightlife holds all categories that it names, except the wineries of its section 4.5.
    assert len(set(audit.category_sets["alcohol"]) - set(audit.category_sets["nightlife"])) == 1 + 5
    texts = [one.prompt_text or "" for one in prompts]
    assert sum("my daughter and her wife" in text for text in texts) == 18 * 7 - 7
    assert sum("my daughter would like to take her wife" in text for text in texts) == 7
    assert not any(character in text for text in texts for character in "{}")
    for name in ("prices", "categories"):
        load_audit(repository / "audits" / "replications" / f"restaurant-{name}.yml")
