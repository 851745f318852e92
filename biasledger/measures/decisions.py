"""Measures of decisions about people: gaps of two groups, impact ratios, tests of paired answers, position bias.

A unit is what moves as a whole when labels are permuted: one version of a resume, a person, or a name with every ranking
it stands in. A cluster is what was sampled: the resume with all its versions, the person, the name. Intervals leave out
clusters, never one unit of a pair.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from biasledger.measures.gap_tests import gap_test
from biasledger.measures.intervals import NO_VARIANCE, share_limits, t_quantile
from biasledger.measures.resampling import (
    Design,
    Floats,
    Integers,
    Labels,
    PermutationResult,
    group_totals,
    permutation_test,
)
from biasledger.measures.units import LEAST_NAMES, Moves, Units


@dataclass(frozen=True)
class Gap:
    """Mean outcome of the marked group minus that of the reference group; NaN and None where nothing could be estimated.

    adjusted: the gap inside strata, averaged over them with Mantel-Haenszel weights. It leaves out what follows from the
    groups standing in different strata, as applicants for different jobs do; it is the gap itself where every stratum
    holds both groups in the same proportion. It is what is tested, two-sided: the test's observed value, null_mean and
    null_sd are the adjusted gap's. n_marked, n_reference: answers. n_cases, n_names: clusters, and names, in the smaller
    group; n_names is 0 where names do not move. test: the one with the larger p of moving cases and, from LEAST_NAMES names
    a group on, names, whose p-values are p_case and p_name; unit says which ("case" or "name"). width_unit: which of both
    makes the interval of the adjusted gap as long as it is; width_power: it shrinks as that many units to the power of minus
    this, 0.5, or 1 where what nobody showed yet makes it long.
    """

    gap: float
    mean_marked: float
    mean_reference: float
    n_marked: float
    n_reference: float
    n_clusters: int
    standard_error: float
    interval_low: float
    interval_high: float
    adjusted: float
    adjusted_standard_error: float
    adjusted_low: float
    adjusted_high: float
    n_cases: int
    n_names: int
    unit: str
    p_case: float
    p_name: float
    width_unit: str
    width_power: float
    test: PermutationResult | None


@dataclass(frozen=True)
class ImpactRatio:
    """One group's selection rate over that of the best-off group, with its interval; n and n_selected count answers.

    Groups that share the largest rate are all best; the first of them is the one that the others are held against.
    fisher_p: Fisher's exact two-sided test against it, which takes answers for independent; NaN for that group itself.
    """

    label: int
    n: int
    n_selected: int
    rate: float
    ratio: float
    interval_low: float
    interval_high: float
    fisher_p: float
    is_best: bool


@dataclass(frozen=True)
class ImpactTest:
    """Smallest selection rate over the largest, with its interval and one-sided permutation test (small is extreme).

    n_smallest_group: answers of the group that has fewest; n_cases, n_names: clusters, and names that move, of the group that
    has fewest. The test's observed value and null mean are the ratio's own; which one it is, and unit, p_case, p_name,
    width_unit and width_power, as of a gap.
    """

    smallest_ratio: float
    interval_low: float
    interval_high: float
    n_smallest_group: int
    n_cases: int
    n_names: int
    unit: str
    p_case: float
    p_name: float
    width_unit: str
    width_power: float
    test: PermutationResult | None


@dataclass(frozen=True)
class PairedTest:
    """A test of 0/1 answers about the same subjects; n_discordant: subjects that were not all answered alike."""

    statistic: float
    n_blocks: int
    n_discordant: int
    p_value: float


@dataclass(frozen=True)
class PositionTest:
    """How often the candidate shown first is ranked first, beside an equal share of places, and what chance gives.

    n_sets: sets of candidates in an order; all answers to one stand together. n_positions: candidates of the longest ranking.
    The interval is Wilson's of as many independent answers as have the error over sets. p_value: of all positions;
    p_first: of the first one, both two-sided.
    """

    n_responses: int
    n_sets: int
    n_positions: int
    share_first: float
    interval_low: float
    interval_high: float
    expected_share: float
    chi_square: float
    p_value: float
    p_first: float


def gap(
    units: Units,
    *,
    lowest: float,
    highest: float,
    n_permutations: int,
    alpha: float,
    seed: int,
    stop_after: int | None = 50,
) -> Gap:
    """Gap between the units labelled 1 (marked) and 0 (reference), with its null and intervals.

    lowest, highest: the smallest and the largest outcome that an answer can have. No test with n_permutations 0 or labels
    that cannot move.

    Raises:
        ValueError: a label is neither 0 nor 1, the range is empty, or a unit's mean lies outside it.
    """
    if not np.isin(units.design.labels, (0, 1)).all():
        raise ValueError("labels of a gap are 1 (marked) and 0 (reference)")
    if not lowest < highest:
        raise ValueError(
            f"outcomes run from a lowest to a larger highest value, not from {lowest} to {highest}"
        )
    scale = highest - lowest
    # Counted from the lowest and in shares of the range, outcomes have the limits that rates have.
    shares = replace(units, total=(units.total - lowest * units.n) / scale)
    if not (np.abs(shares.total / shares.n - 0.5) <= 0.5 + NO_VARIANCE).all():
        raise ValueError(f"a unit's mean outcome lies outside {lowest} to {highest}")
    n_reference, n_marked = _sums(units.n, units.design.labels, 2)
    total_reference, total_marked = _sums(units.total, units.design.labels, 2)
    mean_marked = float(total_marked / n_marked) if n_marked else np.nan
    mean_reference = float(total_reference / n_reference) if n_reference else np.nan
    value = mean_marked - mean_reference
    names = units.by_name()
    n_names = min(names.design.count(0), names.design.count(1)) if names else 0
    difference, adjusted, n_cases = _Interval(), _Interval(), 0
    if np.isfinite(value):
        groups = _Groups.of(shares, 2)
        n_cases = int(groups.sizes.min())
        difference = _difference(groups, 1, 0, alpha)
        adjusted = _adjusted(shares, groups, difference, alpha)
        difference, adjusted = (_with_the_unseen(one, groups, alpha) for one in (difference, adjusted))
        if names is not None and n_names > 1:
            whole = replace(shares, design=Design(units.design.labels, np.zeros_like(units.design.strata)))
            difference = _with_names(difference, whole, names, alpha)
            adjusted = _with_names(adjusted, shares, names, alpha)
    tests: dict[str, PermutationResult] = {}
    if n_permutations > 0 and units.design.can_move():
        test = partial(
            gap_test, units, scale=scale, n_permutations=n_permutations, seed=seed, stop_after=stop_after
        )
        tests["case"] = test(*_cases(units))
        if names is not None and n_names >= LEAST_NAMES and names.design.can_move():
            tests["name"] = test(names, None)
    unit = max(tests, key=lambda name: tests[name].p_value, default="case")
    return Gap(
        value,
        mean_marked,
        mean_reference,
        float(n_marked),
        float(n_reference),
        int(np.unique(units.clusters).size),
        difference.error * scale,
        difference.low * scale,
        difference.high * scale,
        adjusted.value * scale,
        adjusted.error * scale,
        adjusted.low * scale,
        adjusted.high * scale,
        n_cases,
        n_names,
        unit,
        tests["case"].p_value if "case" in tests else np.nan,
        tests["name"].p_value if "name" in tests else np.nan,
        adjusted.unit,
        adjusted.power,
        tests.get(unit),
    )


def _cases(units: Units) -> tuple[Moves, Integers | None]:
    """What moves inside cases, and the clusters over which its errors are summed: None where each cluster has one group."""
    moves = units.by_case()
    first = np.unique(moves.of_row, return_index=True)[1]
    clusters = units.clusters[first]
    return moves, clusters if np.unique(clusters).size < clusters.size else None


@dataclass(frozen=True)
class _Interval:
    """unit: what makes it as long as it is, cases or names; power: it shrinks with their number to the minus power."""

    value: float = np.nan
    error: float = np.nan
    low: float = np.nan
    high: float = np.nan
    unit: str = "case"
    power: float = 0.5


@dataclass(frozen=True)
class _Groups:
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
    def of(cls, units: Units, n_groups: int) -> _Groups:
        _, clusters = np.unique(units.clusters, return_inverse=True)
        labels = units.design.labels
        n, total = (np.zeros((int(clusters.max()) + 1, n_groups)) for _ in range(2))
        np.add.at(n, (clusters, labels), units.n)
        np.add.at(total, (clusters, labels), units.total)
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
        """Whether any cluster holds units of both groups: what varies between clusters then cancels."""
        return bool((self.present[:, a] & self.present[:, b]).any())

    def correlation(self, a: int, b: int) -> float:
        """Correlation of two groups' means."""
        if not self.share_clusters(a, b):
            return self.correlation_of_rivals
        return _correlation(self.deviations[:, a], self.deviations[:, b])

    def limits(self, group: int, alpha: float) -> tuple[float, float]:
        """Limits of a group's mean."""
        return _limits(float(self.means[group]), float(self.errors[group]), int(self.sizes[group]), alpha)


