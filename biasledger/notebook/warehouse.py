"""A built warehouse for Python: read as the commands read it, and as closed."""

from __future__ import annotations

import html
from collections.abc import Callable, Collection
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

from biasledger.comparing.built_runs import built_run
from biasledger.comparing.built_tables import open_tables
from biasledger.comparing.verdicts import read_verdicts, verdict_lines
from biasledger.findings import STATUSES, read_findings, select_findings
from biasledger.notebook.explained import Explained
from biasledger.notebook.frames import Kind, frame_maker
from biasledger.notebook.page import Report
from biasledger.querying.connection import locked_warehouse
from biasledger.querying.statements import open_statement, statement_errors_as_sentences
from collector.errors import InputError
from collector.hints import did_you_mean
from collector.sql import identifier

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import pyarrow as pa

Frame = TypeVar("Frame")

_TABLES = """
    select table_name as "table", schema_name as "schema", estimated_size as "rows", comment as description
    from duckdb_tables()
    where database_name = 'warehouse'
    order by schema_name <> 'marts', schema_name, table_name
"""


class Warehouse(Generic[Frame]):
    """The tables of the last build, as data frames.

    The file is opened for each question and closed again: a build may replace it meanwhile, and the next question sees the new
    tables. Nothing can be written, and no other file is read but the ledger, for the answers that `explain` shows.

    Attributes:
        path: the warehouse.
        ledger: the ledger that it was built from.
    """

    def __init__(self, path: Path, ledger: Path, make: Callable[[duckdb.DuckDBPyConnection], Frame]) -> None:
        self.path = path
        self.ledger = ledger
        self._make = make

    def findings(
        self, run: str | None = None, *, status: str | Collection[str] = (), all_runs: bool = False
    ) -> Frame:
        """Return the findings, a row each; those that need a decision come first. `table("fct_findings")` has all columns.

        Args:
            run: only this run: its id, the beginning of it, `latest` or `previous`.
            status: only these: alarm, inconclusive, clear, insufficient_data.
            all_runs: also runs that are no longer the current one of their audit and target.

        Raises:
            InputError: there is no such run or status.
        """
        statuses = [status] if isinstance(status, str) else list(status)
        for one in statuses:
            if one not in STATUSES:
                raise InputError(f"There is no status {one!r}{did_you_mean(one, STATUSES)}")
        runs = () if run is None else (self._run(run),)
        with locked_warehouse(self.path) as connection:
            cursor = select_findings(
                connection, self.path, runs=runs, statuses=statuses, only_current=not (runs or all_runs)
            )
            return self._make(cursor)

    def explain(self, finding: str, *, n_responses: int = 3) -> Explained:
        """Walk a finding back to the answers it rests on.

        Args:
            finding: as the column `finding` of `findings` has it: its finding_id, or the beginning of it.
            n_responses: answers of each side at most; 0 leaves the ledger alone.

        Raises:
            InputError: no such finding, or several.
        """
        from biasledger.explaining import explain_finding

        return Explained(explain_finding(finding, self.path, self.ledger, n_responses))

    def tables(self) -> Frame:
        """The tables that there are, with what they hold."""
        return self._select(_TABLES)

    def table(self, name: str) -> Frame:
        """All rows of a table, such as fct_findings, or of one in another schema, such as settings.thresholds.

        Raises:
            InputError: there is no such table.
        """
        return self._select("from " + ".".join(map(identifier, name.split("."))))

    def query(self, sql: str) -> Frame:
        """The rows of one statement that reads, of an analysis by its name, or of a file of SQL, as `biasledger query`.

        Raises:
            InputError: it does not read, a name in it is wrong, or it would read something else than the tables.
        """
        from biasledger.querying.analyses import read_sql

        return self._select(read_sql(sql, self.path.parent))

    def report(self, *runs: str) -> Report:
        """The report, on these runs or else on the current run of each audit and target.

        Raises:
            InputError: no such run, or the extra `report` is not installed.
        """
        from biasledger.reporting import panels, render

        ids = [self._run(run) for run in runs]
        return Report(render(self.path, ids), lambda: panels(self.path, ids))

    def _select(self, sql: str) -> Frame:
        with locked_warehouse(self.path) as connection, statement_errors_as_sentences(connection, sql):
            return self._make(open_statement(connection, sql))

    def _run(self, name: str) -> str:
        with open_tables(self.path) as tables:
            return built_run(tables, name)

    def _repr_html_(self) -> str:
        """Show the verdict on each current run, as `biasledger findings` says it above its tables."""
        findings = read_findings(self.path, only_current=True)
        with open_tables(self.path) as tables:
            verdicts = read_verdicts(tables)
        parts = [f"<code>{html.escape(str(self.path))}</code>"]
        for run_id, rows in groupby(findings, key=lambda one: one.run_id):
            lines = verdict_lines([one for one in verdicts if one.run_id == run_id])
            text = "<br>".join(map(html.escape, lines))
            parts.append(f"<p><b>{html.escape(next(rows).heading)}</b><br>{text}</p>")
        return "".join(parts)

    def __repr__(self) -> str:
        return f"Warehouse({str(self.path)!r})"


@overload
def open_warehouse(
    path: Path | str = ..., *, ledger: Path | str | None = ..., frames: Literal["pandas"] = ...
) -> Warehouse[pd.DataFrame]: ...


@overload
def open_warehouse(
    path: Path | str = ..., *, ledger: Path | str | None = ..., frames: Literal["arrow"]
) -> Warehouse[pa.Table]: ...


@overload
def open_warehouse(
    path: Path | str = ..., *, ledger: Path | str | None = ..., frames: Literal["polars"]
) -> Warehouse[Any]: ...


def open_warehouse(
    path: Path | str = "warehouse.duckdb", *, ledger: Path | str | None = None, frames: Kind = "pandas"
) -> Warehouse[Any]:
    """Open a built warehouse for reading.

    Args:
        path: the file, or the project's folder that it lies in.
        ledger: the ledger, for the answers behind a finding; ledger.duckdb next to the warehouse if not given.
        frames: of which library tables are: pandas, arrow (pyarrow) or polars, where it is installed.

    Raises:
        InputError: no such file, or it is a ledger; or the library is not installed.
        BiasledgerError: it cannot be read, or holds no published tables.
    """
    file = Path(path)
    if file.is_dir():
        file /= "warehouse.duckdb"
    make = frame_maker(frames)
    with locked_warehouse(file):
        pass
    ledger = file.with_name("ledger.duckdb") if ledger is None else Path(ledger)
    # A notebook may change its folder.
    return Warehouse(file.absolute(), ledger.absolute(), make)
