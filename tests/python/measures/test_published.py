"""Test the sources' own classifiers against scikit-learn on raw texts, as the sources write them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.svm import SVC, LinearSVC

from biasledger.measures.words.published import five_fold_accuracy, one_split_accuracy
from tests.python.measures.simulated_texts import corpus, counts_matrix, texts


def test_five_folds_are_those_of_the_audits_description():
    features, design = corpus(np.random.default_rng(1), 22, 28, length=30, effect=1.0)
    shuffled = np.random.default_rng(2).permutation(50)
    features, labels = features[shuffled], design.labels[shuffled]
    documents = texts(features)
    marked = [document for document, label in zip(documents, labels, strict=True) if label == 1]
    unmarked = [document for document, label in zip(documents, labels, strict=True) if label == 0]
    counts = CountVectorizer(min_df=2).fit_transform(marked + unmarked)
    scores = cross_val_score(LinearSVC(random_state=0), counts, [1] * len(marked) + [0] * len(unmarked), cv=5)
    result = five_fold_accuracy(features, labels)
    assert (result.mean, result.sd) == pytest.approx((scores.mean(), scores.std()))
    assert 0.5 < result.mean < 1


def test_five_folds_repeat_themselves():
    features, design = corpus(np.random.default_rng(3), 20, 20, length=30, effect=0.2)
    assert five_fold_accuracy(features, design.labels) == five_fold_accuracy(features, design.labels)


@pytest.mark.parametrize("min_share", [0.001, 0.05])
def test_one_split_is_a_one_vs_rest_svc_on_training_words(min_share):
    rng = np.random.default_rng(4)
    shares = rng.dirichlet(np.ones(80) * 0.5, size=3)
    counts = np.concatenate([rng.multinomial(25, 0.4 * own + 0.6 * shares[0], size=30) for own in shares])
    features = counts_matrix(counts)
    classes = np.repeat([2, 0, 1], 30)
    documents = texts(features)
    training, held_out, y_training, y_held_out = train_test_split(
        documents, classes, test_size=0.2, random_state=42, stratify=classes
    )
    vectoriser = CountVectorizer(min_df=min_share)
    x_training, x_held_out = vectoriser.fit_transform(training), vectoriser.transform(held_out)
    accuracies = []
    for group in range(3):
        classifier = SVC(kernel="linear").fit(x_training, y_training == group)
        accuracies.append(classifier.score(x_held_out, y_held_out == group))
    result = one_split_accuracy(features, classes, min_share=min_share)
    assert result.mean == pytest.approx(np.mean(accuracies))
    assert result.sd == pytest.approx(np.std(accuracies))
