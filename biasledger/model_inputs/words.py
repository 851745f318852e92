"""Comparisons of words: relations of integer-coded features become sparse matrices."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import groupby
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from biasledger.measures.comparisons import Comparison
from biasledger.measures.engine.design import Design, Floats
from biasledger.measures.engine.sums import numbered
from biasledger.measures.engine.word_counts import narrow, weighted_sums
from biasledger.measures.equal_sizes.words import WordPair, WordUnits
from biasledger.measures.words.texts import Texts
from biasledger.model_inputs.pairs import Rows, asked, comparable_pairs, questions
from biasledger.model_inputs.relations import Columns, RowsByKey, described, records
from biasledger.model_inputs.sharing import shared, shared_results
from collector.sql import literal

UNITS_AT_ONCE = 100_000
"""Texts whose words are read at once: rows of words take several times the memory of the matrix that they become."""

CORPUS = ("run_id", "mitigation", "scheme")
"""The columns that identify a corpus, whose comparisons are read together: its words count for the prior of each."""
_Corpus = tuple[str, str, str]
_NAME = ("scheme", "comparison", "mitigation")


def read_comparisons(
    comparisons: duckdb.DuckDBPyRelation,
    members: duckdb.DuckDBPyRelation,
    features: duckdb.DuckDBPyRelation,
    vocabulary: duckdb.DuckDBPyRelation,
) -> Iterator[Comparison[Texts]]:
    """Yield each comparison with its units' features, by run, mitigation and scheme, in the order of its key.

    comparisons: a row a comparison; members: its texts with label, stratum, cluster and what they move with; features: text ×
    word counts, in which the texts of one run, mitigation and scheme have consecutive numbers; vocabulary: the words
    by word_id. Memory holds one run, mitigation and scheme at a time, shared by models that measure it in parallel.
    """
    return read_pairs(comparisons, members, features, vocabulary, comparisons)


def read_pairs(
    pairs: duckdb.DuckDBPyRelation,
    members: duckdb.DuckDBPyRelation,
    features: duckdb.DuckDBPyRelation,
    vocabulary: duckdb.DuckDBPyRelation,
    comparisons: duckdb.DuckDBPyRelation,
) -> Iterator[Comparison[Texts]]:
    """Yield the comparisons of two groups in `pairs`, as `read_comparisons` does; word counts of the corpus include all
    `comparisons`.
    """
    wanted = {key for (key,) in pairs.select("comparison_key").fetchall()}
    rows = records(comparisons.order(", ".join((*CORPUS, "comparison_key"))))
    spelling: NDArray[np.str_] | None = None
    for _, group in groupby(rows, key=_corpus_of):
        of_corpus = list(group)
        if not any(row["comparison_key"] in wanted for row in of_corpus):
            continue
        if spelling is None:
            words = vocabulary.order("word_id").select("word").fetchall()
            spelling = np.asarray([word for (word,) in words], dtype=np.str_)
        keys = [row["comparison_key"] for row in of_corpus]
        members_of = RowsByKey(members, "comparison_key", "unit_id", of=keys)
        of_run = features.filter(f"run_id = {literal(of_corpus[0]['run_id'])}")
        ids = np.concatenate([members_of[key]["unit_id"] for key in keys])
        first, last = (int(ids.min()), int(ids.max())) if ids.size else (0, -1)
        read = partial(_feature_matrix, of_run, first, last)
        matrix = shared((*_corpus_of(of_corpus[0]), first, last), read)
        counts = _corpus_counts([members_of[key] for key in keys], matrix, first)
        for row in of_corpus:
            if row["comparison_key"] not in wanted:
                continue
            texts = _texts(row, members_of[row["comparison_key"]], matrix, first, spelling, counts)
            # No divergence is measured of keys.
            results = None if row["scheme"] == "keys" else shared_results(row["comparison_key"])
            yield Comparison(units=texts, shared=results, **described(row, *_NAME))


def _texts(
    row: dict[str, Any],
    members: Columns,
    matrix: sparse.csr_array,
    first: int,
    spelling: NDArray[np.str_],
    corpus: Floats,
) -> Texts:
    numbers = {
        column: members[column].astype(np.int64)
        for column in (
            "stratum_id",
            "cluster_id",
            "prompt_id",
            "name_stratum_id",
            "name_id",
            "descriptor_id",
        )
    }
    selected = sparse.csr_array(matrix[members["unit_id"] - first])
    is_used = np.zeros(selected.shape[1], dtype=np.bool_)
    is_used[selected.indices] = True
    words = np.flatnonzero(is_used)
    places = np.cumsum(is_used, dtype=np.int32) - np.int32(1)
    features = sparse.csr_array(
        (selected.data, places[selected.indices], selected.indptr), shape=(selected.shape[0], words.size)
    )
    return Texts(
        kind=row["comparison"],
        scheme=row["scheme"],
        features=features,
        n_answers=members["n_responses"].astype(np.float64),
        words=spelling[words],
        prior=corpus[words],
        prior_total=float(corpus.sum()),
        design=Design(members["label"].astype(np.int8), numbers["stratum_id"]),
        clusters=numbers["cluster_id"],
        prompts=numbers["prompt_id"],
        moves_prompts=bool(row["moves_prompts"]),
        n_trials=members["n_trials"].astype(np.float64),
        name_strata=numbers["name_stratum_id"],
        names=numbers["name_id"],
        classes=numbers["descriptor_id"],
        order=np.argsort(members["first_seq"], kind="stable"),
        weighting=row["weighting"],
    )


def _corpus_counts(comparisons: list[Columns], matrix: sparse.csr_array, first: int) -> Floats:
    """Word counts of every text that any comparison of a corpus holds, as often as it was given."""
    n_answers = np.zeros(matrix.shape[0])
    for texts in comparisons:
        n_answers[texts["unit_id"] - first] = texts["n_responses"]
    counts: Floats = weighted_sums(n_answers[np.newaxis, :], matrix)[0]
    return counts


def _corpus_of(row: dict[str, Any]) -> _Corpus:
    run_id, mitigation, scheme = (row[column] for column in CORPUS)
    return run_id, mitigation, scheme


def _feature_matrix(features: duckdb.DuckDBPyRelation, first: int, last: int) -> sparse.csr_array:
    """Return counts of the units from the first to the last, (n_units, n_words); a column a word, in any order of rows."""
    parts = [
        _counts_of(features, start, min(start + UNITS_AT_ONCE - 1, last))
        for start in range(first, last + 1, UNITS_AT_ONCE)
    ]
    n_words = max((part.shape[1] for part in parts), default=0)
    for part in parts:
        part.resize(part.shape[0], n_words)
    matrix = sparse.csr_array(sparse.vstack(parts, format="csr")) if parts else sparse.csr_array((0, 0))
    # scikit-learn takes 32-bit indices alone.
    matrix.indices = matrix.indices.astype(np.int32, copy=False)
    matrix.indptr = matrix.indptr.astype(np.int32, copy=False)
    return matrix


def _counts_of(features: duckdb.DuckDBPyRelation, first: int, last: int) -> sparse.csr_array:
    """Return counts of the units from the first to the last, (n_units, largest word_id + 1), in as many bytes as the largest
    needs.
    """
    columns = (
        features.filter(f"unit_id between {first} and {last}")
        .select("unit_id, word_id, n_occurrences")
        .fetchnumpy()
    )
    rows, words = np.asarray(columns["unit_id"]) - first, np.asarray(columns["word_id"])
    shape = (last - first + 1, int(words.max(initial=-1)) + 1)
    counts = np.asarray(columns["n_occurrences"])
    # Sorting millions of rows in SQL takes four times as long; a unit uses a word in one row at most.
    matrix = narrow(sparse.csr_array((counts, (rows, words)), shape=shape))
    matrix.sort_indices()
    return matrix


def read_word_pairs(
    pairs: duckdb.DuckDBPyRelation,
    members: duckdb.DuckDBPyRelation,
    counts: duckdb.DuckDBPyRelation,
) -> Iterator[WordPair]:
    """Yield texts of each contrast that both runs of a pair have.

    members: run_id, mitigation, scheme, attribute, group_name, reference_group, weighting, unit_key, label, stratum, cluster,
    prompt, n_trials, moves_prompts, a row a text and contrast; counts: run_id, unit_key, word_id, n.
    """
    comparable = comparable_pairs(pairs)
    # The last two runs stay in memory.
    features_of = lru_cache(maxsize=2)(partial(_features, counts))
    columns = ("scheme", "attribute", "group_name", "reference_group")
    for pair, question, sides in questions(comparable, members, columns, order="unit_key"):
        before, after = features_of(pair["baseline_run_id"]), features_of(pair["run_id"])
        units = _word_units(sides[0], before), _word_units(sides[1], after)
        yield Comparison(units=units, **asked(pair, *question, ""))


def _features(counts: duckdb.DuckDBPyRelation, run_id: str) -> tuple[NDArray[np.str_], sparse.csr_array]:
    """Return a run's units in the order of their keys, and their word counts (n_units, n_words)."""
    columns = counts.filter(f"run_id = {literal(run_id)}").select("unit_key, word_id, n").fetchnumpy()
    keys, rows = np.unique(columns["unit_key"].astype(str), return_inverse=True)
    words, places = np.unique(columns["word_id"], return_inverse=True)
    matrix = sparse.csr_array(
        (np.asarray(columns["n"], dtype=np.float64), (rows, places)), shape=(keys.size, words.size)
    )
    matrix.sort_indices()
    # scikit-learn takes 32-bit indices alone.
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return keys, matrix


def _word_units(rows: Rows, features: tuple[NDArray[np.str_], sparse.csr_array]) -> WordUnits:
    keys, matrix = features
    trials = _in_no_order(np.ma.filled(rows["n_trials"], 1.0).astype(np.int64))
    places = np.searchsorted(keys, rows["unit_key"].astype(str))[trials]
    return WordUnits(
        rows["label"].astype(np.int8)[trials],
        rows["stratum"].astype(np.str_)[trials],
        numbered(rows["cluster"].astype(str))[trials],
        sparse.csr_array(matrix[places]),
        str(rows["weighting"][0]),
        rows["prompt"].astype(np.str_)[trials] if bool(rows["moves_prompts"][0]) else None,
    )


def _in_no_order(n_trials: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return every text as often as it was answered; repeats are mixed, so that the first so many are no copies of a few."""
    trials = np.repeat(np.arange(n_trials.size), np.maximum(n_trials, 1))
    if trials.size == n_trials.size:
        return trials
    return np.random.Generator(np.random.PCG64(trials.size)).permutation(trials)