def _difference(groups: _Groups, a: int, b: int, alpha: float) -> _Interval:
    """Mean of group a minus that of group b, in clusters that hold both or in separate ones.

    Student's interval over clusters, made longer to where rare outcomes need it: an estimate with few selected people, or few
    subjects treated differently, has too small an error whenever there were fewer of them than there should be. The
    difference is split into two means between 0 and 1 that such events move apart (the groups' own, or, of paired
    clusters, the mean advantage and the mean disadvantage), and their limits are combined (Zou & Donner 2008).
    """
    value = float(groups.means[a] - groups.means[b])
    if groups.share_clusters(a, b):
        held = groups.present[:, a] | groups.present[:, b]
        return _paired(value, groups.without[held, a] - groups.without[held, b], alpha)
    variances, sizes = groups.errors[[a, b]] ** 2, groups.sizes[[a, b]]
    if (sizes < 2).any():
        return _Interval(value)
    correlation = groups.correlation(a, b)
    error = float(np.sqrt(variances.sum() - 2 * correlation * np.sqrt(variances.prod())))
    down, up = _half_widths(
        (float(groups.means[a]), *groups.limits(a, alpha)),
        (float(groups.means[b]), *groups.limits(b, alpha)),
        correlation,
    )
    # Small groups are seen to by their own limits.
    return _students(value, error, float(sizes.sum() - 2), (down, up), alpha)


