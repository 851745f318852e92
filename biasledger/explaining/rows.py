"""Rows of a DuckDB file as dictionaries."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

Row = dict[str, Any]
_PARAMETER = re.compile(r"\$([a-z_]+)")


def rows(connection: duckdb.DuckDBPyConnection, sql: str, values: Mapping[str, Any]) -> list[Row]:
    """The rows of a query; of `values` it takes those that it names as `$name`."""
    named = {name: values[name] for name in _PARAMETER.findall(sql)}
    cursor = connection.execute(sql, named)
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
