"""Publish into a schema of a PostgreSQL database: create, alter, fill and drop tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from biasledger.publishing.postgres_types import MAX_NAME_BYTES, PostgresTable
from biasledger.publishing.warehouse import PublishError
from collector.errors import InputError
from collector.sql import identifier, literal

if TYPE_CHECKING:
    import duckdb
    from adbc_driver_postgresql.dbapi import Connection

BUILD_TABLE, TABLES_TABLE = "published_build", "published_tables"
LOCK_SECONDS = 60
DEPENDENT, LOCKED, DENIED = "2BP01", "55P03", "42501"
# Rows that are in memory at once.
_BATCH_ROWS = 50_000
_NULLS_NOT_DISTINCT = 150_000  # the first version of PostgreSQL that knows it


class Session:
    """A publication into one schema."""

    def __init__(self, connection: Connection, schema: str) -> None:
        self._connection = connection
        self._schema = schema
        self._version = 0

    def begin(self) -> None:
        """Begin the transaction; keep other publications out, and make the schema."""
        self._do("set standard_conforming_strings = on")
        self._do(f"set lock_timeout = '{LOCK_SECONDS}s'")
        self._do("set client_min_messages = error")
        lock = f"hashtextextended({literal(f'biasledger publish {self._schema}')}, 0)"
        if not self._fetch_one(f"select pg_try_advisory_xact_lock({lock})"):
            raise InputError(
                f"Another `biasledger publish` writes into schema {self._schema}: wait until it ends."
            )
        self._version = int(self._fetch_one("select current_setting('server_version_num')"))
        known = self._fetch_one(f"select count(*) from pg_namespace where nspname = {literal(self._schema)}")
        if not known:
            self._do(f"create schema {identifier(self._schema)}")

    def require_ours(self, tables: Sequence[PostgresTable]) -> set[str]:
        """Check that nothing of others is in the way, and return the names of the tables published before."""
        present: dict[str, str] = dict(
            self._fetch(
                "select relname, relkind::text from pg_class "
                f"where relnamespace = {literal(identifier(self._schema))}::regnamespace "
                "and relkind in ('r', 'p', 'v', 'm', 'f')"
            )
        )
        ours: set[str] = set()
        if present.get(TABLES_TABLE) == "r":
            listed = self._fetch(f"select table_name from {self._name(TABLES_TABLE)}")
            ours = {name for (name,) in listed if present.get(name) == "r"} | {TABLES_TABLE, BUILD_TABLE}
        foreign = sorted({table.name for table in tables} & (present.keys() - ours))
        if foreign:
            raise InputError(
                f"The schema {self._schema} holds a table or view {foreign[0]}, which no earlier publication made: "
                "name another schema with --schema."
            )
        return ours & present.keys()

    def replace(self, source: duckdb.DuckDBPyConnection, table: PostgresTable) -> None:
        """Replace a table's rows, having made it or brought it to its present columns and key."""
        name = self._name(table.name)
        present = self._columns(table.name)
        if present:
            self._do(f"delete from {name}")
            self._alter(table, present)
        else:
            definitions = ", ".join(column.definition for column in table.columns)
            self._do(f"create table {name} ({definitions})")
        self._key(table)
        reader = source.sql(table.query).to_arrow_reader(_BATCH_ROWS)
        with self._connection.cursor() as cursor:
            n_rows = cursor.adbc_ingest(table.name, reader, mode="append", db_schema_name=self._schema)
        if n_rows != table.n_rows:
            raise PublishError(f"{table.name} has {table.n_rows} rows, of which {n_rows} arrived.")
        self._comment(table)

    def remove(self, name: str, on_note: Callable[[str], None]) -> None:
        """Drop a table that is public no longer; one that views depend on stays, empty, so that they still work."""
        # Tried within the server: an error that reached the driver would end the transaction.
        setting = "'biasledger.depends'"
        self._do(
            f"""
            do $biasledger$ declare depends text; begin
                perform set_config({setting}, '', true);
                drop table {self._name(name)};
            exception when dependent_objects_still_exist then
                get stacked diagnostics depends = pg_exception_detail;
                perform set_config({setting}, depends, true);
                delete from {self._name(name)};
                -- Still ours: the next publication may fill it again, or drop it.
                insert into {self._name(TABLES_TABLE)} values ({literal(name)}, '{{}}', 0);
            end $biasledger$
            """
        )
        depends = " ".join(str(self._fetch_one(f"select current_setting({setting})")).split())
        if depends:
            on_note(f"{self._schema}.{name} is no longer published; it stays, empty, because {depends}.")

    def tidy(self, tables: Sequence[PostgresTable]) -> None:
        """Free the space of the old rows, which no vacuum has been to yet; what cannot be done now the server does later."""
        from adbc_driver_postgresql.dbapi import Error

        self._connection.adbc_connection.set_autocommit(True)
        for table in tables:
            with suppress(Error):
                self._do(f"vacuum (analyze) {self._name(table.name)}")

    def _columns(self, table: str) -> dict[str, tuple[str, bool]]:
        """Return name -> type and whether it may be null."""
        rows = self._fetch(
            "select attname, format_type(atttypid, atttypmod), not attnotnull from pg_attribute "
            f"where attrelid = to_regclass({literal(self._name(table))}) and attnum > 0 and not attisdropped"
        )
        return {name: (type_, is_nullable) for name, type_, is_nullable in rows}

    def _alter(self, table: PostgresTable, present: dict[str, tuple[str, bool]]) -> None:
        """Bring an emptied table to its columns; those that did not change stay as they are, with all that hangs on them."""
        wanted = {column.name: column for column in table.columns}
        gone = [
            name for name, (type_, _) in present.items() if name not in wanted or wanted[name].type != type_
        ]
        changes = [f"drop column {identifier(name)}" for name in gone]
        for column in table.columns:
            if column.name not in present or column.name in gone:
                changes.append(f"add column {column.definition}")
            elif column.is_nullable and not present[column.name][1]:
                changes.append(f"alter column {identifier(column.name)} drop not null")
            elif not column.is_nullable and present[column.name][1]:
                changes.append(f"alter column {identifier(column.name)} set not null")
        self._drop_other_key(table)
        # One by one: a column cannot be dropped and added in one statement.
        for change in changes:
            self._do(f"alter table {self._name(table.name)} {change}")

    def _kind(self, table: PostgresTable) -> str:
        """Return the kind of constraint for a table's key: a primary key's columns cannot be null."""
        if not {column.name for column in table.columns if column.is_nullable} & set(table.key):
            return "primary key"
        return "unique nulls not distinct" if self._version >= _NULLS_NOT_DISTINCT else "unique"

    def _present_key(self, table: str) -> tuple[bool, tuple[str, ...]] | None:
        """Return whether our constraint is a primary key, and its columns; None where there is none."""
        rows = self._fetch(
            "select contype = 'p', attname "
            "from pg_constraint, unnest(conkey) with ordinality as place (attnum, i), pg_attribute "
            f"where conrelid = to_regclass({literal(self._name(table))}) and conname = {literal(_key_name(table))} "
            "and pg_attribute.attrelid = conrelid and pg_attribute.attnum = place.attnum order by i"
        )
        return (rows[0][0], tuple(column for _, column in rows)) if rows else None

    def _drop_other_key(self, table: PostgresTable) -> None:
        present = self._present_key(table.name)
        if present is not None and present != (self._kind(table) == "primary key", table.key):
            self._do(
                f"alter table {self._name(table.name)} drop constraint {identifier(_key_name(table.name))}"
            )

    def _key(self, table: PostgresTable) -> None:
        if not table.key or self._present_key(table.name) is not None:
            return
        columns = ", ".join(identifier(name) for name in table.key)
        self._do(
            f"alter table {self._name(table.name)} add constraint {identifier(_key_name(table.name))} "
            f"{self._kind(table)} ({columns})"
        )

    def _comment(self, table: PostgresTable) -> None:
        name = self._name(table.name)
        on = [(f"table {name}", table.comment)]
        on += [(f"column {name}.{identifier(column.name)}", column.comment) for column in table.columns]
        statements = "".join(
            f"comment on {what} is {'null' if comment is None else literal(comment)};\n"
            for what, comment in on
        )
        tag = "biasledger"
        while f"${tag}$" in statements:
            tag += "_"
        # One statement for the server, and one wait.
        self._do(f"do ${tag}$ begin\n{statements}end ${tag}$")

    def _name(self, table: str) -> str:
        return f"{identifier(self._schema)}.{identifier(table)}"

    def _do(self, statement: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(statement)

    def _fetch(self, query: str) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(query)
            return list(cursor.fetchall())

    def _fetch_one(self, query: str) -> Any:
        return self._fetch(query)[0][0]


def _key_name(table: str) -> str:
    """Return the name of a primary key; the end of a long name is cut off."""
    return f"{table[: MAX_NAME_BYTES - 4]}_key"


def dependents(error: Any) -> str:
    """Return the views that depend on a table or column to drop, from the server's message."""
    for key, value in error.details or ():
        if key == b"PG_DIAG_MESSAGE_DETAIL":
            return " ".join(value.decode(errors="replace").split())
    return str(error)
