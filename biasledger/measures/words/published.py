"""Classifier procedures of the sources, to the digit.

They depend on the order of the texts and on the library's defaults, and are kept only to reproduce published
numbers next to the ones in `classifier_accuracy`. The library, half a second to import, is loaded where one of them is asked for.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from biasledger.measures.engine.design import Integers, Labels


@dataclass(frozen=True)
class PublishedAccuracy:
    """Accuracy, 0 to 1, and its population standard deviation over folds or classifiers."""

    mean: float
    sd: float


def five_fold_accuracy(
    features: sparse.csr_array, labels: Labels, *, min_units: int = 2
) -> PublishedAccuracy:
    """Plain LinearSVC on counts over five unshuffled folds, vocabulary taken from all texts.

    Marked texts first, then reference texts, each in the order given. Source: Xu, Potka & Thomo (2026), as in
    the snippet of the audit's description, which leaves the solver's random numbers open; they are fixed here so
    that a rebuild gives the same numbers.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import cross_val_score
    from sklearn.svm import LinearSVC

    marked_first = np.argsort(labels != 1, kind="stable")
    columns = np.flatnonzero(np.bincount(features.indices, minlength=features.shape[1]) >= min_units)
    with warnings.catch_warnings():
        # On counts the solver often stops at its default limit, as it did for the published number.
        warnings.simplefilter("ignore", ConvergenceWarning)
        scores = cross_val_score(
            LinearSVC(random_state=0), features[marked_first][:, columns], labels[marked_first], cv=5
        )
    return PublishedAccuracy(float(scores.mean()), float(scores.std()))


def one_split_accuracy(
    features: sparse.csr_array, classes: Integers, *, min_share: float = 0.001
) -> PublishedAccuracy:
    """One-vs-rest SVC on counts, one stratified 80/20 split, vocabulary from the training texts.

    Mean and sd are over the groups.

    The split depends on how classes are numbered. Source: Cheng, Durmus & Jurafsky (2023), classification of
    personas (random_state 42, min_df 0.001).
    """
    from sklearn.model_selection import train_test_split
    from sklearn.svm import SVC

    training, held_out = train_test_split(
        np.arange(classes.size), test_size=0.2, random_state=42, stratify=classes
    )
    counts = np.bincount(features[training].indices, minlength=features.shape[1])
    columns = np.flatnonzero(counts >= max(min_share * training.size, 1))
    selected = features[:, columns]
    accuracies = []
    for group in np.unique(classes):
        is_group = classes == group
        classifier = SVC(kernel="linear").fit(selected[training], is_group[training])
        accuracies.append(float((classifier.predict(selected[held_out]) == is_group[held_out]).mean()))
    return PublishedAccuracy(float(np.mean(accuracies)), float(np.std(accuracies)))
