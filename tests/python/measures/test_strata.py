"""Test sums by stratum and label against sums over units: observed, over all arrangements, without each delete-group."""

from __future__ import annotations

import numpy as np
import pytest

from biasledger.measures.engine import strata
from biasledger.measures.engine.design import Design
from biasledger.measures.engine.jackknife import DeleteGroups
from biasledger.measures.engine.resampling import permuted_labels
from biasledger.measures.engine.strata import StratumSums, without_each
from biasledger.measures.prices.items import group_sums, split_by_group

LABELS = np.array([0, 1, 2, 1, 0, 0, 2, 1], dtype=np.int8)
DESIGN = Design(LABELS, np.array([0, 0, 0, 0, 7, 7, 7, 3]))


def features_of(n_blocks: int) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 9, (LABELS.size, n_blocks, 4)).astype(float)


def designs() -> list[tuple[Design, int, int]]:
    """With the number of groups and of blocks; two blocks have two groups."""
    return [(DESIGN, 3, 1), (Design(np.minimum(LABELS, 1), DESIGN.strata), 2, 2)]


@pytest.mark.parametrize(("design", "n_groups", "n_blocks"), designs())
def test_sums_of_groups_and_their_means_are_those_of_the_arrangements(design, n_groups, n_blocks):
    features = features_of(n_blocks)
    sums = StratumSums.make(design, features, n_groups)
    of_groups = split_by_group(design.labels, features, n_groups).sum(axis=0)
    assert sums.groups().tolist() == of_groups.tolist()
    drawn = group_sums(np.concatenate(list(permuted_labels(design, 4000, seed=2))), features, n_groups)
    error = drawn.std(axis=0) / np.sqrt(4000)
    assert (np.abs(drawn.mean(axis=0) - sums.expected()) <= 4 * error + 1e-9).all()


def test_expected_sums_count_each_label_as_often_as_the_stratum_holds_it():
    # One item of each unit: how often a label is expected among the units of a stratum, two of whose four are of group 1.
    features = np.zeros((LABELS.size, 1, 2))
    features[0], features[7] = [[1, 0]], [[0, 1]]
    assert StratumSums.make(DESIGN, features, 3).expected().T.tolist() == [[0.25, 0.5, 0.25], [0, 1, 0]]


@pytest.mark.parametrize("max_cells", [1, 2**22])
@pytest.mark.parametrize(("design", "n_groups", "n_blocks"), designs())
def test_without_each_delete_group_they_are_those_of_the_other_units(
    design, n_groups, n_blocks, max_cells, monkeypatch
):
    monkeypatch.setattr(strata, "_MAX_CELLS", max_cells)
    features = features_of(n_blocks)
    deleted = DeleteGroups.of(np.array([4, 4, 5, 6, 7, 8, 8, 9]), design.labels)
    found = list(without_each(design, features, n_groups, deleted))
    assert len(found) == (deleted.cells.size if max_cells == 1 else 1)
    for name in ("groups", "expected", "responses"):
        at_once = np.concatenate([getattr(part, name)() for part in found])
        for group, values in enumerate(at_once):
            kept = deleted.of_unit != group
            alone = StratumSums.make(
                Design(design.labels[kept], design.strata[kept]), features[kept], n_groups
            )
            np.testing.assert_allclose(values, getattr(alone, name)(), rtol=1e-12)
