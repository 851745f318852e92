"""Comparisons of recommendation lists: relations of values by subject and group become matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
from threadpoolctl import threadpool_limits

from biasledger.measures.lists_tables import RobustnessComparison, SpreadComparison
from biasledger.measures.resampling import Floats
from biasledger.model_inputs.relations import floats, records, rows_by_key

_Columns = dict[str, Any]


def read_spread_comparisons(
    comparisons: duckdb.DuckDBPyRelation,
    cells: duckdb.DuckDBPyRelation,
    reruns: duckdb.DuckDBPyRelation,
    *,
    done: frozenset[str],
) -> Iterator[SpreadComparison]:
    """Each comparison not yet done, in the order of its key, with a matrix of subjects × groups for every feature.

    comparisons: a row a comparison; cells: comparison_key, subject_id, label (0 … n_groups - 1) and any features, null
    where a list is absent; reruns: rerun_key, subject_id, rerun and those features that reruns have.
    Linear algebra runs on one thread, so that sums never depend on the machine's cores.

    Raises:
        ValueError: a label lies outside the comparison's groups, or a subject and group (or rerun) come twice.
    """
    pending = [
        row for row in records(comparisons.order("comparison_key")) if row["comparison_key"] not in done
    ]
    if not pending:
        return
    columns = cells.order("comparison_key, subject_id, label").fetchnumpy()
    features = cells.columns[3:]
    cells_of = rows_by_key(columns["comparison_key"], [row["comparison_key"] for row in pending])
    rerun_columns = reruns.order("rerun_key, subject_id, rerun").fetchnumpy()
    rerun_features = reruns.columns[3:]
    rerun_keys = sorted({row["rerun_key"] for row in pending if row["rerun_key"] is not None})
    reruns_of = rows_by_key(rerun_columns["rerun_key"], rerun_keys)
    with threadpool_limits(limits=1):
        for row in pending:
            key, rerun_key, n_groups = row["comparison_key"], row["rerun_key"], int(row["n_groups"])
            yield SpreadComparison(
                key=key,
                name=tuple(
                    str(row[part])
                    for part in ("variant", "scheme", "neutral", "wording", "domain", "attribute")
                ),
                features=_matrices(columns, cells_of[key], "label", features, f"comparison {key}", n_groups),
                reruns={}
                if rerun_key is None
                else _matrices(
                    rerun_columns, reruns_of[rerun_key], "rerun", rerun_features, f"reruns {rerun_key}"
                ),
                n_permutations=int(row["n_permutations"]),
                alpha=float(row["alpha"]),
                seed=int(row["seed"]),
            )


def read_robustness_comparisons(
    comparisons: duckdb.DuckDBPyRelation, cells: duckdb.DuckDBPyRelation, *, done: frozenset[str]
) -> Iterator[RobustnessComparison]:
    """Each comparison not yet done, in the order of its key, with its subjects' similarities in the order of their ids.

    comparisons: a row a comparison; cells: robustness_key, subject_id, similarity, rerun_similarity (null where the
    subject has no reruns).
    """
    pending = [
        row for row in records(comparisons.order("robustness_key")) if row["robustness_key"] not in done
    ]
    if not pending:
        return
    columns = cells.order("robustness_key, subject_id").fetchnumpy()
    cells_of = rows_by_key(columns["robustness_key"], [row["robustness_key"] for row in pending])
    for row in pending:
        inside = cells_of[row["robustness_key"]]
        yield RobustnessComparison(
            key=row["robustness_key"],
            name=tuple(
                str(row[part])
                for part in ("similarity", "variant", "scheme", "wording", "domain", "attribute")
            ),
            similarities=floats(columns["similarity"][inside]),
            rerun_similarities=floats(columns["rerun_similarity"][inside]),
            n_permutations=int(row["n_permutations"]),
            alpha=float(row["alpha"]),
            seed=int(row["seed"]),
        )


def _matrices(
    columns: _Columns,
    inside: slice,
    across: str,
    features: list[str],
    name: str,
    n_across: int | None = None,
) -> dict[str, Floats]:
    """Features of the rows `inside` as (n_subjects, n_across) each, NaN where there is no row; `across` numbers columns.

    Without n_across there are as many columns as the largest number needs.
    """
    _, subjects = np.unique(columns["subject_id"][inside], return_inverse=True)
    places = np.asarray(columns[across][inside], dtype=np.int64)
    if n_across is None:
        _, places = np.unique(places, return_inverse=True)
        n_across = int(places.max(initial=-1)) + 1
    elif places.size and not (places.min() >= 0 and places.max() < n_across):
        raise ValueError(f"{name}: {across} lies outside 0 to {n_across - 1}, the comparison's groups")
    shape = (int(subjects.max(initial=-1)) + 1, n_across)
    if np.unique(subjects * n_across + places).size != places.size:
        raise ValueError(f"{name}: a subject and {across} come twice; each needs one row")
    matrices = {}
    for feature in features:
        matrices[feature] = np.full(shape, np.nan)
        matrices[feature][subjects, places] = floats(columns[feature][inside])
    return matrices
