"""Lists: how much of the neutral list each group keeps, and the lists of one subject side by side with what they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from biasledger.explaining.case import RUN, Case
from biasledger.explaining.evidence import Evidence, Pick, RowsBehind, Side, first_value
from biasledger.explaining.marks import Mark
from biasledger.explaining.rows import Row
from biasledger.numbers import count

# A finding's subject names the domain, and the wording where it is not the clean one.
_SUBJECT = "concat_ws(', ', nullif(domain, ''), nullif(wording, 'clean')) = $subject"
_WHERE = f"{RUN} and attribute = $attribute and {_SUBJECT} and scheme = 'items'"
_PAIRS = f"{RUN} and scheme = 'items'"
_SIMILARITIES = frozenset({"jaccard", "serp", "prag", "serp_code", "prag_code"})


def evidence(case: Case) -> Evidence:
    """Similarities and the lists that differ most, or what became of the questions about each group."""
    measure = case.finding["measure"]
    if measure == "robustness":
        return _robustness(case)
    if measure in _OF_QUALITY:
        return _quality(case)
    return _similarity(case)


def _similarity(case: Case) -> Evidence:
    similar = f"contrast_id = $contrast_id and {_SUBJECT} and scheme = 'items' and similarity_name = $scheme"
    spread = case.behind(
        "fct_similarity_spread",
        "the spread over groups",
        where=f"{similar} and is_judged",
        columns="most_similar_group, highest_similarity, least_similar_group, lowest_similarity, snsr, snsr_chance, "
        "snsr_noise_floor, snsv, snsv_chance, neutral",
    )
    groups = case.behind(
        "fct_group_similarity",
        "groups by what they keep of the neutral list",
        where=f"{similar} and is_judged_neutral",
        columns="group_name, similarity, similarity_sd, interval_low, interval_high, n_subjects, n_absent",
        order="similarity desc, group_name",
        n=50,
    )
    tables = [spread, groups]
    if case.finding["measure"] == "personality_fairness":
        scores = case.behind(
            "fct_personality_fairness",
            "the score",
            where=f"{similar} and is_personality",
            columns="* exclude (list_set_id, contrast_id, run_id, mitigation)",
        )
        tables.insert(0, scores)
    observed = first_value(tables[0], _OBSERVED[case.finding["measure"]])
    if not spread.rows or case.finding["scheme"] not in _SIMILARITIES:
        return Evidence(tables, observed=observed)
    sides = _side_by_side(case, spread.rows[0])
    first = "is in the neutral list of the same subject, too"
    return Evidence(tables, sides, first=first, observed=observed)


def _side_by_side(case: Case, spread: Row) -> list[Side]:
    """Lists of the subjects for which the most and the least similar group lie farthest apart."""
    most, least = spread["most_similar_group"], spread["least_similar_group"]
    pairs = case.rows(
        f"""
        with

        pairs as (
            select *, {case.finding["scheme"]} as similarity from marts.fct_list_similarity
            where
                {_PAIRS} and role = 'neutral' and neutral = $neutral and attribute = $attribute and {_SUBJECT}
                and group_name in ($most, $least)
        ),

        subjects as (
            select
                subject,
                avg(similarity) filter (where group_name = $most)
                - avg(similarity) filter (where group_name = $least) as apart
            from pairs
            group by subject
            having apart is not null
            order by apart desc, subject
            limit $n
        )

        select pairs.*
        from pairs
        inner join subjects on pairs.subject = subjects.subject
        qualify
            row_number() over (
                partition by pairs.subject, pairs.group_name order by pairs.trial, pairs.other_trial, pairs.prompt_id
            ) = 1
        order by subjects.apart desc, pairs.subject
        """,
        most=most,
        least=least,
        neutral=spread["neutral"],
    )
    order = "on the subjects whose lists lie farthest apart"
    sides = []
    for name in (least, most):
        of_group = [pair for pair in pairs if pair["group_name"] == name]
        picks = [_pick(case, pair, case.finding["scheme"], "the neutral list") for pair in of_group]
        sides.append(case.side(name, picks, order=order))
    neutral = {_other(pair): pair for pair in pairs}
    picks = [Pick(prompt_id, trial, pair["subject"]) for (prompt_id, trial), pair in neutral.items()]
    return [*sides, Side("(neutral)", picks, order=order)]


def _pick(case: Case, pair: Row, similarity: str, other: str) -> Pick:
    note = f"{pair['subject']}: {similarity} {pair['similarity']:.2f} to {other}"
    return Pick(pair["prompt_id"], pair["trial"], note, _shared(case, pair))


def _other(pair: Row) -> tuple[str, int]:
    return pair["other_prompt_id"], pair["other_trial"]


def _shared(case: Case, pair: Row) -> list[Mark]:
    """The items of one list that stand in the other, as the answer writes them."""
    found = case.rows(
        """
        select distinct items.written_item
        from marts.fct_list_items as items
        inner join marts.fct_list_items as others
            on items.run_id = others.run_id and items.scheme = others.scheme and items.item = others.item
        where
            items.run_id = $run_id and items.scheme = 'items'
            and items.prompt_id = $prompt_id and items.trial = $trial
            and others.prompt_id = $other_prompt_id and others.trial = $other_trial
        order by items.written_item
        """,
        **{name: pair[name] for name in ("prompt_id", "trial", "other_prompt_id", "other_trial")},
    )
    return [Mark(row["written_item"], kind="exact") for row in found]


def _robustness(case: Case) -> Evidence:
    """The wording is the finding's group and the domain its subject."""
    of_wording = f"{RUN} and scheme = 'items' and wording = $group_name and domain = $subject"
    table = case.behind(
        "fct_robustness",
        "what the wording keeps of the clean question's lists",
        where=of_wording,
        columns="attribute, similarity_name, similarity, interval_low, interval_high, rerun_similarity, p_value, n_subjects, "
        "n_pairs, snsr_clean, snsr",
        order="attribute = '(all)' desc, attribute",
    )
    similarity = case.finding["scheme"] if case.finding["scheme"] in _SIMILARITIES else "jaccard"
    pairs = case.rows(
        f"""
        select *, {similarity} as similarity from marts.fct_list_similarity
        where {_PAIRS} and role = 'clean' and wording = $group_name and domain = $subject
        order by {similarity}, subject, prompt_id, trial, other_prompt_id, other_trial
        limit $n
        """
    )
    order = "least alike"
    disturbed = [_pick(case, pair, similarity, "the clean question's list") for pair in pairs]
    clean = [Pick(*_other(pair), pair["subject"]) for pair in pairs]
    sides = [Side(case.finding["group_name"], disturbed, order=order), Side("clean", clean, order=order)]
    return Evidence([table], sides, first="is in the clean question's list, too")


