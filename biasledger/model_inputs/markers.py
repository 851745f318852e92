"""Marker words: relations of units become arrays."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import numpy as np

from biasledger.measures.comparisons import Comparison, named_errors
from biasledger.measures.markers import RatioUnits
from biasledger.model_inputs.relations import (
    Columns,
    described,
    floats,
    integers,
    with_rows,
)


def read_ratio_comparisons(
    comparisons: duckdb.DuckDBPyRelation, members: duckdb.DuckDBPyRelation
) -> Iterator[Comparison[RatioUnits]]:
    """Yield each comparison, in the order of its key, with its units in the order of unit_id.

    comparisons: a row a comparison: comparison_key, mitigation, scheme, category, probe (these four name it; empty or null where
    it is about all of them), n_permutations, alpha, seed. members: comparison_key, unit_id, cluster_id, n (assessable
    answers), total_ratio (sum of their ratios), weight (how much the unit counts), a row a unit; a comparison may have none.

    Raises:
        ValueError: a unit comes twice, a value is missing, or a count or ratio is not what it can be; names the comparison.
    """
    name = ("mitigation", "scheme", "category", "probe")
    for row, [rows] in with_rows(comparisons, members):
        with named_errors(row["comparison_key"]):
            units = _units(rows)
        yield Comparison(units=units, **described(row | {part: row[part] or "" for part in name}, *name))


def _units(rows: Columns) -> RatioUnits:
    unit_ids, clusters = (integers(rows[column], column) for column in ("unit_id", "cluster_id"))
    if np.unique(unit_ids).size != unit_ids.size:
        raise ValueError("a unit comes twice; each needs one row")
    return RatioUnits(clusters, floats(rows["n"]), floats(rows["total_ratio"]), floats(rows["weight"]))
