"""The tables next to an audit spec: subjects, groups with their descriptors, categories, and what is relevant for a subject.

Rows are counted from 1 below the header, as in imports.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collector.answers.recommendations.items import folded_categories
from collector.errors import InputError
from collector.hashing import hash_of
from collector.hints import shown
from collector.rows import RelevanceRow
from collector.tables.rows import read_rows, require_cells, require_unique


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a question: `words` fill the slots, one for each column of the file and each wording by domain."""

    name: str
    domain: str | None
    words: Mapping[str, str]


def read_subjects(
    path: Path,
    name: str,
    domain: str | None,
    wordings: Mapping[str, Mapping[str, str]],
    *,
    person: str | None = None,
    is_person_optional: bool = False,
    expected: str | None = None,
    target_group: str | None = None,
    encoding: str | None = None,
) -> tuple[Subject, ...]:
    """Read the subjects of an audit.

    Args:
        path: the file.
        name: the column that names a subject.
        domain: the column that holds its domain, if any.
        wordings: further slots: slot -> domain -> word. A domain without a word leaves the slot unfilled.
        person: the column of the name of each subject's person, if any.
        is_person_optional: whether a question may name no person, its cell of `person` empty.
        expected: the column of the right answer, if any; its cells may be empty.
        target_group: the column of the group that a stereotype is about, if any; its cells may be empty.
        encoding: as in read_rows.

    Raises:
        InputError: the file cannot be read, lacks a column, or holds a subject without name, domain or person, or one twice.
    """
    keys = [name] if domain is None else [name, domain]
    filled = keys if person is None or is_person_optional else [*keys, person]
    others = [column for column in (person, expected, target_group) if column is not None]
    rows = read_rows(path, "a row for each subject", [*keys, *others], encoding=encoding)
    require_unique(path, rows, keys)
    if taken := [slot for slot in wordings if slot in rows[0]]:
        raise InputError(
            f"{path} has a column {taken[0]!r}, and subjects.wordings has a slot of that name; rename one."
        )
    subjects = []
    for number, row in enumerate(rows, start=1):
        require_cells(path, number, row, filled)
        of_domain = None if domain is None else row[domain]
        by_domain = {
            slot: words[of_domain]
            for slot, words in wordings.items()
            if of_domain is not None and of_domain in words
        }
        subjects.append(Subject(row[name], of_domain, {**row, **by_domain}))
    return tuple(subjects)


def choose(subjects: Sequence[Subject], n: int | None, domains: Sequence[str]) -> tuple[Subject, ...]:
    """Return the subjects of some domains (all if none is named), of each domain the n of smallest hash, in the given order.

    The hash is over domain and name alone: fewer subjects are always a part of more, in any order of the file.
    """
    kept = [one for one in subjects if not domains or one.domain in domains]
    if n is not None:
        ranked: dict[str | None, list[Subject]] = {}
        for one in sorted(kept, key=lambda one: hash_of([one.domain, one.name])):
            ranked.setdefault(one.domain, []).append(one)
        chosen = {(one.domain, one.name) for listed in ranked.values() for one in listed[:n]}
        kept = [one for one in kept if (one.domain, one.name) in chosen]
    return tuple(kept)


def read_templates(path: Path, encoding: str | None = None) -> list[dict[str, str]]:
    """Read templates from a file: id and text, and where they differ language and wording.

    Returns:
        The same list that a spec may hold in its place; empty cells are left out.

    Raises:
        InputError: the file cannot be read, or lacks a column or a cell.
    """
    needed, others = ["id", "text"], ("language", "wording")
    rows = read_rows(path, "a row for each template", needed, hoped=others, encoding=encoding)
    for number, row in enumerate(rows, start=1):
        require_cells(path, number, row, needed)
    return [{key: row[key] for key in (*needed, *others) if row.get(key)} for row in rows]


def read_attributes(path: Path, encoding: str | None = None) -> dict[str, Any]:
    """Read attributes from a file: attribute, group, descriptor, and a further column for each named wording.

    Returns:
        The same mapping that a spec may hold in its place: attribute -> groups (group -> descriptor), wordings. An empty cell
        of a wording is left out.

    Raises:
        InputError: the file cannot be read, lacks a column or a cell, or holds a group twice.
    """
    keys = ["attribute", "group", "descriptor"]
    rows = read_rows(path, "a row for each group", keys, encoding=encoding)
    require_unique(path, rows, keys[:2])
    attributes: dict[str, Any] = {}
    for number, row in enumerate(rows, start=1):
        require_cells(path, number, row, keys)
        attribute = attributes.setdefault(row["attribute"], {"groups": {}, "wordings": {}})
        attribute["groups"][row["group"]] = row["descriptor"]
        for wording, descriptor in row.items():
            if wording not in keys and descriptor:
                attribute["wordings"].setdefault(wording, {})[row["group"]] = descriptor
    return attributes


