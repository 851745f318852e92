"""Test limits of shares: normal theory in the middle, Clopper & Pearson with few clusters, the rule of three at the ends."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from biasledger.measures.engine.intervals import (
    difference_limits,
    half_widths_or_bounds,
    rule_of_three,
    share_limits,
    t_half_widths,
)


def limits(share, error, degrees, n_clusters, alpha=0.05):
    low, high = share_limits(
        np.array([share]), np.array([error]), np.array([degrees]), np.array([n_clusters]), alpha
    )
    return low[0], high[0]


def test_yes_or_no_answers_get_clopper_and_pearsons_limits():
    exact = stats.binomtest(7, 50).proportion_ci(0.95, method="exact")
    # So many degrees of freedom that Student's t is the normal distribution.
    assert limits(0.14, np.sqrt(0.14 * 0.86 / 50), 1e9, 50) == pytest.approx((exact.low, exact.high))


def test_in_the_middle_they_are_students():
    low, high = limits(0.5, 0.01, 30, 31)
    half_width = stats.t.ppf(0.975, 30) * 0.01
    assert (low, high) == pytest.approx((0.5 - half_width, 0.5 + half_width), abs=0.0005)
    assert t_half_widths(np.array(0.01), np.array(30.0), 0.05) == pytest.approx(half_width)


@pytest.mark.parametrize(("share", "error"), [(0.0, 0.0), (0.0, np.nan), (0.0, 0.1)])
def test_a_share_of_nothing_gets_the_rule_of_three(share, error):
    unseen = stats.binomtest(0, 30).proportion_ci(0.95, method="exact").high
    assert limits(share, error, np.nan, 30) == pytest.approx((0.0, unseen))
    assert limits(1 - share, error, np.nan, 30) == pytest.approx((1 - unseen, 1.0))


def test_a_share_that_does_not_vary_gets_it_on_both_sides():
    unseen = float(rule_of_three(30, 0.05))
    assert limits(0.4, 0.0, 1.0, 30) == pytest.approx((0.4 - unseen, 0.4 + unseen))


def test_an_unknown_error_gives_unknown_limits():
    assert np.isnan(limits(0.4, np.nan, np.nan, 30)).all()


def test_rule_of_three_is_what_none_of_n_leaves_possible():
    for alpha in (0.05, 0.01):
        bound = float(rule_of_three(200, alpha))
        assert stats.binom.pmf(0, 200, bound) == pytest.approx(alpha / 2)


def test_alpha_of_one_in_a_hundred_gives_longer_limits():
    assert limits(0.2, 0.05, 20, 21, alpha=0.01)[1] > limits(0.2, 0.05, 20, 21)[1]


def arms(share, error, share_error, expected_error, degrees=40, n_clusters=41):
    values = (share, error, share_error, expected_error, float(degrees), n_clusters)
    below, above = difference_limits(*(np.array([value]) for value in values), 0.05)
    return below[0], above[0]


def test_a_difference_of_shares_has_students_interval_in_the_middle():
    half_width = stats.t.ppf(0.975, 40) * 0.01
    # Correlated parts: each varies more than their difference.
    assert arms(0.5, 0.01, 0.02, 0.018) == pytest.approx((half_width, half_width), rel=0.02)


def test_a_known_expected_share_leaves_the_shares_own_limits():
    low, high = limits(0.05, 0.02, 40.0, 41)
    assert arms(0.05, 0.02, 0.02, 0.0) == pytest.approx((0.05 - low, high - 0.05))


def test_a_share_of_nothing_has_the_expected_shares_arm_below_and_both_above():
    half_width = stats.t.ppf(0.975, 40) * 0.01
    assert arms(0.0, 0.01, 0.0, 0.01) == pytest.approx(
        (half_width, np.hypot(half_width, float(rule_of_three(41, 0.05))))
    )


def test_a_difference_that_does_not_vary_gets_the_rule_of_three_and_an_unknown_one_nothing():
    assert arms(0.5, 0.0, 0.02, 0.02) == pytest.approx((float(rule_of_three(41, 0.05)),) * 2)
    assert np.isnan(arms(0.5, np.nan, np.nan, np.nan)).all()
    assert arms(1.0, np.nan, np.nan, np.nan, n_clusters=2) == pytest.approx((1 - sqrt(0.025), 0.0))


def test_half_widths_without_variance_are_the_rule_of_three():
    errors, degrees, n = np.array([0.1, 0.0, np.nan]), np.array([9.0, 9.0, 9.0]), np.array([10, 20, 10])
    found = half_widths_or_bounds(errors, degrees, n, 0.05, 3.0)
    expected = [stats.t.ppf(0.975, 9) * 0.1, 3.0 * rule_of_three(20, 0.05), np.nan]
    assert found == pytest.approx(expected, nan_ok=True)
