"""Test mean price levels: Student's, Welch's and paired intervals, every arrangement, names that differ, places."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from biasledger.measures.prices.items import ALL_SETS
from biasledger.measures.prices.means import mean_prices, price_spread
from tests.python.measures.simulated_prices import confounded, couples, names, places, tilted, units_of

PRICES = np.arange(1, 5)


def frame(units, n_permutations=199, *, has_reference=True, **settings) -> pd.DataFrame:
    settings = {"alpha": 0.05, "seed": 3, **settings}
    rows = mean_prices(units, has_reference=has_reference, n_permutations=n_permutations, **settings)
    return pd.DataFrame([vars(row) for row in rows]).set_index(["label", "set_id"]).sort_index()


def spread(units, n_permutations=199, **settings):
    return price_spread(units, n_permutations=n_permutations, **{"alpha": 0.05, "seed": 3, **settings})


def means_of_units(units):
    counts = units.counts[:, 0, 0]
    return counts @ PRICES / counts.sum(axis=1)


def rejections_stay_near_alpha(p_values, alpha=0.05) -> bool:
    hits = int((np.array(p_values) < alpha).sum())
    return stats.binomtest(hits, len(p_values), alpha, alternative="greater").pvalue > 0.01


class TestMeans:
    def test_means_weigh_items_and_sets_alike(self):
        counts = np.zeros((2, 1, 2, 3))
        counts[:, 0, 0] = [[2, 0, 2], [0, 1, 3]]
        counts[:, 0, 1] = [[10, 30, 0], [0, 0, 50]]
        rows = frame(units_of([0, 1], 0, range(2), counts))
        assert rows.loc[(0, [0, 1]), "mean_price"].tolist() == pytest.approx([2.0, 1.75])
        assert rows.loc[(0, ALL_SETS), "mean_price"] == pytest.approx(1.875)
        assert rows.loc[(1, ALL_SETS), "gap"] == pytest.approx((2.75 + 3) / 2 - 1.875)
        assert rows.loc[(0, ALL_SETS), "sets_sd"] == pytest.approx(np.std([2.0, 1.75], ddof=1))
        assert rows["rank"].tolist() == [2, 2, 2, 1, 1, 1]
        assert rows.loc[(0, ALL_SETS), "n"] == 44
        # One name a group: nothing is known of how names differ.
        assert rows[["standard_error", "gap_standard_error", "gap_low"]].isna().all(axis=None)

    def test_gap_of_names_has_welchs_interval(self):
        units = names(np.random.default_rng(1), n_names=14, shift=0.4)
        values, labels = means_of_units(units), units.design.labels
        welch = stats.ttest_ind(values[labels == 1], values[labels == 0], equal_var=False)
        interval = welch.confidence_interval(0.95)
        row = frame(units).loc[(1, ALL_SETS)]
        assert row["gap"] == pytest.approx(values[labels == 1].mean() - values[labels == 0].mean())
        assert row["gap_standard_error"] == pytest.approx(row["gap"] / welch.statistic)
        assert (row["gap_low"], row["gap_high"]) == pytest.approx((interval.low, interval.high))
        assert row["standard_error"] == pytest.approx(stats.sem(values[labels == 1]))
        half_width = stats.t.ppf(0.975, 13) * row["standard_error"]
        assert row["interval_high"] - row["mean_price"] == pytest.approx(half_width, rel=0.12)

    def test_gap_of_words_in_templates_has_the_paired_interval(self):
        units = places(np.random.default_rng(2), n_words=2, shifted=1, shift=0.2)
        values = means_of_units(units).reshape(18, 2)
        interval = stats.ttest_rel(values[:, 1], values[:, 0]).confidence_interval(0.95)
        row = frame(units).loc[(1, ALL_SETS)]
        assert (row["gap_low"], row["gap_high"]) == pytest.approx((interval.low, interval.high))
        half = frame(units, has_reference=False).loc[(1, ALL_SETS)]
        assert (half["gap"], half["gap_low"]) == pytest.approx((row["gap"] / 2, row["gap_low"] / 2))

    def test_p_value_agrees_with_scipy(self):
        units = names(np.random.default_rng(3), n_names=6, shift=0.3)
        units = replace(units, design=replace(units.design, strata=np.zeros(12, dtype=np.int64)))
        values, labels = means_of_units(units), units.design.labels
        exact = stats.permutation_test(
            (values[labels == 1], values[labels == 0]),
            lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis),
            vectorized=True,
            n_resamples=np.inf,
        )
        row = frame(units, 20_000, stop_after=None).loc[(1, ALL_SETS)]
        assert 0.01 < exact.pvalue < 0.9
        assert row["p_value"] == pytest.approx(exact.pvalue, abs=0.02)
        assert row["null_sd"] == pytest.approx(exact.null_distribution.std(), rel=0.06)

    def test_gaps_permute_their_own_two_groups_alone(self):
        rng = np.random.default_rng(4)
        two = names(rng, n_names=15)
        dear = rng.multinomial(360, [0, 0, 0.1, 0.9], size=15)
        three = units_of(
            [*two.design.labels, *[2] * 15], 0, range(45), [*two.counts[:, 0, 0], *dear], n_groups=3
        )
        rows = frame(three, 2000, stop_after=None)
        alone = frame(
            replace(two, design=replace(two.design, strata=np.zeros(30, dtype=np.int64))),
            2000,
            stop_after=None,
        )
        gap, own = rows.loc[(1, ALL_SETS)], alone.loc[(1, ALL_SETS)]
        assert gap["gap"] == own["gap"]
        assert gap["null_sd"] == pytest.approx(own["null_sd"], rel=0.1)
        assert gap["p_value"] == pytest.approx(own["p_value"], abs=0.05)
        assert rows.loc[(2, ALL_SETS), "p_value_adjusted"] == 1 / 2001
        assert np.isnan(rows.loc[(0, ALL_SETS), "gap"])
        assert rows.loc[(0, ALL_SETS), "n_permutations"] == 0

    def test_every_set_has_a_family_of_its_own(self):
        # Few enough names that all arrangements are gone through: sets have other draws.
        units = names(np.random.default_rng(5), n_names=4, n_sets=3)
        rows = frame(units, 2_000, stop_after=None)
        for place in range(3):
            alone = frame(replace(units, counts=units.counts[:, :, [place]]), 2_000, stop_after=None)
            assert rows.loc[(1, place), "n_permutations"] < 2_000
            assert rows.loc[(1, place), "p_value"] == alone.loc[(1, ALL_SETS), "p_value"]

    def test_groups_without_items_have_no_row_and_undefined_draws_never_make_p_small(self):
        counts = np.zeros((6, 1, 2, 2))
        counts[:, 0, 0] = [[3, 1], [2, 2], [1, 3], [2, 2], [1, 3], [3, 3]]
        # In set 1 a single unit of group 1 answered: most arrangements leave one of the groups without a mean.
        counts[[0, 3], 0, 1] = [[9, 1], [0, 9]]
        rows = frame(units_of([0, 0, 0, 1, 1, 1], 0, range(6), counts), 499, stop_after=None)
        assert rows.loc[(1, 1), "p_value"] > 0.5
        assert sorted(set(frame(units_of([0, 0, 2, 2], 0, range(4), counts[:4], n_groups=3)).index)) == [
            (label, place) for label in (0, 2) for place in (-1, 0, 1)
        ]  # fmt: skip

    def test_nothing_that_varies_gets_the_rule_of_three(self):
        units = units_of(np.repeat([0, 1], 10), 0, range(20), np.tile([0, 5, 0, 0], (20, 1)))
        row = frame(units).loc[(1, ALL_SETS)]
        unseen = 3 * (1 - 0.025 ** (1 / 10))
        assert (row["gap_low"], row["gap_high"]) == pytest.approx((-unseen, unseen))
        assert (row["interval_low"], row["interval_high"]) == pytest.approx((2 - unseen, 2 + unseen))
        assert (row["adjusted_low"], row["adjusted_high"]) == pytest.approx((-unseen, unseen))
        assert (row["p_value"], row["p_value_adjusted"], row["n_permutations"]) == (1, 1, 199)
        alone = frame(units, has_reference=False)
        assert (alone[["p_value", "p_value_adjusted"]] == 1).all(axis=None)
        fixed = replace(units, design=replace(units.design, strata=units.design.labels.astype(np.int64)))
        assert frame(fixed)[["p_value", "adjusted_gap", "adjusted_low"]].isna().all(axis=None)

    def test_without_permutations_the_intervals_stay(self):
        rows = frame(names(np.random.default_rng(4)), 0)
        assert rows[["null_mean", "null_sd", "p_value"]].isna().all(axis=None)
        assert rows.loc[1, "gap_low"].notna().all()

    @pytest.mark.slow
    @pytest.mark.parametrize("has_reference", [True, False])
    def test_names_that_differ_for_no_reason_of_group_stay_silent(self, has_reference):
        rng = np.random.default_rng(30)
        p_values = [
            frame(
                names(rng, n_names=10), 199, seed=seed, stop_after=None, has_reference=has_reference
            )["p_value_adjusted"].min()
            for seed in range(200)
        ]  # fmt: skip
        assert rejections_stay_near_alpha(p_values)

    def test_main_effects_of_both_words_stay_silent_and_their_interaction_fires(self):
        rng = np.random.default_rng(31)
        p_values = [
            frame(couples(rng, first=0.1, second=0.08), 199, seed=seed, stop_after=None)[
                "p_value_adjusted"
            ].min()
            for seed in range(150)
        ]
        assert rejections_stay_near_alpha(p_values)
        row = frame(couples(rng, first=0.1, second=0.08, interaction=0.08), 1999).loc[(1, ALL_SETS)]
        assert row["p_value"] < 0.01
        assert row["gap"] - row["null_mean"] < 0

    @pytest.mark.slow
    @pytest.mark.parametrize("shift", [0.0, -0.4])
    def test_intervals_cover(self, shift):
        effects = np.random.default_rng(0).normal(0, 0.35, 200_000)
        reference, marked = (tilted(effects + by).mean(axis=0) @ PRICES for by in (0.0, shift))
        rng = np.random.default_rng(14)
        covered = np.zeros(2)
        for _ in range(300):
            row = frame(names(rng, n_names=20, shift=shift), 0).loc[(1, ALL_SETS)]
            covered += [
                row["interval_low"] <= marked <= row["interval_high"],
                row["gap_low"] <= marked - reference <= row["gap_high"],
            ]
        assert (covered / 300 >= 0.92).all()


class TestAdjusted:
    def test_two_strata_by_hand(self):
        labels, strata = [0, 0, 0, 1, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1, 1]
        # Mean price levels: 1 and 1.5 in the first stratum, 2 and 2.5 in the second.
        levels = {0: {0: [4, 0, 0], 1: [2, 2, 0]}, 1: {0: [0, 4, 0], 1: [0, 2, 2]}}
        counts = [levels[stratum][label] for label, stratum in zip(labels, strata, strict=True)]
        row = frame(units_of(labels, strata, range(8), counts)).loc[(1, ALL_SETS)]
        assert row["gap"] == pytest.approx(2.25 - 1.25)
        # Permuted, group 1 has a quarter of its units in the first stratum, whose mean is 1.125.
        null_mean = (1.125 + 3 * 2.375) / 4 - (3 * 1.125 + 2.375) / 4
        assert row["null_mean"] == pytest.approx(null_mean)
        assert (1 - null_mean) / 0.75 == pytest.approx(0.5)
        assert row["adjusted_gap"] == pytest.approx(0.5)
        three = frame(units_of(labels, strata, range(8), counts), has_reference=False)
        assert three.loc[(1, ALL_SETS), "adjusted_gap"] == pytest.approx(0.25)

    @pytest.mark.parametrize(("delta", "refused"), [(0.0, 0.0), (0.0, 0.2), (0.3, 0.2), (-0.4, 0.0)])
    def test_gaps_inside_strata_are_recovered_where_strata_are_confounded(self, delta, refused):
        rng = np.random.default_rng(16)
        rows = pd.DataFrame(
            [frame(confounded(rng, delta=delta, refused=refused), 0).loc[(1, ALL_SETS)] for _ in range(150)]
        )
        assert rows["gap"].mean() - delta > 0.3
        assert rows["adjusted_gap"].mean() == pytest.approx(delta, abs=0.025)
        assert rows["adjusted_standard_error"].mean() == pytest.approx(rows["adjusted_gap"].std(), rel=0.2)
        assert rows["adjusted_low"].le(delta).mul(rows["adjusted_high"].ge(delta)).mean() >= 0.89

    def test_balanced_designs_leave_raw_less_null_mean(self):
        units = names(np.random.default_rng(17), n_names=10, n_sets=2, shift=0.3)
        sizes = np.random.default_rng(1).integers(1, 4, (20, 1, 2, 1))
        for one, exact in ((units, True), (replace(units, counts=units.counts * sizes), False)):
            rows = frame(one).loc[1]
            assert (rows["null_mean"] == 0).all() == exact or rows["null_mean"].abs().max() < 1e-12
            assert rows["adjusted_gap"].tolist() == pytest.approx((rows["gap"] - rows["null_mean"]).tolist())
        rows = frame(places(np.random.default_rng(2), n_words=4), has_reference=False)
        assert rows["adjusted_gap"].tolist() == pytest.approx((rows["gap"] - rows["null_mean"]).tolist())

    def test_several_groups_without_reference_are_recovered_inside_strata(self):
        labels = np.repeat([0, 1, 2] * 2, [3, 2, 5, 6, 2, 1])
        strata = np.repeat([0, 1], [10, 9])
        # Shares of the dearest of three price levels that are sums of both effects.
        dear = np.array([0, 2, 5])[labels] + 4 * strata
        rows = frame(
            units_of(labels, strata, range(19), np.column_stack([10 - dear, 0 * dear, dear]), n_groups=3),
            has_reference=False,
        )
        expected = 2 * np.array([0, 2, 5]) / 10
        assert rows["adjusted_gap"].xs(ALL_SETS, level="set_id").tolist() == pytest.approx(
            (expected - expected.mean()).tolist()
        )

    def test_null_means_that_are_drawn_are_those_of_every_arrangement(self):
        counts = np.random.default_rng(6).multinomial(20, [0.4, 0.3, 0.2, 0.1], size=7)
        counts *= np.arange(1, 8)[:, np.newaxis]
        prices, n = counts @ PRICES, counts.sum(axis=1)
        null = []
        for marked in combinations(range(7), 3):
            is_marked = np.isin(np.arange(7), marked)
            null.append(
                prices[is_marked].sum() / n[is_marked].sum() - prices[~is_marked].sum() / n[~is_marked].sum()
            )
        row = frame(units_of([0, 0, 0, 0, 1, 1, 1], 0, range(7), counts), 99).loc[(1, ALL_SETS)]
        assert row["null_mean"] == pytest.approx(np.mean(null), abs=4 * np.std(null) / np.sqrt(2000))

    def test_interactions_of_couples_are_recovered(self):
        rng = np.random.default_rng(18)
        # Items move from level 2 to level 1 by 0.1 of all where couples are of one gender.
        gaps = [
            frame(couples(rng, sizes=(9, 3), first=0.1, second=0.08, interaction=0.1), 0).loc[(1, ALL_SETS)]
            for _ in range(100)
        ]
        assert np.mean([row["adjusted_gap"] for row in gaps]) == pytest.approx(-0.1, abs=0.02)


class TestSets:
    def test_gaps_are_taken_inside_sets_that_both_groups_share(self):
        # Few enough names that all arrangements are gone through.
        units = names(np.random.default_rng(9), n_names=4, n_sets=3, shift=0.2)
        counts = units.counts.copy()
        counts[:, 0, 2] = [0, 0, 0, 500]
        counts[units.design.labels == 1, 0, 2] = 0
        rows = frame(replace(units, counts=counts)).xs(ALL_SETS, level="set_id")
        shared = frame(replace(units, counts=units.counts[:, :, :2])).xs(ALL_SETS, level="set_id")
        columns = ["mean_price", "rank", "gap", "gap_low", "adjusted_gap", "adjusted_high", "null_mean"]
        for label in (0, 1):
            assert rows.loc[label, columns].tolist() == pytest.approx(
                shared.loc[label, columns].tolist(), nan_ok=True, abs=0.02
            )
            assert rows.loc[label, "gap"] == pytest.approx(shared.loc[label, "gap"], nan_ok=True)
        assert rows.loc[1, "null_sd"] == pytest.approx(shared.loc[1, "null_sd"])
        alone = frame(replace(units, counts=counts), has_reference=False).xs(ALL_SETS, level="set_id")
        assert alone.loc[1, "gap"] == pytest.approx(rows.loc[1, "gap"] / 2)
        result = spread(replace(units, counts=counts))
        assert result.spread == pytest.approx(abs(rows.loc[1, "gap"]))

    def test_sets_that_two_groups_share_count_for_their_gap_alone(self):
        counts = np.zeros((6, 1, 2, 3))
        counts[:, 0, 0], counts[:, 0, 1] = [2, 2, 0], [0, 2, 2]
        counts[2:4, 0, 0] = [0, 0, 4]
        counts[4:, 0, 1] = 0
        rows = frame(units_of([0, 0, 1, 1, 2, 2], 0, range(6), counts, n_groups=3)).xs(
            ALL_SETS, level="set_id"
        )
        assert rows["gap"].tolist() == pytest.approx([np.nan, 0.75, 0.0], nan_ok=True)
        assert rows["mean_price"].tolist() == pytest.approx([1.5, 3.0, 1.5])

    def test_sets_that_no_arrangement_of_all_groups_shares_leave_no_spread(self):
        counts = np.zeros((4, 1, 2, 2))
        counts[:2, 0, 0], counts[2:, 0, 1] = [3, 4], [5, 6]
        units = units_of([0, 0, 1, 1], 0, range(4), counts)
        assert spread(units) is None
        row = frame(units).loc[(1, ALL_SETS)]
        assert row[["gap", "adjusted_gap", "p_value"]].isna().all()

    def test_dear_sets_that_one_group_is_refused_are_no_gap(self):
        rng = np.random.default_rng(19)
        p_values = []
        for seed in range(150):
            units = names(rng, n_names=12, n_sets=3)
            counts = units.counts.copy()
            counts[:, 0, 2] = counts[:, 0, 2, ::-1]
            counts[(units.design.labels == 1) & (rng.random(24) < 0.5), 0, 2] = 0
            row = frame(replace(units, counts=counts), seed=seed, stop_after=None).loc[(1, ALL_SETS)]
            p_values.append(row["p_value"])
        assert rejections_stay_near_alpha(p_values)


class TestSpread:
    def test_words_that_all_get_the_same_have_no_spread(self):
        result = spread(units_of(np.tile([0, 1, 2], 4), 0, range(12), np.tile([1, 2], (12, 1)), n_groups=3))
        assert (result.spread, result.test.p_value, result.debiased) == (0, 1, 0)

    def test_agrees_with_every_arrangement(self):
        counts = np.random.default_rng(5).multinomial(20, [0.4, 0.3, 0.2, 0.1], size=6)
        values = counts @ PRICES / 20
        null = []
        for first in combinations(range(6), 2):
            rest = [i for i in range(6) if i not in first]
            for second in combinations(rest, 2):
                third = [i for i in rest if i not in second]
                means = [values[list(part)].mean() for part in (first, second, third)]
                null.append(max(means) - min(means))
        result = spread(
            units_of([0, 0, 1, 1, 2, 2], 0, range(6), counts, n_groups=3), 20_000, stop_after=None
        )
        means = values.reshape(3, 2).mean(axis=1)
        assert result.spread == result.test.observed == pytest.approx(means.max() - means.min())
        assert (result.lowest_label, result.highest_label) == (means.argmin(), means.argmax())
        assert result.test.null_mean == pytest.approx(np.mean(null), rel=0.03)
        exact = (np.array(null) >= result.spread - 1e-12).mean()
        assert result.test.p_value == pytest.approx(exact, abs=0.015)

    def test_upper_end_of_two_words_is_that_of_their_difference(self):
        units = places(np.random.default_rng(2), n_words=2, shifted=1, shift=0.5)
        result, row = spread(units), frame(units).loc[(1, ALL_SETS)]
        assert result.interval_high == pytest.approx(row["gap_high"])
        assert result.standard_error == pytest.approx(row["gap_standard_error"])
        half_width = row["gap_high"] - row["gap"]
        assert result.debiased == pytest.approx(np.sqrt(result.spread**2 - result.chance**2))
        assert result.interval_low == pytest.approx(result.debiased - half_width)
        assert result.n_clusters == 18

    def test_words_of_templates_that_differ_stay_silent_and_a_planted_one_fires(self):
        rng = np.random.default_rng(34)
        p_values, of_words = [], []
        for seed in range(150):
            units = places(rng, n_words=6, n_templates=8)
            p_values.append(spread(units, seed=seed, stop_after=None).test.p_value)
            rows = frame(units, has_reference=False, seed=seed, stop_after=None)
            of_words.append(rows["p_value_adjusted"].min())
        assert rejections_stay_near_alpha(p_values)
        assert rejections_stay_near_alpha(of_words)
        units = places(rng, shift=0.8)
        result = spread(units, 999)
        assert (result.test.p_value, result.highest_label) == (1 / 1000, 3)
        assert result.interval_low > 0
        rows = frame(units, 999, has_reference=False).xs(ALL_SETS, level="set_id")
        assert rows["p_value_adjusted"].idxmin() == 3
        assert rows.loc[3, "rank"] == 1

    def test_interval_covers_where_one_word_differs(self):
        rng = np.random.default_rng(36)
        tilts = np.random.default_rng(0).normal(0, 0.3, 200_000)
        truth = (tilted(tilts + 0.5).mean(axis=0) - tilted(tilts).mean(axis=0)) @ PRICES
        covered = 0
        for _ in range(200):
            result = spread(places(rng, n_words=6, shift=0.5), 99)
            covered += result.interval_low <= truth <= result.interval_high
        assert covered / 200 >= 0.94

    def test_names_of_groups_count_by_name(self):
        assert spread(names(np.random.default_rng(1), n_names=5)).n_clusters == 10

    def test_one_group_with_items_has_no_spread_and_labels_that_cannot_move_no_test(self):
        counts = np.ones((4, 3))
        assert spread(units_of([0, 0, 0, 0], 0, range(4), counts)) is None
        result = spread(units_of([0, 0, 1, 1], [0, 0, 1, 1], range(4), counts))
        assert result.test is None
        assert (result.spread, result.interval_high) == pytest.approx((0.0, 2 * (1 - 0.025 ** (1 / 2))))
        assert np.isnan(result.interval_low)
