"""Mean price levels of groups: gaps, ranks, and how far the groups spread."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from biasledger.measures.comparisons import table
from biasledger.measures.declared import Measure, Threshold, Tolerance
from biasledger.measures.engine.adjustment import attenuation, drawn_means, sizes_stay, unattenuated
from biasledger.measures.engine.design import Design, Floats, Labels
from biasledger.measures.engine.intervals import (
    NO_VARIANCE,
    half_widths_or_bounds,
    nan_mean,
    share_limits,
    t_half_widths,
)
from biasledger.measures.engine.jackknife import DeleteGroups
from biasledger.measures.engine.resampling import (
    Draws,
    FamilyResult,
    FamilyStatistic,
    PermutationResult,
    permutation_test,
)
from biasledger.measures.engine.spreads import beyond_chance, chance_of, lower_end
from biasledger.measures.engine.strata import StratumSums, without_each
from biasledger.measures.engine.sums import sums_at
from biasledger.measures.prices.items import (
    ALL_SETS,
    ItemCounts,
    PriceComparison,
    clusters_with_items,
    group_sums,
    over_sets,
    set_families,
    shared_sets,
    split_by_group,
    with_mean_over_sets,
)
from biasledger.measures.schema import Table

MEASURES = (
    Measure(
        name="price_gap",
        description="How much dearer or cheaper a group's items are on average",
        scale="price levels ($ is 1), group minus reference",
        side="two-sided",
        unit="names or words a group",
        label="the gap in prices",
        display=(1, " price levels"),
        threshold=Threshold(
            value=0.1,
            reason="No published value: one recommendation in ten is a price level cheaper or dearer",
            source="Shen et al. (2022), arXiv:2201.06224, prints scores and sets no threshold",
            min_units=8,
            severity="error",
            crossed="Intersections have a fraction of the names of a single attribute, so they are shown and warn",
        ),
    ),
    Measure(
        name="price_spread",
        description=(
            "How far apart the words of an attribute without a reference lie in the mean price level of what they get; "
            "what noise alone gives is taken off (roots of squares)"
        ),
        scale="largest minus smallest mean price level of a word, beyond chance: √(observed² - noise²)",
        bounds=(0, None),
        side="upper",
        unit="templates",
        is_at_equal_sizes=True,
        label="the distance between the dearest and the cheapest",
        display=(1, " price levels"),
        threshold=Threshold(
            value=0.25,
            reason=(
                "No published value: one recommendation in four is a price level cheaper or dearer; places may have a "
                "reason for that which names have not"
            ),
            source="Shen et al. (2022), arXiv:2201.06224, prints scores and sets no threshold",
            min_units=10,
            severity="error",
        ),
        tolerance=Tolerance(
            0.05, "Price levels of 27 words are known less well than those of two groups of names"
        ),
    ),
)


@dataclass(frozen=True)
class MeanPrice:
    """A group's mean price level in one set, and its gap; NaN where nothing can be estimated.

    rank: 1 for the dearest group. gap: the group's mean less the reference group's (label 0, which has none itself) or, where
    there is no reference, less the unweighted mean of all groups' means; null and test are of that gap. adjusted_gap: gap less
    null_mean, corrected for attenuation: the gap inside strata. For ALL_SETS, mean_price is over the sets that all groups share
    (all the group's own, if there are none) and gaps are means over the sets in which both groups have items, or all groups
    where there is no reference; sets_sd is the standard deviation of the sets' means and sets_low … sets_high Student's
    interval over them. n_clusters: those that give the group items in that set.
    """

    label: int
    set_id: int
    n: float
    mean_price: float
    standard_error: float
    interval_low: float
    interval_high: float
    rank: int
    gap: float
    gap_standard_error: float
    gap_low: float
    gap_high: float
    adjusted_gap: float
    adjusted_standard_error: float
    adjusted_low: float
    adjusted_high: float
    null_mean: float
    null_sd: float
    p_value: float
    p_value_adjusted: float
    sets_sd: float
    sets_low: float
    sets_high: float
    n_clusters: int
    n_permutations: int
    is_stopped_early: bool


@dataclass(frozen=True)
class PriceSpread:
    """Largest less smallest mean price level of groups, over the sets that all share; the test is one-sided (large is extreme).

    chance: the root mean square of what it reads where words differ by nothing but noise; debiased: √(spread² - chance²), 0
    where that is negative. The interval runs from debiased - bias - t·SE (see lower_end) to the largest upper end of the
    difference of any two groups: the two that truly differ most are a fixed pair, so it misses the true range no more often
    than one pair's interval misses its difference.
    """

    spread: float
    chance: float
    debiased: float
    standard_error: float
    interval_low: float
    interval_high: float
    lowest_label: int
    highest_label: int
    n_clusters: int
    test: PermutationResult | None


def mean_prices(
    units: ItemCounts,
    *,
    has_reference: bool,
    alpha: float,
    **draws: Unpack[Draws],
) -> list[MeanPrice]:
    """Return each group's mean price level, of ALL_SETS and of each set; none for a group without items in a set.

    Two-sided tests of the gaps; adjusted p-values by max-T over the groups of one set. Gaps to a reference permute the labels
    of their own two groups, each gap apart: as gaps to one reference are positively correlated, the adjusted p-values err on
    the safe side. No tests with n_permutations 0.
    """
    of_sets, without, deleted = _jackknifed_means(units)
    is_shared = shared_sets(units, units.counts)
    if not is_shared.any():
        is_shared = np.ones_like(is_shared)
    means = with_mean_over_sets(of_sets, -1, is_shared)
    errors, degrees = deleted.errors(with_mean_over_sets(without, -1, is_shared), means)
    gaps = _gaps(of_sets, has_reference)
    gap_errors, gap_degrees = deleted.errors(_gaps(without, has_reference), gaps)
    range_of_prices = units.n_levels - 1
    n_clusters = clusters_with_items(units)
    limits = share_limits((means - 1) / range_of_prices, errors / range_of_prices, degrees, n_clusters, alpha)
    low, high = (1 + limit * range_of_prices for limit in limits)
    fewest = np.minimum(n_clusters, n_clusters[:1]) if has_reference else n_clusters
    half_widths = half_widths_or_bounds(gap_errors, gap_degrees, fewest, alpha, range_of_prices)
    adjusted = _adjusted_gaps(units, has_reference, draws["seed"])
    adjusted_widths = half_widths_or_bounds(
        adjusted.errors, adjusted.degrees, fewest, alpha, range_of_prices / adjusted.left
    )
    tests = _gap_tests(units, has_reference, alpha, draws)
    items = split_by_group(units.design.labels, units.counts.sum(axis=3), units.n_groups).sum(axis=0)
    n = np.concatenate([items.sum(axis=1, keepdims=True), items], axis=1)
    # The dearest first, ties share the first place (scipy.stats would take longer to import than all of this).
    ranks = 1 + (means > means[:, np.newaxis]).sum(axis=1)
    sets = over_sets(np.where(is_shared, of_sets, np.nan), alpha, 1.0, units.n_levels)

    def within_range(gaps: Floats) -> Floats:
        return np.clip(gaps, -range_of_prices, range_of_prices)

    gap_low, gap_high = within_range(gaps - half_widths), within_range(gaps + half_widths)
    adjusted_low, adjusted_high = (within_range(adjusted.gaps + sign * adjusted_widths) for sign in (-1, 1))
    adjusted_gaps = within_range(adjusted.gaps)

    rows = []
    for place, label in np.ndindex(units.n_sets + 1, units.n_groups):
        at = label, place
        if not n[at] > 0:
            continue
        test = tests[place] if tests and not np.isnan(adjusted.gaps[at]) else None
        rows.append(
            MeanPrice(
                label=label,
                set_id=ALL_SETS if place == 0 else place - 1,
                n=float(n[at]),
                mean_price=float(means[at]),
                standard_error=float(errors[at]),
                interval_low=float(low[at]),
                interval_high=float(high[at]),
                rank=int(ranks[at]),
                gap=float(gaps[at]),
                gap_standard_error=float(gap_errors[at]),
                gap_low=float(gap_low[at]),
                gap_high=float(gap_high[at]),
                adjusted_gap=float(adjusted_gaps[at]),
                adjusted_standard_error=float(adjusted.errors[at]),
                adjusted_low=float(adjusted_low[at]),
                adjusted_high=float(adjusted_high[at]),
                null_mean=float(adjusted.null_means[at]) if test else np.nan,
                null_sd=float(test.null_sd[label]) if test else np.nan,
                p_value=float(test.p_value[label]) if test else np.nan,
                p_value_adjusted=float(test.p_value_adjusted[label]) if test else np.nan,
                sets_sd=float(sets.sd[label]) if place == 0 else np.nan,
                sets_low=float(sets.low[label]) if place == 0 else np.nan,
                sets_high=float(sets.high[label]) if place == 0 else np.nan,
                n_clusters=int(n_clusters[at]),
                n_permutations=test.n_permutations if test else 0,
                is_stopped_early=test.is_stopped_early if test else False,
            )
        )
    return rows


def price_spread(units: ItemCounts, *, alpha: float, **draws: Unpack[Draws]) -> PriceSpread | None:
    """Return how far the groups' mean price levels lie apart; None where no set holds items of two groups or more, and of all.

    No test with n_permutations 0 or labels that cannot move; the interval's lower end is then NaN.
    """
    of_sets, without, deleted = _jackknifed_means(units)
    has_items = ~np.isnan(of_sets).all(axis=1)
    is_shared = shared_sets(units, units.counts)
    if has_items.sum() < 2 or not is_shared.any():
        return None
    range_of_prices = units.n_levels - 1
    [labels] = np.nonzero(has_items)
    means, without = _over_shared_sets(of_sets[has_items]), _over_shared_sets(without[:, has_items])
    spread = np.array(means.max() - means.min())
    error, degree = deleted.errors(without.max(axis=1) - without.min(axis=1), spread)
    a, b = np.triu_indices(means.size, 1)
    differences = np.abs(means[a] - means[b])
    pair_errors, pair_degrees = deleted.errors(without[:, a] - without[:, b], means[a] - means[b])
    n_clusters = clusters_with_items(units)[labels, 0]
    fewest = np.minimum(n_clusters[a], n_clusters[b])
    ends = differences + half_widths_or_bounds(pair_errors, pair_degrees, fewest, alpha, range_of_prices)
    test, chance, debiased, low = None, np.nan, np.nan, np.nan
    if draws["n_permutations"] > 0 and units.design.can_move():
        features, noise = _features(units.counts), _without_group_effects(units)

        def means_of(features: Floats, labels: Labels) -> Floats:
            drawn = _means(group_sums(labels, features, units.n_groups))[:, has_items]
            return _over_shared_sets(drawn[..., is_shared])

        test = permutation_test(
            units.design, lambda labels: _range(means_of(features, labels))[:, 0], **draws
        )
        of_chance = chance_of(
            units.design.with_content(noise), partial(means_of, noise), _range, means, seed=draws["seed"]
        )
        chance = float(of_chance.size[0])
        debiased = float(beyond_chance(spread, of_chance)[0])
        half_width = float(t_half_widths(error, degree, alpha))
        low = lower_end(debiased, half_width, float(of_chance.bias[0]), test.p_value, alpha)
    return PriceSpread(
        float(spread),
        chance,
        debiased,
        float(error),
        low,
        float(np.minimum(ends.max(), range_of_prices)),
        int(labels[np.argmin(means)]),
        int(labels[np.argmax(means)]),
        int(np.unique(units.clusters).size),
        test,
    )


def means(comparisons: Iterable[PriceComparison]) -> Table:
    """Return a row for each comparison, group and set in which it has items: its MeanPrice."""
    return table(
        MeanPrice,
        comparisons,
        lambda one, settings: mean_prices(one.units, has_reference=one.has_reference, **settings),
        "mean_prices",
    )


def spreads(comparisons: Iterable[PriceComparison]) -> Table:
    """Return a row for each comparison without reference in which two groups or more have items: its PriceSpread."""
    return table(
        PriceSpread,
        (one for one in comparisons if not one.has_reference),
        lambda one, settings: price_spread(one.units, **settings),
        "price_spread",
    )


def _range(means: Floats) -> Floats:
    """Return the largest less smallest of groups' means, (…, n_groups) to (…, 1)."""
    return np.asarray(means.max(axis=-1, keepdims=True) - means.min(axis=-1, keepdims=True))


def _without_group_effects(units: ItemCounts) -> Floats:
    """_features of one block, each unit's items less what its group adds to its stratum's mean price level in their set.

    The residuals of a stratum's units are scaled up by what fitting the groups took from them. If there are no residuals, the
    prices stay as they are.
    """
    features = _features(units.counts)
    prices, n = np.split(features[:, 0], 2, axis=-1)
    names, strata = np.unique(units.design.strata, return_inverse=True)
    present = np.unique(units.design.labels)
    degrees = units.design.n_units - names.size
    left = degrees - (present.size - 1)
    if left <= 0:
        return features
    sums = StratumSums.make(units.design, features, units.n_groups)
    effects = np.nan_to_num(_linear_adjusted_gaps(sums, has_reference=False)[:, 1:])
    own = prices - n * effects[units.design.labels]
    totals, sizes = (sums_at(strata, values, names.size) for values in (own, n))
    levels = (totals / np.where(sizes > NO_VARIANCE, sizes, 1.0))[strata]
    own = n * levels + np.sqrt(degrees / left) * (own - n * levels)
    return np.concatenate([own, n], axis=1)[:, np.newaxis]


def _features(counts: Floats) -> Floats:
    """Return the sum of the price levels of a unit's items and their number, by set: (n_units, n_blocks, 2 · n_sets)."""
    prices = counts @ np.arange(1.0, counts.shape[3] + 1)
    return np.concatenate([prices, counts.sum(axis=3)], axis=2)


def _means(sums: Floats) -> Floats:
    """Convert sums of features (…, 2 · n_sets) to mean price levels of each set, (…, n_sets); NaN without items."""
    prices, n = np.split(sums, 2, axis=-1)
    return np.asarray(prices / np.where(n > NO_VARIANCE, n, np.nan))


def _over_shared_sets(means: Floats) -> Floats:
    """Return means of groups that have items (…, n_groups, n_sets) over the sets in which all have some, (…, n_groups)."""
    is_shared = ~np.isnan(means).any(axis=-2, keepdims=True)
    return nan_mean(np.where(is_shared, means, np.nan), -1)


def _gaps(means: Floats, has_reference: bool, counts: NDArray[np.bool_] | None = None) -> Floats:
    """Groups' means of sets (…, n_groups, n_sets) less what they are compared with, (…, n_groups, 1 + n_sets).

    counts: sets that may count for ALL_SETS, if not all may.
    """
    if has_reference:
        gaps = np.asarray(means - means[..., :1, :])
        gaps[..., 0, :] = np.nan
        return with_mean_over_sets(gaps, -1, counts)
    has_items = ~np.isnan(means)
    # Ignore groups that have no items in any set.
    is_shared: NDArray[np.bool_] = np.all(
        has_items | ~has_items.any(axis=-1, keepdims=True), axis=-2, keepdims=True
    )
    if counts is not None:
        is_shared = is_shared & counts
    gaps = np.asarray(means - np.expand_dims(nan_mean(means, -2), -2))
    return with_mean_over_sets(gaps, -1, is_shared)


def _jackknifed_means(units: ItemCounts) -> tuple[Floats, Floats, DeleteGroups]:
    """Return means (n_groups, n_sets), and the same without each delete-group, (n_left_out, n_groups, n_sets)."""
    deleted = DeleteGroups.of(units.clusters, units.design.labels)
    parts = split_by_group(units.design.labels, _features(units.counts), units.n_groups)
    sums = parts.sum(axis=0)
    return _means(sums), _means(sums - deleted.sums(parts)), deleted


@dataclass(frozen=True)
class _AdjustedGaps:
    """Gaps inside strata, their errors and what they were made from, each (n_groups, 1 + n_sets).

    left: what attenuation leaves of a gap to a reference, 1 where there is none.
    """

    gaps: Floats
    errors: Floats
    degrees: Floats
    null_means: Floats
    left: Floats


def _adjusted_gaps(units: ItemCounts, has_reference: bool, seed: int) -> _AdjustedGaps:
    """Return every gap less its permutation mean, undone of attenuation; NaN where no label could move.

    The jackknife takes permutation means for linear in the labels, which they nearly are.
    """
    shape = units.n_groups, units.n_sets + 1
    result = _AdjustedGaps(
        gaps=np.full(shape, np.nan),
        errors=np.full(shape, np.nan),
        degrees=np.full(shape, np.nan),
        null_means=np.full(shape, np.nan),
        left=np.ones(shape),
    )
    for labels, part in _compared(units, has_reference):
        if not part.design.can_move():
            continue
        features = _features(part.judged)
        sums = StratumSums.make(part.design, features, part.n_groups)
        gaps, linear = _gaps(_means(sums.groups()), has_reference), _linear_null_means(sums, has_reference)
        null_means = linear
        if not sizes_stay(part.design, part.judged.sum(axis=3)):
            drawn = drawn_means(part.design, _gap_statistic(part, has_reference), seed)
            null_means = drawn.reshape(gaps.shape)
        adjusted, left = _unattenuated(sums, gaps - null_means, has_reference)
        deleted = DeleteGroups.of(part.clusters, part.design.labels)
        left_out = [
            _linear_adjusted_gaps(without, has_reference)
            for without in without_each(part.design, features, part.n_groups, deleted)
        ]
        errors, degrees = deleted.errors(np.concatenate(left_out), _linear_adjusted_gaps(sums, has_reference))
        for target, values in (
            (result.gaps, adjusted), (result.errors, errors), (result.degrees, degrees),
            (result.null_means, null_means), (result.left, left),
        ):  # fmt: skip
            # In a pair the second is the group, the first its reference.
            target[labels] = values[-len(labels) :]
    return result


def _compared(units: ItemCounts, has_reference: bool) -> list[tuple[list[int], ItemCounts]]:
    """Return labels whose gaps are taken among the same units, and these: each group next to the reference, or all groups."""
    if not has_reference:
        return [(list(range(units.n_groups)), units)]
    pairs = []
    for label in range(1, units.n_groups):
        pair = units.keep(np.isin(units.design.labels, (0, label)))
        design = replace(pair.design, labels=(pair.design.labels > 0).astype(np.int8))
        pairs.append(([label], replace(pair, design=design, n_groups=2)))
    return pairs


def _linear_adjusted_gaps(sums: StratumSums, has_reference: bool) -> Floats:
    gaps = _gaps(_means(sums.groups()), has_reference) - _linear_null_means(sums, has_reference)
    return _unattenuated(sums, gaps, has_reference)[0]


def _linear_null_means(sums: StratumSums, has_reference: bool) -> Floats:
    """Permutation means of gaps (…, n_groups, 1 + n_sets); exact where groups' numbers of items never change."""
    # In the sets in which there are gaps.
    expected = np.where(np.isnan(_means(sums.groups())), np.nan, _means(sums.expected()))
    return _gaps(expected, has_reference)


def _unattenuated(sums: StratumSums, gaps: Floats, has_reference: bool) -> tuple[Floats, Floats]:
    """Convert gaps less permutation means to adjusted gaps, and what attenuation leaves, each (…, n_groups, 1 + n_sets)."""
    n_sets = gaps.shape[-1] - 1
    of_sets = sums.responses(slice(n_sets, None))
    if has_reference:
        has_gap: NDArray[np.bool_] = ~np.isnan(gaps[..., 1, 1:])
        left = with_mean_over_sets(attenuation(of_sets), -1, has_gap)[..., np.newaxis, :]
        return gaps / left, np.broadcast_to(left, gaps.shape)
    has_items = sums.groups()[..., n_sets:] > NO_VARIANCE
    is_shared: NDArray[np.bool_] = np.all(has_items | ~has_items.any(axis=-1, keepdims=True), axis=-2)
    of_all = with_mean_over_sets(of_sets, -3, is_shared[..., np.newaxis, np.newaxis])
    adjusted = np.empty_like(gaps)
    for at in np.ndindex(*gaps.shape[:-2], n_sets + 1):
        adjusted[(*at[:-1], slice(None), at[-1])] = unattenuated(
            gaps[(*at[:-1], slice(None), at[-1])], of_all[at]
        )
    return adjusted, np.ones_like(gaps)


def _gap_tests(
    units: ItemCounts, has_reference: bool, alpha: float, draws: Draws
) -> list[FamilyResult] | None:
    """Return a family of the groups' gaps for ALL_SETS and one for each set, features in the order of labels."""
    if has_reference:
        design, statistic = _pairs_in_own_strata(units)
    else:
        design, statistic = units.design, _gap_statistic(units, has_reference)
    if draws["n_permutations"] == 0 or not design.can_move():
        return None
    return set_families(design, statistic, (units.n_groups, units.n_sets + 1), alpha, draws)


def _gap_statistic(units: ItemCounts, has_reference: bool) -> FamilyStatistic:
    """Return gaps of arrangements, (b, n_units) to (b, n_groups · (1 + n_sets)).

    Average only over the sets shared in the observed data; otherwise the null would average over different sets.
    """
    features, is_shared = _features(units.judged), shared_sets(units, units.judged)

    def gaps(labels: Labels) -> Floats:
        means = _means(group_sums(labels, features, units.n_groups))
        return _gaps(means, has_reference, is_shared).reshape(len(labels), -1)

    return gaps


def _pairs_in_own_strata(units: ItemCounts) -> tuple[Design, FamilyStatistic]:
    """Return a design with each group and its reference in strata of their own, so that labels move only within a pair."""
    pairs = [pair for _, pair in _compared(units, has_reference=True)]
    sizes = [pair.design.n_units for pair in pairs]
    design = Design(
        np.concatenate([pair.design.labels for pair in pairs]),
        np.concatenate([pair.design.strata for pair in pairs]),
    )
    design = design.with_content(np.concatenate([pair.counts for pair in pairs]))
    design = design.within(np.repeat(np.arange(len(pairs)), sizes))
    statistics = [_gap_statistic(pair, has_reference=True) for pair in pairs]
    ends = np.cumsum([0, *sizes])

    def gaps(labels: Labels) -> Floats:
        columns = [np.full((len(labels), units.n_sets + 1), np.nan)]
        for of_pair, start, stop in zip(statistics, ends, ends[1:], strict=False):
            columns.append(of_pair(labels[:, start:stop])[:, units.n_sets + 1 :])
        return np.concatenate(columns, axis=1)

    return design, gaps
