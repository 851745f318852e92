"""Learning curves: how accurately texts are distinguished by more and more of them, and what that takes."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse
from sklearn.metrics import balanced_accuracy_score
from threadpoolctl import threadpool_limits

from benchmarks.corpus import N_VOCABULARY, TILTS, word_shares
from benchmarks.processes import StepClock
from biasledger.measures.engine.resampling import Design
from biasledger.measures.words.classifier_accuracy import assign_folds, out_of_fold_predictions

SEED = 1
SMALLEST = 1_000


def run(*, n_texts: int, n_words: int) -> None:
    """Print balanced accuracy out of fold of each race and the reference, half of the texts each, and processor seconds."""
    rng = np.random.default_rng(SEED)
    sizes = [SMALLEST * 2**step for step in range(int(np.log2(n_texts / SMALLEST)) + 1)]
    marked = [race for race in TILTS if race != "White"]
    table = Table("texts", *marked, "processor s")
    clocks, accuracies = {size: StepClock() for size in sizes}, {}
    reference = word_counts("White", sizes[-1] // 2, n_words, rng)
    with threadpool_limits(limits=1):
        for race in marked:
            own = word_counts(race, sizes[-1] // 2, n_words, rng)
            for size in sizes:
                features = sparse.csr_array(sparse.vstack([reference[: size // 2], own[: size // 2]]))
                labels = np.repeat([0, 1], size // 2).astype(np.int8)
                units = np.arange(size)
                folds = assign_folds(Design(labels, np.zeros_like(units)), units, n_folds=5, seed=SEED)
                with clocks[size].step("fit"):
                    predicted = out_of_fold_predictions(features, labels, folds)
                accuracies[size, race] = float(balanced_accuracy_score(labels, predicted))
    for size in sizes:
        shown = [f"{accuracies[size, race]:.3f}" for race in marked]
        table.add_row(f"{size:,}", *shown, f"{clocks[size].cpu['fit']:.1f}")
    Console(width=110, highlight=False).print(table)


def word_counts(race: str, n_texts: int, n_words: int, rng: np.random.Generator) -> sparse.csr_array:
    """Word counts of texts of a race, (n_texts, N_VOCABULARY)."""
    cumulated = np.cumsum(word_shares(race))
    words = np.searchsorted(cumulated, rng.random(n_texts * n_words) * cumulated[-1], side="right")
    rows = np.repeat(np.arange(n_texts, dtype=np.int32), n_words)
    counts = sparse.csr_array(
        sparse.coo_array((np.ones(words.size), (rows, words.astype(np.int32))), shape=(n_texts, N_VOCABULARY))
    )
    counts.indices, counts.indptr = counts.indices.astype(np.int32), counts.indptr.astype(np.int32)
    return counts
