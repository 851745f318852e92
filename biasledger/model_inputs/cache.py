"""Which results a Python model's table holds already."""

from __future__ import annotations

from typing import Any

import duckdb


def computed_keys(
    dbt: Any, session: duckdb.DuckDBPyConnection, key: str = "comparison_key"
) -> frozenset[str]:
    """Keys whose results the model's table holds already; none on its first build. key: the column that holds them."""
    if not dbt.is_incremental:
        return frozenset()
    return frozenset(
        value for (value,) in session.execute(f"select distinct {key} from {dbt.this}").fetchall()
    )
