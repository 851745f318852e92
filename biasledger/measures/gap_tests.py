"""Permutation test of a gap inside strata: what is permuted is what is judged, and studentised.

For every arrangement of the labels the gap is computed anew, with its Mantel-Haenszel weights, and divided by a standard error
over clusters that lets groups spread unequally: permuting the bare difference of a small group with a large spread and a large
one with a small spread gives many times the false alarms that it should (Janssen 1997, Chung & Romano 2013).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from biasledger.measures.intervals import NO_VARIANCE
from biasledger.measures.resampling import Floats, Integers, Labels, PermutationResult, permutation_tests
from biasledger.measures.units import Moves, Units

_PRIOR_DEGREES = 1.0
"""Degrees of freedom that both groups' common variance adds to each group's own: a group whose few units are all equal is not
known without error."""


@dataclass(frozen=True)
class StratifiedGap:
    """The gap inside strata of any arrangement of the labels, and its standard error.

    The gap is Σ w d / Σ w over strata, d the difference of the groups' means and w = n1 n0 / (n1 + n0). Its error is that of the
    regression on the label with an effect for each stratum, summed over clusters (Liang & Zeger 1986). n, residuals:
    (n_units, n_strata), answers and the total less what the stratum's mean gives. clusters: (n_units,), None where every unit
    is one by itself, so that each group has a variance of its own.
    """

    n: sparse.csr_array
    residuals: sparse.csr_array
    clusters: sparse.csr_array | None
    scale: float

    @classmethod
    def of(cls, units: Units, moves: Moves, clusters: Integers | None, scale: float) -> StratifiedGap:
        """clusters: of each of the units that move; scale: the range of the outcome."""
        _, strata = np.unique(units.design.strata, return_inverse=True)
        means = (np.bincount(strata, weights=units.total) / np.bincount(strata, weights=units.n))[strata]
        sums = None
        if clusters is not None and np.unique(clusters).size < clusters.size:
            _, places = np.unique(clusters, return_inverse=True)
            one = np.ones(places.size)
            sums = sparse.csr_array(sparse.coo_array((one, (places, np.arange(places.size)))))
        return cls(
            moves.by_place(units.n, strata),
            moves.by_place(units.total - means * units.n, strata),
            sums,
            scale,
        )

    def values(self, labels: Labels) -> tuple[Floats, Floats]:
        """Gap and standard error of arrangements (b, n_units): (b,) each; NaN where no stratum holds both groups."""
        marked = np.ascontiguousarray(labels.T, dtype=np.float64)
        n, residuals = np.asarray(self.n.sum(axis=1)), np.asarray(self.residuals.sum(axis=1))
        sizes = np.asarray(self.n.sum(axis=0))[:, np.newaxis]
        shares = (self.n.T @ marked) / sizes
        weights = (sizes * shares * (1 - shares)).sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            weights = np.where(weights > NO_VARIANCE * n.sum(), weights, np.nan)
            gaps = (residuals @ marked) / weights
            gaps = np.where(
                np.abs(gaps) > NO_VARIANCE * self.scale, gaps, np.where(np.isnan(gaps), np.nan, 0.0)
            )
            # Of a unit's answers, how far the label lies from its stratum's mean, times what the gap does not explain.
            shared, shared_squared = self.n @ shares, self.n @ shares**2
            leverage = shared + marked * (n[:, np.newaxis] - 2 * shared)
            own = marked * residuals[:, np.newaxis] - self.residuals @ shares
            own -= gaps * (shared_squared + marked * (n[:, np.newaxis] - 2 * shared))
            if self.clusters is None:
                variances = _separate(own, leverage, marked)
            else:
                variances = _summed(self.clusters @ own)
            errors = np.sqrt(variances) / weights
        # Where nothing varies the gap itself decides: far beyond any error, or 0.
        return gaps, np.maximum(errors, NO_VARIANCE * self.scale)


def _summed(sums: Floats) -> Floats:
    """Variance of the total of clusters that hold both groups."""
    return np.asarray((sums**2).sum(axis=0) * len(sums) / max(len(sums) - 1, 1))


def _separate(own: Floats, leverage: Floats, marked: Floats) -> Floats:
    """Sum of both groups' variances; each group's own, with some degrees of freedom of the common one."""
    squares, leverages = own**2, leverage**2
    sizes, sums, scales = [], [], []
    for inside in (marked, 1 - marked):
        sizes.append(inside.sum(axis=0))
        scales.append((inside * leverages).sum(axis=0))
        sums.append((inside * squares).sum(axis=0) * sizes[-1] / scales[-1])
    common = (sums[0] + sums[1]) / np.maximum(sizes[0] + sizes[1] - 2, 1)
    variances = [
        scale * (total + _PRIOR_DEGREES * common) / (size - 1 + _PRIOR_DEGREES)
        for scale, total, size in zip(scales, sums, sizes, strict=True)
    ]
    return np.asarray(variances[0] + variances[1])


def gap_test(
    units: Units,
    moves: Moves,
    clusters: Integers | None,
    *,
    scale: float,
    n_permutations: int,
    seed: int,
    stop_after: int | None,
) -> PermutationResult:
    """Two-sided test of the gap inside strata, when labels of `moves` are permuted; observed, null mean and sd are the gap's.

    clusters: of each of the units that move, None where each is one by itself. scale: the range of the outcome.
    """
    statistic = StratifiedGap.of(units, moves, clusters, scale)
    gaps, _ = statistic.values(moves.design.labels[np.newaxis, :])
    observed = float(gaps[0])
    sign = -1.0 if observed < 0 else 1.0

    def statistics(labels: Labels) -> Floats:
        values, errors = statistic.values(labels)
        is_observed = (labels == moves.design.labels).all(axis=1)
        widening = np.where(is_observed, 1.0, units.null_scale)
        return np.column_stack([np.abs(values) / errors * widening, sign * values * widening])

    two_sided, one_sided = permutation_tests(
        moves.design, statistics, n_permutations=n_permutations, seed=seed, stop_after=stop_after
    )
    return replace(
        two_sided, observed=observed, null_mean=sign * one_sided.null_mean, null_sd=one_sided.null_sd
    )
