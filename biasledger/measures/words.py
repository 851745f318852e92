"""Words: log-odds of each word, the z-scores published for it, and Jensen-Shannon divergence in bits.

Every function is closed-form and takes word counts summed over a group; the null comes from `resampling`.

Sources: Monroe, Colaresi & Quinn (2008), Fightin' Words; Cheng, Durmus & Jurafsky (2023), Marked Personas; Xu,
Potka & Thomo (2026), arXiv:2602.08124, called the audit formula here; Lin (1991) for the Jensen-Shannon
divergence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from biasledger.measures.resampling import (
    Design,
    FamilyResult,
    Floats,
    Labels,
    PermutationResult,
    family_permutation_test,
    group_sums,
    permutation_test,
    stable_seed,
    two_sample_jackknife,
)
from biasledger.measures.text_units import Units

SMOOTHING = 0.5


@dataclass(frozen=True)
class LogOdds:
    """Log-odds ratio of each word between two groups; arrays of shape (..., n_words)."""

    log_odds: Floats
    variance: Floats

    @property
    def z_score(self) -> Floats:
        """log_odds / sqrt(variance)."""
        return self.log_odds / np.sqrt(self.variance)


@dataclass(frozen=True)
class Others:
    """Tokens of the words left out of a table of counts, by group, shape (...), and how many such words there are."""

    marked: Floats
    reference: Floats
    n_words: int


def audit_log_odds(marked: Floats, reference: Floats, others: Others | None = None) -> LogOdds:
    """The audit formula: prior alpha normalised to sum 1 over the two groups together, every count + 0.5.

    log((c_m + a) / (C_m - c_m + 1 - a)) - log((c_r + a) / (C_r - c_r + 1 - a)), variance 1/(c_m + a) + 1/(c_r +
    a), with counts c and totals C after smoothing. Counts have shape (..., n_words); others holds what the
    words left out of them add to the totals, None where all words of both groups are there. Source: Xu, Potka &
    Thomo (2026), step 5.
    """
    others = others or Others(np.zeros(marked.shape[:-1]), np.zeros(marked.shape[:-1]), 0)
    n_words = marked.shape[-1] + others.n_words
    marked_total = (marked.sum(axis=-1) + others.marked)[..., np.newaxis]
    reference_total = (reference.sum(axis=-1) + others.reference)[..., np.newaxis]
    prior = (marked + reference) / (marked_total + reference_total)
    x, y = marked + (prior + SMOOTHING), reference + (prior + SMOOTHING)
    marked_rest = marked_total + (SMOOTHING * n_words + 1) - x
    reference_rest = reference_total + (SMOOTHING * n_words + 1) - y
    # A vocabulary of a single word has no rest, and no log-odds: NaN.
    with np.errstate(divide="ignore", invalid="ignore"):
        return LogOdds(np.log((x * reference_rest) / (y * marked_rest)), 1 / x + 1 / y)


def informative_log_odds(marked: Floats, reference: Floats, prior: Floats, prior_total: float) -> LogOdds:
    """Monroe et al.'s informative Dirichlet prior, with raw pooled counts of the whole corpus as the prior.

    prior: count of each word in the whole corpus (all groups); prior_total: number of all its tokens.
    Source: Monroe, Colaresi & Quinn (2008), eq. 16-22, as applied by Cheng, Durmus & Jurafsky (2023).
    """
    x, y = marked + prior, reference + prior
    x_rest = marked.sum(axis=-1, keepdims=True) + prior_total - x
    y_rest = reference.sum(axis=-1, keepdims=True) + prior_total - y
    with np.errstate(divide="ignore", invalid="ignore"):
        return LogOdds(np.log(x / x_rest) - np.log(y / y_rest), 1 / x + 1 / y)


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
class MarkedWords:
    """Word statistics of one contrast; arrays of shape (n_words,), p-values NaN where nothing was tested.

    band_low and band_high hold the log-odds of all tested words at once with confidence 1 - alpha.
    """

    marked: Floats
    reference: Floats
    audit: LogOdds
    informative: LogOdds
    band_low: Floats
    band_high: Floats
    family: FamilyResult | None


def marked_words(
    features: sparse.csr_array,
    design: Design,
    *,
    prior: Floats,
    prior_total: float,
    n_permutations: int,
    alpha: float,
    seed: int,
    min_units: int = 2,
    stop_after: int | None = 50,
) -> MarkedWords:
    """Log-odds of every word between the marked and the reference group, with a max-T test of the whole vocabulary.

    features: word counts (n_units, n_words), every word used by at least one unit. prior: the words' counts in
    the whole corpus of the run. Words of fewer than min_units units are reported and not tested: one text
    cannot show a pattern. n_permutations 0 gives the published columns alone.
    """
    marked = group_sums(design.labels[np.newaxis, :], features)[0]
    total = np.asarray(features.sum(axis=0), dtype=np.float64).ravel()
    audit = audit_log_odds(marked, total - marked)
    informative = informative_log_odds(marked, total - marked, prior, prior_total)
    no_band = np.full(total.size, np.nan)
    if n_permutations == 0 or not design.can_move():
        return MarkedWords(marked, total - marked, audit, informative, no_band, no_band, None)
    tested = np.flatnonzero(np.bincount(features.indices, minlength=total.size) >= min_units)
    untested = np.flatnonzero(np.bincount(features.indices, minlength=total.size) < min_units)
    # The last column holds the tokens of all untested words together: they count in the totals alone.
    condensed = sparse.csr_array(
        sparse.hstack([features[:, tested], features[:, untested].sum(axis=1)[:, np.newaxis]])
    )
    condensed_total = np.append(total[tested], total[untested].sum())

    def log_odds(labels: Labels) -> Floats:
        marked = group_sums(labels, condensed)
        reference = condensed_total - marked
        others = Others(marked[:, -1], reference[:, -1], untested.size)
        return audit_log_odds(marked[:, :-1], reference[:, :-1], others).log_odds

    family = family_permutation_test(
        design, log_odds, n_permutations=n_permutations, alpha=alpha, seed=seed, stop_after=stop_after
    ).expanded(tested, total.size)
    half_width = family.critical_value * family.null_sd
    return MarkedWords(
        marked,
        total - marked,
        audit,
        informative,
        audit.log_odds - half_width,
        audit.log_odds + half_width,
        family,
    )


@dataclass(frozen=True)
class WordTest:
    """What is judged of each word; arrays of shape (n_words,), NaN where nothing was tested. Bands as in MarkedWords."""

    p_value: Floats
    p_value_adjusted: Floats
    band_low: Floats
    band_high: Floats
    n_permutations: int


def marked_words_by_units(
    judged: Sequence[Units],
    *,
    n_permutations: int,
    alpha: float,
    seed: int,
    min_units: int = 2,
    stop_after: int | None = 50,
) -> WordTest:
    """Each word by every kind of unit: the largest p of them, and bands that hold those of all.

    A word that fewer than min_units of any kind use is not tested: one name cannot show what a group is told.
    """
    tests = []
    for place, units in enumerate(judged):
        prior = np.asarray(units.features.sum(axis=0), dtype=np.float64).ravel()
        words = marked_words(
            units.features,
            units.design,
            prior=prior,
            prior_total=float(prior.sum()),
            n_permutations=n_permutations,
            alpha=alpha,
            seed=seed if place == 0 else stable_seed(seed, units.name),
            min_units=min_units,
            stop_after=stop_after,
        )
        nothing = np.full(prior.size, np.nan)
        family = words.family
        tests.append(
            WordTest(
                family.p_value if family else nothing,
                family.p_value_adjusted if family else nothing,
                words.band_low,
                words.band_high,
                family.n_permutations if family else 0,
            )
        )
    return WordTest(
        np.max([test.p_value for test in tests], axis=0),
        np.max([test.p_value_adjusted for test in tests], axis=0),
        np.min([test.band_low for test in tests], axis=0),
        np.max([test.band_high for test in tests], axis=0),
        min(test.n_permutations for test in tests),
    )


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
    condensed = _condense_single_unit_words(features)
    condensed_total = np.asarray(condensed.sum(axis=0), dtype=np.float64).ravel()

    def jsd(labels: Labels) -> Floats:
        sums = group_sums(labels, condensed)
        return _condensed_jensen_shannon(sums, condensed_total - sums)

    marked = group_sums(design.labels[np.newaxis, :], features)[0]
    total = np.asarray(features.sum(axis=0), dtype=np.float64).ravel()
    observed = float(divergence_parts(marked, total - marked).contributions.sum())
    if n_permutations == 0 or not design.can_move() or min(design.count(0), design.count(1)) < 2:
        return Divergence(observed, np.nan, np.nan, np.nan, None)
    test = permutation_test(design, jsd, n_permutations=n_permutations, seed=seed, stop_after=stop_after)
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
    judged: Sequence[Units],
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
    users = np.bincount(features.indices, minlength=features.shape[1])
    shared, single = np.flatnonzero(users > 1), np.flatnonzero(users <= 1)
    return sparse.csr_array(
        sparse.hstack([features[:, shared], features[:, single].sum(axis=1)[:, np.newaxis]])
    )


def _entropy(shares: Floats) -> Floats:
    """Entropy in bits over the last axis; adding the smallest normal number makes 0 log 0 vanish without a mask."""
    return -np.asarray((shares * np.log2(shares + np.finfo(np.float64).tiny)).sum(axis=-1))


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
