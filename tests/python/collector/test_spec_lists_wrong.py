"""Wrong specs of audits of lists are told by key and place."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.errors import InputError
from collector.spec.loading import load_audit
from collector.spec.prompts import build_prompts
from tests.python.collector.lists_specs import IMPORT, LISTS_AUDIT, Write, writer


@pytest.fixture
def write(tmp_path: Path, write_spec: Write) -> Write:
    return writer(tmp_path, write_spec)


def problem(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        load_audit(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
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
            "templates[3].perturbations[0] is 'typo_swap', an error in a group's descriptor, and the template names no group.",
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
        (", Asian: asiatique", "", "attributes.race.wordings.fr has no descriptor for the group 'Asian'."),
        (
            "Asian: asiatique",
            "Asian: noir",
            "attributes.race.wordings.fr.Asian uses 'noir', which already stands for",
        ),
        ("Asian: asiatique", "Asian: ''", "attributes.race.wordings.fr.Asian is ''; a descriptor is text"),
        ("Asian: asiatique", "Asian: no", "attributes.race.wordings.fr.Asian should be text and is false"),
        # answer
        (", k: 25", "", "answer.k is missing; say how many items a list should have."),
        ("k: 25", "k: 0", "answer.k is 0: input should be greater than or equal to 1."),
        ("k: 25", "k: 1001", "answer.k is 1001: input should be less than or equal to 1000."),
        ("k: 25", "k: 25, short: drop", "answer.short is 'drop' and should be 'pad' or 'ask_again'."),
        ("kind: list", "kind: text", "the key attributes.race.reference is missing; it names the group"),
        # mitigations
        (
            "{descriptor: '', mood: null}",
            "{mood: null}",
            "mitigations.masked.mask leaves out 'descriptor', which template",
        ),
        (
            "{descriptor: '', mood: null}",
            "{descriptor: '', mood: null, entity: X}",
            "mitigations.masked.mask.entity is no slot of this audit",
        ),
        (
            "{mask: {d",
            "{suffix: ' {entity}', mask: {d",
            "mitigations.masked.suffix has a slot {entity}; slots are filled",
        ),
        # analysis
        (
            "neutral: matched",
            "neutral: neutrl",
            "analysis.lists.neutral is 'neutrl', which is the id of no template",
        ),
        (
            "neutral: matched",
            "neutral: neutral_fr",
            "analysis.lists.neutral is 'neutral_fr', which is asked with the part 'robustness' only; name one that",
        ),
        (
            "neutral: matched",
            "neutral: fan",
            "analysis.lists.neutral is 'fan', a template that names a group",
        ),
        (
            "neutral: matched",
            "schemes: [item]",
            "analysis.lists.schemes[0] is 'item', which is no known scheme; did you",
        ),
        ("neutral: matched", "schemes: []", "analysis.lists.schemes is empty; known: 'items', 'reference'."),
        (
            "neutral: matched",
            "similarity: cosine",
            "analysis.lists.similarity is 'cosine' and should be 'jaccard', 'serp'",
        ),
        (
            "neutral: matched",
            "personality: modo",
            "analysis.lists.personality is 'modo', which is no attribute; did you",
        ),
        (
            "neutral: matched",
            "fuzzy: {distance: -1}",
            "analysis.lists.fuzzy.distance is -1: input should be greater",
        ),
        (
            "neutral: matched",
            "fuzzy: {overlap: 80}",
            "analysis.lists.fuzzy.overlap is 80: input should be less than",
        ),
        ("neutral: matched", "fuzy: {}", "the key analysis.lists.fuzy is unknown; did you mean 'fuzzy'?"),
    ],
)
def test_wrong_specs_of_lists(write: Write, old: str, new: str, sentence: str) -> None:
    path = write(LISTS_AUDIT, (old, new))
    with pytest.raises(InputError) as caught:
        load_audit(path)
    message = str(caught.value)
    # Either the spec or the CSV file it names is at fault.
    assert message.startswith((f"{path}: ", f"{path.with_name('entities.csv')} "))
    assert sentence in message
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
    analysis = small_text + "analysis: {lists: {similarity: serp}}\n"
    assert problem(write(analysis)).startswith(
        "analysis.lists is for lists and the answer's kind is 'json_object'"
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
        "attribute,group,descriptor,fr\nrace,Black,Black,noir\nrace,Asian,Asian,asiatique\nage,Old,old,\n"
        "age,Young,young,\nmood,calm,calm,\nmood,tense,tense,\n",
        encoding="utf-8",
    )
    assert load_audit(write(text)).asked() == load_audit(write()).asked()
    with pytest.raises(InputError, match=r"group\.csv is no file; it should be a CSV file"):
        load_audit(write(text, ("groups.csv", "group.csv")))


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (", value: value", "", "import.columns.value is missing; attribute needs it"),
        ("attribute: attribute, ", "", "import.columns.attribute is missing; value needs it"),
        (
            "value: value",
            "value: value, attributes: {race: race}",
            "import.columns.attributes cannot be combined with attribute and value; remove one or the other.",
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
def test_wrong_conditions(write: Write, old: str, new: str, sentence: str) -> None:
    assert sentence in problem(write(IMPORT, (old, new)))


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
    ("name", "attributes", "parts", "sentence"),
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
    repository: Path, name: str, attributes: list[str], parts: list[str], sentence: str
) -> None:
    with pytest.raises(InputError) as caught:
        load_audit(repository / "audits" / f"{name}.yml").with_attributes(attributes, parts)
    assert str(caught.value) == sentence
