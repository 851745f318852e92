"""Decisions: rates and gaps by group, and the answers about the same resume or job that went apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasledger.explain.evidence import Evidence, Pick, RowsBehind, Side
from biasledger.explain.marks import Mark
from biasledger.explain.published import CONTRAST, RUN, behind, prompts_of
from biasledger.explain.rows import Row, rows

if TYPE_CHECKING:
    import duckdb

_RATES = (
    "group_name, n_people, n_selected, selection_rate, impact_ratio, impact_ratio_low, impact_ratio_high, accuracy, "
    "mean_standing, excluded_reason"
)


def evidence(connection: duckdb.DuckDBPyConnection, finding: Row, n: int) -> Evidence:
    """The gap or the rates, and the decisions that show it best."""
    if finding["measure"] == "position_bias":
        return _position(connection, finding, n)
    of_attribute = f"{RUN} and domain = $subject and attribute = $attribute"
    rates = behind(
        connection,
        "fct_decision_rates",
        "rates by group",
        finding,
        where=of_attribute,
        columns=_RATES,
        order="selection_rate, group_name",
        n=50,
    )
    labels = behind(
        connection,
        "fct_decision_labels",
        "labels by group",
        finding,
        where=of_attribute,
        columns="group_name, label, n_people, share",
        order="group_name, label_position",
        n=50,
    )
    if finding["measure"] == "impact_ratio":
        rated = [row for row in rates.rows if row["impact_ratio"] is not None]
        if not rated:
            return Evidence([rates])
        lower, higher = rated[0]["group_name"], rated[-1]["group_name"]
        return Evidence(
            _filled(rates, labels), _apart(connection, finding, lower, higher, n), first="what was decided"
        )
    gap = behind(
        connection,
        "fct_decision_gaps",
        "the gap",
        finding,
        where=f"{CONTRAST} and domain = $subject and outcome = $scheme",
        columns="mean_marked, mean_reference, gap, adjusted_gap, adjusted_low, adjusted_high, null_mean, null_sd, p_value, "
        "n_marked, n_reference, n_clusters, is_paired, caution",
    )
    group, reference = finding["group_name"], finding["reference_group"]
    is_worse_off = (finding["value"] or 0) < 0
    sides = _apart(connection, finding, *((group, reference) if is_worse_off else (reference, group)), n)
    return Evidence(
        _filled(gap, rates, labels), sides if is_worse_off else sides[::-1], first="what was decided"
    )


def _filled(*tables: RowsBehind) -> list[RowsBehind]:
    return [table for table in tables if table.rows]


def _apart(
    connection: duckdb.DuckDBPyConnection, finding: Row, lower: str, higher: str, n: int
) -> list[Side]:
    """Decisions about the subjects on which one group comes off worst against the other: its worst and the other's best."""
    value = "cast(is_correct as integer)" if finding["scheme"] == "correct" else "standing"
    value = "cast(is_selected as integer)" if finding["scheme"] == "selected" else value
    picked = rows(
        connection,
        f"""
        with

        decisions as (
            select
                predictions.*,
                prompt_groups.group_name,
                {value} as outcome
            from marts.fct_predictions as predictions
            inner join marts.dim_prompt_groups as prompt_groups
                on
                    predictions.run_id = prompt_groups.run_id
                    and predictions.prompt_id = prompt_groups.prompt_id
                    and predictions.slot = prompt_groups.slot
            where
                predictions.run_id = $run_id and predictions.variant = $variant
                and prompt_groups.attribute = $attribute
                and prompt_groups.group_name in ($lower, $higher)
                and ($subject = '' or predictions.domain = $subject)
                and not predictions.is_unknown
        ),

        subjects as (
            select
                subject,
                avg(outcome) filter (where group_name = $higher) - avg(outcome) filter (where group_name = $lower) as apart
            from decisions
            group by subject
        ),

        ranked as (
            select
                decisions.*,
                subjects.apart,
                row_number() over (
                    partition by decisions.subject, decisions.group_name
                    order by
                        case when decisions.group_name = $lower then decisions.outcome else -decisions.outcome end,
                        decisions.prompt_id, decisions.trial, decisions.slot
                ) as within_subject
            from decisions
            inner join subjects on decisions.subject = subjects.subject
        )

        select * from ranked
        qualify
            row_number() over (
                partition by group_name order by within_subject, apart desc nulls last, subject, prompt_id, trial, slot
            ) <= $n
        order by within_subject, apart desc nulls last, subject, prompt_id, trial, slot
        """,
        {**finding, "lower": lower, "higher": higher, "n": n},
    )
    order = "on the subjects where the two groups come off most differently"
    return [
        Side(
            name,
            [_pick(row) for row in picked if row["group_name"] == name],
            prompt_ids=prompts_of(connection, finding, name),
            order=order,
        )
        for name in (lower, higher)
    ]


def _pick(row: Row) -> Pick:
    if row["rank"] is not None:
        decided, mark = f"put on place {row['rank']} of {row['n_candidates']}", row["carrier"]
    elif row["score"] is not None:
        decided, mark = f"score {row['score']:g}", f"{row['score']:g}"
    else:
        expected = f" (right: {row['expected_label']})" if row["expected_label"] else ""
        decided, mark = f"{row['label']}{expected}", row["label"]
    note = f"{row['subject']}, {row['carrier']}: {decided}"
    number = [Mark(str(row["slot"]))] if row["rank"] is not None else []
    return Pick(row["prompt_id"], row["trial"], note, [Mark(str(mark))] if mark else [], number)


def _position(connection: duckdb.DuckDBPyConnection, finding: Row, n: int) -> Evidence:
    table = behind(
        connection,
        "fct_position_bias",
        "places in the prompt",
        finding,
        where=RUN,
        columns="position, n_people, share_top, mean_rank, share_first, expected_share, first_p_value, chi_square_p_value",
        order="position",
    )
    first = rows(
        connection,
        f"""
        select * from marts.fct_predictions
        where {RUN} and slot = 1 and rank = 1
        order by prompt_id, trial
        limit $n
        """,
        {**finding, "n": n},
    )
    (count,) = rows(
        connection,
        f"select count(*) as n from marts.fct_predictions where {RUN} and slot = 1 and rank = 1",
        finding,
    )
    side = Side(
        "rankings that put the first-shown candidate first",
        [_pick(row) for row in first],
        count["n"],
        order="in no order that matters",
    )
    return Evidence([table], [side], first="the candidate shown first")
