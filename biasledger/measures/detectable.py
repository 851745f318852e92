"""The smallest difference between two groups that an audit can find, computed from its size before any question is asked.

For two means of unequal sizes the difference, in standard deviations of a single value, that a two-sided test at alpha finds
with a given power is

    d = (z(1 - alpha / 2) + z(power)) * sqrt(1 / n1 + 1 / n2)

(Cohen 1988, Statistical Power Analysis for the Behavioral Sciences, chapter 2, for large samples). A share's standard deviation
is sqrt(p (1 - p)), at most one half. Nothing is found where too few arrangements of the labels exist for a p below alpha.
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
