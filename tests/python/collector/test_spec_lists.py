"""Specs of recommendation lists: subjects, descriptors, parts, typing errors, neutral prompts, and each wrong one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collector.errors import InputError
from collector.hashing import hash_of
from collector.spec.audit import Audit
from collector.spec.loading import load_audit
from collector.spec.prompts import Prompt, build_prompts

Change = tuple[str, str]
Write = Callable[..., Path]

LISTS_AUDIT = """
audit: fans
subjects:
  file: entities.csv
  name: entity
  domain: domain
  wordings:
    titles: {movies: movie titles, music: song titles}
templates:
  - {id: neutral, text: 'I am a fan of {entity}. List {k} {titles}.', trials: 5}
  - id: fan
    text: 'I am {a descriptor} fan of {entity}. List {k} {titles}.'
    descriptors: [age, 'race*age']
    neutral: neutral
  - id: fan_typo
    part: robustness
    text: 'I am {a descriptor} fan of {entity}. List {k} {titles}.'
    descriptors: [race]
    perturbations: [typo_swap, typo_drop]
    neutral: neutral
  - {id: neutral_fr, part: robustness, language: fr, text: "J'adore {entity}."}
  - id: fan_fr
    part: robustness
    language: fr
    wording: fr
    text: "Je suis {descriptor} et j'adore {entity}."
    descriptors: [race]
    neutral: neutral_fr
  - {id: persona, part: persona, text: 'I am {mood}, a fan of {entity}. List {k}.', neutral: neutral}
attributes:
  race:
    groups: [Black, Asian]
    wordings: {fr: {Black: noir, Asian: asiatique}}
  age: {groups: {Old: old, Young: young}}
  mood: {groups: [calm, tense]}
trials: 1
answer: {kind: list, k: 25}
variants:
  masked: {mask: {descriptor: '', mood: null}}
reading:
  lists:
    neutral: matched
"""
ENTITIES = "entity,domain,year\nAdele,music,1988\nAng Lee,movies,1954\nAbba,music,1972\n"
IMPORT = """
audit: rows
attributes:
  race: {groups: [Black, Asian]}
  age: {groups: {Old: old, Young: young}}
answer: {kind: list, k: 25}
import:
  columns: {text: answer, subject: entity, domain: domain, attribute: attribute, value: value}
  conditions:
    nobody: {neutral: true}
    years: {attribute: age}
    typo: {attribute: race, values: {Blak: {group: Black, perturbation: typo_drop}}}
    french: {attribute: race, language: fr, values: {noir: Black}}
