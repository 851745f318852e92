"""The same case under two groups, side by side: a case's answers are paired before anybody looks at them, and shown by how far
apart they lie.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biasledger.explaining.responses import asked_texts
from biasledger.explaining.rows import Row, rows
from biasledger.querying.connection import locked_warehouse
from biasledger.serving.asked import Asked, Served
from biasledger.serving.builds import read_build
from biasledger.serving.changed_words import Part, changed
from biasledger.serving.labelling import labels_of_run
from biasledger.verdicts import PLAIN
from collector.errors import InputError, LedgerError
from collector.hints import did_you_mean
from collector.ledger.database import Ledger

if TYPE_CHECKING:
    import duckdb

PAIRS_AT_MOST = 20_000
_LISTED = 40
_LOCK_SECONDS = 2.0
# The ways to measure the gap of a pair, and the query of each: it returns a value for each answer, or a list.
WORDS = "words"
GAPS = {
    "outcome": "what was decided",
    "price": "mean price level",
    "items": "items in the list",
    WORDS: "different words",
}
_VALUES = {
    "outcome": """
        select prompt_id, trial, slot, any_value(rank_value) as value, null as items
        from marts.fct_predictions where run_id = $run_id and not is_unknown group by all
    """,
    "price": """
        select prompt_id, trial, 1 as slot, sum(price_level * n) / sum(n) as value, null as items
        from marts.fct_recommended_items where run_id = $run_id and price_level is not null group by all
    """,
    "items": """
        select prompt_id, trial, 1 as slot, null as value, list(distinct item) as items
        from marts.fct_list_items where run_id = $run_id and scheme = 'items' group by all
    """,
}
_TABLES = {"outcome": "fct_predictions", "price": "fct_recommended_items", "items": "fct_list_items"}
# A case is a prompt without the person; in it the people of a group are in the order of their names, and the first of
# one group is compared with the first of the other.
_PAIRS = """
    with

    others as (
        select prompt_id, slot, string_agg(attribute || ' ' || group_name, ', ' order by attribute) as also
        from marts.dim_prompt_groups
        where
            run_id = $run_id and attribute not like '%*%'
            and not list_contains(string_split($attribute, '*'), attribute)
        group by prompt_id, slot
    ),

    people as (
        select
            of_group.prompt_id,
            of_group.slot,
            of_group.group_name,
            coalesce(of_group.descriptor, '') as descriptor,
            coalesce(others.also, '') as also,
            of_group.template,
            of_group.language,
            of_group.perturbation,
            of_group.subject,
            of_group.domain,
            row_number() over (
                partition by
                    of_group.group_name, of_group.template, of_group.language, of_group.perturbation, of_group.subject,
                    of_group.domain, of_group.slot, coalesce(others.also, '')
                order by of_group.descriptor, of_group.prompt_id
            ) as place
        from marts.dim_prompt_groups as of_group
        left join others on of_group.prompt_id = others.prompt_id and of_group.slot = others.slot
        where
            of_group.run_id = $run_id and of_group.mitigation = $mitigation and of_group.attribute = $attribute
            and of_group.group_name in ($group, $reference)
    )

    select
        one.prompt_id,
        other.prompt_id as other_prompt_id,
        one.slot,
        one.descriptor,
        other.descriptor as other_descriptor,
        one.also,
        one.template,
        one.perturbation,
        one.subject,
        one.domain
    from people as one
    inner join people as other
        on
            one.template = other.template
            and one.language is not distinct from other.language
            and one.perturbation is not distinct from other.perturbation
            and one.subject = other.subject
            and one.domain = other.domain
            and one.slot = other.slot
            and one.also = other.also
            and one.place = other.place
            and one.prompt_id <> other.prompt_id
    where one.group_name = $group and other.group_name = $reference
"""
_GIVEN = "select distinct * from (select unnest($prompt_ids) as prompt_id, unnest($other_prompt_ids) as other_prompt_id)"
_LAST = """
    select prompt_id, trial, attempt, status, response_text
    from raw.responses
    where run_id = $run_id and is_judged is not false
    qualify row_number() over (partition by prompt_id, trial order by attempt desc) = 1
