"""Means of groups, their differences and intervals, over clusters: a sampled subject with all its versions.

Intervals leave out clusters, never one unit of a pair.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from biasledger.measures.engine.design import Floats, Integers, Labels, Moves
from biasledger.measures.engine.intervals import NO_VARIANCE, limits_of_share, t_quantile
from biasledger.measures.engine.jackknife import jackknife_variance
from biasledger.measures.engine.sums import numbered, sums_at
from biasledger.measures.gaps.units import Units


@dataclass(frozen=True)
class Interval:
    """unit: what makes it as long as it is, cases or names; power: it shrinks with their number to the minus power."""

    value: float = np.nan
    error: float = np.nan
    low: float = np.nan
    high: float = np.nan
    unit: str = "case"
    power: float = 0.5


@dataclass(frozen=True)
class Groups:
    """Means (0 to 1) of k groups and their standard errors over clusters.

    present: (n_clusters, k), whether a cluster holds units of the group. without: the means with each cluster left out.
    deviations: without, less its mean over the clusters that hold the group; 0 for the other clusters.
    """

    means: Floats
    errors: Floats
    sizes: Integers
    present: NDArray[np.bool_]
    without: Floats
    deviations: Floats
    correlation_of_rivals: float

    @classmethod
    def of(cls, units: Units, n_groups: int) -> Groups:
        """Return the groups of units labelled 0 … n_groups - 1."""
        names, clusters = np.unique(units.clusters, return_inverse=True)
        cells = clusters, units.design.labels
        n, total = (sums_at(cells, values, names.size, n_groups) for values in (units.n, units.total))
        present = n > 0
        sizes = present.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            without = (total.sum(axis=0) - total) / (n.sum(axis=0) - n)
            without[:, sizes < 2] = np.nan
            averages = np.where(present, without, 0.0).sum(axis=0) / sizes
            deviations = np.where(present, without - averages, 0.0)
            errors = np.sqrt((sizes - 1) / sizes * (deviations**2).sum(axis=0))
        return cls(
            total.sum(axis=0) / n.sum(axis=0),
            errors,
            sizes,
            present,
            without,
            deviations,
            units.correlation_of_rivals,
        )

    def share_clusters(self, a: int, b: int) -> bool:
        """Return whether any cluster holds units of both groups: what varies between clusters then cancels."""
        return bool((self.present[:, a] & self.present[:, b]).any())

    def correlation(self, a: int, b: int) -> float:
        """Correlation of two groups' means."""
        if not self.share_clusters(a, b):
            return self.correlation_of_rivals
        return _correlation(self.deviations[:, a], self.deviations[:, b])

    def limits(self, group: int, alpha: float) -> tuple[float, float]:
        """Limits of a group's mean."""
        return limits_of_share(
            float(self.means[group]), float(self.errors[group]), int(self.sizes[group]), alpha
        )


def difference_of(groups: Groups, a: int, b: int, alpha: float) -> Interval:
    """Return the mean of group a minus that of group b, in clusters that hold both or in separate ones.

    Student's interval over clusters, made longer to where rare outcomes need it: an estimate with few selected people, or few
    subjects treated differently, has too small an error whenever there were fewer of them than there should be. The
    difference is split into two means between 0 and 1 that such events move apart (the groups' own, or, of paired
    clusters, the mean advantage and the mean disadvantage), and their limits are combined (Zou & Donner 2008).
    """
    value = float(groups.means[a] - groups.means[b])
    if groups.share_clusters(a, b):
        held = groups.present[:, a] | groups.present[:, b]
        return paired_interval(value, groups.without[held, a] - groups.without[held, b], alpha)
    variances, sizes = groups.errors[[a, b]] ** 2, groups.sizes[[a, b]]
    if (sizes < 2).any():
        return Interval(value)
    correlation = groups.correlation(a, b)
    error = float(np.sqrt(variances.sum() - 2 * correlation * np.sqrt(variances.prod())))
    down, up = half_widths(
        (float(groups.means[a]), *groups.limits(a, alpha)),
        (float(groups.means[b]), *groups.limits(b, alpha)),
        correlation,
    )
    # Small groups are seen to by their own limits.
    return _students(value, error, float(sizes.sum() - 2), (down, up), alpha)


def paired_interval(value: float, without: Floats, alpha: float) -> Interval:
    """Return the interval of a gap inside clusters; without: (n_clusters,), the gap without each cluster that has both groups."""
    n = len(without)
    if n < 2 or np.isnan(without).any():
        return Interval(value)
    pseudo_values = n * value - (n - 1) * without
    error = float(pseudo_values.std(ddof=1) / np.sqrt(n))
    # A sign of the gap that no subject showed is taken to be as large as the largest one; if all are 0, as the whole range.
    largest = float(np.abs(pseudo_values).max())
    size = largest if largest > NO_VARIANCE else 1.0
    parts = [np.maximum(sign * pseudo_values, 0.0) / size for sign in (1, -1)]
    means = [float(part.mean()) for part in parts]
    limits = [
        limits_of_share(mean, float(part.std(ddof=1) / np.sqrt(n)), n, alpha)
        for mean, part in zip(means, parts, strict=True)
    ]
    down, up = half_widths((means[0], *limits[0]), (means[1], *limits[1]), _correlation(parts[0], parts[1]))
    down, up = size * down, size * up
    if error > NO_VARIANCE:
        # Few cases with too large a difference have too large an error as well: the end nearer to 0 is Student's.
        down, up = (0.0 if value > 0 else down), (0.0 if value < 0 else up)
    return _students(value, error, float(n - 1), (down, up), alpha)


