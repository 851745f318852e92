"""Measures of decisions against independent references, nulls, planted bias, and what simulated audits say of intervals."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import comb, sqrt
from time import process_time

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import cochrans_q
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.proportion import proportion_confint

from biasledger.measures.decisions.gaps import gap
from biasledger.measures.decisions.impact_ratios import group_impact_ratios, impact_test
from biasledger.measures.decisions.paired import cochran_q, mcnemar
from biasledger.measures.decisions.positions import position_test
from biasledger.measures.decisions.units import Units
from biasledger.measures.engine.resampling import permuted_labels
from tests.python.measures.simulated_decisions import Rankings, levels, people, units_of, versions


def gap_of(units: Units, **changes):
    options = {"lowest": 0.0, "highest": 1.0, "n_permutations": 0, "alpha": 0.05, "seed": 1}
    return gap(units, **{**options, **changes})


def ratios_of(units: Units, alpha: float = 0.05):
    return group_impact_ratios(units, alpha=alpha)


def impact_of(units: Units, n_permutations: int = 0, seed: int = 1, stop_after: int | None = 50):
    return impact_test(units, n_permutations=n_permutations, alpha=0.05, seed=seed, stop_after=stop_after)


def slow_gap(units: Units, keep) -> float:
    labels = units.design.labels
    marked, reference = (labels == 1) & keep, (labels == 0) & keep
    return (
        units.total[marked].sum() / units.n[marked].sum()
        - units.total[reference].sum() / units.n[reference].sum()
    )


def slow_adjusted_gap(units: Units, keep) -> float:
    above = below = 0.0
    for stratum in set(units.design.strata[keep]):
        inside = keep & (units.design.strata == stratum)
        (n1, t1), (n0, t0) = (
            (units.n[inside & of].sum(), units.total[inside & of].sum())
            for of in (units.design.labels == 1, units.design.labels == 0)
        )
        if n1 and n0:
            above += n1 * n0 / (n1 + n0) * (t1 / n1 - t0 / n0)
            below += n1 * n0 / (n1 + n0)
    return above / below


def slow_jackknife_error(units: Units, statistic, per_group: bool) -> float:
    """Delete-one-cluster; of separate groups each has its own sum of squares."""
    left_out, groups = [], []
    for cluster in sorted(set(units.clusters)):
        left_out.append(statistic(units, units.clusters != cluster))
        groups.append(units.design.labels[units.clusters == cluster][0] if per_group else 0)
    left_out, groups = np.array(left_out), np.array(groups)
    variance = 0.0
    for group in set(groups):
        part = left_out[groups == group]
        variance += (part.size - 1) / part.size * ((part - part.mean()) ** 2).sum()
    return sqrt(variance)


def studentised(one, other) -> float:
    """A difference over its error, each group's variance with one degree of freedom of the common one."""
    sums = [((part - part.mean()) ** 2).sum() for part in (one, other)]
    common = sum(sums) / (one.size + other.size - 2)
    variances = [(total + common) / part.size**2 for total, part in zip(sums, (one, other), strict=True)]
    return abs(one.mean() - other.mean()) / sqrt(sum(variances))


def at_most(n_audits: int, rate: float = 0.05) -> int:
    return int(stats.binom.ppf(0.999, n_audits, rate))


def at_least(n_audits: int, rate: float = 0.95) -> int:
    return int(stats.binom.ppf(0.001, n_audits, rate))


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


def sample_of_people(rng, n, effect=0.0, shares=(0.2, 0.4, 0.6, 0.8), rates=(0.1, 0.3, 0.6, 0.8)):
    """Labels, selections and jobs: the marked group applies more often where most are selected."""
    jobs = rng.integers(0, len(rates), n)
    labels = (rng.random(n) < np.array(shares)[jobs]).astype(int)
    return labels, (rng.random(n) < np.array(rates)[jobs] + effect * labels).astype(int), jobs


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
        # Away from 0 it reaches as far as those could lead whom nobody saw yet.
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
        assert (result.interval_low, result.interval_high) == pytest.approx(
            (-3 / 120 * highest, 3 / 120 * highest)
        )
        assert (result.adjusted_low, result.adjusted_high) == pytest.approx(
            (-3 / 120 * highest, 3 / 120 * highest)
        )

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
        draws = np.concatenate(list(permuted_labels(units.design, 512, 1)))
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


