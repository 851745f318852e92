"""Prices of recommended items: each group's share of the items at a price level, and mean price levels.

A unit is what moves as a whole when labels are permuted: a name or a word with all answers to prompts that hold it, or, where
a group is a single word, that word in one template. A cluster is what was sampled: the name, or the template. Each data set
(a city) counts alike, however many items it has: set ALL_SETS is the mean over the sets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from biasledger.measures.intervals import NO_VARIANCE, share_limits
from biasledger.measures.jackknife import DeleteGroups
from biasledger.measures.resampling import (
    Design,
    FamilyResult,
    FamilyStatistic,
    Floats,
    Integers,
    Labels,
    family_permutation_tests,
    label_probabilities,
)

ALL_SETS = -1
"""The mean over all sets, each weighing the same; of a single set it is that set."""

_MAX_GROUPS = 128


@dataclass(frozen=True)
class Units:
    """The units of one comparison.

    design: each unit's group, 0 … n_groups - 1, and the stratum inside which labels may move. clusters: (n_units,), the
    cluster of each unit. counts: items, (n_units, n_blocks, n_sets, n_levels); level l lies at position l - 1.

    There are two blocks where the groups follow from two words, as a couple's being of the same or of different gender does:
    the unit is the first word, the block says what the second one is, and items of block 1 belong to the other group than
    the unit's label says. Permuting the first words' labels then tests the interaction of both words, with main effects free.

    Raises:
        ValueError: arrays that do not fit each other, labels outside the groups, or counts that are no counts of items.
    """

    design: Design
    clusters: Integers
    counts: Floats
    n_groups: int

    def __post_init__(self) -> None:
        if self.counts.ndim != 4:
            raise ValueError("counts are of shape (n_units, n_blocks, n_sets, n_levels)")
        check_units(self.design, self.clusters, self.counts, self.n_groups)
        if self.n_levels < 2:
            raise ValueError("there are two price levels or more")

    @property
    def n_sets(self) -> int:
        """Number of data sets."""
        return int(self.counts.shape[2])

    @property
    def n_levels(self) -> int:
        """Number of price levels."""
        return int(self.counts.shape[3])

    def keep(self, is_kept: NDArray[np.bool_]) -> Units:
        """Some of the units."""
        design = Design(self.design.labels[is_kept], self.design.strata[is_kept])
        return replace(self, design=design, clusters=self.clusters[is_kept], counts=self.counts[is_kept])


def check_units(design: Design, clusters: Integers, counts: Floats, n_groups: int) -> None:
    """Refuse units that cannot be; counts are of shape (n_units, n_blocks, …).

    Raises:
        ValueError: says what is wrong.
    """
    if not design.labels.shape == clusters.shape == counts.shape[:1]:
        raise ValueError("labels, strata, clusters and counts are of equal length")
    if not 2 <= n_groups <= _MAX_GROUPS:
        raise ValueError(f"{n_groups} groups are compared; it takes 2 to {_MAX_GROUPS}")
    if design.n_units and (design.labels.min() < 0 or design.labels.max() >= n_groups):
        raise ValueError(f"a label lies outside 0 to {n_groups - 1}, the comparison's groups")
    if counts.shape[1] > 2 or (counts.shape[1] == 2 and n_groups != 2):
        raise ValueError("there is one block, or two where two groups are compared")
    if not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise ValueError("counts of items are numbers of 0 or more")


def group_sums(labels: Labels, features: Floats, n_groups: int) -> Floats:
    """Sums over each group's units: (b, n_units) and (n_units, n_blocks, n_features) to (b, n_groups, n_features)."""
    if n_groups > 2:
        single = features[:, 0]
        return np.stack([(labels == group).astype(np.float64) @ single for group in range(n_groups)], axis=1)
    total = features.sum(axis=(0, 1))
    first = features[:, 0]
    if features.shape[1] == 2:
        first = first - features[:, 1]
    marked = labels.astype(np.float64) @ first
    if features.shape[1] == 2:
        marked = marked + features[:, 1].sum(axis=0)
    return np.stack([total - marked, marked], axis=1)


def split_by_group(labels: Labels, features: Floats, n_groups: int) -> Floats:
    """What each unit gives each group: (n_units,) and (n_units, n_blocks, …) to (n_units, n_groups, …)."""
    parts = np.zeros((labels.size, n_groups, *features.shape[2:]))
    units = np.arange(labels.size)
    parts[units, labels] = features[:, 0]
    if features.shape[1] == 2:
        parts[units, 1 - labels] += features[:, 1]
    return parts


