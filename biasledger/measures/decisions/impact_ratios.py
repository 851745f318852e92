"""Impact ratios: selection rates of groups over that of the best-off one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Unpack

import numpy as np
import scipy
from scipy import special

from biasledger.measures.comparisons import Comparison, Settings, table
from biasledger.measures.declared import Measure, Threshold
from biasledger.measures.engine.design import Design, Floats, Integers, Labels, Moves, pooled
from biasledger.measures.engine.intervals import NO_VARIANCE, t_quantile
from biasledger.measures.engine.resampling import Draws, PermutationResult, permutation_test
from biasledger.measures.engine.sums import group_totals
from biasledger.measures.gaps.clusters import (
    Groups,
    difference_of,
    half_widths,
    names_excess,
)
from biasledger.measures.gaps.units import LEAST_NAMES, Units, by_larger_p
from biasledger.measures.gaps.unread import Bounds, Unread
from biasledger.measures.schema import Table

MEASURES = (
    Measure(
        name="impact_ratio",
        restates=("rank_gap", "place_gap", "score_gap", "relative_gap", "percentile_gap"),
        description=(
            "Impact ratio of the worst-off group of an attribute to the best-off one, as in New York City's Local Law 144"
            " and the four-fifths rule; groups under 2 % of the sample and unknown ones are left out and shown"
        ),
        scale="smallest selection rate over the largest",
        bounds=(0, 1),
        past="a ratio of {limit} or less",
        side="lower",
        unit="cases, people or names a group",
        no_difference=1,
        is_at_equal_sizes=True,
        label="the impact ratio",
        display=(1, ""),
        threshold=Threshold(
            value=0.8,
            reason="Four fifths, read with a test: of small groups one falls below it by chance",
            source="29 CFR 1607.4(D), four-fifths rule; NYC Local Law 144 of 2021, rules 6 RCNY 5-300 ff.",
            min_units=10,
            severity="error",
            published=0.8,
            crossed=(
                "Intersections have a fraction of the answers of a single attribute, so they are shown and warn; the law "
                "asks for them to be published"
            ),
        ),
    ),
)


@dataclass(frozen=True)
class ImpactRatio:
    """A group's selection rate over that of the best-off group, with its interval; n and n_selected count answers.

    Groups that share the largest rate are all best; the first of them is the one that the others are compared with.
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
    width_unit and width_power, as in a gap. ratio_within: the smallest ratio inside strata with each case counted once, NaN where
    that is the same; the interval's lower end is that of both. if_unread: its worst-case bounds where answers could not be read.
    """

    smallest_ratio: float = np.nan
    interval_low: float = np.nan
    interval_high: float = np.nan
    n_smallest_group: int = 0
    n_cases: int = 0
    n_names: int = 0
    unit: str = "case"
    p_case: float = np.nan
    p_name: float = np.nan
    width_unit: str = "case"
    width_power: float = 0.5
    ratio_within: float = np.nan
    test: PermutationResult | None = None
    if_unread: Bounds | None = None


@dataclass(frozen=True)
class ImpactComparison(Comparison[Units]):
    """Groups' answers, labels 0 … k - 1; unread: all answers, with those that no rule reads, None where all were read."""

    unread: Unread | None = None


