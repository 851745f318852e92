"""The weights of words against scikit-learn's, and texts without words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from biasledger.measures.words.word_weights import WordWeights


def counted(seed: int, n_texts: int, *, n_words: int, length: int) -> sparse.csr_array:
    shares = 1 / (np.arange(n_words) + 3.0)
    rows = np.random.default_rng(seed).multinomial(length, shares / shares.sum(), size=n_texts)
    return sparse.csr_array(rows.astype(np.float64))


def test_tfidf_is_scikit_learns_of_the_words_that_enough_texts_use() -> None:
    counts = counted(3, 40, n_words=200, length=15)
    training = counts[:30]
    words = WordWeights.learnt_from(training, weighting="tfidf", min_units=2)
    is_used = (training > 0).sum(axis=0) >= 2
    assert 0 < is_used.sum() < is_used.size
    transformer = TfidfTransformer().fit(training[:, is_used])
    for rows in (training, counts[30:]):
        found = words(rows).toarray()
        assert found[:, is_used] == pytest.approx(transformer.transform(rows[:, is_used]).toarray())
        assert not found[:, ~is_used].any()


def test_all_words_are_used_where_no_word_has_enough_texts() -> None:
    words = WordWeights.learnt_from(sparse.csr_array(np.eye(5)), weighting="counts", min_units=2)
    assert words(sparse.csr_array(np.eye(5))).toarray().tolist() == np.eye(5).tolist()


def test_the_counts_are_not_changed() -> None:
    counts = counted(4, 10, n_words=60, length=40)
    before = counts.data.copy()
    WordWeights.learnt_from(counts, weighting="tfidf", min_units=1)(counts)
    assert counts.data.tolist() == before.tolist()


def test_texts_without_words_stay_empty() -> None:
    counts = sparse.csr_array(np.array([[0.0, 0.0], [3.0, 4.0]]))
    words = WordWeights.learnt_from(counts, weighting="tfidf", min_units=1)
    assert words(counts).toarray() == pytest.approx(np.array([[0.0, 0.0], [0.6, 0.8]]))
