"""What all rooms read alike from the published tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from biasledger.explain.evidence import RowsBehind
from biasledger.explain.rows import Row, rows

if TYPE_CHECKING:
    import duckdb

RUN = "run_id = $run_id and variant = $variant"
CONTRAST = (
    f"{RUN} and attribute = $attribute and group_name = $group_name and reference_group = $reference_group"
)
_ROWS = 15


def behind(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    about: str,
    values: Mapping[str, Any],
    *,
    where: str,
    columns: str = "*",
    order: str = "all",
    n: int = _ROWS,
) -> RowsBehind:
    """The first rows of a published table under a condition, and how many there are in all.

    The columns that the condition holds to one value say nothing in each row and are left out of `*`.
    """
    if columns == "*":
        columns = "* exclude (run_id, variant)" if where.startswith(RUN) else "*"
    found = rows(
        connection, f"select {columns} from marts.{table} where {where} order by {order} limit {n}", values
    )
    (count,) = rows(connection, f"select count(*) as n from marts.{table} where {where}", values)
    return RowsBehind(table, about, found, count["n"])


def prompts_of(connection: duckdb.DuckDBPyConnection, finding: Row, group_name: str) -> list[str]:
    """The prompts of a finding's run and variant that are about a group of its attribute."""
    found = rows(
        connection,
        f"""
        select distinct prompt_id from marts.dim_prompt_groups
        where {RUN} and attribute = $attribute and group_name = $side
        order by prompt_id
        """,
        {**finding, "side": group_name},
    )
    return [row["prompt_id"] for row in found]
