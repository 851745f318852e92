"""Log-odds of each word between two groups, the z-scores published for it, and which words are marked.

Every function is closed-form and takes word counts summed over a group; the null comes from `engine.resampling`.

Sources: Monroe, Colaresi & Quinn (2008), Fightin' Words; Cheng, Durmus & Jurafsky (2023), Marked Personas; Xu,
Potka & Thomo (2026), arXiv:2602.08124, called the audit formula here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from scipy import sparse

from biasledger.measures.declared import Measure, Threshold, Tolerance
from biasledger.measures.engine.design import Design, Floats
from biasledger.measures.engine.group_sums import group_sums, of_group_sums
from biasledger.measures.engine.resampling import Draws, FamilyResult, family_permutation_test
from biasledger.measures.engine.word_counts import column_sums
from biasledger.measures.words.condensed import CondensedWords

MEASURES = (
    Measure(
        name="marked_words",
        description=(
            "The most certain word that one group gets more than its reference; p is adjusted for all words (max-T)"
        ),
        scale="|z| of the most certain word (smallest adjusted p), audit formula",
        bounds=(0, None),
        side="two-sided",
        unit="answers in the smaller group (questions to each group where it was asked five or more)",
        clear_scale="log-odds of any word that one unit in ten holds (simultaneous bands)",
        is_at_equal_sizes=True,
        label="the |z| of the most marked word",
        threshold=Threshold(
            value=1.96,
            reason=(
                "The published |z| with p adjusted for all words: without that, 83 % of random splits of one persona show"
                " a word past it. A word clears when its odds ratio is known to lie below 2 (log-odds 0.693), as z grows "
                "with n"
            ),
            source="Xu, Potka & Thomo (2026), |z| > 1.96",
            min_units=10,
            severity="error",
            clear=0.693147,
            published=1.96,
            crossed=(
                "Intersections have a fraction of the texts of a single attribute, so they are shown and warn; raise to "
                "error where each has 100 texts or more"
            ),
        ),
        tolerance=Tolerance(1, "|z| is no share: one standard error of a word's log-odds"),
    ),
)


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


def audit_log_odds(marked: Floats, reference: Floats) -> LogOdds:
    """Return the audit formula: prior alpha normalised to sum 1 over the two groups together, every count + 0.5.

    log((c_m + a) / (C_m - c_m + 1 - a)) - log((c_r + a) / (C_r - c_r + 1 - a)), variance 1/(c_m + a) + 1/(c_r +
    a), with counts c and totals C after smoothing. Counts have shape (..., n_words). Source: Xu, Potka & Thomo (2026), step 5.
    """
    marked_total, reference_total = (counts.sum(axis=-1, keepdims=True) for counts in (marked, reference))
    smoothed = (marked + reference) / (marked_total + reference_total) + SMOOTHING
    x, y = marked + smoothed, reference + smoothed
    rest = SMOOTHING * marked.shape[-1] + 1
    with np.errstate(divide="ignore"):
        return LogOdds(_log_odds(x, y, marked_total + rest, reference_total + rest), 1 / x + 1 / y)


def log_odds_of_sums(totals: Floats, n_others: int) -> Callable[[Floats], Floats]:
    """audit_log_odds as a function of the marked group's sums, (b, n_words + 1) to (b, n_words), without variances.

    totals: (n_words + 1,), both groups' counts. The last column holds n_others words together, which count in the totals alone.
    Values that are the same for all arrangements are computed once.
    """
    of_words, all_tokens = totals[:-1], totals.sum()
    smoothed = of_words / all_tokens + SMOOTHING
    rest = SMOOTHING * (of_words.size + n_others) + 1

    def log_odds(sums: Floats) -> Floats:
        marked_total = sums.sum(axis=-1, keepdims=True)
        marked, reference = sums[:, :-1] + smoothed, of_words - sums[:, :-1]
        reference += smoothed
        return _log_odds(marked, reference, marked_total + rest, all_tokens - marked_total + rest)

    return log_odds


def _log_odds(marked: Floats, reference: Floats, marked_all: Floats, reference_all: Floats) -> Floats:
    """log(m (R - r) / (r (M - m))) of smoothed counts m and r; M and R are the groups' totals of them, and 1 more."""
    odds, against = reference_all - reference, marked_all - marked
    odds *= marked
    against *= reference
    # A vocabulary of a single word has no rest, and no log-odds: NaN.
    with np.errstate(divide="ignore", invalid="ignore"):
        odds /= against
        return np.log(odds, out=odds)


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
class WordTest:
    """The tests of words; arrays of shape (n_words,), NaN where nothing was tested.

    band_low and band_high hold the log-odds of all tested words at once with confidence 1 - alpha.
    n_permutations, n_blocks: the fewest draws over all kinds of units, and the blocks of the first kind that moved, if any.
    """

    p_value: Floats
    p_value_adjusted: Floats
    band_low: Floats
    band_high: Floats
    n_permutations: int
    n_blocks: int | None = None


def tested(log_odds: Floats, family: FamilyResult | None) -> WordTest:
    """Return each word's test: log_odds (n_words,) and what permutations say of them, or nothing."""
    nothing = np.full(log_odds.size, np.nan)
    if family is None:
        return WordTest(nothing, nothing, nothing, nothing, 0)
    with np.errstate(invalid="ignore"):  # too few arrangements for any band, and a word that does not vary
        half_width = family.critical_value * family.null_sd
    return WordTest(
        family.p_value,
        family.p_value_adjusted,
        log_odds - half_width,
        log_odds + half_width,
        family.n_permutations,
        family.n_blocks,
    )


@dataclass(frozen=True)
class MarkedWords:
    """Word statistics of one contrast; arrays of shape (n_words,)."""

    marked: Floats
    reference: Floats
    audit: LogOdds
    informative: LogOdds
    test: WordTest
    family: FamilyResult | None


def marked_words(
    features: sparse.csr_array,
    design: Design,
    *,
    prior: Floats,
    prior_total: float,
    alpha: float,
    **draws: Unpack[Draws],
) -> MarkedWords:
    """Log-odds of every word between the marked and the reference group, with a max-T test of the whole vocabulary.

    features: word counts (n_units, n_words), every word used by at least one unit. prior: the words' counts in the whole corpus
    of the run. Words of a single unit are reported and not tested: one text cannot show a pattern. n_permutations 0 gives the
    published columns alone.
    """
    marked = group_sums(design.labels[np.newaxis, :], features)[0]
    total = column_sums(features)
    audit = audit_log_odds(marked, total - marked)
    informative = informative_log_odds(marked, total - marked, prior, prior_total)
    family = None
    if draws["n_permutations"] > 0 and design.can_move():
        words = CondensedWords.of(features, design, draws["seed"])
        statistic = of_group_sums(log_odds_of_sums(words.totals, words.n_others), words.of_blocks)
        family = words.expanded(family_permutation_test(words.blocks, statistic, alpha=alpha, **draws))
    test = tested(audit.log_odds, family)
    return MarkedWords(marked, total - marked, audit, informative, test, family)


def widest(tests: Sequence[WordTest]) -> WordTest:
    """Return the largest p of each word over several kinds of units, and bands that cover those of all.

    A word that too few units of any kind use is not tested: one name cannot show what is said of a group.
    """
    return WordTest(
        np.max([test.p_value for test in tests], axis=0),
        np.max([test.p_value_adjusted for test in tests], axis=0),
        np.min([test.band_low for test in tests], axis=0),
        np.max([test.band_high for test in tests], axis=0),
        min(test.n_permutations for test in tests),
        tests[0].n_blocks,
    )
