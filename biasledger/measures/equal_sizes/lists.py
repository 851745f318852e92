"""Compare lists of one attribute in two runs at equal sizes: the spread of the groups in each feature."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biasledger.measures.comparisons import Comparison
from biasledger.measures.engine.design import Floats
from biasledger.measures.equal_sizes.readings import (
    N_PERMUTATIONS,
    SIDES,
    Question,
    Reading,
    SideReading,
    side_readings,
    student_arm,
)
from biasledger.measures.lists import STATISTICS, spread
from biasledger.measures.schema import Table

_MEASURES_OF_FEATURES = {
    "unanswered": "unanswered_spread",
    "shortfall": "shortfall_spread",
    "repeated": "repeat_spread",
    "ndcg": "relevance_spread",
}


@dataclass(frozen=True)
class Cells:
    """A feature of lists in one run: values (n_subjects, n_groups), NaN where absent; subjects (n_subjects,) names."""

    values: Floats
    subjects: NDArray[np.str_]


@dataclass(frozen=True)
class ListPair(Comparison[tuple[Cells, Cells]]):
    """A feature of one attribute's lists, before and after; columns are the same groups on both sides.

    feature: similarity (then `similarity` names which), unanswered, shortfall, repeated or ndcg.
    """

    feature: str = "similarity"
    similarity: str = ""
    is_personality: bool = False


def list_sizes(pairs: Iterable[ListPair]) -> Table:
    """Yield a row for each pair, attribute, side and measure of lists: its SideReading."""

    def readings(pair: ListPair) -> Iterator[SideReading]:
        (one, other), question = pair.units, Question(*pair.name)
        if pair.feature == "similarity":
            question = replace(question, scheme=pair.similarity, reference_group="(neutral)")
        else:
            question = replace(question, reference_group="(each other)")
        both = common_values(one.values, one.subjects, other.values, other.subjects)
        for side, values in zip(SIDES, both, strict=True):
            found = spread_readings(values, seed=pair.seed_for(pair.feature), alpha=pair.alpha)
            for measure, reading in _list_measures(pair, found, values):
                yield SideReading(side, measure, question, reading)

    return side_readings(pairs, readings)


def _list_measures(
    pair: ListPair, readings: Mapping[str, Reading], values: Floats
) -> Iterator[tuple[str, Reading]]:
    if not readings:
        return
    if pair.feature != "similarity":
        yield _MEASURES_OF_FEATURES[pair.feature], readings["range"]
        return
    yield "snsr", readings["range"]
    # For two groups SNSV is half of SNSR, and no finding of its own.
    if (~np.isnan(values)).any(axis=0).sum() > 2:
        yield "snsv", readings["sd"]
    if pair.is_personality:
        deviation = readings["mean_absolute_deviation"]
        yield (
            "personality_fairness",
            Reading(1 - deviation.value, deviation.arm_high, deviation.arm_low, deviation.n_units),
        )


def common_values(
    values: Floats, subjects: NDArray[np.str_], others: Floats, other_subjects: NDArray[np.str_]
) -> tuple[Floats, Floats]:
    """Return values of the same subjects and groups: (n_subjects, n_groups) each, NaN wherever either side has none.

    subjects: (n_subjects,) names, each once. Columns are the same groups on both sides.
    """
    _, place, other_place = np.intersect1d(subjects, other_subjects, return_indices=True)
    one, other = values[place], others[other_place]
    is_missing = np.isnan(one) | np.isnan(other)
    return np.where(is_missing, np.nan, one), np.where(is_missing, np.nan, other)


def spread_readings(values: Floats, *, seed: int, alpha: float) -> dict[str, Reading]:
    """Return each of STATISTICS over the groups' means, chance taken off; values (n_subjects, n_groups), NaN for absent lists."""
    n_subjects = int(((~np.isnan(values)).sum(axis=1) >= 2).sum())
    if n_subjects < 2:
        return {}
    results = spread(values, n_permutations=N_PERMUTATIONS, alpha=alpha, seed=seed, stop_after=None)
    readings = {}
    for name in STATISTICS:
        result = results[name]
        if result.test is not None:
            arm = student_arm(result.standard_error, n_subjects, alpha)
            readings[name] = Reading(result.debiased, arm, arm, n_subjects)
    return readings
