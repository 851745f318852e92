"""Who gets an answer: the outcomes of each group's questions, and the replies that refused or could not be read."""

from __future__ import annotations

from biasledger.explaining.case import CONTRAST, RUN, Case
from biasledger.explaining.evidence import Attempt, Evidence, Side

_STATUSES = {"refused": ("refused",), "unusable": ("malformed", "unread", "truncated"), "failed": ("error",)}
_NEUTRAL = "(neutral)"
_OTHERS = "(others)"


def evidence(case: Case) -> Evidence:
    """The gap, the groups' answers by status, and the replies to either group that are meant, the worse off first."""
    if case.finding["measure"] == "turn_slope":
        return _slopes(case)
    gap = case.behind(
        "fct_answer_gaps",
        "the gap",
        where=f"{CONTRAST} and scheme = $scheme",
        columns="unit, judged_attempt, share_marked, share_reference, adjusted_gap, interval_low, interval_high, p_value, "
        "p_case, p_name, n_cases, n_marked, n_marked_events, n_reference, n_reference_events",
    )
    groups = case.behind(
        "fct_group_coverage",
        "the groups' questions",
        where=f"{RUN} and attribute = $attribute",
        columns="group_name, n_prompts, n_asked, n_usable, n_refused, n_unusable, n_error, silence",
        order="n_usable / nullif(n_asked, 0) nulls first, group_name",
        n=50,
    )
    scheme = case.finding["scheme"]
    is_first = bool(gap.rows) and gap.rows[0]["judged_attempt"] == "first"
    attempt: Attempt = ("first_call" if scheme == "failed" else "first_answer") if is_first else "last"
    sides = [
        Side(
            name.strip("()"),
            None,
            prompt_ids=prompts,
            order="that came first",
            statuses=_STATUSES[scheme],
            attempt=attempt,
        )
        for name in case.groups
        if (prompts := _prompts_of(case, name))
    ]
    tables = [table for table in (gap, groups) if table.rows]
    return Evidence(tables, sides if case.is_more else sides[::-1])


def _slopes(case: Case) -> Evidence:
    """The change over turns of each group, and conversations of each, turn by turn."""
    slopes = case.behind(
        "fct_turn_slopes",
        "the change from the first turn to the last",
        where=f"{CONTRAST} and scheme = $scheme",
        columns="unit, mean_marked, mean_reference, adjusted_gap, adjusted_low, adjusted_high, p_value, p_case, p_name, "
        "n_marked, n_reference, n_units, n_names",
    )
    statuses = ("ok", *(status for some in _STATUSES.values() for status in some))
    sides = [
        case.side(name, order="that came first, turn by turn", statuses=statuses) for name in case.groups
    ]
    return Evidence([slopes], sides)


def _prompts_of(case: Case, name: str) -> list[str]:
    """The prompts about a group, or about all others; neutral ones are in no published table."""
    if name == _NEUTRAL:
        return []
    if name != _OTHERS:
        return case.prompts_of(name)
    found = case.rows(
        f"""
        select prompt_id from marts.dim_prompt_groups
        where {RUN} and attribute = $attribute
        group by prompt_id
        having not bool_or(group_name = $group_name)
        order by prompt_id
        """
    )
    return [row["prompt_id"] for row in found]