@dataclass(frozen=True)
class LevelShare:
    """One group's share of the items at one price level, P(label | level), in one set; NaN where nothing can be estimated.

    n: the group's items at that level, n_level: all groups'. expected_share: its share of the items of all levels. null_mean:
    its mean share when labels are permuted. excess: share - null_mean, with its interval over clusters. Of ALL_SETS,
    sets_sd is the standard deviation of the sets' shares and sets_low … sets_high Student's interval over them. n_clusters:
    those that give the group items in that set. Source of share: Shen et al. (2022), equation 1.
    """

    label: int
    set_id: int
    level: int
    n: float
    n_level: float
    share: float
    expected_share: float
    null_mean: float
    null_sd: float
    p_value: float
    p_value_adjusted: float
    excess: float
    standard_error: float
    interval_low: float
    interval_high: float
    sets_sd: float
    sets_low: float
    sets_high: float
    n_clusters: int
    n_permutations: int
    is_stopped_early: bool


def level_shares(
    units: Units, *, n_permutations: int, alpha: float, seed: int, stop_after: int | None = 50
) -> list[LevelShare]:
    """Each group's share of each price level's items, of ALL_SETS and of each set; none for a level that nobody got.

    Two-sided tests; adjusted p-values by max-T over the groups and levels of one set. No tests with n_permutations 0, and
    neither null nor interval where labels cannot move.
    """
    sums, shares, expected = _shares(units)
    totals = sums.sum(axis=0)
    errors, degrees = np.full_like(shares, np.nan), np.full_like(shares, np.nan)
    can_move = units.design.can_move()
    if can_move:
        deleted = DeleteGroups.of(units.clusters, units.design.labels)
        left_out = []
        for group in range(deleted.cells.size):
            _, without, expected_without = _shares(units.keep(deleted.of_unit != group))
            left_out.append(without - expected_without)
        errors, degrees = deleted.errors(np.stack(left_out), shares - expected)
        low, high = share_limits(shares, errors, degrees, _holders(units), alpha)
    else:
        expected, low, high = (np.full_like(shares, np.nan) for _ in range(3))
    tests = _share_tests(units, totals, n_permutations, alpha, seed, stop_after) if can_move else None
    of_items = _expected_shares(sums)
    n, n_level = (
        np.concatenate([part.sum(axis=-2, keepdims=True), part], axis=-2) for part in (sums, totals)
    )
    n_clusters = clusters_with_items(units)
    sets = over_sets(shares[:, 1:], alpha, 0.0, 1.0)
    rows = []
    for place, label, level in np.ndindex(units.n_sets + 1, units.n_groups, units.n_levels):
        at = label, place, level
        if not (n_level[place, level] > 0 and (units.design.labels == label).any()):
            continue
        test = tests[place] if tests else None
        feature = label * units.n_levels + level
        share, null_mean = float(shares[at]), float(expected[at])
        rows.append(
            LevelShare(
                label=label,
                set_id=ALL_SETS if place == 0 else place - 1,
                level=level + 1,
                n=float(n[at]),
                n_level=float(n_level[place, level]),
                share=share,
                expected_share=float(of_items[at]),
                null_mean=null_mean,
                null_sd=float(test.null_sd[feature]) if test else np.nan,
                p_value=float(test.p_value[feature]) if test else np.nan,
                p_value_adjusted=float(test.p_value_adjusted[feature]) if test else np.nan,
                excess=share - null_mean,
                standard_error=float(errors[at]),
                interval_low=float(low[at]) - null_mean,
                interval_high=float(high[at]) - null_mean,
                sets_sd=float(sets.sd[label, level]) if place == 0 else np.nan,
                sets_low=float(sets.low[label, level]) if place == 0 else np.nan,
                sets_high=float(sets.high[label, level]) if place == 0 else np.nan,
                n_clusters=int(n_clusters[label, place]),
                n_permutations=test.n_permutations if test else 0,
                is_stopped_early=test.stopped_early if test else False,
            )
        )
    return rows


def _shares(units: Units) -> tuple[Floats, Floats, Floats]:
    """Items (n_groups, n_sets, n_levels); shares, and mean shares under permutation, (n_groups, 1 + n_sets, n_levels)."""
    sums = split_by_group(units.design.labels, units.counts, units.n_groups).sum(axis=0)
    probabilities = label_probabilities(units.design, units.n_groups)
    expected = np.einsum("uk,usl->ksl", probabilities, units.counts[:, 0])
    if units.counts.shape[1] == 2:
        expected += np.einsum("uk,usl->ksl", probabilities[:, ::-1], units.counts[:, 1])
    totals = sums.sum(axis=0)
    totals = np.where(totals > NO_VARIANCE, totals, np.nan)
    return sums, with_mean_over_sets(sums / totals, 1), with_mean_over_sets(expected / totals, 1)


