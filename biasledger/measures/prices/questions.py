"""Counts of names' items, weighted so that two groups have each question equally often.

A name moves with items from many questions. Where one group is refused some of them, as those about cheap places, its items
would differ whatever is recommended. Weights give both groups each question's items equally often, and none of a
question that one group got nothing from: the difference is then the Mantel-Haenszel one inside questions. Differences
between questions are noise between names that were answered different ones; both groups' questions have the same mean once
weighted, so that moving each question to the mean of all leaves groups' sums as they are.
"""

from __future__ import annotations

import numpy as np

from biasledger.measures.engine.design import Floats, Integers, Labels
from biasledger.measures.engine.intervals import NO_VARIANCE

_N_GROUPS = 2


def balanced_by_question(
    labels: Labels, features: Floats, items: Floats, sets: Integers, n_sets: int
) -> tuple[Floats, Floats]:
    """Features and items of each unit, weighted by question and summed over the questions of each set.

    labels: (n_units,) 0 or 1. features: items of each kind, (n_units, n_blocks, n_questions, n_kinds); items: all items,
    (n_units, n_blocks, n_questions); items of a second block belong to the other group than the label says. sets: the set of
    each question, (n_questions,), 0 … n_sets - 1. Returns (n_units, n_blocks, n_sets, n_kinds) and (n_units, n_blocks,
    n_sets); kinds may be below 0 there, as a question is moved to the mean of its set.
    """
    group_of = _groups(labels, items.shape[1])
    of_groups = np.stack(
        [(items * (group_of == group)[:, :, np.newaxis]).sum(axis=(0, 1)) for group in range(_N_GROUPS)]
    )
    in_all = of_groups.sum(axis=0)
    others = 2 * of_groups[::-1] / np.where(in_all > 0, in_all, 1.0)
    weights = others[group_of]
    items, features = weights * items, weights[..., np.newaxis] * features
    shifts = np.zeros(features.shape[2:])
    for number in range(n_sets):
        inside = sets == number
        n, of_kinds = items[:, :, inside].sum(axis=(0, 1)), features[:, :, inside].sum(axis=(0, 1))
        total = n.sum()
        if total > NO_VARIANCE:
            own = of_kinds / np.where(n > NO_VARIANCE, n, 1.0)[:, np.newaxis]
            shifts[inside] = of_kinds.sum(axis=0) / total - own
    features = features + items[..., np.newaxis] * shifts
    return sums_of_sets(features, sets, n_sets), sums_of_sets(items, sets, n_sets)


def sums_of_sets(values: Floats, sets: Integers, n_sets: int) -> Floats:
    """Return sums over the questions of each set: (n_units, n_blocks, n_questions, …) to (n_units, n_blocks, n_sets, …)."""
    return np.stack([values[:, :, sets == number].sum(axis=2) for number in range(n_sets)], axis=2)


def _groups(labels: Labels, n_blocks: int) -> Integers:
    """Return the group of each unit's block, (n_units, n_blocks)."""
    groups = np.repeat(labels.astype(np.int64)[:, np.newaxis], n_blocks, axis=1)
    if n_blocks == _N_GROUPS:
        groups[:, 1] = 1 - groups[:, 1]
    return groups
