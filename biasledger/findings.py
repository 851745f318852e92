"""Reads findings from a built warehouse, read-only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from biasledger.opening import connect_read_only
from collector.errors import InputError
from collector.hints import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection

    import duckdb

# In the order in which they are shown: what needs a decision first.
STATUSES = ("alarm", "inconclusive", "clear", "insufficient_data")


@dataclass(frozen=True)
class Finding:
    """One row of `fct_findings`, as far as the terminal shows it.

    `value` and `threshold` are on the measure's own scale (`dim_measures` states it), `p_value_adjusted` is in (0, 1];
    each is None where the measure has none. Groups are empty for a finding about a whole attribute, `subject` is empty
    for one about a whole contrast. `is_current`: the run is the latest of its audit and target that was finished; only
    such a run raises alarms. `advice` says what would settle it, or let it speak of its groups.
    """

    run_id: str
    audit: str
    target: str
    is_simulated: bool
    is_current: bool
    variant: str
    measure: str
    scheme: str
    attribute: str
    group_name: str
    reference_group: str
    subject: str
    value: float | None
    threshold: float | None
    p_value_adjusted: float | None
    status: str
    is_excepted: bool
    severity: str | None
    explanation: str | None
    advice: str | None


def read_findings(
    warehouse: Path, *, run: str | None = None, statuses: Collection[str] = (), only_current: bool = False
) -> list[Finding]:
    """The findings of one run, of all runs, or of the current ones; of the given statuses or of all.

    Runs with alarms come first. Within a run, findings that can fail an alarm test (severity error) come before those
    that only warn; among equals alarms come first, then what is inconclusive, clear, and what lacks data.

    Raises:
        InputError: no such warehouse, or no such run in it.
        BiasledgerError: the warehouse cannot be read, or it holds no findings table.
    """
    with connect_read_only(warehouse) as connection:
        table = _findings_table(connection, warehouse)
        _require_run(connection, table, run)
        values = {"run": run, "statuses": list(statuses), "only_current": only_current}
        rows = connection.execute(_query(table), values).fetchall()
    return [Finding(*row) for row in rows]


def _findings_table(connection: duckdb.DuckDBPyConnection, warehouse: Path) -> str:
    row = connection.execute(
        "select table_schema from information_schema.tables where table_name = 'fct_findings' limit 1"
    ).fetchone()
    if row is None:
        raise InputError(f"{warehouse} holds no table fct_findings: `biasledger build` makes it.")
    schema = str(row[0]).replace('"', '""')
    return f'"{schema}".fct_findings'


def _require_run(connection: duckdb.DuckDBPyConnection, table: str, run: str | None) -> None:
    if run is None:
        return
    known = [str(row[0]) for row in connection.execute(f"select distinct run_id from {table}").fetchall()]
    if run not in known:
        raise InputError(f"There are no findings of a run {run!r}{did_you_mean(run, known)}")


def _query(table: str) -> str:
    statuses = ", ".join(f"'{status}'" for status in STATUSES)
    return f"""
        select
            run_id, audit, target, is_simulated, is_current, variant, measure, scheme, attribute,
            group_name, reference_group, subject, value, threshold, p_value_adjusted, status,
            is_excepted, severity, explanation, advice
        from {table}
        where
            ($run is null or run_id = $run)
            and (is_current or not $only_current)
            and (len($statuses) = 0 or list_contains($statuses, status))
        order by
            bool_or(status = 'alarm') over (partition by run_id) desc,
            run_id desc,
            severity = 'error' desc nulls last,
            list_position([{statuses}], status),
            measure, scheme, variant, attribute, abs(value / nullif(threshold, 0)) desc nulls last,
            group_name, subject
    """
