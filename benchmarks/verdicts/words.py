"""Classifier accuracy of few texts and of unequal groups."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from benchmarks.verdicts import Case
from biasledger.measures.engine.design import Design, Floats, Labels
from biasledger.measures.words.classifier_accuracy import ClassifierAccuracy, classifier_accuracy

ACCURACY = 0.80

# Word shares that many texts tell apart with these accuracies (16,000 texts, measured).
EFFECT_OF_LIMIT = {0.81: 0.345, 0.86: 0.42, 0.91: 0.52}


def unequal(seed: int, n_marked: int, n_reference: int, limit: float) -> ClassifierAccuracy:
    """Texts of 60 words of two groups that unlimited texts would tell apart with the accuracy `limit`."""
    rng = np.random.default_rng([4, seed])
    effect = EFFECT_OF_LIMIT[limit]
    counts = np.concatenate(
        [
            rng.multinomial(60, _shares(300, effect, 20), size=n_marked),
            rng.multinomial(60, _shares(300), size=n_reference),
        ]
    ).astype(np.float64)
    features = sparse.csr_array(counts[:, counts.sum(axis=0) > 0])
    features.indices, features.indptr = features.indices.astype(np.int32), features.indptr.astype(np.int32)
    labels: Labels = np.repeat([1, 0], [n_marked, n_reference]).astype(np.int8)
    design = Design(labels, np.zeros(labels.size, dtype=np.int64))
    with threadpool_limits(limits=1):
        return classifier_accuracy(features, design, np.arange(labels.size), n_permutations=99, seed=seed)


def _shares(n_words: int, effect: float = 0.0, n_affected: int = 10) -> Floats:
    """Zipf's law; the first words exp(effect) times as frequent or as rare in turn."""
    shares = 1 / np.arange(3, n_words + 3, dtype=np.float64)
    shares[:n_affected] *= np.exp(effect * (-1.0) ** np.arange(n_affected))
    return np.asarray(shares / shares.sum())


def _classifier_accuracy_clears(make: Callable[[int], ClassifierAccuracy], seed: int) -> bool:
    return make(seed).interval_high < ACCURACY


def _classifier_accuracy_holds(make: Callable[[int], ClassifierAccuracy], limit: float, seed: int) -> bool:
    result = make(seed)
    return result.interval_low <= limit <= result.interval_high


_few_against_many = partial(unequal, n_marked=30, n_reference=600, limit=0.81)
_fewer_against_many = partial(unequal, n_marked=15, n_reference=300, limit=0.91)
_fewer_holds = partial(_classifier_accuracy_holds, _fewer_against_many, 0.91)
_ten = partial(unequal, n_marked=10, n_reference=10, limit=0.86)

CASES = (
    Case("4", "accuracy: 30 to 600, limit .81", "false clear", partial(_classifier_accuracy_clears, _few_against_many)),
    Case("4", "accuracy: 15 against 300, interval holds .91", "found", _fewer_holds, at_least=0.95),
    Case("4", "accuracy: 10 a side, limit .86", "false clear", partial(_classifier_accuracy_clears, _ten)),
)  # fmt: skip
