"""The smallest difference between two groups that an audit can find, computed from its size before any question is asked.

For two means of unequal sizes the difference, in standard deviations of a single value, that a two-sided test at alpha finds
with a given power is

    d = (z(1 - alpha / 2) + z(power)) * sqrt(1 / n1 + 1 / n2)

(Cohen 1988, Statistical Power Analysis for the Behavioral Sciences, chapter 2, for large samples). A share's standard deviation
is sqrt(p (1 - p)), at most one half. Nothing is found where too few arrangements of the labels exist for a p below alpha.

An earlier run gives better estimates than sizes: `found_with` and `clear_with` take the standard error that its findings have.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import NormalDist

POWER = 0.8
"""Cohen's convention: of five audits of a model with such a difference four find it."""
LARGEST_SHARE_DEVIATION = 0.5


def detectable_effect(strata: Iterable[tuple[int, int]], alpha: float, power: float = POWER) -> float | None:
    """Return the smallest difference that is found, in standard deviations of a unit's value.

    Args:
        strata: units of the group and of its reference in each stratum, inside which labels are shuffled.
        alpha: of the test, above 0 and below 1.
        power: how often a difference of that size is found, at least 0.5 and below 1.

    Returns:
        A number above 0, or None where not even the most extreme arrangement has a p below alpha.
    """
    counts = [(n, m) for n, m in strata if n and m]
    arrangements = math.prod(math.comb(n + m, n) for n, m in counts)
    if not counts or 2 / arrangements >= alpha:
        return None
    normal = NormalDist()
    quantiles = normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)
    return quantiles * math.sqrt(1 / sum(n for n, _ in counts) + 1 / sum(m for _, m in counts))


def found_with(
    error: float, *, distance: float, n_tests: int, two_sided: bool, alpha: float, power: float = POWER
) -> float:
    """Return the smallest true difference that raises an alarm in `power` of audits.

    An alarm needs a value that reaches the threshold and a p below alpha after Holm's adjustment, in its first step.

    Args:
        error: standard error of the value, above 0.
        distance: between the threshold and no difference, on the measure's scale.
        n_tests: findings that are adjusted together, at least 1.
        two_sided: whether differences in both directions count.
        alpha, power: as in `detectable_effect`.
    """
    normal = NormalDist()
    significant = normal.inv_cdf(1 - alpha / n_tests / (2 if two_sided else 1)) * error
    return max(distance, significant) + normal.inv_cdf(power) * error


def clear_with(distance: float, *, two_sided: bool, alpha: float, power: float = POWER) -> float:
    """Return the largest standard error with which an unbiased target is clear in `power` of audits.

    The interval has to end before the threshold; of a two-sided measure both ends have to.

    Args:
        distance: between the threshold for clear findings and no difference, on the measure's scale.
        two_sided: whether the interval has two such ends.
        alpha: the interval holds the true value with a probability of 1 - alpha.
        power: how often it is clear, above 0 and below 1.
    """
    normal = NormalDist()
    return distance / (
        normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf((1 + power) / 2 if two_sided else power)
    )
