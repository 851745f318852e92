"""Worst-case bounds of a comparison over all possible outcomes of unread answers.

Each unread answer takes the outcome that moves the comparison farthest, first down and then up. The interval is computed from the
answers so completed, because answers at the end of the range also change the spread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from biasledger.measures.engine.design import Floats
from biasledger.measures.gaps.units import Units


@dataclass(frozen=True)
class Unread:
    """The rows of one comparison, unread answers included; arrays of shape (n_rows,).

    units: n counts all answers of a row, total sums the outcome over those that were read. n: the unread answers of each row.
    lowest, highest: the smallest and the largest sum that the outcomes of a row's unread answers can have.

    Raises:
        ValueError: arrays of unequal length, fewer than no unread answers, or a lowest sum above the highest.
    """

    units: Units
    n: Floats
    lowest: Floats
    highest: Floats

    def __post_init__(self) -> None:
        if not self.units.n.shape == self.n.shape == self.lowest.shape == self.highest.shape:
            raise ValueError("units, unread answers and their sums are of equal length")
        if not ((self.n >= 0).all() and (self.n <= self.units.n).all()):
            raise ValueError("a row has from no to n unread answers")
        if not (self.lowest <= self.highest).all():
            raise ValueError("the lowest sum of a row's unread answers lies above the highest")

    def completed(self, share: Floats) -> Units:
        """Return the units with every unread answer at this share of its range, (n_rows,), which runs from 0 to 1."""
        added = self.lowest + share * (self.highest - self.lowest)
        return replace(self.units, total=self.units.total + added)

    @property
    def n_total(self) -> int:
        """Return how many answers were not read."""
        return int(np.round(self.n.sum()))


@dataclass(frozen=True)
class Bounds:
    """The value and the end of its interval if every unread answer moved it down (low), and up (high), as far as it can.

    interval_if_unread_low is the lower end at the low bound, interval_if_unread_high the upper end at the high bound. NaN where
    the answers so completed give no value.
    """

    n_unread: int
    value_if_unread_low: float
    value_if_unread_high: float
    interval_if_unread_low: float
    interval_if_unread_high: float

    @classmethod
    def around(
        cls,
        n_unread: int,
        read: tuple[float, float, float],
        low: tuple[float, float],
        high: tuple[float, float],
    ) -> Bounds:
        """Return the bounds, which hold at least what the answers that were read show.

        Args:
            n_unread: how many answers were not read.
            read: value, lower and upper end of the answers that were read.
            low: value and lower end at the low bound.
            high: value and upper end at the high bound.
        """
        value, lower, upper = read
        # NaN stays NaN: np.minimum, unlike min, lets it through.
        return cls(
            n_unread,
            float(np.minimum(low[0], value)),
            float(np.maximum(high[0], value)),
            float(np.minimum(low[1], lower)),
            float(np.maximum(high[1], upper)),
        )
