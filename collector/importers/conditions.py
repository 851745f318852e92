"""Find the groups that a row of a file names: one column an attribute (wide form), or one condition a row (long form).

Both forms read the table `keys`, which has a row_number, the file_row that error sentences name, and the form's columns as a0,
a1, … (trimmed and composed; null without a value, and then m0, m1, … have the original, such as #N/A). They give each
row what makes its prompt: SQL columns that `stated` turns into groups, language and perturbation.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from collector.errors import InputError
from collector.hints import did_you_mean, shown
from collector.spec.prompts import PromptAttribute
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


class Conditions(Protocol):
    """A form of a file.

    Attributes:
        columns: the file's columns it needs, in the order in which they are a0, a1, …
        names: the columns that `joins` adds to the rows of `keys`; equal values mean the same condition.
        known: for each column its words that have a meaning whatever they look like: None may be a religion. None in place of
            words stands for a column whose cells have a value unless they are empty, such as one of names.
    """

    columns: Sequence[str]
    names: Sequence[str]

    @property
    def known(self) -> Sequence[Collection[str] | None]:
        """Return the words of each column."""
        ...

    def check(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Read the table `keys` and make the tables that `joins` needs; raise InputError for the first wrong value."""
        ...

    def words(self, connection: duckdb.DuckDBPyConnection, most: int) -> list[FoundWord]:
        """Return the words for groups in the table `keys` and their meaning, the `most` frequent of each attribute first."""
        ...

    def without_group(self) -> Mapping[str, tuple[str, str]]:
        """Return attribute -> as SQL whether a row of `keys` and the joins names no group of it, and what its cell holds."""
        ...

    @property
    def joins(self) -> str:
        """Return the joins to `keys` that add the columns of `names`, as SQL."""
        ...

    @property
    def selected(self) -> str:
        """Return the select list of the columns of `names`, as SQL."""
        ...

    @property
    def names_group(self) -> str:
        """Return whether a row names a group, as SQL over `keys` and the joins."""
        ...

    def stated(self, found: Mapping[str, Any]) -> Stated:
        """Return the meaning of the values of the columns of `names`; `found` may also hold a row's descriptor and slot."""
        ...


def conditions_of(audit: Audit, path: Path) -> Conditions:
    """Return the form that an audit's import describes."""
    assert audit.imported is not None
    columns = audit.imported.columns
    if columns.attribute is not None and columns.value is not None:
        return LongForm(audit, columns.attribute, columns.value, path)
    return WideForm(audit, audit.imported, path)


