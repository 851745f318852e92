"""Runs that are newer than the current one of their audit and target: what they lack, and that they are passed over."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biasledger.comparing.changes import Tables


def known_runs(tables: Tables) -> list[tuple[str, str, str]]:
    """Run id, audit and target of all runs: of an audit and target the current one first, then those before, then newer ones."""
    rows = tables.execute(
        """
        select run_id, audit, target
        from {dim_runs}
        order by
            started_at > max(started_at) filter (where is_current) over (partition by audit, target),
            started_at desc, run_id desc
        """
    )
    return [(str(run), str(audit), str(target)) for run, audit, target in rows]


def newer_runs(tables: Tables) -> list[str]:
    """A sentence for each run that is newer than the current one of its audit and target, which alone raises alarms."""
    if not tables.has("dim_runs"):
        return []
    rows = tables.execute(
        """
        select newer.audit, newer.target, newer.run_id, newer.last_event, chosen.run_id
        from {dim_runs} as newer
        inner join {dim_runs} as chosen
            on newer.audit = chosen.audit and newer.target = chosen.target and chosen.is_current
        where (newer.started_at, newer.run_id) > (chosen.started_at, chosen.run_id)
        order by newer.started_at, newer.run_id
        """
    )
    return [
        f"The run {run} {_lack(event)}, so that {audit} of {target} still goes by the findings of {current}"
        + (f"; go on with: biasledger collect --resume {run}" if event != "finished" else ".")
        for audit, target, run, event, current in rows
    ]


def _lack(event: str | None) -> str:
    return "has no answers" if event == "finished" else "is not finished"
