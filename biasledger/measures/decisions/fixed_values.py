"""Answers against a fixed value where no groups are compared: an association score against 0, a choice of two against 0.5."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from biasledger.measures.comparisons import Comparison, table
from biasledger.measures.declared import Measure, Threshold
from biasledger.measures.engine.design import Design, Floats, Labels, pooled
from biasledger.measures.engine.intervals import NO_VARIANCE, limits_of_share
from biasledger.measures.engine.resampling import Draws, PermutationResult, permutation_test
from biasledger.measures.schema import Table

MEASURES = (
    Measure(
        name="fixed_value_gap",
        description=(
            "How far answers lie from a fixed value that the audit names (`analysis.decisions.against`): the share of favourable"
            " labels, or the mean score; every subject counts once"
        ),
        scale="share of the answers' range, answers minus value",
        bounds=(-1, 1),
        side="two-sided",
        unit="subjects",
        label="the distance from the fixed value",
        display=(100, " points"),
        threshold=Threshold(
            value=0.1,
            reason="No published value: ten answers in a hundred, or a tenth of the scale",
            source="Ours",
            min_units=10,
            severity="error",
        ),
    ),
)

_SMALLEST_P, _N_BISECTIONS = 1e-12, 40


@dataclass(frozen=True)
class ClusterMeans:
    """The input of the measure: the mean outcome of each subject, (n_clusters,), the outcome's range, and the value to test."""

    means: Floats
    lowest: float
    highest: float
    against: float


@dataclass(frozen=True)
class FixedValueGap:
    """The mean over clusters less the fixed value, in shares of the outcome's range, with its test and interval.

    mean: in the outcome's own unit, every cluster counted once. p_signs, p_limits: of the sign flips, and the smallest alpha at
    which the interval leaves the value out; the test has the larger one. width_power: as in `Gap`.
    """

    mean: float
    gap: float
    standard_error: float
    interval_low: float
    interval_high: float
    n_clusters: int
    p_signs: float
    p_limits: float
    width_power: float
    test: PermutationResult | None


def fixed_value_gap(units: ClusterMeans, *, alpha: float, **draws: Unpack[Draws]) -> FixedValueGap:
    """Hold the clusters' mean against the fixed value, with the limits of a share over clusters and a test of sign flips.

    Sign flips take deviations for as likely with the other sign, which they are not where the value is near an end of the range:
    of few subjects with a share of 0.1 none may have a yes. So p is no smaller than that of the limits, which allow for outcomes
    that no cluster showed. No test with n_permutations 0, or of a single cluster.

    Raises:
        ValueError: there is no cluster, or a mean or the value lies outside the range.
    """
    means, n = units.means, units.means.size
    if not n:
        raise ValueError("no subject has an answer")
    if not ((units.lowest <= means) & (means <= units.highest)).all():
        raise ValueError(f"a mean lies outside {units.lowest} to {units.highest}")
    if not units.lowest <= units.against <= units.highest:
        raise ValueError(f"the fixed value {units.against} lies outside {units.lowest} to {units.highest}")
    scale = units.highest - units.lowest
    shares, against = (means - units.lowest) / scale, (units.against - units.lowest) / scale
    error = float(shares.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan
    low, high = limits_of_share(float(shares.mean()), error, n, alpha)
    test, p_signs, p_limits = None, np.nan, np.nan
    if draws["n_permutations"] and n > 1:
        flips = _sign_flips(shares - against, draws)
        p_signs, p_limits = flips.p_value, _p_of_limits(shares, error, against)
        test = replace(flips, p_value=max(p_signs, p_limits))
    return FixedValueGap(
        float(means.mean()),
        float(shares.mean() - against),
        error,
        low - against,
        high - against,
        n,
        p_signs,
        p_limits,
        1.0 if error <= NO_VARIANCE else 0.5,
        test,
    )


def fixed_value_gaps(comparisons: Iterable[Comparison[ClusterMeans]]) -> Table:
    """Return a row for each run, mitigation and category of subjects: its FixedValueGap."""
    return table(
        FixedValueGap,
        comparisons,
        lambda one, settings: fixed_value_gap(one.units, **settings),
        "fixed_value_gap",
    )


def _p_of_limits(shares: Floats, error: float, against: float) -> float:
    """Return the smallest alpha at which the limits leave a share out, by bisection of its logarithm."""
    out, inside = 0.0, np.log(_SMALLEST_P)
    for _ in range(_N_BISECTIONS):
        middle = (out + inside) / 2
        low, high = limits_of_share(float(shares.mean()), error, shares.size, float(np.exp(middle)))
        out, inside = (out, middle) if low <= against <= high else (middle, inside)
    return float(np.exp(out))


def _sign_flips(deviations: Floats, draws: Draws) -> PermutationResult:
    """Return the size of the mean; a cluster is a stratum of two units, of which one has its deviation and the other the
    opposite.
    """
    n = deviations.size
    values = np.column_stack([deviations, -deviations]).ravel()
    blocks = pooled(Design.of_pairs(n).with_content(values), draws["seed"])
    sums = blocks.sums(values)

    def size(labels: Labels) -> Floats:
        return np.asarray(np.abs(labels.astype(np.float64) @ sums) / n)

    return permutation_test(blocks.design, size, **draws)