class WideForm:
    """A file with a column for each attribute: each row names a group of every attribute, unless a value means none."""

    def __init__(self, audit: Audit, imported: Import, path: Path) -> None:
        mapped = dict(imported.columns.attributes)
        values = dict(imported.values)
        if (own := imported.columns.attribute_of_texts(audit.attributes)) is not None:
            # Each row of the file became one for each group.
            mapped[own] = GROUP_COLUMN
            values[own] = {"": None} if "" in imported.columns.texts else {}
        descriptors = {
            name: column for name, column in imported.columns.descriptors.items() if name in mapped
        }
        self.columns: Sequence[str] = [*mapped.values(), *descriptors.values()]
        # Attribute -> the column, among a0, a1, …, of what states it in each row.
        self._descriptor_at = {name: f"a{len(mapped) + place}" for place, name in enumerate(descriptors)}
        self.names: Sequence[str] = [
            f"{kind}_{index}" for index in range(len(mapped)) for kind in ("group", "descriptor")
        ]
        self._groups = {name: audit.attributes[name].groups for name in mapped}
        # A row with a descriptor of its own is identified by that, whatever word names its group.
        self._has_own_descriptor = imported.columns.descriptor is not None
        self._values = values
        self._path = path
        self.known: Sequence[Collection[str] | None] = [
            *map(self._meaning, mapped),
            *(None for _ in descriptors),
        ]

    def check(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Raise for the first value that is no group's name, descriptor or stated value; keep the others' meaning."""
        for index, (attribute, groups) in enumerate(self._groups.items()):
            meaning = self._meaning(attribute)
            connection.execute(
                f"create table words_{index} (word varchar, group_name varchar, descriptor varchar)"
            )
            connection.executemany(
                f"insert into words_{index} values (?, ?, ?)",
                [[word, group, self._descriptor(word, groups, group)] for word, group in meaning.items()],
            )
            wrong = connection.execute(
                f"select file_row, a{index}, m{index} from keys "
                f"where coalesce(a{index}, '') not in (select word from words_{index}) order by row_number limit 1"
            ).fetchall()
            for row, value, nothing in wrong:
                raise _unknown_value(
                    self._path, row, self.columns[index], value, attribute, meaning, groups, nothing=nothing
                )
            self._require_descriptor(connection, index, attribute)

    def words(self, connection: duckdb.DuckDBPyConnection, most: int) -> list[FoundWord]:
        """Return the words in each attribute's column and their meaning."""
        found = []
        for index, (attribute, groups) in enumerate(self._groups.items()):
            meaning = self._meaning(attribute)
            for row, word, n_rows in connection.execute(
                f"select min(file_row), a{index}, count(*) from keys group by a{index} order by 3 desc, 1 limit {most}"
            ).fetchall():
                wrong = (word or "") not in meaning
                problem = (
                    _unknown_value(self._path, row, self.columns[index], word, attribute, meaning, groups)
                    if wrong
                    else None
                )
                found.append(FoundWord(attribute, word, n_rows, meaning.get(word or ""), problem))
        return found

    def _meaning(self, attribute: str) -> dict[str, str | None]:
        """Return the words for each group of an attribute; None for the word that says that a row names no group."""
        meaning: dict[str, str | None] = {
            word: group for group, listed in self._groups[attribute].items() for word in (*listed, group)
        }
        return meaning | dict(self._values.get(attribute, {}))

    def _require_descriptor(self, connection: duckdb.DuckDBPyConnection, index: int, attribute: str) -> None:
        """Raise for the first row that names a group of an attribute without a descriptor."""
        at = self._descriptor_at.get(attribute)
        if at is None:
            return
        for (row,) in connection.execute(
            f"select file_row from keys inner join words_{index} as words on words.word = coalesce(keys.a{index}, '') "
            f"where words.group_name is not null and {at} is null order by row_number limit 1"
        ).fetchall():
            column = self.columns[int(at.removeprefix("a"))]
            raise InputError(
                f"{self._path}: row {row} has no {column!r}; it should hold the descriptor, what states the row's {attribute}."
            )

    def without_group(self) -> Mapping[str, tuple[str, str]]:
        """Return this of each attribute that has a column of the file."""
        return {
            attribute: (f"group_{index} is null", f"coalesce(a{index}, m{index}, '')")
            for index, (attribute, column) in enumerate(zip(self._groups, self.columns, strict=False))
            if column != GROUP_COLUMN
        }

    @property
    def joins(self) -> str:
        """Return one join an attribute."""
        return " ".join(
            f"inner join words_{index} on words_{index}.word = coalesce(keys.a{index}, '')"
            for index in range(len(self._groups))
        )

    @property
    def selected(self) -> str:
        """Return each attribute's group and descriptor."""
        return ", ".join(
            f"words_{index}.group_name as group_{index}, {self._descriptor_of(index, attribute)} as descriptor_{index}"
            for index, attribute in enumerate(self._groups)
        )

    def _descriptor_of(self, index: int, attribute: str) -> str:
        """Return the descriptor of an attribute in a row, as SQL: its own column, or else the spec's descriptor of the group."""
        at = self._descriptor_at.get(attribute)
        return (
            f"words_{index}.descriptor"
            if at is None
            else f"case when words_{index}.group_name is not null then keys.{at} end"
        )

    @property
    def names_group(self) -> str:
        """Return whether any attribute's value names a group."""
        groups = [f"words_{index}.group_name is not null" for index in range(len(self._groups))]
        return f"({' or '.join(groups) or 'false'})"

    def stated(self, found: Mapping[str, Any]) -> Stated:
        """Return the groups that are named, with the descriptor of the row or else those that the spec gives them."""
        descriptor = found.get("descriptor")
        return Stated(
            tuple(
                PromptAttribute(
                    found.get("slot", 1),
                    attribute,
                    found[f"group_{index}"],
                    descriptor or found[f"descriptor_{index}"],
                )
                for index, attribute in enumerate(self._groups)
                if found[f"group_{index}"] is not None
            )
        )

    def _descriptor(self, word: str, groups: Mapping[str, Sequence[str]], group: str | None) -> str | None:
        """Return what states a group: of several descriptors, the row's own word; what names no group has none."""
        if group is None or self._has_own_descriptor:
            return None
        return word if len(groups[group]) > 1 else groups[group][0]


class LongForm:
    """Two columns, attribute and value: each row names one condition, or none where it is neutral."""

    names: Sequence[str] = ("condition",)

    def __init__(self, audit: Audit, attribute_column: str, value_column: str, path: Path) -> None:
        assert audit.imported is not None
        self.columns: Sequence[str] = [attribute_column, value_column]
        self._attributes = audit.attributes
        self._conditions = audit.imported.conditions
        self._path = path
        self._stated: list[Stated] = []
        words = [word for attribute in self._attributes.values() for word in _words(attribute)]
        words += [word for condition in self._conditions.values() for word in condition.values]
        self.known: Sequence[Collection[str] | None] = [{*self._attributes, *self._conditions}, words]

    def check(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Raise for the first attribute or value that neither the spec nor its `conditions` know; number the others."""
        pairs = connection.execute(
            "select min(file_row) as first_row, a0, a1 from keys group by a0, a1 order by first_row"
        )
        numbers: dict[Stated, int] = {}
        rows = [
            [attribute, value, numbers.setdefault(self._meaning(row, attribute, value), len(numbers))]
            for row, attribute, value in _each(pairs)
        ]
        self._stated = list(numbers)
        connection.execute("create table conditions (a0 varchar, a1 varchar, condition integer)")
        connection.executemany("insert into conditions values (?, ?, ?)", rows)

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

    def without_group(self) -> Mapping[str, tuple[str, str]]:
        """Return nothing: a row without a condition is neutral."""
        return {}

    @property
    def joins(self) -> str:
        """Return the join to the numbered conditions."""
        return (
            "inner join conditions on conditions.a0 is not distinct from keys.a0 "
            "and conditions.a1 is not distinct from keys.a1"
        )

    @property
    def selected(self) -> str:
        """Return the condition's number."""
        return "conditions.condition"

    @property
    def names_group(self) -> str:
        """Return whether the condition is that of a group."""
        numbers = [str(number) for number, one in enumerate(self._stated) if one.attributes]
        return f"(conditions.condition in ({', '.join(numbers)}))" if numbers else "false"

    def stated(self, found: Mapping[str, Any]) -> Stated:
        """Return the condition's meaning, with the descriptor as it is in the file."""
        return self._stated[int(found["condition"])]

    def _meaning(self, row: int, named: str | None, value: str | None) -> Stated:
        if named is None:
            return Stated()
        condition = self._conditions.get(named)
        name = named if condition is None or condition.attribute is None else condition.attribute
        if condition is not None and condition.neutral:
            return Stated((), condition.language, condition.perturbation)
        if name not in self._attributes:
            hint = did_you_mean(named, [*self._attributes, *self._conditions])
            raise InputError(
                f"{self._path}: row {row} has {named!r} as {self.columns[0]!r}, which is no attribute{_stop(hint)}"
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


def _stop(hint: str) -> str:
    return hint if hint.endswith("?") else f"{hint}."
