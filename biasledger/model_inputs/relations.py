"""Relations of DuckDB as records, and as columns whose rows lie together by key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import duckdb
import numpy as np
from numpy.typing import NDArray

_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")


def records(relation: duckdb.DuckDBPyRelation) -> list[dict[str, Any]]:
    """Every row as a dictionary by column name."""
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def rows_by_key(sorted_keys: NDArray[Any], keys: Sequence[str]) -> dict[str, slice]:
    """Where each key's rows lie in a sorted column of keys; an empty slice for a key without rows."""
    column = np.asarray(sorted_keys).astype(str)
    first, last = (np.searchsorted(column, keys, side) for side in _SIDES)
    return {key: slice(int(start), int(stop)) for key, start, stop in zip(keys, first, last, strict=True)}