def cells(rng, *, n_names, name_sd, lowered=0.0, n_resumes=120) -> Units:
    """Each resume under one reused name of each group, put on levels 0 to 2; a name's own effect returns with it."""
    effects = rng.normal(0, name_sd, (2, n_names))
    names = rng.integers(0, n_names, (n_resumes, 2))
    quality = rng.normal(0, 0.7, (n_resumes, 1)) + effects[np.arange(2), names] - lowered * np.arange(2)
    outcomes = np.clip(np.round(1 + quality + rng.normal(0, 0.5, quality.shape)), 0, 2)
    resumes = np.repeat(np.arange(n_resumes), 2)
    units = units_of(np.tile([0, 1], n_resumes), resumes, resumes, 1, outcomes.ravel())
    return replace(units, names=(names + np.array([0, n_names])).ravel())


def refusing(rng, *, refused=0.8) -> Units:
    """One group is refused on hard resumes alone: the gap over all answers says who was answered, the one inside none."""
    quality = rng.normal(0, 1, 120)
    levels_of = np.clip(np.round(1 + quality[:, None, None] + rng.normal(0, 0.5, (120, 2, 4))), 0, 2)
    is_answered = np.ones(levels_of.shape, dtype=bool)
    is_answered[:, 1] = rng.random((120, 4)) > np.where(quality < -0.3, refused, 0.0)[:, None]
    n, total = is_answered.sum(axis=2), (levels_of * is_answered).sum(axis=2)
    resumes, labels = np.nonzero(n)
    return units_of(labels, resumes, resumes, n[resumes, labels], total[resumes, labels])


class TestGapOfWhatIsJudged:
    def test_refusals_that_depend_on_the_resume_are_no_gap(self):
        rng = np.random.default_rng(50)
        n_audits, alarms, crude = 200, 0, 0
        for seed in range(n_audits):
            result = gap_of(refusing(rng), highest=2.0, n_permutations=99, seed=seed)
            alarms += result.test.p_value < 0.05
            crude += result.gap > 0.1
        assert alarms <= at_most(n_audits)
        assert crude > 0.9 * n_audits

    @pytest.mark.parametrize("n_marked", [15, 300])
    def test_unequal_spread_is_no_gap(self, n_marked):
        rng = np.random.default_rng(51)
        sizes = [n_marked, 315 - n_marked]
        n_audits, alarms, found = 150, 0, 0
        for seed in range(n_audits):
            spread = np.repeat(np.where(np.array(sizes) == 15, 12.0, 4.0), sizes)
            scores = rng.normal(50, spread)
            labels = np.repeat([1, 0], sizes)
            options = {"highest": 100.0, "n_permutations": 99, "seed": seed}
            alarms += gap_of(people(labels, scores.clip(0, 100)), **options).test.p_value < 0.05
            moved = (scores + np.where(labels, 6, 0)).clip(0, 100)
            found += gap_of(people(labels, moved), **options).test.p_value < 0.05
        assert alarms <= at_most(n_audits)
        # Unstudentised 37 % are found, and as many without any gap.
        assert found >= 0.37 * n_audits

    def test_a_group_without_spread_is_not_known_without_error(self):
        """Of 15 none is selected, of 300 three are: the likeliest that chance alone gives."""
        result = gap_of(people(np.repeat([1, 0], [15, 300]), np.arange(315) >= 312), n_permutations=999)
        assert result.test.p_value > 0.5
        selected = np.concatenate([np.arange(15) < 3, np.zeros(300)])
        assert gap_of(people(np.repeat([1, 0], [15, 300]), selected), n_permutations=1999).test.p_value < 0.01

    def test_all_of_one_group_and_none_of_the_other_is_as_extreme_as_can_be(self):
        result = gap_of(people([1] * 8 + [0] * 8, [1] * 8 + [0] * 8), n_permutations=1999)
        assert result.test.p_value < 0.003

    def test_two_people_against_many_count_as_two(self):
        result = gap_of(people(np.repeat([1, 0], [2, 300]), np.zeros(302)))
        assert (result.n_cases, result.n_clusters) == (2, 302)


