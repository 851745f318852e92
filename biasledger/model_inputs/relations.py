"""Relations of DuckDB as records, and as columns whose rows lie together by key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import duckdb
import numpy as np
from numpy.typing import NDArray

from biasledger.measures.resampling import Floats, Integers

_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")


def records(relation: duckdb.DuckDBPyRelation) -> list[dict[str, Any]]:
    """Every row as a dictionary by column name."""
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def rows_by_key(sorted_keys: NDArray[Any], keys: Sequence[str]) -> dict[str, slice]:
    """Where each key's rows lie in a sorted column of keys; an empty slice for a key without rows."""
    column = np.asarray(sorted_keys).astype(str)
    first, last = (np.searchsorted(column, keys, side) for side in _SIDES)
    return {key: slice(int(start), int(stop)) for key, start, stop in zip(keys, first, last, strict=True)}


def integers(column: NDArray[Any], name: str) -> Integers:
    """A column of integers.

    Raises:
        ValueError: it holds a null; the message calls the column by the name.
    """
    if np.ma.is_masked(column):
        raise ValueError(f"{name} is null in some rows; each needs one")
    return np.asarray(np.ma.getdata(column), dtype=np.int64)


def floats(column: NDArray[Any]) -> Floats:
    """A column of numbers with NaN for null: DuckDB masks a column only where it holds a null."""
    return np.asarray(np.ma.filled(np.ma.asarray(column, dtype=np.float64), np.nan))
