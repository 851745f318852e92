"""Test gaps in decisions against independent references: values, standard errors, and tests on simulated audits."""

from __future__ import annotations

from dataclasses import replace
from math import comb, sqrt
from time import process_time

import numpy as np
import pytest
from scipy import stats

from biasledger.measures.engine.resampling import permuted_labels
from tests.python.measures.decisions_by_hand import (
    at_most,
    gap_of,
    sample_of_people,
    slow_adjusted_gap,
    slow_gap,
    slow_jackknife_error,
)
from tests.python.measures.simulated_decisions import Rankings, levels, people, units_of, versions


def studentised(one, other) -> float:
    """A difference over its error, each group's variance with one degree of freedom of the common one."""
    sums = [((part - part.mean()) ** 2).sum() for part in (one, other)]
    common = sum(sums) / (one.size + other.size - 2)
    variances = [(total + common) / part.size**2 for total, part in zip(sums, (one, other), strict=True)]
    return abs(one.mean() - other.mean()) / sqrt(sum(variances))


class TestGapValues:
    def test_groups_sums_by_hand(self):
        result = gap_of(units_of([1, 1, 0, 0], 0, [0, 1, 2, 3], [2, 1, 3, 1], [2, 0, 1, 0]))
        assert (result.mean_marked, result.mean_reference) == (2 / 3, 1 / 4)
        assert result.gap == pytest.approx(2 / 3 - 1 / 4)
        assert (result.n_marked, result.n_reference, result.n_clusters) == (3, 4, 4)

    def test_other_scales_give_the_same_result_on_their_scale(self):
        units = versions(levels(np.random.default_rng(1), 30, 0.2))
        ranks = gap_of(units, highest=2.0, n_permutations=199)
        scores = gap_of(
            replace(units, total=10 * units.total + 5 * units.n), lowest=5, highest=25, n_permutations=199
        )
        for name in (
            "gap",
            "standard_error",
            "interval_low",
            "interval_high",
            "adjusted_gap",
            "adjusted_high",
        ):
            assert getattr(scores, name) == pytest.approx(10 * getattr(ranks, name), abs=1e-12)
        assert scores.test.p_value == ranks.test.p_value

    def test_other_scales_give_the_same_p_of_all_arrangements(self):
        units = versions(levels(np.random.default_rng(4), 3, 0.6))
        ranks = gap_of(units, highest=2.0, n_permutations=199)
        scores = gap_of(
            replace(units, total=10 * units.total + 5 * units.n), lowest=5, highest=25, n_permutations=199
        )
        assert 0 < ranks.test.p_value < 1
        assert scores.test.n_permutations == 2**6
        assert scores.test.p_value == ranks.test.p_value

    def test_swapped_groups_give_the_mirrored_result(self):
        units = people(*sample_of_people(np.random.default_rng(2), 60))
        swapped = replace(
            units, design=replace(units.design, labels=(1 - units.design.labels).astype(np.int8))
        )
        one, other = gap_of(units, n_permutations=499), gap_of(swapped, n_permutations=499)
        assert (one.gap, one.interval_low, one.adjusted_high) == pytest.approx(
            (-other.gap, -other.interval_high, -other.adjusted_low)
        )
        assert one.test.p_value == pytest.approx(other.test.p_value, abs=0.1)


