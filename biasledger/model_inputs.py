"""What the Python dbt models read: relations of integer-coded features become arrays, cached results are left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from biasledger.measures.comparisons import Comparison
from biasledger.measures.resampling import Design


def computed_keys(dbt: Any, session: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """Keys of the comparisons whose results the model's table holds already; none on its first build."""
    if not dbt.is_incremental:
        return frozenset()
    return frozenset(
        key for (key,) in session.execute(f"select distinct comparison_key from {dbt.this}").fetchall()
    )


def read_comparisons(
    comparisons: duckdb.DuckDBPyRelation,
    members: duckdb.DuckDBPyRelation,
    features: duckdb.DuckDBPyRelation,
    vocabulary: duckdb.DuckDBPyRelation,
    *,
    done: frozenset[str],
) -> Iterator[Comparison]:
    """Each comparison not yet done, with its units' features, in the order of its key.

    comparisons: a row a comparison; members: its units with label, stratum and cluster; features: unit × word counts;
    vocabulary: the words by word_id.
    Linear algebra runs on one thread: dbt runs models side by side, and sums then never depend on the machine's cores.
    """
    rows = [row for row in _records(comparisons.order("comparison_key")) if row["comparison_key"] not in done]
    if not rows:
        return
    units = members.order("comparison_key, unit_id").fetchnumpy()
    member_keys = np.asarray(units["comparison_key"]).astype(str)
    matrix = _feature_matrix(features)
    spelling = np.asarray(
        [word for (word,) in vocabulary.order("word_id").select("word").fetchall()], dtype=np.str_
    )
    corpora: dict[tuple[str, str, str], np.ndarray[Any, np.dtype[np.float64]]] = {}
    with threadpool_limits(limits=1):
        for row in rows:
            first = np.searchsorted(member_keys, row["comparison_key"], side="left")
            last = np.searchsorted(member_keys, row["comparison_key"], side="right")
            unit_ids = units["unit_id"][first:last]
            corpus = (row["run_id"], row["variant"], row["scheme"])
            if corpus not in corpora:
                in_corpus = np.isin(
                    member_keys, [other["comparison_key"] for other in rows if _corpus(other) == corpus]
                )
                corpora[corpus] = np.asarray(
                    matrix[np.unique(units["unit_id"][in_corpus])].sum(axis=0), dtype=np.float64
                ).ravel()
            selected = matrix[unit_ids]
            words = np.unique(selected.indices)
            yield Comparison(
                key=row["comparison_key"],
                kind=row["comparison"],
                scheme=row["scheme"],
                name=tuple(
                    str(row[part]) for part in ("variant", "attribute", "group_name", "reference_group")
                ),
                features=sparse.csr_array(selected[:, words]),
                words=spelling[words],
                prior=corpora[corpus][words],
                prior_total=float(corpora[corpus].sum()),
                design=Design(
                    units["label"][first:last].astype(np.int8),
                    units["stratum_id"][first:last].astype(np.int64),
                ),
                clusters=units["cluster_id"][first:last].astype(np.int64),
                classes=units["carrier_id"][first:last].astype(np.int64),
                order=np.argsort(units["first_seq"][first:last], kind="stable"),
                n_permutations=int(row["n_permutations"]),
                alpha=float(row["alpha"]),
                seed=int(row["seed"]),
            )


def _corpus(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["run_id"], row["variant"], row["scheme"]


def _records(relation: duckdb.DuckDBPyRelation) -> list[dict[str, Any]]:
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def _feature_matrix(features: duckdb.DuckDBPyRelation) -> sparse.csr_array:
    """Counts as a sparse matrix (unit_id, word_id), entries in a fixed order."""
    columns = features.select("unit_id, word_id, n_occurrences").order("unit_id, word_id").fetchnumpy()
    unit_ids, word_ids = np.asarray(columns["unit_id"]), np.asarray(columns["word_id"])
    shape = (int(unit_ids.max()) + 1, int(word_ids.max()) + 1) if unit_ids.size else (0, 0)
    # scikit-learn takes 32-bit indices alone.
    boundaries = np.searchsorted(unit_ids, np.arange(shape[0] + 1)).astype(np.int32)
    counts = np.asarray(columns["n_occurrences"], dtype=np.float64)
    return sparse.csr_array((counts, word_ids.astype(np.int32), boundaries), shape=shape)