"""


@dataclass(frozen=True)
class Pair:
    """Two answers to one case, and how far apart they lie; `case` says what they share."""

    number: int
    prompt_id: str
    other_prompt_id: str
    trial: int
    descriptor: str
    other_descriptor: str
    case: str
    gap: float | None
    value: float | None
    other_value: float | None


@dataclass(frozen=True)
class Text:
    """An answer or a prompt of a pair: its parts, or why there is none."""

    parts: Sequence[Part]
    missing: str = ""


@dataclass(frozen=True)
class Shown:
    """A pair with its texts; `is_whole` says whether changed words could be searched."""

    pair: Pair
    answers: tuple[Text, Text]
    prompts: tuple[Text, Text]
    is_whole: bool


def page(served: Served, asked: Asked) -> Mapping[str, Any]:
    """One pair with its texts, and the list of all of them, for a template.

    Raises:
        InputError: there is no such run, attribute or group, or no warehouse.
        BiasledgerError: the warehouse cannot be read.
    """
    with locked_warehouse(served.warehouse) as connection:
        values = {"build": read_build(connection), **_choices(connection, asked)}
        chosen: Row | None = values["chosen"]
        if chosen is None:
            return {
                **values,
                "pairs": [],
                "shown": None,
                "missing": "",
                "gaps": GAPS,
                "by": "",
                "n": 0,
                "n_all": 0,
            }
        kinds = _kinds(connection, chosen)
        by = asked.get("by") if asked.get("by") in kinds else kinds[0]
        found = rows(connection, _PAIRS, chosen)
        measured = _values_of_answers(connection, chosen, by) if by != WORDS else {}
    try:
        with Ledger(served.ledger, wait_seconds=_LOCK_SECONDS).read() as ledger:
            trials = _by_words(ledger, chosen, found) if by == WORDS else None
            pairs, n_all = _ranked(found, measured, trials)
            place = asked.whole("place", 1, least=1, most=max(len(pairs), 1))
            shown = _texts(ledger, chosen, pairs[place - 1]) if pairs else None
            missing = ""
    except LedgerError as error:
        (pairs, n_all), shown = _ranked(found, measured, None), None
        place = asked.whole("place", 1, least=1, most=max(len(pairs), 1))
        missing = f"The texts are missing: {error}"
    pair = shown.pair if shown else None
    answers = [f"{one}.{pair.trial}" for one in (pair.prompt_id, pair.other_prompt_id)] if pair else []
    first = max(0, min(place - 1 - _LISTED // 4, len(pairs) - _LISTED))
    return {
        **values,
        "by": by,
        "gaps": {kind: GAPS[kind] for kind in kinds},
        "pairs": pairs[first : first + _LISTED],
        "n": len(pairs),
        "n_all": n_all,
        "place": place,
        "shown": shown,
        "missing": missing,
        "labels": labels_of_run(served, chosen["run_id"], answers),
    }


def _choices(connection: duckdb.DuckDBPyConnection, asked: Asked) -> dict[str, Any]:
    """Return the choices and what is chosen; the first of each that the address leaves open."""
    runs = rows(
        connection,
        """
        select run_id, audit, target, is_current, started_at
        from marts.dim_runs as runs
        where exists (select 1 from marts.dim_prompt_groups as prompt_groups where prompt_groups.run_id = runs.run_id)
        order by is_current desc, audit, target, started_at desc
        """,
        {},
    )
    if not runs:
        return {"runs": [], "mitigations": [], "attributes": [], "groups": [], "chosen": None}
    run_id = asked.get("run") or runs[0]["run_id"]
    if run_id not in {row["run_id"] for row in runs}:
        raise InputError(
            f"There is no run {run_id!r}{did_you_mean(run_id, [row['run_id'] for row in runs]) or '.'}"
        )
    known = rows(
        connection,
        """
        select mitigation, attribute, group_name
        from marts.dim_prompt_groups
        where run_id = $run_id
        group by mitigation, attribute, group_name
        order by mitigation <> 'plain', mitigation, attribute like '%*%', attribute, group_name
        """,
        {"run_id": run_id},
    )
    mitigations = list(dict.fromkeys(row["mitigation"] for row in known))
    mitigation = _one("mitigation", asked.get("mitigation", PLAIN), mitigations)
    known = [row for row in known if row["mitigation"] == mitigation]
    attributes = list(dict.fromkeys(row["attribute"] for row in known))
    attribute = _one(
        "attribute", asked.get("attribute") or _gravest(connection, run_id, attributes), attributes
    )
    groups = [row["group_name"] for row in known if row["attribute"] == attribute]
    group, reference = _two_groups(connection, run_id, attribute, groups, asked)
    chosen = {
        "run_id": run_id,
        "mitigation": mitigation,
        "attribute": attribute,
        "group": group,
        "reference": reference,
    }
    return {
        "runs": runs,
        "mitigations": mitigations,
        "attributes": attributes,
        "groups": groups,
        "chosen": chosen,
    }


def _one(what: str, name: str, known: Sequence[str]) -> str:
    if name not in known:
        raise InputError(f"The run has no {what} {name!r}{did_you_mean(name, known) or '.'}")
    return name


def _gravest(connection: duckdb.DuckDBPyConnection, run_id: str, attributes: Sequence[str]) -> str:
    """The attribute of the run's gravest finding, of those that people in prompts have."""
    judged = rows(
        connection,
        """
        select attribute from marts.fct_findings
        where run_id = $run_id and list_contains($attributes, attribute)
        order by status <> 'alarm', severity <> 'error', p_value_adjusted nulls last, measure desc, finding_id
        limit 1
        """,
        {"run_id": run_id, "attributes": list(attributes)},
    )
    return str(judged[0]["attribute"]) if judged else attributes[0]


