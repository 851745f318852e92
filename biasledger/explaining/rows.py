"""Rows of a DuckDB file as dictionaries."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from collector.sql import literal

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


def with_values(sql: str, values: Mapping[str, Any]) -> str:
    """The query with its `$name`s written out as literals: text, or a list of texts; what is not in `values` stays."""
    return _PARAMETER.sub(lambda found: _literal(values[found[1]]) if found[1] in values else found[0], sql)


def _literal(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_literal, value))}]"
    return "null" if value is None else literal(str(value))
