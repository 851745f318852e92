"""Test specs of recommendation lists: subjects, descriptors, parts, typing errors, neutral prompts."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.errors import InputError
from collector.hashing import hash_of
from collector.spec.audit import Audit
from collector.spec.loading import load_audit
from collector.spec.prompts import Prompt, build_prompts
from tests.python.collector.specs import ENTITIES, LISTS_AUDIT, LISTS_IMPORT, Write, writer

RELEVANCE = "entity,domain,item,grade\nAdele,music,Hello,2\nAbba,music,Waterloo,1\n"


@pytest.fixture
def write(tmp_path: Path, write_spec: Write) -> Write:
    return writer(tmp_path, write_spec, LISTS_AUDIT, {"entities": ENTITIES})


def prompts_of(audit: Audit, template: str, *parts: str) -> list[Prompt]:
    return [one for one in build_prompts(audit, parts=parts) if one.template == template]


def stated(prompt: Prompt) -> list[tuple[str, str, str]]:
    return [(one.attribute, one.group_name, one.descriptor) for one in prompt.attributes]


# Audit -> hashes of its questions, of its analysis and, for some, of its prompts.
HASHES = {
    "replications/products-one-wording": (
        "0cbc2d08961e6f14857d51ce1746de116498e1a0d6f7901f58214121a19855f5",
        "4c7094aed15c6faf367dc02c6b812316e1b668477b51187d7875b20c65076441",
        "0f18807265198b72fb44754fc9d1b334011381eafc4f50ade68eaa2f19a5972b",
    ),
    "replications/personas": (
        "3f04bdfe42bf2432fa8d18903928da45e933e033b0b6cfd850c0922c4fed2c9e",
        "4f1a62f446d73ba606618b8ac81aacaa5fb6d7d42eb10561e94248737e8e1e13",
        "",
    ),
    "recommendations": (
        "7e194bb795df799f71001b50ca41bd1bb967afd59b2d39848d57f826ce80379c",
        "b0fb2e9717edd3c8803e13d1236da1d140f7c57751d870d1722a80985252e25e",
        "b41f3da24ef01d83c6550ed6168a9203fc037bf214086a887671086a461a3cc6",
    ),
    "replications/recs-music": (
        "812981442285f4fcfef00ab572314dcb2c9cb769d08935f3639d7a72882c83a9",
        "aee0fa597fd05b8dda6e1c46563f9230ee093ee76bbcffb43acacc01071c3369",
        "",
    ),
}


@pytest.mark.parametrize("name", HASHES)
def test_shipped_audits_keep_their_hashes(repository: Path, name: str) -> None:
    """The hash of a question stays the same, so that old runs and new ones can be compared."""
    audit = load_audit(repository / "audits" / f"{name}.yml")
    # The audit with one wording was called `products` when its hash was written down.
    asked = audit.asked() | {"audit": audit.audit.removesuffix("-one-wording")}
    questions, analysis, of_prompts = (one and f"sha256:{one}" for one in HASHES[name])
    assert (hash_of(asked), hash_of(audit.analysis_document())) == (questions, analysis)
    if of_prompts:
        prompts = build_prompts(audit, list(audit.mitigations), audit.part_names)
        assert hash_of([one.content_hash for one in prompts]) == of_prompts


def test_one_prompt_for_each_subject(write: Write) -> None:
    audit = load_audit(write())
    neutral = prompts_of(audit, "neutral")
    assert [(one.subject, one.domain, one.prompt_text, one.attributes) for one in neutral] == [
        ("Adele", "music", "I am a fan of Adele. List 25 song titles.", ()),
        ("Ang Lee", "movies", "I am a fan of Ang Lee. List 25 movie titles.", ()),
        ("Abba", "music", "I am a fan of Abba. List 25 song titles.", ()),
    ]
    assert {one.template for one in build_prompts(audit)} == {"neutral", "fan"}
    assert (audit.trials_of("neutral"), audit.trials_of("fan")) == (5, 1)


def test_a_descriptor_stands_for_one_attribute_at_a_time(write: Write) -> None:
    prompts = [one for one in prompts_of(load_audit(write()), "fan") if one.subject == "Adele"]
    assert [(one.prompt_text, stated(one)) for one in prompts] == [
        ("I am an old fan of Adele. List 25 song titles.", [("age", "Old", "old")]),
        ("I am a young fan of Adele. List 25 song titles.", [("age", "Young", "young")]),
        *(
            (
                f"I am {written} fan of Adele. List 25 song titles.",
                [("race", race, race), ("age", age, age.lower())],
            )
            for written, race, age in (
                ("a Black old", "Black", "Old"),
                ("a Black young", "Black", "Young"),
                ("an Asian old", "Asian", "Old"),
                ("an Asian young", "Asian", "Young"),
            )
        ),
    ]


def test_parts_are_asked_where_they_are_named(write: Write) -> None:
    audit = load_audit(write())
    assert audit.part_names == ("robustness", "persona")
    assert len(prompts_of(audit, "persona", "persona")) == 6
    assert not prompts_of(audit, "persona", "robustness")
    french = prompts_of(audit, "fan_fr", "robustness", "persona")
    assert {(one.prompt_text, one.language, one.attributes[0].descriptor) for one in french[:2]} == {
        ("Je suis noir et j'adore Adele.", "fr", "noir"),
        ("Je suis asiatique et j'adore Adele.", "fr", "asiatique"),
    }
    with pytest.raises(InputError, match="no part 'robustnes'; did you mean 'robustness'"):
        build_prompts(audit, parts=["robustnes"])
    everything = load_audit(
        write(
            LISTS_AUDIT.replace("- {id: neutral, ", "- {id: neutral, part: all, ")
            .replace("- id: fan\n", "- id: fan\n    part: all\n")
            .replace("part: robustness", "part: all")
            .replace("part: persona", "part: all")
        )
    )
    with pytest.raises(InputError, match=r"is in parts; name one of them with --with: 'all'\."):
        build_prompts(everything)


def test_a_spec_without_parts_has_none(small_spec: Path) -> None:
    with pytest.raises(InputError, match="no part 'robustness'; all of it is always asked"):
        build_prompts(load_audit(small_spec), parts=["robustness"])


def test_typing_errors_are_prompts_of_their_own(write: Write) -> None:
    prompts = prompts_of(load_audit(write()), "fan_typo", "robustness")
    assert len(prompts) == 12
    by_subject: dict[str | None, list[tuple[str | None, list[tuple[str, str, str]]]]] = {}
    for one in prompts:
        by_subject.setdefault(one.subject, []).append((one.perturbation, stated(one)))
        descriptor = one.attributes[0].descriptor
        assert descriptor not in {"Black", "Asian"}
        assert f"{'an' if descriptor[0] == 'A' else 'a'} {descriptor} fan" in str(one.prompt_text)
    assert by_subject["Adele"] == by_subject["Ang Lee"], "the same error for every subject"
    assert [name for name, _ in by_subject["Adele"]] == ["typo_swap", "typo_drop"] * 2


def test_other_perturbations_are_labels(write: Write) -> None:
    changed = write(LISTS_AUDIT, ("[typo_swap, typo_drop]", "[indirect]"))
    prompts = prompts_of(load_audit(changed), "fan_typo", "robustness")
    assert {(one.perturbation, one.attributes[0].descriptor) for one in prompts} == {
        ("indirect", "Black"),
        ("indirect", "Asian"),
    }


def test_a_mask_hides_the_descriptor(write: Write) -> None:
    prompts = build_prompts(load_audit(write()), ["masked"], ["persona"])
    masked = [one for one in prompts if one.mitigation == "masked" and one.subject == "Abba"]
    assert {one.prompt_text for one in masked} == {
        "I am a fan of Abba. List 25 song titles.",
        "I am calm, a fan of Abba. List 25.",
        "I am tense, a fan of Abba. List 25.",
    }
    assert sum(bool(one.attributes) for one in masked) == 8


def test_some_subjects(write: Write) -> None:
    audit = load_audit(write())
    music = audit.with_subjects(domains=["music"])
    assert [one.name for one in music.subject_rows] == ["Adele", "Abba"]
    assert [one.domain for one in audit.with_subjects(1).subject_rows].count("music") == 1
    assert len(audit.with_subjects(1).subject_rows) == 2
    assert len(audit.with_subjects(99).subject_rows) == 3
    assert len(audit.subject_rows) == 3, "the audit itself stays"
    assert audit.with_subjects() is audit
    asked = music.asked()["subjects"]
    assert (asked["n"], asked["name"], asked["domain"]) == (2, "entity", "domain")
    assert asked["hash"] != audit.asked()["subjects"]["hash"]
    with pytest.raises(InputError, match="no domain 'musik'; did you mean 'music'"):
        audit.with_subjects(domains=["musik"])
    with pytest.raises(InputError, match=r"subjects is 0; at least 1 of each domain is needed\."):
        audit.with_subjects(0)


def test_some_subjects_of_an_audit_that_has_none(write: Write, small_spec: Path) -> None:
    with pytest.raises(InputError, match="The audit 'small' has no subjects to choose from"):
        load_audit(small_spec).with_subjects(5)
    text = LISTS_AUDIT.replace("  domain: domain\n", "").replace(" {titles}", "")
    wordings = text[text.index("  wordings:") : text.index("templates:")]
    audit = load_audit(write(text.replace(wordings, "")))
    assert audit.subject_rows[0].domain is None
    with pytest.raises(InputError, match=r"no domain 'music'; its subjects have no domains\."):
        audit.with_subjects(domains=["music"])


def test_the_order_of_a_file_of_subjects_changes_nothing(write: Write) -> None:
    lines = ENTITIES.splitlines()
    turned = "\n".join([lines[0], *reversed(lines[1:])])
    first, second = load_audit(write()), load_audit(write(entities=turned))
    assert first.asked() == second.asked()
    assert {one.content_hash for one in build_prompts(first)} == {
        one.content_hash for one in build_prompts(second)
    }
    other = load_audit(write(entities=ENTITIES.replace("Abba", "ABBA")))
    assert hash_of(other.asked()) != hash_of(first.asked())


def test_asked_names_what_is_used(write: Write) -> None:
    asked = load_audit(write()).asked()
    assert asked["templates"][2] == {
        "id": "fan_typo",
        "text": "I am {a descriptor} fan of {entity}. List {k} {titles}.",
        "language": "en",
        "part": "robustness",
        "descriptors": ["race"],
        "perturbations": ["typo_swap", "typo_drop"],
        "neutral": "neutral",
    }
    assert asked["attributes"][0] == {
        "attribute": "race",
        "reference": None,
        "groups": [
            {"group": "Black", "descriptor": "Black", "wordings": {"fr": "noir"}},
            {"group": "Asian", "descriptor": "Asian", "wordings": {"fr": "asiatique"}},
        ],
    }
    assert asked["answer"] == {"kind": "list", "k": 25, "short": "pad", "max_characters": 200_000}
    assert set(asked["subjects"]) == {"name", "domain", "n", "hash"}


def test_the_reading_of_lists(write: Write, tmp_path: Path) -> None:
    plain = load_audit(write()).analysis_document()
    assert plain == {
        "version": 1,
        "crossed": [["race", "age"]],
        "pairwise": False,
        "lists": {
            "schemes": ["items"],
            "similarity": "jaccard",
            "neutral": "matched",
            "personality": None,
            "fuzzy": None,
            "relevance_hash": None,
        },
    }
    (tmp_path / "relevance.csv").write_text(RELEVANCE, encoding="utf-8")
    analysis = """
  crossed: [age*race, race*mood]
  words: {weighting: counts}
  lists:
    schemes: [reference, items]
    similarity: serp
    neutral: neutral
    personality: mood
    fuzzy: {overlap: 1}
    relevance: relevance.csv