class TestGapErrors:
    def test_paired_error_is_that_of_the_resumes_differences(self):
        outcomes = levels(np.random.default_rng(3), 80, 0.3)
        differences = outcomes[:, 2:].mean(axis=1) - outcomes[:, :2].mean(axis=1)
        result = gap_of(versions(outcomes), highest=2.0)
        assert result.gap == pytest.approx(differences.mean())
        assert result.standard_error == pytest.approx(stats.sem(differences))
        low, high = stats.t.interval(0.95, 79, differences.mean(), stats.sem(differences))
        assert low - 0.02 <= result.interval_low <= low
        assert high <= result.interval_high <= high + 0.02

    @pytest.mark.parametrize(("n_marked", "n_reference"), [(8, 90), (40, 40)])
    def test_unpaired_interval_is_welchs(self, n_marked, n_reference):
        rng = np.random.default_rng(4)
        marked, reference = rng.normal(50, 4, n_marked), rng.normal(48, 9, n_reference)
        units = people(np.repeat([1, 0], [n_marked, n_reference]), np.concatenate([marked, reference]))
        result = gap_of(units, highest=100.0)
        welch = stats.ttest_ind(marked, reference, equal_var=False)
        own = welch.confidence_interval()
        assert result.standard_error == pytest.approx((marked.mean() - reference.mean()) / welch.statistic)
        width = own.high - own.low
        assert result.gap > 0
        assert own.low - 0.05 * width <= result.interval_low <= own.low + 1e-9
        # Away from 0 it reaches as far as unseen people could move it.
        unseen = 1 - 0.025 ** (1 / np.array([n_marked, n_reference]))
        reach = max(unseen[0] * (100 - marked.mean()), unseen[1] * reference.mean())
        assert max(own.high, result.gap + reach) - 1e-9 <= result.interval_high
        assert result.interval_high <= max(own.high + 0.05 * width, result.gap + reach) + 1e-9

    @pytest.mark.parametrize("paired", [True, False])
    def test_errors_agree_with_leaving_out_clusters_one_by_one(self, paired):
        rng = np.random.default_rng(5)
        n_units = 60
        clusters = np.repeat(np.arange(15), 4)
        labels = np.tile([0, 0, 1, 1], 15) if paired else np.repeat(rng.permuted([0, 1] * 7 + [1]), 4)
        strata = np.tile([0, 1, 0, 1], 15) + 2 * rng.integers(0, 2, n_units)
        n = rng.integers(1, 6, n_units)
        units = units_of(labels, strata, clusters, n, rng.random(n_units) * n)
        result = gap_of(units)
        everything = np.ones(n_units, dtype=bool)
        assert result.gap == pytest.approx(slow_gap(units, everything))
        assert result.standard_error == pytest.approx(slow_jackknife_error(units, slow_gap, not paired))
        assert result.adjusted_gap == pytest.approx(slow_adjusted_gap(units, everything))
        assert result.adjusted_standard_error == pytest.approx(
            slow_jackknife_error(units, slow_adjusted_gap, not paired)
        )

    def test_adjusted_is_the_gap_where_strata_hold_both_groups_alike(self):
        for units, highest in (
            (versions(levels(np.random.default_rng(6), 40, 0.3)), 2.0),
            (people(*sample_of_people(np.random.default_rng(6), 50)[:2]), 1.0),
        ):
            result = gap_of(units, highest=highest)
            assert (
                result.adjusted_gap, result.adjusted_standard_error, result.adjusted_low, result.adjusted_high,
            ) == pytest.approx(
                (result.gap, result.standard_error, result.interval_low, result.interval_high)
            )  # fmt: skip

    def test_adjusted_interval_is_as_much_longer_or_shorter_as_its_error(self):
        jobs = np.repeat([0, 1], 100)
        selected = np.random.default_rng(6).random(200) < np.where(jobs, 0.9, 0.1)
        result = gap_of(people(np.tile([0, 1], 100), selected, jobs))
        ratio = result.adjusted_standard_error / result.standard_error
        assert ratio < 0.75
        assert result.adjusted_high - result.adjusted_gap == pytest.approx(
            ratio * (result.interval_high - result.gap)
        )
        assert result.adjusted_gap - result.adjusted_low == pytest.approx(
            ratio * (result.gap - result.interval_low)
        )

    @pytest.mark.parametrize(("level", "highest"), [(0.0, 1.0), (1.0, 2.0), (2.0, 2.0)])
    def test_resumes_never_treated_differently_leave_what_the_rule_of_three_leaves(self, level, highest):
        result = gap_of(versions(np.full((120, 4), level)), highest=highest, n_permutations=99)
        assert (result.gap, result.standard_error, result.test.p_value) == (0.0, 0.0, 1.0)
        unseen = (1 - 0.025 ** (1 / 120)) * highest
        assert (result.interval_low, result.interval_high) == pytest.approx((-unseen, unseen))
        assert (result.adjusted_low, result.adjusted_high) == pytest.approx((-unseen, unseen))

    def test_people_all_treated_alike_leave_it_for_each_group(self):
        result = gap_of(people(np.repeat([1, 0], [20, 60]), np.zeros(80)))
        reach = [1 - 0.025 ** (1 / n) for n in (20, 60)]
        assert (result.interval_low, result.interval_high) == pytest.approx((-reach[1], reach[0]))
        assert (result.adjusted_low, result.adjusted_high) == pytest.approx((-reach[1], reach[0]))
        assert result.width_power == 1.0

    def test_rivals_make_errors_larger(self):
        units = Rankings(np.random.default_rng(7), n_runs=200, n_cells=2, n_names=20).by_name(
            "top", [[0], [1]]
        )
        alone = gap_of(replace(units, n_candidates=1))
        assert gap_of(units).standard_error == pytest.approx(alone.standard_error * sqrt(2), rel=0.1)
        assert gap_of(units).adjusted_standard_error == pytest.approx(gap_of(units).standard_error)

    def test_ends_stay_inside_what_is_possible(self):
        result = gap_of(people([1, 1, 0, 0], [1, 0, 0, 1]))
        assert (result.interval_low, result.interval_high) == (-1.0, 1.0)
        assert (result.adjusted_low, result.adjusted_high) == (-1.0, 1.0)


