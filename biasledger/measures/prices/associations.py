"""Associations of categories of recommended items with one of two groups: differences, ratios, and their tests.

CategoryCounts, clusters and blocks are those of prices; data sets are pooled.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from biasledger.measures.comparisons import Comparison, table
from biasledger.measures.declared import Measure, Threshold, Tolerance
from biasledger.measures.engine.adjustment import attenuation, drawn_means, sizes_stay
from biasledger.measures.engine.design import Design, Floats, Integers, pooled, some_of
from biasledger.measures.engine.intervals import NO_VARIANCE, share_limits, t_half_widths
from biasledger.measures.engine.jackknife import DeleteGroups
from biasledger.measures.engine.resampling import (
    Draws,
    FamilyResult,
    FamilyStatistic,
    family_permutation_test,
)
from biasledger.measures.engine.strata import StratumSums, without_each
from biasledger.measures.engine.sums import sums_of_each
from biasledger.measures.prices.items import (
    check_units,
    check_weighted,
    group_sums,
    one_where_all_agree,
    split_by_group,
)
from biasledger.measures.schema import Table

MEASURES = (
    Measure(
        name="category_association",
        description=(
            "The category that goes most clearly to one group rather than to the other; p is adjusted for all categories "
            "(max-T)"
        ),
        scale="association score (difference) of the strongest category, (f1 - f0) / f",
        bounds=(-2, 2),
        past="a difference of {limit} of the average share or more",
        side="two-sided",
        unit="names or words a group",
        clear_scale="association score of any category (simultaneous bands)",
        label="the association of a category",
        display=(100, " %"),
        threshold=Threshold(
            value=0.25,
            reason="No published value: two groups' shares of a category lie apart by a quarter of the overall share",
            source="Shen et al. (2022), arXiv:2201.06224, prints scores and sets no threshold",
            min_units=8,
            severity="error",
            crossed="Intersections have a fraction of the names of a single attribute, so they are shown and warn",
        ),
        tolerance=Tolerance(
            0.05, "Association scores run from -2 to 2, so this is about the same part of their range"
        ),
    ),
)


_MARKED, _REFERENCE = 1, 0


@dataclass(frozen=True)
class CategoryCounts:
    """The units of one contrast; label 1 is the marked group, 0 its reference.

    weighted, weighted_totals: both by balanced_by_question, as for prices: what is judged; None where counts are judged as they
    are. design, clusters, blocks: as for prices. counts: items that carry a category, (n_units, n_blocks, n_categories);
    totals: all items, (n_units, n_blocks). An item may carry several categories.

    Raises:
        ValueError: arrays that do not fit each other, labels other than 0 and 1, counts that are no counts of items, or more
            items of a category than items.
    """

    design: Design
    clusters: Integers
    counts: Floats
    totals: Floats
    weighted: Floats | None = None
    weighted_totals: Floats | None = None

    def __post_init__(self) -> None:
        check_units(self.design, self.clusters, self.counts, 2)
        if self.totals.shape != self.counts.shape[:2]:
            raise ValueError("totals are of shape (n_units, n_blocks), as counts are")
        if not np.isfinite(self.totals).all():
            raise ValueError("totals are numbers")
        # Fractional counts are sums that round.
        if (self.counts > self.totals[:, :, np.newaxis] * (1 + 1e-9)).any():
            raise ValueError("a unit has more items of a category than items")
        check_weighted(self.counts, self.weighted)
        check_weighted(self.totals, self.weighted_totals)
        if (self.weighted is None) != (self.weighted_totals is None):
            raise ValueError("counts and totals are both weighted, or neither")

    def keep(self, is_selected: NDArray[np.bool_]) -> CategoryCounts:
        """Return some of the units."""
        return some_of(self, is_selected)

    def features(self, categories: Integers) -> Floats:
        """Items of some categories and all items last, as they are: (n_units, n_blocks, n_categories + 1)."""
        return _features(self.counts, self.totals, categories)

    def judged_features(self, categories: Integers) -> Floats:
        """Return the same as it is judged, weighted by question where it was."""
        if self.weighted is None or self.weighted_totals is None:
            return self.features(categories)
        return _features(self.weighted, self.weighted_totals, categories)


def _features(counts: Floats, totals: Floats, categories: Integers) -> Floats:
    return np.concatenate([counts[:, :, categories], totals[:, :, np.newaxis]], axis=2)


@dataclass(frozen=True)
class Association:
    """A category's association with the marked group; NaN where nothing can be estimated.

    share_marked, share_reference: f(c | group), items with the category over the group's items. difference: their difference
    over f(c), the share in both groups together; ratio: of the two, NaN where the reference's is 0. interval: of the
    difference, over clusters. adjusted_difference: difference less null_mean, undone of attenuation: the difference inside
    strata. band: around it, for all tested categories at once; of a category that is the same in every arrangement its own
    interval, NaN where the category was not tested. Source: Shen et al. (2022), equations 2 and 3.
    """

    category_id: int
    n_marked: float
    n_reference: float
    share_marked: float
    share_reference: float
    difference: float
    ratio: float
    null_mean: float
    null_sd: float
    p_value: float
    p_value_adjusted: float
    standard_error: float
    interval_low: float
    interval_high: float
    adjusted_difference: float
    adjusted_low: float
    adjusted_high: float
    band_low: float
    band_high: float
    n_permutations: int
    is_stopped_early: bool
    n_blocks: int | None = None


def associations(units: CategoryCounts, *, alpha: float, **draws: Unpack[Draws]) -> list[Association]:
    """Return the association of each category that any item carries, in the order of their numbers.

    Two-sided tests of the differences; adjusted p-values by step-down max-T over the categories. A category whose difference
    is the same in every arrangement has p-values of 1. No tests with n_permutations 0.
    """
    [categories] = np.nonzero(units.counts.sum(axis=(0, 1)) > 0)
    features, judged = units.features(categories), units.judged_features(categories)
    labels = units.design.labels
    parts = split_by_group(labels, features, 2)
    sums = parts.sum(axis=0)
    n, n_items = sums[:, :-1], sums[:, -1:]
    shares = n / np.where(n_items > 0, n_items, np.nan)
    differences = _differences(sums[np.newaxis])[0]
    with np.errstate(divide="ignore"):
        ratios = shares[_MARKED] / np.where(shares[_REFERENCE] > 0, shares[_REFERENCE], np.nan)
    lowest, highest = _ends(n_items[:, 0])
    deleted = DeleteGroups.of(units.clusters, labels)
    errors, degrees = deleted.errors(_differences(sums - deleted.sums(parts)), differences)
    # A difference is a linear function of the group's share of a category's items, whose limits are known.
    scale, holders = highest - lowest, _holders(units, categories)
    shares_of_category = (differences - lowest) / scale
    limits = share_limits(shares_of_category, errors / scale, degrees, holders, alpha)
    low, high = (lowest + scale * limit for limit in limits)
    judged_sums = split_by_group(labels, judged, 2).sum(axis=0)
    judged_differences = _differences(judged_sums[np.newaxis])[0]
    adjusted = _adjusted(units.design, judged, judged_differences, deleted, draws["seed"])
    # The arms are a raw difference's, with the error that it has inside strata.
    judged_lowest, judged_highest = _ends(judged_sums[:, -1])
    scale = judged_highest - judged_lowest
    shares_of_category = np.clip((judged_differences - judged_lowest) / scale, 0.0, 1.0)
    limits = share_limits(
        shares_of_category, adjusted.errors * adjusted.left / scale, adjusted.degrees, holders, alpha
    )
    is_at_end = (shares_of_category <= NO_VARIANCE) | (shares_of_category >= 1 - NO_VARIANCE)
    inside = np.where(is_at_end, t_half_widths(adjusted.errors, adjusted.degrees, alpha), 0.0)
    below, above = (
        np.fmax(scale * np.abs(shares_of_category - limit) / adjusted.left, inside) for limit in limits
    )
    values = np.clip(adjusted.differences, judged_lowest, judged_highest)
    adjusted_low, adjusted_high = (
        np.clip(end, judged_lowest, judged_highest)
        for end in (adjusted.differences - below, adjusted.differences + above)
    )
    test = _test(units.design, judged, alpha, draws)
    band_low, band_high = (np.full(categories.size, np.nan) for _ in range(2))
    if test:
        varies = test.null_sd > NO_VARIANCE
        band = test.critical_value * np.where(varies, test.null_sd, np.nan) / adjusted.left
        is_tested = ~np.isnan(test.p_value)
        for ends, of_interval, around in (
            (band_low, adjusted_low, adjusted.differences - band),
            (band_high, adjusted_high, adjusted.differences + band),
        ):
            ends[is_tested] = np.where(varies, np.clip(around, judged_lowest, judged_highest), of_interval)[
                is_tested
            ]
    return [
        Association(
            category_id=int(category),
            n_marked=float(n[_MARKED, i]),
            n_reference=float(n[_REFERENCE, i]),
            share_marked=float(shares[_MARKED, i]),
            share_reference=float(shares[_REFERENCE, i]),
            difference=float(differences[i]),
            ratio=float(ratios[i]),
            null_mean=float(adjusted.null_means[i]) if test else np.nan,
            null_sd=float(test.null_sd[i]) if test else np.nan,
            p_value=float(test.p_value[i]) if test else np.nan,
            p_value_adjusted=float(test.p_value_adjusted[i]) if test else np.nan,
            standard_error=float(errors[i]),
            interval_low=float(low[i]),
            interval_high=float(high[i]),
            adjusted_difference=float(values[i]),
            adjusted_low=float(adjusted_low[i]),
            adjusted_high=float(adjusted_high[i]),
            band_low=float(band_low[i]),
            band_high=float(band_high[i]),
            n_permutations=test.n_permutations if test else 0,
            is_stopped_early=test.is_stopped_early if test else False,
            n_blocks=test.n_blocks if test else None,
        )
        for i, category in enumerate(categories)
    ]


def category_associations(comparisons: Iterable[Comparison[CategoryCounts]]) -> Table:
    """Return a row for each comparison and category that any item carries: its Association."""
    return table(
        Association,
        comparisons,
        lambda one, settings: associations(one.units, **settings),
        "category_associations",
    )


def _ends(n_items: Floats) -> tuple[float, float]:
    """Return the difference if all items of a category are the reference's, and if all are the marked group's."""
    lowest = -float(n_items.sum() / n_items[_REFERENCE]) if n_items[_REFERENCE] else np.nan
    return lowest, float(n_items.sum() / n_items[_MARKED]) if n_items[_MARKED] else np.nan


def _differences(sums: Floats) -> Floats:
    """Equation 2 of each category; sums (…, 2, n_categories + 1), all items last, to (…, n_categories)."""
    n, n_items = sums[..., :-1], sums[..., -1:]
    shares = n / np.where(n_items > 0, n_items, np.nan)
    both, items = n.sum(axis=-2), n_items.sum(axis=-2)
    return np.asarray(
        (shares[..., _MARKED, :] - shares[..., _REFERENCE, :]) * items / np.where(both > 0, both, np.nan)
    )


@dataclass(frozen=True)
class _Adjusted:
    """Differences inside strata, (n_categories,); left: what attenuation leaves of them."""

    differences: Floats
    errors: Floats
    degrees: Floats
    null_means: Floats
    left: float


def _adjusted(
    design: Design, features: Floats, differences: Floats, deleted: DeleteGroups, seed: int
) -> _Adjusted:
    """Return differences less their permutation means, undone of attenuation; NaN where no label can move.

    The jackknife takes permutation means for linear in the labels, which they nearly are.
    """
    if not design.can_move():
        unknown = np.full(differences.size, np.nan)
        return _Adjusted(unknown, unknown, unknown, unknown, np.nan)
    linear, null_means, left = _linear_adjusted(StratumSums.make(design, features, 2))
    if not sizes_stay(design, features[:, :, -1:]):
        null_means = drawn_means(*_in_blocks(design, features, seed), seed)
    left_out = [_linear_adjusted(sums)[0] for sums in without_each(design, features, 2, deleted)]
    errors, degrees = deleted.errors(np.concatenate(left_out), linear)
    return _Adjusted((differences - null_means) / left, errors, degrees, null_means, float(left[0]))


def _linear_adjusted(sums: StratumSums) -> tuple[Floats, Floats, Floats]:
    """Adjusted differences, permutation means that are exact where groups' numbers of items stay, what attenuation leaves."""
    null_means = _differences(sums.expected())
    left = attenuation(sums.responses(slice(-1, None)))
    return (_differences(sums.groups()) - null_means) / left, null_means, left


def _in_blocks(design: Design, features: Floats, seed: int) -> tuple[Design, FamilyStatistic]:
    """Return the design, pooled into blocks where there are many units, and the differences of its arrangements."""
    blocks = pooled(design, seed)
    if blocks.design.n_blocks is not None:
        features = blocks.totals(features)
    return blocks.design, lambda labels: _differences(group_sums(labels, features, 2))


def _holders(units: CategoryCounts, categories: Integers) -> Integers:
    """Clusters with items of each category."""
    sums = sums_of_each(units.clusters, units.counts[:, :, categories].sum(axis=1))
    return np.asarray((sums > 0).sum(axis=0), dtype=np.int64)


def _test(design: Design, features: Floats, alpha: float, draws: Draws) -> FamilyResult | None:
    if draws["n_permutations"] == 0 or features.shape[2] == 1 or not design.can_move():
        return None
    design, statistic = _in_blocks(design, features, draws["seed"])
    result = family_permutation_test(design, statistic, alpha=alpha, **draws)
    return one_where_all_agree(result, statistic(design.labels[np.newaxis])[0], draws["n_permutations"])
