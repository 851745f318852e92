"""Find the groups that a row of a file names: one column an attribute (wide form), or one condition a row (long form).

Both forms read the table `keys`, which has a row_number, the file_row that error sentences name, and the form's columns as a0,
a1, … (trimmed and composed; null without a value, and then m0, m1, … have the original, such as #N/A). Each combination of cells
states a condition, which has a number; `stated` turns a row's number and descriptors into groups, language and perturbation.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collector.errors import InputError
from collector.hints import did_you_mean, ended, shown
from collector.spec.prompts import PromptAttribute
from collector.sql import literal
from collector.tables.missing import is_missing
from collector.tables.source import GROUP_COLUMN

if TYPE_CHECKING:
    import duckdb

    from collector.spec.audit import Audit
    from collector.spec.importing import Import
    from collector.spec.parts import Attribute

# A day as a reader of workbooks writes it, and as spreadsheets show one that they made of 10-19.
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?: 00:00:00)?|\d{1,2}-[A-Za-z]{3}|[A-Za-z]{3}-\d{1,2}")


@dataclass(frozen=True, slots=True)
class Stated:
    """The person that a prompt states, and how: no attributes if it is neutral, no language if it is the file's."""

    attributes: tuple[PromptAttribute, ...] = ()
    language: str | None = None
    perturbation: str | None = None


@dataclass(frozen=True, slots=True)
class FoundWord:
    """A word of a file for a group.

    Attributes:
        attribute: the attribute; None where a row of long form names none.
        word: as it is in the file, without outer spaces; None for a cell without a value.
        n_rows: how many rows have it.
        group: the group it means; None where it means none.
        problem: why it cannot be read; None where it can.
    """

    attribute: str | None
    word: str | None
    n_rows: int
    group: str | None
    problem: InputError | None = None


