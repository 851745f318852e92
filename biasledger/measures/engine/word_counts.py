"""Sums of word counts of very many texts, in parts, so that memory is bounded by the counts.

Counts are kept in as few bytes as the largest needs, and sparse products would first make doubles of them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from biasledger.measures.engine.sums import Floats

CELLS_AT_ONCE = 8_000_000
"""Cells that are made doubles of at once, 64 MB."""

# Rows of weights from which turning the counts round costs less than it saves.
_BY_WORD_FROM = 16


def row_parts(features: sparse.csr_array) -> Iterator[tuple[slice, sparse.csr_array]]:
    """Yield rows that follow each other and hold some CELLS_AT_ONCE cells, and their counts."""
    starts, n_rows = features.indptr, features.shape[0]
    wanted = np.arange(CELLS_AT_ONCE, int(starts[-1]), CELLS_AT_ONCE)
    edges = np.unique([0, *np.searchsorted(starts, wanted), n_rows])
    for first, last in pairwise(edges):
        cells = slice(int(starts[first]), int(starts[last]))
        counts = (features.data[cells], features.indices[cells], starts[first : last + 1] - starts[first])
        shape = (int(last - first), features.shape[1])
        yield slice(int(first), int(last)), sparse.csr_array(counts, shape=shape)


def weighted_sums(weights: NDArray[Any], features: sparse.csr_array) -> Floats:
    """Return the sum over rows of weights (b, n_rows) times counts (n_rows, n_words), (b, n_words), a word's sums side by side
    in memory.
    """
    sums: Floats | None = None
    for rows, counts in row_parts(features):
        by_word = counts.T
        if len(weights) >= _BY_WORD_FROM:
            # Twice as fast, because the rows that are added to stay in the processor's cache; the sums are the same.
            by_word = sparse.csr_array(by_word)
        part = by_word @ np.ascontiguousarray(weights[:, rows].T, dtype=np.float64)
        sums = part if sums is None else sums + part
    return np.zeros((len(weights), features.shape[1])) if sums is None else np.asarray(sums.T)


def sums_by(
    of_row: NDArray[np.signedinteger[Any]],
    n_units: int,
    features: sparse.csr_array,
    *,
    weights: Floats | None = None,
    seen_as: Callable[[sparse.csr_array], sparse.csr_array] = lambda counts: counts,
) -> sparse.csr_array:
    """Return the sum of rows (n_rows, n_words) over each unit's, (n_units, n_words). of_row: (n_rows,), the unit that each row
    is of.

    weights: (n_rows,), 1 if not given. seen_as: what is summed in the place of a part's counts, of the same shape.
    """
    sums = sparse.csr_array((n_units, features.shape[1]))
    for rows, counts in row_parts(features):
        n_rows = rows.stop - rows.start
        shares = np.ones(n_rows) if weights is None else weights[rows]
        membership = sparse.csr_array((shares, (of_row[rows], np.arange(n_rows))), shape=(n_units, n_rows))
        part = sparse.csr_array(membership @ seen_as(counts))
        sums = sums + part if sums.nnz else part
    return sums


def column_sums(features: sparse.csr_array) -> Floats:
    """Return the sum of each column, (n_words,)."""
    sums: Floats = weighted_sums(np.ones((1, features.shape[0])), features)[0]
    return sums


def row_sums(features: sparse.csr_array) -> Floats:
    """Return the sum of each row, (n_rows,)."""
    return np.concatenate(
        [
            np.zeros(0),
            *(np.asarray(counts.sum(axis=1), dtype=np.float64) for _, counts in row_parts(features)),
        ]
    )


def rows_using(features: sparse.csr_array, weights: Floats | None = None) -> Floats:
    """Return how many rows use each word, (n_words,); each as often as its weight, (n_rows,), if there are any."""
    users = sparse.csr_array(
        (np.ones(features.nnz, dtype=np.uint8), features.indices, features.indptr), shape=features.shape
    )
    sums: Floats = weighted_sums(
        np.ones((1, users.shape[0])) if weights is None else weights[np.newaxis, :], users
    )[0]
    return sums


def with_rest(features: sparse.csr_array, kept: NDArray[np.bool_]) -> sparse.csr_array:
    """Return the columns of some words, and a last one: the sum of all others; (n_rows, n_kept + 1). kept: (n_words,)."""
    columns, others = np.flatnonzero(kept), (~kept).astype(np.float64)
    parts = []
    for _, counts in row_parts(features):
        rest = sparse.csr_array((counts @ others)[:, np.newaxis])
        parts.append(narrow(sparse.csr_array(sparse.hstack([counts[:, columns], rest]))))
    return sparse.csr_array(sparse.vstack(parts)) if parts else sparse.csr_array((0, columns.size + 1))


def narrow(features: sparse.csr_array) -> sparse.csr_array:
    """Return the same counts in as few bytes as they need; those that are no whole numbers, such as weighted ones, as they
    are.
    """
    if not are_whole(features):
        return features
    counts = features.data.astype(np.min_scalar_type(int(features.data.max(initial=0))))
    return sparse.csr_array((counts, features.indices, features.indptr), shape=features.shape)


def are_whole(features: sparse.csr_array) -> bool:
    """Return whether all counts are whole numbers; weighted ones are not."""
    counts = features.data
    return bool(counts.dtype.kind != "f" or (np.floor(counts) == counts).all())
