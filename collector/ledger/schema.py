"""The ledger's schema: its migrations, applied in order, and what a file must hold to be a ledger of this version."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from collector.errors import LedgerError
from collector.rows import utc_now

if TYPE_CHECKING:
    import duckdb

MIGRATIONS_FOLDER = Path(__file__).with_name("migrations")
# Names and definitions of the tables, views and macros of a ledger, without brackets and letter case.
_DEFINITIONS = """
    with defined as (
        select
            schema_name || '.' || table_name as name,
            string_agg(concat_ws(' ', column_name, data_type, is_nullable, column_default), ', ' order by column_index)
                as definition
        from duckdb_columns()
        where database_name = current_database() and not internal
            and table_oid in (select table_oid from duckdb_tables() where database_name = current_database())
        group by all
        union all
        -- DuckDB writes the parts of `replace` in any order.
        select
            schema_name || '.' || view_name,
            if(
                contains(lower(sql), ' replace '),
                array_to_string(list_sort(regexp_split_to_array(sql, '[\\s,"();]+')), ' '),
                sql
            )
        from duckdb_views() where database_name = current_database() and not internal
        union all
        select schema_name || '.' || function_name, macro_definition
        from duckdb_functions() where database_name = current_database() and not internal
    )
    select name, lower(regexp_replace(definition, '[\\s"();]', '', 'g')) from defined
"""
MIGRATION_NAME = re.compile(r"(\d{4})_(\w+)\.sql")


def migrations() -> list[tuple[int, str, Path]]:
    """Return (version, name, file) of every migration this version knows, in order."""
    found = []
    for path in sorted(MIGRATIONS_FOLDER.glob("*.sql")):
        matched = MIGRATION_NAME.fullmatch(path.name)
        if matched is None:
            raise LedgerError(
                f"{path.name} is not a migration's name; it should be like 0001_what_it_does.sql."
            )
        found.append((int(matched[1]), matched[2], path))
    return found


def migrate(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Apply every migration that the file lacks, each in a transaction of its own.

    Raises:
        LedgerError: the file holds something else, or has a schema that this version does not know.
    """
    _require_ledger_or_empty(connection, path)
    connection.execute("create schema if not exists raw")
    connection.execute(
        "create table if not exists raw.schema_migrations "
        "(version integer primary key, name varchar not null, applied_at timestamp not null)"
    )
    applied = _applied_versions(connection)
    known = migrations()
    refuse_newer(applied, known, path)
    for version, name, file in known:
        if version in applied:
            continue
        connection.execute("begin transaction")
        try:
            connection.execute(file.read_text(encoding="utf-8"))
            connection.execute(
                "insert into raw.schema_migrations values (?, ?, ?)", [version, name, utc_now()]
            )
        except BaseException:
            roll_back(connection)
            raise
        connection.execute("commit")


def _require_ledger_or_empty(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Refuse a DuckDB file that holds something else, so that a mistyped path does not mix two databases."""
    import duckdb

    try:
        # Far quicker than a list of all tables, which a ledger needs none of.
        connection.execute("from raw.schema_migrations limit 0")
    except duckdb.CatalogException:
        tables = connection.execute(
            "select schema_name || '.' || table_name as name from duckdb_tables() "
            "where database_name = current_database() order by name"
        ).fetchall()
        if tables:
            raise LedgerError(
                f"{path} is a DuckDB file, but no ledger (it holds {tables[0][0]}); name another file."
            ) from None


def require_current(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Refuse a file that is no ledger of exactly this version.

    Raises:
        LedgerError: says what it is instead.
    """
    _require_ledger_or_empty(connection, path)
    import duckdb

    try:
        applied = _applied_versions(connection)
    except duckdb.CatalogException:
        raise LedgerError(
            f"{path} is an empty DuckDB file; `biasledger collect` or `biasledger import` fills it."
        ) from None
    known = migrations()
    refuse_newer(applied, known, path)
    if any(version not in applied for version, _, _ in known):
        raise LedgerError(
            f"{path} has an older schema; the next `biasledger collect` or `biasledger import` updates it."
        )


def changed_definitions(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the tables and views of a ledger that are not as the migrations make them, and other tables, views and macros."""
    expected, found = _expected_definitions(), set(connection.execute(_DEFINITIONS).fetchall())
    return sorted({name for name, _ in expected ^ found})


@cache
def _expected_definitions() -> frozenset[tuple[str, str]]:
    import duckdb

    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        migrate(connection, Path(":memory:"))
        return frozenset(connection.execute(_DEFINITIONS).fetchall())


def _applied_versions(connection: duckdb.DuckDBPyConnection) -> set[int]:
    return {
        int(version)
        for (version,) in connection.execute("select version from raw.schema_migrations").fetchall()
    }


def refuse_newer(applied: set[int], known: Sequence[tuple[int, str, Path]], path: Path) -> None:
    """Refuse a ledger with a migration that this version does not know.

    Raises:
        LedgerError: it was.
    """
    newest = max(version for version, _, _ in known)
    if applied and max(applied) > newest:
        raise LedgerError(
            f"{path} has schema {max(applied)} and this version of biasledger knows schemas up to {newest}; "
            f"upgrade biasledger."
        )


def roll_back(connection: duckdb.DuckDBPyConnection) -> None:
    """Undo the open transaction, if there still is one."""
    import duckdb

    try:
        connection.execute("rollback")
    except duckdb.Error:
        # The transaction is already gone (an interrupt ends it); closing the connection discards what is left.
        return
