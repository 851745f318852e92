"""Marker words: relations of units become arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from biasledger.measures.markers import RatioUnits
from biasledger.measures.markers_tables import RatioComparison
from biasledger.model_inputs.relations import floats, records, rows_by_key


def read_ratio_comparisons(
    comparisons: duckdb.DuckDBPyRelation, members: duckdb.DuckDBPyRelation, *, done: frozenset[str]
) -> Iterator[RatioComparison]:
    """Each comparison not yet done, in the order of its key, with its units in the order of unit_id.

    comparisons: a row a comparison: comparison_key, variant, scheme, category, probe (these four name it; empty or null where
    it is about all of them), n_permutations, alpha, seed. members: comparison_key, unit_id, cluster_id, n (assessable
    answers), total_ratio (sum of their ratios), weight (how much the unit counts), a row a unit; a comparison may have none.
    Linear algebra runs on one thread, so that sums never depend on the machine's cores.

    Raises:
        ValueError: a unit comes twice, a value is missing, or a count or ratio is not what it can be; names the comparison.
    """
    pending = [
        row for row in records(comparisons.order("comparison_key")) if row["comparison_key"] not in done
    ]
    if not pending:
        return
    columns = members.order("comparison_key, unit_id").fetchnumpy()
    members_of = rows_by_key(columns["comparison_key"], [row["comparison_key"] for row in pending])
    with threadpool_limits(limits=1):
        for row in pending:
            key = row["comparison_key"]
            yield RatioComparison(
                key=key,
                name=tuple(row[part] or "" for part in ("variant", "scheme", "category", "probe")),
                units=_units(columns, members_of[key], f"comparison {key}"),
                n_permutations=int(row["n_permutations"]),
                alpha=float(row["alpha"]),
                seed=int(row["seed"]),
            )


def _units(columns: dict[str, NDArray[Any]], inside: slice, name: str) -> RatioUnits:
    unit_ids, clusters = columns["unit_id"][inside], columns["cluster_id"][inside]
    for column, values in (("unit_id", unit_ids), ("cluster_id", clusters)):
        if np.ma.is_masked(values):
            raise ValueError(f"{name}: {column} is null in some rows; each needs one")
    if np.unique(unit_ids).size != unit_ids.size:
        raise ValueError(f"{name}: a unit comes twice; each needs one row")
    try:
        return RatioUnits(
            np.asarray(np.ma.getdata(clusters), dtype=np.int64),
            floats(columns["n"][inside]),
            floats(columns["total_ratio"][inside]),
            floats(columns["weight"][inside]),
        )
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
