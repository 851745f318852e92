"""The result of a measure is its table: columns, types and rows follow from its dataclass.

A field is a column: a number, flag or name, or an array of them, which makes several rows at once. A field that holds another
result stands for that result's columns. Where there is none these hold what is missing: NaN, 0, false or the empty text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, get_args, get_type_hints

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_TYPES: Mapping[Any, str] = {
    bool: "bool",
    int: "int64",
    int | None: "Int64",
    float: "float64",
    str: "str",
    NDArray[np.int64]: "int64",
    NDArray[np.float64]: "float64",
    NDArray[np.str_]: "str",
}
_MISSING: Mapping[str, Any] = {"bool": False, "int64": 0, "Int64": None, "float64": np.nan, "str": ""}
HIDDEN: Mapping[str, Any] = {"is_hidden": True}
"""Metadata of a field that is no column."""


def prefixed(prefix: str) -> Mapping[str, Any]:
    """Metadata of a field whose result's columns have this in front of their names."""
    return {"prefix": prefix}


def columns(kind: type) -> dict[str, str]:
    """Column -> its type in pandas, of a result's dataclass.

    Raises:
        TypeError: a field's type is that of no column.
    """
    return {name: type_ for name, type_, _ in _cells(kind, None)}


def row(result: object) -> dict[str, Any]:
    """Column -> its value, or its array."""
    return {name: value for name, _, value in _cells(type(result), result)}


def frame(types: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a table of these columns and types; a row of arrays is as many rows as these are long."""
    names = list(types)
    if rows and any(isinstance(value, np.ndarray) for value in rows[0].values()):
        parts = [pd.DataFrame({name: one[name] for name in names}) for one in rows]
        return pd.concat(parts, ignore_index=True).astype(types)
    return pd.DataFrame(rows, columns=names).astype(types)


def _cells(kind: type, result: object | None) -> Iterator[tuple[str, str, Any]]:
    """Name, type and value of each column; what is missing where there is no result."""
    for name, prefix, hint in _fields(kind):
        value = None if result is None else getattr(result, name)
        if isinstance(hint, type) and is_dataclass(hint):
            for inner, type_, inner_value in _cells(hint, value):
                yield prefix + inner, type_, inner_value
        else:
            type_ = _TYPES[hint]
            yield name, type_, _MISSING[type_] if result is None else value


@cache
def _fields(kind: type) -> tuple[tuple[str, str, Any], ...]:
    """Name, prefix and type of each field that is a column, or stands for another result's."""
    hints, found = get_type_hints(kind), []
    for one in fields(kind):
        if not one.metadata.get("is_hidden"):
            hint = next((part for part in get_args(hints[one.name]) if is_dataclass(part)), hints[one.name])
            if not is_dataclass(hint) and hint not in _TYPES:
                raise TypeError(f"{kind.__name__}.{one.name} is no column: {hint}")
            found.append((one.name, one.metadata.get("prefix", ""), hint))
    return tuple(found)
