"""Number names, and sum values by group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_Numbers = NDArray[np.signedinteger[Any]]


def numbered(names: NDArray[Any]) -> NDArray[np.int64]:
    """Return each name's position in the sorted distinct names, (n_rows,)."""
    return np.asarray(np.unique(names, return_inverse=True)[1], dtype=np.int64)


def sums_at(cells: _Numbers | tuple[_Numbers, ...], values: Floats, *shape: int) -> Floats:
    """Return the sum of values (n_rows, …) in each cell, (*shape, …); cells: (n_rows,), where a row is on each axis of shape."""
    sums = np.zeros((*shape, *values.shape[1:]))
    np.add.at(sums, cells, values)
    return sums


def sums_of_each(names: _Numbers, values: Floats) -> Floats:
    """Return the sum of values (n_rows, …) over rows of equal names, (n_names, …), in the order of the names."""
    distinct, numbers = np.unique(names, return_inverse=True)
    return sums_at(numbers, values, distinct.size)


def group_totals(labels: NDArray[np.int8], values: Floats, n_groups: int) -> Floats:
    """Return the sum of one value a unit over the units of each label: (b, n_units) and (n_units,) to (b, n_groups)."""
    rows = len(labels)
    bins = labels + n_groups * np.arange(rows)[:, np.newaxis]
    totals = np.bincount(bins.ravel(), weights=np.tile(values, rows), minlength=rows * n_groups)
    return np.asarray(totals.reshape(rows, n_groups), dtype=np.float64)
