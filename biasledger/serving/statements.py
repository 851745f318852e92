"""Statements that readers write themselves: closed as `biasledger query` is, and of bounded time, memory and rows."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasledger.querying.connection import locked_warehouse
from biasledger.querying.statements import Result, run_statement
from collector.errors import InputError

if TYPE_CHECKING:
    import duckdb

SECONDS = 30.0
ROWS_AT_MOST = 1_000_000
MEMORY = "1GB"
# DuckDB's limit does not hold for rows that Python keeps; they are fetched a few at a time and their sizes added up.
BYTES_AT_MOST = 500_000_000
_FETCHED = 16
_AT_ONCE = 2
_INSTEAD = "ask for less, or run it with `biasledger query`"

_running: set[duckdb.DuckDBPyConnection] = set()
_free = threading.BoundedSemaphore(_AT_ONCE)


@dataclass(frozen=True)
class Rows:
    """The result of a statement: the columns' names, the first rows, and whether there are more."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    is_cut: bool

    @property
    def result(self) -> Result:
        """The same for those who write it down."""
        return Result(self.columns, iter(self.rows))


def ask(
    warehouse: Path, sql: str, *, limit: int = ROWS_AT_MOST, seconds: float = SECONDS, memory: str = MEMORY
) -> Rows:
    """Run one statement that reads.

    Args:
        warehouse: the published file.
        sql: the statement.
        limit: so many rows at most.
        seconds: it may take so long.
        memory: it may take so much, as DuckDB writes it.

    Raises:
        InputError: the statement does something else than read, is wrong, or needs more time or memory than it may,
            or its rows do.
        BiasledgerError: the warehouse cannot be read.
    """
    if not _free.acquire(timeout=seconds):
        raise InputError(
            f"{_AT_ONCE} queries are running already: wait until one of them ends, and run it again."
        )
    try:
        with locked_warehouse(warehouse, memory_limit=memory) as connection, _ending(connection, seconds):
            return _kept(run_statement(connection, sql, fetched=_FETCHED), limit)
    except InputError as error:
        raise _told(error, seconds, memory) from error
    finally:
        _free.release()


def interrupt_all() -> None:
    """Stop every statement that runs; each ends with an error."""
    for connection in list(_running):
        connection.interrupt()


def _kept(result: Result, limit: int) -> Rows:
    """The first rows, unless they take too much memory."""
    rows: list[tuple[Any, ...]] = []
    n_bytes = 0
    for row in result.rows:
        if len(rows) == limit:
            return Rows(result.columns, rows, True)
        n_bytes += _size(row)
        if n_bytes > BYTES_AT_MOST:
            raise InputError(
                f"The query's rows take more than {BYTES_AT_MOST // 1_000_000} MB, which is the limit here: {_INSTEAD}."
            )
        rows.append(row)
    return Rows(result.columns, rows, False)


def _size(value: Any) -> int:
    """The memory of a value and of all that it holds."""
    size = sys.getsizeof(value)
    if isinstance(value, list | tuple):
        return size + sum(map(_size, value))
    if isinstance(value, dict):
        return size + sum(_size(key) + _size(one) for key, one in value.items())
    return size


@contextmanager
def _ending(connection: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[None]:
    """Interrupt what the connection does in the block when its time is over."""
    timer = threading.Timer(seconds, connection.interrupt)
    timer.daemon = True
    timer.start()
    _running.add(connection)
    try:
        yield
    finally:
        timer.cancel()
        _running.discard(connection)


def _told(error: InputError, seconds: float, memory: str) -> InputError:
    import duckdb

    if isinstance(error.__cause__, duckdb.InterruptException):
        return InputError(
            f"The query was stopped after {seconds:g} seconds, which is the limit here: {_INSTEAD}."
        )
    if isinstance(error.__cause__, duckdb.OutOfMemoryException):
        return InputError(
            f"The query needs more than {memory} of memory, which is the limit here: {_INSTEAD}."
        )
    return error
