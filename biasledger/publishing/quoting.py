"""Names and texts in SQL, as DuckDB and PostgreSQL both read them."""

from __future__ import annotations


def quote_name(identifier: str) -> str:
    """An identifier, quoted."""
    return '"' + identifier.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A text, quoted."""
    return "'" + text.replace("'", "''") + "'"
