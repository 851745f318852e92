"""Reads the built warehouse for the report: read-only, public tables only, and keeps the SQL of every answer."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasledger.explaining.rows import with_values
from biasledger.opening import connect_read_only
from biasledger.querying.analyses import read_sql
from collector.errors import InputError
from collector.hints import did_you_mean

if TYPE_CHECKING:
    import duckdb

_QUERIES = Path(__file__).parent / "queries"
_TABLES = re.compile(r"\b(?:marts|settings)\.\w+")

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Result:
    """Rows of a query: column names in order, rows by column name, the SQL as it was run, and a name for the page.

    Values are str, bool, int, float or None; numbers that are no number are None.
    """

    columns: tuple[str, ...]
    rows: Sequence[Row]
    sql: str
    key: str = ""


class Source:
    """An open warehouse. Every question is a file of `queries/`, so that readers of the report can ask it again."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        tables = connection.execute(
            "select table_schema || '.' || table_name from information_schema.tables "
            "where table_schema in ('marts', 'settings')"
        ).fetchall()
        self._tables = frozenset(str(name) for (name,) in tables)

    def has(self, table: str) -> bool:
        """Whether the warehouse holds a public table; those of a kind of audit are absent until it was asked."""
        return f"marts.{table}" in self._tables

    def ask(self, name: str, **values: str | Sequence[str]) -> Result | None:
        """Run the query of a file, with `$key` replaced by its value as an SQL literal.

        Returns:
            The rows, or None where the warehouse lacks one of the tables.
        """
        return self._run(name, _query(name), values)

    def ask_analysis(self, name: str, *run_ids: str, query: str = "") -> Result | None:
        """Run a shipped analysis: its rows of some runs, without the columns that name these, or, without any, as it is.

        Args:
            name: of the analysis.
            run_ids: the runs, `$run_ids` in the query.
            query: SQL on the table `analysis`, in place of its rows of the runs.

        Returns:
            As `ask`.
        """
        question, sql = re.split(r"(?m)^(?!--)", read_sql(name).strip(), maxsplit=1)
        of_runs = (
            "select * exclude (audit, target, run_id)\nfrom analysis\nwhere list_contains($run_ids, run_id)"
        )
        query = query or (of_runs if run_ids else "from analysis")
        sql = f"{question}with\n\nanalysis as (\n{sql.strip()}\n)\n\n{query}"
        return self._run(name, sql, {"run_ids": run_ids})

    def _run(self, name: str, sql: str, values: Mapping[str, str | Sequence[str]]) -> Result | None:
        if not self._tables.issuperset(_TABLES.findall(sql)):
            return None
        sql = with_values(sql, values)
        cursor = self._connection.execute(sql)
        columns = tuple(str(column[0]) for column in cursor.description or ())
        rows = [dict(zip(columns, map(_plain, values), strict=True)) for values in cursor.fetchall()]
        return Result(columns, rows, sql, name.replace("_", "-"))


@contextmanager
def open_warehouse(warehouse: Path) -> Iterator[Source]:
    """Open a built warehouse for reading.

    Raises:
        InputError: there is no such file, or it holds no findings.
        BiasledgerError: the file cannot be read.
    """
    with connect_read_only(warehouse) as connection:
        # Nothing in a warehouse is a reason to read another file, and the same rows come in the same order on one thread.
        connection.execute("set enable_external_access = false")
        source = Source(connection)
        if not (source.has("fct_findings") and source.has("dim_runs") and source.has("dim_measures")):
            raise InputError(f"{warehouse} holds no table fct_findings: `biasledger build` makes it.")
        yield source


def require_runs(chosen: Sequence[str], known: Sequence[str]) -> None:
    """Check that the runs asked for exist.

    Raises:
        InputError: names the first that does not, and one like it.
    """
    for run_id in chosen:
        if run_id not in known:
            raise InputError(f"There are no findings of a run {run_id!r}{did_you_mean(run_id, known)}")


@cache
def _query(name: str) -> str:
    return (_QUERIES / f"{name}.sql").read_text(encoding="utf-8").strip()


def _plain(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