def _students(
    value: float, error: float, degrees: float, least: tuple[float, float], alpha: float
) -> Interval:
    """Student's interval, whose arms are at least as long as these: below and above."""
    half_width = float(t_quantile(1 - alpha / 2, degrees)) * error
    down, up = (max(half_width, arm) for arm in least)
    return Interval(value, error, max(value - down, -1.0), min(value + up, 1.0))


def half_widths(
    a: tuple[float, float, float], b: tuple[float, float, float], correlation: float
) -> tuple[float, float]:
    """Distances of the lower and the upper end of a - b from it; a and b: estimate, lower and upper limit."""
    a_down, a_up = a[0] - a[1], a[2] - a[0]
    b_down, b_up = b[0] - b[1], b[2] - b[0]
    down = a_down**2 + b_up**2 - 2 * correlation * a_down * b_up
    up = a_up**2 + b_down**2 - 2 * correlation * a_up * b_down
    return float(np.sqrt(max(down, 0.0))), float(np.sqrt(max(up, 0.0)))


def _correlation(a: Floats, b: Floats) -> float:
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a**2).sum() * (b**2).sum()))
    return float((a * b).sum()) / scale if scale > NO_VARIANCE**2 else 0.0


def names_excess(units: Units, names: Moves) -> tuple[float, float]:
    """Return what names add to the variance of the gap by cases, and the degrees of freedom of the names' variance (Welch).

    The addition is the variance over names less that over single cells, which they share with the cases; at least 0.
    """
    name_variances = _jackknife_variances(units, names.of_row, names.design.labels)
    cell_variances = _jackknife_variances(units, np.arange(units.n.size), units.design.labels)
    variance = float(name_variances.sum())
    excess = variance - float(cell_variances.sum())
    if not np.isfinite(excess) or variance <= NO_VARIANCE**2:
        return 0.0, np.inf
    sizes = np.array([names.design.count(label) for label in (0, 1)])
    return max(excess, 0.0), variance**2 / float((name_variances**2 / (sizes - 1)).sum())


def names_p_value(units: Units, names: Moves, gap: float) -> float:
    """Welch's two-sided p of the gap inside strata over names, which are too few to be permuted; 1 if it is not known."""
    variances = _jackknife_variances(units, names.of_row, names.design.labels)
    sizes = np.array([names.design.count(label) for label in (0, 1)])
    with np.errstate(invalid="ignore", divide="ignore"):
        degrees = variances.sum() ** 2 / (variances**2 / (sizes - 1)).sum()
        p_value = 2 * special.stdtr(degrees, -abs(gap) / np.sqrt(variances.sum()))
    return float(p_value) if np.isfinite(p_value) else 1.0


def _jackknife_variances(units: Units, clusters: Integers, labels: Labels) -> Floats:
    """Return the variance that each group (0, 1) adds to the gap inside strata; clusters from 0, each in one group: labels."""
    _, without = stratified(replace(units, clusters=clusters))
    return np.array([jackknife_variance(without[labels == label]) for label in (0, 1)])


def stratified(units: Units) -> tuple[float, Floats]:
    """Mantel-Haenszel difference, and the same without each cluster, (n_clusters,); NaN where no stratum holds both groups."""
    strata = numbered(units.design.strata)
    clusters = numbered(units.clusters)
    n_strata = int(strata.max()) + 1
    # Pairs coded as one number are sorted many times faster than rows of two.
    pairs, pair_of = np.unique(clusters * n_strata + strata, return_inverse=True)
    clusters_of_pairs, inside = np.divmod(pairs, n_strata)

    def cells(places: NDArray[np.intp], n_places: int) -> Floats:
        """Answers and totals of both groups, (n_places, group, 2)."""
        at = places * 2 + units.design.labels
        sums = [np.bincount(at, weights=values, minlength=2 * n_places) for values in (units.n, units.total)]
        return np.stack(sums, axis=-1).reshape(n_places, 2, 2).astype(np.float64)

    def terms(sums: Floats) -> Floats:
        """Return a stratum's weight and weighted difference, (n, 2)."""
        n, total = sums[:, :, 0], sums[:, :, 1]
        both = n.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            weights = n[:, 1] * n[:, 0] / both
            differences = (total[:, 1] * n[:, 0] - total[:, 0] * n[:, 1]) / both
        return np.where(both[:, np.newaxis] > 0, np.column_stack([weights, differences]), 0.0)

    by_stratum = cells(strata, n_strata)
    of_strata = terms(by_stratum)
    changes = terms(by_stratum[inside] - cells(pair_of, len(pairs))) - of_strata[inside]
    left = np.tile(of_strata.sum(axis=0), (int(clusters.max()) + 1, 1))
    np.add.at(left, clusters_of_pairs, changes)
    weight, weighted = of_strata.sum(axis=0)
    if weight <= 0:
        return np.nan, np.full(len(left), np.nan)
    # Nothing is left where the last comparable pair was taken out; rounding leaves a trace of its weight.
    has_weight = left[:, 0] > NO_VARIANCE * weight
    return float(weighted / weight), np.where(
        has_weight, left[:, 1] / np.where(has_weight, left[:, 0], 1.0), np.nan
    )


def comparable_clusters(units: Units) -> NDArray[np.bool_]:
    """Return of which groups (0, 1) each cluster has units in a stratum that holds both, (n_clusters, 2): others show no gap."""
    strata = numbered(units.design.strata)
    clusters = numbered(units.clusters)
    labels = units.design.labels
    holds = np.zeros((int(strata.max()) + 1, 2), dtype=bool)
    holds[strata, labels] = True
    in_both = np.logical_and(holds[:, 0], holds[:, 1])[strata]
    held = np.zeros((int(clusters.max()) + 1, 2), dtype=bool)
    held[clusters[in_both], labels[in_both]] = True
    return held
