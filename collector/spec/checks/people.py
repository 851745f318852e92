"""Problems between people, subjects and rankings in an audit spec, which types alone cannot find."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from collector.hints import did_you_mean
from collector.spec.checks.shared import for_others
from collector.spec.parts import CANDIDATES, DESCRIPTOR, NAME, NUMBER, split_crossed
from collector.spec.people import cells
from collector.validation import Problem

if TYPE_CHECKING:
    from collector.spec.audit import Audit
    from collector.spec.parts import Template


def people_problems(audit: Audit) -> Iterator[Problem]:
    """Yield the problems of `people` and in the subjects' columns `person` and `expected`."""
    yield from _expected_problems(audit)
    if audit.people is None:
        if audit.subjects is not None and audit.subjects.person is not None:
            yield "the key people", "is missing; subjects.person is swapped for the names of a file of people"
        return
    yield from _cell_problems(audit)
    yield from _own_name_problems(audit)
    if audit.subjects is not None and audit.subjects.person is not None:
        yield from _name_problems(audit)


def _expected_problems(audit: Audit) -> Iterator[Problem]:
    if audit.subjects is None or audit.subjects.expected is None:
        return
    if audit.answer.kind not in ("label", "score"):
        yield for_others("subjects.expected", "labels and scores", audit.answer.kind)
        return
    for number, subject in enumerate(audit.subject_rows, start=1):
        written = subject.words[audit.subjects.expected]
        if not written:
            continue
        try:
            audit.answer.expected(written)
        except ValueError as error:
            yield (
                "subjects.expected",
                f"is {audit.subjects.expected!r}, and row {number} of {audit.subjects.file} has {written!r} there, {error}",
            )


def _cell_problems(audit: Audit) -> Iterator[Problem]:
    """Yield combinations of groups without people, or with too few: the groups of one attribute would differ in another."""
    assert audit.people is not None
    found = cells(audit.people_rows)
    stated = audit.attributes_of_people
    for combination in itertools.product(*(audit.attributes[name].groups for name in stated)):
        n = len(found.get(combination, ()))
        called = " and ".join(f"{name} {group!r}" for name, group in zip(stated, combination, strict=True))
        if n == 0:
            yield "people.file", f"has no name for {called}; every combination of groups needs one"
        elif n < (audit.people.per_subject or 1):
            yield (
                "people.per_subject",
                f"is {audit.people.per_subject}, and {audit.people.file} has {n} name{'' if n == 1 else 's'} for {called}",
            )


def _own_name_problems(audit: Audit) -> Iterator[Problem]:
    """Yield why the names of the subjects' own rows cannot be among those asked about."""
    assert audit.people is not None
    if not audit.people.own_name:
        return
    if audit.subjects is None or audit.subjects.person is None:
        yield "people.own_name", "is true and no column is named by subjects.person; remove it"
        return
    known = {person.name for person in audit.people_rows}
    for number, subject in enumerate(audit.subject_rows, start=1):
        own = audit.own_name_of(subject)
        if own is not None and own not in known:
            yield (
                "people.own_name",
                f"is true, and {audit.people.file} has no {own!r}, who is in row {number} of {audit.subjects.file}",
            )


def _name_problems(audit: Audit) -> Iterator[Problem]:
    """Yield subjects that do not hold the name of their person, and people whose name has not as many words."""
    assert audit.subjects is not None
    assert audit.people is not None
    column, file = audit.subjects.person, audit.subjects.file
    for number, subject in enumerate(audit.subject_rows, start=1):
        swap = audit.name_swap(subject)
        if swap is not None and not any(
            swap.holds(word) for slot, word in subject.words.items() if slot != column
        ):
            absent = (
                f"is {column!r}, and in row {number} of {file} no other column holds {swap.name!r} as a word; it is the name "
                f"that is swapped"
            )
            yield "subjects.person", absent
    for number, person in enumerate(audit.people_rows, start=1):
        for sentence in _length_problems(audit, person.name):
            yield "people.file", f"has {person.name!r} in row {number}, {sentence}"


def masked_name_problems(audit: Audit, at: str, name: str) -> Iterator[Problem]:
    """Yield why a mitigation's word cannot take the place of a person's name."""
    if not audit.personal_words:
        return
    if not name.strip():
        yield at, "is empty, and the subjects' words contain the name; give a word to put in its place"
        return
    for sentence in _length_problems(audit, name):
        yield at, f"is {name!r}, {sentence}"


def _length_problems(audit: Audit, name: str) -> Iterator[str]:
    """Yield what a name of several words cannot be swapped for."""
    assert audit.subjects is not None
    n = len(name.split())
    for number, subject in enumerate(audit.subject_rows, start=1):
        swap = audit.name_swap(subject)
        length = 1 if swap is None else len(swap.name.split())
        if swap is not None and length not in (1, n):
            yield (
                f"of {n} word{'' if n == 1 else 's'}, and {swap.name!r} in row {number} of {audit.subjects.file}, whose place it "
                f"takes, has {length}; both should have as many"
            )
            return


