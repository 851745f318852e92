"""Differences of groups freed of what their strata differ in: less their mean under permutation, and undone of attenuation.

Where groups lie unevenly over strata, a difference holds part of the strata's own, which its mean under permutation takes away;
and that mean holds part of the groups' own difference, by which what is left falls short.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biasledger.measures.engine.design import Design, Floats, stable_seed
from biasledger.measures.engine.intervals import NO_VARIANCE, nan_mean
from biasledger.measures.engine.resampling import FamilyStatistic, permuted_labels

_N_DRAWS = 2000
# Relative to singular values of about 1; the one for equal shifts of all groups is 0 but for rounding.
_SMALLEST_SINGULAR = 1e-9


def attenuation(of_groups: Floats) -> Floats:
    """Return what remains of group 1's difference from group 0 without its permutation mean, (…), from responses (…, 2, 2).

    1 for groups in the same ratio in every stratum; with units of equal size and one block (1 / n1 + 1 / n0) times the sum over
    strata of n1s · n0s / ns, the weights of Mantel & Haenszel. NaN where nothing remains.
    """
    left = of_groups[..., 1, 1] - of_groups[..., 0, 1]
    return np.where(left > NO_VARIANCE, left, np.nan)


def unattenuated(gaps: Floats, of_groups: Floats) -> Floats:
    """Return gaps of several groups to their mean, less permutation means, (n_groups,), and responses: the gaps that gave these.

    NaN for groups that have none; the others are compared with each other alone.
    """
    adjusted, has_gap = np.full_like(gaps, np.nan), ~np.isnan(gaps)
    if has_gap.any():
        among = of_groups[np.ix_(has_gap, has_gap)]
        adjusted[has_gap] = (
            np.linalg.pinv(among - among.mean(axis=0), rtol=_SMALLEST_SINGULAR) @ gaps[has_gap]
        )
    return adjusted


def sizes_stay(design: Design, items: Floats) -> bool:
    """Return whether groups have the same numbers of items in every arrangement; items (n_units, n_blocks, …).

    Group means are then linear in the labels, and so have the means under permutation that expected sums give.
    """
    moved = items[:, 0] - items[:, 1] if items.shape[1] == 2 else items[:, 0]
    order = np.argsort(design.strata, kind="stable")
    is_same_stratum = np.diff(design.strata[order]) == 0
    is_same_size: NDArray[np.bool_] = np.diff(moved[order], axis=0) == 0
    return bool(is_same_size[is_same_stratum].all())


def drawn_means(design: Design, statistic: FamilyStatistic, seed: int) -> Floats:
    """Return means under permutation (n_features,), from enough draws of their own that their error is small next to the null's
    sd.
    """
    draws = permuted_labels(design, _N_DRAWS, stable_seed(seed, "null_mean"))
    return nan_mean(np.concatenate([statistic(block) for block in draws]), 0)
