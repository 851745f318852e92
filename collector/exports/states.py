"""Compare a run in an export with the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from collector.journal.chain import Seal

if TYPE_CHECKING:
    import duckdb

_STATES = """
with chained as (
    select run_id, count(*) as length, arg_max(hash, position) as head from raw.chain group by run_id
),
sealed as (
    select run_id, count(*) as n, max(n_records) as length, arg_max(head_hash, n_records) as head
    from raw.seals
    group by run_id
),
scored as (
    select run_id, count(*) as n, max(scored_at) as latest from raw.response_scores group by run_id
),
evented as (select run_id, count(*) as n from raw.run_events group by run_id),
erased as (select run_id, count(*) as n from raw.erasures group by run_id)
select
    runs.run_id,
    runs.run_id not in (from raw.unchained_runs),
    chained.length,
    chained.head,
    chained.length = sealed.length and chained.head = sealed.head,
    concat_ws(
        ', ', coalesce(sealed.n, 0) || ' seals', coalesce(scored.n, 0) || ' scores', scored.latest,
        coalesce(evented.n, 0) || ' events', coalesce(erased.n, 0) || ' erasures'
    )
from raw.runs as runs
left join chained on chained.run_id = runs.run_id
left join sealed on sealed.run_id = runs.run_id
left join scored on scored.run_id = runs.run_id
left join evented on evented.run_id = runs.run_id
left join erased on erased.run_id = runs.run_id
order by runs.started_at, runs.run_id
"""


@dataclass(frozen=True, slots=True)
class LedgerRun:
    """A run in the ledger: its seal, whether that is its chain's end, and a text that is another whenever it has changed."""

    run_id: str
    seal: Seal | None
    is_whole: bool
    state: str


def ledger_runs(connection: duckdb.DuckDBPyConnection) -> list[LedgerRun]:
    """Return the state of each run of a ledger, in the order of their start."""
    return [
        LedgerRun(
            run_id,
            Seal(length, head) if is_chained and length else None,
            bool(is_whole) or not is_chained,
            f"{length or 0}:{head}, {other_rows}",
        )
        for run_id, is_chained, length, head, is_whole, other_rows in connection.execute(_STATES).fetchall()
    ]
