"""Comparisons of words: relations of integer-coded features become sparse matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from biasledger.measures.comparisons import Comparison
from biasledger.measures.resampling import Design, Floats
from biasledger.model_inputs.relations import records, rows_by_key

_Corpus = tuple[str, str, str]


def read_comparisons(
    comparisons: duckdb.DuckDBPyRelation,
    members: duckdb.DuckDBPyRelation,
    features: duckdb.DuckDBPyRelation,
    vocabulary: duckdb.DuckDBPyRelation,
    *,
    done: frozenset[str],
) -> Iterator[Comparison]:
    """Each comparison not yet done, with its units' features, in the order of its key.

    comparisons: a row a comparison; members: its texts with label, stratum, cluster and what they move with; features: text ×
    word counts;
    vocabulary: the words by word_id.
    Linear algebra runs on one thread: dbt runs models side by side, and sums then never depend on the machine's cores.
    """
    rows = records(comparisons.order("comparison_key"))
    pending = [row for row in rows if row["comparison_key"] not in done]
    if not pending:
        return
    units = members.order("comparison_key, unit_id").fetchnumpy()
    members_of = rows_by_key(units["comparison_key"], [row["comparison_key"] for row in rows])
    matrix = _feature_matrix(features)
    spelling = np.asarray(
        [word for (word,) in vocabulary.order("word_id").select("word").fetchall()], dtype=np.str_
    )
    corpora = _corpora(
        [(_corpus_of(row), *_counted(units, members_of[row["comparison_key"]])) for row in rows], matrix
    )
    with threadpool_limits(limits=1):
        for row in pending:
            inside = members_of[row["comparison_key"]]
            selected = matrix[units["unit_id"][inside]]
            words = np.flatnonzero(np.bincount(selected.indices, minlength=selected.shape[1]))
            corpus = corpora[_corpus_of(row)]
            yield Comparison(
                key=row["comparison_key"],
                kind=row["comparison"],
                scheme=row["scheme"],
                name=tuple(
                    str(row[part]) for part in ("variant", "attribute", "group_name", "reference_group")
                ),
                features=sparse.csr_array(selected[:, words]),
                n_answers=units["n_responses"][inside].astype(np.float64),
                words=spelling[words],
                prior=corpus[words],
                prior_total=float(corpus.sum()),
                design=Design(
                    units["label"][inside].astype(np.int8), units["stratum_id"][inside].astype(np.int64)
                ),
                clusters=units["cluster_id"][inside].astype(np.int64),
                prompts=units["prompt_id"][inside].astype(np.int64),
                moves_prompts=bool(row["moves_prompts"]),
                n_trials=units["n_trials"][inside].astype(np.float64),
                carrier_strata=units["carrier_stratum_id"][inside].astype(np.int64),
                classes=units["carrier_id"][inside].astype(np.int64),
                order=np.argsort(units["first_seq"][inside], kind="stable"),
                weighting=row["weighting"],
                n_permutations=int(row["n_permutations"]),
                alpha=float(row["alpha"]),
                seed=int(row["seed"]),
            )


def _corpora(
    comparisons: list[tuple[_Corpus, NDArray[Any], Floats]], matrix: sparse.csr_array
) -> dict[_Corpus, Floats]:
    """Word counts of each run, variant and scheme: every text that any of its comparisons holds, as often as it was given."""
    answers_of: dict[_Corpus, Floats] = {}
    for corpus, unit_ids, n_answers in comparisons:
        answers_of.setdefault(corpus, np.zeros(matrix.shape[0]))[unit_ids] = n_answers
    return {
        corpus: np.asarray(n_answers @ matrix, dtype=np.float64).ravel()
        for corpus, n_answers in answers_of.items()
    }


def _counted(units: dict[str, NDArray[Any]], inside: slice) -> tuple[NDArray[Any], Floats]:
    """A comparison's texts and how often each was given."""
    return units["unit_id"][inside], units["n_responses"][inside].astype(np.float64)


def _corpus_of(row: dict[str, Any]) -> _Corpus:
    return row["run_id"], row["variant"], row["scheme"]


def _feature_matrix(features: duckdb.DuckDBPyRelation) -> sparse.csr_array:
    """Counts as a sparse matrix (unit_id, word_id); a word's column stands in the same place whatever the rows' order."""
    columns = features.select("unit_id, word_id, n_occurrences").fetchnumpy()
    unit_ids, word_ids = np.asarray(columns["unit_id"]), np.asarray(columns["word_id"])
    shape = (int(unit_ids.max()) + 1, int(word_ids.max()) + 1) if unit_ids.size else (0, 0)
    counts = np.asarray(columns["n_occurrences"], dtype=np.float64)
    # Sorting millions of rows in SQL takes four times as long; a unit uses a word in one row at most.
    matrix = sparse.csr_array((counts, (unit_ids, word_ids)), shape=shape)
    matrix.sort_indices()
    # scikit-learn takes 32-bit indices alone.
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return matrix
