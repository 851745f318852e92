"""Reads findings from a built warehouse, read-only."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from biasledger.opening import connect_read_only
from collector.errors import InputError
from collector.hints import did_you_mean
from collector.sql import identifier

if TYPE_CHECKING:
    from collections.abc import Collection

    import duckdb

# In the order in which they are shown: what needs a decision first.
STATUSES = ("alarm", "inconclusive", "clear", "insufficient_data")
NO_FINDING = "Nothing could be judged: there is no finding."
# The shortest shown part of an id; fewer characters would look like a word.
_ID_CHARACTERS = 6


@dataclass(frozen=True)
class Finding:
    """One row of `fct_findings`, as far as the terminal and notebooks show it.

    `finding` is the beginning of its finding_id that no other finding of the warehouse has, which `explain` takes. `value` and
    `threshold` are on the measure's own scale (`dim_measures` states it), `p_value_adjusted` is in (0, 1]; each is None where
    the measure has none. Groups are empty for a finding about a whole attribute, `subject` is empty for one about a whole
    contrast. `is_current`: the run is the latest of its audit and target that was finished; only such a run raises alarms.
    `advice` says what would settle it, or let it speak of its groups.
    """

    finding: str
    status: str
    audit: str
    target: str
    mitigation: str
    attribute: str
    group_name: str
    reference_group: str
    subject: str
    measure: str
    scheme: str
    severity: str | None
    value: float | None
    threshold: float | None
    p_value_adjusted: float | None
    explanation: str | None
    advice: str | None
    is_excepted: bool
    is_simulated: bool
    is_current: bool
    run_id: str

    @property
    def heading(self) -> str:
        """The audit, target and run."""
        simulated = " (simulated)" if self.is_simulated else ""
        aside = "" if self.is_current else ", not the current one: raises no alarms"
        return f"{self.audit}, target {self.target}{simulated}, run {self.run_id}{aside}"


def read_findings(
    warehouse: Path, *, runs: Collection[str] = (), statuses: Collection[str] = (), only_current: bool = False
) -> list[Finding]:
    """The findings of some runs, of all runs, or of the current ones; of the given statuses or of all.

    Runs with alarms come first. Within a run, findings that can fail an alarm test (severity error) come before those
    that only warn; among equals alarms come first, then what is inconclusive, clear, and what lacks data.

    Raises:
        InputError: no such warehouse, or no such run in it.
        BiasledgerError: the warehouse cannot be read, or it holds no findings table.
    """
    with connect_read_only(warehouse) as connection:
        cursor = select_findings(
            connection, warehouse, runs=runs, statuses=statuses, only_current=only_current
        )
        return [Finding(*row) for row in cursor.fetchall()]


def select_findings(
    connection: duckdb.DuckDBPyConnection,
    warehouse: Path,
    *,
    runs: Collection[str] = (),
    statuses: Collection[str] = (),
    only_current: bool = False,
    columns: str = "",
) -> duckdb.DuckDBPyConnection:
    """The same as a cursor on an open warehouse, whose columns are the fields of `Finding` or those that are asked for.

    Raises:
        InputError: there is no such run, or the warehouse holds no findings table.
    """
    table = _findings_table(connection, warehouse)
    _require_runs(connection, table, runs)
    values = {"runs": list(runs), "statuses": list(statuses), "only_current": only_current}
    return connection.execute(_query(table, columns or _columns_with_short_ids(connection, table)), values)


def _findings_table(connection: duckdb.DuckDBPyConnection, warehouse: Path) -> str:
    row = connection.execute(
        "select table_schema from information_schema.tables where table_name = 'fct_findings' limit 1"
    ).fetchone()
    if row is None:
        raise InputError(f"{warehouse} holds no table fct_findings: `biasledger build` makes it.")
    return f"{identifier(str(row[0]))}.fct_findings"


def _require_runs(connection: duckdb.DuckDBPyConnection, table: str, runs: Collection[str]) -> None:
    known = [str(row[0]) for row in connection.execute(f"select distinct run_id from {table}").fetchall()]
    for run in runs:
        if run not in known:
            raise InputError(f"There are no findings of a run {run!r}{did_you_mean(run, known)}")


def _columns_with_short_ids(connection: duckdb.DuckDBPyConnection, table: str) -> str:
    """The fields of `Finding` as columns; ids are cut to where all of the warehouse's still differ."""
    n_characters = next(
        n
        for n in range(_ID_CHARACTERS, 2**31)
        if connection.execute(
            f"select count(distinct left(finding_id, {n})) = count(distinct finding_id) from {table}"
        ).fetchall()
        == [(True,)]
    )
    _, *others = (field.name for field in fields(Finding))
    return ", ".join((f"left(finding_id, {n_characters}) as finding", *others))


def _query(table: str, columns: str) -> str:
    statuses = ", ".join(f"'{status}'" for status in STATUSES)
    return f"""
        select {columns}
        from {table}
        where
            (len($runs) = 0 or list_contains($runs, run_id))
            and (is_current or not $only_current)
            and (len($statuses) = 0 or list_contains($statuses, status))
        order by
            bool_or(status = 'alarm') over (partition by run_id) desc,
            run_id desc,
            severity = 'error' desc nulls last,
            list_position([{statuses}], status),
            measure, scheme, mitigation, attribute, abs(value / nullif(threshold, 0)) desc nulls last,
            group_name, subject
    """