class TestGapByName:
    @pytest.mark.parametrize("n_names", [5, 22])
    def test_what_a_few_names_do_is_no_gap_of_groups(self, n_names):
        rng = np.random.default_rng(52)
        n_audits, alarms, by_case, missed = 200, 0, 0, 0
        for seed in range(n_audits):
            units = cells(rng, n_names=n_names, name_sd=0.4)
            result = gap_of(units, highest=2.0, n_permutations=99, seed=seed)
            alarms += result.test.p_value < 0.05
            by_case += result.p_case < 0.05
            missed += not result.adjusted_low <= 0 <= result.adjusted_high
            assert result.test.p_value == max(result.p_case, result.p_name)
            assert result.unit == ("name" if result.p_name > result.p_case else "case")
        assert alarms <= at_most(n_audits)
        assert missed <= at_most(n_audits)
        assert by_case > 0.15 * n_audits

    @pytest.mark.parametrize("name_sd", [0.1, 0.2, 0.4])
    def test_of_two_names_the_interval_knows_that_they_are_two(self, name_sd):
        rng = np.random.default_rng(53)
        n_audits, missed, by_case = 200, 0, 0
        for seed in range(n_audits):
            result = gap_of(cells(rng, n_names=2, name_sd=name_sd), highest=2.0, n_permutations=99, seed=seed)
            assert (result.n_names, result.unit, result.test.p_value) == (2, "case", result.p_case)
            assert np.isnan(result.p_name)
            missed += not result.adjusted_low <= 0 <= result.adjusted_high
            by_case += result.p_case < 0.05
        assert missed <= at_most(n_audits)
        assert by_case > 0.1 * n_audits

    def test_planted_bias_is_found_by_both(self):
        result = gap_of(
            cells(np.random.default_rng(54), n_names=22, name_sd=0.1, lowered=0.5),
            highest=2.0,
            n_permutations=999,
        )
        assert result.p_case == result.p_name == 1 / 1000
        assert result.adjusted_high < 0
        assert result.n_names == 22

    def test_names_of_one_case_each_are_the_cases(self):
        units = cells(np.random.default_rng(55), n_names=2, name_sd=0.2)
        new_names = replace(units, names=np.arange(units.n.size))
        assert gap_of(new_names, n_permutations=99, highest=2.0) == gap_of(
            replace(units, names=None), n_permutations=99, highest=2.0
        )

    def test_the_interval_says_what_makes_it_long(self):
        rng = np.random.default_rng(56)
        assert gap_of(cells(rng, n_names=5, name_sd=0.4), highest=2.0).width_unit == "name"
        unnamed = gap_of(replace(cells(rng, n_names=5, name_sd=0.4), names=None), highest=2.0)
        assert (unnamed.width_unit, unnamed.width_power, unnamed.n_names) == ("case", 0.5, 0)
        same = replace(cells(rng, n_names=5, name_sd=0.4), total=np.ones(240))
        result = gap_of(same, highest=2.0, n_permutations=99)
        assert (result.width_unit, result.width_power, result.test.p_value) == ("case", 1.0, 1.0)

    def test_rows_of_a_case_move_as_one(self):
        """One resume under two names of each group: its two versions of a group are one unit, so that p is that of the sums."""
        rng = np.random.default_rng(57)
        outcomes = rng.integers(0, 3, (40, 4))
        resumes = np.repeat(np.arange(40), 4)
        labels = np.tile([0, 0, 1, 1], 40)
        fine = units_of(labels, resumes, resumes, 1, outcomes.ravel())
        fine = replace(fine, wholes=resumes * 2 + labels, names=np.tile(np.arange(4), 40))
        sums = outcomes.reshape(40, 2, 2).sum(axis=2).ravel()
        coarse = units_of(
            np.tile([0, 1], 40), np.repeat(np.arange(40), 2), np.repeat(np.arange(40), 2), 2, sums
        )
        one, other = (gap_of(units, highest=2.0, n_permutations=499) for units in (fine, coarse))
        assert one.p_case == other.p_case
        assert one.adjusted_gap == pytest.approx(other.adjusted_gap)

    def test_what_cannot_be_is_refused(self):
        units = units_of([0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 1, 1], 1, 1)
        with pytest.raises(ValueError, match="a name is of one group"):
            replace(units, names=np.zeros(4, dtype=np.int64))
        with pytest.raises(ValueError, match="a name is of one group, and moves inside one stratum"):
            replace(units, names=np.array([0, 1, 0, 1]), name_strata=np.array([0, 0, 1, 0]))
        with pytest.raises(ValueError, match="what moves together is of one group and stratum"):
            replace(units, wholes=np.array([0, 1, 0, 1]))


