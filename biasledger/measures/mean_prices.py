"""Mean price levels of groups: gaps, ranks, and how far the groups spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from biasledger.measures.intervals import NO_VARIANCE, rule_of_three, share_limits, t_half_widths
from biasledger.measures.jackknife import DeleteGroups
from biasledger.measures.prices import (
    ALL_SETS,
    Units,
    clusters_with_items,
    group_sums,
    nan_mean,
    over_sets,
    set_families,
    split_by_group,
    with_mean_over_sets,
)
from biasledger.measures.resampling import (
    Design,
    FamilyResult,
    FamilyStatistic,
    Floats,
    Integers,
    Labels,
    PermutationResult,
    permutation_test,
)


@dataclass(frozen=True)
class MeanPrice:
    """One group's mean price level in one set, and its gap; NaN where nothing can be estimated.

    rank: 1 for the dearest group. gap: the group's mean less the reference group's (label 0, which has none itself) or, where
    there is no reference, less the unweighted mean of all groups' means; null and test are of that gap. Of ALL_SETS, sets_sd
    is the standard deviation of the sets' means and sets_low … sets_high Student's interval over them. n_clusters: those that
    give the group items in that set.
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
    """Largest less smallest mean price level of the groups, over all sets; the test is one-sided (large is extreme).

    The interval runs from debiased - t·SE to the largest upper end of the difference of any two groups: the two that truly
    differ most are a fixed pair, so it misses the true range no more often than one pair's interval misses its difference.
    """

    spread: float
    standard_error: float
    interval_low: float
    interval_high: float
    lowest_label: int
    highest_label: int
    n_clusters: int
    test: PermutationResult | None


def mean_prices(
    units: Units,
    *,
    has_reference: bool,
    n_permutations: int,
    alpha: float,
    seed: int,
    stop_after: int | None = 50,
) -> list[MeanPrice]:
    """Each group's mean price level, of ALL_SETS and of each set; none for a group without items in a set.

    Two-sided tests of the gaps; adjusted p-values by max-T over the groups of one set. Gaps to a reference permute the labels
    of their own two groups, each gap apart: as gaps to one reference are positively correlated, the adjusted p-values err on
    the safe side. No tests with n_permutations 0.
    """
    means, without, deleted = _jackknifed_means(units)
    errors, degrees = deleted.errors(without, means)
    gaps, gaps_without = _gaps(means, has_reference), _gaps(without, has_reference)
    gap_errors, gap_degrees = deleted.errors(gaps_without, gaps)
    range_of_prices = units.n_levels - 1
    n_clusters = clusters_with_items(units)
    limits = share_limits((means - 1) / range_of_prices, errors / range_of_prices, degrees, n_clusters, alpha)
    low, high = (1 + limit * range_of_prices for limit in limits)
    fewest = np.minimum(n_clusters, n_clusters[:1]) if has_reference else n_clusters
    half_widths = _half_widths(gap_errors, gap_degrees, fewest, range_of_prices, alpha)
    tests = _gap_tests(units, has_reference, n_permutations, alpha, seed, stop_after)
    items = split_by_group(units.design.labels, units.counts.sum(axis=3), units.n_groups).sum(axis=0)
    n = np.concatenate([items.sum(axis=1, keepdims=True), items], axis=1)
    ranks = stats.rankdata(-means, method="min", axis=0, nan_policy="omit")
    sets = over_sets(means[:, 1:], alpha, 1.0, units.n_levels)
    rows = []
    for place, label in np.ndindex(units.n_sets + 1, units.n_groups):
        at = label, place
        if not n[at] > 0:
            continue
        test = tests[place] if tests and not np.isnan(gaps[at]) else None
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
                gap_low=float(np.maximum(gaps[at] - half_widths[at], -range_of_prices)),
                gap_high=float(np.minimum(gaps[at] + half_widths[at], range_of_prices)),
                null_mean=float(test.null_mean[label]) if test else np.nan,
                null_sd=float(test.null_sd[label]) if test else np.nan,
                p_value=float(test.p_value[label]) if test else np.nan,
                p_value_adjusted=float(test.p_value_adjusted[label]) if test else np.nan,
                sets_sd=float(sets.sd[label]) if place == 0 else np.nan,
                sets_low=float(sets.low[label]) if place == 0 else np.nan,
                sets_high=float(sets.high[label]) if place == 0 else np.nan,
                n_clusters=int(n_clusters[at]),
                n_permutations=test.n_permutations if test else 0,
                is_stopped_early=test.stopped_early if test else False,
            )
        )
    return rows


