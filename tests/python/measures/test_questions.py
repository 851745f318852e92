"""Test counts weighted by question: both groups have each equally often, and refusing cheap ones is no price difference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from biasledger.measures.prices import associations
from biasledger.measures.prices.associations import associations as measured_associations
from biasledger.measures.prices.items import ALL_SETS, ItemCounts, level_shares
from biasledger.measures.prices.means import mean_prices
from biasledger.measures.prices.questions import balanced_by_question, sums_of_sets
from tests.python.measures.designs import design_of

from .simulated_prices import tilted

ONE_SET = np.zeros(2, dtype=np.int64)


def answered(seed: int, *, refused: float, shift: float = 0.0, n_names: int = 20):
    """Labels and items by question, (n_units, 1, 6, 4): label 1 is refused in the three cheaper of six questions."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], n_names).astype(np.int8)
    questions = np.linspace(-1, 1, 6)
    tilts = rng.normal(0, 0.2, (labels.size, 1)) + questions + shift * labels[:, np.newaxis]
    is_answered = rng.random(tilts.shape) >= refused * (questions < 0) * labels[:, np.newaxis]
    return labels, (rng.multinomial(20, tilted(tilts)) * is_answered[..., np.newaxis])[:, np.newaxis].astype(
        float
    )


def units(labels, items, *, is_weighted: bool = True) -> ItemCounts:
    design = design_of(labels)
    weighted, _ = balanced_by_question(
        labels, items, items.sum(axis=3), np.zeros(items.shape[2], dtype=np.int64), 1
    )
    plain = ItemCounts(design, np.arange(labels.size), items.sum(axis=2, keepdims=True), 2)
    return replace(plain, weighted=weighted) if is_weighted else plain


def test_both_groups_have_each_question_equally_often() -> None:
    # Two levels; question 0 has 6 items of group 0 and 2 of group 1, question 1 none of group 1.
    labels = np.array([0, 0, 1], dtype=np.int8)
    items = np.array([[[3, 1], [0, 4]], [[1, 1], [0, 2]], [[1, 1], [0, 0]]], dtype=float)[:, np.newaxis]
    weighted, in_all = balanced_by_question(labels, items, items.sum(axis=3), ONE_SET, 1)
    # 2 · 2 / 8 of each item of group 0, 2 · 6 / 8 of group 1; nothing of the question that group 1 never had.
    assert in_all[:, 0, 0].tolist() == [2, 1, 3]
    assert weighted[:, 0, 0].tolist() == [[1.5, 0.5], [0.5, 0.5], [1.5, 1.5]]


def test_a_question_is_moved_to_the_mean_of_its_set_and_groups_stay() -> None:
    labels, items = answered(1, refused=0.6)
    weighted, in_all = balanced_by_question(labels, items, items.sum(axis=3), np.zeros(6, dtype=np.int64), 1)
    by_group = [in_all[labels == group].sum() for group in (0, 1)]
    assert by_group[0] == pytest.approx(by_group[1])
    inside = []
    for group, other in ((0, 1), (1, 0)):
        n = [items[labels == one].sum(axis=(0, 1, 3)) for one in (group, other)]
        own = items[labels == group].sum(axis=(0, 1))
        inside.append((own * (2 * n[1] / (n[0] + n[1]))[:, np.newaxis]).sum(axis=0))
        assert weighted[labels == group].sum(axis=(0, 1, 2)) == pytest.approx(inside[-1])
    # The items that a name's questions yield for everybody are no part of it.
    assert weighted[:, 0, 0].std(axis=0).sum() < items.sum(axis=2)[:, 0].std(axis=0).sum()


def test_items_of_the_second_block_belong_to_the_other_group() -> None:
    labels = np.array([1], dtype=np.int8)
    items = np.array([[[4.0]], [[1.0]]]).reshape(1, 2, 1, 1)
    weighted, in_all = balanced_by_question(labels, items, items[..., 0], ONE_SET[:1], 1)
    assert in_all.tolist() == [[[pytest.approx(1.6)], [pytest.approx(1.6)]]]
    assert weighted[..., 0].tolist() == in_all.tolist()