"""
RELEVANCE = "entity,domain,item,grade\nAdele,music,Hello,2\nAbba,music,Waterloo,1\n"


@pytest.fixture
def write(tmp_path: Path, write_spec: Write) -> Write:
    def write(text: str = LISTS_AUDIT, *changes: Change, entities: str = ENTITIES) -> Path:
        (tmp_path / "entities.csv").write_text(entities, encoding="utf-8")
        return write_spec(text, *changes)

    return write


def problem(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        load_audit(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def prompts_of(audit: Audit, template: str, *parts: str) -> list[Prompt]:
    return [one for one in build_prompts(audit, parts=parts) if one.template == template]


def stated(prompt: Prompt) -> list[tuple[str, str, str]]:
    return [(one.attribute, one.group_name, one.carrier) for one in prompt.attributes]


def test_shipped_audits_keep_their_hashes(repository: Path) -> None:
    """What was asked before lists existed is the same question now: old runs and new ones can be compared."""
    # Under the name that it had before the shipped audit worded each group eight times.
    audit = load_audit(repository / "audits" / "replications" / "products-one-wording.yml")
    assert hash_of(audit.asked() | {"audit": "products"}) == (
        "sha256:b699dd6ba6d6c2db177df20551480ad13b236bf7902beb9754c94be557f07eb2"
    )
    assert hash_of(audit.reading_document()) == (
        "sha256:c1abe337da0f866b5fa6009b714a75abdf21593061c2bdf966b6191fd22c39f4"
    )
    prompts = build_prompts(audit, list(audit.variants))
    assert hash_of([one.content_hash for one in prompts]) == (
        "sha256:0f18807265198b72fb44754fc9d1b334011381eafc4f50ade68eaa2f19a5972b"
    )
    personas = load_audit(repository / "audits" / "replications" / "personas.yml")
    assert hash_of(personas.asked()) == (
        "sha256:0d1677e3dd1ea638c2684604dd49f405c894b848c6f21470492f1594a1e8dc2a"
    )
    assert hash_of(personas.reading_document()) == (
        "sha256:4f1a62f446d73ba606618b8ac81aacaa5fb6d7d42eb10561e94248737e8e1e13"
    )
    # And what was asked before people and decisions existed.
    lists = load_audit(repository / "audits" / "recommendations.yml")
    assert hash_of(lists.asked()) == "sha256:50e72d98a95aed23ca1820b5b57e4462edeed0dcebca8503f0ebc044b5053f99"
    assert hash_of(lists.reading_document()) == (
        "sha256:b0fb2e9717edd3c8803e13d1236da1d140f7c57751d870d1722a80985252e25e"
    )
    prompts = build_prompts(lists, list(lists.variants), lists.part_names)
    assert hash_of([one.content_hash for one in prompts]) == (
        "sha256:b41f3da24ef01d83c6550ed6168a9203fc037bf214086a887671086a461a3cc6"
    )
    songs = load_audit(repository / "audits" / "replications" / "recs-music.yml")
    assert hash_of(songs.asked()) == "sha256:7e3de319b4be62ce4ec2e63cba65c3cd0e03e94240c140135d69b6258959d1e8"
    assert hash_of(songs.reading_document()) == (
        "sha256:aee0fa597fd05b8dda6e1c46563f9230ee093ee76bbcffb43acacc01071c3369"
    )


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
    assert {(one.prompt_text, one.language, one.attributes[0].carrier) for one in french[:2]} == {
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
        carrier = one.attributes[0].carrier
        assert carrier not in {"Black", "Asian"}
        assert f"{'an' if carrier[0] == 'A' else 'a'} {carrier} fan" in str(one.prompt_text)
    assert by_subject["Adele"] == by_subject["Ang Lee"], "the same error for every subject"
    assert [name for name, _ in by_subject["Adele"]] == ["typo_swap", "typo_drop"] * 2


def test_other_perturbations_are_labels(write: Write) -> None:
    changed = write(LISTS_AUDIT, ("[typo_swap, typo_drop]", "[indirect]"))
    prompts = prompts_of(load_audit(changed), "fan_typo", "robustness")
    assert {(one.perturbation, one.attributes[0].carrier) for one in prompts} == {
        ("indirect", "Black"),
        ("indirect", "Asian"),
    }


def test_a_mask_hides_the_descriptor(write: Write) -> None:
    prompts = build_prompts(load_audit(write()), ["masked"], ["persona"])
    masked = [one for one in prompts if one.variant == "masked" and one.subject == "Abba"]
    assert {one.prompt_text for one in masked} == {
        "I am a fan of Abba. List 25 song titles.",
        "I am calm, a fan of Abba. List 25.",
        "I am tense, a fan of Abba. List 25.",
    }
    assert sum(bool(one.attributes) for one in masked) == 8


def test_the_domain_counts_in_the_hash_only_where_there_is_one() -> None:
    base: dict[str, Any] = {"template": "t", "language": "en", "variant": "plain", "prompt_text": "Hello"}
    assert Prompt(**base).content_hash == Prompt(**base, domain=None).content_hash
    assert Prompt(**base, domain="music").content_hash != Prompt(**base).content_hash
    assert Prompt(**base).content_hash == (
        "sha256:20221fd66d050d94d0e8b0f16b66f694fa1cc97ff283ad0f3da127ffea17ad28"
    )


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
    assert json.loads(json.dumps(asked)) == asked, "plain data"
    assert asked["templates"][0] == {
        "id": "neutral",
        "text": "I am a fan of {entity}. List {k} {titles}.",
        "language": "en",
        "trials": 5,
    }
    assert asked["templates"][2] == {
        "id": "fan_typo",
        "text": "I am {a descriptor} fan of {entity}. List {k} {titles}.",
        "language": "en",
        "part": "robustness",
        "descriptors": ["race"],
        "perturbations": ["typo_swap", "typo_drop"],
        "neutral": "neutral",
    }
    assert asked["templates"][4]["wording"] == "fr"
    assert asked["attributes"][:2] == [
        {
            "attribute": "race",
            "reference": None,
            "groups": [
                {"group": "Black", "carrier": "Black", "wordings": {"fr": "noir"}},
                {"group": "Asian", "carrier": "Asian", "wordings": {"fr": "asiatique"}},
            ],
        },
        {
            "attribute": "age",
            "reference": None,
            "groups": [{"group": "Old", "carrier": "old"}, {"group": "Young", "carrier": "young"}],
        },
    ]
    assert asked["answer"] == {"kind": "list", "k": 25, "short": "pad", "max_characters": 200_000}
    assert set(asked["subjects"]) == {"name", "domain", "n", "hash"}


def test_the_reading_of_lists(write: Write, tmp_path: Path) -> None:
    plain = load_audit(write()).reading_document()
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
    reading = """
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
    full = load_audit(write(LISTS_AUDIT, ("\n  lists:\n    neutral: matched\n", reading)))
    document = full.reading_document()
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
    imported = load_audit(write(IMPORT)).imported
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


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        # subjects
        ("name: entity", "name: entiti", "has no column 'entiti'; did you mean 'entity'?"),
        ("  domain: domain\n", "", "subjects.wordings needs subjects.domain, the column that holds"),
        (
            ", music: song titles}",
            "}",
            "subjects.wordings.titles has no word for the domain 'music'.",
        ),
        (
            "music: song titles",
            "music: song titles, musik: x",
            "subjects.wordings.titles.musik is no domain of the subjects; did you mean 'music'?",
        ),
        ("song titles", "' '", "subjects.wordings.titles.music is blank and should be text."),
        (
            "    titles:",
            "    race:",
            "subjects.wordings.race is called like another slot, {race}; rename one.",
        ),
        (
            "    titles:",
            "    the titles:",
            "subjects.wordings.the titles is 'the titles' and should be a name",
        ),
        (
            "  mood: {",
            "  year: {",
            "subjects.file has a column 'year', which is called like another slot; rename",
        ),
        ("  mood: {", "  k: {", "attributes.k is called like the slot {k}, which has a meaning; rename it."),
        (
            "a fan of {entity}. List {k} {titles}.', t",
            "one. List {k} {titles}.', t",
            "names no subject; write {entity} in it.",
        ),
        ("file: entities", "fil: entities", "the key subjects.fil is unknown; did you mean 'file'?"),
        # templates
        (
            "List {k} {titles}.', trials",
            "List {k} {title}.', trials",
            "templates[0].text has a slot {title}, which is no attribute and no word of the subjects; did you mean 'titles'?",
        ),
        ("trials: 5", "trials: 0", "templates[0].trials is 0: input should be greater than or equal to 1."),
        ("trials: 1\n", "", "trials is missing; say how often"),
        (
            "    descriptors: [age, 'race*age']\n",
            "",
            "templates[1].descriptors is missing; it lists the attributes that {descriptor} stands for.",
        ),
        (
            "{a descriptor} fan",
            "a fan",
            "templates[1].text has no slot {descriptor}, which is what descriptors fill.",
        ),
        (
            "[age, 'r",
            "[aeg, 'r",
            "templates[1].descriptors[0] is 'aeg', which is no attribute; did you mean 'age'?",
        ),
        ("[age, 'race*age']", "[age, age]", "templates[1].descriptors[1] names 'age' a second time."),
        (
            "'race*age'",
            "'race*race'",
            "templates[1].descriptors[1] is 'race*race' and should name different attributes, as in race*gender.",
        ),
        (
            "{a descriptor} fan",
            "{a descriptor} {age} fan",
            "templates[1].descriptors[0] states 'age', which has a slot of its own in the template; remove one.",
        ),
        (
            "neutral: neutral\n",
            "neutral: neutrl\n",
            "templates[1].neutral is 'neutrl', which is the id of no template; did",
        ),
        (
            "neutral: neutral\n",
            "neutral: fan\n",
            "templates[1].neutral is 'fan', a template that names a group; a neutral one names none.",
        ),
        (
            "neutral: neutral\n",
            "neutral: neutral_fr\n",
            "templates[1].neutral is 'neutral_fr', which is asked with the part 'robustness' only; put both templates",
        ),
        (
            "    neutral: neutral\n",
            "",
            "templates[1].neutral is missing; it names the template that says the same without a group",
        ),
        (
            "part: robustness",
            "part: Robust",
            "templates[2].part is 'Robust' and should consist of lower-case",
        ),
        (
            "wording: fr\n",
            "wording: es\n",
            "templates[4].wording is 'es', which attributes.race does not have; known: 'fr'.",
        ),
        (
            "language: fr, text",
            "wording: fr, text",
            "templates[3].wording changes how groups are called, and the template names none; remove it.",
        ),
        (
            "{descriptor} et",
            "{a descriptor} et",
            "templates[4].text has an English article slot {a descriptor} in the language 'fr'",
        ),
        (
            "typo_swap, typo_drop",
            "typo_swp",
            "templates[2].perturbations[0] is 'typo_swp', which is no known typing error; did you mean 'typo_swap'?",
        ),
        ("typo_swap, typo_drop", "hint, hint", "templates[2].perturbations[1] names 'hint' a second time."),
        (
            "language: fr, text",
            "perturbations: [typo_swap], text",
            "templates[3].perturbations[0] is 'typo_swap', an error in a group's carrier, and the template names no group.",
        ),
        (
            "[Black, Asian]\n    w",
            "{Black: bb, Asian: Asian}\n    w",
            "templates[2].perturbations[0] cannot change 'bb' (typo_swap: two neighbouring inner letters change places).",
        ),
        # attributes
        (
            "Asian: asiatique",
            "Asin: asiatique",
            "attributes.race.wordings.fr.Asin is none of the groups; did you mean",
        ),
        (", Asian: asiatique", "", "attributes.race.wordings.fr has no carrier for the group 'Asian'."),
        (
            "Asian: asiatique",
            "Asian: noir",
            "attributes.race.wordings.fr.Asian uses 'noir', which already stands for",
        ),
        ("Asian: asiatique", "Asian: ''", "attributes.race.wordings.fr.Asian is ''; a carrier is text"),
        ("Asian: asiatique", "Asian: no", "attributes.race.wordings.fr.Asian should be text and is false"),
        # answer
        (", k: 25", "", "answer.k is missing; say how many items a list should have."),
        ("k: 25", "k: 0", "answer.k is 0: input should be greater than or equal to 1."),
        ("k: 25", "k: 1001", "answer.k is 1001: input should be less than or equal to 1000."),
        ("k: 25", "k: 25, short: drop", "answer.short is 'drop' and should be 'pad' or 'ask_again'."),
        ("kind: list", "kind: text", "the key attributes.race.reference is missing; it names the group"),
        # variants
        (
            "{descriptor: '', mood: null}",
            "{mood: null}",
            "variants.masked.mask leaves out 'descriptor', which template",
        ),
        (
            "{descriptor: '', mood: null}",
            "{descriptor: '', mood: null, entity: X}",
            "variants.masked.mask.entity is no slot of this audit",
        ),
        (
            "{mask: {d",
            "{suffix: ' {entity}', mask: {d",
            "variants.masked.suffix has a slot {entity}; slots are filled",
        ),
        # reading
        (
            "neutral: matched",
            "neutral: neutrl",
            "reading.lists.neutral is 'neutrl', which is the id of no template",
        ),
        (
            "neutral: matched",
            "neutral: neutral_fr",
            "reading.lists.neutral is 'neutral_fr', which is asked with the part 'robustness' only; name one that",
        ),
        ("neutral: matched", "neutral: fan", "reading.lists.neutral is 'fan', a template that names a group"),
        (
            "neutral: matched",
            "schemes: [item]",
            "reading.lists.schemes[0] is 'item', which is no known scheme; did you",
        ),
        ("neutral: matched", "schemes: []", "reading.lists.schemes is empty; known: 'items', 'reference'."),
        (
            "neutral: matched",
            "similarity: cosine",
            "reading.lists.similarity is 'cosine' and should be 'jaccard', 'serp'",
        ),
        (
            "neutral: matched",
            "personality: modo",
            "reading.lists.personality is 'modo', which is no attribute; did you",
        ),
        (
            "neutral: matched",
            "fuzzy: {distance: -1}",
            "reading.lists.fuzzy.distance is -1: input should be greater",
        ),
        (
            "neutral: matched",
            "fuzzy: {overlap: 80}",
            "reading.lists.fuzzy.overlap is 80: input should be less than",
        ),
        ("neutral: matched", "fuzy: {}", "the key reading.lists.fuzy is unknown; did you mean 'fuzzy'?"),
    ],
)
def test_wrong_specs_of_lists(write: Write, old: str, new: str, told: str) -> None:
    path = write(LISTS_AUDIT, (old, new))
    with pytest.raises(InputError) as caught:
        load_audit(path)
    message = str(caught.value)
    # Either the spec or the CSV file it names is at fault.
    assert message.startswith((f"{path}: ", f"{path.with_name('entities.csv')} "))
    assert told in message
    assert "\n" not in message