def _paired(value: float, without: Floats, alpha: float) -> _Interval:
    """The interval of a gap inside clusters; without: (n_clusters,), the gap with each of those that tell of it left out."""
    n = len(without)
    if n < 2 or np.isnan(without).any():
        return _Interval(value)
    pseudo_values = n * value - (n - 1) * without
    error = float(pseudo_values.std(ddof=1) / np.sqrt(n))
    # What no subject showed yet is taken to be as large as the largest that one did; of none, as the whole range.
    largest = float(np.abs(pseudo_values).max())
    size = largest if largest > NO_VARIANCE else 1.0
    parts = [np.maximum(sign * pseudo_values, 0.0) / size for sign in (1, -1)]
    means = [float(part.mean()) for part in parts]
    limits = [
        _limits(mean, float(part.std(ddof=1) / np.sqrt(n)), n, alpha)
        for mean, part in zip(means, parts, strict=True)
    ]
    down, up = _half_widths((means[0], *limits[0]), (means[1], *limits[1]), _correlation(parts[0], parts[1]))
    down, up = size * down, size * up
    if error > NO_VARIANCE:
        # Few cases with too large a difference have too large an error as well: the end nearer to 0 is Student's.
        down, up = (0.0 if value > 0 else down), (0.0 if value < 0 else up)
    return _students(value, error, float(n - 1), (down, up), alpha)


def _students(
    value: float, error: float, degrees: float, least: tuple[float, float], alpha: float
) -> _Interval:
    """Student's interval, whose arms are at least as long as these: below and above."""
    half_width = float(t_quantile(1 - alpha / 2, degrees)) * error
    down, up = (max(half_width, arm) for arm in least)
    return _Interval(value, error, max(value - down, -1.0), min(value + up, 1.0))


def _half_widths(
    a: tuple[float, float, float], b: tuple[float, float, float], correlation: float
) -> tuple[float, float]:
    """Distances of the lower and the upper end of a - b from it; a and b: estimate, lower and upper limit."""
    a_down, a_up = a[0] - a[1], a[2] - a[0]
    b_down, b_up = b[0] - b[1], b[2] - b[0]
    down = a_down**2 + b_up**2 - 2 * correlation * a_down * b_up
    up = a_up**2 + b_down**2 - 2 * correlation * a_up * b_down
    return float(np.sqrt(max(down, 0.0))), float(np.sqrt(max(up, 0.0)))


def _limits(mean: float, error: float, n_clusters: int, alpha: float) -> tuple[float, float]:
    """Limits of a mean between 0 and 1 from its standard error over clusters."""
    if n_clusters < 2:
        return np.nan, np.nan
    low, high = share_limits(
        np.array([mean]), np.array([error]), np.array([n_clusters - 1.0]), np.array([n_clusters]), alpha
    )
    return float(low[0]), float(high[0])


def _correlation(a: Floats, b: Floats) -> float:
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a**2).sum() * (b**2).sum()))
    return float((a * b).sum()) / scale if scale > NO_VARIANCE**2 else 0.0


