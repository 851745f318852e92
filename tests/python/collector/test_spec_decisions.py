"""Specs of decisions: people and their names in prompts, rankings in balanced orders, and wrong ones told what is right."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from collector.errors import InputError
from collector.hashing import hash_of
from collector.spec.loading import load_audit
from collector.spec.prompts import Prompt, build_prompts

Change = tuple[str, str]
Write = Callable[..., Path]

RESUMES_AUDIT = """
audit: resumes
subjects: {file: resumes.csv, name: resume, domain: job, expected: level, person: first_name}
people: {file: names.csv, name: name}
attributes:
  race: {reference: white, groups: [white, black]}
  gender: {reference: male, groups: [male, female]}
templates:
  - id: level
    text: 'One word: junior or senior. {text}'
trials: 1
answer: {kind: label, labels: [junior, senior]}
variants:
  masked: {mask: {name: Applicant}}
  careful: {prefix: 'Be careful. '}
reading:
  crossed: [race*gender]
  decisions: {ordered: true, favourable: [senior]}
"""
RESUMES = """resume,job,level,first_name,text
a,nurse,junior,Emily,"Emily R, emily.r@example.com, state-of-the-art"
b,nurse,senior,Ida,IDA leads. Ida's team grew.
c,clerk,,Emily,I am Emily.
"""
NAMES = """name,race,gender,note
Anne,white,female,x
Greg,white,male,
Nia,black,female,
Jamal,black,male,
Tamika,black,female,
Jill,white,female,
Brad,white,male,
Kareem,black,male,
"""
RANKINGS_AUDIT = """
audit: rankings
subjects: {file: openings.csv, name: opening}
people: {file: names.csv, name: name}
attributes:
  race: {reference: white, groups: [white, black]}
  gender: {reference: male, groups: [male, female]}
templates:
  - id: order
    text: |-
      For {task}:
      {candidates}
      Best first.
    candidate: '{number}. {name}: {text}'
