"""Decisions: rates and gaps by group, and the answers about the same resume or job that went apart."""

from __future__ import annotations

from biasledger.explaining.case import RUN, Case
from biasledger.explaining.evidence import Evidence, Pick, RowsBehind, Side
from biasledger.explaining.marks import Mark
from biasledger.explaining.rows import Row

_RATES = (
    "group_name, n_people, n_selected, selection_rate, impact_ratio, impact_ratio_low, impact_ratio_high, accuracy, "
    "mean_rank_value, false_positive_rate, false_negative_rate, n_refused, selection_rate_of_asked, impact_ratio_of_asked, "
    "excluded_reason"
)
# Scheme of a finding -> its outcome, and among which answers. The favourable of two labels is right where it was given
# rightly, or the other one wrongly.
_OUTCOMES = {
    "correct": ("cast(is_correct as integer)", "true"),
    "selected": ("cast(is_selected as integer)", "true"),
    "selected_of_asked": ("cast(is_selected as integer)", "true"),
    "false_positive": ("1 - cast(is_correct as integer)", "is_selected <> is_correct"),
    "false_negative": ("1 - cast(is_correct as integer)", "is_selected = is_correct"),
}


def evidence(case: Case) -> Evidence:
    """The gap or the rates, and the decisions that show it best."""
    if case.finding["measure"] == "position_bias":
        return _position(case)
    if case.finding["measure"] == "fixed_value_gap":
        return _fixed_value(case)
    of_attribute = f"{RUN} and domain = $subject and attribute = $attribute"
    rates = case.behind(
        "fct_decision_rates",
        "rates by group",
        where=of_attribute,
        columns=_RATES,
        order="selection_rate, group_name",
        n=50,
    )
    labels = case.behind(
        "fct_decision_labels",
        "labels by group",
        where=of_attribute,
        columns="group_name, label, n_people, share",
        order="group_name, label_position",
        n=50,
    )
    if case.finding["measure"] == "impact_ratio":
        ends = (case.finding["member"], case.finding["reference_member"])
        if not all(ends) and rates.rows:
            ends = (rates.rows[0]["group_name"], rates.rows[-1]["group_name"])
        sides = _apart(case, *ends) if all(ends) else []
        return Evidence(_filled(rates, labels), sides, first="what was decided")
    gap = case.behind(
        "fct_decision_gaps",
        "the gap",
        where="contrast_id = $contrast_id and domain = $subject and outcome = $scheme",
        columns="mean_marked, mean_reference, gap, adjusted_gap, adjusted_low, adjusted_high, null_mean, null_sd, p_value, "
        "n_marked, n_reference, n_clusters, is_paired, caution",
    )
    sides = _apart(case, *(case.groups[::-1] if case.is_more else case.groups))
    return Evidence(
        _filled(gap, rates, labels), sides[::-1] if case.is_more else sides, first="what was decided"
    )


def _filled(*tables: RowsBehind) -> list[RowsBehind]:
    return [table for table in tables if table.rows]


def _apart(case: Case, lower: str, higher: str) -> list[Side]:
    """Decisions about the subjects on which one group comes off worst against the other: its worst and the other's best."""
    value, among = _OUTCOMES.get(case.finding["scheme"], ("rank_value", "true"))
    picked = case.rows(
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
                predictions.run_id = $run_id and predictions.mitigation = $mitigation
                and prompt_groups.attribute = $attribute
                and prompt_groups.group_name in ($lower, $higher)
                and ($subject = '' or predictions.domain = $subject)
                and not predictions.is_unknown
                and {among}
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
        lower=lower,
        higher=higher,
    )
    order = "on the subjects where the two groups come off most differently"
    return [
        case.side(name, [_pick(row) for row in picked if row["group_name"] == name], order=order)
        for name in (lower, higher)
    ]


def _pick(row: Row) -> Pick:
    if row["rank"] is not None:
        decided, mark = f"put on place {row['rank']} of {row['n_candidates']}", row["descriptor"]
    elif row["score"] is not None:
        decided, mark = f"score {row['score']:g}", f"{row['score']:g}"
    else:
        expected = f" (right: {row['expected_label']})" if row["expected_label"] else ""
        decided, mark = f"{row['label']}{expected}", row["label"]
    note = f"{row['subject']}, {row['descriptor']}: {decided}"
    number = [Mark(str(row["slot"]))] if row["rank"] is not None else []
    return Pick(row["prompt_id"], row["trial"], note, [Mark(str(mark))] if mark else [], number)


def _fixed_value(case: Case) -> Evidence:
    table = case.behind(
        "fct_fixed_values",
        "all answers against the value",
        where=f"{RUN} and domain = $subject",
        columns="against, mean_outcome, gap, interval_low, interval_high, p_value, n_clusters, n_answers, n_unread",
        order="domain",
    )
    return Evidence([table])


def _position(case: Case) -> Evidence:
    table = case.behind(
        "fct_position_bias",
        "places in the prompt",
        where=RUN,
        columns="position, n_people, share_top, mean_rank, share_first, expected_share, first_p_value, chi_square_p_value",
        order="position",
    )
    side = case.first_answers(
        "rankings that put the first-shown candidate first",
        "fct_predictions",
        _pick,
        where=f"{RUN} and slot = 1 and rank = 1",
        order="in no order that matters",
    )
    return Evidence([table], [side], first="the candidate shown first")
