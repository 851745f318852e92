"""Which build a page is of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from biasledger.explaining.rows import rows
from biasledger.querying.connection import locked_warehouse

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class Build:
    """A build: its identity and its time in UTC."""

    key: str
    when: str


def read_build(connection: duckdb.DuckDBPyConnection) -> Build:
    """The build of an open warehouse; without a key where another program wrote it."""
    known = rows(
        connection,
        "select 1 from duckdb_tables() where schema_name = 'publication' and table_name = 'build'",
        {},
    )
    if not known:
        return Build("", "")
    (build,) = rows(connection, "select build_id, built_at from publication.build", {})
    return Build(str(build["build_id"]), f"{build['built_at']:%Y-%m-%d %H:%M} UTC")


def build_of(warehouse: Path) -> Build:
    """The build that is published now.

    Raises:
        InputError: there is no warehouse.
        BiasledgerError: it cannot be read.
    """
    with locked_warehouse(warehouse) as connection:
        return read_build(connection)