def _adjusted(units: Units, groups: _Groups, difference: _Interval, alpha: float) -> _Interval:
    """The gap inside strata, weighted by n1·n0 / (n1 + n0).

    Where clusters hold both groups its interval is that of its own pseudo-values, over the clusters that tell of it: a gap of
    all answers may vary for nothing but a missing one. Of separate groups it is as much wider than its error as the gap's is.
    """
    value, without = _stratified(units)
    if groups.share_clusters(0, 1):
        return _paired(value, without[_comparable(units)], alpha)
    marked, reference = (without[groups.present[:, label]] for label in (1, 0))
    variances = [
        (part.size - 1) / part.size * ((part - part.mean()) ** 2).sum() for part in (marked, reference)
    ]
    rivals = units.correlation_of_rivals * float(np.sqrt(variances[0] * variances[1]))
    error = float(np.sqrt(sum(variances) - 2 * rivals))
    widening = error / difference.error if difference.error > NO_VARIANCE else 1.0
    low = value - (difference.value - difference.low) * widening
    high = value + (difference.high - difference.value) * widening
    return _Interval(value, error, float(np.maximum(low, -1.0)), float(np.minimum(high, 1.0)))


def _comparable(units: Units) -> NDArray[np.bool_]:
    """Whether each cluster has units in a stratum that holds both groups, (n_clusters,): the others tell of no gap inside."""
    _, strata = np.unique(units.design.strata, return_inverse=True)
    _, clusters = np.unique(units.clusters, return_inverse=True)
    holds = np.zeros((int(strata.max()) + 1, 2), dtype=bool)
    holds[strata, units.design.labels] = True
    both = np.logical_and(holds[:, 0], holds[:, 1])
    comparable = np.zeros(int(clusters.max()) + 1, dtype=bool)
    comparable[clusters[both[strata]]] = True
    return comparable


def _with_the_unseen(interval: _Interval, groups: _Groups, alpha: float) -> _Interval:
    """Of separate groups, what nobody showed yet: (alpha / 2)^(1 / n) of a group may, without one among n, lie at an end.

    A gap that few of many people carry is missed together with its spread where none of them was drawn. Away from 0 the
    interval reaches at least as far as that could lead, so that it clears nothing that it cannot know; the end nearer to 0,
    which says whether there is a gap, is what was seen.
    """
    if not np.isfinite([interval.low, interval.high]).all():
        return interval
    is_fixed = interval.error <= NO_VARIANCE
    if groups.share_clusters(0, 1):
        return replace(interval, power=1.0 if is_fixed else 0.5)
    unseen = 1 - (alpha / 2) ** (1 / groups.sizes)
    rise, fall = unseen * (1 - groups.means), unseen * groups.means
    low, high = interval.low, interval.high
    if interval.value >= -NO_VARIANCE:
        high = max(high, min(interval.value + float(max(rise[1], fall[0])), 1.0))
    if interval.value <= NO_VARIANCE:
        low = min(low, max(interval.value - float(max(fall[1], rise[0])), -1.0))
    is_wider = low < interval.low or high > interval.high
    return replace(interval, low=low, high=high, power=1.0 if is_wider or is_fixed else 0.5)


def _with_names(interval: _Interval, units: Units, names: Moves, alpha: float) -> _Interval:
    """The interval for other names, too: errors of both ways to cluster, less what they share (Cameron, Gelbach & Miller 2011).

    Student's with Welch's degrees of freedom of the names, and never shorter than by cases alone.
    """
    excess, degrees = _names_excess(units, names)
    if not np.isfinite([interval.error, excess, degrees]).all():
        return interval
    error = float(np.sqrt(interval.error**2 + excess))
    half_width = float(t_quantile(1 - alpha / 2, degrees)) * error
    low, high = max(interval.value - half_width, -1.0), min(interval.value + half_width, 1.0)
    widened = replace(interval, error=error, low=min(low, interval.low), high=max(high, interval.high))
    is_by_name = max(-low, high) > max(-interval.low, interval.high)
    return replace(widened, unit="name", power=0.5) if is_by_name else widened


def _names_excess(units: Units, names: Moves) -> tuple[float, float]:
    """What names add to the variance of the gap by cases, and the degrees of freedom of the names' variance (Welch).

    It is the variance over names less that over single cells, which they share with the cases; at least 0.
    """
    name_variances = _jackknife_variances(units, names.of_row, names.design.labels)
    cell_variances = _jackknife_variances(units, np.arange(units.n.size), units.design.labels)
    variance = float(name_variances.sum())
    excess = variance - float(cell_variances.sum())
    if not np.isfinite(excess) or variance <= NO_VARIANCE**2:
        return 0.0, np.inf
    sizes = np.array([names.design.count(label) for label in (0, 1)])
    return max(excess, 0.0), variance**2 / float((name_variances**2 / (sizes - 1)).sum())


def _jackknife_variances(units: Units, clusters: Integers, labels: Labels) -> Floats:
    """Of the gap inside strata, the variance that each group (0, 1) adds; clusters from 0, each of one group: labels."""
    _, without = _stratified(replace(units, clusters=clusters))
    parts = [without[labels == label] for label in (0, 1)]
    return np.array([(part.size - 1) / part.size * ((part - part.mean()) ** 2).sum() for part in parts])


