"""Test the smallest detectable difference against Cohen's tables and simulated audits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from biasledger.measures.detectable import clear_with, detectable_effect, found_with


@pytest.mark.parametrize(
    ("n", "alpha", "d"), [(26, 0.05, 0.80), (64, 0.05, 0.50), (393, 0.05, 0.20), (95, 0.01, 0.50)]
)
def test_cohens_tables(n: int, alpha: float, d: float) -> None:
    """Cohen (1988), table 2.4.1: so many cases a side find d with a power of 0.80, two-sided."""
    effect = detectable_effect([(n, n)], alpha)
    assert effect is not None
    # The table is of t, the formula of z.
    assert math.isclose(effect, d, rel_tol=0.03)


def test_strata_add_up_and_those_with_one_side_alone_say_nothing() -> None:
    assert detectable_effect([(10, 10), (20, 20), (50, 0)], 0.05) == detectable_effect([(30, 30)], 0.05)


@pytest.mark.parametrize(
    ("strata", "is_found"),
    [
        ([(5, 5)], True),  # 2 of 252 arrangements
        ([(3, 3)], False),  # 2 of 20
        ([(1, 1)] * 5, False),  # 2 of 32
        ([(1, 1)] * 7, True),
        ([(9, 0)], False),
        ([], False),
    ],
)
def test_too_few_arrangements_find_nothing(strata: list[tuple[int, int]], is_found: bool) -> None:
    assert (detectable_effect(strata, 0.05) is not None) is is_found


def test_a_difference_of_that_size_is_found_as_often_as_said() -> None:
    n, alpha, rng = 40, 0.01, np.random.default_rng(20261122)
    effect = detectable_effect([(n, n)], alpha)
    assert effect is not None
    values = rng.normal(size=(2000, 2 * n))
    values[:, :n] += effect
    difference = values[:, :n].mean(axis=1) - values[:, n:].mean(axis=1)
    found = np.abs(difference) > 2.575829 * math.sqrt(2 / n)
    assert 0.77 < found.mean() < 0.83


@pytest.mark.parametrize(("distance", "n_tests"), [(0.05, 6), (0.6, 1)])
@pytest.mark.parametrize("two_sided", [True, False])
def test_a_difference_raises_an_alarm_as_often_as_said(
    distance: float, n_tests: int, two_sided: bool
) -> None:
    """By whichever of threshold and p decides."""
    error, alpha, rng = 0.1, 0.05, np.random.default_rng(20261127)
    effect = found_with(error, distance=distance, n_tests=n_tests, two_sided=two_sided, alpha=alpha)
    values = rng.normal(effect, error, 20_000)
    p = stats.norm.sf(values / error) * (2 if two_sided else 1)
    alarms = (values >= distance) & (p < alpha / n_tests)
    assert 0.79 < alarms.mean() < 0.81


@pytest.mark.parametrize("two_sided", [True, False])
def test_an_unbiased_target_is_clear_as_often_as_said(two_sided: bool) -> None:
    error, rng = clear_with(0.1, two_sided=two_sided, alpha=0.05), np.random.default_rng(20261127)
    values = rng.normal(0.0, error, 20_000)
    arm = 1.959964 * error
    clear = values + arm < 0.1
    if two_sided:
        clear &= values - arm > -0.1
    assert 0.79 < clear.mean() < 0.81
