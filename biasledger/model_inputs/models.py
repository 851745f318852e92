"""Run a measure in a Python dbt model: read the comparisons that a build needs, and return their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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

Compared = TypeVar("Compared")
Measure = Callable[[Iterable[Compared]], Table]
Read = Callable[..., Iterable[Compared]]


def rows_of_runs(
    dbt: Any,
    session: Any,
    build_runs: duckdb.DuckDBPyRelation,
    measure: Measure[Compared],
    read: Read[Compared],
    *relations: duckdb.DuckDBPyRelation,
    by: Sequence[str] = ("run_id",),
) -> Any:
    """Return, as a relation, the measure's rows of each run whose state the model's table lacks, with run_state; for the
    incremental strategy `by_run`.

    build_runs: int_build_runs. read: from relations to comparisons. The first relation has run_id and the measure's first column,
    which names a comparison. by: its columns whose equal values are read together and need no other rows. A session that measures
    such parts on other machines (Spark) does so, and returns a frame of its own.
    """
    first, *others = relations
    first = rows_to_build(dbt, build_runs, first)
    if rows_by_part := getattr(session, "rows_by_part", None):
        return rows_by_part(measure, read, (first, *others), by)
    key = next(iter(measure(()).columns))
    [(n_comparisons,)] = first.aggregate(f"count(distinct {key})").fetchall()
    return _measured(dbt, session, measure, read, (first, *others), n_comparisons)


def rows_of_new_keys(
    dbt: Any,
    session: Any,
    measure: Measure[Compared],
    read: Read[Compared],
    keyed: duckdb.DuckDBPyRelation,
    *relations: duckdb.DuckDBPyRelation,
) -> Any:
    """Return, as a relation, the measure's rows of the keys that the model's table lacks; for the incremental strategy `append`.

    keyed: has the measure's first column, a hash of all that its numbers depend on: pairs of runs.
    """
    key = next(iter(measure(()).columns))
    if dbt.is_incremental:
        keyed = keyed.filter(f"{key} not in (select {key} from {dbt.this})")
    if rows_by_part := getattr(session, "rows_by_part", None):
        return rows_by_part(measure, read, (keyed, *relations), (key,))
    # How many questions two runs share is not known before they are read.
    return _measured(dbt, session, measure, read, (keyed, *relations), None)


def rows_to_build(
    dbt: Any, build_runs: duckdb.DuckDBPyRelation, rows: duckdb.DuckDBPyRelation
) -> duckdb.DuckDBPyRelation:
    """Return the rows of each run whose state the model's table lacks, with run_state, a text.

    A state covers all that a run's rows depend on, so that an interrupted build need not measure again what it has measured.
    """
    states = build_runs.filter("why <> 'gone'").project("run_id, cast(run_state as varchar) as run_state")
    if dbt.is_incremental:
        states = states.filter(f"run_state not in (select run_state from {dbt.this})")
    return rows.join(states, "run_id")


def _measured(
    dbt: Any,
    session: Any,
    measure: Measure[Compared],
    read: Read[Compared],
    relations: Sequence[duckdb.DuckDBPyRelation],
    total: int | None,
) -> duckdb.DuckDBPyRelation:
    model = str(dbt.this).rsplit(".", 1)[-1].strip('"')
    with sharing(get_invocation_id()):
        table = measured(measure, read(*relations), partial(report_progress, model, total=total))
    return as_relation(connection_of(session), with_states(table, relations[0]))


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


def with_states(table: Table, comparisons: duckdb.DuckDBPyRelation) -> Table:
    """Return the table with the run_state of each row, if the comparisons have one; they have the table's first column."""
    if "run_state" not in comparisons.columns:
        return table
    key = next(iter(table.columns))
    state_of = dict(comparisons.select(key, "run_state").distinct().fetchall())
    states = np.array([state_of[value] for value in table.columns[key]], dtype=np.object_)
    return replace(table, columns={**table.columns, "run_state": states})


def connection_of(session: Any) -> duckdb.DuckDBPyConnection:
    """Return the DuckDB connection that a model has for itself: the session, or the one that a Spark session holds."""
    connection: duckdb.DuckDBPyConnection = getattr(session, "connection", session)
    return connection
