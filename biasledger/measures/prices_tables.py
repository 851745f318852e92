"""Comparisons of prices and categories to tidy tables: what the Python dbt models return."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from biasledger.measures import associations as categories
from biasledger.measures import prices
from biasledger.measures.associations import Association, associations
from biasledger.measures.errors import named_errors
from biasledger.measures.mean_prices import MeanPrice, mean_prices, price_spread
from biasledger.measures.prices import LevelShare, level_shares
from biasledger.measures.resampling import stable_seed

_TEST_COLUMNS = {"n_permutations": "int64", "is_stopped_early": "bool", "seed": "int64"}

LEVELS = {
    "comparison_key": "str",
    "label": "int64",
    "set_id": "int64",
    "level": "int64",
    "n": "float64",
    "n_level": "float64",
    "share": "float64",
    "expected_share": "float64",
    "null_mean": "float64",
    "null_sd": "float64",
    "p_value": "float64",
    "p_value_adjusted": "float64",
    "excess": "float64",
    "standard_error": "float64",
    "interval_low": "float64",
    "interval_high": "float64",
    "sets_sd": "float64",
    "sets_low": "float64",
    "sets_high": "float64",
    "n_clusters": "int64",
    **_TEST_COLUMNS,
}

MEANS = {
    "comparison_key": "str",
    "label": "int64",
    "set_id": "int64",
    "n": "float64",
    "mean_price": "float64",
    "standard_error": "float64",
    "interval_low": "float64",
    "interval_high": "float64",
    "rank": "int64",
    "gap": "float64",
    "gap_standard_error": "float64",
    "gap_low": "float64",
    "gap_high": "float64",
    "adjusted_gap": "float64",
    "adjusted_standard_error": "float64",
    "adjusted_low": "float64",
    "adjusted_high": "float64",
    "null_mean": "float64",
    "null_sd": "float64",
    "p_value": "float64",
    "p_value_adjusted": "float64",
    "sets_sd": "float64",
    "sets_low": "float64",
    "sets_high": "float64",
    "n_clusters": "int64",
    **_TEST_COLUMNS,
}

SPREADS = {
    "comparison_key": "str",
    "spread": "float64",
    "null_mean": "float64",
    "null_sd": "float64",
    "p_value": "float64",
    "chance": "float64",
    "debiased": "float64",
    "standard_error": "float64",
    "interval_low": "float64",
    "interval_high": "float64",
    "lowest_label": "int64",
    "highest_label": "int64",
    "n_clusters": "int64",
    **_TEST_COLUMNS,
}

ASSOCIATIONS = {
    "comparison_key": "str",
    "category_id": "int64",
    "n_marked": "float64",
    "n_reference": "float64",
    "share_marked": "float64",
    "share_reference": "float64",
    "difference": "float64",
    "ratio": "float64",
    "null_mean": "float64",
    "null_sd": "float64",
    "p_value": "float64",
    "p_value_adjusted": "float64",
    "standard_error": "float64",
    "interval_low": "float64",
    "interval_high": "float64",
    "adjusted_difference": "float64",
    "adjusted_low": "float64",
    "adjusted_high": "float64",
    "band_low": "float64",
    "band_high": "float64",
    **_TEST_COLUMNS,
}


@dataclass(frozen=True)
class PriceComparison:
    """The groups of one attribute in one run; label 0 is the reference where there is one.

    key: identifies the comparison and everything its numbers depend on. name: what it is about, the same in every run,
    from which seeds are made.
    """

    key: str
    name: tuple[str, ...]
    units: prices.Units
    has_reference: bool
    n_permutations: int
    alpha: float
    seed: int


@dataclass(frozen=True)
class AssociationComparison:
    """Two groups of one attribute in one run, label 1 the marked group and 0 its reference; key and name as for prices."""

    key: str
    name: tuple[str, ...]
    units: categories.Units
    n_permutations: int
    alpha: float
    seed: int


def levels(comparisons: Iterable[PriceComparison]) -> pd.DataFrame:
    """A row a comparison, group, set and price level that anybody got, columns LEVELS."""
    rows: list[dict[str, Any]] = []
    for comparison in comparisons:
        seed = stable_seed(comparison.seed, "price_levels", *comparison.name)
        with named_errors(comparison.key):
            results = level_shares(
                comparison.units,
                n_permutations=comparison.n_permutations,
                alpha=comparison.alpha,
                seed=seed,
            )
        rows += _rows(comparison.key, seed, results)
    return pd.DataFrame(rows, columns=list(LEVELS)).astype(LEVELS)


def means(comparisons: Iterable[PriceComparison]) -> pd.DataFrame:
    """A row a comparison, group and set in which it has items, columns MEANS."""
    rows: list[dict[str, Any]] = []
    for comparison in comparisons:
        seed = stable_seed(comparison.seed, "mean_prices", *comparison.name)
        with named_errors(comparison.key):
            results = mean_prices(
                comparison.units,
                has_reference=comparison.has_reference,
                n_permutations=comparison.n_permutations,
                alpha=comparison.alpha,
                seed=seed,
            )
        rows += _rows(comparison.key, seed, results)
    return pd.DataFrame(rows, columns=list(MEANS)).astype(MEANS)


def spreads(comparisons: Iterable[PriceComparison]) -> pd.DataFrame:
    """A row a comparison without reference in which two groups or more have items, columns SPREADS."""
    rows = []
    for comparison in comparisons:
        if comparison.has_reference:
            continue
        seed = stable_seed(comparison.seed, "price_spread", *comparison.name)
        with named_errors(comparison.key):
            result = price_spread(
                comparison.units,
                n_permutations=comparison.n_permutations,
                alpha=comparison.alpha,
                seed=seed,
            )
        if result is None:
            continue
        test = result.test
        rows.append(
            {
                "comparison_key": comparison.key,
                "spread": result.spread,
                "null_mean": test.null_mean if test else np.nan,
                "null_sd": test.null_sd if test else np.nan,
                "p_value": test.p_value if test else np.nan,
                "chance": result.chance,
                "debiased": result.debiased,
                "standard_error": result.standard_error,
                "interval_low": result.interval_low,
                "interval_high": result.interval_high,
                "lowest_label": result.lowest_label,
                "highest_label": result.highest_label,
                "n_clusters": result.n_clusters,
                "n_permutations": test.n_permutations if test else 0,
                "is_stopped_early": test.stopped_early if test else False,
                "seed": seed,
            }
        )
    return pd.DataFrame(rows, columns=list(SPREADS)).astype(SPREADS)


def category_associations(comparisons: Iterable[AssociationComparison]) -> pd.DataFrame:
    """A row a comparison and category that any item carries, columns ASSOCIATIONS."""
    rows: list[dict[str, Any]] = []
    for comparison in comparisons:
        seed = stable_seed(comparison.seed, "category_associations", *comparison.name)
        with named_errors(comparison.key):
            results = associations(
                comparison.units,
                n_permutations=comparison.n_permutations,
                alpha=comparison.alpha,
                seed=seed,
            )
        rows += _rows(comparison.key, seed, results)
    return pd.DataFrame(rows, columns=list(ASSOCIATIONS)).astype(ASSOCIATIONS)


def _rows(
    key: str, seed: int, results: Sequence[LevelShare | MeanPrice | Association]
) -> list[dict[str, Any]]:
    return [{"comparison_key": key, **vars(result), "seed": seed} for result in results]
