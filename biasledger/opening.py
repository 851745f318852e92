"""Opening a built warehouse for reading: wherever that fails, the same two sentences say why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from collector.errors import BiasledgerError, InputError

if TYPE_CHECKING:
    import duckdb


def connect_read_only(warehouse: Path) -> duckdb.DuckDBPyConnection:
    """Connect to a warehouse for reading; the caller closes the connection.

    Raises:
        InputError: there is no such file.
        BiasledgerError: it cannot be read.
    """
    import duckdb

    with told_if_closed(warehouse):
        return duckdb.connect(str(warehouse), read_only=True)


@contextmanager
def told_if_closed(warehouse: Path) -> Iterator[None]:
    """Say in a sentence why a warehouse cannot be opened or attached in the block.

    Raises:
        InputError: there is no such file.
        BiasledgerError: it cannot be read.
    """
    import duckdb

    if not warehouse.is_file():
        raise InputError(f"There is no warehouse at {warehouse}: `biasledger build` makes it.")
    try:
        yield
    except duckdb.Error as error:
        raise BiasledgerError(
            f"{warehouse} cannot be read: another program may be writing it, or it is no DuckDB file "
            f"({str(error).splitlines()[0]})"
        ) from error
