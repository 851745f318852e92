"""Test the kernel ridge classifier against scikit-learn's, and its single precision against double."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import Ridge

from biasledger.measures.words import kernel_ridge as module
from biasledger.measures.words.kernel_ridge import RIDGE, ridge_folds, text_kernel
from tests.python.measures.simulated_texts import corpus


def kernel_of(rng: np.random.Generator, n_texts: int, n_dimensions: int = 6) -> np.ndarray:
    points = rng.normal(size=(n_texts, n_dimensions))
    return points @ points.T


def arrangements(rng: np.random.Generator, n_rows: int, n_texts: int, n_groups: int) -> np.ndarray:
    return rng.permuted(np.tile(np.arange(n_texts) % n_groups, (n_rows, 1)), axis=1).astype(np.int8)


def test_scores_are_those_of_a_ridge_regression_with_intercept():
    rng = np.random.default_rng(5)
    points, targets = rng.normal(size=(30, 6)), rng.normal(size=30)
    folds = np.arange(30) % 5
    # Some texts are learnt from in no fold that they could be.
    learnt = [(folds != fold) & (np.arange(30) % 7 != fold) for fold in range(5)]
    held_out = [folds == fold for fold in range(5)]
    for fold, ridge in enumerate(ridge_folds(points @ points.T, learnt, held_out)):
        assert ridge.hat.shape == (6, learnt[fold].sum())
        assert [ridge.learnt.tolist(), ridge.held_out.tolist()] == [
            np.flatnonzero(learnt[fold]).tolist(),
            np.flatnonzero(held_out[fold]).tolist(),
        ]
        known = Ridge(alpha=RIDGE).fit(points[learnt[fold]], targets[learnt[fold]])
        expected = known.predict(points[held_out[fold]]) - targets[learnt[fold]].mean()
        assert ridge.hat @ targets[learnt[fold]] == pytest.approx(expected)


@pytest.mark.parametrize("at_once", [16, 79, 256])
def test_the_kernel_is_the_similarity_of_weighted_texts(at_once, monkeypatch):
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    counts, _ = corpus(np.random.default_rng(3), 40, 40, n_words=300)
    weighted = TfidfTransformer().fit_transform(counts).toarray()
    n_using = np.diff(sparse.csc_array(counts).indptr)
    # Words of many texts and words of few are multiplied apart.
    assert (n_using > module._COMMON * counts.shape[0]).any()
    assert ((n_using > 0) & (n_using <= module._COMMON * counts.shape[0])).any()
    kernel = text_kernel(counts)
    assert kernel == pytest.approx(weighted @ weighted.T, abs=1e-14)
    assert (kernel == kernel.T).all()


@pytest.mark.parametrize("n_groups", [2, 3, 6])
def test_single_precision_predicts_what_double_does(n_groups, monkeypatch):
    rng = np.random.default_rng(n_groups)
    kernel = kernel_of(rng, 300, 40)
    # Texts whose scores are as good as those of two groups: copies of each other, one in each.
    kernel[1::2], kernel[:, 1::2] = kernel[::2], kernel[:, ::2]
    folds = np.arange(300) // 2 % 5
    [ridge, *_] = ridge_folds(
        kernel, [folds != fold for fold in range(5)], [folds == fold for fold in range(5)]
    )
    labels = arrangements(rng, 200, 300, n_groups)
    labels[:50] = np.arange(300) % 2
    # Groups without a text.
    labels[50], labels[51] = 0, n_groups - 1
    scores = np.stack(
        [
            (labels[:, ridge.learnt] == group)
            @ ridge.hat.T
            / (labels[:, ridge.learnt] == group).sum(axis=1, keepdims=True).clip(1)
            for group in range(n_groups)
        ]
    )
    expected = (scores >= scores.max(axis=0) - 1e-12).argmax(axis=0)
    assert ridge.predict(labels, n_groups).tolist() == expected.tolist()
    # Not because all were scored twice: where single precision is taken at its word, near scores go wrong.
    rash = replace(ridge, blur=np.zeros_like(ridge.blur))
    monkeypatch.setattr(module, "_TIE", 0.0)
    assert (rash.predict(labels, n_groups) != expected).any()
    assert (rash.predict(labels, n_groups) == expected).mean() > 0.7


def odd_rows(rng: np.random.Generator, spread: str) -> np.ndarray:
    """Scores of 50 texts from 1,600, as hard to add up as they come."""
    rows = rng.normal(size=(50, 1600))
    match spread:
        case "heavy":
            return rng.standard_t(1.5, size=rows.shape)
        case "of one sign":
            return np.abs(rows)
        case "equal":
            return np.tile(rng.normal(size=(50, 1)), 1600)
        case "one large":
            rows = np.tile(rng.normal(size=(50, 1)) / 3e5, 1600)
            rows[:, 7] = 1.0
    return rows


@pytest.mark.parametrize("spread", ["even", "heavy", "of one sign", "equal", "one large"])
@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.05, 0.95], [0.2] * 5])
def test_single_precision_is_off_by_no_more_than_is_counted_as_unclear(spread, shares):
    rng = np.random.default_rng(7)
    hat = odd_rows(rng, spread)
    known = rng.choice(len(shares), p=shares, size=(100, 1600)).astype(np.int8)
    ridge = module.RidgeFold.of(np.arange(1600), np.arange(50), hat)
    rough, sizes = module._scores(known, len(shares), ridge.rough)
    exact, _ = module._scores(known, len(shares), hat / ridge.step[:, np.newaxis])
    off = np.abs(rough - exact) * sizes[..., np.newaxis]
    assert (off <= ridge.blur).all()
    # Not because anything is allowed: far from what a sum may be off by at worst, as single precision in general is.
    assert (ridge.blur <= 1600 / 2 + module._DIVIDED).all()
    assert np.abs(exact * sizes[..., np.newaxis]).max() > 1e5


def test_whole_steps_add_up_exactly_in_any_order():
    rng = np.random.default_rng(9)
    ridge = module.RidgeFold.of(np.arange(1600), np.arange(50), odd_rows(rng, "heavy"))
    assert (ridge.rough == np.round(ridge.rough)).all()
    known = arrangements(rng, 40, 1600, 2)
    members = (known == 0).astype(np.float32)
    in_double = members.astype(np.float64) @ ridge.rough.astype(np.float64).T
    order = rng.permutation(1600)
    for one in (members @ ridge.rough.T, members[:, order] @ ridge.rough[:, order].T):
        assert (one == in_double).all()


@pytest.mark.parametrize("n_learnt", [0, 1, 10, 40])
def test_of_few_texts_scores_are_as_exact_as_of_many(n_learnt):
    rng = np.random.default_rng(11)
    points = rng.normal(size=(400, 30))
    points[60:] = points[60]
    kernel = points @ points.T
    is_learnt, is_held_out = np.arange(400) < n_learnt, np.arange(400) >= 60
    [ridge] = ridge_folds(kernel, [is_learnt], [is_held_out])
    assert ridge.hat.shape == (340, n_learnt)
    # A constant scores 0, but for rounding that is far below a tie; copies score the same.
    assert np.abs(ridge.hat.sum(axis=1)).max(initial=0) < module._TIE / 10
    assert np.ptp(ridge.hat, axis=0).max(initial=0) < module._TIE / 10
    if n_learnt > 1:
        targets = rng.normal(size=n_learnt)
        known = Ridge(alpha=RIDGE).fit(points[is_learnt], targets)
        expected = known.predict(points[is_held_out]) - targets.mean()
        assert ridge.hat @ targets == pytest.approx(expected, abs=1e-10)
    is_named = ridge.predict(arrangements(rng, 20, 400, 2), 2).any()
    assert is_named == (n_learnt > 1)


def test_one_arrangement_without_a_group_leaves_the_others_as_clear_as_they_are(monkeypatch):
    rng = np.random.default_rng(12)
    folds = np.arange(200) % 4
    [ridge, *_] = ridge_folds(kernel_of(rng, 200), [folds != 0], [folds == 0])
    # So unclear that between groups of fifty texts some arrangements are, and with one without texts in a group all would be.
    ridge = replace(ridge, blur=np.full(50, 3e3))
    labels = arrangements(rng, 30, 200, 3)
    labels[0] = np.where(folds == 0, 2, labels[0] % 2)
    n_scored_again, scores_of = [], module._scores

    def noted(known, n_groups, hat):
        if hat.dtype == np.float64:
            n_scored_again.append(len(known))
        return scores_of(known, n_groups, hat)

    monkeypatch.setattr(module, "_scores", noted)
    together, others = ridge.predict(labels, 3), ridge.predict(labels[1:], 3)
    assert (together[1:] == others).all()
    with_it, without_it = n_scored_again
    assert 0 < without_it < 20
    assert with_it <= without_it + 1


def test_a_text_that_tells_nothing_is_named_after_the_first_group():
    # All texts are the same: every score is 0 but for rounding.
    folds = np.arange(40) % 4
    [ridge, *_] = ridge_folds(np.ones((40, 40)), [folds != 0], [folds == 0])
    labels = arrangements(np.random.default_rng(1), 20, 40, 3)
    assert not ridge.predict(labels, 3).any()


def test_of_a_group_without_texts_nothing_is_learnt():
    rng = np.random.default_rng(8)
    folds = np.arange(40) % 4
    [ridge, *_] = ridge_folds(kernel_of(rng, 40), [folds != 0], [folds == 0])
    labels = np.where(folds == 0, 2, arrangements(rng, 20, 40, 2))
    predicted = ridge.predict(labels.astype(np.int8), 3)
    # Its score is 0, which is between those of the others, because they add up to 0 unless weighted.
    assert set(np.unique(predicted)) == {0, 1}
