"""What has to be said of the answers themselves: how many could not be read, and in which languages they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biasledger.comparing.built_tables import Tables

_GROUPS_SHOWN = 6
# Of fewer answers in a language, some are only taken for it.
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
        select runs.audit, runs.target, quality.variant, quality.run_id, quality.n_answers, quality.share_unread
        from {fct_run_quality} as quality
        inner join {dim_runs} as runs on quality.run_id = runs.run_id
        where runs.is_current and quality.share_unread > 0
        order by runs.audit, runs.target, quality.variant <> 'plain', quality.variant
        """
    )
    groups: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for run, variant, attribute, group, n in tables.execute(
        """
        select run_id, variant, attribute, group_name, n_unread
        from {fct_answer_quality}
        where n_unread > 0 and not contains(attribute, '*')
        order by run_id, variant, attribute, n_unread desc, group_name
        """
    ):
        groups[run, variant][attribute].append(f"{group} {n:,}")
    notes = []
    for audit, target, variant, run, n_answers, share in rows:
        by_attribute = groups[run, variant]
        told = "; ".join(
            (f"{attribute} " if len(by_attribute) > 1 else "") + _listed(counted)
            for attribute, counted in by_attribute.items()
        )
        notes.append(
            f"{_asked(audit, target, variant)}: {round(n_answers * share):,} of {round(n_answers):,} answers unread "
            f"({100 * share:.1f} %){': ' + told if told else ''}."
        )
    return notes


def _different_languages(tables: Tables) -> list[str]:
    rows = tables.execute(
        """
        with compared as (
            select run_id, variant, attribute, unnest([group_name, reference_group]) as group_name
            from {fct_language_gaps}
            where is_different and group_name <> '(all)'
        ),
        languages as (
            select
                run_id, variant, attribute, group_name,
                string_agg(printf('%s (%.0f %%)', language_name, 100 * share), ' and ' order by n desc, language_name)
                    filter (where share >= 0.1) as languages
            from {fct_answer_languages}
            group by all
        )
        select distinct
            runs.audit, runs.target, languages.variant, languages.attribute, languages.group_name, languages.languages
        from languages
        inner join compared using (run_id, variant, attribute, group_name)
        inner join {dim_runs} as runs on languages.run_id = runs.run_id
        where runs.is_current
        order by runs.audit, runs.target, languages.variant, languages.attribute, languages.group_name
        """
    )
    told: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for audit, target, variant, _, group, languages in rows:
        verb = "in" if told[audit, target, variant] else "are in"
        told[audit, target, variant].append(f"about {group} {verb} {languages or 'many languages'}")
    return [
        f"{_asked(*key)}: answers {_listed(groups)}. Words are not compared between languages: ask for one language in the "
        "prompt, keep the answers of one language only, or translate them before they are imported."
        for key, groups in told.items()
    ]


def _unchecked(tables: Tables) -> list[str]:
    rows = tables.execute(
        """
        select runs.audit, runs.target, answers.variant, answers.attribute, answers.group_name,
            sum(answers.n) filter (where not answers.is_checked_for_refusals) as n_unchecked, sum(answers.n) as n_answers,
            string_agg(answers.language_name, ', ' order by answers.n desc, answers.language_name)
                filter (where not answers.is_checked_for_refusals) as languages
        from {fct_answer_languages} as answers
        inner join {dim_runs} as runs on answers.run_id = runs.run_id
        where runs.is_current and not contains(answers.attribute, '*')
        group by runs.audit, runs.target, answers.variant, answers.attribute, answers.group_name
        having n_unchecked >= ? * n_answers
        order by runs.audit, runs.target, answers.variant <> 'plain', answers.variant, answers.attribute, n_unchecked desc,
            answers.group_name
        """,
        [_LEAST_UNCHECKED],
    )
    told: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for audit, target, variant, _, group, n_unchecked, n, languages in rows:
        told[audit, target, variant].append(f"{n_unchecked:,.0f} of {n:,.0f} about {group} ({languages})")
    return [
        f"WARNING: {_asked(*key)}: answers were not checked for refusals, because no refusal patterns exist for their language: "
        f"{_listed(groups)}. A refusal among them counts as an answer; name how it begins in the audit (answer: refusals)."
        for key, groups in told.items()
    ]


def _asked(audit: str, target: str, variant: str) -> str:
    under = "" if variant == "plain" else f", with {variant}"
    return f"{audit}, asked of {target}{under}"


def _listed(parts: Iterable[str]) -> str:
    parts = list(parts)
    left = len(parts) - _GROUPS_SHOWN
    return ", ".join(parts[:_GROUPS_SHOWN]) + (f" and {left:,} more groups" if left > 0 else "")
