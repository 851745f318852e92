"""The same case under two groups, side by side: a case's answers are paired before anybody looks at them, and shown by how far
apart they lie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
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
# The ways to measure the gap of a pair, and of all but the last the query of a value for each answer, or a list.
WORDS = "words"
GAPS = {
    "outcome": "what was decided",
    "price": "mean price level",
    "items": "items in the list",
    WORDS: "different words",
}
_VALUES = {
    "outcome": """
        select prompt_id, trial, slot, any_value(rank_value) as value
        from marts.fct_predictions where run_id = $run_id and not is_unknown group by all
    """,
    "price": """
        select prompt_id, trial, 1 as slot, sum(price_level * n) / sum(n) as value
        from marts.fct_recommended_items where run_id = $run_id and price_level is not null group by all
    """,
    "items": """
        select prompt_id, trial, 1 as slot, list(distinct item) as value
        from marts.fct_list_items where run_id = $run_id and scheme = 'items' group by all
    """,
}
_GAP_OF_NUMBERS = "abs(one.value - other.value) as gap, one.value, other.value as other_value"
_GAP_OF_LISTS = """
    coalesce(
        1 - len(list_intersect(one.value, other.value))
            / nullif(len(list_distinct(list_concat(one.value, other.value))), 0),
        0
    ) as gap,
    null as value, null as other_value
"""
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
            [
                of_group.subject, of_group.domain, of_group.template, of_group.perturbation,
                coalesce(others.also, '')
            ] as parts,
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
        array_to_string(
            list_filter(
                one.parts, lambda part, place: part <> '' and list_position(one.parts, part) = place
            ),
            ', '
        ) as "case"
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
        found = (
            rows(connection, f"{_PAIRS} order by all", chosen)
            if by == WORDS
            else _by_values(connection, chosen, by)
        )
    pairs, shown, missing = [] if by == WORDS else _numbered(found), None, ""
    try:
        with Ledger(served.ledger, wait_seconds=_LOCK_SECONDS).read() as ledger:
            if by == WORDS:
                found = _by_words(ledger, chosen, found)
                pairs = _numbered(found)
            shown = _texts(ledger, chosen, pairs[_place(asked, pairs) - 1]) if pairs else None
    except LedgerError as error:
        missing = f"The texts are missing: {error}"
    place = _place(asked, pairs)
    n_all = found[0]["n_all"] if pairs else 0
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
    # Only attributes of people in prompts can be chosen.
    judged = _gravest(
        connection, "list_contains($attributes, attribute)", run_id=run_id, attributes=attributes
    )
    usual = judged["attribute"] if judged else attributes[0]
    attribute = _one("attribute", asked.get("attribute", usual), attributes)
    groups = [row["group_name"] for row in known if row["attribute"] == attribute]
    group, reference = _two_groups(connection, run_id, attribute, groups, asked)
    return {
        "runs": runs,
        "mitigations": mitigations,
        "attributes": attributes,
        "groups": groups,
        "chosen": {
            "run_id": run_id,
            "mitigation": mitigation,
            "attribute": attribute,
            "group": group,
            "reference": reference,
        },
    }


def _one(what: str, name: str, known: Sequence[str]) -> str:
    if name not in known:
        raise InputError(f"The run has no {what} {name!r}{did_you_mean(name, known) or '.'}")
    return name


def _gravest(connection: duckdb.DuckDBPyConnection, condition: str, **values: Any) -> Row | None:
    """The run's gravest finding under a condition."""
    found = rows(
        connection,
        f"""
        select attribute, group_name, reference_group from marts.fct_findings
        where run_id = $run_id and {condition}
        order by status <> 'alarm', severity <> 'error', p_value_adjusted nulls last, measure desc, finding_id
        limit 1
        """,
        values,
    )
    return found[0] if found else None


def _two_groups(
    connection: duckdb.DuckDBPyConnection, run_id: str, attribute: str, groups: Sequence[str], asked: Asked
) -> tuple[str, str]:
    """Return the groups in the address; if it names none, those of the run's gravest finding about the attribute.

    A group of another attribute, as an address has it whose attribute alone was changed, is left open, too.
    """
    judged = _gravest(
        connection,
        "attribute = $attribute and list_contains($groups, group_name) and list_contains($groups, reference_group)",
        run_id=run_id,
        attribute=attribute,
        groups=list(groups),
    )
    usual = (judged["group_name"], judged["reference_group"]) if judged else (groups[0], groups[-1])
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


def _by_values(connection: duckdb.DuckDBPyConnection, chosen: Row, by: str) -> list[Row]:
    """The pairs of answers that both have a value, the largest gaps, and how many there are of all."""
    return rows(
        connection,
        f"""
        with pairs as ({_PAIRS}), answers as ({_VALUES[by]})

        select
            pairs.*,
            one.trial,
            {_GAP_OF_LISTS if by == "items" else _GAP_OF_NUMBERS},
            count(*) over () as n_all
        from pairs
        inner join answers as one on pairs.prompt_id = one.prompt_id and pairs.slot = one.slot
        inner join answers as other
            on pairs.other_prompt_id = other.prompt_id and pairs.slot = other.slot and one.trial = other.trial
        where one.value is not null and other.value is not null
        order by gap desc, pairs."case", pairs.prompt_id, pairs.other_prompt_id, one.trial, pairs.slot
        limit {PAIRS_AT_MOST}
        """,
        chosen,
    )


def _by_words(ledger: duckdb.DuckDBPyConnection, chosen: Row, found: Sequence[Row]) -> list[Row]:
    """The same of pairs with two texts, of those that were found.

    A gap is the share of their different words that only one of them has.
    """
    trials = rows(
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
    # People of several places in one prompt make a pair each, of the same two texts.
    of_prompts = {(row["prompt_id"], row["other_prompt_id"]): row for row in found}
    return sorted(
        (
            {
                **of_prompts[row["prompt_id"], row["other_prompt_id"]],
                **row,
                "value": None,
                "other_value": None,
            }
            for row in trials
        ),
        key=lambda row: (-row["gap"], row["case"], row["prompt_id"], row["other_prompt_id"], row["trial"]),
    )


def _numbered(found: Sequence[Row]) -> list[Pair]:
    names = [field.name for field in fields(Pair)][1:]
    return [Pair(number, *(row[name] for name in names)) for number, row in enumerate(found, start=1)]


def _place(asked: Asked, pairs: Sequence[Pair]) -> int:
    return asked.whole("place", 1, least=1, most=max(len(pairs), 1))


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