def person_problems(audit: Audit, at: str, template: Template) -> Iterator[Problem]:
    """Yield the problems of how a template names people."""
    if not audit.states_people(template):
        return
    crossed = (name for one in template.descriptors for name in split_crossed(one))
    for name in dict.fromkeys([*template.slots, *crossed]):
        if name in audit.attributes_of_people:
            yield f"{at}.text", f"states {name!r} next to a name, which states it too; remove one"
    if audit.subjects is None or audit.subjects.person is None or NAME in template.slots:
        return
    if template.candidate is not None and NAME in template.candidate_slots:
        return
    columns = _columns(audit, template)
    if audit.subjects.person in columns:
        return
    for number, subject in enumerate(audit.subject_rows, start=1):
        swap = audit.name_swap(subject)
        words = [subject.words[column] for column in columns if column in subject.words]
        if swap is not None and not any(map(swap.holds, words)):
            nobody = (
                f"names nobody where it is about row {number} of {audit.subjects.file}: none of the words it uses holds "
                f"{swap.name!r}; write {{{NAME}}} in it"
            )
            yield f"{at}.text", nobody


def ranking_problems(audit: Audit, at: str, template: Template) -> Iterator[Problem]:
    """Yield the problems of a template that asks for a ranking, or that should."""
    if template.candidate is None:
        if audit.answer.kind == "ranking":
            yield f"the key {at}.candidate", "is missing; it says how one candidate is written, with {number}"
        elif CANDIDATES in template.slots and CANDIDATES not in (*audit.attributes, *audit.words_of_subjects):
            yield f"the key {at}.candidate", f"is missing; it says how one of the {{{CANDIDATES}}} is written"
        if template.orders is not None:
            yield f"{at}.orders", "is for rankings, whose template has a candidate; remove it"
        return
    if audit.answer.kind != "ranking":
        yield (
            f"{at}.candidate",
            f"asks for a ranking and the answer's kind is {audit.answer.kind!r}; put rankings into an audit of their own",
        )
    if audit.people is None:
        yield "the key people", f"is missing; {{{CANDIDATES}}} are people of a file of names"
        return
    if CANDIDATES not in template.slots:
        yield f"{at}.text", f"has no slot {{{CANDIDATES}}}, where the candidates are listed"
    if template.orders is not None and template.orders > audit.n_candidates:
        yield (
            f"{at}.orders",
            f"is {template.orders}; {audit.n_candidates} candidates turn round in as many orders",
        )
    if template.perturbations:
        yield f"{at}.perturbations", "cannot be asked of rankings; remove it"
    for name in template.slots:
        if name in audit.attributes or name == DESCRIPTOR or audit.is_personal(name):
            yield (
                f"{at}.text",
                f"uses {{{name}}}, which differs from candidate to candidate; write it in candidate",
            )
    yield from _candidate_problems(audit, f"{at}.candidate", template)


def _candidate_problems(audit: Audit, at: str, template: Template) -> Iterator[Problem]:
    if NUMBER not in template.candidate_slots:
        yield at, f"has no slot {{{NUMBER}}}, by which an answer can name the candidate"
    is_named = False
    for slot in template.candidate_slots:
        columns = [audit.column_of_candidate(slot, number) for number in range(1, audit.n_candidates + 1)]
        if slot in (NAME, NUMBER):
            is_named = is_named or slot == NAME
            continue
        absent = [column for column in columns if column not in audit.words_of_subjects]
        if absent:
            known = [NAME, NUMBER, *audit.words_of_subjects]
            hint = did_you_mean(slot, known) if len(absent) == len(columns) else f"; {absent[0]!r} is missing"
            yield at, f"has a slot {{{slot}}}, which is no word of the subjects{hint}"
            continue
        is_named = is_named or all(map(audit.is_personal, columns))
        for column in dict.fromkeys(columns):
            for number, subject in enumerate(audit.subject_rows, start=1):
                if not subject.words[column]:
                    assert audit.subjects is not None
                    yield at, f"uses {column!r}, which is empty in row {number} of {audit.subjects.file}"
                    break
    if not is_named:
        yield at, f"names nobody; write {{{NAME}}} in it"


def _columns(audit: Audit, template: Template) -> list[str]:
    """Return the slots of a template and the columns that fill those of its candidates."""
    numbers = range(1, audit.n_candidates + 1)
    return [
        *template.slots,
        *(audit.column_of_candidate(slot, number) for slot in template.candidate_slots for number in numbers),
    ]
