"""Selections in two runs at equal sizes: the smallest impact ratio."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from biasledger.measures.decisions.impact_ratios import impact_test
from biasledger.measures.equal_sizes.counts import CountPair, CountUnits, count_sizes
from biasledger.measures.equal_sizes.readings import Reading
from biasledger.measures.gaps.units import Units
from biasledger.measures.schema import Table


def selection_sizes(pairs: Iterable[CountPair]) -> Table:
    """Return a row for each pair, attribute and side, the smallest impact ratio: its SideReading.

    counts (n_units, 1, 2): selected and not selected.
    """

    def reading(pair: CountPair, units: CountUnits, seed: int) -> Reading | None:
        counts = units.counts[:, 0]
        n, selected = counts.sum(axis=1), counts[:, 0]
        rows = Units(units.design, units.cluster_numbers, n, selected, pair.n_candidates)
        return impact_reading(rows, alpha=pair.alpha, seed=seed)

    return count_sizes(pairs, "impact_ratio", reading)


def impact_reading(units: Units, *, alpha: float, seed: int) -> Reading | None:
    """Return the smallest selection rate over the largest, with its own interval's arms; None if nobody is selected."""
    result = impact_test(units, n_permutations=0, alpha=alpha, seed=seed)
    if np.isnan(result.smallest_ratio):
        return None
    return Reading(
        result.smallest_ratio,
        result.smallest_ratio - result.interval_low,
        result.interval_high - result.smallest_ratio,
        result.n_smallest_group,
    )
