"""Run one reading statement on the published tables; an error is one sentence with the nearest name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biasledger.querying.tables import SHARED, DescribedTable, described_tables
from collector.errors import InputError
from collector.hints import did_you_mean

if TYPE_CHECKING:
    import duckdb

_READING = frozenset({"SELECT", "EXPLAIN"})
_FETCHED = 10_000
_NO_TABLE = re.compile(r'Table with name "?(?P<name>[^"\s]+)"? does not exist')
_NO_COLUMN = (
    re.compile(r'Referenced column "(?P<name>[^"]+)" not found'),
    re.compile(r'(?:Table|Values list) "(?P<table>[^"]+)" does not have a column named "(?P<name>[^"]+)"'),
)
_LINE = re.compile(r"LINE (?P<line>\d+): ")
_CLOSED = "a query reads the published tables alone, no files, no settings and no other databases"


@dataclass(frozen=True)
class Result:
    """The result of a statement: the columns' names as shown, and the rows, which are fetched while they are read."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]


def run_statement(connection: duckdb.DuckDBPyConnection, sql: str, *, fetched: int = _FETCHED) -> Result:
    """Run one statement that reads, on a connection of `locked_warehouse`; so many rows are fetched at a time.

    Raises:
        InputError: as `open_statement`.
    """
    cursor = open_statement(connection, sql)
    return Result(tuple(column[0] for column in cursor.description or ()), _fetched(cursor, sql, fetched))


def open_statement(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyConnection:
    """Return the same, not yet fetched; fetch within `statement_errors_as_sentences`.

    DuckDB's own parser says how many statements there are and what they do, as it is the one that runs them.

    Raises:
        InputError: no statement or several, one that does not read, an unknown name, or another error that DuckDB finds.
    """
    with statement_errors_as_sentences(connection, sql):
        statements = connection.extract_statements(sql)
        if len(statements) != 1:
            raise InputError(f"The query has {len(statements) or 'no'} statements and should have one.")
        try:
            kind = statements[0].type.name
        except ValueError:
            # DuckDB's package has no name for some kinds, such as `update extensions`.
            kind = "this statement"
        if kind not in _READING and not (kind == "MULTI" and _is_pivot(sql)):
            raise InputError(
                f"A query only reads: {kind} is refused; it should be a select, from, with, pivot, describe, summarize, show or "
                "explain."
            )
        return connection.execute(sql)


@contextmanager
def statement_errors_as_sentences(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[None]:
    """Say in a sentence what DuckDB finds wrong with a statement in the block, also where only a row shows it.

    Raises:
        InputError: it found something.
    """
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise InputError(_sentence(connection, sql, error)) from error


def _fetched(cursor: duckdb.DuckDBPyConnection, sql: str, n: int) -> Iterator[tuple[Any, ...]]:
    with statement_errors_as_sentences(cursor, sql):
        while rows := cursor.fetchmany(n):
            yield from rows


def _is_pivot(sql: str) -> bool:
    """Allow several statements only for a PIVOT without a list of values, which DuckDB splits in two."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        return isinstance(sqlglot.parse_one(sql, dialect="duckdb"), sqlglot.exp.Pivot)
    except SqlglotError:
        return False


def _sentence(connection: duckdb.DuckDBPyConnection, sql: str, error: duckdb.Error) -> str:
    message = str(error)
    if table := _NO_TABLE.search(message):
        return _no_table(connection, table["name"])
    for pattern in _NO_COLUMN:
        if column := pattern.search(message):
            return _no_column(connection, sql, column["name"])
    kind, _, rest = message.partition(": ")
    # After an empty line DuckDB repeats the query and points at a place.
    reason = " ".join(rest.split("\n\nLINE ")[0].split()).rstrip(".!")
    if "configuration" in reason and kind in {"Permission Error", "Invalid Input Error"}:
        return f"The query is refused: {_CLOSED}."
    return f"The query cannot be run: {reason}{_place(message)}."


def _place(message: str) -> str:
    """Return where DuckDB's caret points, as line and column of the query; it is cut off at the left of long lines."""
    lines = message.splitlines()
    shown = next((index for index, line in enumerate(lines) if _LINE.match(line)), None)
    if shown is None or shown + 1 >= len(lines) or lines[shown].partition(": ")[2].startswith("..."):
        return ""
    prefix = _LINE.match(lines[shown])
    assert prefix is not None
    column = lines[shown + 1].find("^") - prefix.end() + 1
    return f" (line {prefix['line']}, column {column})" if column > 0 else ""


def _columns(connection: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    """Table -> its columns, for what is published."""
    rows = connection.execute(
        "select table_name, list(column_name order by ordinal_position) from information_schema.columns "
        "where table_catalog = current_database() group by table_name"
    ).fetchall()
    return dict(sorted(rows))


def _no_table(connection: duckdb.DuckDBPyConnection, name: str) -> str:
    described = {table.name: table for table in described_tables()}
    if name in described:
        return f"The warehouse has no table {name!r}: {_why_absent(described[name])}."
    private = " (staging and intermediate tables are not published)" if name[:4] in {"int_", "stg_"} else ""
    return f"There is no table {name!r}{private}{did_you_mean(name, _columns(connection)) or '.'}"


def _why_absent(table: DescribedTable) -> str:
    _, _, condition = table.description.partition("Only there ")
    if condition:
        return f"it is only there {condition.rstrip('.')}"
    if table.method == SHARED:
        return "it was built by an older version, and `biasledger build` makes it"
    return f"it is one of the method {table.method}, and no audit of that kind has been built"


def _no_column(connection: duckdb.DuckDBPyConnection, sql: str, name: str) -> str:
    read = _tables_read(sql)
    columns = {table: columns for table, columns in _columns(connection).items() if table in read}
    known = dict.fromkeys(column for table in columns.values() for column in table)
    where = f" in {' or '.join(columns)}" if columns else ""
    return f"There is no column {name!r}{where}{did_you_mean(name, known) or '.'}"


def _tables_read(sql: str) -> frozenset[str]:
    """Return the tables that a query names; none where sqlglot cannot read what DuckDB can."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        parsed = sqlglot.parse_one(sql, dialect="duckdb")
    except SqlglotError:
        return frozenset()
    return frozenset(table.name for table in parsed.find_all(sqlglot.exp.Table))
