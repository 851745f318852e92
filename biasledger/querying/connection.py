"""Open the warehouse so that a query can only read its tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from biasledger.opening import attach_read_only
from collector.errors import BiasledgerError
from collector.sql import identifier, literal

if TYPE_CHECKING:
    import duckdb

# The schemas of biasledger's own tables, which are searched first for a name without a schema.
SCHEMAS = ("marts", "settings")
# The order counts: after the last one nothing can be set any more. Without external access a query reads no files, loads no
# extensions and attaches nothing; without replacements it reads no Python variables either.
_LOCK = (
    "set enable_progress_bar = false",
    "set python_enable_replacements = false",
    "set timezone = 'UTC'",
    "set enable_external_access = false",
    "set lock_configuration = true",
)


@contextmanager
def locked_warehouse(path: Path, *, memory_limit: str | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a built warehouse read-only, without access to anything outside it, and with settings that cannot be changed back.

    Args:
        path: the published file.
        memory_limit: the memory of a query, such as '1GB', without any space on disk; None for DuckDB's own limits.

    Raises:
        InputError: there is no such file.
        BiasledgerError: it cannot be read, or holds no published tables.
    """
    # A separate database, whose locks belong to no other connection of this process.
    with attach_read_only(path, "warehouse") as connection:
        schemas = _schemas(connection)
        if SCHEMAS[0] not in schemas:
            raise BiasledgerError(f"{path} holds no published tables: `biasledger build` makes them.")
        names = [f"warehouse.{identifier(schema)}" for schema in schemas]
        connection.execute(f"set search_path = {literal(','.join(names))}")
        if memory_limit is not None:
            connection.execute(f"set memory_limit = {literal(memory_limit)}")
            connection.execute("set max_temp_directory_size = '0B'")
        for setting in _LOCK:
            connection.execute(setting)
        yield connection


def _schemas(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the schemas that hold tables: biasledger's own first, then those of a user's own models."""
    found = connection.execute(
        "select distinct schema_name from duckdb_tables() where database_name = 'warehouse' order by all"
    ).fetchall()
    return sorted((str(name) for (name,) in found), key=lambda name: (name not in SCHEMAS, name))
