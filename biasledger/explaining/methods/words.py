"""Words: the words that tell two groups' texts apart, and the texts that hold most of them."""

from __future__ import annotations

from collections.abc import Iterable

from biasledger.explaining.case import RUN, Case
from biasledger.explaining.evidence import Evidence, RowsBehind, first_value
from biasledger.explaining.marks import Mark

_WHERE = "contrast_id = $contrast_id and scheme = $scheme"


def evidence(case: Case) -> Evidence:
    """The word tables of a contrast, its words as marks, and both groups' prompts."""
    tables, weights = _TABLES[case.finding["measure"]](case)
    group, reference = case.groups
    marks = [Mark(word, "first" if weight > 0 else "second") for word, weight in weights]
    return Evidence(
        tables=[*tables, *_removed(case)],
        sides=[case.side(name) for name in case.groups],
        marks=marks,
        first=f"speaks for {group}",
        second=f"speaks for {reference}",
        observed=first_value(tables[0], _OBSERVED.get(case.finding["measure"])),
    )


_Found = tuple[list[RowsBehind], Iterable[tuple[str, float]]]


def _marked_words(case: Case) -> _Found:
    words = case.behind(
        "fct_marked_words",
        "words that stand out first",
        where=f"{_WHERE} and p_value_adjusted is not null",
        columns="word, z_score, log_odds, n_group_uses, n_reference_uses, n_units_using, p_value, p_value_adjusted, is_marked",
        order="is_marked desc, case when is_marked then 0 else p_value_adjusted end, abs(z_score) desc, word",
        n=30,
    )
    # Where no word stands out there is nothing to mark, however large some z is by chance.
    marked = case.rows(
        f"select word, z_score from marts.fct_marked_words where {_WHERE} and is_marked order by word"
    )
    return [words], [(row["word"], row["z_score"]) for row in marked]


def _word_divergence(case: Case) -> _Found:
    divergence = case.behind(
        "fct_word_divergence",
        "the divergence",
        where=_WHERE,
        columns="jsd, jsd_judged, null_mean, jsd_debiased, interval_low, interval_high, p_value, n_marked_units, "
        "n_reference_units",
    )
    words = case.behind(
        "fct_word_divergence_words",
        "words by what they add to it",
        where=_WHERE,
        columns="contribution_rank, word, contribution, signed_share",
        order="contribution_rank",
    )
    return [divergence, words], [(row["word"], row["signed_share"]) for row in words.rows]


def _classifier_accuracy(case: Case) -> _Found:
    accuracy = case.behind(
        "fct_classifier_accuracy",
        "the classifier",
        where=_WHERE,
        columns="beyond_chance, balanced_accuracy, accuracy_mean, accuracy_sd, chance, interval_low, interval_high, null_mean, "
        "p_value, skipped_reason",
    )
    words = case.behind(
        "fct_classifier_words",
        "words by their weight in it",
        where=_WHERE,
        columns="coefficient_rank, word, coefficient",
        order="coefficient_rank",
    )
    return [accuracy, words], [(row["word"], row["coefficient"]) for row in words.rows]


def _removed(case: Case) -> list[RowsBehind]:
    """Return the words that were removed from both groups' texts, those first whose use differs most."""
    if not case.rows("select 1 from duckdb_tables() where table_name = 'fct_removed_words'"):
        return []  # a warehouse of an older version
    share = "n_answers_using / n_answers * if(group_name = $group_name, 1, -1)"
    return [
        case.behind(
            "fct_removed_words",
            "words taken out before anything was compared",
            where=f"{RUN} and attribute = $attribute and group_name in ($group_name, $reference_group)",
            columns="group_name, word, why, list_name, named_groups, n_occurrences, n_answers_using, n_answers",
            order=f"abs(sum({share}) over (partition by word)) desc, word, group_name",
        )
    ]


def _length_gap(case: Case) -> _Found:
    lengths = case.behind(
        "fct_answer_lengths",
        "how long answers are",
        where=_WHERE,
        columns="length_gap, tokens_marked, tokens_reference, interval_low, interval_high, p_value, n_marked_units, "
        "n_reference_units",
    )
    return [lengths], []


# The columns that shuffled labels are compared with, if not the value.
_OBSERVED = {"word_divergence": "jsd_judged", "classifier_accuracy": "balanced_accuracy"}
_TABLES = {
    "length_gap": _length_gap,
    "marked_words": _marked_words,
    "word_divergence": _word_divergence,
    "classifier_accuracy": _classifier_accuracy,
}
