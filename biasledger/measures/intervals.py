"""Intervals of means between 0 and 1 from standard errors over clusters, for those near an end too."""

from __future__ import annotations

import numpy as np
from scipy import stats

from biasledger.measures.resampling import Floats, Integers

NO_VARIANCE = 1e-12
"""Standard errors up to this are rounding."""

_RULE_OF_THREE = 3.0
_LARGEST_EFFECTIVE_SIZE = 1e9


def rule_of_three(n_clusters: Integers | int, alpha: float) -> Floats:
    """How large a share can be that none of n clusters shows: 3 / n, for other alphas than 0.05 accordingly longer or shorter."""
    return np.asarray(
        _RULE_OF_THREE * np.log(alpha) / np.log(0.05) / np.maximum(n_clusters, 1), dtype=np.float64
    )


def share_limits(
    shares: Floats, errors: Floats, degrees: Floats, n_clusters: Integers, alpha: float
) -> tuple[Floats, Floats]:
    """Lower and upper limits of shares (0 to 1), arrays of one shape; NaN where the error is, unless the share is 0 or 1.

    Clopper & Pearson's limits of as many yes or no answers as would have the share's standard error: near 0 and 1 they are as
    long as they must be, in between they are those of normal theory (Korn & Graubard 1998). The rule of three holds for a
    share of 0 or 1, and for one that does not vary over its n_clusters.
    """
    shares = np.clip(shares, 0.0, 1.0)
    upper = 1 - alpha / 2
    is_fixed = (shares <= NO_VARIANCE) | (shares >= 1 - NO_VARIANCE) | (errors <= NO_VARIANCE)
    inside, spread = np.where(is_fixed, 0.5, shares), np.where(is_fixed, 1.0, errors)
    t_to_z = stats.norm.ppf(upper) / stats.t.ppf(upper, np.where(is_fixed, 1.0, degrees))
    effective = np.minimum(t_to_z**2 * inside * (1 - inside) / spread**2, _LARGEST_EFFECTIVE_SIZE)
    yes, no = effective * inside, effective * (1 - inside)
    bound = rule_of_three(n_clusters, alpha)
    low = np.where(is_fixed, np.maximum(shares - bound, 0.0), stats.beta.ppf(1 - upper, yes, no + 1))
    high = np.where(is_fixed, np.minimum(shares + bound, 1.0), stats.beta.ppf(upper, yes + 1, no))
    return low, high


def t_half_widths(errors: Floats, degrees: Floats, alpha: float) -> Floats:
    """Half the lengths of Student's intervals; NaN where the error is."""
    return np.asarray(stats.t.ppf(1 - alpha / 2, degrees) * errors, dtype=np.float64)
