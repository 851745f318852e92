"""Test associations of categories against equations by hand and scipy, with rare categories, names that differ and couples."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from biasledger.measures.engine.design import Design
from biasledger.measures.prices.associations import associations
from tests.python.measures.designs import design_of
from tests.python.measures.simulated_prices import CATEGORY_SHARES, category_units_of, tastes


def frame(units, n_permutations=199, **settings) -> pd.DataFrame:
    settings = {"alpha": 0.05, "seed": 3, **settings}
    rows = associations(units, n_permutations=n_permutations, **settings)
    return pd.DataFrame([vars(row) for row in rows]).set_index("category_id")


class TestByHand:
    def test_scores_are_the_published_formulas(self):
        counts = [[3, 1, 0, 0], [5, 0, 0, 2], [2, 0, 0, 4], [6, 0, 0, 2]]
        rows = frame(category_units_of([0, 0, 1, 1], 0, counts, [[10], [20], [20], [40]]))
        # No unit has category 2: no row.
        assert rows.index.tolist() == [0, 1, 3]
        first = rows.loc[0]
        assert (first["n_marked"], first["n_reference"]) == (8, 8)
        assert (first["share_marked"], first["share_reference"]) == pytest.approx((8 / 60, 8 / 30))
        assert first["difference"] == pytest.approx((8 / 60 - 8 / 30) / (16 / 90))
        assert first["ratio"] == pytest.approx(0.5)
        assert rows.loc[1, "difference"] == pytest.approx(-90 / 30)
        assert rows.loc[1, "ratio"] == 0

    def test_no_ratio_to_a_share_of_nothing(self):
        rows = frame(category_units_of([0, 0, 1, 1], 0, [[0], [0], [2], [3]], 10))
        assert np.isnan(rows.loc[0, "ratio"])
        assert rows.loc[0, "difference"] == pytest.approx(2.0)

    def test_couples_join_the_group_that_both_words_make(self):
        counts = np.array([[[1], [30]], [[5], [7]]], dtype=float)
        rows = frame(category_units_of([0, 1], 0, counts, [[50, 60], [70, 80]]))
        assert (rows.loc[0, "n_marked"], rows.loc[0, "n_reference"]) == (35, 8)
        assert rows.loc[0, "share_marked"] == pytest.approx(35 / 130)

    def test_a_group_without_items_gives_no_scores(self):
        rows = frame(category_units_of([0, 0, 0], 0, [[1], [2], [3]], 10))
        assert rows.loc[0, "n_reference"] == 6
        assert rows.loc[0, ["difference", "ratio", "p_value", "interval_low", "band_low"]].isna().all()


class TestTests:
    def test_p_value_agrees_with_scipy(self):
        counts = np.random.default_rng(1).uniform(2, 12, size=(10, 1))
        units = category_units_of(np.repeat([0, 1], 5), 0, counts, 30)
        exact = stats.permutation_test(
            (counts[5:, 0], counts[:5, 0]),
            lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis),
            vectorized=True,
            n_resamples=np.inf,
        )
        row = frame(units, 20_000, stop_after=None).loc[0]
        assert 0.01 < exact.pvalue < 0.99
        assert row["p_value"] == pytest.approx(exact.pvalue, abs=0.03)
        # One category: its family is itself.
        assert row["p_value_adjusted"] == row["p_value"]

    def test_a_category_that_does_not_vary_is_no_association(self):
        units = tastes(np.random.default_rng(2), n_names=6)
        counts = np.concatenate([units.counts, np.full((12, 1, 1), 40.0)], axis=2)
        rows = frame(replace(units, counts=counts))
        assert rows.loc[8, ["p_value", "p_value_adjusted"]].tolist() == [1, 1]
        assert (
            rows.loc[8, ["band_low", "band_high"]].tolist()
            == rows.loc[8, ["adjusted_low", "adjusted_high"]].tolist()
        )
        # The others are a family as if it were not there.
        columns = ["p_value", "p_value_adjusted", "band_low", "band_high", "n_permutations"]
        pd.testing.assert_frame_equal(rows.loc[:7, columns], frame(units)[columns])
        assert rows.loc[8, "difference"] == 0
        assert rows.loc[8, "interval_low"] < 0 < rows.loc[8, "interval_high"]

    def test_categories_of_which_none_varies_are_tested_with_labels_that_can_move_alone(self):
        units = category_units_of(np.repeat([0, 1], 10), 0, np.tile([3, 2], (20, 1)), 20)
        row = frame(units).loc[0]
        assert (row["p_value"], row["p_value_adjusted"], row["n_permutations"]) == (1, 1, 199)
        # Rule of three of the marked group's share of its items; the difference is four times as long.
        band = 4 * (1 - 0.025 ** (1 / 20))
        assert (row["band_low"], row["band_high"]) == pytest.approx((-band, band))
        fixed = replace(units, design=Design(units.design.labels, units.design.labels.astype(np.int64)))
        columns = ["p_value", "adjusted_difference", "adjusted_low", "band_low"]
        assert frame(fixed)[columns].isna().all(axis=None)
        assert frame(units, 0)[["p_value", "band_low"]].isna().all(axis=None)

    def test_tastes_that_differ_for_no_reason_of_group_stay_silent(self):
        rng = np.random.default_rng(3)
        lowest = np.array(
            [
                frame(tastes(rng, n_names=10), 199, seed=seed, stop_after=None)["p_value_adjusted"].min()
                for seed in range(200)
            ]
        )
        assert stats.binomtest(int((lowest < 0.05).sum()), 200, 0.05, alternative="greater").pvalue > 0.01

    def test_a_planted_category_is_found_and_no_other(self):
        rows = frame(tastes(np.random.default_rng(4), planted=1.2), 1999)
        assert rows.loc[1, "p_value_adjusted"] < 0.01
        assert rows.loc[1, "difference"] > 0.5
        assert rows["p_value_adjusted"].drop(1).min() > 0.05
        # Band and adjusted p of the most extreme category agree.
        assert rows.loc[1, "band_low"] > 0

    def test_main_effects_of_both_words_stay_silent_and_their_interaction_fires(self):
        rng = np.random.default_rng(5)
        labels = np.repeat([0, 1], [7, 5])
        is_same = np.column_stack([labels == 1, labels == 0])

        def couples(interaction):
            words = rng.normal(0, 0.02, (labels.size, 1, 3))
            shares = 0.3 + words + 0.1 * labels[:, np.newaxis, np.newaxis]
            shares = shares + 0.1 * np.array([1, 0])[:, np.newaxis] + interaction * is_same[..., np.newaxis]
            return category_units_of(labels, 0, rng.binomial(360, shares), 360)

        lowest = np.array(
            [
                frame(couples(0.0), 199, seed=seed, stop_after=None)["p_value_adjusted"].min()
                for seed in range(150)
            ]
        )
        assert stats.binomtest(int((lowest < 0.05).sum()), 150, 0.05, alternative="greater").pvalue > 0.01
        assert frame(couples(0.08), 1999)["p_value_adjusted"].min() < 0.01


class TestAdjusted:
    @staticmethod
    def of(rng, marked, n_items=360):
        """Marked names mostly in the stratum with more of the category, which they get `marked` times as often in both."""
        labels, strata = np.repeat([0, 0, 1, 1], [16, 4, 4, 16]), np.repeat([0, 1, 0, 1], [16, 4, 4, 16])
        shares = np.array([0.05, 0.15])[strata] * np.where(labels == 1, marked, 1.0)
        shares = shares * np.exp(rng.normal(0, 0.15, labels.size))
        n_items = np.broadcast_to(n_items, labels.size)
        return category_units_of(
            labels, strata, rng.binomial(n_items, shares)[:, np.newaxis], n_items[:, np.newaxis]
        )

    def test_tastes_of_strata_are_no_association(self):
        rng = np.random.default_rng(9)
        rows = pd.DataFrame([frame(self.of(rng, 1.0), 0).loc[0] for _ in range(100)])
        assert rows["difference"].mean() > 0.5
        assert abs(rows["adjusted_difference"].mean()) < 0.03
        assert (rows["adjusted_low"] < 0).mul(rows["adjusted_high"] > 0).mean() >= 0.88

    def test_differences_inside_strata_are_recovered(self):
        # Both strata have the category as often, so that the difference is the same in each and in both together.
        labels, strata = np.repeat([0, 0, 1, 1], [16, 4, 4, 16]), np.repeat([0, 1, 0, 1], [16, 4, 4, 16])
        counts = np.where(labels == 1, 12, 8)[:, np.newaxis]
        row = frame(category_units_of(labels, strata, counts, 40)).loc[0]
        assert row["difference"] == pytest.approx(0.4)
        assert 0 < row["null_mean"] < 0.2
        assert row["adjusted_difference"] == pytest.approx(0.4)
        assert row["adjusted_low"] < 0.4 < row["adjusted_high"]
        assert (row["band_low"] + row["band_high"]) / 2 == pytest.approx(0.4)

    def test_balanced_designs_leave_raw_less_null_mean_and_the_interval(self):
        units = tastes(np.random.default_rng(10), n_names=12, planted=0.5)
        alone = replace(units, design=design_of(units.design.labels))
        rows = frame(alone)
        for adjusted, raw in (("adjusted_difference", "difference"), ("adjusted_low", "interval_low")):
            assert rows[adjusted].tolist() == pytest.approx(rows[raw].tolist())
        n_items = np.random.default_rng(2).integers(360, 460, (24, 1))
        rows = frame(replace(units, totals=n_items.astype(float)), 99)
        gaps = rows["difference"] - rows["null_mean"]
        assert rows["adjusted_difference"].tolist() == pytest.approx(gaps.tolist())
        assert rows["null_mean"].abs().max() < 0.05


class TestIntervals:
    def test_standard_error_is_the_two_sample_jackknife(self):
        units = tastes(np.random.default_rng(6), n_names=7)
        counts, labels = units.counts[:, 0], units.design.labels

        def difference(kept):
            shares = [counts[kept & (labels == label)].mean(axis=0) / 360 for label in (0, 1)]
            return (shares[1] - shares[0]) / (counts[kept].mean(axis=0) / 360)

        variance = 0.0
        for label in (0, 1):
            left_out = np.array([difference(np.arange(14) != i) for i in np.flatnonzero(labels == label)])
            variance = variance + 6 / 7 * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0)
        assert frame(units)["standard_error"].tolist() == pytest.approx(np.sqrt(variance).tolist())

    def test_a_category_of_one_group_alone_gets_the_rule_of_three(self):
        counts = np.where(np.arange(20) < 10, 3, 0)[:, np.newaxis]
        row = frame(category_units_of(np.repeat([0, 1], 10), 0, counts, 20)).loc[0]
        # Share of the marked group among the ten names with the category: at most 0.31; difference = 4 · share - 2.
        assert (row["interval_low"], row["interval_high"]) == pytest.approx(
            (-2.0, 4 * (1 - 0.025 ** (1 / 10)) - 2)
        )

    @pytest.mark.parametrize("planted", [0.0, 0.7])
    def test_intervals_cover(self, planted):
        ratio = np.exp(planted)
        truth = np.zeros(CATEGORY_SHARES.size)
        truth[1] = 2 * (ratio - 1) / (ratio + 1)
        rng = np.random.default_rng(7)
        covered = np.zeros(CATEGORY_SHARES.size)
        for _ in range(200):
            rows = frame(tastes(rng, name_effect=0.5, planted=planted), 0).reindex(
                range(CATEGORY_SHARES.size)
            )
            covered += (rows["interval_low"].to_numpy() <= truth) & (
                truth <= rows["interval_high"].to_numpy()
            )
        assert (covered / 200 >= 0.91).all()

    def test_bands_hold_all_categories_at_once(self):
        rng = np.random.default_rng(8)
        misses = 0
        for seed in range(150):
            rows = frame(tastes(rng, n_names=12), 199, seed=seed, stop_after=None)
            misses += ((rows["band_low"] > 0) | (rows["band_high"] < 0)).any()
        assert misses / 150 <= 0.05 + 3 * sqrt(0.05 * 0.95 / 150)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"totals": np.full((4, 2), 9.0)}, "totals are of shape"),
        ({"totals": np.full((4, 1), np.nan)}, "totals are numbers"),
        ({"totals": np.full((4, 1), 0.5)}, "more items of a category than items"),
        ({"counts": np.full((4, 1, 3), -1.0)}, "0 or more"),
        (
            {"design": design_of([0, 1, 2, 0])},
            "outside 0 to 1",
        ),
    ],
)
def test_units_that_cannot_be_are_refused(changes, message):
    units = category_units_of([0, 0, 1, 1], 0, np.ones((4, 3)), 9)
    with pytest.raises(ValueError, match=message):
        replace(units, **changes)
