"""The published warehouse as something to publish further: its tables, their columns, keys and comments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from biasledger.opening import attach_read_only
from biasledger.publishing.warehouse import (
    MEMORY_LIMIT,
    PUBLICATION,
    BuildInfo,
    Column,
    columns_of,
    count_rows,
)
from collector.errors import InputError
from collector.sql import identifier

if TYPE_CHECKING:
    import duckdb

DATABASE = "published"


@dataclass(frozen=True, slots=True)
class Table:
    """A published table.

    Attributes:
        schema, name: its place in the warehouse; names are unique.
        comment: its grain and what it is for.
        key: the columns that together identify its rows; empty if that is not tested.
        columns: in order.
        n_rows: how many.
    """

    schema: str
    name: str
    comment: str | None
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    n_rows: int

    @property
    def source(self) -> str:
        """Its name in SQL."""
        return f"{DATABASE}.{identifier(self.schema)}.{identifier(self.name)}"


@dataclass(frozen=True, slots=True)
class Published:
    """A published warehouse, open for reading.

    Attributes:
        path: its file.
        connection: to read it with; it is attached as `published`.
        build: which build made it.
        tables: all of them, by name.
    """

    path: Path
    connection: duckdb.DuckDBPyConnection
    build: BuildInfo
    tables: tuple[Table, ...]


@contextmanager
def open_published(warehouse: Path) -> Iterator[Published]:
    """Open the published warehouse read-only for the block; a build meanwhile does not change what is read.

    Raises:
        InputError: there is none, it was not made by `biasledger build`, or two of its tables have the same name.
        BiasledgerError: it cannot be read.
    """
    # Attached rather than opened: a connection to a read-only file writes no other one.
    with attach_read_only(warehouse, DATABASE) as connection:
        connection.execute("set memory_limit = ?", [MEMORY_LIMIT])
        yield Published(warehouse, connection, _build(connection, warehouse), _tables(connection))


def _build(connection: duckdb.DuckDBPyConnection, warehouse: Path) -> BuildInfo:
    is_published = connection.execute(
        "select 1 from duckdb_tables() where database_name = ? and schema_name = ? and table_name = 'build'",
        [DATABASE, PUBLICATION],
    ).fetchall()
    if not is_published:
        raise InputError(
            f"{warehouse} was not published by `biasledger build`, so nothing says which of its tables are public: run it first."
        )
    # A version before this one wrote no hash of erasures; then the columns end before it.
    rows: list[tuple[str, datetime, str, str | None]] = connection.execute(
        f"from {DATABASE}.{PUBLICATION}.build"
    ).fetchall()
    return BuildInfo(*rows[0])


def _tables(connection: duckdb.DuckDBPyConnection) -> tuple[Table, ...]:
    listed = connection.execute(
        f"""
        select published.schema_name, published.table_name, published.key_columns, tables.comment
        from {DATABASE}.{PUBLICATION}.tables as published
        inner join duckdb_tables() as tables
            on tables.database_name = '{DATABASE}' and published.schema_name = tables.schema_name
                and published.table_name = tables.table_name
        order by published.table_name, published.schema_name
        """
    ).fetchall()
    for name, count in Counter(name.lower() for _, name, _, _ in listed).items():
        if count > 1:
            raise InputError(
                f"{count} published tables are called {name!r}: rename one of the models (alias)."
            )
    columns = columns_of(connection, DATABASE)
    n_rows = count_rows(connection, DATABASE, [(schema, name) for schema, name, *_ in listed])
    return tuple(
        Table(schema, name, comment, tuple(key), tuple(columns[schema, name]), n_rows[schema, name])
        for schema, name, key, comment in listed
    )
