"""One finding with all it was judged by, from the warehouse alone: run, measure, the thresholds' row and the exceptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from biasledger.explaining.rows import Row, rows
from collector.errors import InputError
from collector.hints import did_you_mean

if TYPE_CHECKING:
    import duckdb

_SHOWN_IDS = 5


@dataclass(frozen=True)
class Judgement:
    """A row of fct_findings and what it was judged by.

    `threshold_row` is None where thresholds.csv has changed since the build; `exceptions` are all that name the finding, expired
    ones too (fct_findings.is_excepted says whether one held at the build).
    """

    finding: Row
    run: Row
    measure: Row
    threshold_row: Row | None
    exceptions: list[Row]


def read_judgement(connection: duckdb.DuckDBPyConnection, finding_id: str) -> Judgement:
    """Find a finding by its id or the beginning of it.

    Raises:
        InputError: no finding has such an id, or several begin so; or the warehouse was built by an older version.
    """
    finding = _one(connection, finding_id)
    if "member" not in finding:
        raise InputError(
            "The warehouse was built by an older version, whose findings do not say what they speak of: run `biasledger build`."
        )
    (run,) = rows(connection, "select * from marts.dim_runs where run_id = $run_id", finding)
    (measure,) = rows(connection, "select * from marts.dim_measures where measure = $measure", finding)
    thresholds = rows(
        connection,
        """
        select * from settings.thresholds
        where
            measure = $measure and audit = $threshold_audit and attribute = $threshold_attribute
            and threshold = $threshold and alpha = $alpha and min_units = $min_units
            and coalesce(clear_threshold, threshold) = $clear_threshold
            and (severity = $severity or (severity = 'error' and $severity = 'warn'))
        """,
        finding,
    )
    exceptions = rows(
        connection,
        """
        select * from settings.exceptions
        where
            audit = $audit and target in ($target, '*') and measure = $measure and attribute = $attribute
            and group_name = $group_name and coalesce(subject, '*') in ($subject, '*')
        order by accepted_until desc, accepted_by_role, reason
        """,
        finding,
    )
    return Judgement(finding, run, measure, thresholds[0] if thresholds else None, exceptions)


def _one(connection: duckdb.DuckDBPyConnection, finding_id: str) -> Row:
    wanted = finding_id.strip().lower()
    if not wanted:
        raise InputError("The finding's id is empty: `biasledger findings --all` lists the ids.")
    found = rows(
        connection,
        "select * from marts.fct_findings where starts_with(finding_id, $wanted) order by finding_id",
        {"wanted": wanted},
    )
    exact = [row for row in found if row["finding_id"] == wanted]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        raise InputError(
            f"{len(found)} findings begin with {finding_id!r}: {_listed(found)}; give more of the id."
        )
    known = [
        str(row["finding_id"]) for row in rows(connection, "select finding_id from marts.fct_findings", {})
    ]
    # For the beginning of an id, suggest the ids whose beginnings are closest.
    near = did_you_mean(wanted, dict.fromkeys(one[: len(wanted)] for one in known))
    hint = near if near.startswith("; did you mean") else "."
    raise InputError(f"There is no finding {finding_id!r}{hint} `biasledger findings --all` lists the ids.")


def _listed(found: Sequence[Row]) -> str:
    shown = [
        f"{row['finding_id'][:12]} ({row['measure']}, {row['attribute']} {row['group_name']})"
        for row in found
    ]
    more = f" and {len(shown) - _SHOWN_IDS} more" if len(shown) > _SHOWN_IDS else ""
    return ", ".join(shown[:_SHOWN_IDS]) + more