def _two_groups(
    connection: duckdb.DuckDBPyConnection, run_id: str, attribute: str, groups: Sequence[str], asked: Asked
) -> tuple[str, str]:
    """Return the groups in the address; if it names none, those of the run's gravest finding about the attribute.

    A group of another attribute, as an address has it whose attribute alone was changed, is left open, too.
    """
    judged = rows(
        connection,
        """
        select group_name, reference_group from marts.fct_findings
        where run_id = $run_id and attribute = $attribute and list_contains($groups, group_name)
            and list_contains($groups, reference_group)
        order by status <> 'alarm', severity <> 'error', p_value_adjusted nulls last, measure desc, finding_id
        limit 1
        """,
        {"run_id": run_id, "attribute": attribute, "groups": list(groups)},
    )
    usual = (judged[0]["group_name"], judged[0]["reference_group"]) if judged else (groups[0], groups[-1])
    group = asked.get("group") if asked.get("group") in groups else usual[0]
    reference = asked.get("reference") if asked.get("reference") in groups else usual[1]
    if group == reference:
        reference = next((one for one in (*usual, *groups) if one != group), group)
    return group, reference


def _kinds(connection: duckdb.DuckDBPyConnection, chosen: Row) -> list[str]:
    """Return the ways in which the run's answers can be compared; words always can."""
    tables = {
        row["table_name"]
        for row in rows(connection, "select table_name from duckdb_tables() where schema_name = 'marts'", {})
    }
    return [
        *(
            kind
            for kind, table in _TABLES.items()
            if table in tables
            and rows(connection, f"select 1 from marts.{table} where run_id = $run_id limit 1", chosen)
        ),
        WORDS,
    ]


def _values_of_answers(
    connection: duckdb.DuckDBPyConnection, chosen: Row, by: str
) -> dict[tuple[str, int, int], Any]:
    """Prompt, slot and trial -> the value or the items of its answer."""
    return {
        (row["prompt_id"], row["slot"], row["trial"]): row["value"] if row["items"] is None else row["items"]
        for row in rows(connection, _VALUES[by], chosen)
    }


def _by_words(ledger: duckdb.DuckDBPyConnection, chosen: Row, found: Sequence[Row]) -> list[Row]:
    """Prompt ids, trial and gap of pairs with two texts, the largest gaps, and how many there are of all.

    A gap is the share of their different words that only one of them has.
    """
    return rows(
        ledger,
        f"""
        with

        pairs as ({_GIVEN}),

        answers as (
            select
                prompt_id,
                trial,
                list_distinct(regexp_extract_all(lower(response_text), '[\\p{{L}}\\p{{M}}\\p{{N}}]+')) as words
            from ({_LAST})
            where response_text is not null
        )

        select
            pairs.prompt_id,
            pairs.other_prompt_id,
            answers.trial,
            1 - len(list_intersect(answers.words, others.words))
            / greatest(len(list_distinct(list_concat(answers.words, others.words))), 1) as gap,
            count(*) over () as n_all
        from pairs
        inner join answers on pairs.prompt_id = answers.prompt_id
        inner join answers as others on pairs.other_prompt_id = others.prompt_id and answers.trial = others.trial
        order by gap desc, pairs.prompt_id, pairs.other_prompt_id, answers.trial
        limit {PAIRS_AT_MOST}
        """,
        {
            **chosen,
            "prompt_ids": [row["prompt_id"] for row in found],
            "other_prompt_ids": [row["other_prompt_id"] for row in found],
        },
    )


