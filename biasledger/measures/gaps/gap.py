"""Gaps of two groups: the mean outcome of the one minus that of the other, its intervals and its test.

A unit is what moves as a whole when labels are permuted: one version of a resume, a person, or a name with every ranking
it is in. A cluster is what was sampled: the resume with all its versions, the person, the name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Unpack

import numpy as np

from biasledger.measures.comparisons import Comparison, Settings, table
from biasledger.measures.engine.design import Design, Integers, Moves
from biasledger.measures.engine.intervals import NO_VARIANCE, t_quantile
from biasledger.measures.engine.jackknife import jackknife_variance
from biasledger.measures.engine.resampling import Draws, PermutationResult
from biasledger.measures.gaps.clusters import (
    Groups,
    Interval,
    comparable_clusters,
    difference_of,
    names_excess,
    names_p_value,
    paired_interval,
    stratified,
)
from biasledger.measures.gaps.permutations import gap_test
from biasledger.measures.gaps.units import LEAST_NAMES, Units, by_larger_p
from biasledger.measures.gaps.unread import Bounds, Unread
from biasledger.measures.schema import Table

TIE_SHARE = 0.5
"""The weight of arrangements that give the observed value again: one half, for the mid-p (Lancaster 1961).

Outcomes with two values give few different gaps: refusals of .09 against .02 in 100 cases are found in .55 of audits if such
ties count fully, in .64 if they count half, and without a difference p is below .05 in at most .05."""


@dataclass(frozen=True)
class Gap:
    """Mean outcome of the marked group minus that of the reference group; NaN and None where nothing could be estimated.

    adjusted_gap: the gap inside strata, averaged over them with Mantel-Haenszel weights. It leaves out differences that follow
    from the groups being in different strata, such as applicants for different jobs; it equals the gap if every stratum
    holds both groups in the same proportion. The adjusted gap is tested, two-sided: the test's observed value, null_mean and
    null_sd belong to it. n_marked, n_reference: answers. n_cases, n_names: clusters, and names, in the smaller
    group; n_names is 0 where names do not move. test: the one with the larger p of moving cases and, from LEAST_NAMES names
    a group on, names, whose p-values are p_case and p_name; unit says which ("case" or "name"). width_unit: the unit that decides
    the length of the adjusted gap's interval; width_power: the length shrinks as the number of units to the power of minus this,
    0.5, or 1 where unseen outcomes decide it.
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
    adjusted_gap: float
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


def gap(units: Units, *, lowest: float, highest: float, alpha: float, **draws: Unpack[Draws]) -> Gap:
    """Return the gap between the units labelled 1 (marked) and 0 (reference), with its null and intervals.

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
    n_reference, n_marked = units.group_sums(units.n, 2)
    total_reference, total_marked = units.group_sums(units.total, 2)
    mean_marked = float(total_marked / n_marked) if n_marked else np.nan
    mean_reference = float(total_reference / n_reference) if n_reference else np.nan
    value = mean_marked - mean_reference
    names = units.by_name()
    n_names = names.design.fewest() if names else 0
    difference, adjusted, n_cases = Interval(), Interval(), 0
    if np.isfinite(value):
        groups = Groups.of(shares, 2)
        n_cases = int(groups.sizes.min())
        difference, adjusted = _intervals(shares, groups, names if n_names > 1 else None, alpha)
    tests: dict[str, PermutationResult] = {}
    if draws["n_permutations"] > 0 and units.design.can_move():
        test = partial(gap_test, units, scale=scale, **draws)
        tests["case"] = test(*_cases(units), tie_share=TIE_SHARE)
        if names is not None and n_names >= LEAST_NAMES and names.design.can_move():
            tests["name"] = test(names, None)
        elif names is not None and n_names > 1:
            tests["name"] = replace(
                tests["case"], p_value=names_p_value(units, names, adjusted.value * scale)
            )
    unit, p_case, p_name, judged = by_larger_p(tests, "case")
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
        p_case,
        p_name,
        adjusted.unit,
        adjusted.power,
        judged,
    )


def gap_bounds(found: Gap, unread: Unread, *, lowest: float, highest: float, alpha: float) -> Bounds:
    """Return bounds of the adjusted gap and of its interval: unread answers of one group at their lowest, of the other at their
    highest.

    found: the gap of the answers that were read.
    """
    is_marked = unread.units.design.labels.astype(np.float64)
    ends = [
        _adjusted_of(unread.completed(share), lowest, highest, alpha) for share in (1 - is_marked, is_marked)
    ]
    return Bounds.around(
        unread.n_total,
        (found.adjusted_gap, found.adjusted_low, found.adjusted_high),
        (ends[0].value, ends[0].low),
        (ends[1].value, ends[1].high),
    )


@dataclass(frozen=True)
class GapComparison(Comparison[Units]):
    """Two groups' answers, label 1 the marked group and 0 its reference; lowest, highest: the outcome's range.

    unread: all answers, with those that no rule reads; None where all were read.
    """

    lowest: float = 0.0
    highest: float = 1.0
    unread: Unread | None = None


@dataclass(frozen=True)
class BoundedGap:
    """A gap, and its worst-case bounds where some answers could not be read."""

    gap: Gap
    if_unread: Bounds | None


def gaps(comparisons: Iterable[GapComparison]) -> Table:
    """Return a row for each comparison: its Gap."""
    return table(
        Gap,
        comparisons,
        lambda one, settings: gap(one.units, lowest=one.lowest, highest=one.highest, **settings),
        "gap",
    )


def bounded_gaps(comparisons: Iterable[GapComparison]) -> Table:
    """Return a row for each comparison: its Gap, and what it could be if the unread answers were known."""

    def bounded(one: GapComparison, settings: Settings) -> BoundedGap:
        lowest, highest = one.lowest, one.highest
        found = gap(one.units, lowest=lowest, highest=highest, **settings)
        if one.unread is None:
            return BoundedGap(found, None)
        bounds = gap_bounds(found, one.unread, lowest=lowest, highest=highest, alpha=one.alpha)
        return BoundedGap(found, bounds)

    return table(BoundedGap, comparisons, bounded, "gap")


def _adjusted_of(units: Units, lowest: float, highest: float, alpha: float) -> Interval:
    """Return the adjusted gap of units and its interval, in the outcome's own unit."""
    scale = highest - lowest
    shares = replace(units, total=(units.total - lowest * units.n) / scale)
    names = units.by_name()
    has_names = names is not None and names.design.fewest() > 1
    adjusted = _intervals(shares, Groups.of(shares, 2), names if has_names else None, alpha)[1]
    return replace(
        adjusted, value=adjusted.value * scale, low=adjusted.low * scale, high=adjusted.high * scale
    )


