"""Texts: relations of answers become lists of words with their design, and texts to be read."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import numpy as np
import pandas as pd

from biasledger.measures.comparisons import Comparison
from biasledger.measures.texts.manners import manners, masked_text
from biasledger.measures.texts.similarity import Answers
from biasledger.model_inputs.models import computed_keys
from biasledger.model_inputs.relations import (
    RowsByKey,
    described,
    integers,
    pending,
    records,
)


def read_similarity_comparisons(
    comparisons: duckdb.DuckDBPyRelation, members: duckdb.DuckDBPyRelation, *, done: frozenset[str]
) -> Iterator[Comparison[Answers]]:
    """Each comparison not yet done, in the order of its key.

    comparisons: a row a contrast and scheme. members: contrast_id, answer_id, label (1 marked, 0 reference), question_id,
    unit_id, name_id (-1 where nobody is named), name_stratum_id, words (a blank between two), a row an answer.
    """
    members_of = RowsByKey(members, "contrast_id", "answer_id")
    for row in pending(comparisons, done):
        rows = members_of[row["contrast_id"]]
        numbers = {
            column: integers(rows[column], column)
            for column in ("answer_id", "label", "question_id", "unit_id", "name_id", "name_stratum_id")
        }
        answers = Answers(
            [text.split(" ") for text in rows["words"]],
            row["scheme"],
            numbers["label"].astype(np.int8),
            numbers["question_id"],
            numbers["unit_id"],
            numbers["name_id"] if (numbers["name_id"] >= 0).all() else None,
            numbers["name_stratum_id"],
            numbers["answer_id"],
        )
        name = ("scheme", "variant", "attribute", "group_name", "reference_group")
        yield Comparison(units=answers, **described(row, *name))


def new_manners(
    dbt: object,
    session: duckdb.DuckDBPyConnection,
    texts: duckdb.DuckDBPyRelation,
    removed_words: duckdb.DuckDBPyRelation,
    hedges: duckdb.DuckDBPyRelation,
) -> pd.DataFrame:
    """How each text is put that the model's table does not hold yet.

    texts: text_key, run_id, language, answer_text. removed_words: run_id, word, in lower case. hedges: language, term.
    """
    done = computed_keys(dbt, session, "text_key")
    terms, masked = _lists(hedges, "language", "term"), _lists(removed_words, "run_id", "word")
    names = {run_id: frozenset(words) for run_id, words in masked.items()}
    columns = "text_key, any_value(run_id), any_value(language), any_value(answer_text)"
    found = texts.aggregate(columns, "text_key").order("text_key").fetchall()
    return manners(
        (
            (key, language, masked_text(text, names.get(run_id, frozenset())))
            for key, run_id, language, text in found
            if key not in done
        ),
        terms,
    )


def _lists(relation: duckdb.DuckDBPyRelation, key: str, value: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in records(relation):
        found.setdefault(row[key], []).append(row[value])
    return found
