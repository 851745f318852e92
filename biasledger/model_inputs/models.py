"""Run a measure in a Python dbt model: read the comparisons that the table does not hold yet, and return their new rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

import duckdb
from dbt_common.invocation import get_invocation_id

from biasledger.measures.schema import Table
from biasledger.model_inputs.one_thread import one_thread
from biasledger.model_inputs.progress import report_progress
from biasledger.model_inputs.relations import as_relation
from biasledger.model_inputs.sharing import sharing

Compared = TypeVar("Compared")


def new_rows(
    dbt: Any,
    session: duckdb.DuckDBPyConnection,
    measure: Callable[[Iterable[Compared]], Table],
    read: Callable[..., Iterable[Compared]],
    *relations: duckdb.DuckDBPyRelation,
    by: Sequence[str] = (),
) -> Any:
    """Return, as a relation, the measure's rows for each comparison whose key the model's table does not hold yet; the key is its
    first column.

    read: relations, and the keys that are done, to comparisons. by: columns of the first relation; comparisons with equal values
    there are read together and need no others. A session that measures such parts on other machines (Spark) does so, and returns
    a frame of its own.
    """
    if by and (rows_by_part := getattr(session, "rows_by_part", None)):
        return rows_by_part(measure, read, relations, by)
    key = next(iter(measure(()).columns))
    done = computed_keys(dbt, session, key)
    model = str(dbt.this).rsplit(".", 1)[-1].strip('"')
    with sharing(get_invocation_id()):
        report = partial(report_progress, model, total=_n_pending(relations[0], key, done))
        return as_relation(connection_of(session), measured(measure, read(*relations, done=done), report))


def connection_of(session: Any) -> duckdb.DuckDBPyConnection:
    """Return the DuckDB connection that a model has for itself: the session, or the one that a Spark session holds."""
    connection: duckdb.DuckDBPyConnection = getattr(session, "connection", session)
    return connection


def measured(
    measure: Callable[[Iterable[Compared]], Table],
    comparisons: Iterable[Compared],
    report: Callable[[Iterable[Compared]], Iterable[Compared]] = iter,
) -> Table:
    """Return the measure's rows for these comparisons; `report` reports each comparison that starts.

    Linear algebra has one thread: models and tasks run side by side, and sums then never depend on the machine's cores.
    """
    with one_thread():
        return measure(report(comparisons))


def _n_pending(comparisons: duckdb.DuckDBPyRelation, key: str, done: frozenset[str]) -> int | None:
    """Return the number of comparisons left; None for pairs of runs, which are compared in several questions each."""
    if key != "comparison_key" or key not in comparisons.columns:
        return None
    return sum(value not in done for (value,) in comparisons.select(key).fetchall())


def computed_keys(dbt: Any, session: duckdb.DuckDBPyConnection, key: str) -> frozenset[str]:
    """Return keys whose results the model's table holds already; none on its first build. key: the column that holds them."""
    if not dbt.is_incremental:
        return frozenset()
    return frozenset(
        value for (value,) in session.execute(f"select distinct {key} from {dbt.this}").fetchall()
    )


def not_held(dbt: Any, relation: duckdb.DuckDBPyRelation, key: str) -> duckdb.DuckDBPyRelation:
    """Return the rows of a relation whose key the model's table does not hold yet; all on its first build."""
    return relation.filter(f"{key} not in (select {key} from {dbt.this})") if dbt.is_incremental else relation
