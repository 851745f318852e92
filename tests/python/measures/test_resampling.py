"""Test the engine's draws, one-sided and family tests and jackknives against theory or an independent computation."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import combinations
from math import comb, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats

from biasledger.measures.engine import resampling
from biasledger.measures.engine.design import Design, Labels, stable_seed
from biasledger.measures.engine.group_sums import group_sums
from biasledger.measures.engine.resampling import all_labels, permuted_labels
from biasledger.measures.engine.sums import group_totals
from tests.python.measures.designs import design_of

# Without a stop, all draws count.
family_permutation_test, family_permutation_tests, permutation_test, permutation_tests = (
    partial(test, stop_after=None)
    for test in (
        resampling.family_permutation_test,
        resampling.family_permutation_tests,
        resampling.permutation_test,
        resampling.permutation_tests,
    )
)


def all_draws(design: Design, n_permutations: int, seed: int) -> Labels:
    return np.concatenate(list(permuted_labels(design, n_permutations, seed)))


def mean_difference(values: np.ndarray, design: Design):
    """Marked minus reference mean of a value a unit; its statistic for the engine."""
    n_marked, n_reference, total = design.count(1), design.count(0), values.sum()

    def statistic(labels: Labels) -> np.ndarray:
        marked = labels.astype(np.float64) @ values
        return marked / n_marked - (total - marked) / n_reference

    return statistic


def compared(values: np.ndarray, design: Design, n: int, seed: int, stop_after: int | None = None):
    """The test of the difference of means in n draws."""
    statistic = mean_difference(values, design)
    return permutation_test(design, statistic, n_permutations=n, seed=seed, stop_after=stop_after)


class TestDesign:
    def test_labels_and_strata_of_different_length_are_refused(self):
        with pytest.raises(ValueError, match="of equal length"):
            Design(np.zeros(3, dtype=np.int8), np.zeros(2, dtype=np.int64))

    @pytest.mark.parametrize(
        ("labels", "strata", "can_move"),
        [
            ([1, 1, 0, 0], [0, 0, 1, 1], False),
            ([1, 0, 0, 0], [0, 0, 1, 1], True),
            ([1, 1, 1], [0, 0, 0], False),
            ([2, 1], [7, 7], True),
        ],
    )
    def test_labels_can_move_where_a_stratum_holds_two_groups(self, labels, strata, can_move):
        assert design_of(labels, strata).can_move() is can_move

    def test_within_crosses_strata_and_blocks(self):
        crossed = design_of([0, 1, 0, 1], [5, 5, 9, 9]).within(np.array([0, 1, 0, 0]))
        assert np.unique(crossed.strata).size == 3
        assert crossed.strata[2] == crossed.strata[3]


class TestStableSeed:
    def test_is_fixed_and_fits_a_signed_64_bit_column(self):
        assert stable_seed(1, "word_divergence", "words") == 5996414997442064177
        assert 0 <= stable_seed("x") < 2**63

    def test_parts_do_not_run_into_each_other(self):
        assert stable_seed("ab", "c") != stable_seed("a", "bc")


class TestPermutedLabels:
    @settings(max_examples=40, deadline=None, derandomize=True)
    @given(
        st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 4)), min_size=1, max_size=40),
        st.integers(0, 99),
    )
    def test_every_stratum_keeps_its_labels(self, units, seed):
        design = design_of([label for label, _ in units], [stratum for _, stratum in units])
        draws = all_draws(design, 20, seed)
        assert draws.shape == (20, design.n_units)
        for stratum in np.unique(design.strata):
            inside = design.strata == stratum
            expected = np.sort(design.labels[inside])
            assert (np.sort(draws[:, inside], axis=1) == expected).all()

    def test_every_arrangement_is_equally_likely(self):
        design = design_of([1, 1, 0, 0, 1, 0, 0], [4, 2, 4, 2, 2, 2, 4])
        n_arrangements = comb(3, 1) * comb(4, 2)
        counts = Counter(map(tuple, all_draws(design, 9000, seed=3).tolist()))
        assert len(counts) == n_arrangements
        assert stats.chisquare(list(counts.values())).pvalue > 0.001

    def test_same_seed_gives_the_same_draws_however_many_are_asked(self):
        design = design_of(np.arange(30) % 3, np.arange(30) // 10)
        few, many = all_draws(design, 300, seed=8), all_draws(design, 900, seed=8)
        assert (many[:300] == few).all()
        assert (all_draws(design, 300, seed=9) != few).any()

    @pytest.mark.parametrize("n_strata", [1, 7, 60])
    def test_a_draw_ranks_random_numbers_inside_every_stratum(self, n_strata):
        rng = np.random.default_rng(2)
        design = design_of(rng.integers(0, 5, 90), rng.integers(-3, n_strata, 90))
        order = np.argsort(design.strata, kind="stable")
        # A stratum's labels are shuffled from one order, in which the group comes first that has fewest of the first strata.
        counts = [
            [np.sum(design.labels[design.strata == one] == k) for one in np.unique(design.strata)]
            for k in range(5)
        ]
        ranks = np.argsort(sorted(range(5), key=lambda k: np.array(counts[k]).tobytes()))[design.labels]
        shuffled_from = design.labels[np.lexsort((ranks, design.strata))]
        for block, labels in enumerate(permuted_labels(design, 300, seed=4)):
            numbers = np.random.Generator(np.random.PCG64(np.random.SeedSequence([4, block]))).random(
                labels.shape
            )
            for row, drawn in zip(numbers, labels, strict=True):
                expected = np.empty(90, dtype=np.int8)
                for stratum in np.unique(design.strata):
                    inside = design.strata[order] == stratum
                    expected[order[inside]] = shuffled_from[inside][np.argsort(row[inside])]
                assert (drawn == expected).all()

    def test_blocks_shrink_where_units_are_very_many(self, monkeypatch):
        monkeypatch.setattr(resampling, "_MAX_BLOCK_CELLS", 100)
        blocks = list(permuted_labels(design_of(np.arange(30) % 2), 10, seed=1))
        assert [len(block) for block in blocks] == [3, 3, 3, 1]
        assert len(np.unique(np.concatenate(blocks), axis=0)) == 10


class TestParts:
    """Computing a few arrangements at a time gives the same as all at once."""

    def test_a_family_s_draws_are_the_same_in_any_parts(self, monkeypatch):
        design = design_of([0, 1] * 12)
        features = np.random.default_rng(2).normal(size=(24, 7))

        def found():
            return family_permutation_test(
                design,
                lambda labels: labels.astype(float) @ features,
                n_permutations=300,
                alpha=0.05,
                seed=4,
                stop_after=None,
            )

        whole = found()
        assert whole.n_permutations == 300
        for n_cells in (1, 50, 700):
            monkeypatch.setattr(resampling, "_CACHED_SUMS", n_cells)
            parts = found()
            assert parts.p_value.tolist() == whole.p_value.tolist()
            assert parts.p_value_adjusted.tolist() == whole.p_value_adjusted.tolist()
            assert parts.critical_value == whole.critical_value


def test_group_totals_are_the_sums_of_each_labels_units():
    rng = np.random.default_rng(0)
    values = rng.normal(size=9)
    labels = rng.integers(0, 4, size=(5, 9)).astype(np.int8)
    expected = [[sum(values[row == group]) for group in range(6)] for row in labels]
    assert group_totals(labels, values, 6) == pytest.approx(np.array(expected))


class TestPermutationTest:
    def test_agrees_with_exact_enumeration(self):
        rng = np.random.default_rng(5)
        values = np.concatenate([rng.normal(0.8, 1, 6), rng.normal(0, 1, 6)])
        design = design_of([1] * 6 + [0] * 6)
        exact = stats.permutation_test(
            (values[:6], values[6:]),
            lambda a, b: a.mean() - b.mean(),
            alternative="greater",
            n_resamples=np.inf,
        )
        result = compared(values, design, 20_000, 2)
        assert 0.02 < exact.pvalue < 0.5
        assert result.p_value == pytest.approx(exact.pvalue, abs=4 * sqrt(exact.pvalue / 20_000))
        assert result.observed == pytest.approx(exact.statistic)
        assert result.null_mean == pytest.approx(
            exact.null_distribution.mean(), abs=4 * result.null_sd / sqrt(20_000)
        )
        assert result.null_sd == pytest.approx(exact.null_distribution.std(), rel=0.02)
        assert result.debiased == result.observed - result.null_mean

    def test_strata_hold_what_they_explain(self):
        strata = np.repeat([0, 1], 20)
        values = 10.0 * strata + np.random.default_rng(1).normal(size=40)
        labels = np.concatenate([[1] * 4 + [0] * 16, [1] * 16 + [0] * 4])
        free, held = design_of(labels), design_of(labels, strata)
        p_free = compared(values, free, 499, 1).p_value
        p_held = compared(values, held, 499, 1).p_value
        assert p_free == 1 / 500
        assert p_held > 0.05

    def test_p_is_uniform_under_the_null(self):
        rng = np.random.default_rng(11)
        strata = np.repeat([0, 1, 2], 10)
        p_values = []
        for seed in range(300):
            design = design_of(np.tile([1, 0, 0, 1, 0], 6), strata)
            values = rng.normal(size=30) + strata
            p_values.append(compared(values, design, 199, seed).p_value)
        assert stats.kstest(p_values, "uniform").pvalue > 0.01

    def test_ties_count_as_reached(self):
        design = design_of([1, 0, 1, 0])
        result = permutation_test(design, lambda labels: np.ones(len(labels)), n_permutations=99, seed=1)
        assert result.p_value == 1.0

    def test_undefined_values_never_make_p_small(self):
        design = design_of([1, 0, 1, 0])
        result = permutation_test(
            design, lambda labels: np.full(len(labels), np.nan), n_permutations=99, seed=1
        )
        assert result.p_value == 1.0

    def test_stops_at_the_h_th_exceedance_with_p_h_over_l(self):
        rng = np.random.default_rng(4)
        values = rng.normal(size=40)
        design = design_of(np.arange(40) % 2)
        statistic = mean_difference(values, design)
        result = permutation_test(design, statistic, n_permutations=5000, seed=6, stop_after=20)
        observed = statistic(design.labels[np.newaxis])[0]
        hits, drawn = 0, 0
        for labels in all_draws(design, 5000, seed=6):
            drawn += 1
            hits += statistic(labels[np.newaxis])[0] >= observed
            if hits == 20:
                break
        assert result.is_stopped_early
        assert (result.n_permutations, result.p_value) == (drawn, 20 / drawn)

    def test_without_enough_exceedances_every_draw_is_made(self):
        design = design_of([1] * 10 + [0] * 10)
        values = np.arange(20.0)[::-1]
        result = compared(values, design, 300, 1, stop_after=20)
        assert (result.is_stopped_early, result.n_permutations, result.p_value) == (False, 300, 1 / 301)

    def test_p_stays_valid_under_early_stopping(self):
        rng = np.random.default_rng(12)
        design = design_of(np.arange(16) % 2)
        p_values = np.array(
            [compared(rng.normal(size=16), design, 199, seed, stop_after=5).p_value for seed in range(1500)]
        )
        for alpha in (0.05, 0.1, 0.25):
            assert (p_values <= alpha).mean() <= alpha + 3 * sqrt(alpha * (1 - alpha) / p_values.size)
        assert (p_values <= 0.05).mean() > 0.02


class TestPermutationTests:
    @pytest.mark.parametrize("stop_after", [None, 30])
    def test_each_statistic_gets_what_it_gets_alone(self, stop_after):
        rng = np.random.default_rng(3)
        design = design_of(np.arange(40) % 2, np.arange(40) // 8)
        values = rng.normal(size=(3, 40))
        values[1] += design.labels
        single = [mean_difference(row, design) for row in values]
        together = permutation_tests(
            design,
            lambda labels: np.column_stack([statistic(labels) for statistic in single]),
            n_permutations=1500,
            seed=5,
            stop_after=stop_after,
        )
        alone = [
            permutation_test(design, statistic, n_permutations=1500, seed=5, stop_after=stop_after)
            for statistic in single
        ]
        assert together == alone
        assert [result.is_stopped_early for result in alone] == [
            stop_after is not None,
            False,
            stop_after is not None,
        ]

    def test_draws_end_once_every_statistic_has_stopped(self):
        blocks = []

        def statistics(labels: Labels) -> np.ndarray:
            blocks.append(len(labels))
            return np.ones((len(labels), 2))

        results = permutation_tests(
            design_of([1, 0] * 10), statistics, n_permutations=5000, seed=1, stop_after=300
        )
        assert [result.n_permutations for result in results] == [300, 300]
        assert blocks == [1, 256, 256]


def feature_sums(features: np.ndarray):
    matrix = sparse.csr_array(features)
    return lambda labels: group_sums(labels, matrix)


def family_of(design: Design, features: np.ndarray, n: int, seed: int, stop_after: int | None = None):
    """The test of the sums of features in n draws."""
    return family_permutation_test(
        design, feature_sums(features), n_permutations=n, alpha=0.05, seed=seed, stop_after=stop_after
    )


def slow_step_down(design: Design, features: np.ndarray, n_permutations: int, seed: int):
    """Westfall & Young's step-down max-T as their algorithm 4.1 words it, one draw and one feature at a time."""
    statistic = feature_sums(features)
    pilot = statistic(all_draws(design, min(n_permutations, 512), stable_seed(seed, "pilot")))
    means, sds = pilot.mean(axis=0), pilot.std(axis=0, ddof=1)
    observed = np.abs(statistic(design.labels[np.newaxis])[0] - means) / sds
    ranking = sorted(range(observed.size), key=lambda feature: -observed[feature])
    own, family = np.zeros(observed.size), np.zeros(observed.size)
    for labels in all_draws(design, n_permutations, seed):
        drawn = np.abs(statistic(labels[np.newaxis])[0] - means) / sds
        for rank, feature in enumerate(ranking):
            own[feature] += drawn[feature] >= observed[feature] - 1e-9
            family[feature] += max(drawn[other] for other in ranking[rank:]) >= observed[feature] - 1e-9
    adjusted, largest = np.empty(observed.size), 0.0
    for feature in ranking:
        largest = max(largest, (1 + family[feature]) / (n_permutations + 1))
        adjusted[feature] = largest
    return observed, (1 + own) / (n_permutations + 1), adjusted


