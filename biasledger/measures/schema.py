"""The result of a measure is its table: columns, types and rows follow from its dataclass.

A field is a column: a number, flag or name, or an array of them, which makes several rows at once. A field that holds another
result becomes that result's columns. Without a result these are NaN, 0, false or the empty text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

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
_DTYPES: Mapping[str, Any] = {
    "bool": np.bool_,
    "int64": np.int64,
    "Int64": np.int64,
    "float64": np.float64,
    "str": np.object_,
}
_MISSING: Mapping[str, Any] = {"bool": False, "int64": 0, "Int64": None, "float64": np.nan, "str": ""}
HIDDEN: Mapping[str, Any] = {"is_hidden": True}
"""Metadata of a field that is no column."""


@dataclass(frozen=True)
class Table:
    """Named columns of one length, in their order: flags, int64, float64 with NaN for what is missing, str as objects, and whole
    numbers of which some are missing as a masked array.
    """

    columns: Mapping[str, NDArray[Any]]

    def __post_init__(self) -> None:
        """Check them.

        Raises:
            ValueError: they are of several lengths, or one is of no such type.
        """
        if len({column.size for column in self.columns.values()}) > 1:
            raise ValueError("columns of a table are of one length")
        for name, column in self.columns.items():
            if column.dtype.type not in _DTYPES.values():
                raise ValueError(f"the column {name} is {column.dtype}")

    def __len__(self) -> int:
        """Return how many rows there are."""
        return next((column.size for column in self.columns.values()), 0)

    def to_pandas(self) -> pd.DataFrame:
        """Return the same as a frame; pandas, which takes as long to import as some audits to build, is imported for it alone."""
        import pandas as pd

        return pd.DataFrame({name: _series(column) for name, column in self.columns.items()})


def prefixed(prefix: str) -> Mapping[str, Any]:
    """Metadata of a field whose result's columns have this in front of their names."""
    return {"prefix": prefix}


def columns(kind: type) -> dict[str, str]:
    """Return the column -> its type, of a result's dataclass: bool, int64, Int64 where some are missing, float64 or str.

    Raises:
        TypeError: a field's type is that of no column.
    """
    return {name: type_ for name, type_, _ in _cells(kind, None)}


def row(result: object) -> dict[str, Any]:
    """Return the column -> its value, or its array."""
    return {name: value for name, _, value in _cells(type(result), result)}


def table_of(types: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return rows as a table of these columns and types; a row of arrays is as many rows as these are long."""
    sizes = [_size(one) for one in rows]
    given = {name: [one[name] for one in rows] for name in types}
    return Table({name: _column(given[name], sizes, type_) for name, type_ in types.items()})


def _size(one: Mapping[str, Any]) -> int | None:
    """Return the number of rows in a row of arrays; None if it has no array."""
    return next((value.size for value in one.values() if isinstance(value, np.ndarray)), None)


def _column(values: Sequence[Any], sizes: Sequence[int | None], type_: str) -> NDArray[Any]:
    """Return values as one column. sizes: the number of rows of each, as an array or repeated; None for a single value.

    Raises:
        ValueError: an array is of another size.
    """
    dtype = _DTYPES[type_]
    if type_ == "Int64":
        is_missing = _column([value is None for value in values], sizes, "bool")
        return np.ma.array(_column([value or 0 for value in values], sizes, "int64"), mask=is_missing)
    if all(size is None for size in sizes):
        return np.array(values, dtype)
    parts = []
    for value, size in zip(values, sizes, strict=True):
        part = np.asarray(value, dtype)
        if part.ndim and part.size != size:
            raise ValueError(f"an array of {part.size} stands next to arrays of {size}")
        parts.append(np.broadcast_to(part, 1 if size is None else size))
    return np.concatenate(parts)


def _series(column: NDArray[Any]) -> Any:
    import pandas as pd

    if isinstance(column, np.ma.MaskedArray):
        return pd.arrays.IntegerArray(column.data, np.ma.getmaskarray(column))
    return pd.Series(column, dtype="str") if column.dtype == np.object_ else column


def _cells(kind: type, result: object | None) -> Iterator[tuple[str, str, Any]]:
    """Yield name, type and value of each column; the missing value without a result."""
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