def group_impact_ratios(units: Units, *, alpha: float) -> list[ImpactRatio]:
    """Return each group's selection rate (totals count the selected) over that of the best-off group, in the order of labels.

    Intervals are on the log scale and over clusters. Ratios are NaN if no person was selected.

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


def impact_test(units: Units, *, alpha: float, **draws: Unpack[Draws]) -> ImpactTest:
    """Return the smallest selection rate over the largest, of all groups together.

    The lower end is the smallest lower end of any group's ratio, over all answers or inside strata with each case counted once:
    the truly smallest ratio has its own among them, and groups asked about unequal cases may hide it. The upper
    end is the smallest upper end at alpha / (k (k - 1)): the smallest of many upper ends lies too low unless all hold at
    once. No test with n_permutations 0, labels that cannot move, one group, or nobody selected.

    Raises:
        ValueError: labels are not 0 … k - 1, or counts are not whole numbers with at most n selected.
    """
    groups, n, selected = _selection(units)
    n_groups, n_cases = n.size, int(groups.sizes.min())
    best = int(np.argmax(groups.means))
    names = units.by_name()
    n_names = names.design.fewest(n_groups) if names else 0
    if n_groups < 2 or not selected.any():
        return ImpactTest(n_smallest_group=int(n.min()), n_cases=n_cases, n_names=n_names)
    others = [label for label in range(n_groups) if label != best]
    low, high, width_unit = _smallest_limits(units, groups, alpha)
    tests: dict[str, PermutationResult] = {}
    if draws["n_permutations"] > 0 and units.design.can_move():
        tests["case"] = _impact_permutation_test(units, units.by_case(), n_groups, draws)
        if names is not None and n_names >= LEAST_NAMES and names.design.can_move():
            tests["name"] = _impact_permutation_test(units, names, n_groups, draws)
    unit, p_case, p_name, judged = by_larger_p(tests, "case")
    return ImpactTest(
        float(groups.means.min() / groups.means[best]),
        low,
        high,
        int(n.min()),
        n_cases,
        n_names,
        unit,
        p_case,
        p_name,
        width_unit,
        # If no two cases differ, the rule of three gives the interval's length.
        1.0
        if all(difference_of(groups, label, best, alpha).error <= NO_VARIANCE for label in others)
        else 0.5,
        _within(units, alpha)[0],
        judged,
    )


def impact_bounds(found: ImpactTest, unread: Unread, *, alpha: float) -> Bounds:
    """Return bounds of the smallest ratio and of its interval: unread answers as selected or not, whichever moves it farthest.

    The ratio is lowest if unread people were selected in one group only, whose rate becomes the largest. It is highest where
    all rates come as near to one another as they can: to the largest of the rates with no unread answer selected.

    Args:
        found: the ratio of the answers that were read.
        unread: all answers; a selected one counts 1, another one 0.
        alpha: one minus the confidence of intervals.
    """
    labels = unread.units.design.labels
    n_groups = int(labels.max()) + 1
    n, selected, added = (
        unread.units.group_sums(column, n_groups) for column in (unread.units.n, unread.units.total, unread.n)
    )
    lowest, highest = selected / n, (selected + added) / n
    smallest = [
        lowest[np.arange(n_groups) != label].min() / highest[label] if highest[label] > 0 else np.inf
        for label in range(n_groups)
    ]
    at_low = _completed(unread, np.arange(n_groups) == int(np.argmin(smallest)))
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = (np.minimum(highest, lowest.max()) - lowest) / (highest - lowest)
    at_high = _completed(unread, np.where(added > 0, shares, 0.0))
    return Bounds.around(
        unread.n_total,
        (found.smallest_ratio, found.interval_low, found.interval_high),
        (_smallest_ratio(at_low[1]), _smallest_limits(*at_low, alpha)[0]),
        (_smallest_ratio(at_high[1]), _smallest_limits(*at_high, alpha)[1]),
    )


def impact_ratios(comparisons: Iterable[Comparison[Units]]) -> Table:
    """Return a row for each comparison and group: its ImpactRatio; labels 0 … k - 1, a unit's total counts the selected of its n
    answers.
    """
    return table(ImpactRatio, comparisons, lambda one, _: group_impact_ratios(one.units, alpha=one.alpha))


def impact_tests(comparisons: Iterable[ImpactComparison]) -> Table:
    """Return a row for each comparison: its ImpactTest; units as for ratios."""

    def tested(one: ImpactComparison, settings: Settings) -> ImpactTest:
        found = impact_test(one.units, **settings)
        if one.unread is None:
            return found
        return replace(found, if_unread=impact_bounds(found, one.unread, alpha=one.alpha))

    return table(ImpactTest, comparisons, tested, "impact_ratio")


def _completed(unread: Unread, share_of_group: Floats) -> tuple[Units, Groups]:
    """Return the units and their groups with this share of each group's unread answers selected, (n_groups,)."""
    units = unread.completed(np.asarray(share_of_group, dtype=np.float64)[unread.units.design.labels])
    return units, Groups.of(units, len(share_of_group))


def _smallest_ratio(groups: Groups) -> float:
    return float(groups.means.min() / groups.means.max()) if groups.means.max() > 0 else np.nan


def _smallest_limits(units: Units, groups: Groups, alpha: float) -> tuple[float, float, str]:
    """Return the lower and upper end of the smallest ratio, see `impact_test`, and what makes the interval long: case or name."""
    n_groups, best = groups.means.size, int(np.argmax(groups.means))
    others = [label for label in range(n_groups) if label != best]
    low, _, width_unit = min(
        (_ratio_limits(units, groups, label, best, alpha) for label in others), key=_end_first
    )
    low = float(np.minimum(low, _within(units, alpha)[1]))
    at_once = 2 * alpha / (n_groups * (n_groups - 1))
    high = float(np.min([_ratio_limits(units, groups, label, best, at_once)[1] for label in others]))
    # NaN stays NaN: np.minimum, unlike min, lets it through.
    return float(np.minimum(low, 1.0)), float(np.minimum(high, 1.0)), width_unit


