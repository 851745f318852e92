"""Delete-group jackknives: of two groups' feature sums, and over clusters that hold units of one group or of several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from biasledger.measures.engine.design import Floats, Integers, Labels
from biasledger.measures.engine.group_sums import in_parts
from biasledger.measures.engine.sums import numbered, sums_at
from biasledger.measures.engine.word_counts import column_sums, sums_by

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
        """Return a delete-group a cluster, or max_groups a cell to which its clusters are dealt in turn."""
        cluster_of = numbered(clusters)
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
        """Return sums of (n_units, …) over the units of each delete-group: (n, …)."""
        return sums_at(self.of_unit, values, self.cells.size)

    def errors(self, left_out: Floats, observed: Floats) -> tuple[Floats, Floats]:
        """Return the standard errors and degrees of freedom (Welch & Satterthwaite) of statistics, each of the shape of
        `observed`.

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


@dataclass(frozen=True)
class JackknifeResult:
    """Bias-corrected value and standard error of a statistic of two groups' feature sums."""

    corrected: float
    standard_error: float


def two_sample_jackknife(
    features: sparse.csr_array,
    labels: Labels,
    statistic: Callable[[Floats, Floats], Floats],
    *,
    max_groups: int = 200,
) -> JackknifeResult:
    """Delete-one jackknife over the units of each group; delete-group where a group has more than max_groups units.

    statistic takes the feature sums of the marked and of the reference group, (b, n_features) each, and gives
    (b,). Units are dealt to delete-groups in turn, so that the result depends on the order of the units alone.
    Source: Efron & Tibshirani (1993), An Introduction to the Bootstrap, ch. 11; Kott (2001), delete-a-group
    jackknife.
    """
    deleted = DeleteGroups.of(np.arange(labels.size), labels, max_groups=max_groups)
    summed = sums_by(deleted.of_unit, deleted.cells.size, features)
    of_label = [sparse.csr_array(summed[deleted.cells == label]) for label in (0, 1)]
    sums = [column_sums(of_group) for of_group in of_label]
    observed = float(statistic(sums[1][np.newaxis, :], sums[0][np.newaxis, :])[0])
    left_out, bias = np.empty(deleted.cells.size), 0.0
    for label in (0, 1):

        def without(left: Floats, label: int = label) -> Floats:
            other = np.broadcast_to(sums[1 - label], left.shape)
            return statistic(*((left, other) if label == 1 else (other, left)))

        of_group = in_parts(without, sums[label] - of_label[label].toarray())
        left_out[deleted.cells == label] = of_group
        bias += (len(of_group) - 1) * (of_group.mean() - observed)
    error, _ = deleted.errors(left_out, np.array(observed))
    return JackknifeResult(float(observed - bias), float(error))


def jackknife_variance(without: Floats) -> float:
    """Return the variance of a value from the values without each cluster, (n_clusters,)."""
    return float((without.size - 1) / without.size * ((without - without.mean()) ** 2).sum())
