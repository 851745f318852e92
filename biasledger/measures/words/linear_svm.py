"""Linear SVMs of weighted word counts: squared hinge loss in the primal, by a truncated Newton method, several side by side.

The objective is liblinear's (`LinearSVC(class_weight="balanced", dual=False)`, C = 1): ½ |w|² + Σ c_i max(0, 1 - s_i w·x_i)²,
where x has a last feature of 1 for the intercept, s is the side, 1 or -1, and c balances the groups. It ends where the gradient
is as small a share of the first one as liblinear asks for, or where a step would gain nothing but rounding. Columns are not
copied, and nothing is drawn at random.

Nearly all of a fit's time are products with the counts. Classifiers of the same texts, as those of folds, of which each leaves
some out and weighs words by its own, wait for each other at each product, so that one reading of the counts serves all.

Sources: Keerthi & DeCoste (2005), J. Mach. Learn. Res. 6; Lin, Weng & Keerthi (2008), J. Mach. Learn. Res. 9 (the inner stop).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from biasledger.measures.engine.resampling import Floats, Integers, Labels

TOLERANCE = 0.1
"""The solver's tolerance, as liblinear's. At a tenth of it, mean accuracies of texts moved by less than 0.002."""
_INNER_TOLERANCE = 0.1
_SUFFICIENT_DECREASE = 0.01
_LEAST_GAIN = 1e-12  # of the loss: liblinear's, too
_SHORTEST_STEP = 1e-10
_MOST_STEPS = 1_000
_MOST_INNER_STEPS = 1_000
# Vectors that counts are multiplied by at once: up to two one by one, as in pairs they take longer; an odd number, too.
_ALONE, _AT_ONCE = 2, 8

_Kind = Literal["scores", "sums"]
_Found = TypeVar("_Found")
# A factor for the counts goes out and the product comes back: a number a word for one a text, or the other way round.
_Computation = Generator[tuple[_Kind, Floats], Floats, _Found]


@dataclass(frozen=True)
class WordWeights:
    """The factors of counts, (n_words,), 0 for words that are left out; and whether rows then get length 1."""

    weights: Floats
    is_normalised: bool

    @classmethod
    def learnt_from(cls, counts: sparse.csr_array, *, weighting: str, min_units: int) -> WordWeights:
        """Learn weights from training texts (n_texts, n_words): 'tfidf' (log((1 + n) / (1 + df)) + 1, rows of length 1) or
        'counts'.

        Words that fewer than min_units of these texts use are left out, unless no word would remain.
        """
        return cls.of(users_of(counts), counts.shape[0], weighting=weighting, min_units=min_units)

    @classmethod
    def of(cls, users: Integers, n_texts: int, *, weighting: str, min_units: int) -> WordWeights:
        """Return the weights from the number of training texts that use each word, (n_words,)."""
        is_used = users >= min_units
        if not is_used.any():
            is_used[:] = True
        is_tfidf = weighting == "tfidf"
        weights = np.log((1 + n_texts) / (1 + users)) + 1 if is_tfidf else np.ones(users.size)
        return cls(np.where(is_used, weights, 0.0), is_tfidf)

    def lengths(self, squares: sparse.csr_array) -> Floats:
        """Return the divisors of texts, (n_texts,), from the squares of their counts; 1 for texts without a word."""
        if not self.is_normalised:
            return np.ones(squares.shape[0])
        lengths = np.sqrt(squares @ self.weights**2)
        return np.where(lengths > 0, lengths, 1.0)

    def __call__(self, counts: sparse.csr_array) -> WeightedTexts:
        """Counts as a classifier is given them."""
        return WeightedTexts(counts, self.weights, self.lengths(squares_of(counts)))


@dataclass(frozen=True)
class WeightedTexts:
    """Counts (n_texts, n_words) times words' weights (n_words,), each text divided by its length (n_texts,).

    A product with it is one with the counts, so it is written out only on request.
    """

    counts: sparse.csr_array
    weights: Floats
    lengths: Floats

    def scores(self, of_words: Floats) -> Floats:
        """Product with a number a word, (n_words,): (n_texts,)."""
        return np.asarray(self.counts @ (self.weights * of_words) / self.lengths)

    def matrix(self) -> sparse.csr_array:
        """Written out; cells of words that are left out hold 0."""
        counts = self.counts
        cells = counts.data * self.weights[counts.indices] / np.repeat(self.lengths, np.diff(counts.indptr))
        return sparse.csr_array((cells, counts.indices, counts.indptr), shape=counts.shape)


def users_of(counts: sparse.csr_array) -> Integers:
    """How many texts use each word, (n_words,)."""
    return np.bincount(counts.indices, minlength=counts.shape[1])


def squares_of(counts: sparse.csr_array) -> sparse.csr_array:
    """The squares of counts, as doubles."""
    cells = counts.data.astype(np.float64) ** 2
    return sparse.csr_array((cells, counts.indices, counts.indptr), shape=counts.shape)


@dataclass(frozen=True)
class LinearSvm:
    """Weights (n_sides, n_words), intercepts (n_sides,): of two groups one side, positive for group 1, of more one for each."""

    weights: Floats
    intercepts: Floats

    def predict(self, texts: WeightedTexts) -> tuple[Labels, Floats]:
        """The group of each text, and of two groups the score for group 1 (of more groups 0)."""
        scores = np.array([texts.scores(side) for side in self.weights]) + self.intercepts[:, np.newaxis]
        if len(scores) == 1:
            return (scores[0] > 0).astype(np.int8), scores[0]
        return scores.argmax(axis=0).astype(np.int8), np.zeros(scores.shape[1])


@dataclass(frozen=True)
class Lesson:
    """The input of one classifier: texts of is_learnt, (n_texts,), their words multiplied by weights, (n_words,), and
    texts divided by lengths, (n_texts,).
    """

    weights: Floats
    lengths: Floats
    is_learnt: NDArray[np.bool_]


def fitted(texts: WeightedTexts, labels: Labels) -> LinearSvm:
    """The SVM of texts, whose counts are finite doubles, and their groups 0 … k - 1, k > 1.

    Raises:
        ValueError: a group has no text, or a count is no finite number.
    """
    lesson = Lesson(texts.weights, texts.lengths, np.ones(labels.size, dtype=np.bool_))
    return fitted_side_by_side(texts.counts, labels, [lesson])[0]


def fitted_side_by_side(
    counts: sparse.csr_array, labels: Labels, lessons: Sequence[Lesson]
) -> list[LinearSvm]:
    """The SVM of each lesson on the same texts, (n_texts, n_words), finite doubles, and their groups 0 … k - 1, k > 1.

    Raises:
        ValueError: a lesson has no text of a group, or a count is no finite number.
    """
    if not np.isfinite(counts.data).all():
        raise ValueError("An SVM needs finite features.")
    sides = [_sides(lesson, labels) for lesson in lessons]
    found = iter(_side_by_side(_Products(counts), [side for of_lesson in sides for side in of_lesson]))
    svms = []
    for of_lesson in sides:
        weights = np.array([next(found) for _ in of_lesson])
        svms.append(LinearSvm(weights[:, :-1], weights[:, -1]))
    return svms


def _sides(lesson: Lesson, labels: Labels) -> list[_Computation[Floats]]:
    """Return the computations of a lesson: one separation for two groups, one for each of more groups."""
    learnt = lesson.is_learnt
    sizes = np.bincount(labels[learnt], minlength=int(labels.max()) + 1)
    if sizes.size < 2 or not sizes.all():
        raise ValueError(f"Groups of {sizes.tolist()} texts: an SVM needs some of each of at least two.")
    balance = sizes.sum() / (sizes.size * sizes)
    if sizes.size == 2:
        return [_separation(lesson, labels == 1, float(balance[1]), float(balance[0]))]
    # One group against the rest, of which liblinear balances the group alone.
    return [_separation(lesson, labels == group, float(balance[group]), 1.0) for group in range(sizes.size)]


class _Products:
    """Products of counts (n_texts, n_words) with several vectors at once.

    For several, counts by word are the faster ones for scores: of a row's cells each would wait for the sum of those before.
    """

    def __init__(self, counts: sparse.csr_array) -> None:
        self._by_text, self._turned = counts, counts.T

    @cached_property
    def _by_word(self) -> sparse.csc_array:
        return self._by_text.tocsc()

    def __call__(self, kind: _Kind, vectors: Sequence[Floats]) -> Iterator[Floats]:
        """With numbers of words, the texts' scores; with numbers of texts, the words' sums."""
        for first in range(0, len(vectors), _AT_ONCE):
            yield from self._some(kind, vectors[first : first + _AT_ONCE])

    def _some(self, kind: _Kind, vectors: Sequence[Floats]) -> Iterator[Floats]:
        if len(vectors) <= _ALONE:
            matrix = self._by_text if kind == "scores" else self._turned
            yield from (np.asarray(matrix @ vector) for vector in vectors)
            return
        columns = np.zeros((vectors[0].size, len(vectors) + len(vectors) % 2))
        columns[:, : len(vectors)] = np.transpose(vectors)
        found = np.asarray((self._by_word if kind == "scores" else self._turned) @ columns)
        yield from np.ascontiguousarray(found.T)[: len(vectors)]


def _side_by_side(products: _Products, computations: Sequence[_Computation[Floats]]) -> list[Floats]:
    """Return each computation's result. The product that most of them wait for comes next, so that they share products."""
    asked = [next(one) for one in computations]
    waiting = list(range(len(asked)))
    results: list[Floats] = [np.empty(0)] * len(asked)
    while waiting:
        n_scores = sum(asked[one][0] == "scores" for one in waiting)
        kind: _Kind = "scores" if 2 * n_scores >= len(waiting) else "sums"
        served = [one for one in waiting if asked[one][0] == kind]
        for one, found in zip(served, products(kind, [asked[one][1] for one in served]), strict=True):
            try:
                asked[one] = computations[one].send(found)
            except StopIteration as end:
                results[one] = end.value
                waiting.remove(one)
    return results


