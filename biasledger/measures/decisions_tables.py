"""Comparisons of decisions to tidy tables: what the Python dbt models return."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from biasledger.measures.decisions import (
    PairedTest,
    cochran_q,
    gap,
    group_impact_ratios,
    impact_test,
    mcnemar,
    position_test,
)
from biasledger.measures.errors import named_errors
from biasledger.measures.resampling import Integers, PermutationResult, stable_seed
from biasledger.measures.units import Units

_TEST_COLUMNS = {
    "null_mean": "float64",
    "null_sd": "float64",
    "p_value": "float64",
    "n_permutations": "int64",
    "is_stopped_early": "bool",
    "seed": "int64",
}

GAPS = {
    "comparison_key": "str",
    "gap": "float64",
    "mean_marked": "float64",
    "mean_reference": "float64",
    "n_marked": "float64",
    "n_reference": "float64",
    "n_clusters": "int64",
    "standard_error": "float64",
    "interval_low": "float64",
    "interval_high": "float64",
    "adjusted_gap": "float64",
    "adjusted_standard_error": "float64",
    "adjusted_low": "float64",
    "adjusted_high": "float64",
    "n_cases": "int64",
    "n_names": "int64",
    "unit": "str",
    "p_case": "float64",
    "p_name": "float64",
    "width_unit": "str",
    "width_power": "float64",
    **_TEST_COLUMNS,
}

IMPACT_RATIOS = {
    "comparison_key": "str",
    "label": "int64",
    "n": "int64",
    "n_selected": "int64",
    "rate": "float64",
    "ratio": "float64",
    "interval_low": "float64",
    "interval_high": "float64",
    "fisher_p": "float64",
    "is_best": "bool",
}

IMPACT_TESTS = {
    "comparison_key": "str",
    "smallest_ratio": "float64",
    "interval_low": "float64",
    "interval_high": "float64",
    "n_smallest_group": "int64",
    **_TEST_COLUMNS,
}

PAIRED_TESTS = {
    "block_key": "str",
    "test": "str",
    "label": "Int64",
    "statistic": "float64",
    "n_blocks": "int64",
    "n_discordant": "int64",
    "p_value": "float64",
}

POSITION_TESTS = {
    "position_key": "str",
    "n_responses": "int64",
    "n_positions": "int64",
    "share_first": "float64",
    "interval_low": "float64",
    "interval_high": "float64",
    "expected_share": "float64",
    "chi_square": "float64",
    "p_value": "float64",
    "p_first": "float64",
}


@dataclass(frozen=True)
class GapComparison:
    """Two groups' answers in one run, label 1 the marked group and 0 its reference.

    key: identifies the comparison and everything its numbers depend on. name: what it is about, the same in every run,
    from which seeds are made. lowest, highest: the outcome's range.
    """

    key: str
    name: tuple[str, ...]
    units: Units
    lowest: float
    highest: float
    n_permutations: int
    alpha: float
    seed: int


@dataclass(frozen=True)
class ImpactComparison:
    """The groups of one attribute in one run, labels 0 … k - 1; a unit's total counts the selected among its n answers."""

    key: str
    name: tuple[str, ...]
    units: Units
    n_permutations: int
    alpha: float
    seed: int


@dataclass(frozen=True)
class Block:
    """Answers (0 or 1) about the same subjects, (n_subjects, n_groups); column 0 is the reference group."""

    key: str
    answers: Integers


@dataclass(frozen=True)
class Positions:
    """Position (0 is the first shown) of the candidate that each response ranks first, how many it ranks, and how many answers
    it stands for; arrays (n_responses,).
    """

    key: str
    top_positions: Integers
    n_positions: Integers
    n_answers: Integers


