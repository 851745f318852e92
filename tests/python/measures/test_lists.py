"""Test spreads of groups' similarities, noise floors and robustness against cases by hand, slow loops and scipy."""

from __future__ import annotations

from itertools import permutations, product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from biasledger.measures.engine.design import Floats
from biasledger.measures.lists import STATISTICS, noise_floor, robustness, spread, spread_statistics

UNSEEN_OF_60 = 1 - 0.025 ** (1 / 60)
HAND = np.array([[0.2, 0.4, 0.9], [0.4, 0.4, 0.7]])
ABSENT = np.nan


def lists(rng: np.random.Generator, n_subjects: int, shifts: list[float], precision: float = 15.0) -> Floats:
    """Beta-distributed similarities around a subject's own level; true group means differ by the shifts."""
    level = 0.3 + 0.4 * rng.beta(2, 2, size=(n_subjects, 1))
    means = level + np.asarray(shifts)
    return rng.beta(means * precision, (1 - means) * precision)


def slow_statistics(values: Floats) -> dict[str, float]:
    """The three statistics, one number after another."""
    means = []
    for column in values.T:
        present = [value for value in column if value == value]
        means.append(sum(present) / len(present))
    middle = sum(means) / len(means)
    return {
        "range": sorted(means)[-1] - sorted(means)[0],
        "sd": sqrt(sum((mean - middle) ** 2 for mean in means) / len(means)),
        "mean_absolute_deviation": sum(abs(mean - middle) for mean in means) / len(means),
    }


def every_arrangement(values: Floats) -> list[dict[str, float]]:
    """Statistics of every way to permute the values of each subject among the groups it has."""
    places = [np.flatnonzero(~np.isnan(row)) for row in values]
    arrangements = []
    for orders in product(*(list(permutations(row)) for row in places)):
        moved = values.copy()
        for row, (before, after) in enumerate(zip(places, orders, strict=True)):
            moved[row, before] = values[row, list(after)]
        arrangements.append(slow_statistics(moved))
    return arrangements


def test_statistics_of_a_case_computed_by_hand():
    # Group means 0.3, 0.4, 0.8; their mean 0.5; deviations -0.2, -0.1, 0.3.
    observed = spread_statistics(HAND.mean(axis=0))
    assert observed.tolist() == pytest.approx([0.5, sqrt(0.14 / 3), 0.2])


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=9))
def test_statistics_order_as_theory_says(means):
    high, sd, deviation = spread_statistics(np.array(means))
    assert deviation <= sd + 1e-12
    assert 2 * sd <= high + 1e-12
    assert (high == 0) == (max(means) == min(means))


