"""The published and the judged values of words, comparison by comparison.

The published values count words as the sources do, with their multiplicities. The judged values use every trial at equal lengths,
moved as it was asked, and names or wordings where there are enough of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from biasledger.measures.comparisons import Comparison, Settings, table
from biasledger.measures.engine.design import Floats, Integers, stable_seed
from biasledger.measures.engine.group_sums import group_sums
from biasledger.measures.engine.resampling import PermutationResult
from biasledger.measures.engine.word_counts import column_sums, rows_using
from biasledger.measures.schema import Table, prefixed
from biasledger.measures.words.classifier_accuracy import (
    ClassifierAccuracy,
    classifier_accuracy,
    descriptors_test,
)
from biasledger.measures.words.differences import difference_by_units, divergence_by_units, words_by_units
from biasledger.measures.words.divergence import Divergence, divergence_parts, jensen_shannon
from biasledger.measures.words.lengths import Lengths, length_gap
from biasledger.measures.words.log_odds import WordTest, marked_words
from biasledger.measures.words.published import PublishedAccuracy, five_fold_accuracy, one_split_accuracy
from biasledger.measures.words.texts import Texts
from biasledger.measures.words.units import MIN_DESCRIPTORS, judged_texts

MIN_TEXTS_FOR_SVM = 10
N_TOP_WORDS = 10
# Both measures of two groups' words use the same draws; the first one of a build leaves its result for the other.
_DRAWS = "marked_words"
_DIVERGENCE = "divergence"
# Enough draws for the mean of what chance gives; two wordings of one group are not tested.
_N_DRAWS_OF_WORDINGS = 99


@dataclass(frozen=True)
class WordingControl:
    """A value between each two wordings of one group: the largest, the root mean square, and how many pairs had one."""

    largest: float = np.nan
    typical: float = np.nan
    n_pairs: int = 0

    @classmethod
    def of(cls, values: Iterable[float]) -> WordingControl:
        """Return the control of the values of all pairs of wordings, NaN where nothing was measured."""
        known = np.array([value for value in values if not np.isnan(value)])
        return cls(float(known.max()), float(np.sqrt(np.mean(known**2))), known.size) if known.size else cls()


@dataclass(frozen=True)
class WordingControls:
    """The wording controls of both groups of a comparison."""

    reference: WordingControl = field(default=WordingControl(), metadata=prefixed("reference_"))
    marked: WordingControl = field(default=WordingControl(), metadata=prefixed("marked_"))


@dataclass(frozen=True)
class WordStatistics:
    """The words of two groups; arrays (n_words,). n_marked, n_reference: uses; n_marked_answers, n_reference_answers: answers of
    the group that use the word, however often. n_units_using: units that use it, of those that are judged first.

    Log-odds, variance and z are of the published counts, bands and p-values of what is judged: see marked_words. contribution,
    signed_share: the word's part of the published divergence.
    """

    word: NDArray[np.str_]
    n_marked: Floats
    n_reference: Floats
    n_marked_answers: Floats
    n_reference_answers: Floats
    n_units_using: Integers
    log_odds: Floats
    variance: Floats
    z_score: Floats
    z_score_informative: Floats
    judged: WordTest
    contribution: Floats
    signed_share: Floats


@dataclass(frozen=True)
class WordDivergence:
    """Divergence of two groups' words in bits, as published and as judged, with the latter's interval and test; and lengths."""

    jsd: float
    jsd_judged: float
    standard_error: float
    interval_low: float
    interval_high: float
    test: PermutationResult | None
    lengths: Lengths | None
    length_seed: int
    wordings: WordingControls = field(default=WordingControls(), metadata=prefixed("wordings_"))
    length_wordings: WordingControls = field(default=WordingControls(), metadata=prefixed("length_wordings_"))


@dataclass(frozen=True)
class ClassifierAccuracyRow:
    """The accuracy of a classifier of groups, as published (accuracy_*) and as judged (the rest); see Classifier accuracy.

    coefficients: the words of largest weight, as JSON [{word, coefficient}]. skipped_reason: why nothing was measured, or "".
    n_texts: texts of the judged classifier.
    """

    chance: float = np.nan
    accuracy_mean: float = np.nan
    accuracy_sd: float = np.nan
    balanced_accuracy: float = np.nan
    beyond_chance: float = np.nan
    standard_error: float = np.nan
    interval_low: float = np.nan
    interval_high: float = np.nan
    test: PermutationResult | None = None
    published: PublishedAccuracy | None = field(default=None, metadata=prefixed("published_accuracy_"))
    coefficients: str = "[]"
    skipped_reason: str = ""
    n_texts: int = 0
    wordings: WordingControls = field(default=WordingControls(), metadata=prefixed("wordings_"))


def word_statistics(comparisons: Iterable[Comparison[Texts]]) -> Table:
    """Return a row for each comparison of two groups and word: WordStatistics."""
    return table(WordStatistics, _pairs(comparisons), _statistics, _DRAWS)


def divergences(comparisons: Iterable[Comparison[Texts]]) -> Table:
    """Return a row for each comparison of two groups: its WordDivergence."""
    return table(WordDivergence, _pairs(comparisons), _divergence, _DRAWS)


def classifier_accuracies(comparisons: Iterable[Comparison[Texts]]) -> Table:
    """Return a ClassifierAccuracyRow for each comparison: pairs, and all groups of an attribute.

    A comparison with fewer than ten distinct texts in a group is skipped; skipped_reason says so.
    """
    return table(ClassifierAccuracyRow, comparisons, _classifier_accuracy_row, "classifier_accuracy")


def _pairs(comparisons: Iterable[Comparison[Texts]]) -> Iterator[Comparison[Texts]]:
    return (one for one in comparisons if one.units.is_pair)


def _statistics(comparison: Comparison[Texts], settings: Settings) -> WordStatistics:
    texts = comparison.units
    published: Settings = {**settings, "n_permutations": 0}
    words = marked_words(
        texts.counted_features, texts.design, prior=texts.prior, prior_total=texts.prior_total, **published
    )
    parts = divergence_parts(words.marked, words.reference)
    tests, users = words.test, texts.features
    if comparison.n_permutations > 0:
        judged = judged_texts(comparison)
        users = judged.first.features
        if comparison.shared is None:
            tests = words_by_units(judged.all_units, **settings)
        else:
            comparison.shared[_DIVERGENCE], tests = difference_by_units(judged.all_units, **settings)
    return WordStatistics(
        texts.words,
        words.marked,
        words.reference,
        _answers_using(texts, 1),
        _answers_using(texts, 0),
        rows_using(users).astype(np.int64),
        words.audit.log_odds,
        words.audit.variance,
        words.audit.z_score,
        words.informative.z_score,
        tests,
        parts.contributions,
        parts.signed_shares,
    )


def _answers_using(texts: Texts, label: int) -> Floats:
    """Answers of a group that use each word, (n_words,): a word that occurs twice in one counts once."""
    return rows_using(texts.features, np.where(texts.design.labels == label, texts.n_answers, 0.0))


def _divergence(comparison: Comparison[Texts], settings: Settings) -> WordDivergence:
    texts, n, seed = comparison.units, settings["n_permutations"], settings["seed"]
    marked = group_sums(texts.design.labels[np.newaxis, :], texts.counted_features)[0]
    published = jensen_shannon(marked, column_sums(texts.counted_features) - marked)
    judged = Divergence(published)
    if n > 0:
        shared = (comparison.shared or {}).pop(_DIVERGENCE, None)
        judged = shared or divergence_by_units(
            judged_texts(comparison).all_units, n_permutations=n, seed=seed
        )
    of_lengths: Settings = {**settings, "seed": comparison.seed_for("length_gap")}
    return WordDivergence(
        published,
        judged.jsd,
        judged.standard_error,
        judged.interval_low,
        judged.interval_high,
        judged.test,
        length_gap(texts, **of_lengths),
        of_lengths["seed"],
        _between_wordings(comparison, lambda one: _divergence_beyond_chance(one, seed)),
        _between_wordings(comparison, lambda one: _length_difference(one, of_lengths)),
    )


def _between_wordings(
    comparison: Comparison[Texts], value: Callable[[Comparison[Texts]], float]
) -> WordingControls:
    """Return a value between two wordings of each group, where few were tested: MIN_DESCRIPTORS or more are units of the test."""
    texts = comparison.units
    if comparison.n_permutations == 0 or texts.kind != "against_reference" or not texts.is_pair:
        return WordingControls()
    reference, marked = (
        WordingControl.of(
            value(replace(comparison, units=pair, n_permutations=_N_DRAWS_OF_WORDINGS, shared=None))
            for pair in texts.between_wordings(label, MIN_DESCRIPTORS - 1)
        )
        for label in (0, 1)
    )
    return WordingControls(reference, marked)


def _divergence_beyond_chance(comparison: Comparison[Texts], seed: int) -> float:
    units = judged_texts(comparison).all_units
    judged = divergence_by_units(units, n_permutations=comparison.n_permutations, seed=seed)
    return judged.jsd - judged.test.null_mean if judged.test else np.nan


def _length_difference(comparison: Comparison[Texts], settings: Settings) -> float:
    lengths = length_gap(comparison.units, n_permutations=0, alpha=settings["alpha"], seed=settings["seed"])
    return abs(lengths.gap.adjusted_gap) if lengths else np.nan


def _classifier_accuracy_row(comparison: Comparison[Texts], settings: Settings) -> ClassifierAccuracyRow:
    texts, reason, seed = comparison.units, _reason_to_skip(comparison.units), settings["seed"]
    if reason:
        return ClassifierAccuracyRow(skipped_reason=reason)
    # The published count; the judged one has every trial, at equal lengths.
    counted = classifier_accuracy(
        texts.counted_features,
        texts.design,
        texts.clusters,
        n_permutations=0,
        seed=seed,
        weighting=texts.weighting,
    )
    judged = judged_classifier_accuracy(comparison, seed) if comparison.n_permutations > 0 else counted
    if np.isnan(judged.balanced_accuracy):
        reason = "answers to one question are so often word for word those to another that a classifier has none to learn from"
    return ClassifierAccuracyRow(
        counted.chance,
        counted.accuracy_mean,
        counted.accuracy_sd,
        judged.balanced_accuracy,
        judged.beyond_chance,
        judged.standard_error,
        judged.interval_low,
        judged.interval_high,
        judged.test,
        _published(texts),
        _top_coefficients(counted, texts),
        reason,
        judged.n_texts,
        _between_wordings(comparison, lambda one: _accuracy_beyond_chance(one, seed)),
    )


def _accuracy_beyond_chance(comparison: Comparison[Texts], seed: int) -> float:
    if _reason_to_skip(comparison.units):
        return np.nan
    return judged_classifier_accuracy(comparison, seed).beyond_chance


def judged_classifier_accuracy(comparison: Comparison[Texts], seed: int) -> ClassifierAccuracy:
    """Classifier accuracy of trials at equal lengths; p is the larger of those of answers or prompts and of names or wordings."""
    texts, judged = comparison.units, judged_texts(comparison)
    rows = judged.rows
    result = classifier_accuracy(
        rows.features,
        rows.design,
        rows.clusters,
        n_permutations=comparison.n_permutations,
        seed=seed,
        weighting=texts.weighting,
        moved=rows.moves if texts.moves_prompts else None,
    )
    if result.test is None or judged.descriptors is None or not texts.is_pair:
        return result
    by_name = descriptors_test(
        rows.features,
        judged.row_descriptors,
        judged.descriptors.design,
        n_permutations=comparison.n_permutations,
        seed=stable_seed(seed, judged.descriptors.name),
    )
    return replace(result, test=replace(result.test, p_value=max(result.test.p_value, by_name.p_value)))


def _reason_to_skip(texts: Texts) -> str:
    # The same text in answer to several prompts is several units, but a fold cannot be filled with its copies.
    distinct = np.unique(np.column_stack([texts.design.labels, texts.clusters]), axis=0)
    fewest = int(np.bincount(distinct[:, 0], minlength=2).min())
    if fewest < MIN_TEXTS_FOR_SVM:
        texts_in_words = "1 distinct text" if fewest == 1 else f"{fewest} distinct texts"
        return f"a group has {texts_in_words}; a classifier needs at least {MIN_TEXTS_FOR_SVM} in each"
    return ""


def _top_coefficients(result: ClassifierAccuracy, texts: Texts) -> str:
    """Return the words of largest weight for either side, as JSON [{word, coefficient}]."""
    if result.coefficients.size == 0:
        return "[]"
    ranked = np.argsort(-np.abs(result.coefficients), kind="stable")[:N_TOP_WORDS]
    return json.dumps(
        [
            {"word": str(texts.words[column]), "coefficient": float(result.coefficients[column])}
            for column in ranked
        ]
    )


def _can_split(classes: Integers) -> bool:
    """Return whether a stratified 80/20 split exists: every class on both sides."""
    sizes = np.unique(classes, return_counts=True)[1]
    return bool(sizes.min() >= 2 and sizes.size <= 0.2 * classes.size)


def _published(texts: Texts) -> PublishedAccuracy | None:
    """Return the accuracy of the sources' own classifiers on the sources' own tokens; None for every other scheme."""
    in_order = texts.counted_features[texts.order]
    if texts.scheme == "seed_vectors" and texts.is_pair:
        return five_fold_accuracy(in_order, texts.design.labels[texts.order])
    if texts.scheme == "reference_vectors" and texts.kind == "all_groups" and _can_split(texts.classes):
        return one_split_accuracy(in_order, texts.classes[texts.order])
    return None
