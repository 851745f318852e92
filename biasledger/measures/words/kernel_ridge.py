"""Kernel ridge classifier of texts, whose scores are a product of matrices with the labels: what permutations are judged by.

Its matrices do not depend on the labels, so that one product scores many arrangements of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from biasledger.measures.engine.design import Floats, Integers, Labels
from biasledger.measures.words.word_weights import WordWeights

Booleans = NDArray[np.bool_]

RIDGE = 0.3
# Share of texts from which on a word's products are faster when they are made as those of a full matrix.
_COMMON = 0.05
_TIE = 1e-12  # of scores, which are means of values of size 1


@dataclass(frozen=True)
class RidgeFold:
    """The classifier of one fold.

    learnt, held_out: positions of the texts that it learns from and predicts. hat: (n_held_out, n_learnt), scores as a linear
    function of what labels are coded by.
    """

    learnt: Integers
    held_out: Integers
    hat: Floats

    def predict(self, labels: Labels, n_groups: int) -> Labels:
        """Return the group with the highest score of each held-out text, (b, n_held_out), from labels of all texts, (b, n_texts).

        Groups are coded by the inverse of their size, so that no large one outvotes the others. If scores differ by rounding
        alone, as for equal texts, the first group is returned, on any machine.
        """
        known = labels[:, self.learnt]
        scores = np.zeros((n_groups, len(known), len(self.hat)))
        for group in range(n_groups - 1):
            scores[group] = (known == group).astype(np.float64) @ self.hat.T
        # Labels that all texts share score 0, so the last group's score is what the others leave.
        scores[-1] = -scores[:-1].sum(axis=0)
        for group in range(n_groups):
            scores[group] /= np.maximum(np.count_nonzero(known == group, axis=1), 1)[:, np.newaxis]
        highest = np.argmax(scores >= scores.max(axis=0) - _TIE, axis=0)
        return np.asarray(highest, dtype=np.int8)


def ridge_folds(
    kernel: Floats, learnt: Sequence[Booleans], held_out: Sequence[Booleans]
) -> Iterator[RidgeFold]:
    """Yield a classifier for each fold: learnt and held_out, (n_texts,) each, say which texts are on which side.

    kernel: (n_texts, n_texts), similarities of texts. Each fold's is centred on the texts that the fold learns from.
    """
    inverse: Floats | None = None
    for is_learnt, is_held_out in zip(learnt, held_out, strict=True):
        known, asked = np.flatnonzero(is_learnt), np.flatnonzero(is_held_out)
        if 2 * known.size > len(kernel):
            inverse = _centred_inverse(kernel) if inverse is None else inverse
            left_out = np.flatnonzero(~is_learnt)
            hat = _from_inverse(inverse, known, left_out)[is_held_out[left_out]]
        else:
            hat = _directly(kernel, known, asked)
        yield RidgeFold(known, asked, hat)


def text_kernel(features: sparse.csr_array) -> Floats:
    """Cosine similarity of TF-IDF weighted texts, (n_units, n_units); label-free, hence shared by all permutations."""
    weighted = WordWeights.learnt_from(features, weighting="tfidf", min_units=1)(features)
    n_texts = np.bincount(weighted.indices, minlength=weighted.shape[1])
    is_common = n_texts > _COMMON * weighted.shape[0]
    common, rare = weighted[:, is_common].toarray(), weighted[:, ~is_common]
    return np.asarray(common @ common.T + (rare @ rare.T).toarray())


def _centred_inverse(kernel: Floats) -> Floats:
    """Inverse of kernel + RIDGE on vectors whose sum is 0, and 0 for those of equal values: a constant is not shrunk."""
    inverse = linalg.inv(kernel + RIDGE * np.eye(len(kernel)), overwrite_a=True)
    sums = inverse.sum(axis=0)
    return np.asarray(inverse - np.outer(sums, sums) / sums.sum())


def _from_inverse(inverse: Floats, learnt: Integers, left_out: Integers) -> Floats:
    """Scores of the texts left out as a linear function of the others' labels, (n_left_out, n_learnt).

    Leaving a block out changes an inverse by its own blocks alone, so that all folds share the inverse of all texts.
    A constant that all labels have in common scores 0: what the mean label would add is taken off.
    """
    block = linalg.cho_factor(inverse[np.ix_(left_out, left_out)], check_finite=False)
    across = linalg.cho_solve(block, inverse[np.ix_(left_out, learnt)], check_finite=False)
    return np.asarray(-across - 1 / learnt.size)


def _directly(kernel: Floats, learnt: Integers, held_out: Integers) -> Floats:
    """Solve for few training texts with their own kernel: from the inverse of all texts' kernel the result would be rounding."""
    if not learnt.size:
        return np.zeros((held_out.size, 0))
    inside, across = kernel[np.ix_(learnt, learnt)], kernel[np.ix_(held_out, learnt)]
    means = inside.mean(axis=0)
    inside = inside - means - means[:, np.newaxis] + means.mean()
    across = across - across.mean(axis=1, keepdims=True) - means + means.mean()
    factor = linalg.cho_factor(inside + RIDGE * np.eye(learnt.size), overwrite_a=True, check_finite=False)
    return np.asarray(linalg.cho_solve(factor, across.T, check_finite=False).T)