class TestSpread:
    def run(self, values: Floats, n_permutations: int = 199, **settings):
        settings = {"alpha": 0.05, "seed": 3, **settings}
        return spread(values, n_permutations=n_permutations, **settings)

    @pytest.mark.parametrize(
        "values",
        [HAND, np.array([[0.2, 0.4, 0.9], [0.4, ABSENT, 0.7], [0.1, 0.3, ABSENT], [ABSENT, 0.5, ABSENT]])],
    )
    def test_agrees_with_every_arrangement(self, values):
        result = self.run(values, 20_000, stop_after=None)
        arrangements = every_arrangement(values)
        for name in STATISTICS:
            observed = slow_statistics(values)[name]
            null = np.array([arrangement[name] for arrangement in arrangements])
            exact = (null >= observed - 1e-12).mean()
            test = result[name].test
            assert test.observed == result[name].value == pytest.approx(observed)
            assert test.null_mean == pytest.approx(null.mean(), abs=4 * null.std() / sqrt(20_000))
            assert test.null_sd == pytest.approx(null.std(), rel=0.03)
            assert test.p_value == pytest.approx(exact, abs=4 * sqrt(0.25 / 20_000))

    def test_range_of_two_groups_agrees_with_scipy(self):
        values = lists(np.random.default_rng(1), 8, [0.0, 0.08])
        exact = stats.permutation_test(
            (values[:, 0], values[:, 1]),
            lambda a, b, axis: np.abs(a.mean(axis=axis) - b.mean(axis=axis)),
            permutation_type="samples",
            alternative="greater",
            vectorized=True,
            n_resamples=np.inf,
        )
        test = self.run(values, 20_000, stop_after=None)["range"].test
        assert 0.01 < exact.pvalue < 0.9
        assert test.observed == pytest.approx(exact.statistic)
        assert test.p_value == pytest.approx(exact.pvalue, abs=4 * sqrt(exact.pvalue / 20_000))

    def test_statistics_share_their_draws_and_stop_apart(self):
        values = lists(np.random.default_rng(6), 30, [0.0] * 4)
        all_draws = self.run(values, 3000, stop_after=None)
        stopping = self.run(values, 3000, stop_after=50)
        assert len({stopping[name].test.n_permutations for name in STATISTICS}) > 1
        for name in STATISTICS:
            assert stopping[name].test.is_stopped_early == (all_draws[name].test.p_value * 3001 - 1 >= 50)

    @pytest.mark.parametrize("seed", range(5))
    def test_two_groups_make_the_thresholds_one_test(self, seed):
        values = lists(np.random.default_rng(seed), 25, [0.0, 0.05])
        values[::4, 1] = ABSENT
        result = self.run(values, 999)
        ranged = result["range"]
        for name in ("sd", "mean_absolute_deviation"):
            half = result[name]
            assert half.value == pytest.approx(ranged.value / 2)
            assert (half.test.p_value, half.test.n_permutations) == (
                ranged.test.p_value, ranged.test.n_permutations,
            )  # fmt: skip
            assert half.standard_error == pytest.approx(ranged.standard_error / 2)
            assert half.interval_low == pytest.approx(ranged.interval_low / 2)
            assert half.interval_high == pytest.approx(ranged.interval_high / 2)

    def test_standard_error_of_a_difference_is_the_textbook_one(self):
        values = lists(np.random.default_rng(2), 40, [0.0, 0.3])
        differences = values[:, 1] - values[:, 0]
        error = stats.sem(differences)
        result = self.run(values)["range"]
        t = stats.t.ppf(0.975, 39)
        assert result.standard_error == pytest.approx(error)
        textbook = differences.mean() + t * error
        assert textbook <= result.interval_high <= textbook + 0.1 * t * error
        # Two groups' chance is the error of their difference, here from 500 draws.
        assert result.chance == pytest.approx(error, rel=0.15)
        assert result.debiased == pytest.approx(np.sqrt(differences.mean() ** 2 - result.chance**2))
        assert result.interval_low == pytest.approx(result.debiased - t * error)

    def test_upper_end_is_that_of_the_pair_that_may_differ_most(self):
        # The widest pair's interval decides, also where the widest difference seen is another pair's.
        rng = np.random.default_rng(8)
        values = np.column_stack([rng.normal(0.5, 0.01, 60), rng.normal(0.55, 0.01, 60), np.full(60, ABSENT)])
        values[:6, 2] = rng.normal(0.54, 0.2, 6).clip(0.05, 0.95)
        t = stats.t.ppf(0.975, 59)
        result = self.run(values)["range"]
        own_ends = []
        for a, b in [(0, 1), (0, 2), (1, 2)]:
            left_out = [
                np.nanmean(np.delete(values[:, a], i)) - np.nanmean(np.delete(values[:, b], i))
                for i in range(60)
            ]
            error = sqrt(59 / 60 * np.sum((np.array(left_out) - np.mean(left_out)) ** 2))
            own_ends.append(abs(np.nanmean(values[:, a]) - np.nanmean(values[:, b])) + t * error)
        assert max(own_ends) != own_ends[0]
        assert max(own_ends) <= result.interval_high <= 1.1 * max(own_ends)

    def test_delete_group_agrees_with_delete_one_beyond_200_subjects(self):
        values = lists(np.random.default_rng(6), 1000, [0.0, 0.2])
        assert self.run(values)["range"].standard_error == pytest.approx(
            stats.sem(values[:, 1] - values[:, 0]), rel=0.15
        )

    def test_absent_lists_stay_absent(self):
        # Group 2 answers about the better half of the subjects alone: its higher mean is the subjects', not the group's.
        rng = np.random.default_rng(4)
        level = np.repeat([0.3, 0.7], 40)[:, np.newaxis]
        values = np.clip(level + rng.normal(0, 0.02, size=(80, 3)), 0, 1)
        values[:40, 2] = ABSENT
        result = self.run(values, 999)["range"]
        assert result.value > 0.15
        assert result.test.null_mean == pytest.approx(result.value, abs=0.01)
        assert result.test.p_value > 0.05
        values[40:, 2] = np.clip(values[40:, 2] + 0.05, 0, 1)
        assert self.run(values, 999)["range"].test.p_value == 1 / 1000

    def test_order_of_groups_does_not_matter_to_value_and_interval_ends(self):
        values = lists(np.random.default_rng(9), 30, [0.0, 0.1, 0.05])
        one, other = self.run(values, 999), self.run(values[:, [2, 0, 1]], 999)
        for name in STATISTICS:
            assert one[name].value == pytest.approx(other[name].value)
            assert one[name].interval_high == pytest.approx(other[name].interval_high)
            assert one[name].test.p_value == pytest.approx(other[name].test.p_value, abs=0.03)

    def test_planted_bias_fires_and_its_interval_lies_above_nothing(self):
        result = self.run(lists(np.random.default_rng(7), 60, [0.0, 0.0, -0.15, 0.0]), 1999)
        for name in STATISTICS:
            assert result[name].test.p_value == 1 / 2000
            assert result[name].interval_low > 0

    def test_false_alarms_keep_to_alpha(self):
        rng = np.random.default_rng(20)
        p_values = np.array(
            [
                [
                    result.test.p_value
                    for result in self.run(lists(rng, 20, [0.0] * 4), 99, seed=seed, stop_after=None).values()
                ]
                for seed in range(200)
            ]
        )
        assert ((p_values < 0.05).sum(axis=0) <= stats.binom.ppf(0.999, 200, 0.05)).all()
        assert ((p_values < 0.5).mean(axis=0) > 0.35).all()

    @pytest.mark.parametrize(
        ("n_subjects", "shifts"),
        [
            (20, [0.0, 0.02]),
            (20, [-0.05, 0.0, 0.0, 0.0, 0.0, 0.0, 0.05]),
            (50, [0.0, 0.0, 0.0]),
            (50, [-0.05, 0.0, 0.0, 0.0, 0.0, 0.0, 0.05]),
            (50, [0.3, 0.0, 0.0]),
        ],
    )
    def test_interval_covers_the_true_spread(self, n_subjects, shifts):
        # All but two groups in the middle is the worst case: nothing there hides that the two are seen too close.
        rng = np.random.default_rng(30)
        truth = spread_statistics(np.array(shifts))
        covered, n_audits = np.zeros(3), 200
        for seed in range(n_audits):
            result = self.run(lists(rng, n_subjects, list(np.array(shifts) - np.mean(shifts))), 99, seed=seed)
            covered += [
                result[name].interval_low <= true + 1e-12 and true - 1e-12 <= result[name].interval_high
                for name, true in zip(STATISTICS, truth, strict=True)
            ]
        assert (covered >= stats.binom.ppf(0.001, n_audits, 0.95)).all()

    def test_without_variance_a_smaller_alpha_gives_a_longer_interval(self):
        unseen = 1 - 0.005 ** (1 / 60)
        result = spread(np.zeros((60, 3)), n_permutations=19, alpha=0.01, seed=1)
        assert result["range"].interval_high == pytest.approx(unseen)
        assert result["sd"].interval_high == pytest.approx(unseen / 2)
        alike = robustness(np.full(60, 0.5), np.full(60, 0.5), n_permutations=19, seed=1, alpha=0.01)
        assert alike.interval_high == pytest.approx(0.5 + unseen)

    def test_a_group_that_never_varies_is_not_taken_for_certain(self):
        values = np.random.default_rng(5).random((25, 2))
        values[:, 0] = 0.5
        difference = abs(values[:, 1].mean() - 0.5)
        assert self.run(values)["range"].interval_high > difference + 1 - 0.025 ** (1 / 25)

    def test_no_variance_leaves_what_the_rule_of_three_leaves(self):
        result = self.run(np.zeros((60, 3)))
        assert (result["range"].value, result["range"].test.p_value) == (0.0, 1.0)
        assert (result["range"].interval_low, result["range"].interval_high) == pytest.approx(
            (0.0, UNSEEN_OF_60)
        )
        assert result["sd"].interval_high == result["mean_absolute_deviation"].interval_high
        assert result["sd"].interval_high == pytest.approx(UNSEEN_OF_60 / 2)

    def test_subjects_that_differ_while_groups_never_do_have_no_variance_either(self):
        result = self.run(np.repeat(np.linspace(0.1, 0.9, 30)[:, np.newaxis], 4, axis=1))
        assert result["range"].interval_high == pytest.approx(1 - 0.025 ** (1 / 30))

    def test_a_pair_that_never_varies_keeps_its_bound_next_to_one_that_does(self):
        values = np.zeros((30, 3))
        values[0, 2] = 0.01
        unseen = 1 - 0.025 ** (1 / 30)
        assert unseen <= self.run(values)["range"].interval_high < unseen + 0.003

    @pytest.mark.slow
    @pytest.mark.parametrize(("n_subjects", "rate"), [(50, 0.1), (500, 0.02)])
    def test_interval_covers_a_rate_that_one_group_alone_has(self, n_subjects, rate):
        # With normal theory the upper limit is too low in 9 of 100: whenever the rare event happens less often than it should.
        rng = np.random.default_rng(31)
        n_audits, covered = 300, 0
        for seed in range(n_audits):
            values = np.zeros((n_subjects, 3))
            values[:, 1] = rng.random(n_subjects) < rate
            result = self.run(values, 19, seed=seed)["range"]
            covered += result.interval_low <= rate <= result.interval_high
        assert covered >= stats.binom.ppf(0.01, n_audits, 0.95)

    def test_ends_stay_inside_what_is_possible(self):
        values = np.tile([0.0, 1.0], (5, 1))
        values[0] = [0.4, 0.6]
        result = self.run(values)
        assert result["range"].interval_high == 1.0
        assert result["sd"].interval_high == 0.5
        assert 0.0 <= result["range"].interval_low < result["range"].value

    def test_without_permutations_only_the_values_remain(self):
        result = self.run(HAND, 0)
        assert [result[name].value for name in STATISTICS] == pytest.approx([0.5, sqrt(0.14 / 3), 0.2])
        assert all(result[name].test is None for name in STATISTICS)
        assert all(np.isnan(result[name].interval_high) for name in STATISTICS)

    def test_labels_that_cannot_move_are_not_tested(self):
        one_group_each = np.array([[0.1, ABSENT], [ABSENT, 0.3], [0.2, ABSENT]])
        result = self.run(one_group_each)["range"]
        assert result.value == pytest.approx(0.15)
        assert result.test is None

    def test_fewer_than_two_groups_have_no_spread(self):
        result = self.run(np.array([[0.1, ABSENT], [0.4, ABSENT]]))["range"]
        assert np.isnan(result.value)
        assert result.test is None

    def test_a_group_without_any_list_is_left_out(self):
        wide = np.column_stack([HAND[:, 0], np.full(2, ABSENT), HAND[:, 1:]])
        assert self.run(wide) == self.run(HAND)

    @pytest.mark.parametrize("values", [HAND[:1], np.array([[0.2, 0.4], [0.3, ABSENT], [0.5, ABSENT]])])
    def test_a_group_of_one_list_has_a_p_and_no_interval(self, values):
        result = self.run(values)["range"]
        assert 0 < result.test.p_value <= 1
        assert np.isnan([result.standard_error, result.interval_low, result.interval_high]).all()

    def test_more_groups_than_labels_can_number_are_refused(self):
        assert self.run(np.full((2, 128), 0.5), 9)["range"].value == 0.0
        with pytest.raises(ValueError, match="129 groups are compared; at most 128 can be"):
            self.run(np.full((2, 129), 0.5), 9)


