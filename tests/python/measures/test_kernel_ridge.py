"""Test the kernel ridge classifier against scikit-learn's."""

from __future__ import annotations

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


def test_the_kernel_is_the_similarity_of_weighted_texts():
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
def test_the_group_with_the_highest_score_is_predicted(n_groups):
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
