"""The result of a measure is its table: columns, types and rows follow from its dataclass.

A field is a column: a number, flag or name, or an array of them, which makes several rows at once. A field that holds another
result stands for that result's columns; where it is `listed`, arrays of it are lists in one row. Where there is no result its
columns hold what is missing: NaN, 0, false, the empty text or no list.
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
_LISTS: Mapping[Any, str] = {
    NDArray[np.int64]: "bigint[]",
    NDArray[np.float64]: "double[]",
    NDArray[np.str_]: "varchar[]",
}
_MISSING: Mapping[str, Any] = {"bool": False, "int64": 0, "Int64": None, "float64": np.nan, "str": ""}
LISTS = "lists"
"""What a table's `attrs` hold its lists' types in DuckDB under: column -> type."""
HIDDEN: Mapping[str, Any] = {"is_hidden": True}
"""Metadata of a field that is no column."""


def prefixed(prefix: str) -> Mapping[str, Any]:
    """Metadata of a field whose result's columns have this in front of their names."""
    return {"prefix": prefix}


def listed(prefix: str) -> Mapping[str, Any]:
    """Metadata of a field whose result's arrays are lists, and whose columns have this in front of their names."""
    return {"prefix": prefix, "is_listed": True}


def columns(kind: type) -> dict[str, str]:
    """Column -> its type in pandas, of lists that in DuckDB, of a result's dataclass.

    Raises:
        TypeError: a field's type is that of no column.
    """
    return {name: type_ for name, type_, _ in _cells(kind, None)}


def row(result: object) -> dict[str, Any]:
    """Column -> its value, or its array."""
    return {name: value for name, _, value in _cells(type(result), result)}


def frame(types: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a table of these columns and types; a row of arrays is as many rows as these are long.

    pandas has no type for lists: `attrs` say what they are.
    """
    names = list(types)
    lists = {name: type_ for name, type_ in types.items() if type_.endswith("[]")}
    if rows and any(isinstance(rows[0][name], np.ndarray) for name in names if name not in lists):
        parts = [pd.DataFrame({name: one[name] for name in names}) for one in rows]
        found = pd.concat(parts, ignore_index=True)
    else:
        found = pd.DataFrame(rows, columns=names)
    found = found.astype({name: "object" if name in lists else type_ for name, type_ in types.items()})
    found.attrs[LISTS] = lists
    return found


def _cells(kind: type, result: object | None, *, is_listed: bool = False) -> Iterator[tuple[str, str, Any]]:
    """Name, type and value of each column; what is missing where there is no result."""
    for name, metadata, hint in _fields(kind):
        value = None if result is None else getattr(result, name)
        if isinstance(hint, type) and is_dataclass(hint):
            inside = is_listed or metadata.get("is_listed", False)
            for inner, type_, inner_value in _cells(hint, value, is_listed=inside):
                yield metadata.get("prefix", "") + inner, type_, inner_value
        elif is_listed and hint in _LISTS:
            # DuckDB reads lists of names as objects alone.
            is_named = isinstance(value, np.ndarray) and value.dtype.kind == "U"
            yield name, _LISTS[hint], np.asarray(value, dtype=object) if is_named else value
        else:
            type_ = _TYPES[hint]
            yield name, type_, _MISSING[type_] if result is None else value


@cache
def _fields(kind: type) -> tuple[tuple[str, Mapping[str, Any], Any], ...]:
    """Name, metadata and type of each field that is a column, or stands for another result's."""
    hints, found = get_type_hints(kind), []
    for one in fields(kind):
        if not one.metadata.get("is_hidden"):
            hint = next((part for part in get_args(hints[one.name]) if is_dataclass(part)), hints[one.name])
            if not is_dataclass(hint) and hint not in _TYPES:
                raise TypeError(f"{kind.__name__}.{one.name} is no column: {hint}")
            found.append((one.name, one.metadata, hint))
    return tuple(found)
