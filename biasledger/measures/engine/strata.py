"""Sums by stratum and label: all that groups' sums depend on, as observed and on average over all arrangements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from biasledger.measures.engine.design import Design, Floats
from biasledger.measures.engine.intervals import NO_VARIANCE
from biasledger.measures.engine.jackknife import DeleteGroups
from biasledger.measures.engine.sums import numbered, sums_at

_MAX_CELLS = 2**22


@dataclass(frozen=True)
class StratumSums:
    """Number of units by stratum and label, and sums of their features.

    n: (…, n_strata, n_groups); of: (…, n_strata, n_groups, n_blocks, n_features). Leading axes (…) hold several such sums, as
    without each delete-group of a jackknife. Blocks are those of prices: of two, the second one's features belong to the
    other group than the unit's label says.
    """

    n: Floats
    of: Floats

    @classmethod
    def make(cls, design: Design, features: Floats, n_groups: int) -> StratumSums:
        """Return the sum over all units; features (n_units, n_blocks, n_features)."""
        cells = numbered(design.strata), design.labels
        shape = int(cells[0].max(initial=-1)) + 1, n_groups
        return cls(sums_at(cells, np.ones(design.n_units), *shape), sums_at(cells, features, *shape))

    def groups(self) -> Floats:
        """Return sums of each group, (…, n_groups, n_features)."""
        of_labels = self.of.sum(axis=-4)
        sums = of_labels[..., 0, :]
        return np.asarray(sums if self.n_blocks == 1 else sums + of_labels[..., ::-1, 1, :])

    def expected(self) -> Floats:
        """Return means of the sums of each group over all arrangements, (…, n_groups, n_features)."""
        of_strata, probabilities = self.of.sum(axis=-3), self._probabilities()
        sums = probabilities @ of_strata[..., 0, :]
        if self.n_blocks == 2:
            sums = sums + probabilities[..., ::-1, :] @ of_strata[..., 1, :]
        return np.asarray(sums)

    def responses(self, items: slice = slice(None)) -> Floats:
        """Return how far groups' means rise above their means under permutation when a group's items rise by 1.

        items: the features that are numbers of items, one a set. Returns (…, n_sets, n_groups, n_groups): the group that is
        looked at, and the one whose items rise; NaN for a group that no items could belong to. Holds exactly where groups'
        numbers of items do not depend on the arrangement, and nearly so otherwise.
        """
        # (…, n_sets, n_strata, n_groups, n_blocks)
        weights, probabilities = (
            np.moveaxis(self.of[..., items], -1, -4),
            self._probabilities()[..., np.newaxis, :, :],
        )
        shared = probabilities @ weights[..., 0]
        if self.n_blocks == 2:
            shared = shared + probabilities[..., ::-1, :] @ weights[..., ::-1, 1]
        expected = np.moveaxis(self.expected()[..., items], -1, -2)
        return np.asarray(
            np.eye(self.n.shape[-1])
            - shared / np.where(expected > NO_VARIANCE, expected, np.nan)[..., np.newaxis]
        )

    @property
    def n_blocks(self) -> int:
        """One, or two where the groups follow from two words."""
        return int(self.of.shape[-2])

    def _probabilities(self) -> Floats:
        """Return how probable each label is for the units of a stratum, (…, n_groups, n_strata); 0 where there are none."""
        n = np.swapaxes(self.n, -1, -2)
        return np.asarray(n / np.maximum(n.sum(axis=-2, keepdims=True), 1))


def without_each(
    design: Design, features: Floats, n_groups: int, deleted: DeleteGroups
) -> Iterator[StratumSums]:
    """Yield the sums without each delete-group in turn along a leading axis, in parts that keep memory bounded."""
    whole, strata = StratumSums.make(design, features, n_groups), numbered(design.strata)
    at_once = max(1, _MAX_CELLS // max(whole.of.size, 1))
    for first in range(0, deleted.cells.size, at_once):
        rows = min(at_once, deleted.cells.size - first)
        inside = (deleted.of_unit >= first) & (deleted.of_unit < first + rows)
        cells = deleted.of_unit[inside] - first, strata[inside], design.labels[inside]
        shape = rows, *whole.n.shape
        n, of = (sums_at(cells, values[inside], *shape) for values in (np.ones(design.n_units), features))
        yield StratumSums(whole.n - n, whole.of - of)