class TestFamilyPermutationTest:
    def simulated(self, seed: int, n_features: int = 8, effect: float = 0.0) -> tuple[Design, np.ndarray]:
        rng = np.random.default_rng(seed)
        design = design_of(np.arange(36) % 2, np.arange(36) // 12)
        features = rng.poisson(2.0, size=(36, n_features)).astype(float)
        features[:, 1] += features[:, 0]
        features[:, 2] += rng.poisson(effect, size=36) * design.labels
        return design, features

    def test_agrees_with_a_slow_step_down(self):
        design, features = self.simulated(3, effect=3.0)
        result = family_of(design, features, 400, 4)
        _, p_values, adjusted = slow_step_down(design, features, 400, 4)
        assert result.p_value == pytest.approx(p_values, abs=1e-12)
        assert result.p_value_adjusted == pytest.approx(adjusted, abs=1e-12)
        assert adjusted.min() < 0.05 < adjusted.max()

    def test_a_family_of_one_is_the_plain_test(self):
        design, features = self.simulated(5)
        statistic = feature_sums(features[:, :1])
        family = family_permutation_test(design, statistic, n_permutations=300, alpha=0.05, seed=7)
        plain = permutation_test(
            design,
            lambda labels: np.abs(statistic(labels)[:, 0] - family.null_mean[0]),
            n_permutations=300,
            seed=7,
        )
        assert family.p_value[0] == family.p_value_adjusted[0] == plain.p_value

    @settings(max_examples=15, deadline=None, derandomize=True)
    @given(st.integers(0, 10_000), st.floats(0, 2))
    def test_adjusted_values_follow_the_theory(self, seed, effect):
        design, features = self.simulated(seed, effect=effect)
        result = family_of(design, features, 99, seed)
        observed = (
            np.abs(feature_sums(features)(design.labels[np.newaxis])[0] - result.null_mean) / result.null_sd
        )
        assert (result.p_value_adjusted >= result.p_value).all()
        assert (np.diff(result.p_value_adjusted[np.argsort(observed)]) <= 0).all()
        # The largest of several reaches a bound no more often than all of them together do: Bonferroni is the limit.
        hits = result.p_value * 100 - 1
        assert result.p_value_adjusted[observed.argmax()] * 100 - 1 <= hits.sum() + 1e-9

    def test_features_without_spread_are_not_tested(self):
        design, features = self.simulated(8)
        with_constant = np.column_stack([features, np.zeros(36)])
        result = family_of(design, with_constant, 99, 1)
        alone = family_of(design, features, 99, 1)
        assert np.isnan([result.p_value[-1], result.p_value_adjusted[-1]]).all()
        assert result.p_value_adjusted[:-1].tolist() == alone.p_value_adjusted.tolist()

    def test_nothing_to_test_gives_no_p_and_no_draws(self):
        result = family_permutation_test(
            design_of([1, 0, 1, 0]), feature_sums(np.zeros((4, 2))), n_permutations=99, alpha=0.05, seed=1
        )
        assert np.isnan(result.p_value_adjusted).all()
        assert np.isnan(result.critical_value)
        assert result.n_permutations == 0

    def test_expanded_leaves_other_features_untested(self):
        design, features = self.simulated(9, n_features=3)
        result = family_of(design, features, 99, 1)
        wide = result.expanded(np.array([0, 2, 4]), 5)
        assert wide.p_value[[0, 2, 4]].tolist() == result.p_value.tolist()
        assert np.isnan(wide.null_sd[[1, 3]]).all()

    @pytest.mark.parametrize("effect", [0.0, 0.5, 1.0, 1.5])
    def test_bands_and_p_values_agree(self, effect):
        design, features = self.simulated(10, effect=effect)
        result = family_of(design, features, 199, 3)
        observed = feature_sums(features)(design.labels[np.newaxis])[0]
        excludes_null = np.abs(observed - result.null_mean) > result.critical_value * result.null_sd
        assert excludes_null.any() == (result.p_value_adjusted.min() <= 0.05)

    def test_too_few_draws_give_no_finite_band(self):
        design, features = self.simulated(10)
        result = family_of(design, features, 18, 3)
        assert result.critical_value == np.inf

    @pytest.mark.parametrize("stop_after", [None, 10])
    def test_family_wise_error_is_held(self, monkeypatch, stop_after):
        monkeypatch.setattr(resampling, "_BLOCK", 40)
        smallest = []
        for seed in range(250):
            design, features = self.simulated(seed, n_features=25)
            result = family_of(design, features, 240, seed, stop_after=stop_after)
            smallest.append(result.p_value_adjusted.min())
        assert (np.array(smallest) <= 0.05).mean() <= 0.05 + 3 * sqrt(0.05 * 0.95 / 250)
        assert (np.array(smallest) <= 0.5).mean() > 0.35

    def test_stops_once_the_most_extreme_feature_is_plainly_ordinary(self):
        design, features = self.simulated(21)
        result = family_of(design, features, 5000, 1, stop_after=50)
        assert result.is_stopped_early
        assert result.n_permutations % 256 == 0
        first_draws = family_of(design, features, result.n_permutations, 1)
        # The pilot of 512 draws is shorter where fewer are asked; otherwise both rest on the same draws.
        if result.n_permutations >= 512:
            assert result.p_value.tolist() == first_draws.p_value.tolist()
        assert result.p_value_adjusted.min() >= 51 / (result.n_permutations + 1)


FAMILY_SETTINGS = {"n_permutations": 1500, "alpha": 0.05, "seed": 5}


class TestFamilyPermutationTests:
    def family(self, seed: int = 0, shift: float = 0.0):
        rng = np.random.default_rng(seed)
        design = design_of(np.repeat([0, 1], 12))
        features = rng.normal(size=(24, 6))
        features[12:, :2] += shift
        return design, features

    def test_every_family_is_its_own_test_on_the_same_draws(self):
        design, features = self.family(shift=1.5)
        families = [np.array([0, 1, 2]), np.array([5]), slice(2, 6)]
        together = family_permutation_tests(
            design, feature_sums(features), families, stop_after=50, **FAMILY_SETTINGS
        )
        for family, result in zip(families, together, strict=True):
            alone = family_permutation_test(
                design, feature_sums(features[:, family]), stop_after=50, **FAMILY_SETTINGS
            )
            assert (result.n_blocks, alone.n_blocks) == (None, None)
            for name, value in vars(alone).items():
                if name != "n_blocks":
                    np.testing.assert_allclose(getattr(result, name), value, rtol=1e-9)
        assert len({result.n_permutations for result in together}) > 1

    def test_a_draw_without_a_value_counts_as_one_that_reached_it(self):
        design, features = self.family(shift=2.0)
        sums = feature_sums(features)

        def with_holes(labels: Labels) -> np.ndarray:
            values = sums(labels)
            # The first feature is undefined in every arrangement that leaves unit 0 unmarked, but the observed one.
            is_observed = (labels == design.labels).all(axis=1)
            values[(labels[:, 0] == 0) & ~is_observed, 0] = np.nan
            return values

        whole = family_permutation_test(design, sums, **FAMILY_SETTINGS)
        holed = family_permutation_test(design, with_holes, **FAMILY_SETTINGS)
        assert whole.p_value[0] < 0.01
        assert holed.p_value[0] == pytest.approx(0.5, abs=0.05)
        np.testing.assert_array_equal(holed.p_value[1:], whole.p_value[1:])
        # Features more extreme than an undefined one may not gain by it; less extreme ones never compete with it.
        assert (holed.p_value_adjusted >= whole.p_value_adjusted - 1e-12).all()

    def test_a_feature_that_the_observed_labels_leave_undefined_is_not_tested(self):
        design, features = self.family()
        sums = feature_sums(features)

        def without_third(labels: Labels) -> np.ndarray:
            values = sums(labels)
            values[(labels == design.labels).all(axis=1), 2] = np.nan
            values[:, 4] = np.nan
            return values

        result = family_permutation_test(design, without_third, **FAMILY_SETTINGS)
        assert np.flatnonzero(np.isnan(result.p_value)).tolist() == [2, 4]
        rest = family_permutation_test(design, feature_sums(features[:, [0, 1, 3, 5]]), **FAMILY_SETTINGS)
        np.testing.assert_allclose(result.p_value_adjusted[[0, 1, 3, 5]], rest.p_value_adjusted)


def test_exhaustive_mean_of_the_null_is_what_the_engine_estimates():
    values = np.array([3.0, 1.0, 4.0, 1.5, 9.0])
    design = design_of([1, 1, 0, 0, 0])
    sums = [values[list(chosen)].sum() for chosen in combinations(range(5), 2)]
    result = permutation_test(
        design, lambda labels: labels.astype(float) @ values, n_permutations=8000, seed=1
    )
    assert result.null_mean == pytest.approx(np.mean(sums), abs=4 * np.std(sums) / sqrt(8000))
    assert result.null_sd == pytest.approx(np.std(sums), rel=0.03)


class TestAllArrangements:
    """No more arrangements than draws: each counts once, whatever the seed, the order of units and the groups' names."""

    @pytest.mark.parametrize(
        ("labels", "strata", "n"),
        [
            ([0] * 5 + [1] * 5, 0, comb(10, 5)),
            ([2, 0, 1, 1, 0, 2, 0], [0, 0, 0, 1, 1, 1, 5], 36),
            ([0, 1, 1, 0, 0, 0], [3, 3, 1, 1, 2, 2], 4),
            ([0, 0], 0, 1),
            ([0, 2, 1, 0, 2], [0, 0, 1, 1, 1], 12),
        ],
    )
    def test_each_comes_once(self, labels, strata, n):
        design = design_of(labels, strata)
        found = all_labels(design, n)
        assert len(found) == len(np.unique(found, axis=0)) == n
        assert (found == design.labels).all(axis=1).sum() == 1
        for stratum in np.unique(design.strata):
            inside = design.strata == stratum
            assert (np.sort(found[:, inside], axis=1) == np.sort(design.labels[inside])).all()
        assert all_labels(design, n - 1) is None

    def test_p_is_scipys_exact_one(self):
        rng = np.random.default_rng(3)
        values = np.round(rng.normal(size=10), 1)
        design = design_of([0] * 5 + [1] * 5)
        exact = stats.permutation_test(
            (values[5:], values[:5]), lambda a, b, axis: a.mean(axis) - b.mean(axis), vectorized=True,
            n_resamples=np.inf, alternative="greater",
        )  # fmt: skip
        found = compared(values, design, 1999, 1, stop_after=5)
        assert found.p_value == pytest.approx(exact.pvalue)
        assert (found.n_permutations, found.is_stopped_early) == (252, False)
        assert found.null_mean == pytest.approx(exact.null_distribution.mean())

    def test_order_names_and_seed_change_nothing(self):
        rng = np.random.default_rng(4)
        values = rng.normal(size=(12, 3))
        labels, strata = np.tile([0, 1], 6), np.repeat([0, 1], 6)

        def tested(order, swapped, seed):
            design = design_of(np.abs(labels - swapped)[order], strata[order])

            def statistic(given):
                marked = given.astype(np.float64) @ values[order]
                return np.abs(marked / 6 - (values.sum(axis=0) - marked) / 6)

            one = permutation_tests(design, statistic, n_permutations=999, seed=seed, stop_after=10)
            many = family_permutation_test(
                design, statistic, n_permutations=999, alpha=0.05, seed=seed, stop_after=10
            )
            return [test.p_value for test in one], many.p_value_adjusted, many.critical_value

        first = tested(np.arange(12), 0, 1)
        again = tested(rng.permutation(12), 1, 2)
        for one, other in zip(first, again, strict=True):
            assert one == pytest.approx(other)

    def test_the_band_and_the_adjusted_p_of_a_family_agree(self):
        rng = np.random.default_rng(5)
        agreed = 0
        for seed in range(60):
            values = rng.normal(size=(10, 4)) + np.repeat([0, 1.2], 5)[:, np.newaxis]
            design = design_of([0] * 5 + [1] * 5)

            def statistic(given, of=values):
                return given.astype(np.float64) @ of

            found = family_permutation_test(design, statistic, n_permutations=999, alpha=0.05, seed=seed)
            sizes = np.abs(statistic(design.labels[np.newaxis])[0] - found.null_mean) / found.null_sd
            assert (found.p_value_adjusted.min() <= 0.05) == (sizes.max() > found.critical_value)
            agreed += found.p_value_adjusted.min() <= 0.05
        assert 0 < agreed < 60

    def test_too_few_arrangements_leave_bands_without_an_end(self):
        design = design_of([0, 0, 1, 1])
        found = family_permutation_test(
            design, lambda given: given @ np.eye(4)[:, :2], n_permutations=999, alpha=0.05, seed=1
        )
        assert np.isinf(found.critical_value)
        assert found.p_value_adjusted.min() >= 1 / 6


def test_all_arrangements_give_a_family_the_null_sd_of_a_single_test():
    design, values = design_of([0, 0, 0, 1, 1, 1]), np.random.default_rng(3).normal(size=6)

    def sums(labels):
        return (labels.astype(np.float64) @ values)[:, np.newaxis]

    family = family_permutation_test(design, sums, n_permutations=99, alpha=0.05, seed=1)
    one = permutation_test(design, lambda labels: sums(labels)[:, 0], n_permutations=99, seed=1)
    assert family.null_sd[0] == pytest.approx(one.null_sd)
    assert family.null_sd[0] == pytest.approx(np.std(sums(all_labels(design, 99))))