class TestGapTest:
    def test_unpaired_p_agrees_with_scipy_by_full_enumeration(self):
        rng = np.random.default_rng(8)
        marked, reference = rng.normal(0.6, 0.15, 7).clip(0, 1), rng.normal(0.45, 0.15, 6).clip(0, 1)
        exact = stats.permutation_test(
            (marked, reference),
            studentised,
            vectorized=False,
            alternative="greater",
            n_resamples=np.inf,
        )
        units = people(np.repeat([1, 0], [7, 6]), np.concatenate([marked, reference]))
        result = gap_of(units, n_permutations=20_000, stop_after=None)
        assert 0.005 < exact.pvalue < 0.3
        assert exact.null_distribution.size == comb(13, 7)
        assert result.test.p_value == pytest.approx(exact.pvalue, abs=4 * sqrt(exact.pvalue / 20_000))
        assert result.test.observed == pytest.approx(result.gap)

    def test_paired_p_agrees_with_scipy_by_full_enumeration(self):
        rng = np.random.default_rng(9)
        pairs = rng.normal([0.66, 0.5], 0.1, (9, 2)).clip(0, 1)
        exact = stats.permutation_test(
            (pairs[:, 0], pairs[:, 1]),
            lambda one, other: abs(one.mean() - other.mean()),
            permutation_type="samples",
            vectorized=False,
            alternative="greater",
            n_resamples=np.inf,
        )
        resumes = np.repeat(np.arange(9), 2)
        units = units_of(np.tile([1, 0], 9), resumes, resumes, 1, pairs.ravel())
        result = gap_of(units, n_permutations=20_000, stop_after=None)
        assert 0.002 < exact.pvalue < 0.3
        assert result.test.p_value == pytest.approx(exact.pvalue, abs=4 * sqrt(exact.pvalue / 20_000))

    def test_what_jobs_explain_is_neither_judged_nor_permuted(self):
        # Inside each job the marked group is selected less; over all jobs it looks better.
        jobs = np.repeat([0, 1], 100)
        labels = np.concatenate([np.repeat([1, 0], [20, 80]), np.repeat([1, 0], [80, 20])])
        selected = np.concatenate(
            [np.repeat([1, 0], size) for size in ([0, 20], [24, 56], [40, 40], [18, 2])]
        )
        result = gap_of(people(labels, selected, jobs), n_permutations=1999, stop_after=None)
        assert result.gap == pytest.approx(40 / 100 - 42 / 100)
        assert result.adjusted_gap == pytest.approx((-0.3 - 0.4) / 2)
        assert result.test.observed == pytest.approx(result.adjusted_gap)
        assert result.test.null_mean == pytest.approx(0.0, abs=0.01)
        assert result.test.p_value == 1 / 2000

    def test_null_mean_and_sd_are_those_of_the_permuted_gaps(self):
        rng = np.random.default_rng(10)
        n = np.concatenate([[400.0], rng.integers(1, 5, 29)])
        units = units_of(np.repeat([0, 1], [24, 6]), 0, np.arange(30), n, n * rng.beta(2, 6, 30))
        units = replace(units, total=np.concatenate([[0.9 * 400], units.total[1:]]))
        result = gap_of(units, n_permutations=512, stop_after=None)
        draws = np.concatenate(list(permuted_labels(units.by_case().design, 512, 1)))
        everything = np.ones(30, dtype=bool)
        gaps = [
            slow_gap(replace(units, design=replace(units.design, labels=labels)), everything)
            for labels in draws
        ]
        assert result.gap < -0.1
        assert np.mean(gaps) < -0.1
        assert (result.test.null_mean, result.test.null_sd) == pytest.approx(
            (np.mean(gaps), np.std(gaps, ddof=1))
        )

    def test_composition_alone_is_no_bias(self):
        rng = np.random.default_rng(10)
        n_audits, alarms, crude = 200, 0, 0
        for seed in range(n_audits):
            result = gap_of(
                people(*sample_of_people(rng, 200)), n_permutations=99, seed=seed, stop_after=None
            )
            alarms += result.test.p_value < 0.05
            crude += not result.interval_low <= 0 <= result.interval_high
        assert alarms <= at_most(n_audits)
        assert crude > 0.5 * n_audits

    def test_early_stopping_leaves_the_same_verdict(self):
        units = versions(levels(np.random.default_rng(11), 60, 0.2))
        stopped = gap_of(units, highest=2.0, n_permutations=1999)
        full = gap_of(units, highest=2.0, n_permutations=1999, stop_after=None)
        assert stopped.test.is_stopped_early
        assert stopped.test.n_permutations < 1999 == full.test.n_permutations
        assert stopped.test.p_value == pytest.approx(full.test.p_value, abs=0.15)
        assert (stopped.gap, stopped.interval_low) == (full.gap, full.interval_low)

    def test_depends_on_the_seed_alone(self):
        units = versions(levels(np.random.default_rng(12), 40, 0.2, 0.1))
        assert gap_of(units, highest=2.0, n_permutations=199) == gap_of(
            units, highest=2.0, n_permutations=199
        )
        assert gap_of(units, highest=2.0, n_permutations=199) != gap_of(
            units, highest=2.0, n_permutations=199, seed=2
        )

    def test_planted_bias_fires_and_its_interval_leaves_zero_out(self):
        result = gap_of(
            versions(levels(np.random.default_rng(13), 120, 0.04, 0.3)), highest=2.0, n_permutations=1999
        )
        assert result.test.p_value == 1 / 2000
        assert result.interval_high < 0

    def test_paired_false_alarms_keep_to_alpha(self):
        rng = np.random.default_rng(14)
        n_audits = 300
        p_values = np.array(
            [
                gap_of(
                    versions(levels(rng, 120, 0.05)), highest=2.0, n_permutations=99, seed=seed
                ).test.p_value
                for seed in range(n_audits)
            ]
        )
        assert (p_values < 0.05).sum() <= at_most(n_audits)
        assert (p_values < 0.5).mean() > 0.25

    @pytest.mark.slow
    def test_names_reused_over_runs_are_permuted_as_wholes(self):
        rng = np.random.default_rng(15)
        n_audits, by_name, by_run = 150, 0, 0
        men, women = [0, 2, 4, 6], [1, 3, 5, 7]
        for seed in range(n_audits):
            rankings = Rankings(rng, name_effect=0.5)
            options = {"lowest": 1.0, "highest": 8.0, "n_permutations": 99, "seed": seed}
            by_name += gap_of(rankings.by_name("rank", [men, women]), **options).test.p_value < 0.05
            by_run += gap_of(rankings.within_runs("rank", [men, women]), **options).test.p_value < 0.05
        assert by_name <= at_most(n_audits)
        assert by_run >= 0.09 * n_audits

    @pytest.mark.parametrize("outcome", ["top", "rank"])
    def test_rivals_of_one_ranking_are_no_independent_units(self, outcome):
        rng = np.random.default_rng(16)
        n_audits, corrected, uncorrected = 200, 0, 0
        for seed in range(n_audits):
            units = Rankings(rng, n_runs=200, n_cells=2, n_names=20).by_name(outcome, [[0], [1]])
            options = {"highest": 2.0, "n_permutations": 99, "seed": seed}
            corrected += gap_of(units, **options).test.p_value < 0.05
            uncorrected += gap_of(replace(units, n_candidates=1), **options).test.p_value < 0.05
        assert corrected <= at_most(n_audits)
        assert uncorrected >= 0.09 * n_audits

    def test_thousands_of_rankings_take_less_than_a_second(self):
        rankings = Rankings(np.random.default_rng(17), n_runs=4000)
        units = rankings.by_name("rank", [[0, 2, 4, 6], [1, 3, 5, 7]])
        assert units.n.sum() == 32_000
        start = process_time()  # what else the machine does is no fault of ours
        gap_of(units, lowest=1.0, highest=8.0, n_permutations=4000, stop_after=None)
        assert process_time() - start < 1.0
