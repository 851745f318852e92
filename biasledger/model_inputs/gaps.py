"""Gaps of two groups, in a run and in two: relations of units become arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np

from biasledger.measures.comparisons import named_errors
from biasledger.measures.engine.design import Design, Integers
from biasledger.measures.engine.sums import numbered
from biasledger.measures.gaps.changes import GapPair, SharedUnits
from biasledger.measures.gaps.gap import GapComparison
from biasledger.measures.gaps.units import Units
from biasledger.measures.gaps.unread import Unread
from biasledger.model_inputs.pairs import Rows, asked, comparable_pairs, questions
from biasledger.model_inputs.relations import Columns, described, floats, integers, with_rows

_MAX_GROUPS = 128
_QUESTION = ("measure", "scheme", "attribute", "group_name", "reference_group", "subject")


def read_gap_comparisons(
    comparisons: duckdb.DuckDBPyRelation, members: duckdb.DuckDBPyRelation
) -> Iterator[GapComparison]:
    """Yield each comparison, in the order of its key.

    comparisons: a row a comparison; outcome_lowest and outcome_highest are the range of the outcome, n_candidates the number
    of candidates in an answer where units gather rankings, else 1; members may have their own. members: comparison_key,
    unit_id, label (1 marked, 0 reference), stratum_id, cluster_id, n, total, a row a unit; and where several rows move together
    whole_id, if people are named name_id (null without a person) and name_stratum_id, inside which names may move. Where
    answers may be unread, also n_unread, unread_lowest and unread_highest: how many answers of a unit no rule read, which n
    leaves out, and the smallest and the largest sum of their outcomes; n is 0 where none was read.

    Raises:
        ValueError: a unit comes twice, a value is missing, or a label or count is not what it can be; names the comparison.
    """
    name = ("mitigation", "outcome", "domain")
    for row, units, unread in units_of(comparisons, members):
        lowest, highest = float(row["outcome_lowest"]), float(row["outcome_highest"])
        yield GapComparison(
            units=units, lowest=lowest, highest=highest, unread=unread, **described(row, *name)
        )


def units_of(
    comparisons: duckdb.DuckDBPyRelation, members: duckdb.DuckDBPyRelation
) -> Iterator[tuple[dict[str, Any], Units, Unread | None]]:
    """Comparisons with their units in the order of unit_id, and all answers where some are unread."""
    for row, [rows] in with_rows(comparisons, members):
        with named_errors(row["comparison_key"]):
            unread = _unread(rows, row)
            # A unit without a read answer only counts as unread.
            is_read = slice(None) if unread is None else rows["n"] > 0
            units = _units({column: values[is_read] for column, values in rows.items()}, row)
        yield row, units, unread


def _unread(rows: Columns, comparison: dict[str, Any]) -> Unread | None:
    """Return all answers of the units; None where each was read."""
    if "n_unread" not in rows or not (rows["n_unread"] > 0).any():
        return None
    n, lowest, highest = (floats(rows[column]) for column in ("n_unread", "unread_lowest", "unread_highest"))
    units = _units({**rows, "n": floats(rows["n"]) + n}, comparison)
    return Unread(units, n, lowest, highest)


def _units(rows: Columns, comparison: dict[str, Any]) -> Units:
    unit_ids, labels, strata, clusters = (
        integers(rows[column], column) for column in ("unit_id", "label", "stratum_id", "cluster_id")
    )
    if np.unique(unit_ids).size != unit_ids.size:
        raise ValueError("a unit comes twice; each needs one row")
    if not unit_ids.size:
        raise ValueError("it has no units")
    if labels.min() < 0 or labels.max() >= _MAX_GROUPS:
        raise ValueError(f"labels lie from 0 to {_MAX_GROUPS - 1}")
    return Units(
        Design(labels.astype(np.int8), strata),
        clusters,
        floats(rows["n"]),
        floats(rows["total"]),
        floats(rows["n_candidates"]) if "n_candidates" in rows else int(comparison["n_candidates"]),
        wholes=_optional(rows, "whole_id"),
        names=_optional(rows, "name_id"),
        name_strata=_optional(rows, "name_stratum_id"),
    )


def _optional(rows: Columns, column: str) -> Integers | None:
    """Return a column's whole numbers; None without the column, or if a row has none, because names of some people are of no
    use.
    """
    if column not in rows or np.ma.getmaskarray(np.ma.asarray(rows[column])).any():
        return None
    return integers(rows[column], column)


def read_gap_pairs(pairs: duckdb.DuckDBPyRelation, units: duckdb.DuckDBPyRelation) -> Iterator[GapPair]:
    """Yield each finding that both runs of a pair have, with the units that they share.

    units: run_id, mitigation, the finding's columns, unit_key, asked, is_marked, stratum, cluster, name, name_stratum, is_named,
    n_candidates, n, total, outcome_range. Two runs share a unit if its questions are equal word for word (asked); a run and its
    mitigation, whose questions differ, if its names are (unit_key).
    """
    for pair, question, sides in questions(
        comparable_pairs(pairs, of_same_question=False), units, _QUESTION, order="asked, unit_key"
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
    return numbered(rows[column].astype(np.str_))
