"""Groups of which nothing is known: declared by the audit, and without one usable answer. No other number speaks of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biasledger.comparing.built_tables import Tables


@dataclass(frozen=True)
class SilentGroup:
    """A declared group without any usable answer in a run and mitigation; why: as fct_group_coverage says it."""

    run_id: str
    audit: str
    target: str
    mitigation: str
    attribute: str
    group_name: str
    why: str

    @property
    def sentence(self) -> str:
        """Say in one sentence that nothing is known of the group, and why."""
        under = "" if self.mitigation == "plain" else f", with {self.mitigation}"
        return (
            f"Nothing is known of {self.attribute} {self.group_name} in {self.audit}, target {self.target}{under}: "
            f"{self.why}."
        )


def silent_groups(tables: Tables, run_ids: Sequence[str] | None = None) -> list[SilentGroup]:
    """Return the silent groups of these runs, or of all current ones; empty for tables of a version without this check."""
    if not tables.has("fct_group_coverage"):
        return []
    rows = tables.execute(
        """
        select coverage.run_id, runs.audit, runs.target, coverage.mitigation, coverage.attribute, coverage.group_name,
            coverage.silence
        from {fct_group_coverage} as coverage
        inner join {dim_runs} as runs on coverage.run_id = runs.run_id
        where coverage.is_silent and if(? is null, runs.is_current, list_contains(?, coverage.run_id))
        order by runs.audit, runs.target, coverage.mitigation <> 'plain', coverage.mitigation, coverage.attribute,
            coverage.group_name
        """,
        [run_ids, run_ids],
    )
    return [SilentGroup(*map(str, row)) for row in rows]
