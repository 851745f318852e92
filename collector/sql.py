"""Quote texts and names for SQL, as DuckDB and PostgreSQL read them."""

from __future__ import annotations

from pathlib import Path


def literal(text: str | Path) -> str:
    """Return a text or a path as an SQL string."""
    return "'" + str(text).replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return a name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
