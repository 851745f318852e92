"""Comparisons of recommendation lists: relations of values by subject and group become matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import duckdb
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from biasledger.measures.comparisons import Comparison
from biasledger.measures.engine.design import Floats
from biasledger.measures.engine.sums import numbered
from biasledger.measures.equal_sizes.lists import Cells, ListPair
from biasledger.measures.lists import SIMILARITIES, Lists, PerturbedLists
from biasledger.measures.substituted_items import HeldItems
from biasledger.model_inputs.pairs import Rows, asked, comparable_pairs, questions
from biasledger.model_inputs.relations import (
    Columns,
    RowsByKey,
    described,
    floats,
    in_order,
    keys_of,
    with_rows,
)
from collector.sql import literal

_SHARES = ("unanswered", "shortfall", "repeated", "ndcg")
"""Features of how questions were answered, of which groups get the range alone."""


def read_spread_comparisons(
    comparisons: duckdb.DuckDBPyRelation,
    values: duckdb.DuckDBPyRelation,
    reruns: duckdb.DuckDBPyRelation,
) -> Iterator[Comparison[Lists]]:
    """Yield each comparison, in the order of its key, with a matrix of subjects × groups for every feature.

    comparisons: a row a comparison; values: values_key, subject_id, label (0 … n_groups - 1) and any features, null where a list
    is absent; reruns: values_key (a comparison's rerun_key), subject_id, rerun and similarities. How questions were answered does
    not depend on what the answers are compared with, so comparisons that are not judged have similarities alone.

    Raises:
        ValueError: a label is outside the comparison's groups, or a subject and group (or rerun) occur twice.
    """
    rows = in_order(comparisons)
    features = [feature for feature in (*SIMILARITIES, *_SHARES) if feature in values.columns]
    values_of = RowsByKey(
        values.select("values_key", "subject_id", "label", *features),
        *("values_key", "subject_id", "label"),
        of=keys_of(rows, "values_key"),
    )
    reruns_of = RowsByKey(
        reruns.select("values_key", "subject_id", "rerun", *SIMILARITIES),
        *("values_key", "subject_id", "rerun"),
        of=keys_of(rows, "rerun_key"),
    )
    for row in rows:
        key, rerun_key, n_groups = row["comparison_key"], row["rerun_key"], int(row["n_groups"])
        measured = features if row["is_judged"] else SIMILARITIES
        matrices = _matrices(values_of[row["values_key"]], "label", measured, f"comparison {key}", n_groups)
        similarities = {}
        if rerun_key is not None:
            similarities = _matrices(reruns_of[rerun_key], "rerun", SIMILARITIES, f"reruns {rerun_key}")
        name = ("mitigation", "scheme", "neutral", "wording", "domain")
        yield Comparison(units=Lists(matrices, similarities), **described(row, *name))


def read_robustness_comparisons(
    comparisons: duckdb.DuckDBPyRelation, values: duckdb.DuckDBPyRelation
) -> Iterator[Comparison[PerturbedLists]]:
    """Yield each comparison, in the order of its key, with its subjects' similarities in the order of their ids.

    comparisons: a row a comparison; values: values_key, subject_id, similarity, rerun_similarity (null where the subject
    has no reruns).
    """
    named = values.select("values_key", "subject_id", "similarity", "rerun_similarity")
    name = ("similarity", "mitigation", "scheme", "wording", "domain")
    for row, [inside] in with_rows(comparisons, named, key="values_key", order="subject_id"):
        units = PerturbedLists(floats(inside["similarity"]), floats(inside["rerun_similarity"]))
        yield Comparison(units=units, **described(row, *name))


def read_item_comparisons(
    comparisons: duckdb.DuckDBPyRelation, shares: duckdb.DuckDBPyRelation
) -> Iterator[Comparison[HeldItems]]:
    """Yield each comparison, in the order of its key, with its subjects' shares of lists that hold each item.

    comparisons: a row a group's lists and the neutral ones of the same subjects; shares: values_key, subject, item,
    share_of_group, share_of_neutral, a row a subject and item.
    """
    named = shares.select("values_key", "subject", "item", "share_of_group", "share_of_neutral")
    for row in in_order(comparisons):
        # Set by set: of many lists those of all groups at once would take gigabytes.
        of_set = named.filter(f"values_key = {literal(row['values_key'])}")
        numbered = of_set.project(f"*, {_number('subject')}, {_number('item')}")
        inside = numbered.order("subject, item").fetchnumpy()
        subjects, items = inside["subject_number"], inside["item_number"]
        _, first = np.unique(items, return_index=True)
        shape = int(subjects.max(initial=-1)) + 1, first.size
        held = (
            sparse.csr_array((floats(inside[column]), (subjects, items)), shape=shape)
            for column in ("share_of_group", "share_of_neutral")
        )
        yield Comparison(
            units=HeldItems(inside["item"][first].astype(np.str_), *held),
            **described(row, "mitigation", "domain"),
        )


def _number(column: str) -> str:
    """Return the place of each value among the column's different ones in their order, from 0."""
    return f"dense_rank() over (order by {column}) - 1 as {column}_number"


def _matrices(
    rows: Columns,
    across: str,
    features: Sequence[str],
    name: str,
    n_across: int | None = None,
) -> dict[str, Floats]:
    """Features of the rows as (n_subjects, n_across) each, NaN where there is no row; `across` numbers columns.

    Without n_across there are as many columns as the largest number needs.
    """
    subjects = numbered(rows["subject_id"])
    places = np.asarray(rows[across], dtype=np.int64)
    if n_across is None:
        places = numbered(places)
        n_across = int(places.max(initial=-1)) + 1
    elif places.size and not (places.min() >= 0 and places.max() < n_across):
        raise ValueError(f"{name}: {across} lies outside 0 to {n_across - 1}, the comparison's groups")
    shape = (int(subjects.max(initial=-1)) + 1, n_across)
    if np.unique(subjects * n_across + places).size != places.size:
        raise ValueError(f"{name}: a subject and {across} come twice; each needs one row")
    matrices = {}
    for feature in features:
        matrices[feature] = np.full(shape, np.nan)
        matrices[feature][subjects, places] = floats(rows[feature])
    return matrices


def read_list_pairs(pairs: duckdb.DuckDBPyRelation, cells: duckdb.DuckDBPyRelation) -> Iterator[ListPair]:
    """Yield values of each feature and attribute that both runs of a pair have, groups in the order of their names.

    cells: run_id, mitigation, scheme, attribute, subject, similarity, is_personality, entity, group_name, feature, feature_value.
    """
    columns = ("scheme", "attribute", "subject", "similarity", "is_personality", "feature")
    for pair, question, sides in questions(
        comparable_pairs(pairs), cells, columns, order="entity, group_name"
    ):
        scheme, attribute, subject, similarity, is_personality, feature = question
        groups = np.unique(np.concatenate([side["group_name"].astype(str) for side in sides]))
        yield ListPair(
            units=(_cells(sides[0], groups), _cells(sides[1], groups)),
            feature=feature,
            similarity=similarity,
            is_personality=bool(is_personality),
            **asked(pair, scheme, attribute, "(all)", "", subject),
        )


def _cells(rows: Rows, groups: NDArray[np.str_]) -> Cells:
    subjects, places = np.unique(rows["entity"].astype(np.str_), return_inverse=True)
    values = np.full((subjects.size, groups.size), np.nan)
    values[places, np.searchsorted(groups, rows["group_name"].astype(np.str_))] = rows["feature_value"]
    return Cells(values, subjects)