class TestNoiseFloor:
    def test_agrees_with_every_draw_without_replacement(self):
        reruns = np.array([[0.2, 0.6, 0.4], [0.1, 0.2, 0.9]])
        every = [
            slow_statistics(np.array([first, second]))
            for first in permutations(reruns[0], 2)
            for second in permutations(reruns[1], 2)
        ]
        floors = noise_floor(reruns, 2, seed=1, n_draws=20_000)
        for name in STATISTICS:
            values = [one[name] for one in every]
            assert floors[name].mean == pytest.approx(np.mean(values), abs=4 * np.std(values) / sqrt(20_000))
            assert floors[name].high == pytest.approx(max(values))

    def test_draws_with_replacement_where_reruns_are_fewer_than_groups(self):
        reruns = np.array([[0.2, 0.6], [0.1, 0.3]])
        every = [
            slow_statistics(np.array([first, second]))["range"]
            for first in product(reruns[0], repeat=3)
            for second in product(reruns[1], repeat=3)
        ]
        floor = noise_floor(reruns, 3, seed=1, n_draws=20_000)["range"]
        assert floor.mean == pytest.approx(np.mean(every), abs=4 * np.std(every) / sqrt(20_000))
        assert floor.high == pytest.approx(np.quantile(every, 0.95))

    def test_is_the_spread_of_groups_that_are_reruns(self):
        rng = np.random.default_rng(1)
        pool = lists(rng, 60, [0.0] * 40)
        asked_again = [
            slow_statistics(pool[:, rng.choice(40, 5, replace=False)])["range"] for _ in range(400)
        ]
        floor = noise_floor(pool[:, :10], 5, seed=2)["range"]
        assert floor.mean == pytest.approx(np.mean(asked_again), rel=0.15)
        assert floor.high == pytest.approx(np.quantile(asked_again, 0.95), rel=0.2)

    def test_subjects_asked_once_are_left_out(self):
        reruns = np.array([[0.2, 0.6, 0.4], [0.9, ABSENT, ABSENT], [0.3, ABSENT, 0.7]])
        assert noise_floor(reruns, 2, seed=1) == noise_floor(reruns[[0, 2]], 2, seed=1)

    @pytest.mark.parametrize("reruns", [np.full((3, 4), ABSENT), np.zeros((0, 0)), np.full((3, 1), 0.5)])
    def test_without_reruns_there_is_no_floor(self, reruns):
        assert np.isnan(noise_floor(reruns, 3, seed=1)["range"].mean)

    def test_depends_on_the_seed_alone(self):
        reruns = lists(np.random.default_rng(3), 30, [0.0] * 5)
        assert noise_floor(reruns, 4, seed=1) == noise_floor(reruns, 4, seed=1)
        assert noise_floor(reruns, 4, seed=1) != noise_floor(reruns, 4, seed=2)


