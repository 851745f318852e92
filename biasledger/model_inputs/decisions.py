"""Decisions about people: relations of units, paired answers and positions become arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from biasledger.measures.decisions_tables import Block, GapComparison, ImpactComparison, Positions
from biasledger.measures.resampling import Design, Integers
from biasledger.measures.units import Units
from biasledger.model_inputs.relations import floats, integers, records, rows_by_key

_MAX_GROUPS = 128


def read_gap_comparisons(
    comparisons: duckdb.DuckDBPyRelation, members: duckdb.DuckDBPyRelation, *, done: frozenset[str]
) -> Iterator[GapComparison]:
    """Each comparison not yet done, in the order of its key.

    comparisons: a row a comparison; outcome_lowest and outcome_highest are the range of the outcome, n_candidates the number
    of candidates in an answer where units gather rankings, else 1; members may have their own. members: comparison_key,
    unit_id, label (1 marked, 0 reference), stratum_id, cluster_id, n, total, a row a unit; and where several rows move together
    whole_id, where people are named name_id (null where nobody is) and name_stratum_id, inside which names may move.

    Raises:
        ValueError: a unit comes twice, a value is missing, or a label or count is not what it can be; names the comparison.
    """
    for row, units in _units_of(comparisons, members, done):
        yield GapComparison(
            key=row["comparison_key"],
            name=tuple(
                str(row[part])
                for part in (
                    "variant", "outcome", "domain", "attribute", "comparison", "group_name", "reference_group",
                )
            ),
            units=units,
            lowest=float(row["outcome_lowest"]),
            highest=float(row["outcome_highest"]),
            n_permutations=int(row["n_permutations"]),
            alpha=float(row["alpha"]),
            seed=int(row["seed"]),
        )  # fmt: skip


def read_impact_comparisons(
    comparisons: duckdb.DuckDBPyRelation, members: duckdb.DuckDBPyRelation, *, done: frozenset[str]
) -> Iterator[ImpactComparison]:
    """Each comparison not yet done, in the order of its key.

    comparisons: a row a comparison, n_candidates as for gaps. members: comparison_key, unit_id, label (0 … k - 1),
    stratum_id, cluster_id, n and total (answers and those selected), a row a unit.

    Raises:
        ValueError: a unit comes twice, a value is missing, or a label or count is not what it can be; names the comparison.
    """
    for row, units in _units_of(comparisons, members, done):
        yield ImpactComparison(
            key=row["comparison_key"],
            name=tuple(str(row[part]) for part in ("variant", "domain", "attribute")),
            units=units,
            n_permutations=int(row["n_permutations"]),
            alpha=float(row["alpha"]),
            seed=int(row["seed"]),
        )


def read_blocks(blocks: duckdb.DuckDBPyRelation, *, done: frozenset[str]) -> Iterator[Block]:
    """Each block not yet done, in the order of its key; blocks: block_key, subject_id, label (0 the reference), value.

    Raises:
        ValueError: a subject lacks a group or has one twice, or a value is neither 0 nor 1; names the block.
    """
    columns = blocks.order("block_key, subject_id, label").fetchnumpy()
    for key, inside in _pending(columns["block_key"], done):
        name = f"block {key}"
        subjects = np.unique(columns["subject_id"][inside], return_inverse=True)[1]
        labels = integers(columns["label"][inside], f"{name}: label")
        values = integers(columns["value"][inside], f"{name}: value")
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
        yield Block(key, values.reshape(n_subjects, n_groups))


def read_positions(positions: duckdb.DuckDBPyRelation, *, done: frozenset[str]) -> Iterator[Positions]:
    """Each set of rankings not yet done, in the order of its key; positions: position_key, response_id, slot, is_top,
    weight.

    A response's positions are its slots in their order, whatever the first one's number.

    Raises:
        ValueError: a response has a slot twice, or not exactly one candidate at the top; names the set.
    """
    columns = positions.order("position_key, response_id, slot").fetchnumpy()
    for key, inside in _pending(columns["position_key"], done):
        name = f"rankings {key}"
        _, starts, responses, sizes = np.unique(
            columns["response_id"][inside], return_index=True, return_inverse=True, return_counts=True
        )
        slots = integers(columns["slot"][inside], f"{name}: slot")
        if ((np.diff(responses) == 0) & (np.diff(slots) == 0)).any():
            raise ValueError(f"{name}: a response has a slot twice; each needs one row")
        tops = np.flatnonzero(integers(columns["is_top"][inside], f"{name}: is_top"))
        if not np.array_equal(responses[tops], np.arange(sizes.size)):
            raise ValueError(f"{name}: every response needs exactly one slot with is_top")
        n_answers = integers(columns["weight"][inside][tops], f"{name}: weight")
        yield Positions(key, tops - starts, sizes, n_answers)


def _units_of(
    comparisons: duckdb.DuckDBPyRelation, members: duckdb.DuckDBPyRelation, done: frozenset[str]
) -> Iterator[tuple[dict[str, Any], Units]]:
    """Comparisons not yet done, with their units in the order of unit_id.

    Linear algebra runs on one thread, so that sums never depend on the machine's cores.
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
            name = f"comparison {row['comparison_key']}"
            inside = {column: values[members_of[row["comparison_key"]]] for column, values in columns.items()}
            unit_ids, labels, strata, clusters = (
                integers(inside[column], f"{name}: {column}")
                for column in ("unit_id", "label", "stratum_id", "cluster_id")
            )
            if np.unique(unit_ids).size != unit_ids.size:
                raise ValueError(f"{name}: a unit comes twice; each needs one row")
            if not unit_ids.size:
                raise ValueError(f"{name}: it has no units")
            if labels.min() < 0 or labels.max() >= _MAX_GROUPS:
                raise ValueError(f"{name}: labels lie from 0 to {_MAX_GROUPS - 1}")
            try:
                units = Units(
                    Design(labels.astype(np.int8), strata),
                    clusters,
                    floats(inside["n"]),
                    floats(inside["total"]),
                    floats(inside["n_candidates"]) if "n_candidates" in inside else int(row["n_candidates"]),
                    wholes=_optional(inside, "whole_id"),
                    names=_optional(inside, "name_id"),
                    name_strata=_optional(inside, "name_stratum_id"),
                )
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error
            yield row, units


def _optional(inside: dict[str, NDArray[Any]], column: str) -> Integers | None:
    """A column's whole numbers; None where there is no such column, or a row has none: names of some people say nothing."""
    if column not in inside or np.ma.getmaskarray(np.ma.asarray(inside[column])).any():
        return None
    return integers(inside[column], column)


def _pending(sorted_keys: NDArray[Any], done: frozenset[str]) -> Iterator[tuple[str, slice]]:
    keys = [str(key) for key in np.unique(np.asarray(sorted_keys).astype(str)) if str(key) not in done]
    yield from rows_by_key(sorted_keys, keys).items()
