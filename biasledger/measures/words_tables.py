"""Comparisons of words to tidy tables, a row a word or a comparison: what the Python dbt models return."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from biasledger.measures.comparisons import Comparison
from biasledger.measures.lengths import length_gap
from biasledger.measures.published import five_fold_accuracy, one_split_accuracy
from biasledger.measures.resampling import Integers, PermutationResult, stable_seed
from biasledger.measures.separability import Moved, Separability, carriers_test, separability
from biasledger.measures.text_units import judged_texts
from biasledger.measures.words import (
    WordTest,
    divergence,
    divergence_by_units,
    divergence_parts,
    marked_words,
    marked_words_by_units,
)

MIN_TEXTS_FOR_SVM = 10
N_TOP_WORDS = 10

_TEST_COLUMNS = {
    "null_mean": "float64",
    "null_sd": "float64",
    "p_value": "float64",
    "n_permutations": "int64",
    "is_stopped_early": "bool",
    "seed": "int64",
}

_LENGTH_COLUMNS = {
    "standard_error": "float64",
    "interval_low": "float64",
    "interval_high": "float64",
    "width_power": "float64",
    **_TEST_COLUMNS,
}

WORD_STATISTICS = {
    "comparison_key": "str",
    "word": "str",
    "n_marked": "float64",
    "n_reference": "float64",
    "n_units_using": "int64",
    "log_odds": "float64",
    "variance": "float64",
    "z_score": "float64",
    "z_score_informative": "float64",
    "band_low": "float64",
    "band_high": "float64",
    "p_value": "float64",
    "p_value_adjusted": "float64",
    "n_permutations": "int64",
    "seed": "int64",
    "contribution": "float64",
    "signed_share": "float64",
}

DIVERGENCES = {
    "comparison_key": "str",
    "jsd": "float64",
    "jsd_judged": "float64",
    "standard_error": "float64",
    "interval_low": "float64",
    "interval_high": "float64",
    **_TEST_COLUMNS,
    "tokens_marked": "float64",
    "tokens_reference": "float64",
    "length_gap": "float64",
    **{f"length_{name}": type_ for name, type_ in _LENGTH_COLUMNS.items()},
}

SEPARABILITIES = {
    "comparison_key": "str",
    "accuracy_mean": "float64",
    "accuracy_sd": "float64",
    "balanced_accuracy": "float64",
    "beyond_chance": "float64",
    "chance": "float64",
    "standard_error": "float64",
    "interval_low": "float64",
    "interval_high": "float64",
    **_TEST_COLUMNS,
    "published_accuracy_mean": "float64",
    "published_accuracy_sd": "float64",
    "coefficients": "str",
    "skipped_reason": "str",
}


def word_statistics(comparisons: Iterable[Comparison]) -> pd.DataFrame:
    """A row a comparison of two groups and word, columns WORD_STATISTICS."""
    parts = []
    for comparison in comparisons:
        if not comparison.is_pair:
            continue
        seed = comparison.seed_for("marked_words")
        words = marked_words(
            comparison.counted_features,
            comparison.design,
            prior=comparison.prior,
            prior_total=comparison.prior_total,
            n_permutations=0,
            alpha=comparison.alpha,
            seed=seed,
        )
        parts_of_words = divergence_parts(words.marked, words.reference)
        nothing = np.full(comparison.words.size, np.nan)
        tested = WordTest(nothing, nothing, nothing, nothing, 0)
        users = comparison.features
        if comparison.n_permutations > 0:
            judged = judged_texts(comparison)
            users = judged.first.features
            tested = marked_words_by_units(
                judged.all_units,
                n_permutations=comparison.n_permutations,
                alpha=comparison.alpha,
                seed=seed,
            )
        parts.append(
            pd.DataFrame(
                {
                    "comparison_key": comparison.key,
                    "word": comparison.words,
                    "n_marked": words.marked,
                    "n_reference": words.reference,
                    "n_units_using": np.bincount(users.indices, minlength=comparison.words.size),
                    "log_odds": words.audit.log_odds,
                    "variance": words.audit.variance,
                    "z_score": words.audit.z_score,
                    "z_score_informative": words.informative.z_score,
                    "band_low": tested.band_low,
                    "band_high": tested.band_high,
                    "p_value": tested.p_value,
                    "p_value_adjusted": tested.p_value_adjusted,
                    "n_permutations": tested.n_permutations,
                    "seed": seed,
                    "contribution": parts_of_words.contributions,
                    "signed_share": parts_of_words.signed_shares,
                }
            )
        )
    frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(WORD_STATISTICS))
    return frame.astype(WORD_STATISTICS)


def divergences(comparisons: Iterable[Comparison]) -> pd.DataFrame:
    """A row a comparison of two groups, columns DIVERGENCES."""
    rows = []
    for comparison in comparisons:
        if not comparison.is_pair:
            continue
        seed = comparison.seed_for("word_divergence")
        published = divergence(comparison.counted_features, comparison.design, n_permutations=0, seed=seed)
        result = published
        if comparison.n_permutations > 0:
            result = divergence_by_units(
                judged_texts(comparison).all_units, n_permutations=comparison.n_permutations, seed=seed
            )
        rows.append(
            {
                "comparison_key": comparison.key,
                "jsd": published.jsd,
                "jsd_judged": result.jsd,
                "standard_error": result.standard_error,
                "interval_low": result.interval_low,
                "interval_high": result.interval_high,
                **_test_columns(result.test, seed),
                **_length_columns(comparison),
            }
        )
    return pd.DataFrame(rows, columns=list(DIVERGENCES)).astype(DIVERGENCES)


def _length_columns(comparison: Comparison) -> dict[str, float | int | bool]:
    seed = comparison.seed_for("length_gap")
    lengths = length_gap(comparison, n_permutations=comparison.n_permutations, seed=seed)
    tested = {
        f"length_{name}": value
        for name, value in _test_columns(None if lengths is None else lengths.gap.test, seed).items()
    }
    if lengths is None:
        return tested
    return {
        "tokens_marked": lengths.tokens_marked,
        "tokens_reference": lengths.tokens_reference,
        "length_gap": lengths.gap.adjusted,
        "length_standard_error": lengths.gap.adjusted_standard_error,
        "length_interval_low": lengths.gap.adjusted_low,
        "length_interval_high": lengths.gap.adjusted_high,
        "length_width_power": lengths.gap.width_power,
        **tested,
    }


def separabilities(comparisons: Iterable[Comparison]) -> pd.DataFrame:
    """A row a comparison, pairs and all groups of an attribute, columns SEPARABILITIES.

    A comparison with fewer than ten distinct texts in a group is skipped; skipped_reason says so.
    """
    rows = []
    for comparison in comparisons:
        seed = comparison.seed_for("separability")
        row: dict[str, Any] = {
            "comparison_key": comparison.key,
            **_test_columns(None, seed),
            "coefficients": "[]",
            "skipped_reason": _reason_to_skip(comparison),
        }
        if not row["skipped_reason"]:
            # As the sources count; what is judged has every trial, at equal lengths.
            counted = separability(
                comparison.counted_features,
                comparison.design,
                comparison.clusters,
                n_permutations=0,
                seed=seed,
                weighting=comparison.weighting,
            )
            result = judged_separability(comparison, seed) if comparison.n_permutations > 0 else counted
            row |= {
                "accuracy_mean": counted.accuracy_mean,
                "accuracy_sd": counted.accuracy_sd,
                "balanced_accuracy": result.balanced_accuracy,
                "beyond_chance": result.beyond_chance,
                "chance": counted.chance,
                "standard_error": result.standard_error,
                "interval_low": result.interval_low,
                "interval_high": result.interval_high,
                "coefficients": _top_coefficients(counted, comparison),
                **_test_columns(result.test, seed),
                **_published_columns(comparison),
            }
            if np.isnan(result.balanced_accuracy):
                row["skipped_reason"] = (
                    "answers to one question are so often word for word those to another that a classifier has none to learn from"
                )
        rows.append(row)
    return pd.DataFrame(rows, columns=list(SEPARABILITIES)).astype(SEPARABILITIES)


def judged_separability(comparison: Comparison, seed: int) -> Separability:
    """Separability of trials at equal lengths; p is the larger of that of answers or prompts and that of names or wordings."""
    judged = judged_texts(comparison)
    rows = judged.rows
    result = separability(
        rows.features,
        rows.design,
        rows.clusters,
        n_permutations=comparison.n_permutations,
        seed=seed,
        weighting=comparison.weighting,
        moved=Moved(rows.of_unit, rows.units) if comparison.moves_prompts else None,
    )
    if result.test is None or judged.carriers is None or not comparison.is_pair:
        return result
    by_name = carriers_test(
        rows.features,
        judged.row_carriers,
        judged.carriers.design,
        n_permutations=comparison.n_permutations,
        seed=stable_seed(seed, judged.carriers.name),
    )
    return replace(result, test=replace(result.test, p_value=max(result.test.p_value, by_name.p_value)))


def _test_columns(test: PermutationResult | None, seed: int) -> dict[str, float | int | bool]:
    if test is None:
        return {
            "null_mean": np.nan, "null_sd": np.nan, "p_value": np.nan,
            "n_permutations": 0, "is_stopped_early": False, "seed": seed,
        }  # fmt: skip
    return {
        "null_mean": test.null_mean,
        "null_sd": test.null_sd,
        "p_value": test.p_value,
        "n_permutations": test.n_permutations,
        "is_stopped_early": test.stopped_early,
        "seed": seed,
    }


def _reason_to_skip(comparison: Comparison) -> str:
    # The same text in answer to several prompts is several units, but a fold cannot be filled with its copies.
    texts = np.unique(np.column_stack([comparison.design.labels, comparison.clusters]), axis=0)
    fewest = int(np.bincount(texts[:, 0], minlength=2).min())
    if fewest < MIN_TEXTS_FOR_SVM:
        return f"a group has {fewest} distinct texts; an SVM needs at least {MIN_TEXTS_FOR_SVM} in each"
    return ""


def _top_coefficients(result: Separability, comparison: Comparison) -> str:
    """The words of largest weight for either side, as JSON [{word, coefficient}]."""
    if result.coefficients.size == 0:
        return "[]"
    ranked = np.argsort(-np.abs(result.coefficients), kind="stable")[:N_TOP_WORDS]
    return json.dumps(
        [
            {"word": str(comparison.words[column]), "coefficient": float(result.coefficients[column])}
            for column in ranked
        ]
    )


def _can_split(classes: Integers) -> bool:
    """Whether a stratified 80/20 split exists: every class on both sides."""
    sizes = np.unique(classes, return_counts=True)[1]
    return bool(sizes.min() >= 2 and sizes.size <= 0.2 * classes.size)


def _published_columns(comparison: Comparison) -> dict[str, float]:
    """What the sources' own classifiers give on the sources' own tokens; empty for every other scheme."""
    in_order = comparison.counted_features[comparison.order]
    if comparison.scheme == "seed_vectors" and comparison.is_pair:
        published = five_fold_accuracy(in_order, comparison.design.labels[comparison.order])
    elif (
        comparison.scheme == "reference_vectors"
        and comparison.kind == "all_groups"
        and _can_split(comparison.classes)
    ):
        published = one_split_accuracy(in_order, comparison.classes[comparison.order])
    else:
        return {}
    return {"published_accuracy_mean": published.mean, "published_accuracy_sd": published.sd}