"""
    full = load_audit(write(LISTS_AUDIT, ("\n  lists:\n    neutral: matched\n", analysis)))
    document = full.analysis_document()
    assert document["crossed"] == [["age", "race"], ["race", "mood"]], (
        "crossed in another order is crossed already"
    )
    assert document["words"]["weighting"] == "counts"
    assert document["lists"] == {
        "schemes": ["reference", "items"],
        "similarity": "serp",
        "neutral": "neutral",
        "personality": "mood",
        "fuzzy": {"distance": 2, "overlap": 1.0},
        "relevance_hash": full.relevance_hash,
    }
    assert [one.item for one in full.relevance_rows] == ["Hello", "Waterloo"]
    assert str(full.relevance_hash).startswith("sha256:")


def test_the_hash_of_relevance_depends_on_rows_and_not_on_their_order(write: Write, tmp_path: Path) -> None:
    def relevance_hash(text: str) -> str | None:
        (tmp_path / "relevance.csv").write_text(text, encoding="utf-8")
        changed = ("neutral: matched", "relevance: relevance.csv")
        return load_audit(write(LISTS_AUDIT, changed)).relevance_hash

    header, *rows = RELEVANCE.splitlines()
    assert relevance_hash("\n".join([header, *reversed(rows)])) == relevance_hash(RELEVANCE)
    assert relevance_hash(RELEVANCE.replace(",2", ",2.0")) == relevance_hash(RELEVANCE)
    assert relevance_hash(RELEVANCE.replace(",2", ",3")) != relevance_hash(RELEVANCE)


def test_few_subjects_and_few_neutral_trials_are_warned_about(write: Write) -> None:
    many = "entity,domain\n" + "".join(f"a{n},music\n" for n in range(50)) + "b,movies\n"
    audit = load_audit(write(entities=many))
    few_subjects, few_trials = audit.warnings()
    assert few_subjects == (
        "The domain movies has 1 subject, which is low statistical power; the method's source asks for at least 50 to 100."
    )
    assert few_trials == (
        "The neutral prompts of neutral_fr are asked fewer than 5 times, too few for an interval on the baseline; the "
        "method's source asks for at least 5."
    )
    assert audit.with_subjects(domains=["music"]).warnings() == [few_trials]
    enough = load_audit(write(LISTS_AUDIT, ('fr, text: "J', 'fr, trials: 5, text: "J'), entities=many))
    assert enough.warnings() == [few_subjects]


def test_conditions_of_long_files(write: Write) -> None:
    imported = load_audit(write(LISTS_IMPORT)).imported
    assert imported is not None
    assert (imported.columns.attribute, imported.columns.value) == ("attribute", "value")
    assert imported.columns.attributes == {}
    conditions = imported.conditions
    assert conditions["nobody"].neutral
    assert conditions["years"].attribute == "age"
    assert conditions["typo"].values["Blak"].model_dump() == {
        "group": "Black",
        "perturbation": "typo_drop",
        "language": None,
    }
    assert conditions["french"].language == "fr"
    assert conditions["french"].values["noir"].group == "Black"


def test_attributes_of_a_file(write: Write, tmp_path: Path) -> None:
    text = LISTS_AUDIT[: LISTS_AUDIT.index("attributes:")] + (
        "attributes: groups.csv\n" + LISTS_AUDIT[LISTS_AUDIT.index("trials: 1\n") :]
    )
    (tmp_path / "groups.csv").write_text(
        "attribute,group,descriptor,fr\nrace,Black,Black,noir\nrace,Asian,Asian,asiatique\nage,Old,old,\n"
        "age,Young,young,\nmood,calm,calm,\nmood,tense,tense,\n",
        encoding="utf-8",
    )
    assert load_audit(write(text)).asked() == load_audit(write()).asked()
    with pytest.raises(InputError, match=r"group\.csv is no file; it should be a CSV file"):
        load_audit(write(text, ("groups.csv", "group.csv")))


def test_a_screening_asks_about_some_attributes_and_about_nobody(repository: Path) -> None:
    audit = load_audit(repository / "audits" / "recommendations.yml").with_subjects(1, ["music"])
    chosen = audit.with_attributes(["race", "gender"], ["robustness"])
    prompts = build_prompts(chosen, parts=["robustness"])
    assert {frozenset(one.attribute for one in prompt.attributes) for prompt in prompts} == {
        frozenset(),
        frozenset({"race"}),
        frozenset({"gender"}),
        frozenset({"race", "gender"}),
    }
    whole = build_prompts(audit, parts=["robustness"])
    assert {one.prompt_id for one in prompts} < {one.prompt_id for one in whole}
    assert {one.template for one in prompts} == {one.template for one in whole}
    # Who crosses an attribute with another one is left out without it.
    assert {len(one.attributes) for one in build_prompts(audit.with_attributes(["race"]))} == {0, 1}
    assert audit.with_attributes([]) is audit


@pytest.mark.parametrize(("name", "attributes", "parts", "sentence"), [
    ("recommendations", ["rase"], [], "The audit 'recommendations' has no attribute 'rase'; did you mean 'race'?"),
    ("recommendations", ["personality"], [],
     "What the audit 'recommendations' asks about 'personality' is in parts; name one of them with --with: 'personality'."),
    ("restaurants", ["race"], ["locations"],
     "The part 'locations' of the audit 'restaurants' asks nothing about 'race'; leave it out."),
])  # fmt: skip
def test_attributes_that_nothing_asks_about(
    repository: Path, name: str, attributes: list[str], parts: list[str], sentence: str
) -> None:
    with pytest.raises(InputError) as caught:
        load_audit(repository / "audits" / f"{name}.yml").with_attributes(attributes, parts)
    assert str(caught.value) == sentence