def _stratified(units: Units) -> tuple[float, Floats]:
    """Mantel-Haenszel difference, and the same without each cluster, (n_clusters,); NaN where no stratum holds both groups."""
    _, strata = np.unique(units.design.strata, return_inverse=True)
    _, clusters = np.unique(units.clusters, return_inverse=True)
    pairs, pair_of = np.unique(np.column_stack([clusters, strata]), axis=0, return_inverse=True)

    def cells(places: NDArray[np.intp], n_places: int) -> Floats:
        """Answers and totals of both groups, (n_places, group, 2)."""
        sums = np.zeros((n_places, 2, 2))
        np.add.at(sums, (places, units.design.labels), np.column_stack([units.n, units.total]))
        return sums

    def terms(sums: Floats) -> Floats:
        """A stratum's weight and weighted difference, (n, 2)."""
        n, total = sums[:, :, 0], sums[:, :, 1]
        both = n.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            weights = n[:, 1] * n[:, 0] / both
            differences = (total[:, 1] * n[:, 0] - total[:, 0] * n[:, 1]) / both
        return np.where(both[:, np.newaxis] > 0, np.column_stack([weights, differences]), 0.0)

    by_stratum = cells(strata, int(strata.max()) + 1)
    of_strata = terms(by_stratum)
    inside = pairs[:, 1]
    changes = terms(by_stratum[inside] - cells(pair_of.ravel(), len(pairs))) - of_strata[inside]
    left = np.tile(of_strata.sum(axis=0), (int(clusters.max()) + 1, 1))
    np.add.at(left, pairs[:, 0], changes)
    weight, weighted = of_strata.sum(axis=0)
    if weight <= 0:
        return np.nan, np.full(len(left), np.nan)
    # Nothing is left where the last comparable pair was taken out; rounding leaves a trace of its weight.
    has_weight = left[:, 0] > NO_VARIANCE * weight
    return float(weighted / weight), np.where(
        has_weight, left[:, 1] / np.where(has_weight, left[:, 0], 1.0), np.nan
    )


def group_impact_ratios(units: Units, *, alpha: float) -> list[ImpactRatio]:
    """Each group's selection rate (totals count the selected) over that of the best-off group, in the order of labels.

    Intervals are on the log scale and over clusters. Ratios are NaN where nobody was selected.

    Raises:
        ValueError: labels are not 0 … k - 1, or counts are not whole numbers with at most n selected.
    """
    groups, n, selected = _selection(units)
    best = int(np.argmax(groups.means))
    rows = []
    for label, rate in enumerate(groups.means):
        is_best = bool(rate == groups.means[best])
        if groups.means[best] == 0:
            ratio, low, high = np.nan, np.nan, np.nan
        elif label == best:
            ratio, low, high = 1.0, 1.0, 1.0
        else:
            ratio = float(rate / groups.means[best])
            low, high = _ratio_limits(units, groups, label, best, alpha)[:2]
        table = [[selected[side], n[side] - selected[side]] for side in (label, best)]
        fisher_p = np.nan if label == best else float(scipy.stats.fisher_exact(table).pvalue)
        rows.append(
            ImpactRatio(
                label, int(n[label]), int(selected[label]), float(rate), ratio, low, high, fisher_p, is_best
            )
        )
    return rows


def impact_test(
    units: Units, *, n_permutations: int, alpha: float, seed: int, stop_after: int | None = 50
) -> ImpactTest:
    """Smallest selection rate over the largest, of all groups together.

    The lower end is the smallest lower end of any group's ratio: the truly smallest ratio has its own among them. The upper
    end is the smallest upper end at alpha / (k (k - 1)): the smallest of many upper ends lies too low unless all hold at
    once. No test with n_permutations 0, labels that cannot move, one group, or nobody selected.

    Raises:
        ValueError: labels are not 0 … k - 1, or counts are not whole numbers with at most n selected.
    """
    groups, n, selected = _selection(units)
    n_groups, n_cases = n.size, int(groups.sizes.min())
    best = int(np.argmax(groups.means))
    names = units.by_name()
    n_names = min(names.design.count(label) for label in range(n_groups)) if names else 0
    if n_groups < 2 or not selected.any():
        return ImpactTest(
            np.nan, np.nan, np.nan, int(n.min()), n_cases, n_names, "case", np.nan, np.nan, "case", 0.5, None
        )
    others = [label for label in range(n_groups) if label != best]
    low, _, width_unit = min(
        (_ratio_limits(units, groups, label, best, alpha) for label in others), key=_end_first
    )
    at_once = 2 * alpha / (n_groups * (n_groups - 1))
    high = float(np.min([_ratio_limits(units, groups, label, best, at_once)[1] for label in others]))
    tests: dict[str, PermutationResult] = {}
    if n_permutations > 0 and units.design.can_move():
        options = n_groups, n_permutations, seed, stop_after
        tests["case"] = _impact_permutation_test(units, units.by_case(), *options)
        if names is not None and n_names >= LEAST_NAMES and names.design.can_move():
            tests["name"] = _impact_permutation_test(units, names, *options)
    unit = max(tests, key=lambda name: tests[name].p_value, default="case")
    return ImpactTest(
        float(groups.means.min() / groups.means[best]),
        # NaN stays NaN: np.minimum, unlike min, lets it through.
        float(np.minimum(low, 1.0)),
        float(np.minimum(high, 1.0)),
        int(n.min()),
        n_cases,
        n_names,
        unit,
        tests["case"].p_value if "case" in tests else np.nan,
        tests["name"].p_value if "name" in tests else np.nan,
        width_unit,
        # Of cases none of which differs, the rule of three makes it long.
        1.0 if all(_difference(groups, label, best, alpha).error <= NO_VARIANCE for label in others) else 0.5,
        tests.get(unit),
    )