def _within(units: Units, alpha: float) -> tuple[float, float]:
    """Return the smallest ratio of two groups inside strata with each case counted once, and the smallest lower end of such
    ratios.

    NaN and infinite where they are those of all answers: strata hold both groups in equal shares, cases equally many answers.
    """
    found = []
    for pair in combinations(range(int(units.design.labels.max()) + 1), 2):
        two = _pair(units, *pair).standardised()
        if two is None:
            continue
        groups = Groups.of(two, 2)
        worse, better = (int(at) for at in np.argsort(groups.means, kind="stable"))
        if groups.means[better] > 0:
            low = _ratio_limits(two, groups, worse, better, alpha)[0]
            found.append((float(groups.means[worse] / groups.means[better]), low))
    if not found:
        return np.nan, np.inf
    ratios, lows = np.array(found).T
    return float(ratios.min()), float(lows.min())


def _pair(units: Units, group: int, best: int) -> Units:
    """Return the units of two groups, labelled 0 and, the best-off one, 1."""
    inside = np.isin(units.design.labels, (group, best))
    two = units.of(inside)
    labels = (two.design.labels == best).astype(np.int8)
    return replace(two, design=Design(labels, two.design.strata))


def _end_first(limits: tuple[float, float, str]) -> float:
    """Return the lower end; one that is unknown comes before all others."""
    return -np.inf if np.isnan(limits[0]) else limits[0]


def _selection(units: Units) -> tuple[Groups, Integers, Integers]:
    """Groups' rates, answers and selected."""
    labels = units.design.labels
    n_groups = int(labels.max(initial=-1)) + 1
    if not np.array_equal(np.unique(labels), np.arange(n_groups)) or n_groups == 0:
        raise ValueError("labels number the groups 0, 1, … without a gap")
    counts = np.column_stack([units.n, units.total])
    if (counts != np.round(counts)).any() or (units.total < 0).any() or (units.total > units.n).any():
        raise ValueError("n and total count answers and selected: whole numbers, total from 0 to n")
    n, selected = (units.group_sums(column, n_groups).astype(np.int64) for column in (units.n, units.total))
    return Groups.of(units, n_groups), n, selected


def _impact_permutation_test(units: Units, moves: Moves, n_groups: int, draws: Draws) -> PermutationResult:
    moves = moves.composed_with(pooled(moves.design, draws["seed"]))
    n, total = moves.sums(units.n), moves.sums(units.total)
    overall = total.sum() / n.sum()

    def shortfall(labels: Labels) -> Floats:
        rates = group_totals(labels, total, n_groups) / group_totals(labels, n, n_groups)
        is_observed = (labels == moves.design.labels).all(axis=1)
        scale = np.where(is_observed, 1.0, units.null_scale)
        rates = np.maximum(overall + (rates - overall) * scale[:, np.newaxis], 0.0)
        return np.asarray(1 - rates.min(axis=1) / rates.max(axis=1))

    result = permutation_test(moves.design, shortfall, **draws)
    return replace(result, observed=1 - result.observed, null_mean=1 - result.null_mean)


def _ratio_limits(
    units: Units, groups: Groups, group: int, best: int, alpha: float
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
            down, up = half_widths(tuple(own), tuple(others), groups.correlation(group, best))
            ends = float(rate / rate_best * np.exp(-down)), float(rate / rate_best * np.exp(up))
    if groups.share_clusters(group, best):
        difference = difference_of(groups, group, best, alpha)
        ends = (
            float(np.minimum(ends[0], np.maximum(1 + difference.low / rate_best, 0.0))),
            float(np.maximum(ends[1], 1 + difference.high / rate_best)),
        )
    return _ratio_with_names(units, groups, (group, best), ends, alpha)


def _ratio_with_names(
    units: Units, groups: Groups, pair: tuple[int, int], ends: tuple[float, float], alpha: float
) -> tuple[float, float, str]:
    """Return the interval for other names, too; pair: the group and the best-off one."""
    two = _pair(units, *pair)
    moves = two.by_name()
    if moves is None or moves.design.fewest() < 2 or not np.isfinite(ends).all():
        return *ends, "case"
    excess, degrees = names_excess(two, moves)
    rate_best = float(groups.means[pair[1]])
    ratio = float(groups.means[pair[0]]) / rate_best
    if not np.isfinite(degrees):
        return *ends, "case"
    z = float(special.ndtri(1 - alpha / 2))
    # The variance over few names is estimated poorly, and may seem too small.
    arm, longer = z * np.sqrt(excess) / rate_best, float(t_quantile(1 - alpha / 2, degrees)) / z
    down, up = (longer * float(np.hypot(end - ratio, arm)) for end in ends)
    is_by_name = down > 2 * abs(ends[0] - ratio)
    return max(ratio - down, 0.0), ratio + up, "name" if is_by_name else "case"
