"""Two runs, models or mitigations: before, after, the difference with its interval, and what became of the answers' quality.

Nothing is built here: what the last build compared is shown as it was judged, and of other runs what each of them read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biasledger.comparing.built_runs import known_runs
from biasledger.comparing.built_tables import Tables, open_tables
from biasledger.comparing.changes import VERDICTS, Change, built_changes, why_incomparable
from biasledger.comparing.run_names import find_run
from biasledger.reporting.captions import describe_dots
from biasledger.reporting.charts import NO_DIFFERENCE, Dot, Rule, interval_dots
from biasledger.reporting.picture import Key, Panel, clip, number, readable
from biasledger.serving.asked import Asked, Served, link
from biasledger.serving.builds import build_of
from biasledger.verdicts import PLAIN
from collector.errors import InputError

_DRAWN_AT_MOST = 30
_DRAWN_AS = frozenset({"worse", "better", "inconclusive"})
# Measures of fct_run_quality that are better when higher; the others, except the neutral ones, are worse when higher.
_BETTER_HIGH = frozenset({"right decisions", "relevance (NDCG)"})
_NEUTRAL = frozenset({"tokens an answer", "USD an answer"})


@dataclass(frozen=True)
class Quality:
    """A side of the answers' quality before and after; `is_lost` where it became worse beyond chance."""

    name: str
    before: float
    after: float
    difference: float
    low: float | None
    high: float | None
    is_lost: bool


def page(served: Served, asked: Asked) -> Mapping[str, Any]:
    """Return the runs that can be compared, the chosen ones and their comparison, for a template.

    Raises:
        InputError: there is no such run or mitigation, or the runs are of different audits.
        BiasledgerError: the warehouse cannot be read.
    """
    with open_tables(served.warehouse) as tables:
        runs = tables.records(
            "select run_id, audit, target, is_current, started_at from {dim_runs} order by audit, target, started_at desc"
        )
        pairs = tables.records(
            """
            select baseline_run_id, run_id, mitigation, audit, target, incomparable_because
            from {fct_run_pairs}
            order by is_current desc, audit, target, mitigation, baseline_run_id
            """
        )
        offered = [{**pair, "href": _href(pair)} for pair in pairs]
        chosen = _chosen(tables, asked, offered, runs)
        values = {
            "build": build_of(served.warehouse),
            "runs": runs,
            "offered": offered,
            "chosen": chosen,
            "mitigations": sorted({pair["mitigation"] for pair in pairs} - {PLAIN}),
            "sides": _sides(chosen, runs) if chosen else (),
        }
        if chosen is None:
            return {**values, "changes": None}
        before, after, mitigation = chosen
        is_compared = any(
            (pair["baseline_run_id"], pair["run_id"], pair["mitigation"]) == chosen for pair in pairs
        )
        readings = [] if is_compared else _readings(tables, before, after, mitigation)
        findings = _finding_ids(tables, after, mitigation)
        models = (
            [] if is_compared or not tables.has("fct_model_comparisons") else _models(tables, before, after)
        )
    changes = built_changes(served.warehouse, before, after, mitigation)
    because = why_incomparable(served.warehouse, before, after) if mitigation == PLAIN else ""
    counts = Counter(change.verdict for change in changes.changes)

    def finding_of(change: Change) -> str | None:
        return findings.get(_key(vars(change)))

    return {
        **values,
        "changes": changes,
        "is_compared": is_compared,
        "because": because,
        "counts": {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]},
        "quality": [_quality(one) for one in changes.quality],
        "panel": _panel(changes.changes, finding_of),
        "finding_of": finding_of,
        "readings": readings,
        "models": models,
    }


def change_about(change: Change) -> str:
    """Name the groups of a change in words."""
    groups = (
        ""
        if change.group_name.startswith("(")
        else f", {readable(change.group_name)} against {readable(change.reference_group)}"
    )
    parts = [f"{readable(change.attribute)}{groups}", readable(change.subject), readable(change.member or "")]
    return ", ".join(filter(None, parts))


def _href(pair: Mapping[str, Any]) -> str:
    mitigation = "" if pair["mitigation"] == PLAIN else pair["mitigation"]
    return link("/compare", before=pair["baseline_run_id"], after=pair["run_id"], mitigation=mitigation)


def _chosen(
    tables: Tables,
    asked: Asked,
    offered: Sequence[Mapping[str, Any]],
    runs: Sequence[Mapping[str, Any]],
) -> tuple[str, str, str] | None:
    """The run before, the run after and its mitigation; of an address that names none the first that was compared.

    Two runs are in the order in which the build compared them; other runs of one target in the order of time.
    """
    if not asked.get("before") and not asked.get("after"):
        if not offered:
            return None
        first = offered[0]
        return first["baseline_run_id"], first["run_id"], first["mitigation"]
    known = known_runs(tables)
    mitigation = asked.get("mitigation", PLAIN)
    one = find_run(asked.get("before") or asked.get("after"), known, None, can_narrow=False)
    other = find_run(asked.get("after") or asked.get("before"), known, None, can_narrow=False)
    if mitigation != PLAIN:
        # A mitigation is compared with the same run asked plainly.
        if not any((row["run_id"], row["mitigation"]) == (other.run_id, mitigation) for row in offered):
            raise InputError(f"{other.run_id} was not asked under the mitigation {mitigation!r}.")
        return other.run_id, other.run_id, mitigation
    if one.run_id == other.run_id:
        raise InputError(f"{one.run_id} is named twice: choose two runs, or a mitigation of this one.")
    if one.audit != other.audit:
        raise InputError(
            f"{one.run_id} is a run of {one.audit!r} and {other.run_id} of {other.audit!r}: runs of one audit can be compared."
        )
    compared = {(row["baseline_run_id"], row["run_id"]) for row in offered}
    started = {row["run_id"]: row["started_at"] for row in runs}
    is_later = one.target == other.target and started[one.run_id] > started[other.run_id]
    if (one.run_id, other.run_id) not in compared and (is_later or (other.run_id, one.run_id) in compared):
        one, other = other, one
    return one.run_id, other.run_id, PLAIN


