"""The people a question can be about: names, each of which states a group of several attributes at once.

Rows are counted from 1 below the header, as in imports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from collector.errors import InputError
from collector.hashing import hash_of
from collector.hints import did_you_mean, ended, quoted, shown
from collector.tables.rows import read_rows, require_cells, require_unique


@dataclass(frozen=True, slots=True)
class Person:
    """A name and the group it states of each attribute, in the spec's order of attributes."""

    name: str
    groups: Mapping[str, str]

    @property
    def cell(self) -> tuple[str, ...]:
        """The combination of groups."""
        return tuple(self.groups.values())


def read_people(
    path: Path, name: str, attributes: Mapping[str, Sequence[str]], encoding: str | None = None
) -> tuple[Person, ...]:
    """Read names and the groups they state.

    Args:
        path: the file; columns that are neither the name's nor an attribute's are left unread.
        name: the column of the name.
        attributes: attribute -> its groups.
        encoding: as in read_rows.

    Returns:
        The people in the file's order; all state the same attributes.

    Raises:
        InputError: the file cannot be read, has no column for any attribute, lacks a cell, holds a name twice, or a group that
            is unknown.
    """
    rows = read_rows(path, "a row for each name", [name], hoped=attributes, encoding=encoding)
    stated = [one for one in attributes if one in rows[0] and one != name]
    if not stated:
        raise InputError(
            f"{path} has no column for any attribute of the audit; known: {quoted(attributes)}, each named like a column."
        )
    require_unique(path, rows, [name])
    people = []
    for number, row in enumerate(rows, start=1):
        require_cells(path, number, row, [name, *stated])
        for attribute in stated:
            if row[attribute] not in attributes[attribute]:
                sentence = (
                    f"{path}: row {number} has {shown(row[attribute])} as {attribute!r}, which is no group of {attribute}"
                    f"{did_you_mean(row[attribute], attributes[attribute])}"
                )
                raise InputError(ended(sentence))
        people.append(Person(row[name], {attribute: row[attribute] for attribute in stated}))
    return tuple(people)


def cells(people: Sequence[Person]) -> dict[tuple[str, ...], list[Person]]:
    """Return the people of each combination of groups, cells and people in the given order."""
    found: dict[tuple[str, ...], list[Person]] = {}
    for person in people:
        found.setdefault(person.cell, []).append(person)
    return found


def people_of(
    people: Sequence[Person], subject: str | None, per_cell: int | None, own_name: str | None = None
) -> list[list[Person]]:
    """Return who is asked about with a subject: for each cell the same number of people, or all.

    They are ordered by a hash over the subject's and the person's name alone, the one called `own_name` first, and the
    cells by their groups' names: a smaller number of people is always a part of a larger one, in any order of the file.
    """
    return [
        sorted(listed, key=lambda person: (person.name != own_name, hash_of([subject, person.name])))[
            :per_cell
        ]
        for _, listed in sorted(cells(people).items())
    ]
