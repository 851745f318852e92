"""A finding to explain, with what every method reads alike from the published tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biasledger.explaining.evidence import USABLE, USUAL_ORDER, Pick, RowsBehind, Side
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

    @property
    def groups(self) -> tuple[str, str]:
        """The two groups that the finding compares."""
        return self.finding["group_name"], self.finding["reference_group"]

    @property
    def is_more(self) -> bool:
        """Whether the value is that much more, not less, for the group than for the reference group."""
        return (self.finding["value"] or 0) >= 0

    def rows(self, sql: str, **values: Any) -> list[Row]:
        """The rows of a query, which may name the finding's columns, `$n` answers, and `values`."""
        return rows(self.connection, sql, {**self.finding, "n": self.n_responses, **values})

    def count(self, table: str, where: str, **values: Any) -> int:
        """How many rows of a published table hold a condition."""
        (row,) = self.rows(f"select count(*) as n from marts.{table} where {where}", **values)
        return int(row["n"])

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

    def side(
        self,
        name: str,
        picks: Sequence[Pick] | None = None,
        *,
        order: str = USUAL_ORDER,
        statuses: Sequence[str] = USABLE,
    ) -> Side:
        """The answers about a group, with its prompts."""
        return Side(name, picks, order=order, statuses=statuses, prompt_ids=self.prompts_of(name))

    def first_answers(
        self,
        name: str,
        table: str,
        pick: Callable[[Row], Pick],
        *,
        where: str,
        by: str = "",
        order: str,
        prompt_ids: Sequence[str] = (),
    ) -> Side:
        """The first answers in a published table under a condition, and how many there are in all.

        Args:
            name: of the side.
            pick: how a row's answer is shown.
            by: what the rows are ordered by before prompt and trial.
            order: the same in words.
            prompt_ids: only these; all if there are none.
        """
        if prompt_ids:
            where += " and prompt_id in (select unnest($prompt_ids))"
        first = f"{by}, prompt_id, trial" if by else "prompt_id, trial"
        prompts = list(prompt_ids)
        found = self.rows(
            f"select * from marts.{table} where {where} order by {first} limit $n", prompt_ids=prompts
        )
        n = self.count(table, where, prompt_ids=prompts)
        return Side(name, [pick(row) for row in found], n, prompt_ids=prompt_ids, order=order)

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
