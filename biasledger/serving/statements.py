"""Statements that readers write themselves: each runs in a process of its own, of bounded time, memory and rows."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from biasledger.querying.connection import locked_warehouse
from biasledger.querying.statements import Result, run_statement
from collector.errors import BiasledgerError, InputError

SECONDS = 30.0
ROWS_AT_MOST = 1_000_000
MEMORY = "1GB"
# The rows that Python holds; they are fetched a few at a time and their sizes added up.
BYTES_AT_MOST = 500_000_000
# All that the process may take, on Linux: some functions of DuckDB take memory that its own limit does not count.
ADDRESSES_AT_MOST = 4 * 2**30
_FETCHED = 16
_AT_ONCE = 2
_WAITING_AT_MOST = 8
_INSTEAD = "ask for less, or run it with `biasledger query`"

_running: set[BaseProcess] = set()
_free = threading.BoundedSemaphore(_AT_ONCE)
# Those that wait hold a thread each, and pages need some, too.
_places = threading.BoundedSemaphore(_AT_ONCE + _WAITING_AT_MOST)


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
    too_many = InputError(
        f"{_AT_ONCE} queries are running already: wait until one of them ends, and run it again."
    )
    if not _places.acquire(blocking=False):
        raise too_many
    try:
        if not _free.acquire(timeout=seconds):
            raise too_many
        try:
            answer = _answer_of_process((warehouse, sql, limit, memory, BYTES_AT_MOST), seconds, memory)
        finally:
            _free.release()
    finally:
        _places.release()
    if isinstance(answer, Rows):
        return answer
    raise answer


def interrupt_all() -> None:
    """Stop every statement that runs; each ends with an error."""
    for process in list(_running):
        process.kill()


def _answer_of_process(
    asked: tuple[Path, str, int, str, int], seconds: float, memory: str
) -> Rows | BiasledgerError:
    """The result of a new process, which is killed when its time is over."""
    context = multiprocessing.get_context("spawn")
    ours, its = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(its, *asked), daemon=True)
    process.start()
    its.close()
    _running.add(process)
    try:
        if not ours.poll(seconds):
            return InputError(
                f"The query was stopped after {seconds:g} seconds, which is the limit here: {_INSTEAD}."
            )
        answer: Rows | BiasledgerError = ours.recv()
        return answer
    except EOFError:
        return InputError(
            f"The query was stopped: the explorer is ending, or the query needs more than {memory} of memory."
        )
    finally:
        _running.discard(process)
        process.kill()
        process.join()
        process.close()
        ours.close()


def _answer(parent: Connection, warehouse: Path, sql: str, limit: int, memory: str, most_bytes: int) -> None:
    """Run the statement in this process and send its rows, or what is wrong."""
    import duckdb

    # The server says when this ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES_AT_MOST, ADDRESSES_AT_MOST))
    try:
        with locked_warehouse(warehouse, memory_limit=memory) as connection:
            answer: Rows | BiasledgerError = _kept(
                run_statement(connection, sql, fetched=_FETCHED), limit, most_bytes
            )
    except MemoryError:
        answer = _too_large(memory)
    except BiasledgerError as error:
        is_too_large = isinstance(error.__cause__, duckdb.OutOfMemoryException | MemoryError)
        answer = _too_large(memory) if is_too_large else type(error)(*error.args)
    parent.send(answer)


def _too_large(memory: str) -> InputError:
    return InputError(f"The query needs more than {memory} of memory, which is the limit here: {_INSTEAD}.")


def _kept(result: Result, limit: int, most_bytes: int) -> Rows:
    """The first rows, unless they take too much memory."""
    rows: list[tuple[Any, ...]] = []
    n_bytes = 0
    for row in result.rows:
        if len(rows) == limit:
            return Rows(result.columns, rows, True)
        n_bytes += _size(row)
        if n_bytes > most_bytes:
            raise InputError(
                f"The query's rows take more than {most_bytes // 1_000_000} MB, which is the limit here: {_INSTEAD}."
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
