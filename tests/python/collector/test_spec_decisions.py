"""Test specs of decisions: people and their names in prompts, and rankings in balanced orders."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest
import yaml

from collector.hashing import hash_of
from collector.spec.loading import load_audit
from collector.spec.prompts import Prompt, build_prompts
from tests.python.collector.specs import (
    DECISION_FILES,
    NAMES,
    RANKINGS_AUDIT,
    RESUMES,
    RESUMES_AUDIT,
    Write,
    writer,
)


@pytest.fixture
def write(tmp_path: Path, write_spec: Write) -> Write:
    return writer(tmp_path, write_spec, RESUMES_AUDIT, DECISION_FILES)


def stated(prompt: Prompt) -> list[tuple[int, str, str, str]]:
    return [(one.slot, one.attribute, one.group_name, one.descriptor) for one in prompt.attributes]


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
        descriptors = {stated(one)[0][3] for one in prompts if one.subject == subject.name and one.attributes}
        assert subject.words["first_name"] in descriptors | {""}


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


def test_attributes_with_slots_stand_next_to_people(write: Write) -> None:
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
        descriptor = prompt.attributes[0].descriptor
        assert str(prompt.prompt_text).startswith(f"{descriptor}. One word")
        assert descriptor not in NAMES
    texts = [str(one.prompt_text) for one in build_prompts(audit) if one.subject == "c"]
    assert all(text.split(".")[0] == text.split(" ")[-1].rstrip(".") for text in texts)


def test_a_masked_name_leaves_the_group_and_hides_the_name(write: Write) -> None:
    prompts = [one for one in build_prompts(load_audit(write()), ["masked"]) if one.mitigation == "masked"]
    assert len(prompts) == 24
    assert {one.prompt_text for one in prompts if one.subject == "a"} == {
        "One word: junior or senior. Applicant R, applicant.r@example.com, state-of-the-art"
    }
    assert {one.attributes[0].group_name for one in prompts} == {"white", "black"}


def test_what_is_asked_and_how_it_is_read(write: Write) -> None:
    audit = load_audit(write())
    asked = audit.asked()
    assert asked["people"] == {"name": "name", "per_subject": None, "n": 8, "hash": asked["people"]["hash"]}
    assert asked["answer"] == {"kind": "label", "max_characters": 200_000, "labels": ["junior", "senior"]}
    assert (asked["subjects"]["expected"], asked["subjects"]["person"]) == ("level", "first_name")
    assert audit.analysis_document() == {
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
    assert set(scored.analysis_document()) == {"version", "crossed", "pairwise", "words", "decisions"}


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


def test_fewer_orders_are_reported(write: Write) -> None:
    audit = load_audit(write(RANKINGS_AUDIT, ("trials: 1", "    orders: 2\ntrials: 1")))
    assert len(build_prompts(audit)) == 2 * 2 * 2
    (warning,) = audit.warnings()
    assert warning.startswith(
        "The template order asks 2 of 4 orders, so no candidate is shown at every place;"
    )
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
    prompts = build_prompts(audit, list(audit.mitigations))
    assert audit.people is not None
    assert audit.people.per_subject is not None
    assert len(prompts) == 3 * 12 * 4 * audit.people.per_subject
    assert {len(str(one.words["text"]).split()) // 10 for one in audit.subject_rows} <= set(range(12, 20))
    own = {one.name: one.words["first_name"] for one in audit.subject_rows}
    for prompt in prompts:
        text = str(prompt.prompt_text).lower()
        name = prompt.attributes[0].descriptor if prompt.mitigation != "masked" else "Applicant"
        assert f"{name.lower()}." in text.split("email: ")[1].split("@")[0]
        if prompt.attributes[0].descriptor != own[str(prompt.subject)] or prompt.mitigation == "masked":
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
    assert json.loads(json.dumps(ranking.analysis_document()))["decisions"]["top"] == 1
    text = (repository / "audits" / "replications" / "resume-ranking.yml").read_text(encoding="utf-8")
    assert set(yaml.safe_load(text)["import"]["values"]) == {"race", "gender"}
