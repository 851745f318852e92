"""Comparisons of marker words to tidy tables: what the Python dbt models return."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from biasledger.measures.markers import RatioUnits, stereotype_ratio
from biasledger.measures.resampling import stable_seed

STEREOTYPE_RATIOS = {
    "comparison_key": "str",
    "n_units": "int64",
    "n": "float64",
    "ratio": "float64",
    "standard_error": "float64",
    "interval_low": "float64",
    "interval_high": "float64",
    "p_value": "float64",
    "null_mean": "float64",
    "null_sd": "float64",
    "n_permutations": "int64",
    "smallest_p": "float64",
    "seed": "int64",
}


@dataclass(frozen=True)
class RatioComparison:
    """The texts about one probe or category in one run, by one scheme, against no preference for either direction.

    key: identifies the comparison and everything its numbers depend on. name: what it is about, the same in every run,
    from which seeds are made.
    """

    key: str
    name: tuple[str, ...]
    units: RatioUnits
    n_permutations: int
    alpha: float
    seed: int


def stereotype_ratios(comparisons: Iterable[RatioComparison]) -> pd.DataFrame:
    """A row a comparison, columns STEREOTYPE_RATIOS; n_units is 0 and numbers are NaN where no text could be assessed."""
    rows = []
    for comparison in comparisons:
        seed = stable_seed(comparison.seed, "stereotype_ratio", *comparison.name)
        result = stereotype_ratio(
            comparison.units, n_permutations=comparison.n_permutations, alpha=comparison.alpha, seed=seed
        )
        test = result.test
        rows.append(
            {
                "comparison_key": comparison.key,
                "n_units": result.n_units,
                "n": result.n,
                "ratio": result.ratio,
                "standard_error": result.standard_error,
                "interval_low": result.interval_low,
                "interval_high": result.interval_high,
                "p_value": test.p_value if test else np.nan,
                "null_mean": test.null_mean if test else np.nan,
                "null_sd": test.null_sd if test else np.nan,
                "n_permutations": test.n_permutations if test else 0,
                "smallest_p": result.smallest_p,
                "seed": seed,
            }
        )
    return pd.DataFrame(rows, columns=list(STEREOTYPE_RATIOS)).astype(STEREOTYPE_RATIOS)
