"""Intervals of means between 0 and 1 from standard errors over clusters, for those near an end too."""

from __future__ import annotations

import numpy as np
from scipy import special

from biasledger.measures.engine.design import Floats, Integers

NO_VARIANCE = 1e-12
"""Standard errors up to this are rounding."""

Z = 1.959964
"""Standard errors to either side of an interval of 95 %."""

_LARGEST_EFFECTIVE_SIZE = 1e9


# scipy's distributions check their arguments in every call, which takes far longer than the functions behind them.
def t_quantile(probability: float, degrees: Floats | Integers | float) -> Floats:
    """Quantile of Student's distribution."""
    return np.asarray(special.stdtrit(degrees, probability), dtype=np.float64)


def beta_quantile(probability: float, a: Floats, b: Floats) -> Floats:
    """Quantile of the beta distribution."""
    return np.asarray(special.betaincinv(a, b, probability), dtype=np.float64)


def rule_of_three(n_clusters: Integers | int, alpha: float) -> Floats:
    """Return the largest share that none of n clusters shows with probability alpha / 2: Clopper & Pearson's limit, about 3.7 /
    n.
    """
    return np.asarray(1 - (alpha / 2) ** (1 / np.maximum(n_clusters, 1)), dtype=np.float64)


def share_limits(
    shares: Floats, errors: Floats, degrees: Floats, n_clusters: Integers, alpha: float
) -> tuple[Floats, Floats]:
    """Return the lower and upper limits of shares (0 to 1), arrays of one shape; NaN where the error is, unless the share is 0
    or 1.

    Clopper & Pearson's limits of as many yes or no answers as would have the share's standard error: near 0 and 1 they are as
    long as they must be, in between they are those of normal theory (Korn & Graubard 1998). The rule of three holds for a
    share of 0 or 1, and for one that does not vary over its n_clusters.
    """
    shares = np.clip(shares, 0.0, 1.0)
    upper = 1 - alpha / 2
    is_fixed = (shares <= NO_VARIANCE) | (shares >= 1 - NO_VARIANCE) | (errors <= NO_VARIANCE)
    inside, spread = np.where(is_fixed, 0.5, shares), np.where(is_fixed, 1.0, errors)
    t_to_z = special.ndtri(upper) / t_quantile(upper, np.where(is_fixed, 1.0, degrees))
    effective = np.minimum(t_to_z**2 * inside * (1 - inside) / spread**2, _LARGEST_EFFECTIVE_SIZE)
    yes, no = effective * inside, effective * (1 - inside)
    bound = rule_of_three(n_clusters, alpha)
    low = np.where(is_fixed, np.maximum(shares - bound, 0.0), beta_quantile(1 - upper, yes, no + 1))
    high = np.where(is_fixed, np.minimum(shares + bound, 1.0), beta_quantile(upper, yes + 1, no))
    return low, high


def limits_of_share(share: float, error: float, n_clusters: int, alpha: float) -> tuple[float, float]:
    """Return share_limits of one share, a mean over clusters; NaN of a single cluster."""
    if n_clusters < 2:
        return np.nan, np.nan
    low, high = share_limits(
        np.array([share]), np.array([error]), np.array([n_clusters - 1.0]), np.array([n_clusters]), alpha
    )
    return float(low[0]), float(high[0])


def difference_limits(
    shares: Floats,
    errors: Floats,
    share_errors: Floats,
    expected_errors: Floats,
    degrees: Floats,
    n_clusters: Integers,
    alpha: float,
) -> tuple[Floats, Floats]:
    """Return how far below and above its estimate a share less an expected share reaches; arrays of one shape.

    errors: of the difference; share_errors, expected_errors: of both parts, whose correlation follows. The share's own arms
    are those of share_limits, so that they hold near 0 and 1, the expected share's Student's, and both are put together as
    variances of correlated parts are (Zou & Donner 2008): in the middle that gives Student's interval of the difference. A
    difference that varies in no cluster gets the share's rule of three.
    """
    is_fixed = errors <= NO_VARIANCE
    low, high = share_limits(shares, np.where(is_fixed, 0.0, share_errors), degrees, n_clusters, alpha)
    # If the error is unknown, so are the share's limits, except for a share of 0 or 1, which is its own limit.
    is_alone = is_fixed | np.isnan(errors)
    expected = np.where(is_alone, 0.0, t_half_widths(expected_errors, degrees, alpha))
    product = np.where(is_alone, 0.0, share_errors * expected_errors)
    correlations = (share_errors**2 + expected_errors**2 - errors**2) / np.where(
        product > NO_VARIANCE**2, 2 * product, np.inf
    )
    correlations = np.where(is_alone, 0.0, np.clip(correlations, -1.0, 1.0))

    def together(arms: Floats) -> Floats:
        squares = arms**2 + expected**2 - 2 * correlations * arms * expected
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)), dtype=np.float64)

    return together(shares - low), together(high - shares)


def t_half_widths(errors: Floats, degrees: Floats, alpha: float) -> Floats:
    """Return half the lengths of Student's intervals; NaN where the error is."""
    return np.asarray(t_quantile(1 - alpha / 2, degrees) * errors, dtype=np.float64)


def half_widths_or_bounds(
    errors: Floats | float,
    degrees: Floats | float,
    n_clusters: Integers | int,
    alpha: float,
    scale: Floats | float = 1.0,
) -> Floats:
    """Return half the lengths of Student's intervals; an error of 0 gives the rule of three times `scale` instead."""
    widths = t_half_widths(np.asarray(errors), np.asarray(degrees), alpha)
    return np.where(np.asarray(errors) <= NO_VARIANCE, rule_of_three(n_clusters, alpha) * scale, widths)


def nan_mean(values: Floats, axis: int) -> Floats:
    """Return the mean of the values that are not NaN, NaN if all are."""
    n = (~np.isnan(values)).sum(axis=axis)
    return np.asarray(np.nansum(values, axis=axis) / np.where(n > 0, n, np.nan))
