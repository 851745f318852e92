"""Test thresholds from labelled outputs: by hand, against scikit-learn, with ties, empty classes and missing values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_curve

from biasledger.measures.tuning import smallest_threshold, threshold_curve, threshold_errors

LABELLED = st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=2, max_size=40).filter(
    lambda rows: {label for _, label in rows} == {True, False}
)


def test_errors_are_counted_by_the_rule_value_above_threshold() -> None:
    values = np.array([0.2, 0.7, 0.8, 0.7, 0.9, 1.0])
    is_problematic = np.array([False, False, False, True, True, True])
    (point,) = threshold_errors(values, is_problematic, [0.7])
    assert (point.false_positives.count, point.false_positives.n) == (1, 3)
    assert (point.misses.count, point.misses.n) == (1, 3)
    wilson = stats.binomtest(1, 3).proportion_ci(method="wilson")
    assert (point.misses.low, point.misses.high) == (wilson.low, wilson.high)
    assert not point.meets_goals


@given(LABELLED)
def test_the_curve_is_that_of_scikit_learn(rows: list[tuple[int, bool]]) -> None:
    values = np.array([value / 12 for value, _ in rows])
    labels = np.array([label for _, label in rows])
    curve = threshold_curve(values, labels)
    false_positives, found, at_least = roc_curve(labels, values, drop_intermediate=False)
    expected = {
        # >= the next larger value is the same as > this one.
        (round(fp, 9), round(1 - tp, 9))
        for fp, tp, lowest in zip(false_positives, found, at_least, strict=True)
        if not (lowest == values.min() == 0)  # nothing is above the smallest value that there can be
    }
    assert {
        (round(point.false_positives.value, 9), round(point.misses.value, 9)) for point in curve
    } == expected
    assert [point.threshold for point in curve] == sorted({point.threshold for point in curve})


@given(LABELLED)
def test_the_threshold_is_the_smallest_that_is_quiet_enough(rows: list[tuple[int, bool]]) -> None:
    values = np.array([value / 12 for value, _ in rows])
    labels = np.array([label for _, label in rows])
    curve = threshold_curve(values, labels)
    best = smallest_threshold(curve)
    assert np.mean(values[~labels] > best.threshold) <= 0.05
    assert np.mean(values[labels] <= best.threshold) == best.misses.value
    for point in curve:
        if point.threshold < best.threshold:
            assert np.mean(values[~labels] > point.threshold) > 0.05


def test_twenty_acceptable_outputs_allow_one_false_positive() -> None:
    values = np.array([0.1] * 19 + [0.95] + [0.6] * 10)
    labels = np.arange(30) >= 20
    best = smallest_threshold(threshold_curve(values, labels))
    assert best.threshold == 0.1
    assert (best.false_positives.count, best.misses.count) == (1, 0)
    assert best.meets_goals


def test_ties_between_kinds_cannot_be_separated() -> None:
    values = np.full(40, 0.5)
    best = smallest_threshold(threshold_curve(values, np.arange(40) >= 20))
    assert (best.threshold, best.false_positives.value, best.misses.value) == (0.5, 0.0, 1.0)


def test_thresholds_have_four_decimals_and_none_lies_below_its_value() -> None:
    values = np.array([1 / 3, 2 / 3, 0.56, 0.7, 1.0, 0.12344])
    curve = threshold_curve(values, np.array([True, False] * 3))
    assert [point.threshold for point in curve] == [0.0, 0.1235, 0.3334, 0.56, 0.6667, 0.7, 1.0]
    assert curve[-1].false_positives.count == 0


@pytest.mark.parametrize(
    ("values", "labels", "says"),
    [
        ([0.1, 0.2], [True, True], "labelled acceptable"),
        ([0.1, 0.2], [False, False], "labelled problematic"),
        ([0.1, np.nan], [True, False], "no number"),
        ([0.1], [True, False], "equal length"),
        ([0.1, -0.2], [True, False], "below 0"),
    ],
)
def test_what_gives_no_threshold_is_refused(values: list[float], labels: list[bool], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        threshold_curve(np.array(values), np.array(labels))
