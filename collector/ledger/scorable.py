"""Text answers that a classifier can score, and the texts of answers by their hashes."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from collector.spec.methods.markers import NEGATIVE

if TYPE_CHECKING:
    from collector.ledger.database import Ledger

# The last attempt of a trial is the one that counts. Texts that are scored already stay in the file.
_ANSWERS_TO_SCORE = """
    with answers as (
        select responses.*, runs.audit, runs.started_at
        from raw.responses as responses
        inner join raw.kept_runs as runs on runs.run_id = responses.run_id
        where
            ($run_id is null or runs.run_id = $run_id)
            and responses.is_judged is not false
            and (
                json_extract_string(runs.spec, '$.answer.kind') = 'text'
                or ($run_id is not null and json_extract_string(runs.spec, '$.answer.kind') = 'json_object')
            )
        qualify row_number() over (partition by responses.run_id, prompt_id, trial order by attempt desc) = 1
    ),
    analyses as (
        select audit, json_extract_string(analysis, '$.markers.hash') as markers_hash
        from raw.analysis_settings
        qualify row_number() over (partition by audit order by registered_at desc, rowid desc) = 1
    ),
    words as (
        select run_id, prompt_id, unnest([descriptor, group_name]) as word from raw.prompt_attributes
        union
        select prompts.run_id, prompts.prompt_id, probes.target_group
        from raw.prompts as prompts
        inner join raw.runs as runs on runs.run_id = prompts.run_id
        inner join analyses on analyses.audit = runs.audit
        inner join raw.probes as probes
            on probes.markers_hash = analyses.markers_hash
            and probes.probe = prompts.subject
            and probes.category is not distinct from prompts.domain
    ),
    words_by_prompt as (
        select run_id, prompt_id, list(distinct word order by word) as words
        from words
        where word is not null
        group by run_id, prompt_id
    ),
    scored as (
        select distinct run_id, prompt_id, trial, attempt from raw.response_scores where scorer = $scorer
    )
    select
        answers.run_id,
        answers.prompt_id,
        answers.trial,
        answers.attempt,
        case when scored.run_id is null then answers.answer_text end,
        coalesce(words_by_prompt.words, []),
        scored.run_id is not null
    from answers
    left join words_by_prompt
        on words_by_prompt.run_id = answers.run_id and words_by_prompt.prompt_id = answers.prompt_id
    left join scored
        on scored.run_id = answers.run_id
        and scored.prompt_id = answers.prompt_id
        and scored.trial = answers.trial
        and scored.attempt = answers.attempt
    where answers.status = 'ok' and answers.answer_text is not null
    order by answers.started_at, answers.run_id, answers.seq
"""


@dataclass(frozen=True, slots=True)
class AnswerToScore:
    """A text answer, with the words that name the person in its question: descriptors, groups, the probe's target group."""

    run_id: str
    prompt_id: str
    trial: int
    attempt: int
    text: str
    group_words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AskedPrompt:
    """A prompt's text (empty where an import does not know it), its mitigation, and its groups.

    Attributes:
        text, mitigation, groups: as said; groups on one line.
        language: the code of its language.
        persons: attribute -> group and descriptor of the one person that it names; empty where it names several.
        references: attribute -> reference group, of the run.
    """

    text: str
    mitigation: str
    groups: str
    language: str
    persons: Mapping[str, tuple[str, str]]
    references: Mapping[str, str]


