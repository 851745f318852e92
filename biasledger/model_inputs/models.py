"""Run a measure in a Python dbt model: read the comparisons that its table lacks, and return their rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import duckdb
import numpy as np
from dbt_common.invocation import get_invocation_id

from biasledger.measures.schema import Table
from biasledger.model_inputs.one_thread import one_thread
from biasledger.model_inputs.progress import report_progress
from biasledger.model_inputs.relations import as_relation
from biasledger.model_inputs.sharing import sharing
from collector.sql import literal

Compared = TypeVar("Compared")
Measure = Callable[[Iterable[Compared]], Table]
Read = Callable[..., Iterable[Compared]]


def rows_of_runs(
    dbt: Any,
    session: Any,
    measure: Measure[Compared],
    read: Read[Compared],
    build_runs: duckdb.DuckDBPyRelation,
    *relations: duckdb.DuckDBPyRelation,
    by: Sequence[str] = ("run_id",),
) -> Any:
    """Measure the runs whose state the model's table lacks, and return their rows with `run_state`.

    build_runs: int_build_runs. read: from relations to comparisons. The first relation has run_id and the measure's key, which is
    its first column. by: columns of that relation; rows with the same values are measured together, independently of others. On
    Spark each such part is a task.
    """
    first, *others = relations
    return _rows(dbt, session, measure, read, (rows_to_build(dbt, build_runs, first), *others), by)


def rows_of_states(
    dbt: Any,
    session: Any,
    measure: Measure[Compared],
    read: Read[Compared],
    stated: duckdb.DuckDBPyRelation,
    *relations: duckdb.DuckDBPyRelation,
) -> Any:
    """Measure what has a state that the model's table lacks, and return its rows with `run_state`.

    stated: rows with run_state and the measure's key, such as pairs of runs; each key is measured independently of others.
    """
    key = next(iter(measure(()).columns))
    return _rows(dbt, session, measure, read, (_lacking(dbt, stated), *relations), (key,))


def rows_to_build(
    dbt: Any, build_runs: duckdb.DuckDBPyRelation, rows: duckdb.DuckDBPyRelation
) -> duckdb.DuckDBPyRelation:
    """Return the rows of each run whose state the model's table lacks, with run_state, a text."""
    states = build_runs.filter("run_state is not null").select("run_id", "run_state")
    return rows.join(_lacking(dbt, states), "run_id")


def _lacking(dbt: Any, rows: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return the rows whose state the model's table lacks; the state is followed by the settings of this build.

    dbt by hand, which does not know these, measures everything. The incremental strategy `by_state` writes states alike.
    """
    settings = os.environ.get("BIASLEDGER_SETTINGS") or get_invocation_id()
    rows = rows.project(f"* replace (concat_ws(' ', run_state, {literal(settings)}) as run_state)")
    if dbt.is_incremental:
        rows = rows.filter(f"run_state not in (select held.run_state from {dbt.this} as held)")
    return rows


def _rows(
    dbt: Any,
    session: Any,
    measure: Measure[Compared],
    read: Read[Compared],
    relations: Sequence[duckdb.DuckDBPyRelation],
    by: Sequence[str],
) -> Any:
    if rows_by_part := getattr(session, "rows_by_part", None):
        return rows_by_part(measure, read, relations, by)
    key = next(iter(measure(()).columns))
    states = states_by_key(relations[0], key)
    # Two runs share several questions, whose number is not known before they are read.
    total = None if key == "pair_key" else len(states)
    model = str(dbt.this).rsplit(".", 1)[-1].strip('"')
    with sharing(get_invocation_id()):
        table = measured(measure, read(*relations), partial(report_progress, model, total=total))
    return as_relation(connection_of(session), with_states(table, states))


def measured(
    measure: Measure[Compared],
    comparisons: Iterable[Compared],
    report: Callable[[Iterable[Compared]], Iterable[Compared]] = iter,
) -> Table:
    """Return the measure's rows for these comparisons; `report` reports each comparison that starts.

    Linear algebra has one thread: models and tasks run side by side, and sums then never depend on the machine's cores.
    """
    with one_thread():
        return measure(report(comparisons))


def states_by_key(comparisons: duckdb.DuckDBPyRelation, key: str) -> dict[str, str]:
    """Return the run_state of each comparison, by its key."""
    return dict(comparisons.select(key, "run_state").distinct().fetchall())


def with_states(table: Table, states: Mapping[str, str]) -> Table:
    """Return the table with the run_state of each row, by its first column."""
    keys = next(iter(table.columns.values()))
    column = np.array([states[key] for key in keys], dtype=np.object_)
    return replace(table, columns={**table.columns, "run_state": column})


def connection_of(session: Any) -> duckdb.DuckDBPyConnection:
    """Return the DuckDB connection that a model has for itself: the session, or the one that a Spark session holds."""
    connection: duckdb.DuckDBPyConnection = getattr(session, "connection", session)
    return connection
