"""Publishes the public tables into a PostgreSQL database over ADBC.

Everything happens in one transaction, so that readers see the tables of one build or of another, and never none. Rows are
deleted and copied in: after `truncate`, or a renaming, readers whose transaction began before would find a table empty. The
tables themselves stay, and with them the views, grants and indexes that others hang on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from biasledger.publishing.postgres_address import place, reason
from biasledger.publishing.postgres_session import (
    BUILD_TABLE,
    DENIED,
    DEPENDENT,
    LOCK_SECONDS,
    LOCKED,
    TABLES_TABLE,
    Session,
    dependents,
)
from biasledger.publishing.postgres_types import (
    MAX_KEY_BYTES,
    MAX_NAME_BYTES,
    PostgresColumn,
    PostgresTable,
    postgres_table,
)
from biasledger.publishing.published import DATABASE, Published
from biasledger.publishing.warehouse import PUBLICATION, PublishError
from collector.errors import InputError
from collector.sql import identifier, literal

if TYPE_CHECKING:
    import duckdb
    from adbc_driver_postgresql.dbapi import Connection

DEFAULT_SCHEMA = "biasledger"


@dataclass(frozen=True, slots=True)
class PostgresSummary:
    """The summary of a publication: the place, without a password; schema; numbers of tables and rows."""

    place: str
    schema: str
    n_tables: int
    n_rows: int


def publish_postgres(
    published: Published,
    uri: str,
    *,
    schema: str = DEFAULT_SCHEMA,
    on_note: Callable[[str], None] = lambda _note: None,
) -> PostgresSummary:
    """Copy all tables into a schema of a PostgreSQL database, replacing those of an earlier publication, in one transaction.

    Args:
        published: the tables.
        uri: `postgresql://user@host:port/database`; the password can be in it, in PGPASSWORD or in ~/.pgpass.
        schema: made if absent.
        on_note: called with a sentence for each table that cannot have its primary key, and for each old one that cannot go.

    Raises:
        InputError: the address is no URI, the extra is not installed, a name is too long, the schema holds tables of others by
            these names, or another publication is under way.
        PublishError: the database cannot be reached or refuses; nothing was changed.
    """
    tables = [
        _with_short_key(published.connection, postgres_table(table), on_note) for table in published.tables
    ]
    tables += _about(tables)
    _require_names(schema, tables)
    with _connection(uri) as connection, _errors_as_sentences(uri, schema):
        session = Session(connection, schema)
        session.begin()
        old = session.require_ours(tables)
        for table in tables:
            session.replace(published.connection, table)
        for name in sorted(old - {table.name for table in tables}):
            session.remove(name, on_note)
        connection.commit()
        session.tidy(tables)
    return PostgresSummary(
        place(uri), schema, len(published.tables), sum(table.n_rows for table in published.tables)
    )


def _about(tables: Sequence[PostgresTable]) -> list[PostgresTable]:
    """Tables about the publication: which build it is of, and which tables are ours to replace."""
    published_at = literal(datetime.now(UTC).replace(tzinfo=None).isoformat(sep=" "))
    listed = ", ".join(
        f"({literal(table.name)}, [{', '.join(literal(name) for name in table.key)}]::varchar[], {table.n_rows}::bigint)"
        for table in tables
    )
    text, moment = "text", "timestamp without time zone"
    return [
        PostgresTable(
            BUILD_TABLE,
            "Which build the tables of this schema are of: one row.",
            (
                PostgresColumn("build_id", text, False, "New in every build."),
                PostgresColumn("biasledger_version", text, False, "Of the package."),
                PostgresColumn("engine_version", text, True, "Of the measures."),
                PostgresColumn("built_at", moment, False, "When it was built, UTC."),
                PostgresColumn("published_at", moment, False, "When it was published here, UTC."),
            ),
            (),
            f"select build_id, biasledger_version, engine_version, built_at, timestamp {published_at} as published_at "
            f"from {DATABASE}.{PUBLICATION}.build",
            1,
        ),
        PostgresTable(
            TABLES_TABLE,
            "Grain: table. The tables that publications replace, with their keys and numbers of rows.",
            (
                PostgresColumn("table_name", text, False, "Key."),
                PostgresColumn("key_columns", "text[]", False, "The columns that identify its rows."),
                PostgresColumn("n_rows", "bigint", False, "How many rows it has."),
            ),
            ("table_name",),
            f"select * from (values {listed}) as tables (table_name, key_columns, n_rows)",
            len(tables),
        ),
    ]


def _with_short_key(
    source: duckdb.DuckDBPyConnection, table: PostgresTable, on_note: Callable[[str], None]
) -> PostgresTable:
    """Drop the key if a row's key is too long for an index, as an answer may be part of it."""
    types = {column.name: column.type for column in table.columns}
    texts = [name for name in table.key if types[name] == "text"]
    if not texts:
        return table
    length = " + ".join(f"coalesce(strlen({identifier(name)}), 0)" for name in texts)
    ((longest,),) = source.execute(f"select coalesce(max({length}), 0) from ({table.query})").fetchall()
    if longest <= MAX_KEY_BYTES:
        return table
    on_note(
        f"{table.name} gets no primary key: the text in one is {longest:,} bytes long, more than an index can hold."
    )
    return replace(table, key=())


def _require_names(schema: str, tables: Sequence[PostgresTable]) -> None:
    if schema.casefold().startswith("pg_") or schema.casefold() == "information_schema":
        raise InputError(f"{schema!r} is a schema of PostgreSQL itself: name another one.")
    names = [
        schema,
        *(name for table in tables for name in (table.name, *(column.name for column in table.columns))),
    ]
    for name in names:
        if not 0 < len(name.encode()) <= MAX_NAME_BYTES:
            raise InputError(f"{name!r} cannot be a name in PostgreSQL: at most {MAX_NAME_BYTES} bytes are.")
    reserved = {table.name for table in tables[:-2]} & {BUILD_TABLE, TABLES_TABLE}
    if reserved:
        raise InputError(f"{min(reserved)!r} is a name that publications need: rename the model (alias).")


@contextmanager
def _connection(uri: str) -> Iterator[Connection]:
    try:
        from adbc_driver_postgresql import dbapi
        from adbc_driver_postgresql.dbapi import Error
    except ImportError as error:
        raise InputError(
            f"Publishing into PostgreSQL needs the extra 'postgres', of which {error.name or error} is missing: "
            "pip install 'biasledger[postgres]' (adbc-driver-postgresql and pyarrow)."
        ) from None
    where = place(uri)
    try:
        connection = dbapi.connect(uri)
    except Error as error:
        # Not as the cause: a traceback would show what libpq says, and that may quote the password.
        raise PublishError(f"{where} cannot be reached: {reason(error, uri)}") from None
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def _errors_as_sentences(uri: str, schema: str) -> Iterator[None]:
    """Turn errors of the database or DuckDB within the block into sentences."""
    import duckdb
    from adbc_driver_postgresql.dbapi import Error

    try:
        yield
    except (Error, duckdb.Error) as error:
        state = error.sqlstate if isinstance(error, Error) else None
        said = reason(error, uri)
        if state == DEPENDENT and isinstance(error, Error):
            said = f"a column has changed, and {dependents(error)}; drop it and create it again, or publish into another schema."
        elif state == LOCKED:
            said = (
                f"another session has held one of its tables for more than {LOCK_SECONDS} seconds; try again."
            )
        elif state == DENIED:
            said += " The user needs the right to create the schema, or to own it and its tables."
        raise PublishError(f"Nothing was changed in schema {schema} of {place(uri)}: {said}") from None
