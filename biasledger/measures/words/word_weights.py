"""Weights of words, learnt from training texts: what linear classifiers multiply counts by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from biasledger.measures.engine.design import Floats


@dataclass(frozen=True)
class WordWeights:
    """The weight of each word, (n_words,), 0 for words that are left out; and whether each text then gets length 1."""

    weights: Floats
    is_normalised: bool

    @classmethod
    def learnt_from(cls, counts: sparse.csr_array, *, weighting: str, min_units: int) -> WordWeights:
        """Return the weights that training texts (n_texts, n_words) give.

        Words that fewer than min_units of these texts use are left out, unless that would leave none.

        Args:
            counts: the training texts' word counts.
            weighting: 'tfidf' (log((1 + n) / (1 + df)) + 1, texts of length 1, as scikit-learn's) or 'counts'.
            min_units: the least number of texts that a word needs.
        """
        n_users = np.bincount(counts.indices, minlength=counts.shape[1])
        is_used = n_users >= min_units
        if not is_used.any():
            is_used[:] = True
        is_tfidf = weighting == "tfidf"
        weights = np.log((1 + counts.shape[0]) / (1 + n_users)) + 1 if is_tfidf else np.ones(n_users.size)
        return cls(np.where(is_used, weights, 0.0), is_tfidf)

    def __call__(self, counts: sparse.csr_array) -> sparse.csr_array:
        """Return counts (n_texts, n_words) times the weights, as doubles; the cells of words that are left out hold 0."""
        cells = counts.data * self.weights[counts.indices]
        weighted = sparse.csr_array((cells, counts.indices, counts.indptr), shape=counts.shape)
        if not self.is_normalised:
            return weighted
        lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
        weighted.data = cells / np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(counts.indptr))
        return weighted
