"""Small corpora of multinomial texts with a planted difference of known size, or none."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from biasledger.measures.comparisons import Comparison
from biasledger.measures.engine.design import Design, Floats, Integers
from biasledger.measures.words.texts import Texts


def word_shares(n_words: int, effect: float = 0.0, n_affected: int = 10) -> tuple[Floats, Floats]:
    """Word shares of the marked and the reference group: Zipf's law, the first words exp(effect) times as frequent."""
    reference = 1 / np.arange(3, n_words + 3, dtype=np.float64)
    marked = reference.copy()
    marked[:n_affected] *= np.exp(effect * (-1.0) ** np.arange(n_affected))
    return marked / marked.sum(), reference / reference.sum()


def corpus(
    rng: np.random.Generator,
    n_marked: int,
    n_reference: int,
    *,
    n_words: int = 200,
    length: int = 60,
    effect: float = 0.0,
    n_strata: int = 3,
) -> tuple[sparse.csr_array, Design]:
    """Word counts (n_units, n_words) and their design, marked units first; every column is used by some unit."""
    marked, reference = word_shares(n_words, effect)
    counts = np.concatenate(
        [rng.multinomial(length, marked, size=n_marked), rng.multinomial(length, reference, size=n_reference)]
    ).astype(np.float64)
    counts = counts[:, counts.sum(axis=0) > 0]
    labels = np.repeat([1, 0], [n_marked, n_reference]).astype(np.int8)
    strata = np.concatenate([np.arange(n_marked) % n_strata, np.arange(n_reference) % n_strata])
    return counts_matrix(counts), Design(labels, strata.astype(np.int64))


def counts_matrix(counts: object) -> sparse.csr_array:
    """A table of counts as the measures take it: floats, 32-bit indices."""
    matrix = sparse.csr_array(np.asarray(counts, dtype=np.float64))
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return matrix


def spelling(n_words: int) -> list[str]:
    """Words in alphabetical order that any tokeniser leaves alone."""
    return [f"word{number:05d}" for number in range(n_words)]


def texts(features: sparse.csr_array) -> list[str]:
    """The counts written out as texts again."""
    words = np.array(spelling(features.shape[1]))
    return [" ".join(np.repeat(words, row.astype(np.int64))) for row in features.toarray()]


def comparison(
    features: sparse.csr_array,
    design: Design,
    *,
    kind: str = "against_reference",
    scheme: str = "words",
    weighting: str = "tfidf",
    clusters: Integers | None = None,
    classes: Integers | None = None,
    order: Integers | None = None,
    prompts: Integers | None = None,
    names: Integers | None = None,
    name_strata: Integers | None = None,
    n_trials: Floats | None = None,
    n_permutations: int = 99,
    key: str = "key",
) -> Comparison[Texts]:
    """A comparison whose corpus is its own texts; prompts are given where all of a prompt's answers move as one."""
    units = np.arange(design.n_units)
    answers = np.ones(design.n_units) if n_trials is None else n_trials
    total = np.asarray(answers @ features).ravel()
    classes = design.labels.astype(np.int64) if classes is None else classes
    found = Texts(
        kind=kind,
        scheme=scheme,
        weighting=weighting,
        features=features,
        n_answers=answers,
        words=np.array(spelling(features.shape[1])),
        prior=total,
        prior_total=float(total.sum()),
        design=design,
        clusters=units if clusters is None else clusters,
        prompts=units if prompts is None else prompts,
        moves_prompts=prompts is not None,
        n_trials=answers,
        name_strata=np.zeros(design.n_units, dtype=np.int64) if name_strata is None else name_strata,
        names=classes if names is None else names,
        classes=classes,
        order=units if order is None else order,
    )
    name = (scheme, kind, "plain", "race", "Black", "White")
    return Comparison(key, name, found, n_permutations, seed=1)
