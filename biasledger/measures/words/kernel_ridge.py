"""Kernel ridge classifier of texts, whose scores are a product of matrices with the labels: what permutations are judged by.

Its matrices do not depend on the labels, so that one product scores many arrangements of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from biasledger.measures.engine.group_sums import EXACT_IN_SINGLE
from biasledger.measures.engine.resampling import Floats, Integers, Labels
from biasledger.measures.words.word_weights import WordWeights

Booleans = NDArray[np.bool_]

RIDGE = 0.3
# Share of texts from which on a word's products are faster when they are made as those of a full matrix.
_COMMON = 0.05
# Texts whose part of a matrix is made at once: memory that is touched first costs as much as what is done with it.
_AT_ONCE = 256
_TIE = 1e-12  # of scores, which are means of values of size 1
_SMALLEST_STEP = 1e-30
# In steps: what dividing by a group's size, and comparing, round away in single precision, of numbers up to EXACT_IN_SINGLE.
_DIVIDED = 4.0


@dataclass(frozen=True)
class RidgeFold:
    """One fold's classifier.

    learnt, held_out: positions of the texts that it learns from and predicts. hat: (n_held_out, n_learnt), scores as a linear
    function of what labels are coded by. rough: the same in whole steps of each row, so few that no sum of them rounds; step:
    (n_held_out,). blur: (n_held_out,), in steps, what a sum of `rough` may be off by, with what dividing it rounds away.
    """

    learnt: Integers
    held_out: Integers
    hat: Floats
    rough: NDArray[np.float32]
    step: Floats
    blur: Floats

    @classmethod
    def of(cls, learnt: Integers, held_out: Integers, hat: Floats) -> RidgeFold:
        """The classifier of a matrix of scores in double precision."""
        step = np.maximum(_largest_sum(hat) / (EXACT_IN_SINGLE - learnt.size), _SMALLEST_STEP)
        in_steps = hat / step[:, np.newaxis]
        rough = np.round(in_steps)
        blur = _largest_sum(in_steps - rough) + _DIVIDED
        return cls(learnt, held_out, hat, rough.astype(np.float32), step, blur)

    def predict(self, labels: Labels, n_groups: int) -> Labels:
        """Return the group with the highest score of each held-out text, (b, n_held_out), from labels of all texts, (b, n_texts).

        If scores differ by rounding alone, as for equal texts, the first group is returned, on any machine: single
        precision takes half of the time, and texts on which it cannot decide are scored again.
        """
        known = labels[:, self.learnt]
        if n_groups == 2:
            predicted, is_unclear = self._of_two(known)
        else:
            scores, sizes = _scores(known, n_groups, self.rough)
            margin = _TIE / self.step + 2 * self.blur / sizes.min(axis=0)[:, np.newaxis]
            predicted, is_unclear = _highest(scores, margin.astype(np.float32))
        rows, texts = np.flatnonzero(is_unclear.any(axis=1)), np.flatnonzero(is_unclear.any(axis=0))
        if rows.size:
            scores, _ = _scores(known[rows], n_groups, self.hat[texts])
            predicted[np.ix_(rows, texts)], _ = _highest(scores, _TIE)
        return predicted

    def _of_two(self, known: Labels) -> tuple[Labels, Booleans]:
        """Return which of two groups has the higher score, and whether rounding may decide it; the two sums add up to 0."""
        sums = (known == 0).astype(np.float32) @ self.rough.T
        # Scores differ by the sum times 1 / n₀ + 1 / n₁, which is at least 4 / n.
        margin = _TIE / self.step * known.shape[1] / 4 + self.blur
        return (sums < 0).astype(np.int8), np.abs(sums) <= margin.astype(np.float32)


def ridge_folds(
    kernel: Floats, learnt: Sequence[Booleans], held_out: Sequence[Booleans]
) -> Iterator[RidgeFold]:
    """A classifier for each fold: learnt and held_out, (n_texts,) each, say which texts are on which side.

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
        yield RidgeFold.of(known, asked, hat)


