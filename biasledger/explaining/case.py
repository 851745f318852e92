"""A finding to explain, with what every method reads alike from the published tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biasledger.explaining.evidence import RowsBehind
from biasledger.explaining.rows import Row, rows, with_values

if TYPE_CHECKING:
    import duckdb

RUN = "run_id = $run_id and mitigation = $mitigation"
CONTRAST = (
    f"{RUN} and attribute = $attribute and group_name = $group_name and reference_group = $reference_group"
)
_ROWS = 15


@dataclass(frozen=True)
class Case:
    """One finding, the published tables, and how many answers of each side to show."""

    connection: duckdb.DuckDBPyConnection
    finding: Row
    n_responses: int

    def rows(self, sql: str, **values: Any) -> list[Row]:
        """The rows of a query, which may name the finding's columns, `$n` answers, and `values`."""
        return rows(self.connection, sql, {**self.finding, "n": self.n_responses, **values})

    def count(self, table: str, where: str, of: str = "*", **values: Any) -> int:
        """How many rows, or different values, of a published table hold a condition."""
        ((count,),) = (
            row.values()
            for row in self.rows(f"select count({of}) from marts.{table} where {where}", **values)
        )
        return int(count)

    def behind(
        self, table: str, about: str, *, where: str, columns: str = "*", order: str = "all", n: int = _ROWS
    ) -> RowsBehind:
        """The first rows of a published table under a condition, and how many there are in all.

        The columns that the condition holds to one value say nothing in each row and are left out of `*`.
        """
        if columns == "*":
            columns = "* exclude (run_id, mitigation)" if where.startswith(RUN) else "*"
        query = f"select {columns} from marts.{table} where {where} order by {order}"
        found = self.rows(f"{query} limit {n}")
        return RowsBehind(table, about, found, self.count(table, where), with_values(query, self.finding))

    def prompts_of(self, group_name: str) -> list[str]:
        """The prompts of the finding's run and mitigation that are about a group of its attribute."""
        found = self.rows(
            f"""
            select distinct prompt_id from marts.dim_prompt_groups
            where {RUN} and attribute = $attribute and group_name = $side
            order by prompt_id
            """,
            side=group_name,
        )
        return [row["prompt_id"] for row in found]
