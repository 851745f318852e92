"""Words of free texts: which ones are used more for one group, and how far the wordings of two lie apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from biasledger.methods import UNIT, Method, Part


def _unequal(row: Mapping[str, Any]) -> str | None:
    if len(row["word_ids"] or ()) == len(row["counts"] or ()):
        return None
    return "has lists of different lengths as 'word_ids' and 'counts'; each word should have a count"


_PARTS = {
    # Texts get numbers in the order of their keys, which are hashes, so that draws are the same as where the run was collected;
    # words get numbers in no order.
    "word_member": Part(
        table="int_words_comparable_members",
        columns={
            **UNIT,
            **dict.fromkeys(("scheme", "reference_group", "weighting", "prompt"), "varchar"),
            "label": "tinyint",
            "n_trials": "double",
            "moves_prompts": "boolean",
        },
        query="""
        select
            * replace (
                't' || lpad(cast(dense_rank() over (order by unit_key) as varchar), 9, '0') as unit_key,
                't' || lpad(cast(dense_rank() over (order by cluster) as varchar), 9, '0') as cluster
            )
        from {table} where run_id = $run and mitigation = 'plain' order by all
        """,
    ),
    "word_count": Part(
        table="int_words_comparable_counts",
        columns={
            "run_id": "varchar",
            "unit_key": "varchar",
            "word_ids": "integer[]",
            "counts": "double[]",
        },
        query="""
        with counted as (
            select
                run_id,
                't' || lpad(cast(dense_rank() over (order by unit_key) as varchar), 9, '0') as unit_key,
                dense_rank() over (order by md5(word_id || run_id)) - 1 as word_id,
                n
            from {table}
            where run_id = $run and unit_key in (
                select unit_key from {schema}.int_words_comparable_members where run_id = $run and mitigation = 'plain'
            )
        )
        select run_id, unit_key, list(word_id order by word_id) as word_ids, list(n order by word_id) as counts
        from counted group by run_id, unit_key order by unit_key
        """,
        fault=_unequal,
    ),
}

_SENTENCES = {
    "word_divergence": (
        "answers for {group} and for {reference} are worded differently, {percent:.1f} % of the way from the same words "
        "to not a word in common"
    ),
    "classifier_accuracy": (
        "a reader of the words alone, with the words that name a group {removed}, would tell in {percent:.0f} of 100 "
        "answers whether they are for {group} or for {reference}; 50 of 100 is guessing"
    ),
}

_UNITS = {
    "word_divergence": ("the difference in wording", 100, " %"),
    "classifier_accuracy": (
        "the share of answers whose group can be distinguished from their words",
        100,
        " %",
    ),
    "length_gap": ("the gap in the logarithm of lengths", 1, ""),
    "marked_words": ("the |z| of the most telling word", 1, ""),
}

METHOD = Method(parts=_PARTS, sentences=_SENTENCES, units=_UNITS)