def _end_first(limits: tuple[float, float, str]) -> float:
    """The lower end; one that is unknown comes before all others."""
    return -np.inf if np.isnan(limits[0]) else limits[0]


def _selection(units: Units) -> tuple[_Groups, Integers, Integers]:
    """Groups' rates, answers and selected."""
    labels = units.design.labels
    n_groups = int(labels.max(initial=-1)) + 1
    if not np.array_equal(np.unique(labels), np.arange(n_groups)) or n_groups == 0:
        raise ValueError("labels number the groups 0, 1, … without a gap")
    counts = np.column_stack([units.n, units.total])
    if (counts != np.round(counts)).any() or (units.total < 0).any() or (units.total > units.n).any():
        raise ValueError("n and total count answers and selected: whole numbers, total from 0 to n")
    n, selected = (_sums(column, labels, n_groups).astype(np.int64) for column in (units.n, units.total))
    return _Groups.of(units, n_groups), n, selected


def _impact_permutation_test(
    units: Units, moves: Moves, n_groups: int, n_permutations: int, seed: int, stop_after: int | None
) -> PermutationResult:
    n, total = moves.sums(units.n), moves.sums(units.total)
    overall = total.sum() / n.sum()

    def shortfall(labels: Labels) -> Floats:
        rates = group_totals(labels, total, n_groups) / group_totals(labels, n, n_groups)
        is_observed = (labels == moves.design.labels).all(axis=1)
        scale = np.where(is_observed, 1.0, units.null_scale)
        rates = np.maximum(overall + (rates - overall) * scale[:, np.newaxis], 0.0)
        return np.asarray(1 - rates.min(axis=1) / rates.max(axis=1))

    result = permutation_test(
        moves.design, shortfall, n_permutations=n_permutations, seed=seed, stop_after=stop_after
    )
    return replace(result, observed=1 - result.observed, null_mean=1 - result.null_mean)


def _ratio_limits(
    units: Units, groups: _Groups, group: int, best: int, alpha: float
) -> tuple[float, float, str]:
    """Ends of the interval of one group's rate over another's, which is above 0, and what makes it long: case or name.

    Rates' own limits, combined on the log scale. Where clusters hold both groups, at least the interval of the
    difference over the larger rate: subjects treated differently may be too rare for a spread. Where names are reused, their
    arm over the larger rate is added as errors are.
    """
    rate, rate_best = float(groups.means[group]), float(groups.means[best])
    low, high = groups.limits(group, alpha)
    low_best, high_best = groups.limits(best, alpha)
    # A lower limit of 0, which few clusters give, leaves the ratio without a bound.
    tiny = np.finfo(np.float64).tiny
    with np.errstate(over="ignore"):
        if rate == 0:
            # Clopper & Pearson's upper limit of none selected over the best-off group's lower one
            ends = (
                0.0,
                float(np.divide(1 - (alpha / 2) ** (1 / groups.sizes[group]), np.maximum(low_best, tiny))),
            )
        else:
            own = np.log(np.maximum([rate, low, high], tiny))
            others = np.log(np.maximum([rate_best, low_best, high_best], tiny))
            down, up = _half_widths(tuple(own), tuple(others), groups.correlation(group, best))
            ends = float(rate / rate_best * np.exp(-down)), float(rate / rate_best * np.exp(up))
    if groups.share_clusters(group, best):
        difference = _difference(groups, group, best, alpha)
        ends = (
            float(np.minimum(ends[0], np.maximum(1 + difference.low / rate_best, 0.0))),
            float(np.maximum(ends[1], 1 + difference.high / rate_best)),
        )
    return _ratio_with_names(units, groups, (group, best), ends, alpha)