def _intervals(units: Units, groups: Groups, names: Moves | None, alpha: float) -> tuple[Interval, Interval]:
    """Return the intervals of the gap and of the adjusted gap; outcomes are shares of the range, names are those that move.

    Where cases have unequal numbers of answers the adjusted gap's interval holds that of the gap with every case counted once,
    too: if few cases have most of the answers, their variance is estimated poorly.
    """
    difference = difference_of(groups, 1, 0, alpha)
    adjusted = _adjusted(units, groups, difference, alpha)
    difference, adjusted = (_widened_for_unseen(one, groups, alpha) for one in (difference, adjusted))
    if names is not None:
        whole = replace(units, design=Design(units.design.labels, np.zeros_like(units.design.strata)))
        difference = _with_names(difference, whole, names, alpha)
        adjusted = _with_names(adjusted, units, names, alpha)
    if (once := units.counted_once()) is not None:
        each = _intervals(once, Groups.of(once, 2), names, alpha)[1]
        # NaN stays NaN: np.minimum, unlike min, lets it through.
        low, high = np.minimum(adjusted.low, each.low), np.maximum(adjusted.high, each.high)
        adjusted = replace(adjusted, low=float(low), high=float(high))
    return difference, adjusted


def _cases(units: Units) -> tuple[Moves, Integers | None]:
    """Return the units that move inside cases, and the clusters to sum errors over: None if each cluster has one group."""
    moves = units.by_case()
    first = np.unique(moves.of_row, return_index=True)[1]
    clusters = units.clusters[first]
    return moves, clusters if np.unique(clusters).size < clusters.size else None


def _adjusted(units: Units, groups: Groups, difference: Interval, alpha: float) -> Interval:
    """Return the gap inside strata, weighted by n1·n0 / (n1 + n0).

    Where clusters hold both groups its interval is that of its own pseudo-values, over the clusters that contribute to it: a gap
    of all answers may vary for nothing but a missing one. For separate groups its interval has the same ratio to its error as the
    gap's.
    """
    value, without = stratified(units)
    if groups.share_clusters(0, 1):
        return paired_interval(value, without[comparable_clusters(units).any(axis=1)], alpha)
    variances = [jackknife_variance(without[groups.present[:, label]]) for label in (1, 0)]
    rivals = units.correlation_of_rivals * float(np.sqrt(variances[0] * variances[1]))
    error = float(np.sqrt(sum(variances) - 2 * rivals))
    widening = error / difference.error if difference.error > NO_VARIANCE else 1.0
    low = value - (difference.value - difference.low) * widening
    high = value + (difference.high - difference.value) * widening
    return Interval(value, error, float(np.maximum(low, -1.0)), float(np.minimum(high, 1.0)))


def _widened_for_unseen(interval: Interval, groups: Groups, alpha: float) -> Interval:
    """For separate groups, widen the interval for outcomes not seen: (alpha / 2)^(1 / n) of a group may, without one among n, lie
    at an end.

    A gap that few people cause is missed, together with its variance, if none of them was drawn. So the interval's end away from
    0 reaches at least as far as such people could move it; the end nearer to 0, which says whether there is a gap, stays.
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


def _with_names(interval: Interval, units: Units, names: Moves, alpha: float) -> Interval:
    """Return the interval for other names, too: errors of both ways to cluster, less what they share (Cameron, Gelbach & Miller
    2011).

    Student's with Welch's degrees of freedom of the names, and never shorter than by cases alone.
    """
    excess, degrees = names_excess(units, names)
    if not np.isfinite([interval.error, excess, degrees]).all():
        return interval
    error = float(np.sqrt(interval.error**2 + excess))
    half_width = float(t_quantile(1 - alpha / 2, degrees)) * error
    low, high = max(interval.value - half_width, -1.0), min(interval.value + half_width, 1.0)
    widened = replace(interval, error=error, low=min(low, interval.low), high=max(high, interval.high))
    is_by_name = max(-low, high) > max(-interval.low, interval.high)
    return replace(widened, unit="name", power=0.5) if is_by_name else widened
