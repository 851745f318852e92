"""Substituted items: items that a group's lists hold more often, or less often, than the neutral lists of the same subjects.

FaiRLLM (Zhang et al. 2023) asks which items make the lists differ. A subject is one observation: its lists about the
group and its neutral ones change places as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from biasledger.measures.comparisons import Comparison, table
from biasledger.measures.engine.design import Design, Floats, Integers, Labels
from biasledger.measures.engine.resampling import Draws, family_permutation_test
from biasledger.measures.schema import Table

# One subject cannot show what is typical of a group.
MIN_SUBJECTS = 2


@dataclass(frozen=True)
class HeldItems:
    """Which share of a subject's lists holds each item; arrays (n_subjects, n_items), of which few cells are above 0.

    items: their names, (n_items,). group, neutral: of the lists about the group, and of the neutral ones, 0 to 1.
    """

    items: NDArray[np.str_]
    group: sparse.csr_array[np.float64]
    neutral: sparse.csr_array[np.float64]


@dataclass(frozen=True)
class SubstitutedItems:
    """The items of a group; arrays (n_items,), p-values NaN where nothing was tested.

    n_subjects: whose lists hold the item. lists_of_group, neutral_lists: how many, a subject being one list, the mean of its own.
    difference: of the two. p_value_adjusted: for all items of the group that were tested.
    """

    item: NDArray[np.str_]
    n_subjects: Integers
    lists_of_group: Floats
    neutral_lists: Floats
    difference: Floats
    p_value: Floats
    p_value_adjusted: Floats
    n_permutations: int


def substituted_items(held: HeldItems, *, alpha: float, **draws: Unpack[Draws]) -> SubstitutedItems:
    """Return each item's difference, with a step-down max-T test of those that differ for MIN_SUBJECTS subjects or more."""
    differences = (held.group - held.neutral).tocsc()
    differences.eliminate_zeros()
    [tested] = np.nonzero(np.diff(differences.indptr) >= MIN_SUBJECTS)
    n_subjects, n_items = differences.shape
    p_value, p_value_adjusted, n_drawn = np.full(n_items, np.nan), np.full(n_items, np.nan), 0
    if tested.size and draws["n_permutations"]:
        # A subject's two cells, of which the first is about the group.
        design = Design.of_pairs(n_subjects)
        # A subject's lists hold few of all items: a sum over subjects that do not have an item takes most of the time.
        by_item = differences[:, tested].T.tocsr()

        def difference(labels: Labels) -> Floats:
            signs = np.ascontiguousarray(labels[:, ::2].T) * 2.0 - 1.0
            return np.asarray((by_item @ signs).T)

        family = family_permutation_test(design, difference, alpha=alpha, **draws)
        p_value[tested], p_value_adjusted[tested] = family.p_value, family.p_value_adjusted
        n_drawn = family.n_permutations
    lists_of_group, neutral_lists = _sums(held.group), _sums(held.neutral)
    return SubstitutedItems(
        held.items,
        np.bincount((held.group + held.neutral).nonzero()[1], minlength=n_items),
        lists_of_group,
        neutral_lists,
        lists_of_group - neutral_lists,
        p_value,
        p_value_adjusted,
        n_drawn,
    )


def _sums(shares: sparse.csr_array[np.float64]) -> Floats:
    """Return sums of columns, subject after subject."""
    return np.bincount(shares.indices, weights=shares.data, minlength=shares.shape[1]).astype(np.float64)


def substituted_items_of(comparisons: Iterable[Comparison[HeldItems]]) -> Table:
    """Return a row an item of each comparison: its SubstitutedItems."""
    return table(
        SubstitutedItems, comparisons, lambda one, settings: substituted_items(one.units, **settings), "items"
    )