def _ratio_with_names(
    units: Units, groups: _Groups, pair: tuple[int, int], ends: tuple[float, float], alpha: float
) -> tuple[float, float, str]:
    """The interval for other names, too; pair: the group and the best-off one."""
    inside = np.isin(units.design.labels, pair)
    labels = (units.design.labels[inside] == pair[1]).astype(np.int8)
    design = Design(labels, units.design.strata[inside])
    optional = (units.names, units.name_strata)
    names, name_strata = (None if array is None else array[inside] for array in optional)
    two = Units(
        design, units.clusters[inside], units.n[inside], units.total[inside], 1, None, names, name_strata
    )
    moves = two.by_name()
    if moves is None or min(moves.design.count(0), moves.design.count(1)) < 2 or not np.isfinite(ends).all():
        return *ends, "case"
    excess, degrees = _names_excess(two, moves)
    rate_best = float(groups.means[pair[1]])
    ratio = float(groups.means[pair[0]]) / rate_best
    if not np.isfinite(degrees):
        return *ends, "case"
    z = float(special.ndtri(1 - alpha / 2))
    # Few names tell their own variance badly, however small it seems.
    arm, longer = z * np.sqrt(excess) / rate_best, float(t_quantile(1 - alpha / 2, degrees)) / z
    down, up = (longer * float(np.hypot(end - ratio, arm)) for end in ends)
    is_by_name = down > 2 * abs(ends[0] - ratio)
    return max(ratio - down, 0.0), ratio + up, "name" if is_by_name else "case"


def cochran_q(answers: Integers) -> PairedTest:
    """Cochran's Q: whether groups get 1 equally often; answers (n_subjects, n_groups) of 0 and 1.

    The p-value is the chi-square distribution's, which holds for many discordant subjects (about 24 / n_groups and more).
    Without any, the statistic is 0 and p is 1. Source: Cochran (1950), Biometrika 37, 256-266.
    """
    n_subjects, n_groups = answers.shape
    by_group, by_subject = answers.sum(axis=0), answers.sum(axis=1)
    n_discordant = int(((by_subject > 0) & (by_subject < n_groups)).sum())
    if n_discordant == 0:
        return PairedTest(0.0, n_subjects, 0, 1.0)
    total = answers.sum()
    above = (n_groups - 1) * (n_groups * (by_group**2).sum() - total**2)
    statistic = float(above / (n_groups * total - (by_subject**2).sum()))
    return PairedTest(
        statistic, n_subjects, n_discordant, float(scipy.stats.chi2.sf(statistic, n_groups - 1))
    )


def mcnemar(marked: Integers, reference: Integers) -> PairedTest:
    """Exact two-sided McNemar test; arrays (n_subjects,) of 0 and 1. The statistic is the smaller discordant count."""
    n_up, n_down = int((marked > reference).sum()), int((marked < reference).sum())
    p_value = float(scipy.stats.binomtest(n_up, n_up + n_down).pvalue) if n_up + n_down else 1.0
    return PairedTest(float(min(n_up, n_down)), marked.size, n_up + n_down, p_value)


def position_test(
    top_positions: Integers,
    n_positions: Integers,
    n_answers: Integers | None = None,
    sets: Integers | None = None,
    *,
    alpha: float = 0.05,
) -> PositionTest:
    """Whether the position shown decides who is ranked first.

    top_positions: (n_responses,), position of the candidate ranked first, 0 is the first shown; n_positions: (n_responses,),
    candidates that each response ranks; n_answers: (n_responses,), answers that each stands for, None for one each; sets:
    (n_responses,), the set of candidates in an order that each ranks, None for one each. If the order decides nothing, every
    candidate of a set might as well have stood at any of its places: a set's counts then change places, whatever they are. The
    first place's p is exact, p of all places that of the quadratic form of their counts; where every set is ranked once and
    all are of one length they are the binomial and the chi-square test.

    Raises:
        ValueError: no response, fewer than two positions, a position outside them, or a set of several lengths.
    """
    if not top_positions.size or (n_positions < 2).any():
        raise ValueError("a position test needs a response, and two candidates in each")
    if (top_positions < 0).any() or (top_positions >= n_positions).any():
        raise ValueError("positions lie from 0 to the number of candidates less one")
    answers = np.ones_like(top_positions) if n_answers is None else n_answers
    if sets is None:
        # Answers counted in one row are as many sets, where nobody says otherwise.
        top_positions, n_positions = (np.repeat(array, answers) for array in (top_positions, n_positions))
        answers, of_set = np.ones_like(top_positions), np.arange(top_positions.size)
    else:
        _, of_set = np.unique(sets, return_inverse=True)
    lengths = np.zeros(int(of_set.max()) + 1, dtype=np.int64)
    lengths[of_set] = n_positions
    if (lengths[of_set] != n_positions).any():
        raise ValueError("a set of candidates has one length")
    counts = np.zeros((lengths.size, int(lengths.max())))
    np.add.at(counts, (of_set, top_positions), answers)
    sizes = counts.sum(axis=1)
    is_place = np.arange(counts.shape[1]) < lengths[:, np.newaxis]
    shares = np.where(is_place, 1 / lengths[:, np.newaxis], 0.0)
    n_responses, expected = int(sizes.sum()), sizes @ shares
    share_first, expected_share = float(counts[:, 0].sum() / n_responses), float(expected[0] / n_responses)
    low, high = _position_limits(counts[:, 0], sizes, shares[:, 0], alpha)
    return PositionTest(
        n_responses,
        int(lengths.size),
        int(lengths.max()),
        share_first,
        low,
        high,
        expected_share,
        float(scipy.stats.chisquare(counts.sum(axis=0), expected).statistic),
        _places_p(counts - sizes[:, np.newaxis] * shares, is_place, lengths),
        _first_place_p(counts.astype(np.int64), lengths),
    )


