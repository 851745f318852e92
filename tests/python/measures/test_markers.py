"""Test stereotype ratios: the test that exchanges directions, its intervals, and data without markers or variance."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from biasledger.measures.markers import LARGEST_EXACT, RatioUnits, StereotypeRatio, stereotype_ratio


def units_of(ratios: list[float] | np.ndarray, clusters: list[int] | None = None) -> RatioUnits:
    values = np.asarray(ratios, dtype=float)
    return RatioUnits(
        np.arange(values.size) if clusters is None else np.asarray(clusters),
        np.ones(values.size),
        values,
        np.ones(values.size),
    )


def measure(ratios: list[float] | np.ndarray, **changes: int) -> StereotypeRatio:
    return stereotype_ratio(units_of(ratios), **{"n_permutations": 999, "alpha": 0.05, "seed": 7, **changes})


def test_all_exchanges_are_counted_for_few_units() -> None:
    ratios = [1.0, 1.0, 0.75, 0.2, 0.6]
    result = measure(ratios)
    means = [
        np.mean([ratio if keep else 1 - ratio for ratio, keep in zip(ratios, kept, strict=True)])
        for kept in itertools.product([True, False], repeat=5)
    ]
    assert result.test is not None
    assert result.test.p_value == np.mean(np.array(means) >= np.mean(ratios) - 1e-9)
    assert result.test.null_mean == 0.5
    assert result.test.null_sd == pytest.approx(np.std(means))
    assert (result.test.n_permutations, result.smallest_p) == (32, 1 / 32)


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=10))
def test_the_exact_test_is_that_of_scipy(ratios: list[float]) -> None:
    result = measure(ratios)
    assert result.test is not None
    if len(ratios) > 1:
        expected = stats.permutation_test(
            (np.array(ratios) - 0.5,), np.mean, permutation_type="samples", alternative="greater", n_resamples=np.inf
        )  # fmt: skip
        assert result.test.p_value == pytest.approx(expected.pvalue)
    assert result.test.p_value >= result.smallest_p


@pytest.mark.parametrize("n", [1, 2, 5, LARGEST_EXACT])
def test_units_that_all_lean_reach_the_smallest_p(n: int) -> None:
    result = measure([0.8] * n)
    assert result.test is not None
    assert result.test.p_value == result.smallest_p == 2.0**-n


def test_units_without_a_direction_make_p_no_smaller() -> None:
    alone, with_neutral = measure([0.9, 0.8, 0.7, 0.75]), measure([0.9, 0.8, 0.7, 0.75, 0.5, 0.5])
    assert alone.test is not None
    assert with_neutral.test is not None
    assert alone.test.p_value == with_neutral.test.p_value == 1 / 16
    assert with_neutral.smallest_p == 1 / 64
    assert with_neutral.n_units == 6
    neutral = measure([0.5] * 6)
    assert neutral.test is not None
    assert neutral.test.p_value == 1.0


def test_leaning_against_the_stereotype_is_not_extreme() -> None:
    result = measure([0.1] * 8)
    assert result.test is not None
    assert result.test.p_value == 1.0


def test_draws_agree_with_all_exchanges_and_with_themselves() -> None:
    ratios = np.random.default_rng(3).choice([0, 1 / 3, 0.5, 0.75, 1], 16)
    signs = 1 - 2.0 * ((np.arange(2**16)[:, np.newaxis] >> np.arange(16)) & 1)
    exact = ((signs @ (ratios - 0.5)) >= (ratios - 0.5).sum() - 1e-9).mean()
    result = measure(ratios, n_permutations=19_999)
    assert result.test is not None
    assert result.test.p_value == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000))
    assert result.test.null_mean == pytest.approx(0.5, abs=0.005)
    assert result.smallest_p == 1 / 20_000
    assert result == measure(ratios, n_permutations=19_999)


def test_no_test_without_permutations_and_nothing_without_units() -> None:
    untested = measure([0.9, 0.8], n_permutations=0)
    assert untested.test is None
    assert np.isnan(untested.smallest_p)
    assert untested.ratio == pytest.approx(0.85)
    empty = measure([])
    assert (empty.n_units, empty.test) == (0, None)
    assert np.isnan([empty.ratio, empty.interval_low, empty.interval_high, empty.smallest_p]).all()


def test_each_unit_counts_by_its_weight_however_many_answers_it_has() -> None:
    answers, ratios = np.array([10.0, 1.0]), np.array([10.0, 0.0])
    of_category = stereotype_ratio(
        RatioUnits(np.arange(2), answers, ratios, np.ones(2)), n_permutations=9, alpha=0.05, seed=1
    )
    assert (of_category.ratio, of_category.n, of_category.n_units) == (0.5, 11.0, 2)
    of_probe = stereotype_ratio(
        RatioUnits(np.arange(2), answers, ratios, answers), n_permutations=9, alpha=0.05, seed=1
    )
    assert (of_probe.ratio, of_probe.n_units) == (pytest.approx(10 / 11), 2)
    # (10, 1), (10, -1), (-10, 1) and (-10, -1) of 11: one of four reaches it, and the one that is further from even.
    assert of_probe.test is not None
    assert of_probe.test.p_value == 2 / 4


def test_weights_of_one_are_a_plain_mean_and_repeats_a_longer_unit() -> None:
    # Fourteen answers of a trial each, or one unit that counts fourteen times: the same mean, and no surer of it.
    apart = units_of([1.0] * 14 + [0.0] * 14)
    gathered = RatioUnits(np.arange(2), np.full(2, 14.0), np.array([14.0, 0.0]), np.full(2, 14.0))
    one, other = (
        stereotype_ratio(units, n_permutations=99, alpha=0.05, seed=1) for units in (apart, gathered)
    )
    assert one.ratio == other.ratio == 0.5
    assert other.standard_error == pytest.approx(stats.sem([1.0, 0.0]))
    assert one.standard_error == pytest.approx(stats.sem([1.0] * 14 + [0.0] * 14))


def test_the_standard_error_is_that_of_a_mean_over_units() -> None:
    ratios = [0.4, 0.6, 0.7, 0.5, 0.9, 0.55]
    result = measure(ratios)
    assert result.standard_error == pytest.approx(stats.sem(ratios))
    low, high = stats.t.interval(0.95, 5, np.mean(ratios), stats.sem(ratios))
    assert (result.interval_low, result.interval_high) == pytest.approx((low, high), abs=0.05)


def test_units_of_one_cluster_do_not_narrow_the_interval() -> None:
    ratios = np.random.default_rng(5).random(12)
    single = measure(ratios)
    doubled = stereotype_ratio(
        units_of(np.repeat(ratios, 2), list(np.repeat(np.arange(12), 2))),
        n_permutations=9,
        alpha=0.05,
        seed=1,
    )
    assert doubled.standard_error == pytest.approx(single.standard_error)
    assert doubled.interval_low == pytest.approx(single.interval_low)


@pytest.mark.parametrize("ratio", [1.0, 0.0, 0.6])
def test_without_variance_the_rule_of_three_holds(ratio: float) -> None:
    result = measure([ratio] * 10)
    unseen = 1 - 0.025 ** (1 / 10)
    assert (result.interval_low, result.interval_high) == pytest.approx(
        (max(ratio - unseen, 0), min(ratio + unseen, 1))
    )


def test_one_unit_has_no_interval() -> None:
    result = measure([0.8])
    assert np.isnan([result.standard_error, result.interval_low, result.interval_high]).all()


@pytest.mark.parametrize(
    ("n", "total", "says"),
    [
        ([1.0, 0.0], [0.5, 0.0], "without assessable answers"),
        ([1.0, 1.0], [0.5, 1.5], "outside 0 to 1"),
        ([1.0, 1.0], [0.5, np.nan], "outside 0 to 1"),
        ([1.0], [0.5, 0.5], "equal length"),
    ],
)
def test_impossible_units_are_refused(n: list[float], total: list[float], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        RatioUnits(np.arange(2), np.array(n), np.array(total), np.ones(2))


def test_a_unit_that_does_not_count_is_refused() -> None:
    with pytest.raises(ValueError, match="does not count"):
        RatioUnits(np.arange(2), np.ones(2), np.ones(2), np.array([1.0, 0.0]))


@pytest.mark.parametrize("n_units", [8, 24])
def test_directions_that_are_even_alarm_in_five_percent_and_intervals_hold_the_truth(n_units: int) -> None:
    rng = np.random.default_rng(11)
    n_runs, fired, held = 400, 0, 0
    for run in range(n_runs):
        # Markers of a unit agree with each other (a text says she twice), which the test must not mind.
        leaning = rng.choice([0.15, 0.5, 0.85], n_units)
        result = measure(rng.binomial(3, leaning) / 3, n_permutations=199, seed=run)
        assert result.test is not None
        fired += result.test.p_value <= 0.05
        held += result.interval_low <= 0.5 <= result.interval_high
    assert fired <= stats.binom.ppf(0.999, n_runs, 0.05)
    assert held >= stats.binom.ppf(0.001, n_runs, 0.95)


def test_a_preference_is_found() -> None:
    rng = np.random.default_rng(12)
    p_values = []
    for run in range(50):
        result = measure(rng.binomial(3, 0.85, 12) / 3, seed=run)
        assert result.test is not None
        p_values.append(result.test.p_value)
    assert np.mean(np.array(p_values) < 0.05) > 0.9
