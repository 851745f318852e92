"""Test sums of marked units' features: in parts or all at once, in single or double precision."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from biasledger.measures.engine import group_sums as module
from biasledger.measures.engine import resampling
from biasledger.measures.engine.design import pooled
from biasledger.measures.engine.group_sums import group_sums, in_parts, of_group_sums, pooled_features
from tests.python.measures.designs import design_of


def test_group_sums_are_the_sums_of_marked_units():
    rng = np.random.default_rng(0)
    features = rng.poisson(1.0, size=(7, 4)).astype(float)
    labels = rng.integers(0, 2, size=(5, 7)).astype(np.int8)
    expected = [
        [sum(features[unit, j] for unit in range(7) if row[unit] == 1) for j in range(4)] for row in labels
    ]
    assert group_sums(labels, sparse.csr_array(features)).tolist() == expected


@pytest.fixture(params=[1, 11, 30, 10_000], ids=lambda n_cells: f"{n_cells} cells")
def cells(request, monkeypatch):
    monkeypatch.setattr(resampling, "_CACHED_SUMS", request.param)


@pytest.mark.usefixtures("cells")
@pytest.mark.parametrize("n_arrangements", [0, 1, 7, 8])
def test_of_group_sums_is_the_statistic_of_all_sums(n_arrangements):
    rng = np.random.default_rng(1)
    features = rng.poisson(1.0, size=(9, 5)).astype(np.uint8)
    labels = rng.integers(0, 2, size=(n_arrangements, 9)).astype(np.int8)
    sums = labels.astype(float) @ features
    sparse_features = sparse.csr_array(features.astype(float))
    for statistic in (np.log1p, lambda sums: np.log1p(sums).sum(axis=1)):
        expected = statistic(sums)
        found = [of_group_sums(statistic, one)(labels) for one in (features.astype(float), sparse_features)]
        assert [one.tolist() for one in [*found, in_parts(statistic, sums)]] == [expected.tolist()] * 3


def counts_of(largest: int) -> np.ndarray:
    """Counts of 60 units: nearly all use some features, few use others, none uses one; the largest count is in the first."""
    rng = np.random.default_rng(2)
    features = rng.poisson(np.repeat([3.0, 0.02, 0.0], [4, 8, 1]), size=(60, 13))
    features[::7, 0] = largest
    return features


# Nearly all units use the first feature and few the sixth; their sums lie on both sides of what single precision holds.
@pytest.mark.parametrize("largest", [9, 2**20, 2**24 - 3 * 60, 2**24, 2**30])
@pytest.mark.parametrize("place", [0, 5])
@pytest.mark.parametrize("is_sparse", [True, False])
def test_whole_numbers_add_up_exactly_however_large(largest, place, is_sparse):
    features = counts_of(0)
    features[3, place] = largest
    labels = np.random.default_rng(3).integers(0, 2, size=(9, 60)).astype(np.int8)
    given = sparse.csr_array(features) if is_sparse else features.astype(float)
    found = of_group_sums(lambda sums: sums, given)(labels)
    assert found.dtype == np.float64
    assert found.tolist() == (labels.astype(np.int64) @ features).tolist()


@pytest.mark.parametrize("sign", [1, -1])
def test_single_precision_takes_what_it_holds_exactly(sign):
    def fits(features: np.ndarray) -> bool:
        return module._adds_up_in_single(sparse.csr_array(features))

    most = np.full((2, 3), 2.0**23)
    assert fits(sign * most)
    one_more = np.array([[0, 0, 1], [0, 0, 0]])
    assert not fits(sign * (most + one_more))
    # Signs cancel out in the sum of all units, and in no sum of some.
    assert not fits(np.array([[2.0**24], [-1.0]]))
    assert not fits(sign * np.array([[0.0, 0.5]]))
    assert not fits(sign * np.array([[np.inf]]))
    assert not fits(np.array([[np.nan]]))
    assert fits(np.zeros((0, 3)))


@pytest.mark.parametrize(("dtype", "extreme"), [("int64", -(2**63)), ("uint64", 2**63), ("int8", -128)])
def test_sums_of_whole_numbers_do_not_wrap_round(dtype, extreme):
    features = sparse.csr_array(np.full((2**18, 1), extreme, dtype=dtype))
    assert not module._adds_up_in_single(features)


def test_features_are_looked_at_and_not_changed():
    counts = (np.array([3.0, 1.0, 2.0]), np.array([2, 0, 0]), np.array([0, 3]))
    features = sparse.csr_array(counts, shape=(1, 3))
    assert module._adds_up_in_single(features)
    assert features.indices.tolist() == [2, 0, 0]


@pytest.mark.parametrize(("scale", "dtype"), [(1, np.float32), (1 / 3, np.float64), (2**22, np.float64)])
def test_blocks_are_dense_in_single_precision_where_it_holds_their_sums(scale, dtype):
    rng = np.random.default_rng(5)
    features = sparse.csr_array(rng.poisson(2.0, size=(600, 7)) * scale)
    design = design_of(np.arange(600) % 2)
    blocks = pooled(design, 1, n_blocks=20)
    dense = pooled_features(features, blocks)
    assert isinstance(dense, np.ndarray)
    assert dense.dtype == dtype
    moved = blocks.design.labels[np.newaxis, :]
    assert group_sums(moved, dense) == pytest.approx(
        design.labels[np.newaxis] @ features.toarray(), rel=1e-14
    )


@pytest.mark.parametrize("is_sparse", [True, False])
def test_weights_that_are_no_whole_numbers_keep_their_digits(is_sparse):
    features = counts_of(5) / 3
    labels = np.random.default_rng(4).integers(0, 2, size=(9, 60)).astype(np.int8)
    found = of_group_sums(lambda sums: sums, sparse.csr_array(features) if is_sparse else features)(labels)
    assert found == pytest.approx(labels @ features, rel=1e-14, abs=0)
