"""Prices and categories of recommended items: relations of units and counts become arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from biasledger.measures.comparisons import Comparison, named_errors
from biasledger.measures.engine.design import Design, Floats, Integers, Labels
from biasledger.measures.engine.sums import sums_at
from biasledger.measures.equal_sizes.counts import CountPair, CountUnits
from biasledger.measures.prices import associations
from biasledger.measures.prices import items as prices
from biasledger.measures.prices.questions import balanced_by_question, sums_of_sets
from biasledger.model_inputs.pairs import Rows, asked, comparable_pairs, count_units, questions
from biasledger.model_inputs.relations import (
    Columns,
    described,
    integers,
    with_rows,
)

_LARGEST_LABEL = 127
_CONTRAST = 2


def members_of(counts: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return the units of counts: a row a comparison and unit, with its label, stratum and cluster."""
    return counts.select(
        "run_id", "comparison_key", "unit_id", "label", "stratum_id", "cluster_id"
    ).distinct()


def read_price_comparisons(
    comparisons: duckdb.DuckDBPyRelation,
    members: duckdb.DuckDBPyRelation,
    items: duckdb.DuckDBPyRelation,
) -> Iterator[prices.PriceComparison]:
    """Yield each comparison that has items, in the order of its key; units without items are left out.

    comparisons: a row a comparison: comparison_key, mitigation, attribute, n_groups, has_reference, n_blocks (2 where groups
    follow from two words), n_sets, n_levels, n_permutations, alpha, seed. members: comparison_key, unit_id, label (0 …
    n_groups - 1, 0 the reference), stratum_id, cluster_id, a row a unit. items: comparison_key, unit_id, block (0 …
    n_blocks - 1), question_id (from 0), set_id (0 … n_sets - 1, of the question), level (1 … n_levels), n, a row a unit, block,
    question and level. A group and its reference are judged inside questions: see balanced_by_question.

    Raises:
        ValueError: a row comes twice, a value is missing, or a number is not what it can be; names the comparison.
    """
    for row, given, [counted] in _read_comparisons(comparisons, members, [items]):
        with named_errors(row["comparison_key"]):
            n_sets, n_groups = int(row["n_sets"]), int(row["n_groups"])
            sets = _sets_of_questions(counted, n_sets)
            axes = {
                "block": (0, int(row["n_blocks"])),
                "question_id": (0, sets.size),
                "level": (1, int(row["n_levels"])),
            }
            of_questions = given.array(counted, axes, "n")
            counts = sums_of_sets(of_questions, sets, n_sets)
            has_items = counts.sum(axis=(1, 2, 3)) > 0
            if not has_items.any():
                continue
            design = Design(given.labels, given.strata).with_content(counts)
            units = prices.ItemCounts(design, given.clusters, counts, n_groups)
            if bool(row["has_reference"]) and n_groups == _CONTRAST:
                weighted, _ = balanced_by_question(
                    given.labels, of_questions, of_questions.sum(axis=3), sets, n_sets
                )
                units = replace(units, weighted=weighted)
            units = units.keep(has_items)
        yield prices.PriceComparison(
            units=units,
            has_reference=bool(row["has_reference"]),
            **described(row, "mitigation"),
        )


def read_association_comparisons(
    comparisons: duckdb.DuckDBPyRelation,
    members: duckdb.DuckDBPyRelation,
    categories: duckdb.DuckDBPyRelation,
    totals: duckdb.DuckDBPyRelation,
) -> Iterator[Comparison[associations.CategoryCounts]]:
    """Yield each comparison that has items, in the order of its key; units without items are left out.

    comparisons: a row a contrast of two groups: comparison_key, mitigation, attribute, group_name, reference_group, n_blocks,
    n_categories, n_permutations, alpha, seed. members: as for prices, label 1 the marked group and 0 the reference.
    categories: comparison_key, unit_id, block, category_id (0 … n_categories - 1), n, a row a unit, block and category of its
    items. totals: comparison_key, unit_id, block, n_items (all items, with or without a category). Both may have question_id
    (from 0), a row for each of its questions: the groups are then judged inside these, see balanced_by_question.

    Raises:
        ValueError: a row comes twice, a value is missing, or a number is not what it can be; names the comparison.
    """
    for row, given, [counted, in_all] in _read_comparisons(comparisons, members, [categories, totals]):
        with named_errors(row["comparison_key"]):
            axes = {"block": (0, int(row["n_blocks"]))}
            has_questions = "question_id" in in_all
            if has_questions:
                axes["question_id"] = (0, _n_questions(in_all))
            n_items = given.array(in_all, axes, "n_items")
            counts = given.array(counted, {**axes, "category_id": (0, int(row["n_categories"]))}, "n")
            of_questions = n_items, counts
            if has_questions:
                n_items, counts = n_items.sum(axis=2), counts.sum(axis=2)
            has_items = n_items.sum(axis=1) > 0
            if not has_items.any():
                continue
            units = associations.CategoryCounts(
                Design(given.labels, given.strata).with_content(counts), given.clusters, counts, n_items
            )
            if has_questions:
                items_of_questions, counts_of_questions = of_questions
                one_set = np.zeros(items_of_questions.shape[2], dtype=np.int64)
                weighted, weighted_items = balanced_by_question(
                    given.labels, counts_of_questions, items_of_questions, one_set, 1
                )
                units = replace(units, weighted=weighted[:, :, 0], weighted_totals=weighted_items[:, :, 0])
            units = units.keep(has_items)
        yield Comparison(units=units, **described(row, "mitigation"))