class Conditions(ABC):
    """A form of a file: the cells by which its rows name groups, and the conditions that they state.

    Attributes:
        columns: the file's columns it needs, in the order in which they are a0, a1, …
        known: for each column its words that have a meaning whatever they look like: None may be a religion. None in place of
            words stands for a column whose cells have a value unless they are empty, such as one of names.
        names: the columns that `selected` gives each row of `keys`; equal values mean the same condition.
    """

    columns: Sequence[str]
    known: Sequence[Collection[str] | None]

    def __init__(self, path: Path, n_cells: int, descriptors: Iterable[str] = ()) -> None:
        self._path = path
        # The columns that state a condition; those after them hold the descriptors of some attributes.
        self._cells = [f"a{index}" for index in range(n_cells)]
        self._descriptor_at = {attribute: n_cells + index for index, attribute in enumerate(descriptors)}
        self._stated: list[Stated] = []
        self.names = ["condition", *(f"descriptor_{place}" for place in self._descriptor_at.values())]

    def check(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Read the table `keys` and number its conditions; raise InputError for the first wrong value."""
        cells = "".join(f", {cell}" for cell in self._cells)
        found = connection.execute(
            f"select min(file_row) as first_row{cells} from keys group by all order by first_row"
        )
        numbers: dict[Stated, int] = {}
        rows = [
            (*words, numbers.setdefault(self._meaning(row, *words), len(numbers)))
            for row, *words in _each(found)
        ]
        self._stated = list(numbers)
        columns = [*(f"{cell} varchar" for cell in self._cells), "condition integer"]
        connection.execute(f"create table conditions ({', '.join(columns)})")
        listed = ", ".join("unnest(?)" for _ in columns)
        connection.execute(
            f"insert into conditions select {listed}", list(map(list, zip(*rows, strict=True)))
        )

    @abstractmethod
    def _meaning(self, row: int, *words: str | None) -> Stated:
        """Return the condition that a row's cells state; raise InputError where one of them means nothing."""

    @abstractmethod
    def words(self, connection: duckdb.DuckDBPyConnection, most: int) -> list[FoundWord]:
        """Return the words for groups in the table `keys` and their meaning, the `most` frequent of each attribute first."""

    def without_group(self) -> Mapping[str, tuple[str, str]]:
        """Return attribute -> as SQL whether a row with a condition names no group of it, and what its cell holds."""
        return {}

    @property
    def joins(self) -> str:
        """Return the join to `keys` that adds the condition, as SQL."""
        same = (f"conditions.{cell} is not distinct from keys.{cell}" for cell in self._cells)
        return f"inner join conditions on {' and '.join(same) or 'true'}"

    @property
    def selected(self) -> str:
        """Return the select list of the columns of `names`, as SQL."""
        descriptors = (
            f"case when {self._names_group_of(attribute)} then keys.a{place} end as descriptor_{place}"
            for attribute, place in self._descriptor_at.items()
        )
        return ", ".join(["condition", *descriptors])

    @property
    def names_group(self) -> str:
        """Return whether a row with a condition names a group, as SQL."""
        return self._is_one_where(lambda stated: bool(stated.attributes))

    def _names_group_of(self, attribute: str) -> str:
        return self._is_one_where(lambda stated: any(one.attribute == attribute for one in stated.attributes))

    def _is_one_where(self, test: Callable[[Stated], bool]) -> str:
        numbers = [str(number) for number, stated in enumerate(self._stated) if test(stated)]
        return f"(condition in ({', '.join(numbers)}))" if numbers else "false"

    def stated(self, found: Mapping[str, Any]) -> Stated:
        """Return the meaning of the values of the columns of `names`; `found` may also hold a row's descriptor and slot.

        What states a group is the row's descriptor, or that of its attribute, or else the spec's.
        """
        stated = self._stated[int(found["condition"])]
        attributes = []
        for one in stated.attributes:
            place = self._descriptor_at.get(one.attribute)
            own = None if place is None else found[f"descriptor_{place}"]
            descriptor = found.get("descriptor") or own or one.descriptor
            attributes.append(replace(one, slot=found.get("slot", 1), descriptor=descriptor))
        return replace(stated, attributes=tuple(attributes))


def conditions_of(audit: Audit, path: Path) -> Conditions:
    """Return the form that an audit's import describes."""
    assert audit.imported is not None
    columns = audit.imported.columns
    if columns.attribute is not None and columns.value is not None:
        return LongForm(audit, columns.attribute, columns.value, path)
    return WideForm(audit, audit.imported, path)


class WideForm(Conditions):
    """A file with a column for each attribute: each row names a group of every attribute, unless a value means none."""

    def __init__(self, audit: Audit, imported: Import, path: Path) -> None:
        # Attribute -> its column, and what its words say.
        self._mapped = dict(imported.columns.attributes)
        values = dict(imported.values)
        if (own := imported.columns.attribute_of_texts(audit.attributes)) is not None:
            # Each row of the file became one for each group.
            self._mapped[own] = GROUP_COLUMN
            values[own] = {"": None} if "" in imported.columns.texts else {}
        descriptors = {
            name: column for name, column in imported.columns.descriptors.items() if name in self._mapped
        }
        super().__init__(path, len(self._mapped), descriptors)
        self.columns = [*self._mapped.values(), *descriptors.values()]
        self._groups = {name: audit.attributes[name].groups for name in self._mapped}
        # A row with a descriptor of its own is identified by that, whatever word names its group.
        self._has_own_descriptor = imported.columns.descriptor is not None
        # Attribute -> the words for its groups; None for the word that says that a row names no group.
        self._meanings: dict[str, dict[str, str | None]] = {
            name: {
                **{word: group for group, listed in groups.items() for word in (*listed, group)},
                **values.get(name, {}),
            }
            for name, groups in self._groups.items()
        }
        self.known = [*self._meanings.values(), *(None for _ in descriptors)]

    def check(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Raise for the first value that is no group's name, descriptor or stated value; number the others' conditions."""
        for index, (attribute, meaning) in enumerate(self._meanings.items()):
            found = connection.execute(
                f"select min(file_row) as first_row, a{index}, arg_min_null(m{index}, row_number) from keys "
                f"group by a{index} order by first_row"
            )
            for row, word, nothing in _each(found):
                if (word or "") not in meaning:
                    raise self._unknown(row, attribute, word, nothing)
            if attribute in self._descriptor_at:
                self._require_descriptor(connection, index, attribute)
        super().check(connection)

    def words(self, connection: duckdb.DuckDBPyConnection, most: int) -> list[FoundWord]:
        """Return the words in each attribute's column and their meaning."""
        found = []
        for index, (attribute, meaning) in enumerate(self._meanings.items()):
            for row, word, n_rows in connection.execute(
                f"select min(file_row), a{index}, count(*) from keys group by a{index} order by 3 desc, 1 limit {most}"
            ).fetchall():
                problem = None if (word or "") in meaning else self._unknown(row, attribute, word)
                found.append(FoundWord(attribute, word, n_rows, meaning.get(word or ""), problem))
        return found

    def _unknown(self, row: int, attribute: str, word: str | None, nothing: str | None = None) -> InputError:
        meaning, groups = self._meanings[attribute], self._groups[attribute]
        return _unknown_value(
            self._path, row, self._mapped[attribute], word, attribute, meaning, groups, nothing=nothing
        )

    def _require_descriptor(self, connection: duckdb.DuckDBPyConnection, index: int, attribute: str) -> None:
        """Raise for the first row that names a group of an attribute without a descriptor."""
        place = self._descriptor_at[attribute]
        words = [literal(word) for word, group in self._meanings[attribute].items() if group is not None]
        for (row,) in connection.execute(
            f"select file_row from keys where coalesce(a{index}, '') in ({', '.join(words)}) and a{place} is null "
            f"order by row_number limit 1"
        ).fetchall():
            raise InputError(
                f"{self._path}: row {row} has no {self.columns[place]!r}; it should hold the descriptor, what states the row's "
                f"{attribute}."
            )

    def _meaning(self, row: int, *words: str | None) -> Stated:  # noqa: ARG002 (`check` has found all words to be known)
        named = []
        for word, (attribute, meaning) in zip(words, self._meanings.items(), strict=True):
            if (group := meaning[word or ""]) is not None:
                named.append(
                    PromptAttribute(1, attribute, group, self._descriptor(attribute, group, word or ""))
                )
        return Stated(tuple(named))

    def _descriptor(self, attribute: str, group: str, word: str) -> str:
        """Return what states a group where the row has no descriptor: of several, the row's own word."""
        listed = self._groups[attribute][group]
        if self._has_own_descriptor or attribute in self._descriptor_at:
            return ""
        return word if len(listed) > 1 else listed[0]

    def without_group(self) -> Mapping[str, tuple[str, str]]:
        """Return this of each attribute that has a column of the file."""
        return {
            attribute: (f"not {self._names_group_of(attribute)}", f"coalesce(a{index}, m{index}, '')")
            for index, (attribute, column) in enumerate(self._mapped.items())
            if column != GROUP_COLUMN
        }


class LongForm(Conditions):
    """Two columns, attribute and value: each row names one condition, or none where it is neutral."""

    def __init__(self, audit: Audit, attribute_column: str, value_column: str, path: Path) -> None:
        assert audit.imported is not None
        super().__init__(path, 2)
        self.columns = [attribute_column, value_column]
        self._attributes = audit.attributes
        self._conditions = audit.imported.conditions
        words = [word for attribute in self._attributes.values() for word in _words(attribute)]
        words += [word for condition in self._conditions.values() for word in condition.values]
        self.known = [{*self._attributes, *self._conditions}, words]

    def words(self, connection: duckdb.DuckDBPyConnection, most: int) -> list[FoundWord]:
        """Return the words in the two columns and their meaning."""
        found = []
        for row, named, word, n_rows in connection.execute(
            f"select min(file_row), a0, a1, count(*) from keys group by a0, a1 order by 4 desc, 1 limit {most}"
        ).fetchall():
            try:
                stated = self._meaning(row, named, word).attributes
            except InputError as error:
                found.append(FoundWord(named, word, n_rows, None, error))
            else:
                attribute, group = (stated[0].attribute, stated[0].group_name) if stated else (named, None)
                found.append(FoundWord(attribute, word, n_rows, group))
        return found

    def _meaning(self, row: int, *words: str | None) -> Stated:
        named, value = words
        if named is None:
            return Stated()
        condition = self._conditions.get(named)
        name = named if condition is None or condition.attribute is None else condition.attribute
        if condition is not None and condition.neutral:
            return Stated((), condition.language, condition.perturbation)
        if name not in self._attributes:
            hint = did_you_mean(named, [*self._attributes, *self._conditions])
            raise InputError(
                ended(
                    f"{self._path}: row {row} has {named!r} as {self.columns[0]!r}, which is no attribute{hint}"
                )
            )
        language = condition.language if condition is not None else None
        perturbation = condition.perturbation if condition is not None else None
        if value is None:
            return Stated((), language, perturbation)
        meaning = _words(self._attributes[name])
        group = meaning.get(value)
        if condition is not None and value in condition.values:
            own = condition.values[value]
            group = own.group
            language, perturbation = own.language or language, own.perturbation or perturbation
        if group is None:
            known = {**meaning, **dict.fromkeys(condition.values if condition is not None else (), "")}
            raise _unknown_value(
                self._path,
                row,
                self.columns[1],
                value,
                name,
                known,
                self._attributes[name].groups,
                in_values=False,
            )
        return Stated((PromptAttribute(1, name, group, value),), language, perturbation)


def odd_look(word: str) -> str | None:
    """Return why a word is probably no group; None for any other."""
    if _DATE.fullmatch(word):
        return "looks like a date, which spreadsheets make of groups such as 10-19,"
    return "stands for no value in most files" if is_missing(word) else None


def written_in_values(attribute: str, word: str) -> str:
    """Return how a spec says what such a word means."""
    meaning = "GROUP" if _DATE.fullmatch(word) else "null"
    return f"import.values: {{{attribute}: {{{(word if meaning == 'GROUP' else '')!r}: {meaning}}}}}"


def _words(attribute: Attribute) -> dict[str, str]:
    """Return the words for each group: its name, its descriptors and its other wordings; the name comes first."""
    words = {
        descriptor: group
        for wording in (*attribute.wordings, None)
        for group, listed in attribute.descriptors(wording).items()
        for descriptor in listed
    }
    return {**words, **{group: group for group in attribute.groups}}


def _each(cursor: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    # A wrong file may have as many values as rows; only the first are fetched.
    while batch := cursor.fetchmany(1000):
        yield from batch


def _unknown_value(
    path: Path,
    row: int,
    column: str,
    value: str | None,
    attribute: str,
    meaning: Mapping[str, str | None],
    groups: Iterable[str],
    *,
    in_values: bool = True,
    nothing: str | None = None,
) -> InputError:
    listed = ", ".join(map(repr, groups))
    if value is None:
        cell = "an empty cell" if nothing is None else "a cell without a value"
        meant = (
            f', or import.values says what {cell} means: {{{attribute}: {{"": null}}}}' if in_values else ""
        )
        given = "" if nothing is None else f" but {shown(nothing)}"
        return InputError(f"{path}: row {row} has no {column!r}{given}; it should be one of {listed}{meant}.")
    if in_values and (look := odd_look(value)):
        return InputError(
            f"{path}: row {row} has {value!r} as {column!r}, which {look} and is no group of {attribute} (known: {listed}); "
            f"say what it means: {written_in_values(attribute, value)}."
        )
    hint = did_you_mean(value, meaning)
    known = "" if hint.startswith("; known") else f" (known: {listed})"
    return InputError(
        f"{path}: row {row} has {shown(value)} as {column!r}, which is no group of {attribute}{hint}{known}"
    )