class TestRobustness:
    def test_mean_error_and_interval_are_the_textbook_ones(self):
        values = np.array([0.5, 0.7, 0.6, ABSENT, 0.4])
        result = robustness(values, np.full(5, ABSENT), n_permutations=99, seed=1)
        low, high = stats.t.interval(0.95, 3, loc=0.55, scale=stats.sem([0.5, 0.7, 0.6, 0.4]))
        assert (result.n_subjects, result.n_pairs, result.test) == (4, 0, None)
        assert result.similarity == pytest.approx(0.55)
        assert (result.interval_low, result.interval_high) == pytest.approx((low, high))
        assert np.isnan(result.noise_floor)

    def test_p_agrees_with_scipy_by_full_enumeration(self):
        rng = np.random.default_rng(2)
        perturbed, rerun = rng.normal(0.55, 0.1, 9), rng.normal(0.6, 0.1, 9)
        exact = stats.permutation_test(
            (rerun - perturbed,),
            np.mean,
            permutation_type="samples",
            alternative="greater",
            n_resamples=np.inf,
        )
        result = robustness(perturbed, rerun, n_permutations=20_000, seed=5, stop_after=None)
        assert 0.01 < exact.pvalue < 0.5
        assert result.test.observed == pytest.approx(exact.statistic)
        assert result.test.p_value == pytest.approx(exact.pvalue, abs=4 * sqrt(exact.pvalue / 20_000))

    def test_floor_and_test_use_pairs_alone(self):
        perturbed = np.array([0.4, 0.5, ABSENT, 0.3, 0.6])
        rerun = np.array([0.8, ABSENT, 0.1, 0.7, 0.9])
        result = robustness(perturbed, rerun, n_permutations=999, seed=1)
        assert (result.n_subjects, result.n_pairs) == (4, 3)
        assert result.noise_floor == pytest.approx(0.8)
        assert result.test.observed == pytest.approx(0.8 - 1.3 / 3)

    def test_fragile_lists_fire_and_stable_ones_do_not(self):
        rng = np.random.default_rng(3)
        rerun = rng.beta(12, 6, 50)
        assert robustness(rng.beta(6, 12, 50), rerun, n_permutations=999, seed=1).test.p_value == 1 / 1000
        assert robustness(rng.beta(12, 6, 50), rerun, n_permutations=999, seed=1).test.p_value > 0.05

    def test_one_sided_perturbed_lists_closer_than_reruns_are_no_failure(self):
        rng = np.random.default_rng(4)
        result = robustness(rng.beta(12, 6, 50), rng.beta(6, 12, 50), n_permutations=999, seed=1)
        assert result.test.p_value > 0.9

    def test_fewer_than_two_pairs_are_not_tested(self):
        result = robustness(np.array([0.5, 0.6]), np.array([0.7, ABSENT]), n_permutations=99, seed=1)
        assert (result.n_pairs, result.test) == (1, None)
        assert result.noise_floor == 0.7

    def test_one_subject_has_a_mean_and_no_interval(self):
        result = robustness(np.array([0.5]), np.array([0.7]), n_permutations=99, seed=1)
        assert result.similarity == 0.5
        assert np.isnan([result.standard_error, result.interval_low, result.interval_high]).all()

    def test_no_subject_at_all(self):
        result = robustness(np.full(2, ABSENT), np.array([0.7, 0.7]), n_permutations=99, seed=1)
        assert (result.n_subjects, result.n_pairs) == (0, 0)
        assert np.isnan(result.similarity)

    def test_no_variance_leaves_what_the_rule_of_three_leaves(self):
        result = robustness(np.ones(50), np.ones(50), n_permutations=99, seed=1)
        assert (result.interval_low, result.interval_high, result.test.p_value) == pytest.approx(
            (0.025 ** (1 / 50), 1.0, 1.0)
        )
