"""Two runs brought to equal sizes, and the values of measures whose expectation depends on the size.

Divergence, classifier accuracy, the largest z, spreads over groups' means and smallest ratios all depend on the number of
answers: the same model asked twice as often gives other values. So before two runs are subtracted, both keep the same number of
units in every cell (a group inside a stratum), or the same subjects and the same number of answers, and the measure is computed
again. The choice of units depends on their keys alone, never on their order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from biasledger.measures.comparisons import Comparison, table
from biasledger.measures.engine.intervals import half_widths_or_bounds
from biasledger.measures.schema import Table

N_PERMUTATIONS = 199
"""They give the null's mean and spread here, no p-value: its error is a fourteenth of the spread."""

SIDES = ("baseline", "run")
"""The two runs of a pair, in this order."""


@dataclass(frozen=True)
class Reading:
    """A measure at a given size: its value and how far the 95 % interval reaches below and above it (0 or more, or NaN)."""

    value: float
    arm_low: float
    arm_high: float
    n_units: int


@dataclass(frozen=True)
class Question:
    """The question in which a pair of runs is compared, as in the findings; the same for the same question of every pair."""

    scheme: str
    attribute: str
    group_name: str
    reference_group: str
    subject: str


@dataclass(frozen=True)
class SideReading:
    """The value of one measure for a question on one side of a pair (baseline or run)."""

    side: str
    measure: str
    question: Question
    reading: Reading


_Pair = TypeVar("_Pair", bound=Comparison[Any])


def side_readings(pairs: Iterable[_Pair], readings: Callable[[_Pair], Iterable[SideReading]]) -> Table:
    """Return a row for each pair and reading: SideReading, next to the pair's key."""
    return table(SideReading, pairs, lambda pair, _: readings(pair), key="pair_key")


def common_cells(
    cells: NDArray[np.str_], others: NDArray[np.str_]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return positions of the units that both sides keep: of each cell the first units, as many as the side with fewer has.

    cells, others: (n_units,) the cell of each unit, in an order that does not depend on the answers.
    """
    return _common_places(cells, others), _common_places(others, cells)


def _common_places(cells: NDArray[np.str_], others: NDArray[np.str_]) -> NDArray[np.intp]:
    names, numbers = np.unique(cells, return_inverse=True)
    in_others = Counter(others.tolist())
    sizes = np.array([in_others[name] for name in names.tolist()], dtype=np.int64)
    order = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[order], np.arange(names.size))
    place = np.empty(cells.size, dtype=np.int64)
    place[order] = np.arange(cells.size) - starts[numbers[order]]
    return np.flatnonzero(place < sizes[numbers])


def student_arm(error: float, n_clusters: int, alpha: float) -> float:
    """Return half the length of Student's interval; data without variance get the rule of three."""
    return float(half_widths_or_bounds(error, max(n_clusters - 1, 1), n_clusters, alpha))
