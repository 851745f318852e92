"""Decisions about people: relations of units, paired answers and positions become arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np

from biasledger.measures.comparisons import Comparison, named_errors
from biasledger.measures.decisions.fixed_values import ClusterMeans
from biasledger.measures.decisions.gaps import GapComparison
from biasledger.measures.decisions.impact_ratios import ImpactComparison
from biasledger.measures.decisions.positions import Rankings
from biasledger.measures.decisions.units import Units
from biasledger.measures.decisions.unread import Unread
from biasledger.measures.engine.design import Design, Integers
from biasledger.measures.equal_sizes.counts import CountPair, CountUnits
from biasledger.model_inputs.pairs import Rows, asked, comparable_pairs, count_units, questions
from biasledger.model_inputs.relations import (
    Columns,
    RowsByKey,
    described,
    floats,
    integers,
    pending_rows,
    without,
)

_MAX_GROUPS = 128


def read_gap_comparisons(
    comparisons: duckdb.DuckDBPyRelation, members: duckdb.DuckDBPyRelation, *, done: frozenset[str]
) -> Iterator[GapComparison]:
    """Yield each comparison not yet done, in the order of its key.

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
    for row, units, unread in _units_of(comparisons, members, done):
        lowest, highest = float(row["outcome_lowest"]), float(row["outcome_highest"])
        yield GapComparison(
            units=units, lowest=lowest, highest=highest, unread=unread, **described(row, *name)
        )


def read_impact_comparisons(
    comparisons: duckdb.DuckDBPyRelation, members: duckdb.DuckDBPyRelation, *, done: frozenset[str]
) -> Iterator[ImpactComparison]:
    """Yield each comparison not yet done, in the order of its key.

    comparisons: a row a comparison, n_candidates as for gaps. members: comparison_key, unit_id, label (0 … k - 1),
    stratum_id, cluster_id, n and total (answers and those selected), a row a unit; unread answers as for gaps.

    Raises:
        ValueError: a unit comes twice, a value is missing, or a label or count is not what it can be; names the comparison.
    """
    for row, units, unread in _units_of(comparisons, members, done):
        yield ImpactComparison(units=units, unread=unread, **described(row, "mitigation", "domain"))


def read_blocks(blocks: duckdb.DuckDBPyRelation, *, done: frozenset[str]) -> Iterator[Comparison[Integers]]:
    """Answers (0 or 1) about the same subjects, (n_subjects, n_groups), column 0 the reference, of each block not yet done.

    blocks: block_key, subject_id, label (0 the reference), value.

    Raises:
        ValueError: a subject lacks a group or has one twice, or a value is neither 0 nor 1; names the block.
    """
    left = without(blocks, "block_key", done)
    for key, rows in RowsByKey(left, "block_key", "subject_id", "label", of=None):
        name = f"block {key}"
        subjects = np.unique(rows["subject_id"], return_inverse=True)[1]
        labels, values = (integers(rows[column], f"{name}: {column}") for column in ("label", "value"))
        n_subjects, n_groups = int(subjects.max()) + 1, int(labels.max()) + 1
        # Sorted by subject and label, complete subjects have exactly these.
        if not (
            labels.size == n_subjects * n_groups
            and (labels == np.tile(np.arange(n_groups), n_subjects)).all()
            and (subjects == np.repeat(np.arange(n_subjects), n_groups)).all()
        ):
            raise ValueError(
                f"{name}: every subject needs one row for each label from 0 to {n_groups - 1}; "
                "leave out subjects that lack an answer"
            )
        if not np.isin(values, (0, 1)).all():
            raise ValueError(f"{name}: a value is neither 0 nor 1")
        yield Comparison(key, (), values.reshape(n_subjects, n_groups))


def read_positions(
    positions: duckdb.DuckDBPyRelation, *, done: frozenset[str]
) -> Iterator[Comparison[Rankings]]:
    """Yield each set of rankings not yet done, in the order of its key; positions: position_key, response_id, set_id, slot,
    is_top, weight.

    A response's positions are its slots in order, whatever number the first one has.

    Raises:
        ValueError: a response has a slot twice, or not exactly one candidate at the top; names the set.
    """
    left = without(positions, "position_key", done)
    for key, rows in RowsByKey(left, "position_key", "response_id", "slot", of=None):
        name = f"rankings {key}"
        _, starts, responses, sizes = np.unique(
            rows["response_id"], return_index=True, return_inverse=True, return_counts=True
        )
        slots = integers(rows["slot"], f"{name}: slot")
        if ((np.diff(responses) == 0) & (np.diff(slots) == 0)).any():
            raise ValueError(f"{name}: a response has a slot twice; each needs one row")
        tops = np.flatnonzero(integers(rows["is_top"], f"{name}: is_top"))
        if not np.array_equal(responses[tops], np.arange(sizes.size)):
            raise ValueError(f"{name}: every response needs exactly one slot with is_top")
        n_answers = integers(rows["weight"][tops], f"{name}: weight")
        sets = integers(rows["set_id"][tops], f"{name}: set_id")
        yield Comparison(key, (), Rankings(tops - starts, sizes, n_answers, sets))


def read_fixed_values(
    units: duckdb.DuckDBPyRelation, *, done: frozenset[str]
) -> Iterator[Comparison[ClusterMeans]]:
    """Yield each set of answers not yet done, in the order of its key.

    units: comparison_key, cluster, n and total (answers and the sum of their outcomes), a row a cluster; and the same in all rows
    of a key: mitigation, domain, lowest, highest, against, n_permutations, alpha and seed.
    """
    left = without(units, "comparison_key", done)
    for key, rows in RowsByKey(left, "comparison_key", "cluster", of=None):
        row = {column: values[0] for column, values in rows.items()} | {"comparison_key": key}
        ends = (float(row[column]) for column in ("lowest", "highest", "against"))
        means = ClusterMeans(floats(rows["total"]) / floats(rows["n"]), *ends)
        yield Comparison(units=means, **described(row, "mitigation", "domain"))


def _units_of(
    comparisons: duckdb.DuckDBPyRelation, members: duckdb.DuckDBPyRelation, done: frozenset[str]
) -> Iterator[tuple[dict[str, Any], Units, Unread | None]]:
    """Comparisons not yet done, with their units in the order of unit_id, and all answers where some are unread."""
    for row, [rows] in pending_rows(comparisons, done, members):
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


def read_selection_pairs(
    pairs: duckdb.DuckDBPyRelation, units: duckdb.DuckDBPyRelation, *, done: frozenset[str]
) -> Iterator[CountPair]:
    """Selected and not selected, by unit, of each attribute and subject that both runs of a pair have.

    units: run_id, mitigation, attribute, subject, unit_key, stratum, cluster, group_name, n_candidates, n, total.
    """
    columns = ("attribute", "subject")
    for pair, (attribute, subject), sides in questions(
        comparable_pairs(pairs, done), units, columns, order="unit_key, group_name"
    ):

        def counted(side: Rows) -> CountUnits:
            n, total = (side[column].astype(np.float64) for column in ("n", "total"))
            return count_units(side, np.column_stack([total, n - total])[:, np.newaxis])

        yield CountPair(
            units=(counted(sides[0]), counted(sides[1])),
            n_candidates=int(sides[1]["n_candidates"].max()),
            **asked(pair, "selected", attribute, "(all)", "(best off)", subject),
        )
