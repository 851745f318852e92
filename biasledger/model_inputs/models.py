"""What a Python model of dbt does: relations to comparisons that its table does not hold yet, and these to its new rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import duckdb
import pandas as pd
from threadpoolctl import threadpool_limits

from biasledger.model_inputs.told import told

Compared = TypeVar("Compared")


def new_rows(
    dbt: Any,
    session: duckdb.DuckDBPyConnection,
    measure: Callable[[Iterable[Compared]], pd.DataFrame],
    read: Callable[..., Iterable[Compared]],
    *relations: duckdb.DuckDBPyRelation,
) -> pd.DataFrame:
    """What the measure says of each comparison that the model's table, whose first column is its key, does not hold yet.

    read: relations, and the keys of what is done, to comparisons. Linear algebra runs on one thread: dbt runs models side by
    side, and sums then never depend on the machine's cores.
    """
    key = measure(()).columns[0]
    done = computed_keys(dbt, session, key)
    model = str(dbt.this).rsplit(".", 1)[-1].strip('"')
    with threadpool_limits(limits=1):
        return measure(told(model, read(*relations, done=done), _n_pending(relations[0], key, done)))


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
