"""Jensen-Shannon divergence in bits between the words of two groups (Lin 1991), and each word's part of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from biasledger.measures.engine.group_sums import group_sums, of_group_sums, pooled_features
from biasledger.measures.engine.jackknife import two_sample_jackknife
from biasledger.measures.engine.resampling import (
    Design,
    Floats,
    PermutationResult,
    permutation_test,
    pooled,
    stable_seed,
)
from biasledger.measures.engine.word_counts import column_sums, rows_using, with_rest
from biasledger.measures.words.units import MovedTexts


@dataclass(frozen=True)
class WordParts:
    """Each word's part of a Jensen-Shannon divergence; arrays shaped as the counts.

    contributions: in bits, never negative; their sum is the divergence. signed_shares: shares of that sum, positive where the
    marked group uses the word more, negative where the reference does.
    """

    contributions: Floats
    signed_shares: Floats


def divergence_parts(marked: Floats, reference: Floats) -> WordParts:
    """p/2 log2(p/m) + q/2 log2(q/m) for each word, with p and q the groups' word shares and m their mean.

    Counts have shape (..., n_words). An empty group gives NaN; where the groups do not differ, shares are 0.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        p = marked / marked.sum(axis=-1, keepdims=True)
        q = reference / reference.sum(axis=-1, keepdims=True)
        total = p + q
        contributions = np.maximum(_half_entropy_term(p, total) + _half_entropy_term(q, total), 0.0)
    divergence = contributions.sum(axis=-1, keepdims=True)
    return WordParts(
        contributions, np.sign(p - q) * contributions / np.where(divergence > 0, divergence, 1.0)
    )


def _half_entropy_term(share: Floats, total: Floats) -> Floats:
    """share/2 · log2(2 · share / total), 0 where the share is 0."""
    terms = np.zeros_like(share)
    np.divide(2 * share, total, out=terms, where=share > 0)
    np.log2(terms, out=terms, where=share > 0)
    return np.asarray(0.5 * share * terms)


@dataclass(frozen=True)
class Divergence:
    """Jensen-Shannon divergence of one contrast, in bits.

    The interval runs from debiased - z·SE to jackknife-corrected + z·SE: the plug-in divergence is biased
    upwards by rare words, its permutation-debiased value mostly downwards. The larger of both carries the upper end, or 0 where
    both are below it, as no divergence is.
    """

    jsd: float
    standard_error: float
    interval_low: float
    interval_high: float
    test: PermutationResult | None


def divergence(
    features: sparse.csr_array,
    design: Design,
    *,
    n_permutations: int,
    seed: int,
    z: float = 1.959964,
    stop_after: int | None = 50,
) -> Divergence:
    """Jensen-Shannon divergence between the marked and the reference group, and its null."""
    marked = group_sums(design.labels[np.newaxis, :], features)[0]
    total = column_sums(features)
    observed = float(divergence_parts(marked, total - marked).contributions.sum())
    if n_permutations == 0 or not design.can_move() or min(design.count(0), design.count(1)) < 2:
        return Divergence(observed, np.nan, np.nan, np.nan, None)
    condensed = _condense_single_unit_words(features)
    condensed_total = column_sums(condensed)
    blocks = pooled(design, seed)
    of_blocks = pooled_features(condensed, blocks)

    def jsd(sums: Floats) -> Floats:
        return _condensed_jensen_shannon(sums, condensed_total - sums)

    test = permutation_test(
        blocks.design,
        of_group_sums(jsd, of_blocks),
        n_permutations=n_permutations,
        seed=seed,
        stop_after=stop_after,
    )
    jackknife = two_sample_jackknife(condensed, design.labels, _condensed_jensen_shannon)
    high = max(test.debiased, jackknife.corrected, 0.0) + z * jackknife.standard_error
    return Divergence(
        observed,
        jackknife.standard_error,
        min(1.0, max(0.0, test.debiased - z * jackknife.standard_error)),
        min(1.0, high),
        test,
    )


def divergence_by_units(
    judged: Sequence[MovedTexts],
    *,
    n_permutations: int,
    seed: int,
    z: float = 1.959964,
    stop_after: int | None = 50,
) -> Divergence:
    """Divergence by every kind of unit: that of the largest p, with an interval that holds those of all."""
    results = [
        divergence(
            units.features,
            units.design,
            n_permutations=n_permutations,
            seed=seed if place == 0 else stable_seed(seed, units.name),
            z=z,
            stop_after=stop_after,
        )
        for place, units in enumerate(judged)
    ]
    if any(result.test is None for result in results):
        return next(result for result in results if result.test is None)
    decides = max(results, key=lambda result: result.test.p_value if result.test else 1.0)
    return replace(
        decides,
        interval_low=min(result.interval_low for result in results),
        interval_high=max(result.interval_high for result in results),
    )


def _condense_single_unit_words(features: sparse.csr_array) -> sparse.csr_array:
    """Words that one unit alone uses, about half of a vocabulary, summed into one last column.

    Such a word lies wholly in one group and adds half its share there to the divergence, so the sum is all that
    counts.
    """
    return with_rest(features, rows_using(features) > 1)


def _entropy(shares: Floats) -> Floats:
    """Entropy in bits over the last axis; adding the smallest normal number makes 0 log 0 vanish without a mask."""
    terms = shares + np.finfo(np.float64).tiny
    np.log2(terms, out=terms)
    terms *= shares
    return -np.asarray(terms.sum(axis=-1))


def _condensed_jensen_shannon(marked: Floats, reference: Floats) -> Floats:
    """Jensen-Shannon divergence in bits from counts whose last column sums words that lie wholly in one group."""
    with np.errstate(divide="ignore", invalid="ignore"):
        p = marked / marked.sum(axis=-1, keepdims=True)
        q = reference / reference.sum(axis=-1, keepdims=True)
    p_single, q_single = p[..., -1], q[..., -1]
    p, q = p[..., :-1], q[..., :-1]
    # Shares no longer sum to 1 here: log2 2 of what remains takes the place of the 1 in H(M) = 1 - ...
    divergence_of_shared = _entropy(p + q) - _entropy(p) - _entropy(q) + p.sum(axis=-1) + q.sum(axis=-1)
    return np.asarray((divergence_of_shared + p_single + q_single) / 2)
