"""Rows of analyses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from biasledger.querying.analyses import read_sql
from biasledger.querying.connection import locked_warehouse
from biasledger.querying.statements import run_statement

Row = dict[str, Any]


def run(warehouse: Path, source: str) -> list[Row]:
    with locked_warehouse(warehouse) as connection:
        result = run_statement(connection, read_sql(source))
        return [dict(zip(result.columns, row, strict=True)) for row in result.rows]