def read_groups(path: Path, encoding: str | None = None) -> dict[str, Any]:
    """Read the groups of one attribute from a file: group, descriptor, and a further column for each agreeing slot.

    Returns:
        The same mapping that a spec may hold in its place: groups (group -> descriptors) and agreements (slot -> descriptor ->
        word). Without the column descriptor a group is its own descriptor.

    Raises:
        InputError: the file cannot be read, has no column group, lacks a cell, or holds a descriptor twice.
    """
    rows = read_rows(
        path, "a row for each group or descriptor", ["group"], hoped=["descriptor"], encoding=encoding
    )
    descriptor = "descriptor" if "descriptor" in rows[0] else "group"
    require_unique(path, rows, [descriptor])
    groups: dict[str, list[str]] = {}
    agreements: dict[str, dict[str, str]] = {
        slot: {} for slot in rows[0] if slot not in ("group", descriptor)
    }
    for number, row in enumerate(rows, start=1):
        require_cells(path, number, row, list(row))
        groups.setdefault(row["group"], []).append(row[descriptor])
        for slot, words in agreements.items():
            words[row[descriptor]] = row[slot]
    return {"groups": groups, "agreements": agreements}


def read_categories(path: Path, encoding: str | None = None) -> tuple[str, ...]:
    """Read the categories of a set from a file with the column category; other columns are left unread.

    Returns:
        The categories as those of answers are compared, in the file's order.

    Raises:
        InputError: the file cannot be read, has no column category, lacks a cell, or holds a category twice.
    """
    rows = read_rows(path, "a row for each category", ["category"], encoding=encoding)
    folded = [{"category": next(iter(folded_categories([row["category"]])), "")} for row in rows]
    require_unique(path, folded, ["category"])
    for number, row in enumerate(folded, start=1):
        require_cells(path, number, row, ["category"])
    return tuple(row["category"] for row in folded)


def hash_of_relevance(rows: Sequence[RelevanceRow]) -> str | None:
    """Return the tagged hash of relevance rows, independent of their order; None if there are none."""
    listed = sorted([one.subject, one.domain or "", one.item, float(one.grade)] for one in rows)
    return hash_of(listed) if listed else None


def read_relevance(
    path: Path,
    names: Sequence[str],
    domain: str,
    subjects: Sequence[Subject],
    encoding: str | None = None,
) -> tuple[RelevanceRow, ...]:
    """Read which items are relevant for which subject.

    Args:
        path: the file: subject, item, grade and perhaps a domain.
        names: what the column of the subject may be called, the first that is there counts.
        domain: what the column of the domain is called, where there is one.
        subjects: those of the audit, none if it has no list of them.
        encoding: as in read_rows.

    Raises:
        InputError: the file cannot be read, lacks a column or a cell, holds a grade that is no number above 0 or an item
            twice, or speaks of none of the subjects.
    """

    def required(header: Sequence[str]) -> list[str]:
        return [next((name for name in names if name in header), names[0]), "item", "grade"]

    rows = read_rows(
        path,
        "a row for each relevant item",
        required,
        hoped=[*names, domain, "item", "grade"],
        encoding=encoding,
    )
    header = list(rows[0])
    subject = required(header)[0]
    keys = [subject, *([domain] if domain in header else []), "item"]
    require_unique(path, rows, keys)
    found = []
    for number, row in enumerate(rows, start=1):
        require_cells(path, number, row, [*keys, "grade"])
        grade = _grade(path, number, row["grade"])
        found.append(
            RelevanceRow(row[subject], row[domain] if domain in header else None, row["item"], grade)
        )
    known = {(one.domain, one.name) for one in subjects} | {(None, one.name) for one in subjects}
    if subjects and not any((one.domain, one.subject) in known for one in found):
        raise InputError(
            f"{path} names none of the audit's subjects as {subject!r} (row 1 has {shown(found[0].subject)}); they should be "
            f"written alike."
        )
    return tuple(found)


def _grade(path: Path, number: int, text: str) -> float:
    try:
        grade = float(text)
    except ValueError:
        grade = math.nan
    if not (math.isfinite(grade) and grade > 0):
        raise InputError(
            f"{path}: row {number} has {shown(text)} as 'grade'; it should be a number above 0, and what is not relevant is left "
            f"out."
        )
    return grade
