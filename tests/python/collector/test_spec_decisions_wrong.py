"""Wrong specs of audits of decisions are told by key and place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from collector.errors import InputError
from collector.spec.loading import load_audit
from collector.spec.prompts import build_prompts
from tests.python.collector.decisions_specs import (
    NAMES,
    OPENINGS,
    RANKINGS_AUDIT,
    RESUMES,
    RESUMES_AUDIT,
    Change,
    Write,
    writer,
)


@pytest.fixture
def write(tmp_path: Path, write_spec: Write) -> Write:
    return writer(tmp_path, write_spec)


def problem(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        load_audit(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith((f"{path}: ", str(path.parent)))
    return message.removeprefix(f"{path}: ").removeprefix(f"{path.parent}/")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            [("labels: [junior, senior]", "labels: [junior]")],
            "answer.labels holds 1; a decision is between at least two labels.",
        ),
        (
            [("labels: [junior, senior]", "labels: [junior, Junior]")],
            "answer.labels[1] is 'Junior', which stands there already; case does not matter in answers.",
        ),
        ([("labels: [junior, senior]", "labels: [yes, no]")], "answer.labels[0] should be text and is true"),
        (
            [
                ("{kind: label, labels: [junior, senior]}", "{kind: text}"),
                ("  decisions: {ordered: true, favourable: [senior]}\n", ""),
            ],
            "subjects.expected is for labels and scores and the answer's kind is 'text'; remove it.",
        ),
        (
            [
                ("{kind: label, labels: [junior, senior]}", "{kind: score, minimum: 3, maximum: 3}"),
                (", expected: level", ""),
            ],
            "answer.maximum is 3 and should be above minimum, which is 3.",
        ),
        (
            [
                ("{kind: label, labels: [junior, senior]}", "{kind: score, maximum: 3}"),
                (", expected: level", ""),
            ],
            "answer.minimum is missing; a score lies on a scale from minimum to maximum.",
        ),
        (
            [("labels: [junior, senior]", "labels: [junior, senior], minimum: 1")],
            "answer.minimum is for scores and the answer's kind is 'label'; remove it.",
        ),
        (
            [("favourable: [senior]", "favourable: [senor]")],
            "analysis.decisions.favourable[0] is 'senor', which is none of the labels; did you mean 'senior'?",
        ),
        (
            [("favourable: [senior]", "favourable: [senior, junior]")],
            "analysis.decisions.favourable holds all labels, so that everybody is selected; leave out what is not favourable.",
        ),
        (
            [("ordered: true", "top: 2")],
            "analysis.decisions.top is for answers of the kind ranking and the answer's kind is 'label'; remove it.",
        ),
        (
            [("ordered: true", "orderd: true")],
            "the key analysis.decisions.orderd is unknown; did you mean 'ordered'?",
        ),
        (
            [("people: {file: names.csv, name: name}\n", ""), ("name: Applicant", "race: x")],
            "the key people is missing; subjects.person is swapped for the names of a file of people.",
        ),
        ([("person: first_name", "person: name")], "resumes.csv has no column 'name'"),
        ([("expected: level", "expected: levl")], "resumes.csv has no column 'levl'; did you mean 'level'?"),
        (
            [
                (
                    "people: {file: names.csv, name: name}",
                    "people: {file: names.csv, name: name, own_name: true}",
                )
            ],
            "people.own_name is true, and names.csv has no 'Emily', who is in row 1 of resumes.csv.",
        ),
        (
            [
                (", person: first_name", ""),
                (
                    "people: {file: names.csv, name: name}",
                    "people: {file: names.csv, name: name, own_name: true}",
                ),
                ("{text}'", "{name}: {text}'"),
            ],
            "people.own_name is true and no column is named by subjects.person; remove it.",
        ),
        (
            [("people: {file: names.csv, name: name}", "people: {file: names.csv, name: nam}")],
            "names.csv has no column 'nam'",
        ),
        (
            [
                (
                    "people: {file: names.csv, name: name}",
                    "people: {file: names.csv, name: name, per_subject: 3}",
                )
            ],
            "people.per_subject is 3, and names.csv has 2 names for race 'white' and gender 'male'.",
        ),
        (
            [("{text}'", "{text} {race}'"), ("{name: Applicant}", "{name: Applicant, race: x}")],
            "templates[0].text states 'race' next to a name, which states it too; remove one.",
        ),
        (
            [("{text}'", "A {job}.'"), ("masked: {mask: {name: Applicant}}", "plainer: {prefix: x}")],
            "people stand in no template; write {name} in one, or remove them.",
        ),
        (
            [("{text}'", "{txt}'")],
            "templates[0].text has a slot {txt}, which is no attribute and no word of the subjects; did you mean 'text'?",
        ),
        (
            [("{mask: {name: Applicant}}", "{mask: {nam: x}}")],
            "mitigations.masked.mask.nam is no slot of this audit; did you mean 'name'?",
        ),
        (
            [("{mask: {name: Applicant}}", "{mask: {race: x}}")],
            "mitigations.masked.mask leaves out 'name', and template 'level' names people; add name: with a neutral word",
        ),
        (
            [("{mask: {name: Applicant}}", "{mask: {name: ''}}")],
            "mitigations.masked.mask.name is empty, and the name stands in the subjects' words; give a word to put in its place.",
        ),
        (
            [("{text}'", "{text} {candidates}'")],
            "the key templates[0].candidate is missing; it says how one of the {candidates} is written.",
        ),
        (
            [("trials: 1", "    orders: 2\ntrials: 1")],
            "templates[0].orders is for rankings, whose template has a candidate; remove it.",
        ),
        (
            [("{text}'", "{candidates}'\n    candidate: '{number} {name}'")],
            "templates[0].candidate asks for a ranking and the answer's kind is 'label'; put rankings into an audit of",
        ),
        (
            [("attributes:", "attributes:\n  name: {reference: a, groups: [a, b]}")],
            "attributes.name is called like the slot {name}, which has a meaning; rename it.",
        ),
    ],
)
def test_wrong_specs_of_resumes(write: Write, changes: list[Change], sentence: str) -> None:
    assert problem(write(RESUMES_AUDIT, *changes)).startswith(sentence)


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (
            {"resumes": RESUMES.replace("I am Emily.", "I am Emilia of pro-Emily.")},
            "subjects.person is 'first_name', and in row 3 of resumes.csv no other column holds 'Emily' as a word; it is",
        ),
        (
            {"resumes": RESUMES.replace("c,clerk,,Emily", "c,clerk,,")},
            "resumes.csv: row 3 has no 'first_name'.",
        ),
        (
            {"resumes": RESUMES.replace("b,nurse,senior", "b,nurse,senor")},
            "subjects.expected is 'level', and row 2 of resumes.csv has 'senor' there, which is none of the labels; did",
        ),
        (
            {"resumes": RESUMES.replace("Ida,IDA leads. Ida's", "Ida Lee,Ida Lee leads. Ida's")},
            "people.file has 'Anne' in row 1, of 1 word, and 'Ida Lee' in row 2 of resumes.csv, whose place it takes, has 2;",
        ),
        (
            {"names": NAMES.replace("Nia,black", "Nia,blak")},
            "names.csv: row 3 has 'blak' as 'race', which is no group of race; did",
        ),
        ({"names": NAMES.replace("Nia,black,female", "Nia,black,")}, "names.csv: row 3 has no 'gender'."),
        (
            {"names": NAMES + "Nia,white,male,\n"},
            "names.csv: rows 3 and 9 both hold 'Nia'; each name may stand once.",
        ),
        (
            {"names": NAMES.replace("race,gender", "rasse,geschlecht")},
            "names.csv has no column for any attribute of the audit; known: 'race', 'gender', each named like a column.",
        ),
        (
            {"names": NAMES.replace("race,gender", "race,sex")},
            "attributes.gender is stated by no template and by no column of names.csv; write {gender} in a template,",
        ),
        (
            {"names": "name,race,gender\nAnne,white,female\nGreg,white,male\nNia,black,female\n"},
            "people.file has no name for race 'black' and gender 'male'; every combination of groups needs one.",
        ),
    ],
)
def test_wrong_files_of_resumes(write: Write, files: dict[str, str], sentence: str) -> None:
    assert problem(write(RESUMES_AUDIT, **files)).startswith(sentence)


def test_a_text_without_the_name_needs_it_in_the_template(write: Write) -> None:
    resumes = (
        "resume,job,level,first_name,text,more\na,x,junior,Ida,Ida is,one\nb,x,junior,Ida,She is,Ida two\n"
    )
    sentence = (
        "templates[0].text names nobody where it is about row 2 of resumes.csv: none of the words it uses holds 'Ida'; write "
        "{name} in it."
    )
    assert problem(write(resumes=resumes)) == sentence
    audit = load_audit(write(RESUMES_AUDIT, ("{text}'", "{name}: {text}'"), resumes=resumes))
    assert len(build_prompts(audit)) == 16


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            [("{number}. {name}", "{name}")],
            "templates[0].candidate has no slot {number}, by which an answer can name the candidate.",
        ),
        (
            [("{number}. {name}: {text}", "{number}. {text}")],
            "templates[0].candidate names nobody; write {name} in it.",
        ),
        (
            [("{number}. {name}: {text}", "{number}. {name")],
            "templates[0].candidate has a single '{' at '{name'",
        ),
        (
            [("{name}: {text}", "{name}: {txt}")],
            "templates[0].candidate has a slot {txt}, which is no word of the subjects; did you mean",
        ),
        (
            [("{candidates}\n", "them\n")],
            "templates[0].text has no slot {candidates}, where the candidates stand.",
        ),
        (
            [("For {task}", "For {name}")],
            "templates[0].text uses {name}, which differs from candidate to candidate; write it in candidate.",
        ),
        (
            [("trials: 1", "    orders: 5\ntrials: 1")],
            "templates[0].orders is 5; 4 candidates turn round in as many orders.",
        ),
        (
            [("trials: 1", "    perturbations: [typo_drop]\ntrials: 1")],
            "templates[0].perturbations cannot be asked of rankings",
        ),
        (
            [("top: 2", "top: 4")],
            "analysis.decisions.top is 4, and of 4 candidates fewer should be selected.",
        ),
        (
            [("people: {file: names.csv, name: name}\n", "")],
            "the key people is missing; {candidates} are people of a file of names.",
        ),
        (
            [("    candidate: '{number}. {name}: {text}'\n", "")],
            "the key templates[0].candidate is missing; it says how one candidate is written, with {number}.",
        ),
        (
            [("name: opening}", "name: opening, expected: task}")],
            "subjects.expected is for labels and scores",
        ),
        (
            [("{top: 2}", "{favourable: [x]}")],
            "analysis.decisions.favourable is for answers of the kind label",
        ),
    ],
)
def test_wrong_specs_of_rankings(write: Write, changes: list[Change], sentence: str) -> None:
    assert problem(write(RANKINGS_AUDIT, *changes)).startswith(sentence)


def test_wrong_columns_of_rankings(write: Write) -> None:
    assert problem(write(RANKINGS_AUDIT, openings=OPENINGS.replace("text_4", "text4"))) == (
        "templates[0].candidate has a slot {text}, which is no word of the subjects; 'text_4' is missing."
    )
    assert problem(write(RANKINGS_AUDIT, openings=OPENINGS.replace("three", ""))) == (
        "templates[0].candidate uses 'text_3', which is empty in row 1 of openings.csv."
    )


def test_decisions_are_read_of_decisions_only(small_text: str, write_spec: Write) -> None:
    path = write_spec(small_text + "analysis: {decisions: {ordered: true}}\n")
    assert problem(path) == (
        "analysis.decisions is for labels, scores and rankings and the answer's kind is 'json_object'; remove it."
    )


def test_the_replications_say_what_the_files_call_things(repository: Path) -> None:
    seniority = load_audit(repository / "audits" / "replications" / "resume-seniority.yml")
    ranking = load_audit(repository / "audits" / "replications" / "resume-ranking.yml")
    assert seniority.imported is not None
    assert ranking.imported is not None
    assert (seniority.imported.split, ranking.imported.split) == ("model", "model")
    assert json.loads(json.dumps(ranking.analysis_document()))["decisions"]["top"] == 1
    text = (repository / "audits" / "replications" / "resume-ranking.yml").read_text(encoding="utf-8")
    assert set(yaml.safe_load(text)["import"]["values"]) == {"race", "gender"}


def test_an_import_of_labels_names_who_is_decided_about(tmp_path: Path) -> None:
    spec = tmp_path / "audit.yml"
    spec.write_text(
        "audit: labels\nattributes: {race: {reference: white, groups: [white, black]}}\n"
        "answer: {kind: label, labels: [no, yes]}\nimport: {columns: {text: decision, attributes: {race: race}}}\n".replace(
            "[no, yes]", "['no', 'yes']"
        ),
        encoding="utf-8",
    )
    with pytest.raises(
        InputError, match=r"the key import.columns.subject is missing; it names the column that tells"
    ):
        load_audit(spec)