def test_sets_are_apart_and_one_without_questions_is_empty() -> None:
    values = np.arange(3.0).reshape(1, 1, 3)
    assert sums_of_sets(values, np.array([0, 2, 0]), 3).tolist() == [[[2.0, 0.0, 1.0]]]


def test_balanced_questions_are_judged_as_they_are() -> None:
    labels, items = answered(2, refused=0.0)
    plain, weighted = (
        mean_prices(
            units(labels, items, is_weighted=is_weighted),
            has_reference=True,
            n_permutations=99,
            alpha=0.05,
            seed=1,
        )
        for is_weighted in (False, True)
    )
    for one, other in zip(plain, weighted, strict=True):
        assert (one.mean_price, one.n) == (other.mean_price, other.n)
        assert one.gap == pytest.approx(other.gap, nan_ok=True)
        assert one.adjusted_gap == pytest.approx(other.adjusted_gap, nan_ok=True)
        assert one.p_value == pytest.approx(other.p_value, nan_ok=True)


def test_refusals_of_cheap_questions_raise_no_alarm() -> None:
    n_audits, alarms, old_alarms, covered = 60, np.zeros(2), 0, 0
    for seed in range(n_audits):
        labels, items = answered(seed, refused=0.5)
        weighted, plain = (units(labels, items, is_weighted=one) for one in (True, False))
        settings = {"n_permutations": 199, "alpha": 0.05, "seed": seed}
        (row,) = (
            row
            for row in mean_prices(weighted, has_reference=True, **settings)
            if (row.label, row.set_id) == (1, ALL_SETS)
        )
        shares = [
            row for row in level_shares(weighted, **settings) if (row.label, row.set_id) == (1, ALL_SETS)
        ]
        alarms += row.p_value < 0.05, min(one.p_value_adjusted for one in shares) < 0.05
        covered += row.adjusted_low <= 0 <= row.adjusted_high
        old_alarms += any(
            row.p_value < 0.05
            for row in mean_prices(plain, has_reference=True, **settings)
            if (row.label, row.set_id) == (1, ALL_SETS)
        )
    assert (alarms <= 8).all()
    assert covered >= 52
    assert old_alarms > 30


def test_categories_of_refused_questions_raise_no_alarm() -> None:
    alarms = old_alarms = 0
    for seed in range(40):
        labels, items = answered(seed, refused=0.5)
        one_set = np.zeros(6, dtype=np.int64)
        weighted, totals = balanced_by_question(labels, items, items.sum(axis=3), one_set, 1)
        plain = associations.CategoryCounts(
            design_of(labels),
            np.arange(labels.size),
            items.sum(axis=2),
            items.sum(axis=(2, 3)),
        )
        judged = replace(plain, weighted=weighted[:, :, 0], weighted_totals=totals[:, :, 0])
        results = [
            measured_associations(one, n_permutations=199, alpha=0.05, seed=seed) for one in (plain, judged)
        ]
        old, new = (min(row.p_value_adjusted for row in rows) < 0.05 for rows in results)
        old_alarms, alarms = old_alarms + old, alarms + new
        assert [row.difference for row in results[0]] == [row.difference for row in results[1]]
    assert alarms <= 6
    assert old_alarms > 10


def test_weighted_counts_that_do_not_fit_are_refused() -> None:
    labels, items = answered(3, refused=0.0)
    with pytest.raises(ValueError, match="of the same shape as counts"):
        replace(units(labels, items), weighted=np.zeros((2, 1, 1, 4)))
    plain = associations.CategoryCounts(
        design_of(labels),
        np.arange(labels.size),
        items.sum(axis=2),
        items.sum(axis=(2, 3)),
    )
    with pytest.raises(ValueError, match="both weighted"):
        replace(plain, weighted=plain.counts)