def gaps(comparisons: Iterable[GapComparison]) -> pd.DataFrame:
    """A row a comparison, columns GAPS.

    Raises:
        ValueError: what the measure refuses; names the comparison.
    """
    rows = []
    for comparison in comparisons:
        seed = stable_seed(comparison.seed, "gap", *comparison.name)
        with named_errors(comparison.key):
            result = gap(
                comparison.units,
                lowest=comparison.lowest,
                highest=comparison.highest,
                n_permutations=comparison.n_permutations,
                alpha=comparison.alpha,
                seed=seed,
            )
        rows.append(
            {
                "comparison_key": comparison.key,
                "gap": result.gap,
                "mean_marked": result.mean_marked,
                "mean_reference": result.mean_reference,
                "n_marked": result.n_marked,
                "n_reference": result.n_reference,
                "n_clusters": result.n_clusters,
                "standard_error": result.standard_error,
                "interval_low": result.interval_low,
                "interval_high": result.interval_high,
                "adjusted_gap": result.adjusted,
                "adjusted_standard_error": result.adjusted_standard_error,
                "adjusted_low": result.adjusted_low,
                "adjusted_high": result.adjusted_high,
                "n_cases": result.n_cases,
                "n_names": result.n_names,
                "unit": result.unit,
                "p_case": result.p_case,
                "p_name": result.p_name,
                "width_unit": result.width_unit,
                "width_power": result.width_power,
                **_test_columns(result.test, seed),
            }
        )
    return pd.DataFrame(rows, columns=list(GAPS)).astype(GAPS)


def impact_ratios(comparisons: Iterable[ImpactComparison]) -> pd.DataFrame:
    """A row a comparison and group, columns IMPACT_RATIOS.

    Raises:
        ValueError: what the measure refuses; names the comparison.
    """
    rows = []
    for comparison in comparisons:
        with named_errors(comparison.key):
            ratios = group_impact_ratios(comparison.units, alpha=comparison.alpha)
        rows += [{"comparison_key": comparison.key, **asdict(ratio)} for ratio in ratios]
    return pd.DataFrame(rows, columns=list(IMPACT_RATIOS)).astype(IMPACT_RATIOS)


def impact_tests(comparisons: Iterable[ImpactComparison]) -> pd.DataFrame:
    """A row a comparison, columns IMPACT_TESTS.

    Raises:
        ValueError: what the measure refuses; names the comparison.
    """
    rows = []
    for comparison in comparisons:
        seed = stable_seed(comparison.seed, "impact_ratio", *comparison.name)
        with named_errors(comparison.key):
            result = impact_test(
                comparison.units, n_permutations=comparison.n_permutations, alpha=comparison.alpha, seed=seed
            )
        rows.append(
            {
                "comparison_key": comparison.key,
                "smallest_ratio": result.smallest_ratio,
                "interval_low": result.interval_low,
                "interval_high": result.interval_high,
                "n_smallest_group": result.n_smallest_group,
                **_test_columns(result.test, seed),
            }
        )
    return pd.DataFrame(rows, columns=list(IMPACT_TESTS)).astype(IMPACT_TESTS)


def paired_tests(blocks: Iterable[Block]) -> pd.DataFrame:
    """Cochran's Q of all groups (label null), then McNemar's test of each group against label 0; columns PAIRED_TESTS."""
    rows = []
    for block in blocks:
        reference, *others = block.answers.T
        results: list[tuple[str, int | None, PairedTest]] = [("cochran_q", None, cochran_q(block.answers))]
        results += [
            ("mcnemar", label, mcnemar(marked, reference)) for label, marked in enumerate(others, start=1)
        ]
        rows += [
            {"block_key": block.key, "test": test, "label": label, **asdict(result)}
            for test, label, result in results
        ]
    return pd.DataFrame(rows, columns=list(PAIRED_TESTS)).astype(PAIRED_TESTS)


def position_tests(positions: Iterable[Positions]) -> pd.DataFrame:
    """A row a set of rankings, columns POSITION_TESTS."""
    rows = [
        {"position_key": one.key, **asdict(position_test(one.top_positions, one.n_positions, one.n_answers))}
        for one in positions
    ]
    return pd.DataFrame(rows, columns=list(POSITION_TESTS)).astype(POSITION_TESTS)


def _test_columns(test: PermutationResult | None, seed: int) -> dict[str, object]:
    return {
        "null_mean": test.null_mean if test else np.nan,
        "null_sd": test.null_sd if test else np.nan,
        "p_value": test.p_value if test else np.nan,
        "n_permutations": test.n_permutations if test else 0,
        "is_stopped_early": test.stopped_early if test else False,
        "seed": seed,
    }
