"""Opening a built warehouse for reading: wherever that fails, the same sentences say why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from collector.errors import BiasledgerError, InputError
from collector.sql import literal

if TYPE_CHECKING:
    import duckdb


def connect_read_only(warehouse: Path) -> duckdb.DuckDBPyConnection:
    """Connect to a warehouse for reading; the caller closes the connection.

    Raises:
        InputError: there is no such file, or it is a ledger.
        BiasledgerError: it cannot be read.
    """
    import duckdb

    with _errors_as_sentences(warehouse):
        connection = duckdb.connect(str(warehouse), read_only=True)
        _refuse_ledger(connection, warehouse)
        return connection


@contextmanager
def attach_read_only(warehouse: Path, name: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """Attach a warehouse under a name for reading, on a connection of its own, which may write other files.

    Raises:
        InputError, BiasledgerError: as `connect_read_only`.
    """
    import duckdb

    with duckdb.connect(":memory:") as connection:
        with _errors_as_sentences(warehouse):
            connection.execute(f"attach {literal(warehouse)} as {name} (read_only)")
            _refuse_ledger(connection, warehouse)
        yield connection


def _refuse_ledger(connection: duckdb.DuckDBPyConnection, warehouse: Path) -> None:
    found = connection.execute("select schema_name, table_name from duckdb_tables()").fetchall()
    if ("raw", "responses") in found and not any(schema == "marts" for schema, _ in found):
        raise InputError(
            f"{warehouse} is a ledger and no warehouse: --ledger takes it, and `biasledger build` makes a warehouse of it."
        )


@contextmanager
def _errors_as_sentences(warehouse: Path) -> Iterator[None]:
    import duckdb

    if not warehouse.is_file():
        raise InputError(f"There is no warehouse at {warehouse}: `biasledger build` makes it.")
    try:
        yield
    except duckdb.Error as error:
        raise BiasledgerError(_reason(warehouse, str(error))) from error


def _reason(warehouse: Path, message: str) -> str:
    if "Could not set lock" in message or "different configuration" in message:
        holder = re.search(r"held in (?P<program>.+?) \(PID (?P<pid>\d+)\)", message)
        who = f"process {holder['pid']} ({Path(holder['program']).name})" if holder else "another process"
        return (
            f"{warehouse} is in use by {who}, which has it open for writing; a notebook or a BI tool may: close it there and "
            "try again."
        )
    first_line = message.splitlines()[0].partition("Error: ")[2] or message.splitlines()[0]
    if "Could not read enough bytes" in message:
        return f"{warehouse} is cut off, so it cannot be read: `biasledger build` rebuilds it. ({first_line})"
    return f"{warehouse} cannot be read: it may be no DuckDB file, or one of another version. ({first_line})"
