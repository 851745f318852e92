"""Compare price levels in two runs at equal sizes: the spread of the groups' means."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from biasledger.measures.equal_sizes.counts import CountPair, CountUnits, count_sizes
from biasledger.measures.equal_sizes.readings import N_PERMUTATIONS, Reading, student_arm
from biasledger.measures.prices.items import ItemCounts
from biasledger.measures.prices.means import price_spread
from biasledger.measures.schema import Table


def price_sizes(pairs: Iterable[CountPair]) -> Table:
    """Return a row for each pair, attribute and side, how far mean price levels lie apart: its SideReading.

    counts (n_units, n_sets, n_levels): items of each price level.
    """

    def reading(pair: CountPair, units: CountUnits, seed: int) -> Reading | None:
        counts, n_groups = units.counts[:, np.newaxis], np.unique(units.groups).size
        rows = ItemCounts(units.design, units.cluster_numbers, counts, n_groups)
        return price_reading(rows, alpha=pair.alpha, seed=seed)

    return count_sizes(pairs, "price_spread", reading)


def price_reading(units: ItemCounts, *, alpha: float, seed: int) -> Reading | None:
    """Return how far groups' mean price levels lie apart, chance taken off; None where too few groups have items."""
    result = price_spread(units, n_permutations=N_PERMUTATIONS, alpha=alpha, seed=seed, stop_after=None)
    if result is None or result.test is None:
        return None
    arm = student_arm(result.standard_error, result.n_clusters, alpha)
    return Reading(result.debiased, arm, arm, result.n_clusters)