def _sides(chosen: tuple[str, str, str], runs: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Headings of the first and the second value: with or without a mitigation, the models, or before and after."""
    before, after, mitigation = chosen
    if mitigation != PLAIN:
        return "Without", f"With {readable(mitigation)}"
    targets = {run["run_id"]: run["target"] for run in runs}
    one, other = clip(targets[before], 40), clip(targets[after], 40)
    return ("Before", "After") if one == other else (one, other)


def _quality(one: Any) -> Quality:
    difference = one.after - one.before
    worse = -difference if one.name in _BETTER_HIGH else difference
    # Without an interval any loss counts; with one it has to lie beyond it.
    is_beyond = one.low is None or one.low > 0 or (one.high is not None and one.high < 0)
    is_lost = one.name not in _NEUTRAL and worse > 0 and is_beyond
    return Quality(one.name, one.before, one.after, difference, one.low, one.high, is_lost)


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(
        row[name] for name in ("measure", "scheme", "attribute", "group_name", "reference_group", "subject")
    )


def _finding_ids(tables: Tables, run_id: str, mitigation: str) -> dict[tuple[Any, ...], str]:
    """The id of each finding of a run, by what a change says of it."""
    rows = tables.records(
        "select * from {fct_findings} where run_id = $1 and mitigation = $2", [run_id, mitigation]
    )
    return {_key(row): row["finding_id"] for row in rows}


def _panel(changes: Sequence[Change], finding_of: Callable[[Change], str | None]) -> Panel | None:
    """How much worse each measure became, in tolerances, so that all of them have one axis."""
    drawn = [
        one
        for one in changes
        if one.tolerance and one.interval_low is not None and one.interval_high is not None
    ]
    if not drawn:
        return None
    dots = [
        Dot(
            f"{readable(one.measure)}: {change_about(one)}",
            one.worsening / one.tolerance,
            (one.interval_low or 0.0) / one.tolerance,
            (one.interval_high or 0.0) / one.tolerance,
            one.verdict if one.verdict in _DRAWN_AS else "quiet",
            more={"before": number(one.baseline_value), "after": number(one.value)},
            finding=finding_of(one),
        )
        for one in drawn[:_DRAWN_AT_MOST]
    ]
    left_out = f" (the first {_DRAWN_AT_MOST} of {len(drawn)})" if len(drawn) > _DRAWN_AT_MOST else ""
    worse = [one for one in drawn if one.verdict == "worse"]
    n_open = sum(one.verdict == "inconclusive" for one in drawn)
    finding = f"No measure is certainly worse; {n_open} of {len(drawn)} are inconclusive"
    if worse:
        most = max(worse, key=lambda one: one.worsening / one.tolerance if one.tolerance else 0.0)
        finding = f"{len(worse)} of {len(drawn)} got worse, most of all {readable(most.measure)}: {change_about(most)}"
    return Panel(
        finding=finding,
        title=f"Worse by so many tolerances{left_out}",
        description=describe_dots(dots, "Worse by so many tolerances"),
        spec=interval_dots(dots, "worse by, in tolerances", [NO_DIFFERENCE, Rule(1.0, "threshold")]),
        legend=(
            Key("worse", "worse"),
            Key("inconclusive", "inconclusive"),
            Key("better", "better"),
            Key("quiet", "unchanged, or too few answers"),
            Key("rule-threshold", "tolerance"),
        ),
    )


def _readings(tables: Tables, before: str, after: str, mitigation: str) -> list[dict[str, Any]]:
    """Return the values of each measure and group that both runs have, gravest first."""
    rows = tables.records(
        """
        select
            measure, attribute, group_name, reference_group, subject,
            one.value as before, other.value as after,
            one.status as before_status, other.status as after_status,
            one.finding_id as before_id, other.finding_id as after_id
        from {fct_findings} as one
        inner join {fct_findings} as other using (measure, scheme, attribute, group_name, reference_group, subject)
        where one.run_id = $1 and one.mitigation = 'plain' and other.run_id = $2 and other.mitigation = $3
        order by
            list_position(['alarm', 'inconclusive', 'clear', 'insufficient_data'], other.status),
            measure, attribute, group_name, reference_group, subject
        """,
        [before, after, mitigation],
    )
    for row in rows:
        group = "" if row["group_name"].startswith("(") else readable(row["group_name"])
        row["about"] = ", ".join(filter(None, (readable(row["attribute"]), group, readable(row["subject"]))))
    return rows


def _models(tables: Tables, before: str, after: str) -> list[dict[str, Any]]:
    """Gaps of decisions that the build compared between two models, in either order."""
    return tables.records(
        """
        select
            outcome, domain, attribute, group_name, reference_group,
            if(run_id = $1, adjusted_gap, other_adjusted_gap) as before,
            if(run_id = $1, other_adjusted_gap, adjusted_gap) as after,
            if(run_id = $1, -1, 1) * adjusted_difference as difference,
            if(run_id = $1, -adjusted_high, adjusted_low) as low,
            if(run_id = $1, -adjusted_low, adjusted_high) as high,
            p_value_adjusted
        from {fct_model_comparisons}
        where (run_id = $1 and other_run_id = $2) or (run_id = $2 and other_run_id = $1)
        order by p_value_adjusted nulls last, outcome, domain, attribute, group_name
        """,
        [before, after],
    )