def _quality(case: Case) -> Evidence:
    column, is_worse_high = _OF_QUALITY[case.finding["measure"]]
    table = case.behind(
        "fct_list_quality",
        "what became of the questions about each group",
        where=_WHERE,
        columns=f"group_name, {column}, n_answers, n_lists, n_refused, n_short, n_with_repeats",
        order=f"{column} {'desc' if is_worse_high else 'asc'} nulls last, group_name",
        n=50,
    )
    if not table.rows:
        return Evidence([table])
    observed = _range(table, column)
    # Where all groups are alike, no two of them stand out: the first and the last of the table are shown.
    ends = (case.finding["member"], case.finding["reference_member"])
    shown = ends if all(ends) else (table.rows[0]["group_name"], table.rows[-1]["group_name"])
    names = [str(name) for name in dict.fromkeys(shown)]
    if case.finding["measure"] == "unanswered_spread":
        sides = [
            case.side(name, statuses=("refused", "malformed", "truncated"), order="without a list")
            for name in names
        ]
        return Evidence([table], sides, observed=observed)
    return Evidence(
        [table],
        [_worst_lists(case, name) for name in names],
        first="stood before in the list",
        observed=observed,
    )


def _range(table: RowsBehind, column: str) -> float | None:
    """Largest less smallest value over all groups; None where the table's first rows are not all, or hold none."""
    values = [row[column] for row in table.rows if row[column] is not None]
    return max(values) - min(values) if values and len(table.rows) == table.n_rows else None


def _worst_lists(case: Case, name: str) -> Side:
    """A group's lists with the most repeats, or else the shortest ones."""
    by = "n_repeats desc" if case.finding["measure"] == "repeat_spread" else "n_items"
    found = case.rows(
        f"""
        select
            prompt_id, trial, subject,
            count(distinct item) as n_items,
            count(*) filter (where is_repeat) as n_repeats,
            list(distinct written_item) filter (where is_repeat) as repeats
        from marts.fct_list_items
        where {_WHERE} and group_name = $side
        group by prompt_id, trial, subject
        order by {by}, subject, prompt_id, trial
        limit $n
        """,
        side=name,
    )
    picks = [_worst_list(row) for row in found]
    order = "with most repeats" if case.finding["measure"] == "repeat_spread" else "with fewest items"
    return case.side(name, picks, order=order)


def _worst_list(row: dict[str, Any]) -> Pick:
    repeats: Sequence[str] = sorted(row["repeats"] or ())
    note = f"{row['subject']}: {count(row['n_items'], 'different item')}, {count(row['n_repeats'], 'repeat')}"
    return Pick(row["prompt_id"], row["trial"], note, [Mark(item, kind="exact") for item in repeats])


# The columns that shuffled labels are compared with.
_OBSERVED = {"snsr": "snsr", "snsv": "snsv", "personality_fairness": "pafs"}
# Measure -> its column of fct_list_quality, and whether high values are the worse ones.
_OF_QUALITY = {
    "unanswered_spread": ("share_unanswered", True),
    "shortfall_spread": ("mean_shortfall", True),
    "repeat_spread": ("mean_repeated", True),
    "relevance_spread": ("mean_ndcg", False),
}