def asked_prompts(ledger: Ledger, run_ids: Collection[str]) -> dict[tuple[str, str], AskedPrompt]:
    """Return run and prompt -> the prompt, of some runs.

    Raises:
        LedgerError: the file is absent, locked, or no ledger.
    """
    with ledger.read() as connection:
        rows = connection.execute(
            """
            with cells as (
                select
                    run_id,
                    prompt_id,
                    string_agg(concat_ws('=', slot, attribute, group_name), '; ' order by slot, attribute, group_name) as cell,
                    if(max(slot) = 1, list([attribute, group_name, descriptor] order by attribute), []) as persons
                from raw.prompt_attributes
                group by run_id, prompt_id
            )
            select
                prompts.run_id,
                prompts.prompt_id,
                coalesce(prompt_text, ''),
                mitigation,
                coalesce(cells.cell, ''),
                language,
                coalesce(cells.persons, []),
                coalesce(cast(json_extract(runs.spec, '$.attributes') as varchar), '[]')
            from raw.prompts as prompts
            inner join raw.runs as runs on runs.run_id = prompts.run_id
            left join cells on cells.run_id = prompts.run_id and cells.prompt_id = prompts.prompt_id
            where list_contains(?, prompts.run_id)
            """,
            [list(run_ids)],
        ).fetchall()
    return {
        (str(run), str(prompt)): AskedPrompt(
            text,
            mitigation,
            groups,
            language,
            {attribute: (group, descriptor) for attribute, group, descriptor in persons},
            _references(attributes),
        )
        for run, prompt, text, mitigation, groups, language, persons, attributes in rows
    }


@lru_cache
def _references(attributes: str) -> Mapping[str, str]:
    """Return attribute -> reference group of a spec's attributes, of those that have one."""
    return {one["attribute"]: one["reference"] for one in json.loads(attributes) if one.get("reference")}


def answers_to_score(
    ledger: Ledger, scorer: str, run_id: str | None = None
) -> tuple[list[AnswerToScore], int]:
    """Return the text answers that a scorer has not scored, in the order of runs and answers, and how many it has.

    Args:
        ledger: the ledger.
        scorer: its name in raw.response_scores.
        run_id: only this run, whose answers may be JSON objects too; None takes all runs with answers of kind text.

    Raises:
        LedgerError: the file is absent, locked, or no ledger.
    """
    with ledger.read() as connection:
        rows = connection.execute(_ANSWERS_TO_SCORE, {"scorer": scorer, "run_id": run_id}).fetchall()
    left = [
        AnswerToScore(run, prompt, trial, attempt, text, tuple(words))
        for run, prompt, trial, attempt, text, words, is_scored in rows
        if not is_scored
    ]
    return left, len(rows) - len(left)


def judged_labels(ledger: Ledger, scorer: str, run_ids: Collection[str]) -> list[str]:
    """Return the labels of a scorer that the analyses of some runs' audits judge, sorted.

    Raises:
        LedgerError: the file is absent, locked, or no ledger.
    """
    with ledger.read() as connection:
        rows = connection.execute(
            """
            with latest as (
                select * from raw.analysis_settings
                qualify row_number() over (partition by audit order by registered_at desc, analysis_hash) = 1
            )
            select distinct cast(latest.analysis -> '$.markers.scores' as varchar)
            from raw.runs as runs
            left join latest on latest.audit = runs.audit
            where list_contains(?, runs.run_id)
            """,
            [list(run_ids)],
        ).fetchall()
    found = set()
    for (written,) in rows:
        scores = json.loads(written) if written else [{"scorer": None, "label": NEGATIVE}]
        found |= {one["label"] for one in scores if one["scorer"] in (None, scorer)}
    return sorted(found - {None})


def answer_texts(ledger: Ledger, response_hashes: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return response hash -> prompt text (empty where an import does not know it) and answer text, of those found.

    Raises:
        LedgerError: the file is absent, locked, or no ledger.
    """
    with ledger.read() as connection:
        rows = connection.execute(
            """
            select responses.content_hash, any_value(coalesce(prompts.prompt_text, '')), any_value(responses.answer_text)
            from raw.responses as responses
            inner join raw.prompts as prompts
                on prompts.run_id = responses.run_id and prompts.prompt_id = responses.prompt_id
            where list_contains(?, responses.content_hash) and responses.answer_text is not null
            group by responses.content_hash
            """,
            [list(response_hashes)],
        ).fetchall()
    return {str(key): (str(prompt), str(answer)) for key, prompt, answer in rows}