def text_kernel(features: sparse.csr_array) -> Floats:
    """Cosine similarity of TF-IDF weighted texts, (n_units, n_units); label-free, hence shared by all permutations."""
    weighted = WordWeights.learnt_from(features, weighting="tfidf", min_units=1)(features)
    n_texts = np.bincount(weighted.indices, minlength=weighted.shape[1])
    is_common = n_texts > _COMMON * weighted.shape[0]
    common, rare = weighted[:, is_common].toarray(), weighted[:, ~is_common]
    kernel = np.asarray(common @ common.T)
    by_word = sparse.csr_array(rare.T)
    for first in range(0, len(kernel), _AT_ONCE):
        texts, before = slice(first, first + _AT_ONCE), slice(0, first + _AT_ONCE)
        kernel[texts, before] += (rare[texts] @ by_word[:, before]).toarray()
    return _mirrored(kernel)


def _centred_inverse(kernel: Floats) -> Floats:
    """Inverse of kernel + RIDGE on vectors whose sum is 0, and 0 for those of equal values: a constant is not shrunk."""
    # In place, and by its lower half alone until the end.
    shrunk = kernel.copy().T
    np.fill_diagonal(shrunk, shrunk.diagonal() + RIDGE)
    factor, _ = linalg.lapack.dpotrf(shrunk, lower=True, overwrite_a=True, clean=False)
    half, _ = linalg.lapack.dpotri(factor, lower=True, overwrite_c=True)
    sums = linalg.blas.dsymv(1.0, half, np.ones(len(half)), lower=True)
    inverse = linalg.blas.dsyr(-1 / sums.sum(), sums, lower=True, a=half, overwrite_a=True)
    return _mirrored(inverse)


def _mirrored(square: Floats) -> Floats:
    """A matrix whose upper half becomes what its lower half is, in place."""
    for first in range(0, len(square), _AT_ONCE):
        block, after = slice(first, first + _AT_ONCE), slice(first + _AT_ONCE, None)
        square[block, after] = square[after, block].T
        lower = np.tril(square[block, block])
        square[block, block] = lower + np.tril(lower, -1).T
    return square


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


def _largest_sum(values: Floats) -> Floats:
    """Return the largest absolute sum that some values of each row can have."""
    return np.asarray(np.maximum(np.maximum(values, 0).sum(axis=1), np.maximum(-values, 0).sum(axis=1)))


def _scores(
    known: Labels, n_groups: int, hat: NDArray[np.floating]
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Scores (n_groups, b, n_held_out) from labels (b, n_learnt), and each group's number of texts, (n_groups, b), at least 1.

    Groups are coded by the inverse of their size, so that no large one outvotes the others.
    """
    scores = np.zeros((n_groups, len(known), len(hat)), dtype=hat.dtype)
    sizes = np.zeros((n_groups, len(known)), dtype=hat.dtype)
    sizes[-1] = known.shape[1]
    for group in range(n_groups - 1):
        is_member = (known == group).astype(hat.dtype)
        np.matmul(is_member, hat.T, out=scores[group])
        # Labels that all texts share score 0, so the last group's score is what the others leave.
        scores[-1] -= scores[group]
        sizes[group] = is_member.sum(axis=1)
        sizes[-1] -= sizes[group]
    sizes = np.maximum(sizes, 1)
    scores /= sizes[..., np.newaxis]
    return scores, sizes


def _highest(scores: NDArray[np.floating], margin: Floats | float) -> tuple[Labels, Booleans]:
    """The first group within a margin of the highest score, and whether there is another one; both (b, n_held_out)."""
    is_highest = scores >= scores.max(axis=0) - margin
    predicted = np.zeros(scores.shape[1:], dtype=np.int8)
    is_unclear, is_later = np.zeros_like(is_highest[0]), np.zeros_like(is_highest[0])
    for group in reversed(range(len(scores))):
        predicted[is_highest[group]] = group
        is_unclear |= is_later & is_highest[group]
        is_later |= is_highest[group]
    return predicted, is_unclear
