"""Test the change of a gap between two runs against paired t tests, and how often it is called worse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from biasledger.measures.engine.design import Design
from biasledger.measures.gaps.changes import SharedUnits, gap_change
from biasledger.measures.gaps.units import Units
from tests.python.measures.designs import design_of

TOLERANCE = 0.02


def _cases(before: np.ndarray, after: np.ndarray, names: np.ndarray | None = None) -> SharedUnits:
    """Scores (n_cases, 2) of one answer a case and group; column 1 is the marked group."""
    n = before.size
    cases = np.repeat(np.arange(len(before)), 2)
    labels = np.tile(np.array([0, 1], dtype=np.int8), len(before))
    units = Units(Design(labels, cases), cases, np.ones(n), after.ravel(), names=names)
    return SharedUnits(units, np.ones(n), before.ravel(), scale=1.0)


def _people(before: np.ndarray, after: np.ndarray, labels: np.ndarray) -> SharedUnits:
    n = before.size
    units = Units(design_of(labels), np.arange(n), np.ones(n), after)
    return SharedUnits(units, np.ones(n), before, scale=1.0)


def test_cases_with_one_answer_a_group_give_the_paired_t_test() -> None:
    rng = np.random.default_rng(1)
    before, after = rng.normal(0.5, 0.1, (2, 30, 2))
    found = gap_change(_cases(before, after), alpha=0.05)
    assert found is not None
    gaps, other = before[:, 1] - before[:, 0], after[:, 1] - after[:, 0]
    expected = stats.ttest_rel(other, gaps)
    assert found.shared_value - found.shared_baseline_value == pytest.approx((other - gaps).mean())
    assert found.shared_baseline_value == pytest.approx(gaps.mean())
    assert (found.shared_value - found.shared_baseline_value) / found.shared_error == pytest.approx(
        expected.statistic
    )
    assert found.shared_degrees == expected.df == 29
    low, high = expected.confidence_interval(0.95)
    assert found.shared_half_width == pytest.approx((high - low) / 2)
    assert (found.n_shared, found.by) == (30, "case")


def test_people_of_their_own_group_give_welch_s_test_of_their_differences() -> None:
    rng = np.random.default_rng(2)
    labels = np.repeat([0, 1], [25, 40])
    before = rng.normal(0.5, 0.1, 65)
    after = before + rng.normal(0, 0.02, 65) * (1 + labels) - 0.1 * labels
    found = gap_change(_people(before, after, labels), alpha=0.05)
    assert found is not None
    change = after - before
    expected = stats.ttest_ind(change[labels == 1], change[labels == 0], equal_var=False)
    difference = found.shared_value - found.shared_baseline_value
    assert difference / found.shared_error == pytest.approx(expected.statistic)
    assert found.shared_degrees == pytest.approx(expected.df)
    assert found.n_shared == 25


def test_a_unit_weighs_the_same_in_both_runs() -> None:
    """Four answers about one case in one run, and one in the other, shift no weight between cases."""
    rng = np.random.default_rng(3)
    before, after = rng.normal(0.5, 0.1, (2, 20, 2))
    shared = _cases(before, after)
    n = rng.integers(1, 5, 40).astype(float)
    uneven = replace(shared, n_before=n, total_before=shared.total_before * n)
    found, even = gap_change(uneven, alpha=0.05), gap_change(shared, alpha=0.05)
    assert found is not None
    assert even is not None
    # The same model with other numbers of answers has no change.
    same = _cases(before, before)
    unchanged = gap_change(replace(same, n_before=n, total_before=same.total_before * n), alpha=0.05)
    assert unchanged is not None
    assert unchanged.shared_value == pytest.approx(unchanged.shared_baseline_value)


def test_equal_changes_have_the_rule_of_three() -> None:
    before = np.random.default_rng(4).normal(0.5, 0.1, (30, 2))
    found = gap_change(_cases(before, before), alpha=0.05)
    assert found is not None
    assert found.shared_half_width == pytest.approx(1 - 0.025 ** (1 / 30))


def test_nothing_is_said_of_one_case_or_of_one_group() -> None:
    before = np.full((1, 2), 0.5)
    assert gap_change(_cases(before, before), alpha=0.05) is None
    assert gap_change(_people(np.full(4, 0.5), np.full(4, 0.5), np.ones(4)), alpha=0.05) is None


def test_names_whose_changes_differ_make_the_interval_longer() -> None:
    rng = np.random.default_rng(5)
    n_cases, n_names = 60, 6
    names = rng.integers(0, n_names, (n_cases, 2)) + np.array([0, n_names])
    before = rng.normal(0.5, 0.02, (n_cases, 2))
    effects = rng.normal(0, 0.2, 2 * n_names)
    alike = gap_change(_cases(before, before + rng.normal(0, 0.02, before.shape)), alpha=0.05)
    found = gap_change(_cases(before, before + effects[names], names.ravel()), alpha=0.05)
    assert alike is not None
    assert found is not None
    assert found.by == "name"
    by_cases = gap_change(_cases(before, before + effects[names]), alpha=0.05)
    assert by_cases is not None
    assert found.shared_half_width > 1.5 * by_cases.shared_half_width
    assert found.shared_degrees < n_names * 2


def _is_worse(shared: SharedUnits) -> bool:
    """Whether `int_run_comparisons` calls a single comparison worse."""
    found = gap_change(shared, alpha=0.05)
    assert found is not None
    worsening = abs(found.shared_value) - abs(found.shared_baseline_value)
    t = max(worsening - TOLERANCE, 0) / found.shared_error
    return bool(2 * stats.t.sf(t, found.shared_degrees) < 0.05)


def _audit(rng: np.random.Generator, gap: float, later: float, n: int = 30) -> SharedUnits:
    """Resumes whose own gaps differ, asked once in each run."""
    own = rng.normal(gap, 0.3, n)
    level = rng.normal(0, 0.5, n)
    runs = [
        np.column_stack([level, level + own + change]) + rng.normal(0, 0.08, (n, 2)) for change in (0, later)
    ]
    return _cases(runs[0], runs[1])


@pytest.mark.parametrize("gap", [0.0, -0.3])
def test_the_same_target_asked_again_is_seldom_worse(gap: float) -> None:
    rng = np.random.default_rng(6)
    n = sum(_is_worse(_audit(rng, gap, 0.0)) for _ in range(300))
    assert n <= 15


def test_a_worse_target_is_found_and_one_at_the_tolerance_is_not() -> None:
    rng = np.random.default_rng(7)
    assert sum(_is_worse(_audit(rng, -0.3, -0.12)) for _ in range(200)) >= 170
    assert sum(_is_worse(_audit(rng, -0.3, -TOLERANCE)) for _ in range(400)) <= 20
    assert not any(_is_worse(_audit(rng, -0.3, 0.2)) for _ in range(100))


def test_people_whose_answers_never_change_in_one_run_are_compared() -> None:
    """Binary outcomes with a size of 5 % at most, also where few people change."""
    rng = np.random.default_rng(8)
    labels = np.repeat([0, 1], 40)
    n_worse = 0
    for _ in range(300):
        share = np.clip(rng.beta(0.3, 0.3, 80), 0, 1)
        before, after = (rng.binomial(3, share) / 3 for _ in range(2))
        n_worse += _is_worse(_people(before, after, labels))
    assert n_worse <= 15