trials: 1
answer: {kind: ranking}
reading: {decisions: {top: 2}}
"""
OPENINGS = """opening,task,text_1,text_2,text_3,text_4
x,a shop,one,two,three,four
y,a bank,five,six,seven,eight
"""


@pytest.fixture
def write(tmp_path: Path, write_spec: Write) -> Write:
    def write(
        text: str = RESUMES_AUDIT,
        *changes: Change,
        resumes: str = RESUMES,
        names: str = NAMES,
        openings: str = OPENINGS,
    ) -> Path:
        for name, content in (("resumes", resumes), ("names", names), ("openings", openings)):
            (tmp_path / f"{name}.csv").write_text(content, encoding="utf-8")
        return write_spec(text, *changes)

    return write


def problem(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        load_audit(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith((f"{path}: ", str(path.parent)))
    return message.removeprefix(f"{path}: ").removeprefix(f"{path.parent}/")


def stated(prompt: Prompt) -> list[tuple[int, str, str, str]]:
    return [(one.slot, one.attribute, one.group_name, one.carrier) for one in prompt.attributes]


def test_each_person_is_asked_about_with_each_subject(write: Write) -> None:
    prompts = build_prompts(load_audit(write()))
    assert len(prompts) == 3 * 8
    assert len({one.prompt_id for one in prompts}) == 24
    nia = next(one for one in prompts if one.subject == "a" and "Nia" in str(one.prompt_text))
    assert nia.prompt_text == "One word: junior or senior. Nia R, nia.r@example.com, state-of-the-art"
    assert stated(nia) == [(1, "race", "black", "Nia"), (1, "gender", "female", "Nia")]
    assert (nia.domain, nia.expected_label) == ("nurse", "junior")
    greg = next(one for one in prompts if one.subject == "b" and "Greg" in str(one.prompt_text))
    assert greg.prompt_text == "One word: junior or senior. GREG leads. Greg's team grew."
    assert greg.expected_label == "senior"
    assert {one.expected_label for one in prompts if one.subject == "c"} == {None}


def test_a_label_that_is_expected_is_written_as_listed(write: Write) -> None:
    audit = load_audit(write(resumes=RESUMES.replace("nurse,senior", "nurse,SENIOR")))
    assert {one.expected_label for one in build_prompts(audit) if one.subject == "b"} == {"senior"}


def test_fewer_people_of_each_cell_are_among_more_whatever_the_order(write: Write) -> None:
    def asked(per_subject: int, names: str = NAMES) -> set[tuple[str | None, str]]:
        text = (
            "people: {file: names.csv, name: name}",
            f"people: {{file: names.csv, name: name, per_subject: {per_subject}}}",
        )
        prompts = build_prompts(load_audit(write(RESUMES_AUDIT, text, names=names)))
        cells = Counter((one.subject, tuple(group for _, _, group, _ in stated(one))) for one in prompts)
        assert set(cells.values()) == {per_subject}
        assert len(cells) == 12
        return {(one.subject, stated(one)[0][3]) for one in prompts}

    header, *rows = NAMES.splitlines()
    assert asked(1) < asked(2)
    assert asked(1) == asked(1, "\n".join([header, *reversed(rows)]) + "\n")
    # It is not the same person with every subject.
    assert len({name for _, name in asked(1)}) > 4


def test_the_name_of_a_subject_s_own_row_is_among_those_asked_about(write: Write) -> None:
    resumes = RESUMES.replace("Emily", "Kareem").replace("Ida", "Jill").replace("IDA", "JILL")

    def asked(own: str) -> dict[str | None, set[str]]:
        text = (
            "people: {file: names.csv, name: name}",
            f"people: {{file: names.csv, name: name, per_subject: 1{own}}}",
        )
        names: dict[str | None, set[str]] = {}
        for prompt in build_prompts(load_audit(write(RESUMES_AUDIT, text, resumes=resumes))):
            names.setdefault(prompt.subject, set()).add(stated(prompt)[0][3])
        return names

    plain, own = asked(""), asked(", own_name: true")
    rows = {"a": "Kareem", "b": "Jill", "c": "Kareem"}
    assert any(name not in plain[subject] for subject, name in rows.items())
    for subject, name in rows.items():
        assert name in own[subject]
        # It takes the place of one name of its group; the other groups' names stay.
        assert len(own[subject] - plain[subject]) == (name not in plain[subject])
    # The shipped probes' own names are in the file of names, and each is asked about.
    probes = load_audit(Path(__file__).parents[3] / "audits" / "stereotypes.yml")
    prompts = build_prompts(probes)
    for subject in probes.subject_rows:
        carriers = {stated(one)[0][3] for one in prompts if one.subject == subject.name and one.attributes}
        assert subject.words["first_name"] in carriers | {""}


def test_a_name_may_have_its_own_slot(write: Write) -> None:
    audit = load_audit(
        write(
            RESUMES_AUDIT,
            (", person: first_name", ""),
            ("{text}'", "{name}, a {job}: {text}'"),
            resumes=RESUMES,
        )
    )
    prompts = build_prompts(audit)
    assert {str(one.prompt_text).split(": ", 2)[1] for one in prompts if one.subject == "c"} == {
        f"junior or senior. {name}, a clerk"
        for name in ("Anne", "Greg", "Nia", "Jamal", "Tamika", "Jill", "Brad", "Kareem")
    }
    assert all(str(one.prompt_text).endswith("I am Emily.") for one in prompts if one.subject == "c")


def test_people_need_no_subjects(write: Write) -> None:
    text = RESUMES_AUDIT.replace(
        "subjects: {file: resumes.csv, name: resume, domain: job, expected: level, person: first_name}\n", ""
    ).replace("{text}", "It is {name}.")
    prompts = build_prompts(load_audit(write(text)))
    assert len(prompts) == 8
    assert prompts[0].subject is None


def test_attributes_with_slots_stand_beside_people(write: Write) -> None:
    audit = load_audit(
        write(
            RESUMES_AUDIT,
            ("templates:", "  age: {reference: young, groups: [young, old]}\ntemplates:"),
            ("{text}'", "Somebody {age}. {text}'"),
            ("{name: Applicant}", "{name: Applicant, age: null}"),
        )
    )
    prompts = build_prompts(audit)
    assert len(prompts) == 3 * 8 * 2
    assert {attribute for _, attribute, _, _ in stated(prompts[0])} == {"age", "race", "gender"}


def test_a_typing_error_in_a_name(write: Write) -> None:
    audit = load_audit(
        write(
            RESUMES_AUDIT,
            ("trials: 1", "    perturbations: [typo_drop]\ntrials: 1"),
            ("'One", "'{name}. One"),
        )
    )
    for prompt in build_prompts(audit):
        carrier = prompt.attributes[0].carrier
        assert str(prompt.prompt_text).startswith(f"{carrier}. One word")
        assert carrier not in NAMES
    texts = [str(one.prompt_text) for one in build_prompts(audit) if one.subject == "c"]
    assert all(text.split(".")[0] == text.split(" ")[-1].rstrip(".") for text in texts)


def test_a_masked_name_leaves_the_group_and_hides_the_name(write: Write) -> None:
    prompts = [one for one in build_prompts(load_audit(write()), ["masked"]) if one.variant == "masked"]
    assert len(prompts) == 24
    assert {one.prompt_text for one in prompts if one.subject == "a"} == {
        "One word: junior or senior. Applicant R, applicant.r@example.com, state-of-the-art"
    }
    assert {one.attributes[0].group_name for one in prompts} == {"white", "black"}


def test_what_is_asked_and_how_it_is_read(write: Write) -> None:
    audit = load_audit(write())
    asked = audit.asked()
    assert asked["people"] == {
        "name": "name",
        "per_subject": None,
        "n": 8,
        "hash": asked["people"]["hash"],
    }
    assert asked["answer"] == {"kind": "label", "max_characters": 200_000, "labels": ["junior", "senior"]}
    assert (asked["subjects"]["expected"], asked["subjects"]["person"]) == ("level", "first_name")
    assert audit.reading_document() == {
        "version": 1,
        "crossed": [["race", "gender"]],
        "pairwise": False,
        "decisions": {"ordered": True, "favourable": ["senior"], "top": 1, "paired": None},
    }
    header, *rows = NAMES.splitlines()
    same = load_audit(write(names="\n".join([header, *reversed(rows)]) + "\n"))
    assert hash_of(same.asked()) == hash_of(asked)
    other = load_audit(write(names=NAMES.replace("Nia,black", "Nia,white")))
    assert hash_of(other.asked()) != hash_of(asked)
    scored = load_audit(
        write(
            RESUMES_AUDIT,
            ("{kind: label, labels: [junior, senior]}", "{kind: score, minimum: 0, maximum: 10}"),
            (", expected: level", ""),
            ("  decisions: {ordered: true, favourable: [senior]}\n", "  words: {weighting: counts}\n"),
        )
    )
    assert scored.asked()["answer"] == {
        "kind": "score",
        "max_characters": 200_000,
        "minimum": 0.0,
        "maximum": 10.0,
    }
    assert set(scored.reading_document()) == {"version", "crossed", "pairwise", "words", "decisions"}


def test_a_ranking_shows_each_cell_at_each_place_with_each_text(write: Write) -> None:
    audit = load_audit(write(RANKINGS_AUDIT))
    prompts = build_prompts(audit)
    # Two openings, two sets of four candidates, four orders.
    assert len(prompts) == 2 * 2 * 4
    assert len({one.prompt_text for one in prompts}) == 16
    assert audit.asked()["templates"][0]["candidate"] == "{number}. {name}: {text}"
    shown: Counter[tuple[tuple[str, ...], int, str]] = Counter()
    for prompt in prompts:
        first, *lines, last = str(prompt.prompt_text).splitlines()
        assert (first, last) == ("For a shop:" if prompt.subject == "x" else "For a bank:", "Best first.")
        assert prompt.candidates == tuple(line.split(" ")[1].rstrip(":") for line in lines)
        for slot, line in enumerate(lines, start=1):
            assert line.startswith(f"{slot}. ")
            groups = tuple(one.group_name for one in prompt.attributes if one.slot == slot)
            shown[groups, slot, line.rsplit(" ", 1)[1]] += 1
    assert len({groups for groups, _, _ in shown}) == 4
    for parts in ((0, 1), (0, 2)):
        counts = Counter[tuple[object, ...]]()
        for key, n in shown.items():
            counts[tuple(key[part] for part in parts)] += n
        assert len(counts) == (16 if parts == (0, 1) else 32)
        assert set(counts.values()) == ({4} if parts == (0, 1) else {2})


def test_fewer_orders_are_told(write: Write) -> None:
    audit = load_audit(write(RANKINGS_AUDIT, ("trials: 1", "    orders: 2\ntrials: 1")))
    assert len(build_prompts(audit)) == 2 * 2 * 2
    (warning,) = audit.warnings()
    assert warning.startswith("The template order asks 2 of 4 orders, so no candidate stands at every place;")
    assert load_audit(write(RANKINGS_AUDIT)).warnings() == []


def test_candidates_may_share_a_text_that_holds_the_name(write: Write) -> None:
    audit = load_audit(
        write(
            RANKINGS_AUDIT,
            ("{file: openings.csv, name: opening}", "{file: resumes.csv, name: resume, person: first_name}"),
            ("For {task}:", "For a job:"),
            ("'{number}. {name}: {text}'", '"Candidate {number}\\n{text}"'),
        )
    )
    text = str(build_prompts(audit)[-1].prompt_text)
    assert text.count("\n\nCandidate") == 3
    assert "Emily" not in text
    assert Counter(
        line.split(" ")[-1].rstrip(".") for line in text.splitlines() if line.startswith("I am")
    ) == Counter(build_prompts(audit)[-1].candidates)


@pytest.mark.parametrize(
    ("changes", "told"),
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
            "reading.decisions.favourable[0] is 'senor', which is none of the labels; did you mean 'senior'?",
        ),
        (
            [("favourable: [senior]", "favourable: [senior, junior]")],
            "reading.decisions.favourable holds all labels, so that everybody is selected; leave out what is not favourable.",
        ),
        (
            [("ordered: true", "top: 2")],
            "reading.decisions.top is for answers of the kind ranking and the answer's kind is 'label'; remove it.",
        ),
        (
            [("ordered: true", "orderd: true")],
            "the key reading.decisions.orderd is unknown; did you mean 'ordered'?",
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
            "templates[0].text states 'race' beside a name, which states it too; remove one.",
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
            "variants.masked.mask.nam is no slot of this audit; did you mean 'name'?",
        ),
        (
            [("{mask: {name: Applicant}}", "{mask: {race: x}}")],
            "variants.masked.mask leaves out 'name', and template 'level' names people; add name: with a neutral word",
        ),
        (
            [("{mask: {name: Applicant}}", "{mask: {name: ''}}")],
            "variants.masked.mask.name is empty, and the name stands in the subjects' words; give a word to put in its place.",
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
def test_wrong_specs_of_resumes(write: Write, changes: list[Change], told: str) -> None:
    assert problem(write(RESUMES_AUDIT, *changes)).startswith(told)


@pytest.mark.parametrize(
    ("files", "told"),
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
def test_wrong_files_of_resumes(write: Write, files: dict[str, str], told: str) -> None:
    assert problem(write(RESUMES_AUDIT, **files)).startswith(told)


def test_a_text_without_the_name_needs_it_in_the_template(write: Write) -> None:
    resumes = (
        "resume,job,level,first_name,text,more\na,x,junior,Ida,Ida is,one\nb,x,junior,Ida,She is,Ida two\n"
    )
    told = (
        "templates[0].text names nobody where it is about row 2 of resumes.csv: none of the words it uses holds 'Ida'; write "
        "{name} in it."
    )
    assert problem(write(resumes=resumes)) == told
    audit = load_audit(write(RESUMES_AUDIT, ("{text}'", "{name}: {text}'"), resumes=resumes))
    assert len(build_prompts(audit)) == 16


@pytest.mark.parametrize(
    ("changes", "told"),
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
        ([("top: 2", "top: 4")], "reading.decisions.top is 4, and of 4 candidates fewer should be selected."),
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
            "reading.decisions.favourable is for answers of the kind label",
        ),
    ],
)
def test_wrong_specs_of_rankings(write: Write, changes: list[Change], told: str) -> None:
    assert problem(write(RANKINGS_AUDIT, *changes)).startswith(told)


def test_wrong_columns_of_rankings(write: Write) -> None:
    assert problem(write(RANKINGS_AUDIT, openings=OPENINGS.replace("text_4", "text4"))) == (
        "templates[0].candidate has a slot {text}, which is no word of the subjects; 'text_4' is missing."
    )
    assert problem(write(RANKINGS_AUDIT, openings=OPENINGS.replace("three", ""))) == (
        "templates[0].candidate uses 'text_3', which is empty in row 1 of openings.csv."
    )


def test_decisions_are_read_of_decisions_only(small_text: str, write_spec: Write) -> None:
    path = write_spec(small_text + "reading: {decisions: {ordered: true}}\n")
    assert problem(path) == (
        "reading.decisions is for labels, scores and rankings and the answer's kind is 'json_object'; remove it."
    )


def test_the_shipped_audit_of_resumes(repository: Path) -> None:
    audit = load_audit(repository / "audits" / "resumes.yml")
    assert Counter(one.words["level"] for one in audit.subject_rows) == {"junior": 4, "mid": 4, "senior": 4}
    assert len({one.domain for one in audit.subject_rows}) == 3
    assert Counter(one.cell for one in audit.people_rows) == {
        ("white", "female"): 22,
        ("white", "male"): 22,
        ("black", "female"): 21,
        ("black", "male"): 22,
    }
    prompts = build_prompts(audit, list(audit.variants))
    assert audit.people is not None
    assert audit.people.per_subject is not None
    assert len(prompts) == 3 * 12 * 4 * audit.people.per_subject
    assert {len(str(one.words["text"]).split()) // 10 for one in audit.subject_rows} <= set(range(12, 20))
    own = {one.name: one.words["first_name"] for one in audit.subject_rows}
    for prompt in prompts:
        text = str(prompt.prompt_text).lower()
        name = prompt.attributes[0].carrier if prompt.variant != "masked" else "Applicant"
        assert f"{name.lower()}." in text.split("email: ")[1].split("@")[0]
        if prompt.attributes[0].carrier != own[str(prompt.subject)] or prompt.variant == "masked":
            assert own[str(prompt.subject)].lower() not in text
    # The texts do not say what is asked, and no pronoun contradicts a name.
    words = {
        word.strip(".,;:()-\"'").lower() for one in audit.subject_rows for word in one.words["text"].split()
    }
    assert words.isdisjoint({"junior", "mid", "senior", "he", "she", "his", "her", "him", "hers"})


def test_the_shipped_audit_of_rankings(repository: Path) -> None:
    audit = load_audit(repository / "audits" / "rankings.yml")
    prompts = build_prompts(audit)
    places = Counter(
        (one.slot, one.attribute, one.group_name) for prompt in prompts for one in prompt.attributes
    )
    assert len(places) == 16
    assert len(set(places.values())) == 1
    with (repository / "audits" / "rankings" / "openings.csv").open(encoding="utf-8") as stream:
        profiles = {row["opening"]: [row[f"text_{n}"] for n in range(1, 5)] for row in csv.DictReader(stream)}
    where = Counter(
        (profiles[str(prompt.subject)].index(text), slot)
        for prompt in prompts
        for slot, text in enumerate(
            [
                part.split("\n", 1)[1]
                for part in str(prompt.prompt_text).split("\n\n")
                if part.startswith("Candidate")
            ]
        )
    )
    assert len(where) == 16
    assert len(set(where.values())) == 1


def test_the_replications_say_what_the_files_call_things(repository: Path) -> None:
    seniority = load_audit(repository / "audits" / "replications" / "resume-seniority.yml")
    ranking = load_audit(repository / "audits" / "replications" / "resume-ranking.yml")
    assert seniority.imported is not None
    assert ranking.imported is not None
    assert (seniority.imported.split, ranking.imported.split) == ("model", "model")
    assert json.loads(json.dumps(ranking.reading_document()))["decisions"]["top"] == 1
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