def _n_questions(columns: Columns) -> int:
    return int(integers(columns["question_id"], "question_id").max(initial=-1)) + 1


def _sets_of_questions(columns: Columns, n_sets: int) -> Integers:
    """Return the set of each question, (n_questions,)."""
    questions, sets = (integers(columns[name], name) for name in ("question_id", "set_id"))
    if sets.size and (sets.min() < 0 or sets.max() >= n_sets):
        raise ValueError(f"set_id lies outside 0 to {n_sets - 1}")
    of_questions = np.zeros(_n_questions(columns), dtype=np.int64)
    of_questions[questions] = sets
    if (of_questions[questions] != sets).any():
        raise ValueError("a question lies in two sets; each belongs to one")
    return of_questions


@dataclass(frozen=True)
class _Members:
    """The units of one comparison in the order of their ids; arrays (n_units,)."""

    unit_ids: Integers
    labels: Labels
    strata: Integers
    clusters: Integers

    @classmethod
    def of(cls, columns: Columns) -> _Members:
        unit_ids, labels, strata, clusters = (
            integers(columns[name], name) for name in ("unit_id", "label", "stratum_id", "cluster_id")
        )
        if (np.diff(unit_ids) == 0).any():
            raise ValueError("a unit comes twice among its members; each needs one row")
        if labels.size and (labels.min() < 0 or labels.max() > _LARGEST_LABEL):
            raise ValueError(f"labels lie from 0 to {_LARGEST_LABEL}")
        return cls(unit_ids, labels.astype(np.int8), strata, clusters)

    def array(self, columns: Columns, axes: Mapping[str, tuple[int, int]], count: str) -> Floats:
        """Return counts as an array of units × axes, 0 where there is no row; axes: the first number of each, and how many."""
        counts = np.zeros((self.unit_ids.size, *(size for _, size in axes.values())))
        unit_ids = integers(columns["unit_id"], "unit_id")
        places = [np.searchsorted(self.unit_ids, unit_ids)]
        if not np.isin(unit_ids, self.unit_ids).all():
            raise ValueError("it counts items of a unit that is not among its members")
        for axis, (first, size) in axes.items():
            numbers = integers(columns[axis], axis)
            if numbers.size and (numbers.min() < first or numbers.max() >= first + size):
                raise ValueError(f"{axis} lies outside {first} to {first + size - 1}")
            places.append(numbers - first)
        cells = np.ravel_multi_index(tuple(places), counts.shape)
        if np.unique(cells).size != cells.size:
            raise ValueError(f"a unit has two counts for one {' and '.join(axes)}; it needs one row")
        if np.ma.is_masked(columns[count]):
            raise ValueError(f"{count} is null in some rows; each needs a number")
        counts.flat[cells] = np.asarray(np.ma.getdata(columns[count]), dtype=np.float64)
        return counts


def _read_comparisons(
    comparisons: duckdb.DuckDBPyRelation,
    members: duckdb.DuckDBPyRelation,
    counted: Sequence[duckdb.DuckDBPyRelation],
) -> Iterator[tuple[dict[str, Any], _Members, list[Columns]]]:
    """Comparisons, each with its units and its rows of every counted relation."""
    for row, [of_members, *of_counted] in with_rows(comparisons, members, *counted):
        with named_errors(row["comparison_key"]):
            units = _Members.of(of_members)
        yield row, units, of_counted


def read_price_pairs(pairs: duckdb.DuckDBPyRelation, units: duckdb.DuckDBPyRelation) -> Iterator[CountPair]:
    """Items of each price level and domain, by unit, of each attribute that both runs of a pair have.

    units: run_id, mitigation, attribute, unit_key, stratum, cluster, group_name, domain, level, n_levels, n, a row a unit, domain
    and level.
    """
    for pair, (attribute,), sides in questions(
        comparable_pairs(pairs), units, ("attribute",), order="unit_key, domain, level"
    ):
        # A domain that only one of the runs asked about shows no change.
        domains = np.intersect1d(sides[0]["domain"].astype(str), sides[1]["domain"].astype(str))
        n_levels = int(max(side["n_levels"].max() for side in sides))
        if domains.size:
            yield CountPair(
                units=(_priced(sides[0], domains, n_levels), _priced(sides[1], domains, n_levels)),
                **asked(pair, "items", attribute, "(all)", "(all)", ""),
            )


def _priced(rows: Rows, domains: NDArray[np.str_], n_levels: int) -> CountUnits:
    inside = np.isin(rows["domain"].astype(np.str_), domains)
    rows = {name: column[inside] for name, column in rows.items()}
    _, first, places = np.unique(rows["unit_key"].astype(np.str_), return_index=True, return_inverse=True)
    cells = (
        places,
        np.searchsorted(domains, rows["domain"].astype(np.str_)),
        rows["level"].astype(np.int64) - 1,
    )
    counts = sums_at(cells, rows["n"].astype(np.float64), first.size, domains.size, n_levels)
    return count_units({name: column[first] for name, column in rows.items()}, counts)
