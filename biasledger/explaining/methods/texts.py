"""Texts: the questions whose answers differ most, the least alike pair of each, and the answers put most unlike."""

from __future__ import annotations

import math

from biasledger.explaining.case import CONTRAST, RUN, Case
from biasledger.explaining.evidence import Evidence, Pick, Side
from biasledger.explaining.marks import Mark
from biasledger.measure_seeds import measure_rows

# The parts that a question has; the key itself keeps a place for each.
_QUESTION = (
    "array_to_string(list_filter(string_split(question, ' | '), lambda part: part <> ''), ' | ') as question"
)
_OF_QUESTIONS = f"{CONTRAST} and scheme = $scheme"


def evidence(case: Case) -> Evidence:
    """The numbers of both groups, and answers that make the difference."""
    return _similarity(case) if case.finding["measure"] == "similarity_gap" else _gap(case)


def _similarity(case: Case) -> Evidence:
    """Pairs of answers to one question about different groups, those of the widest gap first."""
    order = "similarity_gap desc nulls last, pair_similarity, question"
    similarity = case.behind(
        "fct_text_similarity",
        "similarity of answers, by how texts are compared",
        where=CONTRAST,
        columns="scheme, similarity_between, similarity_within, similarity_gap, interval_low, interval_high, p_value, "
        "n_questions",
        order="is_judged desc, scheme",
    )
    questions = case.behind(
        "fct_text_questions",
        "questions, the widest gap first",
        where=_OF_QUESTIONS,
        columns=f"{_QUESTION}, similarity_between, similarity_marked, similarity_reference, similarity_gap, pair_similarity",
        order=order,
    )
    pairs = case.rows(
        f"select * from marts.fct_text_questions where {_OF_QUESTIONS} order by {order} limit $n"
    )
    sides = [
        case.side(
            name,
            [
                Pick(
                    row[f"{side}_prompt_id"],
                    row[f"{side}_trial"],
                    f"pair {number}, similarity {row['pair_similarity']:.2f}",
                )
                for number, row in enumerate(pairs, start=1)
            ],
            order="least like the other group's answer to their question",
        )
        for name, side in zip(case.groups, ("marked", "reference"), strict=True)
    ]
    return Evidence([similarity, questions], sides)


def _gap(case: Case) -> Evidence:
    """The answers of each group that are farthest in the group's own direction."""
    outcome = case.finding["measure"].removesuffix("_gap")
    gap = case.behind(
        "fct_text_gaps",
        "the gap",
        where=f"{CONTRAST} and outcome = '{outcome}'",
        columns="mean_marked, mean_reference, adjusted_gap, adjusted_low, adjusted_high, p_value, unit, n_units",
    )
    terms = (
        case.rows("select distinct term from settings.hedges order by term") if outcome == "hedging" else []
    )
    sides = [
        _answers(case, name, outcome, most=most)
        for name, most in zip(case.groups, (case.is_more, not case.is_more), strict=True)
    ]
    marks = [Mark(row["term"]) for row in terms]
    return Evidence([gap], sides, marks, first="hedge" if marks else "")


def _answers(case: Case, name: str, outcome: str, *, most: bool) -> Side:
    found = case.rows(
        f"""
        select prompt_id, trial, value as said
        from marts.fct_text_answers
        where
            {RUN} and outcome = '{outcome}' and value is not null
            and prompt_id in (
                select prompt_id from marts.dim_prompt_groups where {RUN} and attribute = $attribute and group_name = $side
            )
        order by value {"desc" if most else "asc"}, prompt_id, trial
        limit $n
        """,
        side=name,
    )
    is_logarithm = measure_rows()[f"{outcome}_gap"]["is_read_as_percent"] == "true"
    picks = [
        Pick(
            row["prompt_id"],
            row["trial"],
            f"{outcome} {math.exp(row['said']) if is_logarithm else row['said']:.2f}",
        )
        for row in found
    ]
    return case.side(name, picks, order=f"of {'most' if most else 'least'} {outcome}")