def _position_limits(first: Floats, sizes: Floats, shares: Floats, alpha: float) -> tuple[float, float]:
    """Wilson's interval of the share put first, of as many answers as have its error over sets."""
    n, n_sets = float(sizes.sum()), first.size
    share = float(first.sum() / n)
    deviations = first - sizes * (shares + share - float(shares @ sizes) / n)
    variance = float((deviations**2).sum()) / n**2
    effective = float(n_sets)
    if variance > NO_VARIANCE**2:
        effective = min(share * (1 - share) / variance, n)
        if (sizes > 1).any() and n_sets > 1:
            t_to_z = special.ndtri(1 - alpha / 2) / float(t_quantile(1 - alpha / 2, n_sets - 1))
            effective *= t_to_z**2 * (n_sets - 1) / n_sets
    z = float(special.ndtri(1 - alpha / 2)) ** 2 / effective
    centre = (share + z / 2) / (1 + z)
    half_width = float(np.sqrt(share * (1 - share) * z + z**2 / 4)) / (1 + z)
    return max(centre - half_width, 0.0), min(centre + half_width, 1.0)


def _places_p(deviations: Floats, is_place: NDArray[np.bool_], lengths: Integers) -> float:
    """Chi-square p of the quadratic form of all places' counts; deviations: (n_sets, n_places), from equal shares."""
    variances = (np.where(is_place, deviations, 0.0) ** 2).sum(axis=1) / lengths
    covariance = np.zeros((deviations.shape[1],) * 2)
    for length in np.unique(lengths):
        scale = variances[lengths == length].sum() * length / (length - 1)
        covariance[:length, :length] += scale * (np.eye(length) - 1 / length)
    if covariance.max() <= NO_VARIANCE:
        return 1.0
    total = np.where(is_place, deviations, 0.0).sum(axis=0)
    statistic = float(total @ np.linalg.pinv(covariance, rcond=1e-9, hermitian=True) @ total)
    rank = int(np.linalg.matrix_rank(covariance, tol=1e-9 * covariance.max(), hermitian=True))
    return float(scipy.stats.chi2.sf(statistic, rank))


def _first_place_p(counts: Integers, lengths: Integers) -> float:
    """Two-sided exact p of the first place's count, where a set's first place gets the count of any of its places.

    The distribution of a sum of independent counts, by its Fourier transform.
    """
    n = int(counts.sum())
    kinds, of_kind = np.unique(
        np.column_stack([lengths, -np.sort(-counts, axis=1)]), axis=0, return_counts=True
    )
    angles = -2j * np.pi * np.arange(n + 1) / (n + 1)
    logs = np.zeros(n + 1, dtype=np.complex128)
    with np.errstate(divide="ignore"):
        for (length, *places), times in zip(kinds, of_kind, strict=True):
            values, often = np.unique(places[:length], return_counts=True)
            logs += times * np.log(np.exp(np.outer(angles, values)) @ (often / length))
    masses = np.maximum(np.fft.ifft(np.exp(logs)).real, 0.0)
    reached = masses <= masses[int(counts[:, 0].sum())] * (1 + 1e-7) + 1e-15
    return float(np.clip(masses[reached].sum(), np.finfo(np.float64).eps, 1.0))


def _sums(values: Floats, labels: Labels, n_groups: int) -> Floats:
    """Sum of one value a unit over the units of each label: (n_groups,)."""
    return np.asarray(group_totals(labels[np.newaxis, :], values, n_groups)[0])
