"""Compare the words of two groups, as a whole and word by word, using the same arrangements of labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar, Unpack

import numpy as np
from scipy import sparse

from biasledger.measures.engine.design import Design, stable_seed
from biasledger.measures.engine.group_sums import group_sums, sums_in_parts
from biasledger.measures.engine.resampling import Draws, joint_permutation_tests
from biasledger.measures.engine.word_counts import column_sums
from biasledger.measures.words import divergence, log_odds
from biasledger.measures.words.condensed import CondensedWords
from biasledger.measures.words.divergence import Divergence
from biasledger.measures.words.log_odds import WordTest
from biasledger.measures.words.units import MovedTexts

Found = TypeVar("Found")


def difference(
    features: sparse.csr_array, design: Design, *, alpha: float, **draws: Unpack[Draws]
) -> tuple[Divergence, WordTest]:
    """`divergence` and `word_test` on one set of draws, whose sums are made once; alone they say the same.

    features: word counts (n_units, n_words). Where a group is a single unit its words are tested, and no divergence.
    """
    marked = group_sums(design.labels[np.newaxis, :], features)[0]
    reference = column_sums(features) - marked
    bits = divergence.jensen_shannon(marked, reference)
    if draws["n_permutations"] == 0 or not divergence.is_testable(design):
        return Divergence(bits), word_test(features, design, alpha=alpha, **draws)
    words = CondensedWords.of(features, design, draws["seed"])
    test, family = joint_permutation_tests(
        words.blocks,
        sums_in_parts(words.of_blocks),
        divergence.jensen_shannon_of_sums(words),
        log_odds.log_odds_of_sums(words.totals, words.n_others),
        alpha=alpha,
        **draws,
    )
    of_words = log_odds.audit_log_odds(marked, reference).log_odds
    return (
        divergence.tested(bits, test, words, design),
        log_odds.tested(of_words, words.expanded(family)),
    )


def word_test(
    features: sparse.csr_array, design: Design, *, alpha: float, **draws: Unpack[Draws]
) -> WordTest:
    """Return the test of `marked_words` alone."""
    total = column_sums(features)
    words = log_odds.marked_words(
        features, design, prior=total, prior_total=float(total.sum()), alpha=alpha, **draws
    )
    return words.test


def difference_by_units(
    judged: Sequence[MovedTexts], *, alpha: float, **draws: Unpack[Draws]
) -> tuple[Divergence, WordTest]:
    """divergence_by_units and words_by_units at once."""
    found = _by_units(judged, partial(difference, alpha=alpha), draws)
    return divergence.widest([bits for bits, _ in found]), log_odds.widest([words for _, words in found])


def divergence_by_units(judged: Sequence[MovedTexts], **draws: Unpack[Draws]) -> Divergence:
    """Return the divergence by every kind of unit: that of the largest p, with an interval that holds those of all."""
    return divergence.widest(_by_units(judged, divergence.divergence, draws))


def words_by_units(judged: Sequence[MovedTexts], *, alpha: float, **draws: Unpack[Draws]) -> WordTest:
    """Return each word by every kind of unit: the largest p of them, and bands that hold those of all."""
    return log_odds.widest(_by_units(judged, partial(word_test, alpha=alpha), draws))


def _by_units(judged: Sequence[MovedTexts], measure: Callable[..., Found], draws: Draws) -> list[Found]:
    """Return the results of a measure for each kind of unit, each with draws of its own."""
    found = []
    for place, units in enumerate(judged):
        seed = stable_seed(draws["seed"], units.name) if place else draws["seed"]
        own: Draws = {**draws, "seed": seed}
        found.append(measure(units.features, units.design, **own))
    return found
