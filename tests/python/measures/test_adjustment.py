"""Test the adjustment for attenuation: Mantel & Haenszel's weights, couples, and differences put back."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from biasledger.measures.engine.adjustment import attenuation, drawn_means, sizes_stay, unattenuated
from biasledger.measures.engine.strata import StratumSums
from tests.python.measures.designs import design_of


def left(design, items) -> float:
    return float(attenuation(StratumSums.make(design, np.asarray(items, dtype=float), 2).responses())[0])


def test_units_of_equal_size_have_the_weights_of_mantel_and_haenszel():
    labels, strata = np.repeat([0, 1, 0, 1], [5, 2, 3, 9]), np.repeat([0, 1], [7, 12])
    expected = (1 / 8 + 1 / 11) * (5 * 2 / 7 + 3 * 9 / 12)
    assert left(design_of(labels, strata), np.full((19, 1, 1), 20)) == pytest.approx(expected)


@pytest.mark.parametrize("strata", [0, [0, 0, 0, 1, 1, 1]])
def test_nothing_is_lost_where_strata_hold_groups_in_the_same_ratio(strata):
    items = np.random.default_rng(1).uniform(1, 9, (6, 1, 1))
    assert left(design_of([0, 0, 1, 0, 0, 1], strata), items) == pytest.approx(1)


def test_nothing_is_left_where_no_label_can_move():
    assert np.isnan(left(design_of([0, 0, 1], [0, 0, 1]), np.ones((3, 1, 1))))


def test_of_couples_it_is_what_every_arrangement_leaves_of_a_difference():
    labels = np.array([0, 0, 0, 1, 1])
    rises = np.column_stack([labels, 1 - labels]).astype(float)
    differences = []
    for marked in combinations(range(5), 2):
        is_marked = np.isin(np.arange(5), marked)
        is_same = np.column_stack([is_marked, ~is_marked])
        differences.append(rises[is_same].mean() - rises[~is_same].mean())
    assert left(design_of(labels, 0), np.ones((5, 2, 1))) == pytest.approx(1 - np.mean(differences))


def test_gaps_of_several_groups_are_put_back_and_a_group_without_one_is_left_out():
    labels, strata = np.repeat([0, 1, 2, 3] * 2, [3, 1, 2, 1, 1, 4, 2, 1]), np.repeat([0, 1], [7, 8])
    [response] = StratumSums.make(design_of(labels, strata), np.ones((15, 1, 1)), 4).responses()
    rises = np.array([0.5, -1.0, 0.25, 0.25])
    gaps = response @ rises
    assert unattenuated(gaps - gaps.mean(), response).tolist() == pytest.approx(rises.tolist())
    assert np.isnan(unattenuated(np.array([0.1, np.nan, -0.1, 0.0]), response)).tolist() == [
        False, True, False, False,
    ]  # fmt: skip


def test_sizes_stay_where_units_of_a_stratum_hold_as_many_items():
    design = design_of([0, 1, 0, 1], [0, 0, 1, 1])
    assert sizes_stay(design, np.array([[[2]], [[2]], [[5]], [[5]]]))
    assert not sizes_stay(design, np.array([[[2]], [[2]], [[5]], [[4]]]))
    # For couples, the blocks' difference moves with a label.
    assert sizes_stay(design, np.array([[[2], [1]], [[4], [3]], [[5], [0]], [[6], [1]]]))


def test_drawn_means_leave_out_draws_without_a_value():
    design = design_of([0, 0, 1], 0)

    def statistic(labels):
        return np.column_stack([labels[:, 0], np.where(labels[:, 0] == 1, np.nan, 3.0)]).astype(float)

    means = drawn_means(design, statistic, seed=1)
    assert means[0] == pytest.approx(1 / 3, abs=0.04)
    assert means[1] == 3
