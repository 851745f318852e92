"""Test the linear SVM of words against liblinear: the same weights at the minimum, and close ones before it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.svm import LinearSVC

from biasledger.measures.words import linear_svm
from biasledger.measures.words.linear_svm import (
    Lesson,
    WeightedTexts,
    WordWeights,
    fitted,
    fitted_side_by_side,
    squares_of,
)


def counted(
    seed: int, sizes: list[int], *, n_words: int = 60, length: int = 40
) -> tuple[sparse.csr_array, np.ndarray]:
    """Texts of so many groups; each uses a word of its own twice as often."""
    rng = np.random.default_rng(seed)
    rows = []
    for group, size in enumerate(sizes):
        shares = 1 / (np.arange(n_words) + 3.0)
        shares[10 + group] *= 2
        rows.append(rng.multinomial(length, shares / shares.sum(), size=size))
    labels = np.repeat(np.arange(len(sizes)), sizes).astype(np.int8)
    return sparse.csr_array(np.concatenate(rows).astype(np.float64)), labels


def plain(features: sparse.csr_array) -> WeightedTexts:
    """Rows as they are."""
    return WeightedTexts(features, np.ones(features.shape[1]), np.ones(features.shape[0]))


@pytest.mark.parametrize("sizes", [[40, 40], [12, 150], [3, 3], [30, 50, 20], [25, 25, 25, 60]])
@pytest.mark.parametrize("weighting", ["tfidf", "counts"])
def test_weights_are_those_of_liblinear(sizes, weighting, monkeypatch):
    monkeypatch.setattr(linear_svm, "TOLERANCE", 1e-8)
    counts, labels = counted(1, sizes)
    texts = WordWeights.learnt_from(counts, weighting=weighting, min_units=1)(counts)
    svm, features = fitted(texts, labels), texts.matrix()
    reference = LinearSVC(class_weight="balanced", dual=False, tol=1e-9, max_iter=100_000).fit(
        features, labels
    )
    assert svm.weights == pytest.approx(reference.coef_, abs=1e-5)
    assert svm.intercepts == pytest.approx(reference.intercept_, abs=1e-5)
    predicted, scores = svm.predict(texts)
    assert predicted.tolist() == reference.predict(features).tolist()
    if len(sizes) == 2:
        assert scores == pytest.approx(reference.decision_function(features), abs=1e-5)


def test_where_it_stops_is_as_near_to_the_minimum_as_liblinear():
    counts, labels = counted(2, [400, 300], n_words=500)
    texts = WordWeights.learnt_from(counts, weighting="tfidf", min_units=2)(counts)
    features = texts.matrix()
    exact = LinearSVC(class_weight="balanced", dual=False, tol=1e-9).fit(features, labels).coef_
    stopped = (
        LinearSVC(class_weight="balanced", dual=False, tol=linear_svm.TOLERANCE).fit(features, labels).coef_
    )
    ours = fitted(texts, labels).weights
    assert 0 < np.linalg.norm(ours - exact) <= 1.5 * np.linalg.norm(stopped - exact)


def copied(n_templates: int, sizes: tuple[int, int], weighting: str) -> tuple[sparse.csr_array, np.ndarray]:
    """Each template answered alike for both groups, once a text of either, in an order drawn at random."""
    rng = np.random.default_rng(n_templates)
    distinct = rng.multinomial(60, np.full(300, 1 / 300), size=n_templates).astype(np.float64)
    labels = np.repeat([0, 1], [size * n_templates for size in sizes]).astype(np.int8)
    rows = np.tile(np.arange(n_templates), sum(sizes))
    order = rng.permutation(labels.size)
    counts = sparse.csr_array(distinct[rows])[order]
    return WordWeights.learnt_from(counts, weighting=weighting, min_units=2)(counts), labels[order]


@pytest.mark.parametrize("weighting", ["tfidf", "counts"])
@pytest.mark.parametrize(("n_templates", "sizes"), [(12, (25, 10)), (12, (10, 10)), (40, (7, 33))])
def test_texts_that_both_groups_gave_cannot_be_separated(n_templates, sizes, weighting, monkeypatch):
    steps = []
    step = linear_svm._newton_step
    monkeypatch.setattr(linear_svm, "_newton_step", lambda *given: steps.append(1) or step(*given))
    svm = fitted(*copied(n_templates, sizes, weighting))
    assert not svm.weights.any()
    assert not svm.intercepts.any()
    assert len(steps) <= 1


@pytest.mark.parametrize("seed", [210, 328, 631, 791])
def test_a_step_that_would_raise_the_loss_is_shortened(seed, monkeypatch):
    """Full Newton steps cycle on these rows instead of reaching the minimum."""
    monkeypatch.setattr(linear_svm, "TOLERANCE", 1e-8)
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(4, 40)), int(rng.integers(1, 6))
    rows = rng.standard_t(1.2, size=shape) * 10 ** rng.uniform(-1, 1)
    labels = (rng.random(shape[0]) < rng.uniform(0.1, 0.5)).astype(np.int8)
    reference = LinearSVC(class_weight="balanced", dual=False, tol=1e-10, max_iter=100_000).fit(rows, labels)
    texts = plain(sparse.csr_array(rows))
    assert fitted(texts, labels).weights == pytest.approx(reference.coef_, abs=1e-5)


def test_where_it_stops_goes_by_the_smaller_group(monkeypatch):
    """As liblinear: the fewer texts a group has, the smaller a gradient is asked for."""
    steps = {}
    step = linear_svm._newton_step
    for sizes in ([150, 150], [297, 3]):
        taken = []
        monkeypatch.setattr(
            linear_svm, "_newton_step", lambda *given, taken=taken: taken.append(1) or step(*given)
        )
        counts, labels = counted(5, sizes, n_words=200)
        texts = WordWeights.learnt_from(counts, weighting="tfidf", min_units=2)(counts)
        reference = LinearSVC(class_weight="balanced", dual=False, tol=linear_svm.TOLERANCE).fit(
            texts.matrix(), labels
        )
        fitted(texts, labels)
        steps[tuple(sizes)] = (len(taken), int(reference.n_iter_))
    assert all(ours == liblinears for ours, liblinears in steps.values()), steps
    assert steps[297, 3][0] > steps[150, 150][0]


@pytest.mark.parametrize(
    ("features", "labels", "problem"),
    [
        (np.ones((3, 2)), [1, 1, 1], "Groups of .0, 3. texts"),
        (np.ones((3, 2)), [0, 0, 0], "Groups of .3. texts"),
        (np.array([[1.0], [np.nan]]), [0, 1], "finite"),
    ],
)
def test_data_that_cannot_be_fitted_are_reported(features, labels, problem):
    with pytest.raises(ValueError, match=problem):
        fitted(plain(sparse.csr_array(features)), np.array(labels, dtype=np.int8))


def test_texts_without_words_go_by_the_intercept():
    svm = fitted(plain(sparse.csr_array((12, 4))), np.array([0] * 9 + [1] * 3, dtype=np.int8))
    assert svm.weights.tolist() == [[0, 0, 0, 0]]
    assert svm.intercepts == pytest.approx([0.0], abs=1e-9)


@pytest.mark.parametrize("n_lessons", [1, 2, 3, 5, 8, 11])
@pytest.mark.parametrize("sizes", [[60, 40], [40, 30, 30]])
def test_classifiers_side_by_side_are_those_of_each_alone(n_lessons, sizes):
    """Each classifier has its own texts and word weights, and converges after another number of steps."""
    counts, labels = counted(7, sizes, n_words=150)
    rng = np.random.default_rng(n_lessons)
    masks = [rng.random(labels.size) < share for share in np.linspace(1.1, 0.3, n_lessons)]
    weights = [WordWeights.learnt_from(counts[mask], weighting="tfidf", min_units=2) for mask in masks]
    lessons = [
        Lesson(words.weights, words.lengths(squares_of(counts)), mask)
        for words, mask in zip(weights, masks, strict=True)
    ]
    found = fitted_side_by_side(counts, labels, lessons)
    assert len(found) == n_lessons
    for svm, words, mask in zip(found, weights, masks, strict=True):
        alone = fitted(words(counts[mask]), labels[mask])
        assert svm.weights == pytest.approx(alone.weights, abs=1e-9)
        assert svm.intercepts == pytest.approx(alone.intercepts, abs=1e-9)
        assert np.abs(svm.weights).max() > 0.01


@pytest.mark.parametrize("n_vectors", range(1, 11))
@pytest.mark.parametrize("kind", ["scores", "sums"])
def test_products_of_several_vectors_are_those_of_each(kind, n_vectors):
    counts, _ = counted(8, [9, 9])
    matrix = counts.toarray() if kind == "scores" else counts.toarray().T
    vectors = list(np.random.default_rng(n_vectors).normal(size=(n_vectors, matrix.shape[1])))
    found = list(linear_svm._Products(counts)(kind, vectors))
    assert len(found) == n_vectors
    for product, vector in zip(found, vectors, strict=True):
        assert product == pytest.approx(matrix @ vector, rel=1e-12, abs=1e-12)


def test_a_lesson_without_a_group_is_reported():
    counts, labels = counted(1, [5, 5])
    lesson = Lesson(np.ones(counts.shape[1]), np.ones(10), labels == 0)
    with pytest.raises(ValueError, match=r"Groups of \[5, 0\] texts"):
        fitted_side_by_side(counts, labels, [lesson])


class TestWordWeights:
    def test_are_scikit_learns_of_the_words_that_are_kept(self):
        counts, _ = counted(3, [20, 20], n_words=200, length=15)
        users = (counts > 0).sum(axis=0)
        kept = users >= 2
        assert 0 < kept.sum() < kept.size
        weighted = WordWeights.learnt_from(counts[:30], weighting="tfidf", min_units=2)
        kept = (counts[:30] > 0).sum(axis=0) >= 2
        transformer = TfidfTransformer().fit(counts[:30][:, kept])
        for rows in (counts[:30], counts[30:]):
            found = weighted(rows).matrix().toarray()
            assert found[:, kept] == pytest.approx(transformer.transform(rows[:, kept]).toarray())
            assert not found[:, ~kept].any()

    def test_where_no_word_is_used_twice_all_are_kept(self):
        weighted = WordWeights.learnt_from(sparse.csr_array(np.eye(5)), weighting="counts", min_units=2)
        assert weighted(sparse.csr_array(np.eye(5))).matrix().toarray().tolist() == np.eye(5).tolist()

    def test_what_was_given_stays_as_it_was(self):
        counts, _ = counted(4, [5, 5])
        before = counts.data.copy()
        WordWeights.learnt_from(counts, weighting="tfidf", min_units=1)(counts).matrix()
        assert counts.data.tolist() == before.tolist()

    @pytest.mark.parametrize("weighting", ["tfidf", "counts"])
    def test_products_are_those_of_what_is_written_out(self, weighting):
        counts, _ = counted(6, [9, 9])
        texts = WordWeights.learnt_from(counts, weighting=weighting, min_units=2)(counts)
        rng = np.random.default_rng(1)
        of_words = rng.normal(size=counts.shape[1])
        assert texts.scores(of_words) == pytest.approx(texts.matrix() @ of_words, rel=1e-13)

    def test_texts_without_words_have_no_length_to_be_divided_by(self):
        counts = sparse.csr_array(np.array([[0.0, 0.0], [3.0, 4.0]]))
        texts = WordWeights.learnt_from(counts, weighting="tfidf", min_units=1)(counts)
        assert texts.matrix().toarray() == pytest.approx(np.array([[0.0, 0.0], [0.6, 0.8]]))
        assert texts.scores(np.ones(2)) == pytest.approx([0.0, 1.4])
