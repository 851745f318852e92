"""Map columns of the warehouse to types of PostgreSQL and to the expressions that DuckDB sends."""

from __future__ import annotations

import re
from dataclasses import dataclass

from biasledger.publishing.published import Table
from biasledger.publishing.warehouse import Column
from collector.sql import identifier

# PostgreSQL's longest identifier, and the largest entry of an index (2,704 bytes) less what is stored next to the text.
MAX_NAME_BYTES = 63
MAX_KEY_BYTES = 2500
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
# DuckDB's type -> PostgreSQL's, in the spelling of its format_type. The binary forms of both are the same, unless cast.
_SCALARS = {
    "VARCHAR": "text",
    "BOOLEAN": "boolean",
    "TINYINT": "smallint",
    "UTINYINT": "smallint",
    "SMALLINT": "smallint",
    "USMALLINT": "integer",
    "INTEGER": "integer",
    "UINTEGER": "bigint",
    "BIGINT": "bigint",
    "UBIGINT": "numeric(38,0)",
    "HUGEINT": "numeric(38,0)",
    "FLOAT": "real",
    "DOUBLE": "double precision",
    "DATE": "date",
    "TIME": "time without time zone",
    "TIMESTAMP": "timestamp without time zone",
    "TIMESTAMP_S": "timestamp without time zone",
    "TIMESTAMP_MS": "timestamp without time zone",
    "TIMESTAMP_NS": "timestamp without time zone",
    "TIMESTAMP WITH TIME ZONE": "timestamp with time zone",
    "BLOB": "bytea",
}
_CASTS = {
    "smallint": "smallint",
    "integer": "integer",
    "bigint": "bigint",
    "numeric(38,0)": "decimal(38, 0)",
    "timestamp without time zone": "timestamp",
}
_LISTED = {"text", "boolean", "integer", "bigint", "real", "double precision"}
_NESTED = re.compile(r".*\[\d*\]|(STRUCT|MAP|UNION)\(.*|JSON|VARIANT", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PostgresColumn:
    """A column in PostgreSQL.

    Attributes:
        name: as in the warehouse.
        type: as PostgreSQL's format_type spells it.
        is_nullable: whether it may be null.
        comment: its description in dbt.
    """

    name: str
    type: str
    is_nullable: bool
    comment: str | None

    @property
    def definition(self) -> str:
        """Its part of a create statement."""
        return f"{identifier(self.name)} {self.type}{'' if self.is_nullable else ' not null'}"


@dataclass(frozen=True, slots=True)
class PostgresTable:
    """A table in PostgreSQL, and the query of the warehouse that fills it.

    Attributes:
        name, comment, columns: of the table.
        key: the columns of its primary key; empty where it gets none.
        query: in DuckDB's SQL; its columns are the table's, in their order.
        n_rows: how many it gives.
    """

    name: str
    comment: str | None
    columns: tuple[PostgresColumn, ...]
    key: tuple[str, ...]
    query: str
    n_rows: int


def postgres_table(table: Table) -> PostgresTable:
    """Return a published table as PostgreSQL keeps it."""
    parts = [_column(column) for column in table.columns]
    return PostgresTable(
        name=table.name,
        comment=table.comment,
        columns=tuple(column for column, _ in parts),
        key=table.key,
        query=f"select {', '.join(expression for _, expression in parts)} from {table.source}",
        n_rows=table.n_rows,
    )


def _column(column: Column) -> tuple[PostgresColumn, str]:
    """Return the column, and what DuckDB selects for it."""
    type_, expression = _type_and_expression(column.type, identifier(column.name))
    kept = PostgresColumn(column.name, type_, column.is_nullable, column.comment)
    return kept, f"{expression} as {identifier(column.name)}"


def _type_and_expression(type_: str, value: str) -> tuple[str, str]:
    decimal = _DECIMAL.fullmatch(type_)
    if decimal is not None:
        return f"numeric({decimal[1]},{decimal[2]})", value
    if type_ == "VARCHAR":
        return "text", _without_nul(value)
    if type_ in _SCALARS:
        kept = _SCALARS[type_]
        return kept, f"cast({value} as {_CASTS[kept]})" if kept in _CASTS else value
    element = type_.removesuffix("[]")
    if type_.endswith("[]") and _SCALARS.get(element) in _LISTED:
        if element == "VARCHAR":
            return "text[]", f"list_transform({value}, lambda element: {_without_nul('element')})"
        return f"{_SCALARS[element]}[]", value
    if _NESTED.fullmatch(type_):
        # The text of `json` is its binary form, too; that of `jsonb` is not. JSON escapes NUL itself.
        return "json", f"cast(to_json({value}) as varchar)"
    return "text", _without_nul(f"cast({value} as varchar)")


def _without_nul(value: str) -> str:
    """PostgreSQL's text cannot hold NUL, which an answer may: the replacement character stands for it."""
    return f"replace({value}, chr(0), '\ufffd')"