def _scores(lesson: Lesson, weights: Floats) -> _Computation[Floats]:
    """Return the score of each text, (n_texts,), from words' weights and, last, the intercept."""
    found = yield "scores", lesson.weights * weights[:-1]
    return np.asarray(found / lesson.lengths + weights[-1])


def _sums(lesson: Lesson, of_texts: Floats) -> _Computation[Floats]:
    """The same turned round, from a number a text: (n_words + 1,)."""
    found = yield "sums", of_texts / lesson.lengths
    # Zeros in between would round a sum otherwise, of which conjugate gradients make more: it is that of learnt texts alone.
    return np.append(lesson.weights * found, of_texts[lesson.is_learnt].sum())


def _separation(
    lesson: Lesson, is_inside: NDArray[np.bool_], inside: float, outside: float
) -> _Computation[Floats]:
    """Weights and, last, the intercept, for texts that are inside and cost so much, and the others; (n_words + 1,)."""
    learnt = lesson.is_learnt
    side, cost = np.where(is_inside, 1.0, -1.0), np.where(is_inside, inside, outside) * learnt

    def loss(weights: Floats, scores: Floats) -> tuple[float, Floats]:
        short = np.maximum(1 - side * scores, 0.0)
        lacking = short[learnt]
        return float(0.5 * weights @ weights + (cost[learnt] * lacking) @ lacking), short

    weights, scores = np.zeros(lesson.weights.size + 1), np.zeros(side.size)
    value, short = loss(weights, scores)
    gradient = weights - 2 * (yield from _sums(lesson, cost * side * short))
    n_learnt, n_inside = int(learnt.sum()), int((is_inside & learnt).sum())
    enough = TOLERANCE * min(n_inside, n_learnt - n_inside) / n_learnt * np.linalg.norm(gradient)
    for _ in range(_MOST_STEPS):
        if np.linalg.norm(gradient) <= enough:
            break
        curvature = 2 * cost * (short > 0)
        step, of_scores = yield from _newton_step(lesson, curvature, gradient)
        slope, length = float(gradient @ step), 1.0
        # If both sides have the same texts, the first gradient is rounding, and so is everything that follows from it.
        if -slope <= _LEAST_GAIN * value:
            break
        new_value, new_short = loss(weights + step, scores + of_scores)
        while new_value > value + _SUFFICIENT_DECREASE * length * slope:
            length /= 2
            if length < _SHORTEST_STEP:
                return weights
            new_value, new_short = loss(weights + length * step, scores + length * of_scores)
        weights, scores, value, short = (
            weights + length * step,
            scores + length * of_scores,
            new_value,
            new_short,
        )
        gradient = weights - 2 * (yield from _sums(lesson, cost * side * short))
    return weights


def _newton_step(lesson: Lesson, curvature: Floats, gradient: Floats) -> _Computation[tuple[Floats, Floats]]:
    """By conjugate gradients, about: the step to where the quadratic form is least, and what it adds to the texts' scores."""
    step, of_scores = np.zeros_like(gradient), np.zeros_like(curvature)
    residual = -gradient
    direction, squared = residual, float(residual @ residual)
    enough = _INNER_TOLERANCE**2 * squared
    for _ in range(_MOST_INNER_STEPS):
        along = yield from _scores(lesson, direction)
        curved = direction + (yield from _sums(lesson, curvature * along))
        length = squared / float(direction @ curved)
        step = step + length * direction
        of_scores = of_scores + length * along
        residual = residual - length * curved
        before, squared = squared, float(residual @ residual)
        if squared <= enough:
            break
        direction = residual + squared / before * direction
    return step, of_scores
