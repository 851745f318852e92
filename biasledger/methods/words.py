"""Words of free texts: which ones are used more for one group, and how far the wordings of two lie apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from biasledger.methods import UNIT, Part


def _unequal(row: Mapping[str, Any]) -> str | None:
    if len(row["word_ids"] or ()) == len(row["counts"] or ()):
        return None
    return "has lists of different lengths as 'word_ids' and 'counts'; each word should have a count"


PARTS = {
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
