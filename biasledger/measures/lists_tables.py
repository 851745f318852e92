"""Comparisons of recommendation lists to tidy tables: what the Python dbt models return."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biasledger.measures.lists import STATISTICS, NoiseFloor, noise_floor, robustness, spread
from biasledger.measures.resampling import Floats, stable_seed

SIMILARITIES = ("jaccard", "serp", "prag", "serp_code", "prag_code")
"""Features that get every statistic; the others (shares, ndcg) get their range alone."""

SPREADS = {
    "comparison_key": "str",
    "feature": "str",
    "statistic": "str",
    "n_subjects": "int64",
    "n_smallest_group": "int64",
    "n_cells": "int64",
    "value": "float64",
    "chance": "float64",
    "debiased": "float64",
    "null_mean": "float64",
    "null_sd": "float64",
    "p_value": "float64",
    "standard_error": "float64",
    "interval_low": "float64",
    "interval_high": "float64",
    "noise_floor": "float64",
    "noise_floor_high": "float64",
    "n_permutations": "int64",
    "is_stopped_early": "bool",
    "seed": "int64",
}

ROBUSTNESS_TESTS = {
    "robustness_key": "str",
    "n_subjects": "int64",
    "n_pairs": "int64",
    "similarity": "float64",
    "standard_error": "float64",
    "interval_low": "float64",
    "interval_high": "float64",
    "noise_floor": "float64",
    "p_value": "float64",
    "n_permutations": "int64",
    "seed": "int64",
}


@dataclass(frozen=True)
class SpreadComparison:
    """The groups of one attribute in one run, domain and wording, compared over the same subjects.

    key: identifies the comparison and everything its numbers depend on. name: what it is about, the same in every run,
    from which seeds are made. features: values of each list, (n_subjects, n_groups), 0 to 1, NaN where it is absent.
    reruns: similarities of the same question asked again, (n_subjects, n_reruns), for those features that have them.
    """

    key: str
    name: tuple[str, ...]
    features: Mapping[str, Floats]
    reruns: Mapping[str, Floats]
    n_permutations: int
    alpha: float
    seed: int

    def seed_for(self, feature: str) -> int:
        """The seed of a feature's draws: the same for the same question in every run."""
        return stable_seed(self.seed, feature, *self.name)


@dataclass(frozen=True)
class RobustnessComparison:
    """Lists of perturbed prompts against those of clean ones; similarities (n_subjects,), NaN where absent.

    key: identifies the comparison and everything its numbers depend on. name: what it is about, its similarity first.
    """

    key: str
    name: tuple[str, ...]
    similarities: Floats
    rerun_similarities: Floats
    n_permutations: int
    alpha: float
    seed: int


def spreads(comparisons: Iterable[SpreadComparison]) -> pd.DataFrame:
    """A row a comparison, feature and statistic, columns SPREADS; no row for a feature that no list has.

    n_subjects: subjects with two lists or more, which are those whose values can be permuted; n_smallest_group:
    those of them with a list for the group that has fewest. n_cells: lists.
    """
    rows = [
        row
        for comparison in comparisons
        for feature, values in comparison.features.items()
        if not np.isnan(values).all()
        for row in _feature_rows(comparison, feature, values)
    ]
    return pd.DataFrame(rows, columns=list(SPREADS)).astype(SPREADS)


def _feature_rows(comparison: SpreadComparison, feature: str, values: Floats) -> list[dict[str, object]]:
    seed = comparison.seed_for(feature)
    present = ~np.isnan(values)
    results = spread(values, n_permutations=comparison.n_permutations, alpha=comparison.alpha, seed=seed)
    floors = {name: NoiseFloor(np.nan, np.nan) for name in STATISTICS}
    if feature in comparison.reruns:
        n_groups = int(present.any(axis=0).sum())
        floors = noise_floor(comparison.reruns[feature], n_groups, seed=stable_seed(seed, "noise_floor"))
    rows: list[dict[str, object]] = []
    for name in STATISTICS if feature in SIMILARITIES else STATISTICS[:1]:
        result, floor = results[name], floors[name]
        rows.append(
            {
                "comparison_key": comparison.key,
                "feature": feature,
                "statistic": name,
                "n_subjects": int((present.sum(axis=1) >= 2).sum()),
                "n_smallest_group": _smallest_group(present),
                "n_cells": int(present.sum()),
                "value": result.value,
                "chance": result.chance,
                "debiased": result.debiased,
                "null_mean": result.test.null_mean if result.test else np.nan,
                "null_sd": result.test.null_sd if result.test else np.nan,
                "p_value": result.test.p_value if result.test else np.nan,
                "standard_error": result.standard_error,
                "interval_low": result.interval_low,
                "interval_high": result.interval_high,
                "noise_floor": floor.mean,
                "noise_floor_high": floor.high,
                "n_permutations": result.test.n_permutations if result.test else 0,
                "is_stopped_early": result.test.stopped_early if result.test else False,
                "seed": seed,
            }
        )
    return rows


def _smallest_group(present: NDArray[np.bool_]) -> int:
    """Subjects that can be permuted and have a list for the group with fewest; groups without any list are left out."""
    of_groups = present[present.sum(axis=1) >= 2].sum(axis=0)
    return int(of_groups[present.any(axis=0)].min(initial=len(present)))


def robustness_tests(comparisons: Iterable[RobustnessComparison]) -> pd.DataFrame:
    """A row a comparison, columns ROBUSTNESS_TESTS."""
    rows = []
    for comparison in comparisons:
        seed = stable_seed(comparison.seed, *comparison.name)
        result = robustness(
            comparison.similarities,
            comparison.rerun_similarities,
            n_permutations=comparison.n_permutations,
            alpha=comparison.alpha,
            seed=seed,
        )
        rows.append(
            {
                "robustness_key": comparison.key,
                "n_subjects": result.n_subjects,
                "n_pairs": result.n_pairs,
                "similarity": result.similarity,
                "standard_error": result.standard_error,
                "interval_low": result.interval_low,
                "interval_high": result.interval_high,
                "noise_floor": result.noise_floor,
                "p_value": result.test.p_value if result.test else np.nan,
                "n_permutations": result.test.n_permutations if result.test else 0,
                "seed": seed,
            }
        )
    return pd.DataFrame(rows, columns=list(ROBUSTNESS_TESTS)).astype(ROBUSTNESS_TESTS)