def test_what_few_people_carry_is_not_cleared():
    """A gap as large as a threshold of 0.1 that one name in five carries: 8 names show none of them in one audit of six."""
    rng = np.random.default_rng(58)
    for n_names in (8, 10):
        labels = np.repeat([1, 0], n_names)
        cleared = nobody = 0
        for _ in range(400):
            carries = (rng.random(2 * n_names) < 0.2) & (labels == 1)
            values = (rng.normal(0.1, 0.03, 2 * n_names) + 0.5 * carries).clip(0, 1)
            result = gap_of(people(labels, values))
            cleared += max(result.adjusted_high, -result.adjusted_low) < 0.1
            nobody += not carries.any()
        assert nobody > 0.07 * 400
        assert cleared <= at_most(400, 0.025)
    fair = [gap_of(people(np.repeat([1, 0], 60), rng.normal(0.1, 0.03, 120).clip(0, 1))) for _ in range(50)]
    assert sum(max(one.adjusted_high, -one.adjusted_low) < 0.1 for one in fair) > 45


def paired_but_for(outcomes, missing: list[tuple[int, int]]) -> Units:
    """Outcomes (n_resumes, 2), each answered once, but for these (resume, group)."""
    n = len(outcomes)
    is_answered = np.ones((n, 2), dtype=bool)
    is_answered[tuple(np.array(missing, dtype=int).reshape(-1, 2).T)] = False
    resumes, labels = np.nonzero(is_answered)
    return units_of(labels, resumes, resumes, 1, outcomes[resumes, labels])


class TestMissingAnswersOfPairs:
    """What a missing answer does to the gap of all answers is no spread of the gap inside resumes."""

    @pytest.mark.parametrize("missing", [[], [(3, 1)], [(0, 0), (3, 1), (8, 1)]])
    def test_resumes_never_treated_differently_leave_what_the_rule_of_three_leaves(self, missing):
        result = gap_of(paired_but_for(np.repeat([[0.0], [1.0]], 6, axis=0).repeat(2, axis=1), missing))
        bound = 3 / (12 - len(missing))
        assert (result.adjusted_gap, result.adjusted_standard_error) == (0.0, 0.0)
        assert (result.adjusted_low, result.adjusted_high) == pytest.approx((-bound, bound))
        assert result.width_power == 1.0

    def test_the_interval_is_that_of_the_complete_resumes(self):
        outcomes = levels(np.random.default_rng(59), 60, 0.2)[:, [0, 2]]
        missing = [(resume, resume % 2) for resume in range(0, 30, 3)]
        is_whole = ~np.isin(np.arange(60), [resume for resume, _ in missing])
        some = gap_of(paired_but_for(outcomes, missing), highest=2.0)
        whole = gap_of(paired_but_for(outcomes[is_whole], []), highest=2.0)
        assert whole.adjusted_standard_error > 0
        assert (some.adjusted_gap, some.adjusted_low, some.adjusted_high) == pytest.approx(
            (whole.adjusted_gap, whole.adjusted_low, whole.adjusted_high)
        )

    def test_what_few_resumes_carry_is_not_cleared(self):
        rng = np.random.default_rng(60)
        cleared = 0
        for _ in range(400):
            outcomes = rng.integers(1, 3, 12).repeat(2).reshape(12, 2).astype(float)
            outcomes[:, 1] -= rng.random(12) < 0.1
            result = gap_of(paired_but_for(outcomes, [(rng.integers(12), 1)]), highest=2.0)
            cleared += max(result.adjusted_high, -result.adjusted_low) < 0.1
        assert cleared <= at_most(400, 0.025)

    def test_a_single_complete_resume_has_no_interval(self):
        result = gap_of(paired_but_for(np.ones((4, 2)), [(0, 0), (1, 1), (2, 1)]))
        assert result.adjusted_gap == 0.0
        assert np.isnan([result.adjusted_low, result.adjusted_high]).all()


