"""Feature sums of the units of a group, for many arrangements of labels at once, and statistics of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from biasledger.measures.engine.design import Floats, Labels, Moves
from biasledger.measures.engine.resampling import cached_rows
from biasledger.measures.engine.word_counts import are_whole, weighted_sums

Dense = NDArray[np.float64] | NDArray[np.float32]

EXACT_IN_SINGLE = 2**24
"""Whole numbers up to here, and sums of them, are exact in single precision, in any order."""

# Share of units from which on a feature is added up faster as one of a full matrix: of all features, and of some.
_DENSE_SHARE = 0.15
_COMMON_SHARE = 0.08
_MAX_DENSE_CELLS = 2**26
_PARTS_A_PRODUCT = 16


def pooled_features(features: sparse.csr_array, blocks: Moves) -> sparse.csr_array | Dense:
    """Features of blocks as of_group_sums takes them fastest: many units together use most features, and are then dense, in
    single precision where that holds all their sums.
    """
    if blocks.design.n_blocks is None:
        return features
    summed = blocks.summed(features)
    n_cells = summed.shape[0] * summed.shape[1]
    if summed.nnz <= _DENSE_SHARE * n_cells or n_cells > _MAX_DENSE_CELLS:
        return summed
    return np.asarray(summed.astype(np.float32 if _adds_up_in_single(summed) else np.float64).toarray())


def group_sums(labels: Labels, features: sparse.csr_array | Dense) -> Floats:
    """Feature sums of the units labelled 1: (b, n_units) and (n_units, n_features) to (b, n_features)."""
    if isinstance(features, np.ndarray):
        return np.asarray(labels.astype(features.dtype) @ features, dtype=np.float64)
    return weighted_sums(labels, features)


def in_parts(statistic: Callable[[Floats], Floats], sums: Floats) -> Floats:
    """Return a statistic of each row of sums (b, n_features), of a few rows at a time: what it makes on its way, several arrays
    of their size, then stays in the processor's cache, which is up to four times as fast. The values are the same.
    """
    return np.concatenate([statistic(part) for part in _parts_of(sums)])


def of_group_sums(
    statistic: Callable[[Floats], Floats], features: sparse.csr_array | Dense
) -> Callable[[Labels], Floats]:
    """Return a statistic of feature sums, (b, n_features), as one of labels: of units labelled 1. Labels and sums as in
    group_sums.
    """
    sums_of = sums_in_parts(features)
    return lambda labels: np.concatenate([statistic(sums) for sums in sums_of(labels)])


def sums_in_parts(features: sparse.csr_array | Dense) -> Callable[[Labels], Iterator[Floats]]:
    """group_sums of these features, of a few arrangements of labels at a time, as in_parts says.

    Dense sums are made at once: one large product is faster. Whole numbers are added up in single precision, in half of the time,
    where it holds their sums exactly, in any order. Sparse features are held a second time, as they are added up fastest: in at
    most 50 bytes a count.
    """
    if isinstance(features, np.ndarray):
        return lambda labels: _parts_of(group_sums(labels, features))
    is_exact = _adds_up_in_single(features)
    by_feature = sparse.csr_array(features.T, dtype=np.float32 if is_exact else np.float64)
    n_features, n_units = by_feature.shape
    n_using = np.diff(by_feature.indptr)
    # Sums that round are added up in the order of units, as all others of them are: a total less a sum is then never below 0.
    is_common = n_using > (_COMMON_SHARE * n_units if is_exact else n_units)
    common, full = np.flatnonzero(is_common), np.ascontiguousarray(by_feature[is_common].toarray().T)
    is_rare = np.repeat(~is_common, n_using)
    starts = np.concatenate([[0], np.cumsum(np.where(is_common, 0, n_using))])
    rare = sparse.csr_array(
        (by_feature.data[is_rare], by_feature.indices[is_rare], starts), shape=by_feature.shape
    )

    def sums_of(labels: Labels) -> Iterator[Floats]:
        # The product of many arrangements at once takes less time.
        for rows in cached_rows(len(labels), n_features // _PARTS_A_PRODUCT):
            marked = labels[rows].astype(full.dtype)
            of_rare, of_common = rare @ np.ascontiguousarray(marked.T), marked @ full
            for part in cached_rows(len(marked), n_features):
                sums = of_rare[:, part].T.astype(np.float64, order="C")
                sums[:, common] = of_common[part]
                yield sums

    return sums_of


def _parts_of(sums: Floats) -> Iterator[Floats]:
    return (sums[rows] for rows in cached_rows(*sums.shape))


def _adds_up_in_single(features: sparse.csr_array) -> bool:
    """Return whether every sum of counts of a feature is a whole number that single precision holds."""
    counts = np.abs(features.data.astype(np.float64))
    sums = np.bincount(features.indices, weights=counts, minlength=features.shape[1])
    return are_whole(features) and bool(sums.max(initial=0) <= EXACT_IN_SINGLE)
