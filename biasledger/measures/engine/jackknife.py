"""Delete-group jackknife over clusters that hold units of one group or of several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biasledger.measures.engine.resampling import Floats, Integers, Labels

_ROUNDING = 1e-12


@dataclass(frozen=True)
class DeleteGroups:
    """The units that a jackknife over clusters leaves out together.

    of_unit: (n_units,), the delete-group of each unit, 0 … n - 1. cells: (n,), what each delete-group is a sample of: its
    units' label where every cluster holds one label alone, 0 where clusters hold several.
    """

    of_unit: Integers
    cells: Integers

    @classmethod
    def of(cls, clusters: Integers, labels: Labels, *, max_groups: int = 200) -> DeleteGroups:
        """A delete-group a cluster, or max_groups a cell to which its clusters are dealt in turn."""
        _, cluster_of = np.unique(clusters, return_inverse=True)
        n_clusters = int(cluster_of.max(initial=-1)) + 1
        lowest, highest = np.full(n_clusters, np.iinfo(np.int8).max), np.zeros(n_clusters, dtype=np.int64)
        np.minimum.at(lowest, cluster_of, labels)
        np.maximum.at(highest, cluster_of, labels)
        cell_of = lowest if (lowest == highest).all() else np.zeros(n_clusters, dtype=np.int64)
        numbers = np.empty(n_clusters, dtype=np.int64)
        cells: list[int] = []
        for cell in np.unique(cell_of):
            [inside] = np.nonzero(cell_of == cell)
            n = min(inside.size, max_groups)
            numbers[inside] = len(cells) + np.arange(inside.size) % n
            cells += [int(cell)] * n
        return cls(numbers[cluster_of], np.array(cells, dtype=np.int64))

    def sums(self, values: Floats) -> Floats:
        """Sums of (n_units, …) over the units of each delete-group: (n, …)."""
        sums = np.zeros((self.cells.size, *values.shape[1:]))
        np.add.at(sums, self.of_unit, values)
        return sums

    def errors(self, left_out: Floats, observed: Floats) -> tuple[Floats, Floats]:
        """Standard errors and degrees of freedom (Welch & Satterthwaite) of statistics, each of the shape of `observed`.

        left_out: (n, …), the statistics without each delete-group. Both are NaN where a statistic is undefined without one,
        or depends on a cell that has a single delete-group.
        """
        variance, below = np.zeros(observed.shape), np.zeros(observed.shape)
        cells = np.unique(self.cells)
        for cell in cells:
            inside = left_out[self.cells == cell]
            n = len(inside)
            if n == 1:
                depends = ~(np.abs(inside[0] - observed) <= _ROUNDING * np.maximum(1.0, np.abs(observed)))
                variance = np.where(depends, np.nan, variance)
                continue
            part = (n - 1) / n * ((inside - inside.mean(axis=0)) ** 2).sum(axis=0)
            variance = variance + part
            below = below + part**2 / (n - 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            degrees = variance**2 / below
        # Without variance there is nothing to weigh the cells by.
        degrees = np.where(variance > 0, degrees, np.where(np.isnan(variance), np.nan, 1.0))
        return np.sqrt(variance), degrees
