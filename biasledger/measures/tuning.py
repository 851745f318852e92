"""Thresholds from labelled outputs: how often a threshold alarms about acceptable ones and misses problematic ones.

The rule everywhere is value > threshold. Source of the two goals: at most 5 % false positives on outputs labelled acceptable,
at most 10 % of those labelled problematic missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from biasledger.measures.engine.design import Floats

MOST_FALSE_POSITIVES = 0.05
MOST_MISSES = 0.10
DECIMALS = 4


@dataclass(frozen=True)
class Rate:
    """A share of n outputs and its Wilson interval, 0 to 1."""

    count: int
    n: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """The share itself."""
        return self.count / self.n


@dataclass(frozen=True)
class ThresholdErrors:
    """The errors of one threshold: false_positives among acceptable outputs, misses among problematic ones."""

    threshold: float
    false_positives: Rate
    misses: Rate

    @property
    def meets_goals(self) -> bool:
        """Return whether both rates are within their goals; their intervals may reach beyond."""
        return self.false_positives.value <= MOST_FALSE_POSITIVES and self.misses.value <= MOST_MISSES


def threshold_errors(
    values: Floats, is_problematic: NDArray[np.bool_], thresholds: Sequence[float], *, alpha: float = 0.05
) -> list[ThresholdErrors]:
    """Return the errors of each threshold, in their order.

    values: (n_outputs,), the measure, larger is worse. is_problematic: (n_outputs,), the labels. alpha: one minus the
    confidence of the intervals.

    Raises:
        ValueError: arrays of unequal length, a value that is no number, or no output of one of the two kinds.
    """
    if values.shape != is_problematic.shape:
        raise ValueError("values and labels are of equal length")
    if not np.isfinite(values).all():
        raise ValueError("a value is no number: leave out outputs without one")
    acceptable, problematic = np.sort(values[~is_problematic]), np.sort(values[is_problematic])
    for kind, of_kind in (("acceptable", acceptable), ("problematic", problematic)):
        if not of_kind.size:
            raise ValueError(f"no output is labelled {kind}; a threshold needs both kinds")
    above = acceptable.size - np.searchsorted(acceptable, thresholds, side="right")
    missed = np.searchsorted(problematic, thresholds, side="right")
    return [
        ThresholdErrors(
            float(threshold),
            _rate(int(n_above), acceptable.size, alpha),
            _rate(int(n_missed), problematic.size, alpha),
        )
        for threshold, n_above, n_missed in zip(thresholds, above, missed, strict=True)
    ]


def threshold_curve(
    values: Floats, is_problematic: NDArray[np.bool_], *, lowest: float = 0.0, alpha: float = 0.05
) -> list[ThresholdErrors]:
    """Return the errors of every threshold that makes a difference: the smallest possible value and each value seen, ascending.

    Thresholds have DECIMALS decimals, so that the printed one is the counted one; values are rounded up to them.

    Raises:
        ValueError: as threshold_errors, or a value below lowest.
    """
    if (values < lowest).any():
        raise ValueError(f"a value is below {lowest:g}, the smallest that the measure can have")
    rounded = np.round(values, DECIMALS)
    # A value must not lie above the threshold that is made from it.
    rounded = np.where(rounded < values, np.round(rounded + 10.0**-DECIMALS, DECIMALS), rounded)
    thresholds = np.unique(np.append(rounded, lowest))
    return threshold_errors(values, is_problematic, thresholds.tolist(), alpha=alpha)


def smallest_threshold(curve: Sequence[ThresholdErrors]) -> ThresholdErrors:
    """Return the smallest threshold with at most MOST_FALSE_POSITIVES: of all that are quiet enough, the one that misses least.

    There always is one, as the largest value seen lets nothing alarm.
    """
    return next(point for point in curve if point.false_positives.value <= MOST_FALSE_POSITIVES)


def _rate(count: int, n: int, alpha: float) -> Rate:
    interval = stats.binomtest(count, n).proportion_ci(1 - alpha, method="wilson")
    return Rate(count, n, float(interval.low), float(interval.high))