def price_spread(
    units: Units, *, n_permutations: int, alpha: float, seed: int, stop_after: int | None = 50
) -> PriceSpread | None:
    """How far the groups' mean price levels over all sets lie apart; None where fewer than two groups have items.

    No test with n_permutations 0 or labels that cannot move; the interval's lower end is then NaN.
    """
    means, without, deleted = _jackknifed_means(units)
    means, without = means[:, 0], without[:, :, 0]
    has_items = ~np.isnan(means)
    if has_items.sum() < 2:
        return None
    range_of_prices = units.n_levels - 1
    [labels] = np.nonzero(has_items)
    means, without = means[has_items], without[:, has_items]
    spread = np.array(means.max() - means.min())
    error, degree = deleted.errors(without.max(axis=1) - without.min(axis=1), spread)
    a, b = np.triu_indices(means.size, 1)
    differences = np.abs(means[a] - means[b])
    pair_errors, pair_degrees = deleted.errors(without[:, a] - without[:, b], means[a] - means[b])
    n_clusters = clusters_with_items(units)[labels, 0]
    fewest = np.minimum(n_clusters[a], n_clusters[b])
    ends = differences + _half_widths(pair_errors, pair_degrees, fewest, range_of_prices, alpha)
    test = None
    if n_permutations > 0 and units.design.can_move():
        features = _features(units)

        def statistic(labels: Labels) -> Floats:
            drawn = _means(group_sums(labels, features, units.n_groups))[:, has_items, 0]
            return np.asarray(drawn.max(axis=1) - drawn.min(axis=1))

        test = permutation_test(
            units.design, statistic, n_permutations=n_permutations, seed=seed, stop_after=stop_after
        )
    debiased = test.debiased if test else np.nan
    return PriceSpread(
        float(spread),
        float(error),
        # NaN stays NaN: np.maximum, unlike max, lets it through.
        float(np.maximum(debiased - t_half_widths(error, degree, alpha), 0.0)),
        float(np.minimum(ends.max(), range_of_prices)),
        int(labels[np.argmin(means)]),
        int(labels[np.argmax(means)]),
        int(np.unique(units.clusters).size),
        test,
    )


def _features(units: Units) -> Floats:
    """Sum of the price levels of a unit's items and their number, by set: (n_units, n_blocks, 2 · n_sets)."""
    prices = units.counts @ np.arange(1.0, units.n_levels + 1)
    return np.concatenate([prices, units.counts.sum(axis=3)], axis=2)


def _means(sums: Floats) -> Floats:
    """Sums of features (…, 2 · n_sets) to mean price levels of all sets and each, (…, 1 + n_sets); NaN without items."""
    prices, n = np.split(sums, 2, axis=-1)
    return with_mean_over_sets(prices / np.where(n > NO_VARIANCE, n, np.nan), -1)


def _gaps(means: Floats, has_reference: bool) -> Floats:
    """Groups' means (…, n_groups, 1 + n_sets) less what they are held against, of the same shape."""
    if not has_reference:
        return np.asarray(means - np.expand_dims(nan_mean(means, -2), -2))
    gaps = np.asarray(means - means[..., :1, :])
    gaps[..., 0, :] = np.nan
    return gaps


def _jackknifed_means(units: Units) -> tuple[Floats, Floats, DeleteGroups]:
    """Means (n_groups, 1 + n_sets), and the same without each delete-group, (n_left_out, n_groups, 1 + n_sets)."""
    deleted = DeleteGroups.of(units.clusters, units.design.labels)
    parts = split_by_group(units.design.labels, _features(units), units.n_groups)
    sums = parts.sum(axis=0)
    return _means(sums), _means(sums - deleted.sums(parts)), deleted


def _half_widths(
    errors: Floats, degrees: Floats, n_clusters: Integers, range_of_prices: int, alpha: float
) -> Floats:
    """Half-lengths of intervals of differences; where they vary in no cluster, what one in n clusters could add."""
    bounds = rule_of_three(n_clusters, alpha) * range_of_prices
    return np.where(errors <= NO_VARIANCE, bounds, t_half_widths(errors, degrees, alpha))


def _gap_tests(
    units: Units, has_reference: bool, n_permutations: int, alpha: float, seed: int, stop_after: int | None
) -> list[FamilyResult] | None:
    """A family of the groups' gaps for ALL_SETS and one for each set, features in the order of labels."""
    features = _features(units)
    if has_reference:
        design, statistic = _apart(units, features)
    else:
        design = units.design

        def statistic(labels: Labels) -> Floats:
            gaps = _gaps(_means(group_sums(labels, features, units.n_groups)), has_reference=False)
            return gaps.reshape(len(labels), -1)

    if n_permutations == 0 or not design.can_move():
        return None
    return set_families(
        design, statistic, (units.n_groups, units.n_sets + 1),
        n_permutations=n_permutations, alpha=alpha, seed=seed, stop_after=stop_after,
    )  # fmt: skip


def _apart(units: Units, features: Floats) -> tuple[Design, FamilyStatistic]:
    """Every group beside a reference of its own, in strata of its own: labels then move inside each pair alone."""
    pairs: list[NDArray[np.intp]] = [
        np.flatnonzero(np.isin(units.design.labels, (0, label))) for label in range(1, units.n_groups)
    ]
    members = np.concatenate(pairs)
    pair_of = np.repeat(np.arange(len(pairs)), [pair.size for pair in pairs])
    labels = (units.design.labels[members] > 0).astype(np.int8)
    design = Design(labels, units.design.strata[members]).within(pair_of)
    ends = np.cumsum([0, *(pair.size for pair in pairs)])

    def gaps(labels: Labels) -> Floats:
        columns = [np.full((len(labels), units.n_sets + 1), np.nan)]
        for pair, start, stop in zip(pairs, ends, ends[1:], strict=False):
            means = _means(group_sums(labels[:, start:stop], features[pair], 2))
            columns.append(means[:, 1] - means[:, 0])
        return np.concatenate(columns, axis=1)

    return design, gaps
