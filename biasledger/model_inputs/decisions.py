"""Decisions about people: relations of units, paired answers and positions become arrays."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import numpy as np

from biasledger.measures.comparisons import Comparison
from biasledger.measures.decisions.fixed_values import ClusterMeans
from biasledger.measures.decisions.impact_ratios import ImpactComparison
from biasledger.measures.decisions.positions import Rankings
from biasledger.measures.engine.design import Integers
from biasledger.measures.engine.sums import numbered
from biasledger.measures.equal_sizes.counts import CountPair, CountUnits
from biasledger.model_inputs.gaps import units_of
from biasledger.model_inputs.pairs import Rows, asked, comparable_pairs, count_units, questions
from biasledger.model_inputs.relations import (
    RowsByKey,
    described,
    floats,
    integers,
)


def read_impact_comparisons(
    comparisons: duckdb.DuckDBPyRelation, members: duckdb.DuckDBPyRelation
) -> Iterator[ImpactComparison]:
    """Yield each comparison, in the order of its key.

    comparisons: a row a comparison, n_candidates as for gaps. members: comparison_key, unit_id, label (0 … k - 1),
    stratum_id, cluster_id, n and total (answers and those selected), a row a unit; unread answers as for gaps.

    Raises:
        ValueError: a unit comes twice, a value is missing, or a label or count is not what it can be; names the comparison.
    """
    for row, units, unread in units_of(comparisons, members):
        yield ImpactComparison(units=units, unread=unread, **described(row, "mitigation", "domain"))


def read_blocks(blocks: duckdb.DuckDBPyRelation) -> Iterator[Comparison[Integers]]:
    """Answers (0 or 1) about the same subjects, (n_subjects, n_groups), column 0 the reference, of each block.

    blocks: block_key, subject_id, label (0 the reference), value.

    Raises:
        ValueError: a subject lacks a group or has one twice, or a value is neither 0 nor 1; names the block.
    """
    for key, rows in RowsByKey(blocks, "block_key", "subject_id", "label", of=None):
        name = f"block {key}"
        subjects = numbered(rows["subject_id"])
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


def read_positions(positions: duckdb.DuckDBPyRelation) -> Iterator[Comparison[Rankings]]:
    """Yield each set of rankings, in the order of its key; positions: position_key, response_id, set_id, slot,
    is_top, weight.

    A response's positions are its slots in order, whatever number the first one has.

    Raises:
        ValueError: a response has a slot twice, or not exactly one candidate at the top; names the set.
    """
    for key, rows in RowsByKey(positions, "position_key", "response_id", "slot", of=None):
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


def read_fixed_values(units: duckdb.DuckDBPyRelation) -> Iterator[Comparison[ClusterMeans]]:
    """Yield each set of answers, in the order of its key.

    units: comparison_key, cluster, n and total (answers and the sum of their outcomes), a row a cluster; and the same in all rows
    of a key: mitigation, domain, lowest, highest, against, n_permutations, alpha and seed.
    """
    for key, rows in RowsByKey(units, "comparison_key", "cluster", of=None):
        row = {column: values[0] for column, values in rows.items()} | {"comparison_key": key}
        ends = (float(row[column]) for column in ("lowest", "highest", "against"))
        means = ClusterMeans(floats(rows["total"]) / floats(rows["n"]), *ends)
        yield Comparison(units=means, **described(row, "mitigation", "domain"))


def read_selection_pairs(
    pairs: duckdb.DuckDBPyRelation, units: duckdb.DuckDBPyRelation
) -> Iterator[CountPair]:
    """Selected and not selected, by unit, of each attribute and subject that both runs of a pair have.

    units: run_id, mitigation, attribute, subject, unit_key, stratum, cluster, group_name, n_candidates, n, total.
    """
    columns = ("attribute", "subject")
    for pair, (attribute, subject), sides in questions(
        comparable_pairs(pairs), units, columns, order="unit_key, group_name"
    ):

        def counted(side: Rows) -> CountUnits:
            n, total = (side[column].astype(np.float64) for column in ("n", "total"))
            return count_units(side, np.column_stack([total, n - total])[:, np.newaxis])

        yield CountPair(
            units=(counted(sides[0]), counted(sides[1])),
            n_candidates=int(sides[1]["n_candidates"].max()),
            **asked(pair, "selected", attribute, "(all)", "(best off)", subject),
        )
