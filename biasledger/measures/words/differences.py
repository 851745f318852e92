"""How the words of two groups differ, as a whole and word by word, against the same arrangements of labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from biasledger.measures.engine.group_sums import group_sums, sums_in_parts
from biasledger.measures.engine.resampling import Design, joint_permutation_tests, stable_seed
from biasledger.measures.engine.word_counts import column_sums
from biasledger.measures.words import divergence, log_odds
from biasledger.measures.words.condensed import CondensedWords
from biasledger.measures.words.divergence import Divergence
from biasledger.measures.words.log_odds import WordTest
from biasledger.measures.words.units import MovedTexts


def difference(
    features: sparse.csr_array,
    design: Design,
    *,
    n_permutations: int,
    alpha: float,
    seed: int,
    stop_after: int | None = 50,
) -> tuple[Divergence, WordTest]:
    """`divergence` and the test of `marked_words` on one set of draws, whose sums are made once; alone they say the same.

    features: word counts (n_units, n_words). Where labels cannot move there is no test, and none of a divergence where a group is
    a single unit.
    """
    marked = group_sums(design.labels[np.newaxis, :], features)[0]
    reference = column_sums(features) - marked
    bits = divergence.jensen_shannon(marked, reference)
    of_words = log_odds.audit_log_odds(marked, reference).log_odds
    if n_permutations == 0 or not design.can_move():
        return divergence.untested(bits), log_odds.tested(of_words, None)
    words = CondensedWords.of(features, design, seed)
    test, family = joint_permutation_tests(
        words.blocks,
        sums_in_parts(words.of_blocks),
        divergence.jensen_shannon_of_sums(words),
        log_odds.log_odds_of_sums(words.totals, words.n_others),
        n_permutations=n_permutations,
        alpha=alpha,
        seed=seed,
        stop_after=stop_after,
    )
    can_diverge = divergence.is_testable(design)
    return (
        divergence.tested(bits, test, words, design, divergence.Z)
        if can_diverge
        else divergence.untested(bits),
        log_odds.tested(of_words, words.expanded(family)),
    )


def difference_by_units(
    judged: Sequence[MovedTexts],
    *,
    n_permutations: int,
    alpha: float,
    seed: int,
    stop_after: int | None = 50,
) -> tuple[Divergence, WordTest]:
    """The difference by every kind of unit: of each test the largest p, with intervals and bands that hold those of all."""
    found = [
        difference(
            units.features,
            units.design,
            n_permutations=n_permutations,
            alpha=alpha,
            seed=seed if place == 0 else stable_seed(seed, units.name),
            stop_after=stop_after,
        )
        for place, units in enumerate(judged)
    ]
    return divergence.widest([bits for bits, _ in found]), log_odds.widest([words for _, words in found])
