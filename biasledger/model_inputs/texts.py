"""Texts: relations of answers become lists of words with their design, and texts to be read."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import duckdb
import numpy as np

from biasledger.measures.comparisons import Comparison
from biasledger.measures.schema import table_of
from biasledger.measures.texts.outcomes import masked_text, outcomes
from biasledger.measures.texts.similarity import OF_VECTORS, Answers, Vectors
from biasledger.model_inputs.encoders import load_encoder
from biasledger.model_inputs.models import connection_of, rows_to_build, states_by_key, with_states
from biasledger.model_inputs.relations import (
    as_relation,
    described,
    integers,
    records,
    with_rows,
)
from collector.answers.decisions.amounts import money_in


def read_similarity_comparisons(
    comparisons: duckdb.DuckDBPyRelation,
    members: duckdb.DuckDBPyRelation,
    vectors: duckdb.DuckDBPyRelation,
) -> Iterator[Comparison[Answers]]:
    """Yield each comparison, in the order of its key.

    comparisons: a row a contrast and scheme. members: contrast_id, answer_id, label (1 marked, 0 reference), question_id,
    unit_id, name_id (-1 without a person), name_stratum_id, words (a blank between two), vector_key, a row an answer.
    vectors: vector_key, vector; read where a comparison is by a sentence encoder.
    """
    # All vectors, read once and only if a comparison needs them.
    stored = cache(lambda: dict(vectors.select("vector_key", "vector").fetchall()))
    for row, [rows] in with_rows(comparisons, members, key="contrast_id", order="answer_id"):
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
            _decoded(stored()[key] for key in rows["vector_key"]) if row["scheme"] in OF_VECTORS else None,
        )
        yield Comparison(units=answers, **described(row, "scheme", "mitigation"))


def outcomes_of_runs(
    dbt: Any,
    session: duckdb.DuckDBPyConnection,
    build_runs: duckdb.DuckDBPyRelation,
    texts: duckdb.DuckDBPyRelation,
    removed_words: duckdb.DuckDBPyRelation,
    hedges: duckdb.DuckDBPyRelation,
) -> duckdb.DuckDBPyRelation:
    """Return the outcomes of each text of the runs whose state the model's table lacks.

    build_runs: int_build_runs. texts: text_key, run_id, language, answer_text. removed_words: run_id, word, in lower case.
    hedges: language, term.
    """
    terms, masked = _lists(hedges, "language", "term"), _lists(removed_words, "run_id", "word")
    names = {run_id: frozenset(words) for run_id, words in masked.items()}
    columns = "text_key, any_value(run_id), any_value(language), any_value(answer_text)"
    texts = rows_to_build(dbt, build_runs, texts)
    found = texts.aggregate(columns, "text_key").order("text_key").fetchall()
    left = (
        (key, language, masked_text(text, names.get(run_id, frozenset())), money_in(text))
        for key, run_id, language, text in found
    )
    return as_relation(
        connection_of(session), with_states(outcomes(left, terms), states_by_key(texts, "text_key"))
    )


def _decoded(texts: Iterable[str]) -> Vectors:
    """Return vectors that are stored as texts, (n, d)."""
    return np.stack([np.frombuffer(base64.b64decode(text), dtype="<f4") for text in texts])


def vectors_of_runs(
    dbt: Any,
    session: duckdb.DuckDBPyConnection,
    build_runs: duckdb.DuckDBPyRelation,
    texts: duckdb.DuckDBPyRelation,
    removed_words: duckdb.DuckDBPyRelation,
) -> duckdb.DuckDBPyRelation:
    """Return the vector of each text of the runs whose state the model's table lacks, without words that name a person.

    A text that a run has twice is encoded once.

    build_runs: int_build_runs. texts: vector_key (null in runs that name no encoder), run_id, encoder_place, encoder_hash,
    answer_text. removed_words: run_id, word, in lower case.

    Raises:
        InputError: an encoder cannot be loaded.
    """
    masked = {run_id: frozenset(words) for run_id, words in _lists(removed_words, "run_id", "word").items()}
    columns = "vector_key, encoder_place, encoder_hash, any_value(run_id), any_value(answer_text)"
    texts = rows_to_build(dbt, build_runs, texts.filter("vector_key is not null"))
    found = texts.aggregate(columns, "vector_key, encoder_place, encoder_hash")
    left: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for key, place, content_hash, run_id, text in found.order("vector_key, encoder_place").fetchall():
        left[place, content_hash][key] = masked_text(text, masked.get(run_id, frozenset()))
    vector_of: dict[str, str] = {}
    for (place, content_hash), by_key in left.items():
        vectors = load_encoder(place, content_hash)(list(by_key.values()))
        vector_of |= {
            key: base64.b64encode(vector.astype("<f4").tobytes()).decode()
            for key, vector in zip(by_key, vectors, strict=True)
        }
    rows = [{"vector_key": key, "vector": vector} for key, vector in vector_of.items()]
    table = table_of({"vector_key": "str", "vector": "str"}, rows)
    return as_relation(connection_of(session), with_states(table, states_by_key(texts, "vector_key")))


def _lists(relation: duckdb.DuckDBPyRelation, key: str, value: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in records(relation):
        found.setdefault(row[key], []).append(row[value])
    return found