def _ranked(
    found: Sequence[Row], measured: Mapping[tuple[str, int, int], Any], trials: Sequence[Row] | None
) -> tuple[list[Pair], int]:
    """The pairs with the largest gaps, the largest first, and how many there are of all."""
    if trials is not None:
        # People of several places in one prompt make a pair each, of the same two texts.
        of_prompts = {(row["prompt_id"], row["other_prompt_id"]): row for row in found}
        n_all = trials[0]["n_all"] if trials else 0
        pairs = sorted(
            (
                _pair(
                    of_prompts[row["prompt_id"], row["other_prompt_id"]], row["trial"], row["gap"], None, None
                )
                for row in trials
            ),
            key=_order,
        )
    else:
        n_all = sum(1 for _ in _answered(found, measured))
        # Sorted before it is cut, and without all of them in memory.
        pairs = heapq.nsmallest(
            PAIRS_AT_MOST, (_of_values(*answered) for answered in _answered(found, measured)), key=_order
        )
    return [Pair(**{**vars(pair), "number": number}) for number, pair in enumerate(pairs, start=1)], n_all


def _order(pair: Pair) -> tuple[float, str, str, str, int]:
    """Ties stand in the order of their prompts, so that an address shows the same pair again."""
    return (-(pair.gap or 0.0), pair.case, pair.prompt_id, pair.other_prompt_id, pair.trial)


def _answered(
    found: Sequence[Row], measured: Mapping[tuple[str, int, int], Any]
) -> Iterator[tuple[Row, int, Any, Any]]:
    """Each pair of answers that both have a value: the pair of prompts, the trial, and the two values."""
    by_prompt: dict[tuple[str, int], list[int]] = {}
    for prompt_id, slot, trial in measured:
        by_prompt.setdefault((prompt_id, slot), []).append(trial)
    for row in found:
        for trial in by_prompt.get((row["prompt_id"], row["slot"]), ()):
            one = measured[row["prompt_id"], row["slot"], trial]
            other = measured.get((row["other_prompt_id"], row["slot"], trial))
            if other is not None and one is not None:
                yield row, trial, one, other


def _of_values(row: Row, trial: int, one: Any, other: Any) -> Pair:
    if isinstance(one, list):
        shared, both = len(set(one) & set(other)), len(set(one) | set(other))
        return _pair(row, trial, 1 - shared / both if both else 0.0, None, None)
    return _pair(row, trial, abs(one - other), one, other)


def _pair(row: Row, trial: int, gap: float, value: float | None, other_value: float | None) -> Pair:
    parts = (row["subject"], row["domain"], row["template"], row["perturbation"], row["also"])
    return Pair(
        0,
        row["prompt_id"],
        row["other_prompt_id"],
        trial,
        row["descriptor"],
        row["other_descriptor"],
        ", ".join(dict.fromkeys(filter(None, parts))),
        gap,
        value,
        other_value,
    )


def _texts(ledger: duckdb.DuckDBPyConnection, chosen: Row, pair: Pair) -> Shown:
    values = {**chosen, "prompt_ids": [pair.prompt_id, pair.other_prompt_id], "trial": pair.trial}
    answers = {
        row["prompt_id"]: row
        for row in rows(
            ledger,
            f"select * from ({_LAST}) where trial = $trial and list_contains($prompt_ids, prompt_id)",
            values,
        )
    }
    prompts = asked_texts(ledger, chosen["run_id"], values["prompt_ids"], pair.trial)
    ids = (pair.prompt_id, pair.other_prompt_id)
    shown_answers, answers_whole = _side_by_side(*(answers.get(one, {}).get("response_text") for one in ids))
    shown_prompts, prompts_whole = _side_by_side(*(prompts.get(one) for one in ids), as_lists=False)
    return Shown(pair, shown_answers, shown_prompts, answers_whole and prompts_whole)


def _side_by_side(
    one: str | None, other: str | None, *, as_lists: bool = True
) -> tuple[tuple[Text, Text], bool]:
    missing = "The ledger holds no text of it: none came back, it was erased, or it was imported without."
    if one is None or other is None:
        left, right = (
            Text((), missing) if text is None else Text((Part(text, False),)) for text in (one, other)
        )
        return (left, right), True
    parts = changed(one, other, as_lists=as_lists)
    if parts is None:
        return (Text((Part(one, False),)), Text((Part(other, False),))), False
    return (Text(parts[0]), Text(parts[1])), True
