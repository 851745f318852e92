"""Tables of a built warehouse by name, for those who compare and check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasledger.opening import connect_read_only
from collector.errors import InputError

if TYPE_CHECKING:
    import duckdb


class Tables:
    """Published tables by name, wherever their schema is; `connection` is read-only."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, warehouse: Path) -> None:
        self.connection = connection
        self._warehouse = warehouse
        # A user's own model may have the name of a published table: the last of a name counts.
        self._names = {
            table: f'"{schema}".{table}'
            for table, schema in connection.execute(
                """
                select table_name, table_schema
                from information_schema.tables
                order by table_schema in ('marts', 'settings'), table_schema, table_name
                """
            ).fetchall()
        }

    def __enter__(self) -> Tables:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def has(self, table: str) -> bool:
        """Whether there is such a table."""
        return table in self._names

    def execute(self, sql: str, values: list[Any] | None = None) -> list[Any]:
        """Rows of a query that names tables in braces.

        Raises:
            InputError: the file lacks one of the tables, or of their columns.
        """
        import duckdb

        older = "it was built by an older version; run `biasledger build`."
        try:
            query = sql.format_map(self._names)
        except KeyError as missing:
            raise InputError(f"{self._warehouse} holds no table {missing.args[0]}: {older}") from None
        try:
            return self.connection.execute(query, values or []).fetchall()
        except duckdb.BinderException:
            raise InputError(f"{self._warehouse} lacks columns that are read here: {older}") from None

    def records(self, sql: str, values: list[Any] | None = None) -> list[dict[str, Any]]:
        """The same as dictionaries by column name, with None for what is no number (NaN)."""
        rows = self.execute(sql, values)
        names = [column[0] for column in self.connection.description or ()]
        return [
            {name: None if value != value else value for name, value in zip(names, row, strict=True)}
            for row in rows
        ]


def open_tables(warehouse: Path) -> Tables:
    """The published tables, read-only; to be closed by a with block.

    Raises:
        InputError: there is no such file.
        BiasledgerError: it cannot be read.
    """
    return Tables(connect_read_only(warehouse), warehouse)
