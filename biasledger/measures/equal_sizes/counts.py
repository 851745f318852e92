"""Counts by unit of the groups of one attribute in two runs, brought to equal sizes unit by unit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biasledger.measures.comparisons import Comparison
from biasledger.measures.engine.design import Design, Floats, Integers, some_of, stable_seed
from biasledger.measures.engine.intervals import NO_VARIANCE
from biasledger.measures.engine.sums import numbered
from biasledger.measures.equal_sizes.readings import (
    SIDES,
    Question,
    Reading,
    SideReading,
    common_cells,
    side_readings,
)
from biasledger.measures.schema import Table

SHARED_UNITS = 0.5
"""Share of the smaller run's units that the other must have, too, for these alone to be compared."""


@dataclass(frozen=True)
class CountUnits:
    """Units of one attribute in one run with counts (n_units, n_sets, n_kinds) of what they got; other arrays (n_units,).

    keys and groups name units and their groups alike in every run; strata and clusters too.
    """

    keys: NDArray[np.str_]
    groups: NDArray[np.str_]
    strata: NDArray[np.str_]
    clusters: NDArray[np.str_]
    counts: Floats

    @property
    def design(self) -> Design:
        """Groups as labels, in the order of their names, inside strata."""
        return Design(numbered(self.groups).astype(np.int8), numbered(self.strata))

    @property
    def cluster_numbers(self) -> Integers:
        """Return which units move together, as numbers."""
        return numbered(self.clusters)

    def keep(self, kept: NDArray[np.intp]) -> CountUnits:
        """Return some of the units."""
        return some_of(self, kept)


@dataclass(frozen=True)
class CountPair(Comparison[tuple[CountUnits, CountUnits]]):
    """The counts of the groups of one attribute, before and after; n_candidates as in `Units`."""

    n_candidates: int = 1


def count_sizes(
    pairs: Iterable[CountPair], measure: str, reading: Callable[[CountPair, CountUnits, int], Reading | None]
) -> Table:
    """Yield a row for each pair, attribute and side: the SideReading that `reading` has of its units at equal sizes (pair,
    units, seed).
    """

    def readings(pair: CountPair) -> Iterator[SideReading]:
        for side, units in zip(SIDES, _common_counts(pair), strict=True):
            if np.unique(units.groups).size < 2:
                continue
            found = reading(pair, units, pair.seed_for(measure))
            if found is not None:
                yield SideReading(side, measure, Question(*pair.name), found)

    return side_readings(pairs, readings)


def _common_counts(pair: CountPair) -> tuple[CountUnits, CountUnits]:
    """Return the units that both sides have, with equally many answers or items of each in every set.

    Runs that share few units, such as other customers each week, keep equally many of each group in each stratum, at random.
    """
    sides = pair.units
    cells, others = (_cells(units.keys, units.groups) for units in sides)
    kept, other_kept = common_cells(cells, others)
    if kept.size < SHARED_UNITS * min(cells.size, others.size):
        rng = np.random.default_rng(pair.seed_for("units"))
        sides = (sides[0].keep(rng.permutation(cells.size)), sides[1].keep(rng.permutation(others.size)))
        cells, others = (_cells(units.strata, units.groups) for units in sides)
        kept, other_kept = common_cells(cells, others)
    one, other = sides[0].keep(kept), sides[1].keep(other_kept)
    order, other_order = (
        np.argsort(cells[kept], kind="stable"),
        np.argsort(others[other_kept], kind="stable"),
    )
    one, other = one.keep(order), other.keep(other_order)
    sizes = np.minimum(one.counts.sum(axis=2), other.counts.sum(axis=2))
    has_any = sizes.sum(axis=1) > 0
    one, other, sizes = one.keep(np.flatnonzero(has_any)), other.keep(np.flatnonzero(has_any)), sizes[has_any]
    seed = pair.seed_for("sizes")
    return _thinned(one, sizes, seed), _thinned(other, sizes, seed)


def _cells(names: NDArray[np.str_], groups: NDArray[np.str_]) -> NDArray[np.str_]:
    return np.char.add(np.char.add(names.astype(np.str_), "|"), groups.astype(np.str_))


def _thinned(units: CountUnits, sizes: Floats, seed: int) -> CountUnits:
    counts = units.counts.copy()
    for place in range(counts.shape[1]):
        whole = np.round(sizes[:, place]).astype(np.int64)
        # Every unit of every group draws independently: with common draws groups would seem more alike than they are.
        keys = np.char.add(np.char.add(units.keys, "|"), np.char.add(units.groups, f"|{place}"))
        counts[:, place] = thin_counts(units.counts[:, place], whole, keys, seed)
    return replace(units, counts=counts)


def thin_counts(counts: Floats, sizes: Integers, keys: NDArray[np.str_], seed: int) -> Floats:
    """Return some of each row's answers, drawn without replacement: (n_units, n_kinds) and how many to keep to counts of that
    sum.

    A row's draw depends on its key and the seed alone. Counts that are not whole numbers are left as they are.
    """
    thinned = counts.copy()
    for row in np.flatnonzero(counts.sum(axis=1) > sizes):
        whole = np.round(counts[row]).astype(np.int64)
        if np.abs(whole - counts[row]).max() > NO_VARIANCE:
            continue
        rng = np.random.Generator(np.random.PCG64(stable_seed(seed, keys[row])))
        thinned[row] = rng.multivariate_hypergeometric(whole, int(sizes[row]), method="marginals")
    return thinned
