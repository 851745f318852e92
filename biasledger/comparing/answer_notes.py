"""Notes on the answers: how many could not be read, and in which languages they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biasledger.comparing.built_tables import Tables

_GROUPS_SHOWN = 6
# A smaller share of answers in a language may be misdetected ones.
_LEAST_UNCHECKED = 0.05


def answer_notes(tables: Tables) -> list[str]:
    """Return a sentence for each current run with unread answers, with languages that differ, or with unchecked answers.

    Args:
        tables: of a built warehouse.

    Returns:
        The sentences; none where the tables were built before these were counted.
    """
    if not (tables.has("fct_answer_reading") and tables.has("fct_language_gaps")):
        return []
    return [*_unread(tables), *_different_languages(tables), *_unchecked(tables)]


def _unread(tables: Tables) -> list[str]:
    rows = tables.execute(
        """
        select runs.audit, runs.target, quality.mitigation, quality.run_id, quality.n_answers, quality.share_unread
        from {fct_run_quality} as quality
        inner join {dim_runs} as runs on quality.run_id = runs.run_id
        where runs.is_current and quality.share_unread > 0
        order by runs.audit, runs.target, quality.mitigation <> 'plain', quality.mitigation
        """
    )
    groups: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for run, mitigation, attribute, group, n in tables.execute(
        """
        select run_id, mitigation, attribute, group_name, n_unread
        from {fct_answer_quality}
        where n_unread > 0 and not contains(attribute, '*')
        order by run_id, mitigation, attribute, n_unread desc, group_name
        """
    ):
        groups[run, mitigation][attribute].append(f"{group} {n:,}")
    notes = []
    for audit, target, mitigation, run, n_answers, share in rows:
        by_attribute = groups[run, mitigation]
        message = "; ".join(
            (f"{attribute} " if len(by_attribute) > 1 else "") + _listed(counted)
            for attribute, counted in by_attribute.items()
        )
        notes.append(
            f"{_asked(audit, target, mitigation)}: {round(n_answers * share):,} of {round(n_answers):,} answers unread "
            f"({100 * share:.1f} %){': ' + message if message else ''}."
        )
    return notes


def _different_languages(tables: Tables) -> list[str]:
    rows = tables.execute(
        """
        with compared as (
            select run_id, mitigation, attribute, unnest([group_name, reference_group]) as group_name
            from {fct_language_gaps}
            where is_different and group_name <> '(all)'
        ),
        languages as (
            select
                run_id, mitigation, attribute, group_name,
                string_agg(printf('%s (%.0f %%)', language_name, 100 * share), ' and ' order by n desc, language_name)
                    filter (where share >= 0.1) as languages
            from {fct_answer_languages}
            group by all
        )
        select distinct
            runs.audit, runs.target, languages.mitigation, languages.attribute, languages.group_name, languages.languages
        from languages
        inner join compared using (run_id, mitigation, attribute, group_name)
        inner join {dim_runs} as runs on languages.run_id = runs.run_id
        where runs.is_current
        order by runs.audit, runs.target, languages.mitigation, languages.attribute, languages.group_name
        """
    )
    message: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for audit, target, mitigation, _, group, languages in rows:
        verb = "in" if message[audit, target, mitigation] else "are in"
        message[audit, target, mitigation].append(f"about {group} {verb} {languages or 'many languages'}")
    return [
        f"{_asked(*key)}: answers {_listed(groups)}. Words are not compared between languages: ask for one language in the "
        "prompt, keep the answers of one language only, or translate them before they are imported."
        for key, groups in message.items()
    ]


def _unchecked(tables: Tables) -> list[str]:
    rows = tables.execute(
        """
        select runs.audit, runs.target, answers.mitigation, answers.attribute, answers.group_name,
            sum(answers.n) filter (where not answers.is_checked_for_refusals) as n_unchecked, sum(answers.n) as n_answers,
            string_agg(answers.language_name, ', ' order by answers.n desc, answers.language_name)
                filter (where not answers.is_checked_for_refusals) as languages
        from {fct_answer_languages} as answers
        inner join {dim_runs} as runs on answers.run_id = runs.run_id
        where runs.is_current and not contains(answers.attribute, '*')
        group by runs.audit, runs.target, answers.mitigation, answers.attribute, answers.group_name
        having n_unchecked >= ? * n_answers
        order by runs.audit, runs.target, answers.mitigation <> 'plain', answers.mitigation, answers.attribute, n_unchecked desc,
            answers.group_name
        """,
        [_LEAST_UNCHECKED],
    )
    message: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for audit, target, mitigation, _, group, n_unchecked, n, languages in rows:
        message[audit, target, mitigation].append(
            f"{n_unchecked:,.0f} of {n:,.0f} about {group} ({languages})"
        )
    return [
        f"WARNING: {_asked(*key)}: answers were not checked for refusals, because no refusal patterns exist for their language: "
        f"{_listed(groups)}. A refusal among them counts as an answer; name how it begins in the audit (answer: refusals)."
        for key, groups in message.items()
    ]


def _asked(audit: str, target: str, mitigation: str) -> str:
    under = "" if mitigation == "plain" else f", with {mitigation}"
    return f"{audit}, target {target}{under}"


def _listed(parts: Iterable[str]) -> str:
    parts = list(parts)
    left = len(parts) - _GROUPS_SHOWN
    return ", ".join(parts[:_GROUPS_SHOWN]) + (f" and {left:,} more groups" if left > 0 else "")