class TestGapCoverage:
    @pytest.mark.parametrize(
        ("changed", "lowered", "outcome"),
        [(0.05, 0.0, "rank"), (0.05, 0.08, "rank"), (0.05, 0.08, "selected"), (0.01, 0.02, "selected")],
    )
    def test_paired_levels_with_few_disagreements(self, changed, lowered, outcome):
        rng = np.random.default_rng(20)
        of = (lambda rows: rows) if outcome == "rank" else (lambda rows: (rows == 2).astype(int))
        many = of(levels(rng, 400_000, changed, lowered))
        truth = many[:, 2:].mean() - many[:, :2].mean()
        n_audits, covered = 300, 0
        for _ in range(n_audits):
            result = gap_of(
                versions(of(levels(rng, 120, changed, lowered))), highest=2.0 if outcome == "rank" else 1.0
            )
            covered += result.interval_low <= truth <= result.interval_high
        assert covered >= at_least(n_audits)

    @pytest.mark.parametrize(
        ("n_resumes", "often", "rare"), [(12, 0.3, 0.0), (12, 0.3, 0.03), (40, 0.05, 0.01)]
    )
    def test_paired_levels_that_mostly_move_one_way_and_seldom_far(self, n_resumes, often, rare):
        """Levels 0 to 4; a name's version is put one level lower often and three levels lower rarely."""
        rng = np.random.default_rng(24)

        def sample(n):
            reference = np.repeat(rng.integers(1, 4, size=n)[:, np.newaxis], 4, axis=1).astype(float)
            fall = np.where(rng.random((n, 2)) < rare, 3.0, rng.random((n, 2)) < often)
            reference[:, 2:] = np.maximum(reference[:, 2:] - fall, 0.0)
            return reference

        many = sample(400_000)
        truth = many[:, 2:].mean() - many[:, :2].mean()
        n_audits, covered, lengths = 200, 0, []
        for _ in range(n_audits):
            result = gap_of(versions(sample(n_resumes)), highest=4.0)
            covered += result.interval_low <= truth <= result.interval_high
            lengths.append(result.interval_high - result.interval_low)
        assert covered >= at_least(n_audits)
        # A rule of three over the whole range would make it twice as long (1.36 and 0.25).
        assert np.median(lengths) < (0.8 if n_resumes == 12 else 0.22)

    def test_rare_disadvantage_of_a_single_pair_that_students_interval_misses(self):
        rng = np.random.default_rng(21)
        resumes = np.repeat(np.arange(120), 2)
        n_audits, covered, by_student = 400, 0, 0
        for _ in range(n_audits):
            reference = (rng.random(120) < 0.5).astype(int)
            lost = reference * (rng.random(120) < 0.06)
            pairs = np.column_stack([reference - lost, reference])
            result = gap_of(units_of(np.tile([1, 0], 120), resumes, resumes, 1, pairs.ravel()))
            covered += result.interval_low <= -0.03 <= result.interval_high
            half_width = max(stats.t.ppf(0.975, 119) * stats.sem(-lost), 3 / 120 if not lost.any() else 0.0)
            by_student += abs(-lost.mean() + 0.03) <= half_width
        assert covered >= at_least(n_audits)
        assert by_student < 0.93 * n_audits

    @pytest.mark.parametrize("effect", [0.0, 0.1])
    @pytest.mark.parametrize("n_people", [60, 300])
    def test_people_in_jobs(self, n_people, effect):
        rng = np.random.default_rng(22)
        shares, rates = np.array([0.2, 0.4, 0.6, 0.8]), np.array([0.1, 0.3, 0.6, 0.8])
        truth = (shares * (rates + effect)).sum() / 2 - ((1 - shares) * rates).sum() / 2
        n_audits, covered, adjusted = 300, 0, 0
        for _ in range(n_audits):
            result = gap_of(people(*sample_of_people(rng, n_people, effect)))
            covered += result.interval_low <= truth <= result.interval_high
            adjusted += result.adjusted_low <= effect <= result.adjusted_high
        assert covered >= at_least(n_audits)
        assert adjusted >= at_least(n_audits)

    def test_a_rate_that_one_group_hardly_has(self):
        rng = np.random.default_rng(23)
        n_audits, covered = 300, 0
        for _ in range(n_audits):
            result = gap_of(people(np.repeat([1, 0], 60), rng.random(120) < np.repeat([0.05, 0.0], 60)))
            covered += result.interval_low <= 0.05 <= result.interval_high
        assert covered >= at_least(n_audits)

    @pytest.mark.parametrize(
        ("n_runs", "n_cells", "n_names", "name_effect"),
        [(1000, 8, 100, 0.3), (200, 4, 30, 0.0), (200, 2, 20, 0.0)],
    )
    def test_rankings_with_reused_names(self, n_runs, n_cells, n_names, name_effect):
        rng = np.random.default_rng(24)
        n_audits, covered = 200, np.zeros(2)
        for _ in range(n_audits):
            rankings = Rankings(rng, n_runs=n_runs, n_cells=n_cells, n_names=n_names, name_effect=name_effect)
            for column, (outcome, lowest) in enumerate([("rank", 1.0), ("top", 0.0)]):
                result = gap_of(
                    rankings.by_name(outcome, [[0], [1]]),
                    lowest=lowest,
                    highest=max(float(n_cells) * lowest, 1.0),
                )
                covered[column] += result.interval_low <= 0 <= result.interval_high
        assert (covered >= at_least(n_audits)).all()


