"""Sums of values by the number, name or cell that each row belongs to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_Numbers = NDArray[np.signedinteger[Any]]


def sums_at(
    cells: _Numbers | tuple[_Numbers, ...], values: NDArray[np.float64], *shape: int
) -> NDArray[np.float64]:
    """Return the sum of values (n_rows, …) in each cell, (*shape, …); cells: (n_rows,), where a row is on each axis of shape."""
    sums = np.zeros((*shape, *values.shape[1:]))
    np.add.at(sums, cells, values)
    return sums


def sums_of_each(names: _Numbers, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of values (n_rows, …) over rows of equal names, (n_names, …), in the order of the names."""
    distinct, numbers = np.unique(names, return_inverse=True)
    return sums_at(numbers, values, distinct.size)
