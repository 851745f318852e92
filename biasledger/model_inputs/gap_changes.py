"""Gaps in two runs: relations of both runs' units become arrays of those that they share."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import numpy as np

from biasledger.measures.decisions.gap_changes import GapPair, SharedUnits
from biasledger.measures.decisions.units import Units
from biasledger.measures.engine.design import Design, Integers
from biasledger.model_inputs.pairs import Rows, asked, comparable_pairs, questions

_QUESTION = ("measure", "scheme", "attribute", "group_name", "reference_group", "subject")


def read_gap_pairs(
    pairs: duckdb.DuckDBPyRelation, units: duckdb.DuckDBPyRelation, *, done: frozenset[str]
) -> Iterator[GapPair]:
    """Yield each finding that both runs of a pair have, with the units that they share.

    units: run_id, mitigation, the finding's columns, unit_key, asked, is_marked, stratum, cluster, name, name_stratum, is_named,
    n_candidates, n, total, outcome_range. Two runs share a unit if its questions are equal word for word (asked); a run and its
    mitigation, whose questions differ, if its names are (unit_key).
    """
    for pair, question, sides in questions(
        comparable_pairs(pairs, done, of_same_question=False), units, _QUESTION, order="asked, unit_key"
    ):
        key = "unit_key" if pair["baseline_run_id"] == pair["run_id"] else "asked"
        shared = _shared(*sides, key)
        if shared is not None:
            yield GapPair(units=shared, **asked(pair, *question))


def _shared(before: Rows, after: Rows, key: str) -> SharedUnits | None:
    # A key that a run has twice does not say which of its units is which.
    (keys, first), (other_keys, other_first) = (
        _single(side[key].astype(np.str_)) for side in (before, after)
    )
    _, kept, other_kept = np.intersect1d(keys, other_keys, assume_unique=True, return_indices=True)
    if not kept.size:
        return None
    one = {name: column[first[kept]] for name, column in before.items()}
    other = {name: column[other_first[other_kept]] for name, column in after.items()}
    clusters = {str(name) for side in (before, after) for name in side["cluster"]}
    after_units = Units(
        Design(other["is_marked"].astype(np.int8), _numbers(other, "stratum")),
        _numbers(other, "cluster"),
        other["n"].astype(np.float64),
        other["total"].astype(np.float64),
        other["n_candidates"].astype(np.float64),
        names=_numbers(other, "name") if other["is_named"].all() else None,
        name_strata=_numbers(other, "name_stratum"),
    )
    return SharedUnits(
        after_units,
        one["n"].astype(np.float64),
        one["total"].astype(np.float64),
        float(max(side["outcome_range"].max() for side in (one, other))),
        len(clusters - {str(name) for name in other["cluster"]}),
    )


def _single(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return keys that occur once, and where."""
    names, first, counts = np.unique(keys, return_index=True, return_counts=True)
    return names[counts == 1], first[counts == 1]


def _numbers(rows: Rows, column: str) -> Integers:
    return np.unique(rows[column].astype(np.str_), return_inverse=True)[1].astype(np.int64)