def _expected_shares(sums: Floats) -> Floats:
    """Groups' shares of all items; of ALL_SETS the mean over those sets that hold a level, (n_groups, 1 + n_sets, n_levels)."""
    of_sets = sums.sum(axis=2, keepdims=True)
    in_sets = of_sets.sum(axis=0)
    shares = of_sets / np.where(in_sets > 0, in_sets, np.nan)
    return with_mean_over_sets(np.where(sums.sum(axis=0) > 0, shares, np.nan), 1)


def _share_tests(
    units: Units, totals: Floats, n_permutations: int, alpha: float, seed: int, stop_after: int | None
) -> list[FamilyResult] | None:
    """A family of groups × levels for ALL_SETS and one for each set; features of all families share their draws."""
    if n_permutations == 0:
        return None
    parts = units.counts / np.where(totals > NO_VARIANCE, totals, 1.0)
    n_sets_with = np.maximum((totals > NO_VARIANCE).sum(axis=0), 1)
    weights = np.concatenate([parts.sum(axis=2, keepdims=True) / n_sets_with, parts], axis=2)
    features = weights.reshape(*weights.shape[:2], -1)

    def shares(labels: Labels) -> Floats:
        return group_sums(labels, features, units.n_groups).reshape(len(labels), -1)

    return set_families(
        units.design, shares, (units.n_groups, units.n_sets + 1, units.n_levels),
        n_permutations=n_permutations, alpha=alpha, seed=seed, stop_after=stop_after,
    )  # fmt: skip


def _holders(units: Units) -> Integers:
    """Clusters that hold items of a level, (1 + n_sets, n_levels)."""
    _, clusters = np.unique(units.clusters, return_inverse=True)
    sums = np.zeros((int(clusters.max()) + 1, units.n_sets, units.n_levels))
    np.add.at(sums, clusters, units.counts.sum(axis=1))
    holds = sums > 0
    return np.asarray(
        np.concatenate([holds.any(axis=1, keepdims=True), holds], axis=1).sum(axis=0), dtype=np.int64
    )


def clusters_with_items(units: Units) -> Integers:
    """Clusters that give a group items, of any set and of each, (n_groups, 1 + n_sets)."""
    _, clusters = np.unique(units.clusters, return_inverse=True)
    items = split_by_group(units.design.labels, units.counts.sum(axis=3), units.n_groups)
    sums = np.zeros((int(clusters.max()) + 1, *items.shape[1:]))
    np.add.at(sums, clusters, items)
    gives = sums > 0
    return np.asarray(
        np.concatenate([gives.any(axis=2, keepdims=True), gives], axis=2).sum(axis=0), dtype=np.int64
    )


def set_families(
    design: Design,
    statistic: FamilyStatistic,
    shape: tuple[int, ...],
    *,
    n_permutations: int,
    alpha: float,
    seed: int,
    stop_after: int | None,
) -> list[FamilyResult]:
    """A family for ALL_SETS and one for each set: the features, of shape (…, 1 + n_sets, …) when unravelled, at that set.

    The set is the second axis of `shape`. Of a single set, both families are one and the same.
    """
    features = np.moveaxis(np.arange(np.prod(shape)).reshape(shape), 1, 0)
    is_single = shape[1] == 2
    results = family_permutation_tests(
        design,
        statistic,
        [family.ravel() for family in (features[:1] if is_single else features)],
        n_permutations=n_permutations,
        alpha=alpha,
        seed=seed,
        stop_after=stop_after,
    )
    return results * 2 if is_single else results


@dataclass(frozen=True)
class OverSets:
    """Standard deviation over sets, and ends of Student's interval of the mean over them; NaN with fewer than two sets."""

    sd: Floats
    low: Floats
    high: Floats


def over_sets(values: Floats, alpha: float, lowest: float, highest: float) -> OverSets:
    """How values (n_groups, n_sets, …) vary over the sets that have one; lowest, highest: what a value can be."""
    n = (~np.isnan(values)).sum(axis=1)
    mean = nan_mean(values, 1)
    squares = np.nansum((values - mean[:, np.newaxis]) ** 2, axis=1)
    sd = np.sqrt(squares / np.where(n > 1, n - 1, np.nan))
    half_width = stats.t.ppf(1 - alpha / 2, np.maximum(n - 1, 1)) * sd / np.sqrt(np.maximum(n, 1))
    return OverSets(sd, np.maximum(mean - half_width, lowest), np.minimum(mean + half_width, highest))


def nan_mean(values: Floats, axis: int) -> Floats:
    """Mean of the values that are there, NaN where there is none."""
    n = (~np.isnan(values)).sum(axis=axis)
    return np.asarray(np.nansum(values, axis=axis) / np.where(n > 0, n, np.nan))


def with_mean_over_sets(values: Floats, axis: int) -> Floats:
    """The same with the mean over the sets that have a value in front, along the axis of sets."""
    return np.concatenate([np.expand_dims(nan_mean(values, axis), axis), values], axis=axis)
