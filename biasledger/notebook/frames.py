"""The result of a query as a data frame of pandas, Arrow or polars."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from collector.errors import InputError
from collector.hints import did_you_mean

if TYPE_CHECKING:
    import duckdb

Kind = Literal["pandas", "arrow", "polars"]


def _arrow(cursor: duckdb.DuckDBPyConnection) -> Any:
    with warnings.catch_warnings():
        # A copy more is nothing here: a cursor alone tells what is wrong with a statement before it is fetched.
        warnings.filterwarnings("ignore", "Arrow output on a DB-API result")
        return cursor.to_arrow_table()


def _polars(cursor: duckdb.DuckDBPyConnection) -> Any:
    # By its name: it is no dependency, and a frame of it is only made where the reader has it.
    return import_module("polars").from_arrow(_arrow(cursor))


# Kind -> what has to be installed, and how one is made.
_KINDS: Mapping[str, tuple[tuple[str, ...], Callable[[duckdb.DuckDBPyConnection], Any]]] = {
    "pandas": (("pandas",), lambda cursor: cursor.df()),
    "arrow": (("pyarrow",), _arrow),
    "polars": (("polars", "pyarrow"), _polars),
}


def frame_maker(kind: str) -> Callable[[duckdb.DuckDBPyConnection], Any]:
    """The function that makes a frame of all rows of a cursor; types are as DuckDB gives them.

    Raises:
        InputError: there is no such kind, or what it needs is not installed.
    """
    if kind not in _KINDS:
        raise InputError(f"There are no frames {kind!r}{did_you_mean(kind, _KINDS)}")
    packages, make = _KINDS[kind]
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise InputError(f"Frames of {kind} need {' and '.join(missing)}: pip install {' '.join(missing)}.")
    return make
