"""Test impact ratios, paired tests and tests of places against independent references, nulls and planted bias."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import sqrt

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable, cochrans_q
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.proportion import proportion_confint

from biasledger.measures.decisions.impact_ratios import group_impact_ratios, impact_test
from biasledger.measures.decisions.paired import cochran_q, mcnemar
from biasledger.measures.decisions.positions import position_test
from biasledger.measures.gaps.units import Units
from tests.python.measures.decisions_by_hand import at_least, at_most, cells, gap_of
from tests.python.measures.simulated_decisions import Rankings, levels, people, units_of


def ratios_of(units: Units, alpha: float = 0.05):
    return group_impact_ratios(units, alpha=alpha)


def impact_of(units: Units, n_permutations: int = 0, seed: int = 1, stop_after: int | None = 50):
    return impact_test(units, n_permutations=n_permutations, alpha=0.05, seed=seed, stop_after=stop_after)


class TestImpactRatios:
    def test_rates_ratios_and_fishers_p_by_hand(self):
        labels = np.repeat([0, 1, 2], [10, 8, 10])
        selected = np.concatenate([np.repeat([1, 0], size) for size in ([5, 5], [2, 6], [5, 5])])
        first, second, third = ratios_of(people(labels, selected))
        assert [(row.n, row.n_selected, row.rate, row.ratio) for row in (first, second, third)] == [
            (10, 5, 0.5, 1.0), (8, 2, 0.25, 0.5), (10, 5, 0.5, 1.0),
        ]  # fmt: skip
        assert [row.is_best for row in (first, second, third)] == [True, False, True]
        assert second.fisher_p == pytest.approx(stats.fisher_exact([[2, 6], [5, 5]]).pvalue)
        assert np.isnan(first.fisher_p)
        assert third.fisher_p == pytest.approx(1.0)
        assert (first.interval_low, first.interval_high) == (1.0, 1.0)
        assert third.interval_low < 1.0 < third.interval_high

    def test_unpaired_interval_is_katzs_for_many_answers(self):
        labels = np.repeat([0, 1], [4000, 3000])
        selected = np.concatenate([np.repeat([1, 0], size) for size in ([1600, 2400], [900, 2100])])
        row = ratios_of(people(labels, selected))[1]
        half_width = stats.norm.ppf(0.975) * sqrt(1 / 900 - 1 / 3000 + 1 / 1600 - 1 / 4000)
        assert (row.interval_low, row.interval_high) == pytest.approx(
            (0.75 * np.exp(-half_width), 0.75 * np.exp(half_width)), rel=0.005
        )

    def test_what_resumes_share_is_no_uncertainty_of_their_ratio(self):
        rng = np.random.default_rng(30)
        accepted = rng.random(400) < 0.4
        answers = np.column_stack([accepted, accepted & (rng.random(400) < 0.9)]).astype(int)
        resumes = np.repeat(np.arange(400), 2)
        paired = ratios_of(units_of(np.tile([0, 1], 400), resumes, resumes, 1, answers.ravel()))[1]
        apart = ratios_of(units_of(np.tile([0, 1], 400), 0, np.arange(800), 1, answers.ravel()))[1]
        assert paired.ratio == apart.ratio
        assert paired.interval_high - paired.interval_low < 0.6 * (apart.interval_high - apart.interval_low)

    def test_resumes_never_treated_differently_leave_what_the_rule_of_three_leaves(self):
        resumes = np.repeat(np.arange(100), 2)
        row = ratios_of(units_of(np.tile([0, 1], 100), resumes, resumes, 1, np.repeat([1, 0], [80, 120])))[1]
        unseen = (1 - 0.025 ** (1 / 100)) / 0.4
        assert (row.ratio, row.interval_low, row.interval_high) == pytest.approx(
            (1.0, 1 - unseen, 1 + unseen)
        )

    def test_nobody_selected_of_a_group(self):
        low, best = ratios_of(people(np.repeat([0, 1], [30, 50]), np.repeat([0, 1], [60, 20])))
        assert (low.rate, low.ratio, low.interval_low) == (0.0, 0.0, 0.0)
        upper = stats.binomtest(0, 30).proportion_ci(0.95, method="exact").high
        lower = stats.binomtest(20, 50).proportion_ci(0.95, method="exact").low
        assert low.interval_high == pytest.approx(upper / lower, rel=0.02)
        assert best.is_best

    def test_nobody_selected_at_all(self):
        rows = ratios_of(people([0, 0, 1, 1], [0, 0, 0, 0]))
        assert all(np.isnan([row.ratio, row.interval_low, row.interval_high]).all() for row in rows)
        assert all(row.is_best for row in rows)
        result = impact_of(people([0, 0, 1, 1], [0, 0, 0, 0]), 99)
        assert np.isnan(result.smallest_ratio)
        assert result.test is None

    @pytest.mark.parametrize(
        ("n", "rates"), [(40, [0.5, 0.5]), (40, [0.5, 0.2]), (300, [0.03, 0.03]), (60, [0.95, 0.6])]
    )
    def test_interval_covers_the_true_ratio(self, n, rates):
        rng = np.random.default_rng(31)
        labels = np.repeat([0, 1], n)
        n_audits, covered = 300, 0
        for _ in range(n_audits):
            rows = ratios_of(people(labels, rng.random(2 * n) < np.repeat(rates, n)))
            best = 0 if rows[0].ratio == 1.0 and rows[0].interval_low == 1.0 else 1
            row = rows[1 - best]
            covered += bool(
                row.interval_low <= rates[1 - best] / rates[best] <= row.interval_high
            ) or np.isnan(row.ratio)
        assert covered >= at_least(n_audits)

    def test_interval_covers_the_ratio_of_few_clusters(self):
        rng = np.random.default_rng(36)
        labels, n_audits, covered = np.repeat([0, 1], 6), 300, 0
        for _ in range(n_audits):
            selected = rng.binomial(30, rng.beta(4, 4, 12))
            rows = ratios_of(units_of(labels, 0, np.arange(12), 30, selected))
            covered += any(
                row.interval_low <= 1 <= row.interval_high for row in rows if row.interval_low != 1
            )
        assert covered >= at_least(n_audits)

    def test_what_cannot_be_is_refused(self):
        with pytest.raises(ValueError, match="labels number the groups 0, 1, … without a gap"):
            ratios_of(people([0, 2], [0, 1]))
        for total in ([0, 0.5], [0, 2], [0, -1]):
            with pytest.raises(ValueError, match="whole numbers, total from 0 to n"):
                impact_of(people([0, 1], total))


class TestImpactTest:
    def test_p_agrees_with_scipy_by_full_enumeration(self):
        samples = ([1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1])

        def ratio(*parts):
            rates = [np.mean(part) for part in parts]
            return min(rates) / max(rates)

        exact = stats.permutation_test(
            samples, ratio, vectorized=False, alternative="less", n_resamples=np.inf
        )
        result = impact_of(people(np.repeat([0, 1, 2], 4), np.concatenate(samples)), 20_000, stop_after=None)
        assert result.smallest_ratio == pytest.approx(1 / 3) == pytest.approx(result.test.observed)
        assert result.test.p_value == pytest.approx(exact.pvalue, abs=4 * sqrt(exact.pvalue / 20_000))
        assert result.test.null_mean == pytest.approx(exact.null_distribution.mean(), abs=0.01)

    def test_ends_are_the_smallest_of_the_groups(self):
        rng = np.random.default_rng(32)
        sizes, rates = [60, 80, 50, 90], [0.5, 0.45, 0.3, 0.4]
        units = people(np.repeat(range(4), sizes), rng.random(280) < np.repeat(rates, sizes))
        result = impact_of(units)
        others = [row for row in ratios_of(units) if not row.is_best]
        at_once = [row for row in ratios_of(units, 2 * 0.05 / 12) if not row.is_best]
        assert result.interval_low == min(row.interval_low for row in others)
        assert result.interval_high == min(1.0, *(row.interval_high for row in at_once))
        assert result.n_smallest_group == 50

    def test_planted_bias_fires_and_its_interval_lies_below_one(self):
        result = impact_of(
            people(np.repeat([0, 1, 2], 200), np.repeat([1, 0, 1, 0, 1, 0], [100, 100, 96, 104, 50, 150])),
            1999,
        )
        assert result.test.p_value == 1 / 2000
        assert result.interval_low < 0.5 < result.interval_high < 0.8

    @pytest.mark.slow
    @pytest.mark.parametrize(("n_cells", "n_names", "n_runs"), [(8, 100, 1000), (2, 20, 200)])
    def test_fair_rankings_keep_to_alpha_and_their_interval_holds_one(self, n_cells, n_names, n_runs):
        rng = np.random.default_rng(33)
        n_audits, alarms, covered, smallest_upper_end = 150, 0, 0, 0
        for seed in range(n_audits):
            units = Rankings(rng, n_runs=n_runs, n_cells=n_cells, n_names=n_names, name_effect=0.3).by_name(
                "top", [[cell] for cell in range(n_cells)]
            )
            result = impact_of(units, 99, seed=seed)
            alarms += result.test.p_value < 0.05
            covered += result.interval_high == 1.0
            upper_ends = [row.interval_high for row in ratios_of(units) if not row.is_best]
            smallest_upper_end += min(upper_ends, default=1.0) >= 1.0
        assert alarms <= at_most(n_audits)
        assert covered >= at_least(n_audits)
        if n_cells == 8:
            # The smallest of seven ends that each cover once in 40 too little is no end of the smallest ratio.
            assert smallest_upper_end < 0.8 * n_audits

    def test_paired_false_alarms_keep_to_alpha(self):
        rng = np.random.default_rng(34)
        n_audits, alarms = 200, 0
        resumes = np.repeat(np.arange(120), 4)
        for seed in range(n_audits):
            selected = (levels(rng, 120, 0.1) == 2).ravel()
            alarms += (
                impact_of(
                    units_of(np.tile(range(4), 120), resumes, resumes, 1, selected), 99, seed=seed
                ).test.p_value
                < 0.05
            )
        assert alarms <= at_most(n_audits)

    @pytest.mark.parametrize("rates", [[0.3, 0.1, 0.3, 0.3], [0.5, 0.5, 0.5, 0.5], [0.9, 0.9, 0.9, 0.5]])
    def test_interval_covers_the_smallest_ratio(self, rates):
        rng = np.random.default_rng(35)
        truth = min(rates) / max(rates)
        n_audits, covered = 200, 0
        for _ in range(n_audits):
            result = impact_of(people(np.repeat(range(4), 60), rng.random(240) < np.repeat(rates, 60)))
            covered += result.interval_low <= truth <= result.interval_high
        assert covered >= at_least(n_audits)

    @pytest.mark.parametrize("n_names", [5, 22])
    def test_what_a_few_names_do_is_no_ratio_of_groups(self, n_names):
        rng = np.random.default_rng(37)
        n_audits, alarms, by_case, missed = 150, 0, 0, 0
        for seed in range(n_audits):
            units = cells(rng, n_names=n_names, name_sd=0.5)
            result = impact_of(replace(units, total=(units.total > 0).astype(float)), 99, seed=seed)
            assert result.test.p_value == max(result.p_case, result.p_name)
            alarms += result.test.p_value < 0.05
            by_case += result.p_case < 0.05
            missed += result.interval_high < 1
        assert alarms <= at_most(n_audits)
        assert missed <= at_most(n_audits)
        assert by_case > (0.1 if n_names == 5 else 0.05) * n_audits

    def test_rankings_of_two_next_to_a_longer_one_keep_to_alpha(self):
        """The rivals of each ranking count, not those of the longest: of two candidates what one gains the other loses."""
        rng = np.random.default_rng(38)
        n_audits, alarms, longest, gaps = 200, 0, 0, 0
        labels, lengths = np.tile([0, 1], 64), np.repeat([2.0, 8.0], [120, 8])
        for seed in range(n_audits):
            first = np.concatenate([rng.permuted([[1, 0]] * 60, axis=1).ravel(), rng.permuted([1] + [0] * 7)])
            units = units_of(labels, 0, np.arange(128), 1, first)
            of_each = replace(units, n_candidates=lengths)
            alarms += impact_of(of_each, 99, seed=seed).test.p_value < 0.05
            gaps += gap_of(of_each, n_permutations=99, seed=seed).test.p_value < 0.05
            longest += (
                gap_of(replace(units, n_candidates=8), n_permutations=99, seed=seed).test.p_value < 0.05
            )
        assert alarms <= at_most(n_audits)
        assert gaps <= at_most(n_audits)
        # Over 600 audits the longest ranking's rivals give 8.5 % and each ranking's own 2.5 %.
        assert longest > max(2 * gaps, 0.06 * n_audits)

    def test_one_group_and_labels_that_cannot_move_are_not_tested(self):
        assert np.isnan(impact_of(people([0, 0], [0, 1]), 99).smallest_ratio)
        result = impact_of(people([0, 0, 1, 1], [1, 1, 0, 1], jobs=[0, 0, 1, 1]), 99)
        assert (result.smallest_ratio, result.test) == (0.5, None)

    def test_a_group_of_one_cluster_has_a_ratio_and_no_interval(self):
        result = impact_of(people([0, 1, 1, 1], [1, 0, 1, 0]), 99)
        assert result.smallest_ratio == pytest.approx(1 / 3)
        assert np.isnan([result.interval_low, result.interval_high]).all()


class TestPairedTests:
    @pytest.mark.parametrize("n_groups", [2, 3, 4, 6])
    def test_cochrans_q_agrees_with_statsmodels(self, n_groups):
        rng = np.random.default_rng(n_groups)
        answers = (rng.random((60, n_groups)) < np.linspace(0.4, 0.6, n_groups)).astype(np.int64)
        result, reference = cochran_q(answers), cochrans_q(answers)
        assert (result.statistic, result.p_value) == pytest.approx((reference.statistic, reference.pvalue))
        n_discordant = sum(len(set(row)) > 1 for row in answers.tolist())
        assert (result.n_blocks, result.n_discordant) == (60, n_discordant)

    def test_cochrans_published_example(self):
        # Cochran (1950), table 2: growth of diphtheria bacilli on four media for 69 specimens.
        rows = (
            [[1, 1, 1, 1]] * 4
            + [[1, 1, 0, 1]] * 2
            + [[0, 1, 1, 1]] * 3
            + [[0, 1, 0, 1]]
            + [[0, 0, 0, 0]] * 59
        )
        result = cochran_q(np.array(rows, dtype=np.int64))
        assert result.statistic == pytest.approx(8.05, abs=0.005)
        assert result.p_value == pytest.approx(0.045, abs=0.0005)

    @pytest.mark.parametrize("seed", range(4))
    def test_mcnemar_agrees_with_statsmodels(self, seed):
        rng = np.random.default_rng(seed)
        marked, reference = (rng.random((2, 50)) < np.array([[0.3], [0.5]])).astype(np.int64)
        table = [[np.sum((marked == a) & (reference == b)) for b in (0, 1)] for a in (0, 1)]
        result, other = mcnemar(marked, reference), statsmodels_mcnemar(table, exact=True)
        assert (result.statistic, result.p_value) == pytest.approx((other.statistic, other.pvalue))
        assert (result.n_blocks, result.n_discordant) == (50, table[0][1] + table[1][0])

    def test_subjects_all_answered_alike_say_nothing(self):
        answers = np.repeat([[0], [1], [1]], 4, axis=1).astype(np.int64)
        assert cochran_q(answers).p_value == mcnemar(answers[:, 1], answers[:, 0]).p_value == 1.0
        assert cochran_q(answers).n_discordant == mcnemar(answers[:, 1], answers[:, 0]).n_discordant == 0

    def test_false_alarms_keep_to_alpha(self):
        rng = np.random.default_rng(40)
        n_audits = 1000
        p_values = np.array(
            [cochran_q((levels(rng, 120, 0.1) == 2).astype(np.int64)).p_value for _ in range(n_audits)]
        )
        assert (p_values < 0.05).sum() <= at_most(n_audits)
        assert (p_values < 0.5).mean() > 0.35


class TestPositionTest:
    def test_counts_agree_with_the_textbook(self):
        places = np.repeat([0, 1, 2, 3], [20, 8, 7, 5])
        result = position_test(places, np.full(40, 4))
        assert (result.n_responses, result.n_positions) == (40, 4)
        assert (result.share_first, result.expected_share) == (0.5, 0.25)
        assert result.chi_square == pytest.approx((10**2 + 2**2 + 3**2 + 5**2) / 10)
        assert result.p_value == pytest.approx(stats.chi2.sf(13.8, 3))
        assert (result.interval_low, result.interval_high) == pytest.approx(
            proportion_confint(20, 40, 0.05, method="wilson")
        )
        masses = stats.binom.pmf(np.arange(41), 40, 0.25)
        assert result.p_first == pytest.approx(masses[masses <= masses[20] * (1 + 1e-9)].sum())

    def test_an_answer_counts_as_often_as_it_stands_for(self):
        places, lengths, n_answers = np.array([0, 1, 3]), np.array([4, 2, 4]), np.array([5, 9, 1])
        assert position_test(places, lengths, n_answers) == position_test(
            np.repeat(places, n_answers), np.repeat(lengths, n_answers)
        )

    def test_a_position_never_ranked_first_counts(self):
        assert position_test(np.array([0, 1, 1, 0]), np.full(4, 3)).chi_square == pytest.approx(2.0)

    def test_shuffled_positions_stay_silent_and_a_preferred_one_fires(self):
        rng = np.random.default_rng(41)
        n_audits = 500
        results = [position_test(rng.integers(0, 4, 100), np.full(100, 4)) for _ in range(n_audits)]
        assert sum(result.p_value < 0.05 for result in results) <= at_most(n_audits)
        assert sum(result.p_first < 0.05 for result in results) <= at_most(n_audits)
        covered = sum(result.interval_low <= 0.25 <= result.interval_high for result in results)
        assert covered >= at_least(n_audits)
        assert position_test(rng.choice(4, 100, p=[0.7, 0.1, 0.1, 0.1]), np.full(100, 4)).p_first < 1e-6

    def test_rankings_of_different_lengths_have_their_own_equal_shares(self):
        places, lengths = np.array([0, 0, 1, 0, 2, 1]), np.array([2, 2, 2, 4, 4, 4])
        result = position_test(places, lengths)
        expected = np.array([3 / 2 + 3 / 4, 3 / 2 + 3 / 4, 3 / 4, 3 / 4])
        assert result.n_positions == 4
        assert result.expected_share == pytest.approx(0.375)
        assert result.chi_square == pytest.approx(
            (((np.array([3, 2, 1, 0]) - expected) ** 2) / expected).sum()
        )
        rng = np.random.default_rng(42)
        lengths = np.repeat([2, 6], 50)
        results = [position_test(rng.integers(0, lengths), lengths) for _ in range(500)]
        assert sum(result.p_value < 0.05 for result in results) <= at_most(500)
        assert sum(result.p_first < 0.05 for result in results) <= at_most(500)

    def test_a_set_ranked_again_and_again_is_one(self):
        """Twelve sets, each with one best candidate in any order, asked 15 times: the winner does not depend on places."""
        rng = np.random.default_rng(43)
        sets, n_audits = np.repeat(np.arange(12), 15), 500
        alarms, of_all, independent, covered = np.zeros(4)
        for _ in range(n_audits):
            places = np.repeat(rng.integers(0, 4, 12), 15)
            result = position_test(places, np.full(180, 4), sets=sets)
            alarms += result.p_first < 0.05
            of_all += result.p_value < 0.05
            covered += result.interval_low <= 0.25 <= result.interval_high
            independent += position_test(places, np.full(180, 4)).p_first < 0.05
        assert alarms <= at_most(n_audits)
        assert of_all <= at_most(n_audits)
        assert covered >= at_least(n_audits)
        assert independent > 0.5 * n_audits

    def test_p_of_the_first_place_agrees_with_all_arrangements(self):
        """Three sets of two, three and three: 18 arrangements of their counts over their places."""
        places = np.array([0, 0, 1, 0, 0, 1, 2, 0])
        lengths = np.array([2, 2, 2, 3, 3, 3, 3, 3])
        sets = np.array([0, 0, 0, 1, 1, 2, 2, 2])
        counts = [[2, 1], [2, 0, 0], [1, 1, 1]]
        sums = [sum(first) for first in product(*counts)]
        masses = {value: sums.count(value) / len(sums) for value in set(sums)}
        expected = sum(mass for mass in masses.values() if mass <= masses[5] + 1e-12)
        result = position_test(places, lengths, sets=sets)
        assert result.share_first == 5 / 8
        assert result.p_first == pytest.approx(expected)
        assert (result.n_responses, result.n_sets, result.n_positions) == (8, 3, 3)

    def test_a_first_place_that_always_wins_is_found_in_twenty_sets(self):
        result = position_test(
            np.zeros(300, dtype=np.int64), np.full(300, 4), sets=np.repeat(np.arange(20), 15)
        )
        assert max(result.p_first, result.p_value) < 1e-6
        assert result.interval_low > 0.8

    def test_what_cannot_be_is_refused(self):
        with pytest.raises(ValueError, match="a set of candidates has one length"):
            position_test(np.array([0, 1]), np.array([2, 3]), sets=np.array([0, 0]))
        for places, lengths in (([], []), ([0], [1])):
            with pytest.raises(
                ValueError, match="a position test needs a response, and two candidates in each"
            ):
                position_test(np.array(places, dtype=np.int64), np.array(lengths, dtype=np.int64))
        for place in (4, -1):
            with pytest.raises(ValueError, match="positions lie from 0 to the number of candidates less one"):
                position_test(np.array([place]), np.array([4]))


class TestRatiosInsideCases:
    """Simpson's paradox: the group that each resume puts at a disadvantage is asked about the better resumes."""

    def units(self, ratio, n_good, n_poor, n_resumes=60):
        resumes, labels = np.repeat(np.arange(n_resumes), 2), np.tile([0, 1], n_resumes)
        is_good = resumes % 2 == 1
        n = np.where(is_good, np.array(n_good)[labels], np.array(n_poor)[labels])
        selected = np.round(n * np.where(is_good, 0.9, 0.4) * np.where(labels == 1, ratio, 1.0))
        return units_of(labels, resumes, resumes, n, selected)

    def test_a_ratio_inside_every_resume_is_not_cleared_by_equal_totals(self):
        units = self.units(0.7, (400, 950), (600, 50))
        crude = np.bincount(units.design.labels, units.total) / np.bincount(units.design.labels, units.n)
        result = impact_of(units)
        assert crude[1] > crude[0]
        assert result.smallest_ratio > 0.97
        # Mantel & Haenszel's ratio with equal weights of all resumes.
        rates = (units.total / units.n).reshape(-1, 2)
        assert result.ratio_within == pytest.approx(rates[:, 1].sum() / rates[:, 0].sum())
        assert result.ratio_within == pytest.approx(0.7, abs=0.001)
        assert result.interval_low < 0.7

    def test_equal_shares_of_all_resumes_leave_the_interval_as_it_is(self):
        units = self.units(0.97, (400, 400), (400, 400))
        result = impact_of(units)
        assert np.isnan(result.ratio_within)
        assert result.interval_low > 0.8

    def test_it_is_mantel_and_haenszels_ratio_over_jobs(self):
        rng = np.random.default_rng(4)
        jobs, labels = rng.integers(0, 5, 400), rng.integers(0, 2, 400)
        selected = rng.random(400) < 0.3 + 0.1 * jobs - 0.1 * labels
        tables = np.zeros((5, 2, 2))
        np.add.at(tables, (jobs, 1 - labels, 1 - selected.astype(int)), 1)
        expected = StratifiedTable(list(tables)).riskratio_pooled
        found = impact_of(units_of(labels, jobs, np.arange(400), 1, selected))
        assert found.ratio_within == pytest.approx(expected)
