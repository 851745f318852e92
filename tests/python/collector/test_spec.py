"""Audit specs: what a right one means, and what each wrong one is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from collector.errors import InputError
from collector.hashing import hash_of
from collector.hints import quoted
from collector.spec.loading import load_audit
from collector.spec.methods.words import SCHEMES

Write = Callable[..., Path]


def problem(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        load_audit(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


def test_shipped_audits_are_right(repository: Path) -> None:
    specs = sorted((repository / "audits").rglob("*.yml"))
    names = {load_audit(path).audit for path in specs}
    assert {"products", "personas"} <= names


def test_asked_keeps_the_order_of_groups_and_leaves_out_the_reading(repository: Path) -> None:
    asked = load_audit(repository / "audits" / "products.yml").asked()
    assert [one["attribute"] for one in asked["attributes"]] == ["race", "gender"]
    assert [one["group"] for one in asked["attributes"][0]["groups"]] == [
        "White",
        "Asian",
        "Black",
        "Latino",
        "Middle-Eastern",
    ]
    assert asked["attributes"][1]["reference"] == "Man"
    assert asked["attributes"][1]["groups"][0]["descriptors"][:2] == ["Man", "gentleman"]
    assert asked["trials"] == 2
    assert "analysis" not in asked
    assert "import" not in asked


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


def test_analysis_document_is_sorted_lower_case_and_without_repetition(
    write_spec: Write, small_text: str
) -> None:
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
    assert "2 trials a persona" in few[0]
    assert "15" in few[0]
    assert load_audit(write_spec(small_text, ("trials: 2", "trials: 15"))).warnings() == []


def test_another_number_of_trials(small_spec: Path) -> None:
    audit = load_audit(small_spec)
    assert audit.with_trials(7).asked()["trials"] == 7
    assert audit.trials == 2
    with pytest.raises(InputError, match="trials is 0; at least 1"):
        audit.with_trials(0)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("trials: 2", "trails: 2", "the key trails is unknown; did you mean 'trials'?"),
        ("id: one", "ident: one", "the key templates[0].ident is unknown"),
        (
            "    text: 'Recommend",
            "    txt: 'Recommend",
            "the key templates[0].txt is unknown; did you mean 'text'?",
        ),
        ("audit: small", "", "the key audit is missing"),
        (
            "audit: small",
            "audit: Small Audit",
            "audit is 'Small Audit' and should consist of lower-case letters",
        ),
        ("id: one", "id: 1", "templates[0].id should be text and is 1; put it in quotes"),
        (
            "{a race}",
            "{a rase}",
            "templates[0].text has a slot {rase}, which is no attribute; did you mean 'race'?",
        ),
        (
            "{gender}",
            "{gendr}",
            "templates[0].text has a slot {gendr}, which is no attribute; did you mean 'gender'?",
        ),
        ("{gender}", "person", "attributes.gender has a slot that no template uses"),
        ("{gender}", "{gender", "templates[0].text has a single '{'"),
        ("JSON.", "JSON }.", "templates[0].text has a single '}'"),
        ("id: one", "id: one\n    language: fr", "an English article slot {a race} in the language 'fr'"),
        ("{reference: White, ", "{", "the key attributes.race.reference is missing"),
        ("reference: White", "reference: white", "which is none of the groups; did you mean 'White'?"),
        ("[White, Asian]", "[White]", "attributes.race.groups has 1 group; a comparison needs at least two"),
        ("[White, Asian]", "[White, White]", "attributes.race.groups holds 'White' twice"),
        (
            "[White, Asian]",
            "[White, No]",
            "holds false at position 2, which YAML does not read as text; put it in quotes",
        ),
        (
            "[White, Asian]",
            "[White, 5]",
            "holds 5 at position 2, which YAML does not read as text; put it in quotes",
        ),
        (
            "[White, Asian]",
            "{White: White, No: Norse}",
            "the key False under attributes.race.groups is not text",
        ),
        ("[White, Asian]", "{White: White, Asian: White}", "uses 'White', which already stands for 'White'"),
        (
            "[White, Asian]",
            "{White: White, Asian: no}",
            "attributes.race.groups.Asian should be text and is false",
        ),
        ("[White, Asian]", "[White, 'A*B']", "a group's name is text without outer spaces and without *"),
        ("[White, Asian]", "{White: White, Asian: ''}", "a descriptor is text without outer spaces"),
        ("race: {", "'the race': {", "attributes.the race is 'the race' and should be a name of letters"),
        ("trials: 2", "trials: 0", "trials is 0 and should be at least 1"),
        ("trials: 2", "trials: two", "trials should be a whole number and is 'two'"),
        ("trials: 2", "trials: 2.5", "trials should be a whole number and is 2.5"),
        ("trials: 2", "trials: yes", "trials should be a whole number and is true"),
        ("trials: 2", "", "trials is missing"),
        (
            "kind: json_object",
            "kind: json",
            "answer.kind is 'json' and should be 'json_object', 'text', 'list', 'items', 'label', 'score' or 'ranking'",
        ),
        ("max_characters: 6000000", "max_characters: 0", "answer.max_characters is 0"),
        ("debiased:", "plain:", "'plain' is the audit without any mitigation"),
        ("suffix:", "sufix:", "the key mitigations.debiased.sufix is unknown; did you mean 'suffix'?"),
        (
            "{suffix: ' Provide",
            "{suffix: ' For a {race} Provide",
            "mitigations.debiased.suffix has a slot {race}",
        ),
        ("trials: 2", "trials: 2\nsystem_prompt: You help {a gender}.", "system_prompt has a slot {gender}"),
        ("{mask: {race: '', gender: person}}", "{}", "mitigations.masked changes nothing"),
        (
            "race: '', gender",
            "rce: '', gender",
            "mitigations.masked.mask.rce is no slot of this audit; did you mean 'race'?",
        ),
        (
            "{race: '', gender: person}",
            "{race: ''}",
            "mitigations.masked.mask leaves out 'gender', which template 'one' uses",
        ),
        ("trials: 2", "trials: 2\ntrials: 3", "the key 'trials' is given twice"),
        ("trials: 2", "trials: [2", "this is not valid YAML"),
    ],
)
def test_wrong_specs_are_told_what_would_be_right(
    write_spec: Write, small_text: str, old: str, new: str, sentence: str
) -> None:
    assert sentence in problem(write_spec(small_text, (old, new)))


@pytest.mark.parametrize(
    ("analysis", "sentence"),
    [
        (
            "{crossed: [race*gendr]}",
            "analysis.crossed[0] crosses 'gendr', which is no attribute; did you mean 'gender'?",
        ),
        ("{crossed: [race]}", "should name two or more different attributes, as in race*gender"),
        ("{crossed: [race*race]}", "should name two or more different attributes, as in race*gender"),
        ("{pairwise: 1}", "analysis.pairwise should be true or false and is 1"),
        ("{words: {schemes: [wrds]}}", "is 'wrds', which is no known scheme; did you mean 'words'?"),
        ("{words: {schemes: [xyz]}}", f"is 'xyz', which is no known scheme; known: {quoted(SCHEMES)}"),
        (
            "{words: {schemes: [keys]}}",
            "analysis.words.schemes begins with 'keys', which stands next to what is judged; put words first",
        ),
        ("{words: {weighting: idf}}", "analysis.words.weighting is 'idf' and should be 'tfidf' or 'counts'"),
        ("{words: {schemes: []}}", "analysis.words.schemes is empty"),
        ("{words: {schemes: [seed, seed]}}", "analysis.words.schemes[1] names 'seed' a second time"),
        ("{words: {remove: {more: [off]}}}", "analysis.words.remove.more[0] should be text and is false"),
        (
            "{words: {remove: nothing}}",
            "analysis.words has 'nothing' as remove, which should be lists of terms",
        ),
        ("{words: {remove: 3}}", "analysis.words.remove should be a mapping of keys to values and is 3"),
        ("{words: {remove: none, keep: [man]}}", "analysis.words has unasked or keep next to remove: none"),
        ("{words: {unasked: 0}}", "analysis.words.unasked should be true or false and is 0"),
    ],
)
def test_wrong_analyses(write_spec: Write, small_text: str, analysis: str, sentence: str) -> None:
    assert sentence in problem(write_spec(f"{small_text}analysis: {analysis}\n"))


def test_keys_are_those_of_answers_in_json(write_spec: Write, small_text: str) -> None:
    analysis = f"{small_text}analysis: {{words: {{schemes: [words, keys]}}}}\n"
    assert load_audit(write_spec(analysis)).analysis.words.schemes == ("words", "keys")
    sentence = problem(write_spec(analysis, ("kind: json_object", "kind: text")))
    assert "has 'keys', which is for answers of the kind json_object and not 'text'; remove it" in sentence


def test_what_is_removed_unasked_is_told_only_where_it_is_changed(write_spec: Write, small_text: str) -> None:
    def document(words: str) -> dict[str, object]:
        words_read: dict[str, object] = load_audit(
            write_spec(f"{small_text}analysis: {{words: {words}}}\n")
        ).analysis_document()["words"]
        return words_read

    plain = {"schemes": ["words"], "weighting": "tfidf", "terms": []}
    assert document("{}") == plain
    assert document("{remove: none}") == {**plain, "unasked": False}
    assert document("{keep: [Man, man,  a  Man]}") == {**plain, "keep": ["a man", "man"]}
    assert document("{unasked: false, remove: {titles: [Mr]}}") == {
        **plain,
        "terms": [{"list": "titles", "term": "mr"}],
        "unasked": False,
    }


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "race: race",
            "rce: race",
            "import.columns.attributes.rce is no attribute of this audit; did you mean 'race'?",
        ),
        (", gender: gender}", "}", "import.columns.attributes leaves out 'gender'"),
        ("text: answer", "txt: answer", "the key import.columns.txt is unknown; did you mean 'text'?"),
        (
            "  columns:",
            "  format: ods\n  columns:",
            "import.format is 'ods' and should be 'csv', 'tsv', 'jsonl', 'json', 'parquet', 'xlsx', 'inspect', 'promptfoo' or",
        ),
        ("import:", "imports:", "the key imports is unknown; did you mean 'import'?"),
    ],
)
def test_wrong_imports(write_spec: Write, import_text: str, old: str, new: str, sentence: str) -> None:
    assert sentence in problem(write_spec(import_text, (old, new)))


def test_a_repeated_template_id(write_spec: Write, small_text: str) -> None:
    again = ("attributes:", "  - {id: one, text: 'About {race} {gender}'}\nattributes:")
    assert "templates[1].id is 'one', which an earlier template has too" in problem(
        write_spec(small_text, again)
    )


def test_neither_templates_nor_import(write_spec: Write, import_text: str) -> None:
    text = import_text[: import_text.index("import:")]
    assert "templates is missing; a spec asks something (templates) or reads answers" in problem(
        write_spec(text)
    )


def test_unreadable_files(tmp_path: Path) -> None:
    path = tmp_path / "audit.yml"
    assert "does not exist" in problem(path)
    path.write_bytes(b"")
    assert "is empty" in problem(path)
    path.write_bytes(b"audit: x\ntitle: caf\xe9\n")
    assert problem(path) == "line 2 is not UTF-8; save the file as UTF-8."
    path.write_text("- a\n- b\n")
    assert "a mapping of keys to values, and not a list" in problem(path)
    path.write_text("audit: small\n  title: x\n")
    assert problem(path).startswith("line 2, column")
    with pytest.raises(InputError, match="is a folder"):
        load_audit(tmp_path)
