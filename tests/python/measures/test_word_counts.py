"""Test sums of many texts' words in parts against plain arrays, without overflow of small integers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from biasledger.measures.engine import word_counts
from biasledger.measures.engine.design import Design, Moves, pooled
from biasledger.measures.engine.group_sums import group_sums, pooled_features
from biasledger.measures.engine.word_counts import (
    column_sums,
    narrow,
    row_parts,
    row_sums,
    rows_using,
    weighted_sums,
    with_rest,
)
from biasledger.measures.words.classifier_accuracy import classifier_accuracy, descriptors_test
from biasledger.measures.words.units import equal_lengths
from tests.python.measures.designs import design_of

N_TEXTS, N_WORDS = 300, 40


def texts(seed: int, *, most: int = 250) -> sparse.csr_array:
    """Texts of unlike lengths, some empty, with words that one uses alone and words that none uses."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, most, (N_TEXTS, N_WORDS)) * (rng.random((N_TEXTS, N_WORDS)) < 0.2)
    counts[::37] = 0
    counts[:, -3:] = 0
    counts[5, -1] = 7
    return narrow(sparse.csr_array(counts))


@pytest.fixture(params=[1, 50, 333, 10**9])
def cells_at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(word_counts, "CELLS_AT_ONCE", request.param)
    return int(request.param)


def test_parts_are_all_rows_in_order(cells_at_once: int) -> None:
    features = texts(1)
    parts = list(row_parts(features))
    assert [rows.start for rows, _ in parts] == [0, *(rows.stop for rows, _ in parts)][:-1]
    assert parts[-1][0].stop == N_TEXTS
    assert (len(parts) > 1) == (cells_at_once < features.nnz)
    assert (sparse.vstack([counts for _, counts in parts]) != features).nnz == 0


@pytest.mark.usefixtures("cells_at_once")
@pytest.mark.parametrize("n_rows", [1, word_counts._BY_WORD_FROM - 1, word_counts._BY_WORD_FROM, 40])
def test_sums_are_those_of_plain_arrays(n_rows: int) -> None:
    features = texts(2)
    assert features.dtype == np.uint8
    plain = features.toarray().astype(np.float64)
    weights = np.random.default_rng(3).random((n_rows, N_TEXTS))
    np.testing.assert_allclose(weighted_sums(weights, features), weights @ plain, rtol=1e-12)
    # Which way round does not tell in a single bit.
    in_rows = [weighted_sums(weights[row : row + 1], features)[0] for row in range(n_rows)]
    np.testing.assert_array_equal(weighted_sums(weights, features), in_rows)
    labels = np.random.default_rng(4).integers(0, 2, (n_rows, N_TEXTS), dtype=np.int8)
    np.testing.assert_array_equal(weighted_sums(labels, features), labels @ plain)
    np.testing.assert_array_equal(column_sums(features), plain.sum(axis=0))
    np.testing.assert_array_equal(row_sums(features), plain.sum(axis=1))
    np.testing.assert_array_equal(rows_using(features), (plain > 0).sum(axis=0))
    np.testing.assert_allclose(rows_using(features, weights[0]), weights[0] @ (plain > 0), rtol=1e-12)
    kept = rows_using(features) > 1
    np.testing.assert_array_equal(
        with_rest(features, kept).toarray(), np.column_stack([plain[:, kept], plain[:, ~kept].sum(axis=1)])
    )
    of_row = np.arange(N_TEXTS) % 7
    units = design_of(np.zeros(7, dtype=np.int8))
    summed = Moves(units, of_row).summed(features).toarray()
    np.testing.assert_array_equal(summed, [plain[of_row == unit].sum(axis=0) for unit in range(7)])


def test_names_are_judged_alike_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    features, of_descriptor = texts(7), np.arange(N_TEXTS) % 12
    descriptors = design_of(np.arange(12) % 2)
    whole = descriptors_test(features, of_descriptor, descriptors, n_permutations=99, seed=1)
    monkeypatch.setattr(word_counts, "CELLS_AT_ONCE", 100)
    parts = descriptors_test(features, of_descriptor, descriptors, n_permutations=99, seed=1)
    assert parts.p_value == whole.p_value
    assert parts.observed == pytest.approx(whole.observed, rel=1e-12)


def test_no_texts_have_no_sums() -> None:
    nothing = sparse.csr_array((0, 3))
    assert list(column_sums(nothing)) == [0, 0, 0]
    assert row_sums(nothing).size == 0
    assert with_rest(nothing, np.array([True, False, True])).shape == (0, 3)
    assert narrow(sparse.csr_array((4, 3))).shape == (4, 3)


@pytest.mark.parametrize(
    ("largest", "dtype"),
    [(255.0, np.uint8), (256.0, np.uint16), (70_000.0, np.uint32), (2.5, np.float64)],
)
def test_counts_take_as_few_bytes_as_they_need(largest: float, dtype: type) -> None:
    narrowed = narrow(sparse.csr_array(np.array([[1.0, largest], [0.0, 3.0]])))
    assert narrowed.dtype == dtype
    assert narrowed.toarray().tolist() == [[1.0, largest], [0.0, 3.0]]


def test_texts_of_equal_lengths_are_the_same_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    features = texts(4)
    design = Design((np.arange(N_TEXTS) % 2).astype(np.int8), np.arange(N_TEXTS) % 3)
    monkeypatch.setattr(word_counts, "CELLS_AT_ONCE", 10**9)
    whole, before = equal_lengths(features, design, 5), features.toarray()
    monkeypatch.setattr(word_counts, "CELLS_AT_ONCE", 200)
    assert (equal_lengths(features, design, 5) != whole).nnz == 0
    assert 0 < whole.sum() < features.sum()
    np.testing.assert_array_equal(features.toarray(), before)


def test_what_is_measured_does_not_depend_on_the_bytes_of_a_count() -> None:
    few, many = texts(6), texts(6).astype(np.float64)
    design = design_of(np.arange(N_TEXTS) % 2)
    labels = design.labels[np.newaxis, :]
    np.testing.assert_array_equal(group_sums(labels, few), group_sums(labels, many))
    blocks = pooled(design, 1, n_blocks=20)
    assert blocks.design.n_blocks is not None
    moved = blocks.design.labels[np.newaxis, :]
    of_blocks = [group_sums(moved, pooled_features(features, blocks)) for features in (few, many)]
    np.testing.assert_array_equal(of_blocks[0], of_blocks[1])
    clusters = np.arange(N_TEXTS)
    measured = [
        classifier_accuracy(features, design, clusters, n_permutations=99, seed=1, weighting="counts")
        for features in (few, many)
    ]
    assert measured[0].balanced_accuracy == measured[1].balanced_accuracy
    assert measured[0].test == measured[1].test
