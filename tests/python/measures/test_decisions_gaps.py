"""Test nulls, coverage and limits of gaps in decisions that depend on names, missing answers or few people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from biasledger.measures.engine.design import Moves
from biasledger.measures.gaps.permutations import StratifiedGap
from biasledger.measures.gaps.units import Units
from tests.python.measures.decisions_by_hand import (
    at_least,
    at_most,
    cells,
    gap_of,
    sample_of_people,
    slow_adjusted_gap,
    slow_gap,
    slow_jackknife_error,
)
from tests.python.measures.simulated_decisions import Rankings, levels, people, units_of, versions


def refusing(rng, *, refused=0.8) -> Units:
    """One group is refused on hard resumes only: the gap over all answers shows who was answered, the one inside shows none."""
    quality = rng.normal(0, 1, 120)
    levels_of = np.clip(np.round(1 + quality[:, None, None] + rng.normal(0, 0.5, (120, 2, 4))), 0, 2)
    is_answered = np.ones(levels_of.shape, dtype=bool)
    is_answered[:, 1] = rng.random((120, 4)) > np.where(quality < -0.3, refused, 0.0)[:, None]
    n, total = is_answered.sum(axis=2), (levels_of * is_answered).sum(axis=2)
    resumes, labels = np.nonzero(n)
    return units_of(labels, resumes, resumes, n[resumes, labels], total[resumes, labels])


class TestErrorOfClusters:
    @pytest.mark.parametrize("is_crossed", [False, True])
    def test_it_is_that_of_paired_differences(self, is_crossed):
        """A case each that holds both groups; or cases of both in one stratum."""
        rng = np.random.default_rng(60)
        marked, reference = rng.normal(0.3, 1, 7), rng.normal(0, 1, 7)
        cases = np.tile(np.arange(7), 2)
        strata = np.zeros(14, dtype=np.int64) if is_crossed else cases
        units = units_of(np.repeat([1, 0], 7), strata, cases, 1, np.concatenate([marked, reference]))
        moves = Moves.alone(units.design)
        gaps, errors = StratifiedGap.of(units, moves, cases, 1.0).values(units.design.labels[np.newaxis])
        paired = stats.ttest_rel(marked, reference)
        assert gaps[0] == pytest.approx((marked - reference).mean())
        assert gaps[0] / errors[0] == pytest.approx(paired.statistic)


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
        """Of 15 none is selected, of 300 three are: the likeliest that chance alone gives, and half of it counts."""
        result = gap_of(people(np.repeat([1, 0], [15, 300]), np.arange(315) >= 312), n_permutations=999)
        assert result.test.p_value > 0.4
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
            assert (result.n_names, result.test.p_value) == (2, max(result.p_case, result.p_name))
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
    """The effect of missing answers on the gap of all answers does not widen the gap inside resumes."""

    @pytest.mark.parametrize("missing", [[], [(3, 1)], [(0, 0), (3, 1), (8, 1)]])
    def test_resumes_never_treated_differently_leave_what_the_rule_of_three_leaves(self, missing):
        result = gap_of(paired_but_for(np.repeat([[0.0], [1.0]], 6, axis=0).repeat(2, axis=1), missing))
        bound = 1 - 0.025 ** (1 / (12 - len(missing)))
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
            half_width = max(
                stats.t.ppf(0.975, 119) * stats.sem(-lost), 1 - 0.025 ** (1 / 120) if not lost.any() else 0.0
            )
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


class TestCustomers:
    def test_who_is_asked_several_questions_moves_across_them(self):
        rng = np.random.default_rng(27)
        customers, questions = (places.ravel() for places in np.indices((16, 4)))
        n_audits, n_rejected, n_found = 60, 0, 0
        for _ in range(n_audits):
            own = rng.normal(0, 0.1, 16)[customers] + rng.normal(0, 0.02, customers.size)
            for shift in (0.0, 0.2):
                outcomes = np.clip(0.4 + own + shift * (customers % 2), 0, 1)
                units = replace(
                    units_of(customers % 2, questions, customers, 1, outcomes),
                    names=customers.astype(np.int64),
                )
                result = gap_of(units, n_permutations=99)
                assert np.isfinite(result.p_name)
                if shift:
                    n_found += result.test.p_value < 0.05
                else:
                    n_rejected += result.test.p_value < 0.05
        assert n_rejected <= at_most(n_audits)
        assert n_found >= 0.8 * n_audits

    def test_who_is_asked_one_question_moves_inside_it(self):
        units = replace(units_of([0, 1] * 6, [0, 0, 1, 1] * 3, range(12), 1, [0, 1] * 6), names=np.arange(12))
        assert units.by_name() is None


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


class TestCasesOfUnequalSizes:
    """Numbers of answers a case that differ much, and a gap that one case in five carries."""

    def units(self, seed, *, share, sd, n_cases=100):
        rng = np.random.default_rng(seed)
        n = np.repeat(np.maximum(np.round(3 * np.exp(rng.normal(0, sd, n_cases))), 1), 2)
        labels, cases = np.tile([0, 1], n_cases), np.repeat(np.arange(n_cases), 2)
        lowered = 0.5 * np.repeat(rng.random(n_cases) < share, 2) * labels
        outcomes = 0.2 + lowered + rng.normal(0, 0.02, n.size)
        return units_of(labels, cases, cases, n, outcomes * n)

    def is_clear(self, units):
        result = gap_of(units)
        return max(result.adjusted_high, -result.adjusted_low) < 0.1

    def test_a_gap_at_the_threshold_is_not_cleared(self):
        cleared = [self.is_clear(self.units(seed, share=0.2, sd=2)) for seed in range(200)]
        assert sum(cleared) <= stats.binom.ppf(0.999, 200, 0.025)
        fair = [self.is_clear(self.units(seed, share=0.0, sd=1.2)) for seed in range(50)]
        assert np.mean(fair) > 0.95

    def test_the_interval_is_that_of_both_gaps(self):
        units = self.units(1, share=0.2, sd=1)
        gaps, n = (units.total / units.n).reshape(-1, 2) @ [-1, 1], units.n[::2]
        # A case's answers about both groups are equally many, so the gap is the weighted mean of the cases' gaps.
        value = (n * gaps).sum() / n.sum()
        left_out = np.array([np.delete(n * gaps, i).sum() / np.delete(n, i).sum() for i in range(100)])
        reach = stats.t.ppf(0.975, 99) * np.array([stats.sem(100 * value - 99 * left_out), stats.sem(gaps)])
        found = gap_of(units)
        assert found.adjusted_gap == pytest.approx(value)
        assert found.adjusted_low == pytest.approx(min(value - reach[0], gaps.mean() - reach[1]))
        assert found.adjusted_high >= max(value + reach[0], gaps.mean() + reach[1]) - 1e-9


class TestFewNames:
    """Two to four names a group, which have too few arrangements: Welch's t over names."""

    def units(self, seed, *, n_names, name_sd, lowered=0.0):
        rng = np.random.default_rng(seed)
        effects = rng.normal(0, name_sd, (2, n_names)) - lowered * np.array([[0], [1]])
        outcomes = rng.normal(2, 0.5, (60, 1, 1)) + effects + rng.normal(0, 0.3, (60, 2, n_names))
        cases, labels, names = (at.ravel() for at in np.indices(outcomes.shape))
        units = units_of(labels, cases, cases, 1, np.clip(outcomes, 0, 4).ravel())
        return replace(units, names=labels * n_names + names)

    def test_p_is_welchs_over_the_names_means(self):
        units = self.units(3, n_names=3, name_sd=0.1, lowered=0.1)
        means = np.bincount(units.names, units.total) / 60
        found = gap_of(units, highest=4.0, n_permutations=99)
        assert found.p_name == pytest.approx(stats.ttest_ind(means[3:], means[:3], equal_var=False).pvalue)
        assert found.test.p_value == max(found.p_case, found.p_name)

    @pytest.mark.parametrize("n_names", [2, 4])
    def test_what_names_do_is_no_gap_and_a_gap_is_found(self, n_names):
        def found(**planted):
            results = [
                gap_of(self.units(seed, n_names=n_names, **planted), highest=4.0, n_permutations=99)
                for seed in range(100)
            ]
            return sum(one.test.p_value < 0.05 for one in results), sum(one.p_case < 0.05 for one in results)

        by_both, by_case = found(name_sd=0.2)
        assert by_both <= stats.binom.ppf(0.999, 100, 0.05) < by_case
        if n_names == 4:
            assert found(name_sd=0.1, lowered=0.4)[0] > 80


class TestNames:
    """A p-value has nothing of how groups are named: of the order of their units, or of which of them is the reference."""

    def people(self, seed: int, sizes: tuple[int, int]) -> Units:
        rng = np.random.default_rng(seed)
        labels, strata = np.repeat([0, 1], sizes), rng.integers(0, 3, sum(sizes))
        outcomes = rng.integers(0, 4, labels.size) + rng.integers(0, 2, labels.size) * labels
        return units_of(labels, strata, np.arange(labels.size), 1, outcomes / 4)

    @pytest.mark.parametrize("sizes", [(30, 30), (20, 45), (2500, 2600)])
    def test_order_and_sides_change_no_p(self, sizes: tuple[int, int]):
        units = self.people(3, sizes)
        order = np.random.default_rng(1).permutation(units.n.size)
        other = units_of(
            1 - units.design.labels[order],
            units.design.strata[order],
            units.clusters[order],
            1,
            units.total[order],
        )
        one, again = (gap_of(each, n_permutations=499, stop_after=None) for each in (units, other))
        assert one.test is not None
        assert again.test is not None
        assert one.test.p_value == again.test.p_value
        assert one.adjusted_gap == pytest.approx(-again.adjusted_gap)
