"""What a Python model of dbt does: relations to comparisons that its table does not hold yet, and these to its new rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

import duckdb
from dbt_common.invocation import get_invocation_id

from biasledger.measures.schema import Table
from biasledger.model_inputs.one_thread import one_thread
from biasledger.model_inputs.relations import as_relation
from biasledger.model_inputs.sharing import sharing
from biasledger.model_inputs.told import told

Compared = TypeVar("Compared")


def new_rows(
    dbt: Any,
    session: duckdb.DuckDBPyConnection,
    measure: Callable[[Iterable[Compared]], Table],
    read: Callable[..., Iterable[Compared]],
    *relations: duckdb.DuckDBPyRelation,
    by: Sequence[str] = (),
) -> Any:
    """What the measure says of each comparison that the model's table, whose first column is its key, does not hold yet: a
    relation.

    read: relations, and the keys of what is done, to comparisons. by: columns of the first relation; comparisons that agree in
    these are read together and need no others. A session that measures such parts on other machines then does, and gives a
    frame of its own (Spark).
    """
    if by and (rows_by_part := getattr(session, "rows_by_part", None)):
        return rows_by_part(measure, read, relations, by)
    key = next(iter(measure(()).columns))
    done = computed_keys(dbt, session, key)
    model = str(dbt.this).rsplit(".", 1)[-1].strip('"')
    with sharing(get_invocation_id()):
        tell = partial(told, model, total=_n_pending(relations[0], key, done))
        return as_relation(connection_of(session), measured(measure, read(*relations, done=done), tell))


def connection_of(session: Any) -> duckdb.DuckDBPyConnection:
    """The connection of DuckDB that a model has for itself: the session, or on Spark one beside it."""
    connection: duckdb.DuckDBPyConnection = getattr(session, "connection", session)
    return connection


def measured(
    measure: Callable[[Iterable[Compared]], Table],
    comparisons: Iterable[Compared],
    tell: Callable[[Iterable[Compared]], Iterable[Compared]] = iter,
) -> Table:
    """Return the measure's rows for these comparisons; `tell` reports each comparison that starts.

    Linear algebra has one thread: models and tasks run side by side, and sums then never depend on the machine's cores.
    """
    with one_thread():
        return measure(tell(comparisons))


def _n_pending(comparisons: duckdb.DuckDBPyRelation, key: str, done: frozenset[str]) -> int | None:
    """How many comparisons are not done yet; None of pairs of runs, which are compared in several questions each."""
    if key != "comparison_key" or key not in comparisons.columns:
        return None
    return sum(value not in done for (value,) in comparisons.select(key).fetchall())


def computed_keys(dbt: Any, session: duckdb.DuckDBPyConnection, key: str) -> frozenset[str]:
    """Keys whose results the model's table holds already; none on its first build. key: the column that holds them."""
    if not dbt.is_incremental:
        return frozenset()
    return frozenset(
        value for (value,) in session.execute(f"select distinct {key} from {dbt.this}").fetchall()
    )


def not_held(dbt: Any, relation: duckdb.DuckDBPyRelation, key: str) -> duckdb.DuckDBPyRelation:
    """The rows of a relation whose key the model's table does not hold yet; all on its first build."""
    return relation.filter(f"{key} not in (select {key} from {dbt.this})") if dbt.is_incremental else relation