class TestGapLimits:
    def test_without_permutations_value_and_interval_remain(self):
        result = gap_of(people([1, 1, 0, 0], [1, 0, 1, 1]))
        assert result.test is None
        assert np.isfinite([result.interval_low, result.interval_high]).all()

    def test_labels_that_cannot_move_are_not_tested_and_not_adjusted(self):
        result = gap_of(people([1, 1, 0, 0], [1, 0, 1, 1], jobs=[0, 0, 1, 1]), n_permutations=99)
        assert (result.gap, result.test) == (-0.5, None)
        assert np.isfinite(result.standard_error)
        assert np.isnan([result.adjusted_gap, result.adjusted_standard_error, result.adjusted_low]).all()

    def test_a_group_of_one_cluster_has_a_p_and_no_interval(self):
        for clusters in ([0, 1, 2, 3], [0, 1, 1, 1], [0, 0, 0, 0]):
            result = gap_of(units_of([1, 0, 0, 0], 0, clusters, 1, [1, 0, 1, 0]), n_permutations=99)
            assert 0 < result.test.p_value <= 1
            assert np.isnan([result.standard_error, result.interval_low, result.interval_high]).all()
            assert np.isnan([result.adjusted_standard_error, result.adjusted_high]).all()

    def test_resumes_that_lack_a_group_count_where_they_are(self):
        outcomes = levels(np.random.default_rng(25), 30, 0.3)
        whole = versions(outcomes)
        keep = ~((whole.clusters < 6) & (whole.design.labels == 1))
        part = units_of(
            whole.design.labels[keep], whole.design.strata[keep], whole.clusters[keep], 1, whole.total[keep]
        )
        result = gap_of(part, highest=2.0, n_permutations=199)
        everything = np.ones(part.n.size, dtype=bool)
        assert result.gap == pytest.approx(slow_gap(part, everything))
        assert result.adjusted_gap == pytest.approx(slow_adjusted_gap(part, everything))
        assert result.standard_error == pytest.approx(slow_jackknife_error(part, slow_gap, per_group=False))
        assert result.interval_low < result.gap < result.interval_high

    def test_an_absent_group_leaves_the_others_mean_alone(self):
        result = gap_of(people([0, 0], [1, 0]), n_permutations=99)
        assert (result.mean_reference, result.n_marked, result.n_reference, result.test) == (0.5, 0, 2, None)
        assert np.isnan([result.gap, result.mean_marked, result.standard_error, result.adjusted_gap]).all()

    def test_a_group_of_one_cluster_in_several_strata_has_no_adjusted_interval(self):
        # Thirds leave a trace of their weight when they are taken out one by one.
        units = units_of(
            np.tile([0, 1], 6),
            np.repeat(range(6), 2),
            [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6],
            [1, 2, 3, 7, 5, 2] * 2,
            0.5,
        )
        result = gap_of(units)
        assert result.adjusted_gap == pytest.approx(slow_adjusted_gap(units, np.ones(12, dtype=bool)))
        assert np.isnan([result.adjusted_standard_error, result.adjusted_low, result.adjusted_high]).all()

    def test_ends_lie_on_both_sides_however_unequal_clusters_are(self):
        rng = np.random.default_rng(26)
        for _ in range(200):
            n = rng.geometric(0.05, 12).astype(float)
            labels = np.concatenate([[0, 1], rng.integers(0, 2, 10)])
            clusters = np.concatenate([[0, 0], rng.integers(0, 4, 10)])
            result = gap_of(units_of(labels, 0, clusters, n, n * rng.integers(0, 2, 12)))
            assert (
                np.isnan(result.standard_error) or result.interval_low <= result.gap <= result.interval_high
            )

    def test_what_cannot_be_is_refused(self):
        with pytest.raises(ValueError, match=r"labels of a gap are 1 \(marked\) and 0 \(reference\)"):
            gap_of(people([0, 2], [0, 1]))
        with pytest.raises(ValueError, match=r"a unit's mean outcome lies outside 0\.0 to 1\.0"):
            gap_of(people([0, 1], [0, 2]))
        with pytest.raises(
            ValueError, match="outcomes run from a lowest to a larger highest value, not from 1 to 1"
        ):
            gap_of(people([0, 1], [1, 1]), lowest=1, highest=1)
        with pytest.raises(ValueError, match="n is above 0"):
            units_of([0, 1], 0, [0, 1], [1, 0], [1, 0])
        with pytest.raises(ValueError, match="total is a number for every unit"):
            units_of([0, 1], 0, [0, 1], 1, [1, np.nan])
        with pytest.raises(ValueError, match="n_candidates is 1 or more"):
            units_of([0, 1], 0, [0, 1], 1, 1, n_candidates=0)
        whole = people([0, 1], [0, 1])
        with pytest.raises(ValueError, match="of equal length"):
            replace(whole, n=np.ones(3))


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
        assert (row.ratio, row.interval_low, row.interval_high) == pytest.approx(
            (1.0, 1 - 0.03 / 0.4, 1 + 0.03 / 0.4)
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

    def test_rankings_of_two_beside_a_longer_one_keep_to_alpha(self):
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
        """Twelve sets, each with one best candidate whatever the order, asked 15 times: what wins is no matter of places."""
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
