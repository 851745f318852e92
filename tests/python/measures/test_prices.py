"""Test shares of price levels against cases by hand, every arrangement and slow loops, with couples and places."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from biasledger.measures.engine.resampling import permuted_labels
from biasledger.measures.prices.items import ALL_SETS, group_sums, level_shares, over_sets, split_by_group
from tests.python.measures.simulated_prices import couples, names, places, refusing, tilted, units_of

SMALL = np.array([[3, 5, 2], [1, 6, 3], [4, 4, 0], [6, 3, 1], [5, 2, 1], [7, 2, 1]])


def frame(units, n_permutations=199, **settings) -> pd.DataFrame:
    settings = {"alpha": 0.05, "seed": 3, **settings}
    rows = level_shares(units, n_permutations=n_permutations, **settings)
    return pd.DataFrame([vars(row) for row in rows]).set_index(["label", "set_id", "level"]).sort_index()


def slow_excess(labels, strata, counts, level):
    """Share of a level less share of all items, of label 1, less that over arrangements; from one sum after another."""
    excess = 0.0
    for sign, values in ((1, [row[level] for row in counts]), (-1, [sum(row) for row in counts])):
        total = sum(values)
        excess += sign * sum(value for value, label in zip(values, labels, strict=True) if label == 1) / total
        for stratum in set(strata):
            inside = [i for i, value in enumerate(strata) if value == stratum]
            marked = sum(labels[i] for i in inside) / len(inside)
            excess -= sign * marked * sum(values[i] for i in inside) / total
    return excess


class TestByHand:
    def test_over_sets_the_mean_has_student_s_interval_within_what_a_value_can_be(self):
        values = np.array([[1.4, 2.0, 2.9, np.nan], [3.8, 3.9, 1.2, 3.7], [2.0, np.nan, np.nan, np.nan]])
        found = over_sets(values, 0.1, 1.0, 4.0)
        for row, sets in enumerate(([1.4, 2.0, 2.9], [3.8, 3.9, 1.2, 3.7])):
            ends = stats.t.interval(0.9, len(sets) - 1, np.mean(sets), stats.sem(sets))
            assert found.sd[row] == pytest.approx(np.std(sets, ddof=1))
            assert (found.low[row], found.high[row]) == pytest.approx((max(ends[0], 1.0), min(ends[1], 4.0)))
        assert (found.low[0], found.high[1]) == (1.0, 4.0)
        assert np.isnan([found.sd[2], found.low[2], found.high[2]]).all()

    def test_shares_are_the_published_formula(self):
        rows = frame(units_of([0, 0, 0, 1, 1, 1], 0, range(6), SMALL))
        assert rows.loc[(1, ALL_SETS, 1), ["n", "n_level"]].tolist() == [18, 26]
        assert rows.loc[(1, ALL_SETS), "share"].tolist() == pytest.approx([18 / 26, 7 / 22, 3 / 8])
        assert rows.loc[(0, ALL_SETS), "share"].tolist() == pytest.approx([8 / 26, 15 / 22, 5 / 8])
        assert rows.loc[(1, ALL_SETS), "expected_share"].tolist() == pytest.approx([28 / 56] * 3)
        assert rows.loc[(1, ALL_SETS), "null_mean"].tolist() == pytest.approx([0.5] * 3)
        assert (rows["n_clusters"] == 3).all()

    def test_a_single_set_equals_all_sets(self):
        rows = frame(units_of([0, 0, 0, 1, 1, 1], 0, range(6), SMALL))
        pd.testing.assert_frame_equal(rows.xs(ALL_SETS, level="set_id"), rows.xs(0, level="set_id"))
        assert rows[["sets_sd", "sets_low", "sets_high"]].isna().all(axis=None)

    def test_all_sets_are_the_unweighted_mean_with_students_interval_over_them(self):
        counts = np.zeros((4, 1, 3, 2))
        counts[:, 0, 0] = [[1, 1], [1, 1], [3, 1], [3, 1]]
        counts[:, 0, 1] = [[10, 40], [10, 40], [10, 10], [30, 30]]
        counts[:, 0, 2] = [[0, 1], [0, 2], [0, 2], [0, 1]]
        rows = frame(units_of([0, 0, 1, 1], 0, range(4), counts))
        of_sets = [6 / 8, 40 / 60]
        assert rows.loc[(1, [0, 1], 1), "share"].tolist() == pytest.approx(of_sets)
        together = rows.loc[(1, ALL_SETS, 1)]
        # The third set holds nothing of level 1 and does not count for it.
        assert (1, 2, 1) not in rows.index
        assert together["share"] == pytest.approx(np.mean(of_sets))
        assert together["expected_share"] == pytest.approx(np.mean([8 / 12, 80 / 180]))
        assert together["sets_sd"] == pytest.approx(np.std(of_sets, ddof=1))
        half_width = stats.t.ppf(0.975, 1) * together["sets_sd"] / sqrt(2)
        assert together["sets_high"] == pytest.approx(min(np.mean(of_sets) + half_width, 1))
        assert (together["n"], together["n_level"]) == (46, 68)

    def test_a_level_that_nobody_got_and_a_group_without_units_have_no_row(self):
        counts = np.column_stack([SMALL[:, :2], np.zeros(6)])
        rows = frame(units_of([0, 0, 0, 2, 2, 2], 0, range(6), counts, n_groups=3))
        assert sorted(set(rows.index.get_level_values("level"))) == [1, 2]
        assert sorted(set(rows.index.get_level_values("label"))) == [0, 2]

    def test_couples_join_the_group_that_both_words_make(self):
        # First words: man, woman; block 0: her partner is a woman, block 1: a man.
        counts = np.array([[[1, 2], [30, 40]], [[500, 600], [7, 8]]], dtype=float)[:, :, np.newaxis]
        rows = frame(units_of([0, 1], 0, [0, 1], counts))
        assert rows.loc[(1, ALL_SETS), "n"].tolist() == [530, 640]
        assert rows.loc[(0, ALL_SETS), "n"].tolist() == [8, 10]


class TestNull:
    def test_agrees_with_every_arrangement_inside_strata(self):
        strata = [0, 0, 0, 1, 1, 1]
        labels = [0, 1, 1, 0, 0, 1]
        counts = SMALL * np.array([[1], [2], [1], [3], [1], [2]])
        shares, null = [], []
        for first, second in product(combinations(range(3), 2), combinations(range(3, 6), 1)):
            chosen = [*first, *second]
            shares.append(counts[chosen].sum(axis=0) / counts.sum(axis=0))
            null.append(shares[-1] - counts[chosen].sum() / counts.sum())
        rows = frame(units_of(labels, strata, range(6), counts), 20_000, stop_after=None).loc[(1, ALL_SETS)]
        assert rows["null_mean"].tolist() == pytest.approx(np.mean(shares, axis=0).tolist())
        assert rows["null_sd"].tolist() == pytest.approx(np.std(null, axis=0).tolist())
        excess = rows["share"] - rows["expected_share"] - np.mean(null, axis=0)
        assert rows["excess"].tolist() == pytest.approx(excess.tolist())

    def test_null_mean_of_couples_is_that_of_every_arrangement(self):
        units = couples(np.random.default_rng(1), sizes=(3, 2), second=0.05)
        counts = units.counts[:, :, 0]
        null = []
        for marked in combinations(range(5), 2):
            labels = np.isin(np.arange(5), marked)
            same = counts[labels, 0].sum(axis=0) + counts[~labels, 1].sum(axis=0)
            null.append(same / counts.sum(axis=(0, 1)))
        rows = frame(units).loc[(1, ALL_SETS)]
        assert rows["null_mean"].tolist() == pytest.approx(np.mean(null, axis=0).tolist())

    def test_p_value_agrees_with_scipy(self):
        counts = np.random.default_rng(5).uniform(2, 12, size=(9, 3))
        rows = frame(units_of([0] * 4 + [1] * 5, 0, range(9), counts), 20_000, stop_after=None)
        level = counts[:, 0] / counts[:, 0].sum() - counts.sum(axis=1) / counts.sum()
        exact = stats.permutation_test(
            (level[4:], level[:4]),
            lambda marked, reference, axis: np.abs(
                marked.sum(axis=axis) - 5 / 9 * (marked.sum(axis=axis) + reference.sum(axis=axis))
            ),
            vectorized=True,
            alternative="greater",
            n_resamples=np.inf,
        )
        p_value = rows.loc[(1, ALL_SETS, 1), "p_value"]
        assert 0.02 < exact.pvalue < 0.98
        assert p_value == pytest.approx(exact.pvalue, abs=0.02)

    def test_two_groups_are_two_sides_of_one_test(self):
        rows = frame(names(np.random.default_rng(2), shift=0.1), 999)
        for column in ("p_value", "p_value_adjusted", "standard_error"):
            assert rows.loc[0, column].tolist() == pytest.approx(rows.loc[1, column].tolist())
        assert rows.loc[0, "excess"].tolist() == pytest.approx((-rows.loc[1, "excess"]).tolist())
        assert rows.loc[0, "interval_low"].tolist() == pytest.approx((-rows.loc[1, "interval_high"]).tolist())

    def test_every_set_has_a_family_of_its_own(self):
        units = names(np.random.default_rng(4), n_sets=3, shift=0.1)
        rows = frame(units, 499, stop_after=None)
        for place in range(3):
            alone = replace(units, counts=units.counts[:, :, [place]])
            assert rows.loc[(1, place), "p_value_adjusted"].tolist() == pytest.approx(
                frame(alone, 499, stop_after=None).loc[(1, 0), "p_value_adjusted"].tolist()
            )
        assert (rows["p_value_adjusted"] >= rows["p_value"] - 1e-12).all()

    def test_without_permutations_the_excess_and_its_interval_stay(self):
        units = names(np.random.default_rng(4))
        rows = frame(units, 0)
        assert rows[["null_sd", "p_value", "p_value_adjusted"]].isna().all(axis=None)
        assert (rows["n_permutations"] == 0).all()
        columns = ["share", "excess", "interval_low", "interval_high"]
        pd.testing.assert_frame_equal(rows[columns], frame(units)[columns])

    def test_labels_that_cannot_move_give_shares_alone(self):
        rows = frame(units_of([0, 0, 1, 1], [0, 0, 1, 1], range(4), SMALL[:4]))
        assert rows["share"].notna().all()
        assert (
            rows[["null_mean", "excess", "p_value", "interval_low", "standard_error"]].isna().all(axis=None)
        )

    def test_same_seed_same_numbers_and_stopping_is_reported(self):
        units = names(np.random.default_rng(8))
        pd.testing.assert_frame_equal(frame(units, 3000), frame(units, 3000))
        rows = frame(units, 3000, seed=4)
        assert rows["is_stopped_early"].all()
        assert (rows["n_permutations"] < 3000).all()


class TestIntervals:
    def test_standard_error_is_the_two_sample_jackknife(self):
        units = names(np.random.default_rng(6), n_names=8)
        labels, strata = units.design.labels.tolist(), units.design.strata.tolist()
        counts = units.counts[:, 0, 0].tolist()
        variance = 0.0
        for label in (0, 1):
            left_out = []
            for i in [i for i, value in enumerate(labels) if value == label]:
                rest = [j for j in range(16) if j != i]
                left_out.append(
                    slow_excess([labels[j] for j in rest], [strata[j] for j in rest], [counts[j] for j in rest], 0)
                )  # fmt: skip
            variance += 7 / 8 * sum((value - np.mean(left_out)) ** 2 for value in left_out)
        row = frame(units).loc[(1, ALL_SETS, 1)]
        assert row["excess"] == pytest.approx(slow_excess(labels, strata, counts, 0))
        assert row["standard_error"] == pytest.approx(sqrt(variance))

    def test_clusters_that_hold_all_groups_are_left_out_whole(self):
        units = places(np.random.default_rng(6), n_words=3, n_templates=6)
        counts = units.counts[:, 0, 0]
        left_out = []
        for template in range(6):
            kept = units.clusters != template
            marked = counts[kept & (units.design.labels == 1), 1].sum()
            # Templates hold every word once: any permutation gives an expected third.
            left_out.append(marked / counts[kept, 1].sum() - 1 / 3)
        error = sqrt(5 / 6 * np.sum((np.array(left_out) - np.mean(left_out)) ** 2))
        row = frame(units).loc[(1, ALL_SETS, 2)]
        assert row["standard_error"] == pytest.approx(error)
        assert row["n_clusters"] == 6

    @pytest.mark.parametrize("label", [0, 1])
    def test_a_level_of_one_group_alone_gets_the_rule_of_three(self, label):
        counts = np.column_stack([np.full(20, 10), np.where(np.arange(20) < 10, 3, 0)])
        row = frame(units_of(np.repeat([0, 1], 10), 0, range(20), counts)).loc[(label, ALL_SETS, 2)]
        unseen = 1 - 0.025 ** (1 / 10)
        # 130 of 230 items are label 0's.
        whole = 1 - 130 / 230 if label == 0 else -100 / 230
        inside = whole - unseen if label == 0 else whole + unseen
        assert sorted([row["interval_low"], row["interval_high"]], key=abs) == pytest.approx([inside, whole])

    def test_a_level_of_one_name_says_nothing(self):
        counts = np.column_stack([np.full(20, 10), np.arange(20) == 0])
        row = frame(units_of(np.repeat([0, 1], 10), 0, range(20), counts)).loc[(0, ALL_SETS, 2)]
        assert (row["interval_low"], row["interval_high"]) == pytest.approx((0.025 - 101 / 201, 100 / 201))

    @pytest.mark.parametrize(("n_sets", "shift"), [(1, 0.0), (1, 0.3), (3, 0.3)])
    def test_intervals_cover(self, n_sets, shift):
        effects = np.random.default_rng(0).normal(0, 0.35, 200_000)
        reference, marked = (tilted(effects + by).mean(axis=0) for by in (0.0, shift))
        truth = marked / (marked + reference) - 0.5
        rng = np.random.default_rng(12)
        covered = np.zeros(4)
        for _ in range(200):
            units = names(rng, n_names=20, shift=shift, n_sets=n_sets)
            for row in level_shares(units, n_permutations=0, alpha=0.05, seed=1):
                if (row.label, row.set_id) == (1, ALL_SETS):
                    covered[row.level - 1] += row.interval_low <= truth[row.level - 1] <= row.interval_high
        assert (covered / 200 >= 0.91).all()

    @pytest.mark.parametrize(
        ("shift", "refused", "differ"), [(0.0, 0.3, 0.6), (0.3, 0.1, 0.5), (1.5, 0.3, 0.0)]
    )
    def test_intervals_cover_where_numbers_of_items_differ(self, shift, refused, differ):
        effects = np.random.default_rng(0).normal(0, 0.35, 200_000)
        reference, marked = (tilted(effects + by).mean(axis=0) for by in (0.0, shift))
        weight = (1 - refused - differ / 2) / (1 - differ / 2)
        truth = weight * marked / (weight * marked + reference) - weight / (1 + weight)
        rng = np.random.default_rng(15)
        covered = np.zeros(4)
        for _ in range(200):
            units = refusing(rng, shift=shift, refused=refused, refusals_differ=differ)
            rows = frame(units, 0).loc[(1, ALL_SETS)]
            covered += (rows["interval_low"] <= truth) & (truth <= rows["interval_high"])
        assert (covered / 200 >= 0.91).all()

    def test_the_same_prices_in_unequal_numbers_get_the_rule_of_three(self):
        counts = np.outer([5, 9, 3, 4, 8] * 4, [2, 1])
        rows = frame(units_of(np.repeat([0, 1], 10), 0, range(20), counts)).loc[(1, ALL_SETS)]
        unseen = 1 - 0.025 ** (1 / 20)
        assert rows["excess"].tolist() == pytest.approx([0, 0])
        assert rows["interval_low"].tolist() == pytest.approx([-unseen, -unseen])
        assert rows["interval_high"].tolist() == pytest.approx([unseen, unseen])


class TestSets:
    def test_all_sets_are_those_in_which_every_group_has_items(self):
        units = names(np.random.default_rng(9), n_names=8, n_sets=3, shift=0.2)
        counts = units.counts.copy()
        # Prices of the last set, which only label 0 is asked about, are all high.
        counts[:, 0, 2] = [0, 0, 0, 500]
        counts[units.design.labels == 1, 0, 2] = 0
        rows = frame(replace(units, counts=counts))
        shared = frame(replace(units, counts=units.counts[:, :, :2]))
        pd.testing.assert_frame_equal(rows.xs(ALL_SETS, level="set_id"), shared.xs(ALL_SETS, level="set_id"))
        assert rows.loc[(0, 2, 4), "share"] == 1

    def test_without_a_set_in_common_there_is_nothing_of_all_sets(self):
        counts = np.zeros((4, 1, 2, 2))
        counts[:2, 0, 0], counts[2:, 0, 1] = [3, 4], [5, 6]
        rows = frame(units_of([0, 0, 1, 1], 0, range(4), counts))
        assert sorted(set(rows.index.get_level_values("set_id"))) == [0, 1]


class TestFalseAlarmsAndPower:
    def test_refusing_a_group_answers_is_no_bias_of_prices(self):
        rng = np.random.default_rng(35)
        p_values = [
            frame(refusing(rng, n_names=22), 199, seed=seed, stop_after=None)["p_value_adjusted"].min()
            for seed in range(200)
        ]
        hits = int(np.sum(np.array(p_values) < 0.05))
        assert stats.binomtest(hits, 200, 0.05, alternative="greater").pvalue > 0.01

    def test_planted_bias_fires_next_to_refusals(self):
        rows = frame(refusing(np.random.default_rng(36), n_names=44, shift=-0.5), 1999)
        assert rows.loc[(1, ALL_SETS), "p_value_adjusted"].min() < 0.01

    def test_items_that_are_all_the_same_are_tested_and_no_bias(self):
        units = units_of(np.repeat([0, 1], 5), 0, range(10), np.tile([3, 0, 2], (10, 1)))
        rows = frame(units)
        assert (rows[["p_value", "p_value_adjusted"]] == 1).all(axis=None)
        assert (rows["n_permutations"] == 199).all()
        assert frame(units, 0)["p_value"].isna().all()

    def test_names_that_differ_for_no_reason_of_group_stay_silent(self):
        rng = np.random.default_rng(30)
        design_effects, lowest, by_item = [], [], []
        for seed in range(200):
            units = names(rng, n_names=12)
            counts = units.counts[:, 0, 0]
            means = counts @ np.arange(1, 5) / counts.sum(axis=1)
            prices = np.repeat(np.arange(1, 5), counts.sum(axis=0).astype(int))
            design_effects.append(means.var(ddof=1) / (prices.var() / counts[0].sum()))
            lowest.append(frame(units, 199, seed=seed, stop_after=None)["p_value_adjusted"].min())
            table = [counts[units.design.labels == label].sum(axis=0) for label in (0, 1)]
            by_item.append(stats.chi2_contingency(table).pvalue)
        assert np.mean(design_effects) > 20
        assert (
            stats.binomtest(int(np.sum(np.array(lowest) < 0.05)), 200, 0.05, alternative="greater").pvalue
            > 0.01
        )
        # A test that takes items for independent finds bias in nearly every one of them.
        assert np.mean(np.array(by_item) < 0.05) > 0.5

    def test_planted_bias_fires_at_the_ends_of_the_prices(self):
        rows = frame(names(np.random.default_rng(31), shift=-0.5), 1999).loc[(1, ALL_SETS)]
        assert rows.loc[[1, 4], "p_value_adjusted"].max() < 0.01
        assert rows.loc[1, "interval_low"] > 0 > rows.loc[4, "interval_high"]

    def test_main_effects_of_both_words_stay_silent(self):
        rng = np.random.default_rng(32)
        lowest = [
            frame(couples(rng, first=0.1, second=0.08), 199, seed=seed, stop_after=None)[
                "p_value_adjusted"
            ].min()
            for seed in range(150)
        ]
        assert (
            stats.binomtest(int(np.sum(np.array(lowest) < 0.05)), 150, 0.05, alternative="greater").pvalue
            > 0.01
        )

    def test_an_interaction_of_both_words_fires(self):
        rows = frame(couples(np.random.default_rng(33), first=0.1, second=0.08, interaction=0.08), 1999)
        assert rows.loc[(1, ALL_SETS), "p_value_adjusted"].min() < 0.02
        assert rows.loc[(1, ALL_SETS, 1), "excess"] > 0.03

    def test_words_of_templates_that_differ_stay_silent_and_a_planted_one_fires(self):
        rng = np.random.default_rng(34)
        lowest = [
            frame(places(rng, n_words=6, n_templates=8), 199, seed=seed, stop_after=None)[
                "p_value_adjusted"
            ].min()
            for seed in range(150)
        ]
        assert (
            stats.binomtest(int(np.sum(np.array(lowest) < 0.05)), 150, 0.05, alternative="greater").pvalue
            > 0.01
        )
        rows = frame(places(rng, shift=1.0), 1999).xs(ALL_SETS, level="set_id")
        assert rows["p_value_adjusted"].idxmin()[0] == 3
        assert rows.loc[(3, 4), "p_value_adjusted"] < 0.01


@pytest.mark.parametrize("case", ["names", "couples", "places"])
def test_group_sums_of_arrangements_are_sums_of_what_units_give_their_groups(case):
    rng = np.random.default_rng(7)
    units = {"names": names, "couples": couples, "places": places}[case](rng)
    features = units.counts.reshape(*units.counts.shape[:2], -1)
    for labels in permuted_labels(units.design, 3, seed=1):
        sums = group_sums(labels, features, units.n_groups)
        expected = [split_by_group(row, features, units.n_groups).sum(axis=0) for row in labels]
        assert sums.tolist() == np.array(expected).tolist()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"counts": np.ones((3, 1, 1, 2))}, "equal length"),
        ({"counts": np.ones((4, 2))}, "of shape"),
        ({"counts": np.ones((4, 1, 1, 1))}, "two price levels"),
        ({"counts": np.ones((4, 3, 1, 2))}, "one block, or two"),
        ({"counts": np.ones((4, 2, 1, 2)), "n_groups": 3}, "one block, or two"),
        ({"counts": np.full((4, 1, 1, 2), -1.0)}, "0 or more"),
        ({"counts": np.full((4, 1, 1, 2), np.nan)}, "0 or more"),
        ({"n_groups": 1}, "1 groups are compared; it takes 2 to 128"),
        ({"n_groups": 129}, "129 groups"),
    ],
)
def test_units_that_cannot_be_are_refused(changes, message):
    units = units_of([0, 1, 0, 1], 0, range(4), np.ones((4, 2)))
    with pytest.raises(ValueError, match=message):
        replace(units, **changes)


def test_labels_outside_the_groups_are_refused():
    with pytest.raises(ValueError, match="a label lies outside 0 to 1"):
        units_of([0, 2], 0, range(2), np.ones((2, 2)))