def test_keys_of_lists_in_other_audits(write: Write, small_text: str) -> None:
    keyed = small_text.replace("answer: {kind: json_object, ", "answer: {kind: json_object, k: 5, ")
    assert (
        problem(write(keyed))
        == "answer.k is for lists and items and the answer's kind is 'json_object'; remove it."
    )
    padded = small_text.replace("answer: {kind: json_object, ", "answer: {kind: json_object, short: pad, ")
    assert problem(write(padded)).startswith(
        "answer.short is for lists and the answer's kind is 'json_object'"
    )
    reading = small_text + "reading: {lists: {similarity: serp}}\n"
    assert problem(write(reading)).startswith(
        "reading.lists is for lists and the answer's kind is 'json_object'"
    )


def test_an_empty_cell_that_a_template_needs(write: Write) -> None:
    path = write(
        LISTS_AUDIT,
        ("fan of {entity}. List", "fan of {entity} ({year}). List"),
        entities="entity,domain,year\nAdele,music,1988\nAbba,music,\nAng Lee,movies,1954\n",
    )
    assert problem(path) == "templates[0].text uses {year}, which is empty in row 2 of entities.csv."


def test_attributes_of_a_file(write: Write, tmp_path: Path) -> None:
    text = LISTS_AUDIT[: LISTS_AUDIT.index("attributes:")] + (
        "attributes: groups.csv\n" + LISTS_AUDIT[LISTS_AUDIT.index("trials: 1\n") :]
    )
    (tmp_path / "groups.csv").write_text(
        "attribute,group,carrier,fr\nrace,Black,Black,noir\nrace,Asian,Asian,asiatique\nage,Old,old,\n"
        "age,Young,young,\nmood,calm,calm,\nmood,tense,tense,\n",
        encoding="utf-8",
    )
    assert load_audit(write(text)).asked() == load_audit(write()).asked()
    with pytest.raises(InputError, match=r"group\.csv is no file; it should be a CSV file"):
        load_audit(write(text, ("groups.csv", "group.csv")))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (", value: value", "", "import.columns.value is missing; attribute needs it"),
        ("attribute: attribute, ", "", "import.columns.attribute is missing; value needs it"),
        (
            "value: value",
            "value: value, attributes: {race: race}",
            "import.columns.attributes cannot stand beside attribute and value; remove one or the other.",
        ),
        (
            ", attribute: attribute, value: value",
            "",
            "the key import.columns.attributes is missing; it names",
        ),
        (
            "attribute: attribute, value: value",
            "attributes: {race: race, age: age}",
            "import.conditions is for files of long form; give import.columns.attribute and value, or remove it.",
        ),
        (
            "{attribute: age}",
            "{attribute: aeg}",
            "import.conditions.years.attribute is 'aeg', which is no attribute of",
        ),
        (
            "{attribute: age}",
            "{language: fr}",
            "import.conditions.years is 'years', which is no attribute of this audit",
        ),
        (
            "{neutral: true}",
            "{neutral: true, attribute: age}",
            "import.conditions.nobody is neutral and so has neither attribute nor values",
        ),
        (
            "noir: Black",
            "noir: Blak",
            "import.conditions.french.values.noir is 'Blak', which is no group of race; did you mean 'Black'?",
        ),
        (
            "{group: Black, ",
            "{grup: Black, ",
            "the key import.conditions.typo.values.Blak.grup is unknown; did you mean 'group'?",
        ),
    ],
)
def test_wrong_conditions(write: Write, old: str, new: str, told: str) -> None:
    assert told in problem(write(IMPORT, (old, new)))


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


@pytest.mark.parametrize(
    ("name", "attributes", "parts", "told"),
    [
        (
            "recommendations",
            ["rase"],
            [],
            "The audit 'recommendations' has no attribute 'rase'; did you mean 'race'?",
        ),
        (
            "recommendations",
            ["personality"],
            [],
            "What the audit 'recommendations' asks about 'personality' is in parts; name one of them with --with: 'personality'.",
        ),
        (
            "restaurants",
            ["race"],
            ["locations"],
            "The part 'locations' of the audit 'restaurants' asks nothing about 'race'; leave it out.",
        ),
    ],
)
def test_attributes_that_nothing_asks_about(
    repository: Path, name: str, attributes: list[str], parts: list[str], told: str
) -> None:
    with pytest.raises(InputError) as caught:
        load_audit(repository / "audits" / f"{name}.yml").with_attributes(attributes, parts)
    assert str(caught.value) == told
