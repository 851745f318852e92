"""Test blocks of pooled units: exact, with the null and power of single units, and the same numbers in every measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import combinations, product

import numpy as np
import pytest
from scipy import sparse, stats

from biasledger.measures import lists, markers
from biasledger.measures.decisions import impact_ratios
from biasledger.measures.engine import design as engine
from biasledger.measures.engine.design import N_BLOCKS, Design, Labels, pooled
from biasledger.measures.engine.resampling import PermutationResult, permutation_test
from biasledger.measures.gaps import permutations as gap_tests
from biasledger.measures.gaps.gap import gap
from biasledger.measures.gaps.units import Units
from biasledger.measures.words import condensed, log_odds
from biasledger.measures.words import divergence as of_words
from tests.python.measures.designs import design_of

_SINGLY = partial(pooled, n_blocks=10**9)


def difference(
    values: np.ndarray, design: Design, *, n_blocks: int = N_BLOCKS, seed: int = 1
) -> PermutationResult:
    """The test of a marked less a reference mean, large is extreme."""
    blocks = pooled(design, seed, n_blocks=n_blocks)
    sums, total = blocks.sums(values), values.sum()
    n_marked, n_reference = design.count(1), design.count(0)

    def statistic(labels: Labels) -> np.ndarray:
        marked = labels.astype(np.float64) @ sums
        return marked / n_marked - (total - marked) / n_reference

    return permutation_test(blocks.design, statistic, n_permutations=199, seed=seed, stop_after=None)


class TestPooled:
    def test_up_to_twice_the_blocks_units_move_singly(self):
        design = design_of(np.arange(2 * N_BLOCKS) % 2)
        blocks = pooled(design, seed=1)
        assert blocks.design is design
        np.testing.assert_array_equal(blocks.of_row, np.arange(design.n_units))
        assert design.n_blocks is None

    def test_blocks_of_a_stratum_are_of_one_label_and_equal_size_and_what_is_left_over_stays(self):
        rng = np.random.default_rng(1)
        labels, strata = (rng.random(9_007) < 0.4).astype(np.int8), rng.integers(0, 3, 9_007)
        blocks = pooled(Design(labels, strata), seed=2)
        moved = blocks.design
        sizes = np.bincount(blocks.of_row)
        stays = moved.strata > 2
        assert set(sizes[~stays]) == {5}
        assert moved.n_blocks == np.count_nonzero(~stays) == pytest.approx(9_007 / 5, abs=6)
        np.testing.assert_array_equal(moved.labels[blocks.of_row], labels)
        in_blocks = ~stays[blocks.of_row]
        assert len(np.unique(np.column_stack([blocks.of_row, strata])[in_blocks], axis=0)) == moved.n_blocks
        # Every label and stratum has less than a block, so none can move.
        assert (~in_blocks).sum() < 3 * 2 * 5
        assert np.bincount(moved.strata)[moved.strata[stays]].max() == 1

    def test_small_strata_with_the_same_units_move_together(self):
        strata = np.repeat(np.arange(3_000), [2] * 2_000 + [3] * 1_000)
        labels = np.concatenate([np.tile([0, 1], 2_000), np.tile([0, 1, 1], 1_000)]).astype(np.int8)
        blocks = pooled(Design(labels, strata), seed=1)
        # 7,000 units are four times as many as blocks: four strata at a time, of two or of three units.
        assert blocks.design.n_blocks == 500 * 2 + 250 * 3
        assert set(np.bincount(blocks.of_row)) == {4}
        for together in np.unique(blocks.together):
            assert len(set(np.bincount(strata)[strata[blocks.together == together]])) == 1
        np.testing.assert_array_equal(blocks.design.strata[blocks.of_row], blocks.together)

    def test_a_small_group_next_to_a_huge_one_keeps_its_units(self):
        labels = (np.arange(100_000) < 15).astype(np.int8)
        blocks = pooled(design_of(labels), seed=1)
        assert blocks.design.n_blocks == 15 + N_BLOCKS
        assert blocks.design.can_move()

    def test_a_stratum_of_one_group_moves_nothing(self):
        design = Design(np.repeat([0, 1, 0], 2_000).astype(np.int8), np.repeat([0, 0, 1], 2_000))
        blocks = pooled(design, seed=1)
        assert blocks.design.n_blocks == pytest.approx(4_000 / 3, abs=2)
        assert (blocks.together[4_000:] == blocks.together[-1]).all()

    def test_it_depends_on_the_seed_alone(self):
        design = design_of(np.arange(9_000) % 2)
        first, again, other = (pooled(design, seed).of_row for seed in (1, 1, 2))
        assert (first == again).all()
        assert (first != other).any()


def _share_up_to(alphas: list[float], p_values: list[float]) -> list[float]:
    return [float(np.mean(np.array(p_values) <= alpha + 1e-12)) for alpha in alphas]


class TestExactness:
    """Every assignment of labels is as likely: over all of them, p falls below alpha no more often than alpha."""

    def check(self, designs: list[Design], n_blocks: int, smallest: float):
        values = np.random.default_rng(3).normal(size=designs[0].n_units) ** 3
        p_values, of_sizes = [], Counter()
        for number, design in enumerate(designs):
            blocks = pooled(design, number, n_blocks=n_blocks)
            sums = blocks.sums(values)
            arrangements = all_arrangements(blocks.design)
            statistics = arrangements @ sums
            p_values.append(float(np.mean(statistics >= blocks.design.labels @ sums - 1e-9)))
            of_sizes[len(arrangements)] += 1
        alphas = [smallest * step for step in range(1, round(1 / smallest))]
        for alpha, share in zip(alphas, _share_up_to(alphas, p_values), strict=True):
            # The designs are all there are, the blocks one draw of each.
            assert share == pytest.approx(alpha, abs=4 * np.sqrt(alpha * (1 - alpha) / len(designs)))
        assert of_sizes == {round(1 / smallest): len(designs)}

    def test_units_of_one_stratum(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(engine, "_LEAST_BLOCKS", 1)
        designs = [
            design_of(np.isin(np.arange(12), chosen).astype(np.int8)) for chosen in combinations(range(12), 6)
        ]
        self.check(designs, n_blocks=4, smallest=1 / 6)

    def test_pairs_that_move_together(self):
        strata = np.repeat(np.arange(10), 2)
        designs = [
            Design(np.array([(bit, 1 - bit) for bit in bits], dtype=np.int8).ravel(), strata)
            for bits in product((0, 1), repeat=10)
        ]
        self.check(designs, n_blocks=5, smallest=1 / 8)


def all_arrangements(design: Design) -> np.ndarray:
    """Labels of two groups in every arrangement inside strata, (n_arrangements, n_units)."""
    rows = [np.zeros(0)]
    order = np.argsort(design.strata, kind="stable")
    for stratum in np.unique(design.strata):
        labels = design.labels[design.strata == stratum]
        of_stratum = [
            np.isin(np.arange(labels.size), chosen).astype(np.float64)
            for chosen in combinations(range(labels.size), int(labels.sum()))
        ]
        rows = [np.concatenate([row, part]) for row in rows for part in of_stratum]
    arrangements = np.empty((len(rows), design.n_units))
    arrangements[:, order] = rows
    return arrangements


@pytest.mark.parametrize(
    ("share", "n_strata"), [(0.5, 1), (0.1, 3), (0.5, 200)], ids=["one stratum", "unequal", "pairs"]
)
def test_p_values_are_uniform_without_a_difference(share: float, n_strata: int):
    rng = np.random.default_rng(7)
    p_values = []
    for seed in range(300):
        n = 400
        strata = np.arange(n) % n_strata
        labels = (np.arange(n) // n_strata % 2 if n_strata > 100 else rng.random(n) < share).astype(np.int8)
        values = rng.standard_gamma(0.3, size=n) + rng.normal(size=n_strata)[strata]
        p_values.append(difference(values, Design(labels, strata), n_blocks=40, seed=seed).p_value)
    assert stats.kstest(p_values, stats.uniform(0, 1).cdf).pvalue > 0.01


def test_an_effect_is_seen_as_by_single_units():
    rng = np.random.default_rng(5)
    labels, strata = (rng.random(3_000) < 0.3).astype(np.int8), rng.integers(0, 4, 3_000)
    values = rng.normal(size=3_000) + 0.1 * labels + strata
    design = Design(labels, strata)
    shifts, spreads = [], []
    for seed in range(30):
        single, blocks = (difference(values, design, n_blocks=n, seed=seed) for n in (3_000, 300))
        assert (single.n_blocks, blocks.observed) == (None, pytest.approx(single.observed))
        assert blocks.n_blocks == pytest.approx(300, abs=10)
        shifts.append((blocks.null_mean - single.null_mean) / single.null_sd)
        spreads.append(blocks.null_sd / single.null_sd)
    # Which units make a block moves the mean of one null by a fifth of its deviation, and that of thirty by a thirtieth.
    assert np.mean(shifts) == pytest.approx(0, abs=0.12)
    assert np.mean(spreads) == pytest.approx(1, abs=0.05)


def _words(seed: int) -> tuple[sparse.csr_array, Design]:
    rng = np.random.default_rng(seed)
    labels, strata = np.repeat([0, 1], 3_000).astype(np.int8), np.arange(6_000) % 3
    rates = np.tile(1 / np.arange(2, 62), (2, 1))
    rates[1, :6] *= 1.3
    return sparse.csr_array(rng.poisson(rates[labels]).astype(np.float64)), Design(labels, strata)


def _divergence() -> PermutationResult:
    test = of_words.divergence(*_words(1), n_permutations=299, seed=1).test
    assert test is not None
    return test


def _first_word() -> PermutationResult:
    features, design = _words(1)
    prior = np.asarray(features.sum(axis=0)).ravel()
    family = log_odds.marked_words(
        features, design, prior=prior, prior_total=prior.sum(), n_permutations=299, alpha=0.05, seed=1
    ).family
    assert family is not None
    return PermutationResult(
        0.0, family.null_mean[0], family.null_sd[0], family.p_value_adjusted[0], 299, False, family.n_blocks
    )


def _gap(shape: str) -> PermutationResult:
    rng = np.random.default_rng(4)
    n = 6_000
    labels = np.tile([0, 1], n // 2).astype(np.int8)
    strata = np.arange(n) // (2 if shape == "pairs" else n // 3)
    chance = np.clip(0.5 + 0.03 * labels + 0.1 * rng.normal(size=strata.max() + 1)[strata], 0, 1)
    units = Units(
        Design(labels, strata),
        strata if shape == "pairs" else np.arange(n),
        np.ones(n),
        (rng.random(n) < chance).astype(np.float64),
    )
    test = gap(units, lowest=0, highest=1, n_permutations=299, alpha=0.05, seed=1).test
    assert test is not None
    return test


def _impact() -> PermutationResult:
    rng = np.random.default_rng(6)
    labels = rng.integers(0, 3, 9_000).astype(np.int8)
    selected = (rng.random(9_000) < 0.4 + 0.03 * (labels == 2)).astype(np.float64)
    units = Units(design_of(labels), np.arange(9_000), np.ones(9_000), selected)
    test = impact_ratios.impact_test(units, n_permutations=1_999, alpha=0.05, seed=1, stop_after=None).test
    assert test is not None
    return test


def _spread() -> PermutationResult:
    rng = np.random.default_rng(8)
    values = np.clip(0.5 + 0.2 * rng.normal(size=(2_000, 4)) + np.array([0, 0, 0.02, 0]), 0, 1)
    values[rng.random(values.shape) < 0.05] = np.nan
    test = lists.spread(values, n_permutations=299, alpha=0.05, seed=1)["range"].test
    assert test is not None
    return test


def _robustness() -> PermutationResult:
    rng = np.random.default_rng(9)
    perturbed, rerun = np.clip(rng.normal(0.5, 0.2, (2, 5_000)), 0, 1)
    test = lists.robustness(perturbed - 0.02, rerun, n_permutations=299, seed=1).test
    assert test is not None
    return test


def _ratio() -> PermutationResult:
    rng = np.random.default_rng(10)
    n = np.ones(5_000)
    units = markers.RatioUnits(np.arange(5_000), n, (rng.random(5_000) < 0.53).astype(np.float64), n)
    test = markers.stereotype_ratio(units, n_permutations=299, alpha=0.05, seed=1).test
    assert test is not None
    return test


@pytest.mark.parametrize(
    ("module", "measured"),
    [
        pytest.param(condensed, _divergence, id="divergence"),
        pytest.param(condensed, _first_word, id="a marked word"),
        pytest.param(gap_tests, partial(_gap, "groups"), id="gap"),
        pytest.param(gap_tests, partial(_gap, "pairs"), id="gap inside pairs"),
        pytest.param(impact_ratios, _impact, id="impact ratio"),
        pytest.param(lists, _spread, id="spread"),
        pytest.param(lists, _robustness, id="robustness"),
        pytest.param(markers, _ratio, id="stereotype ratio"),
    ],
)
def test_a_measure_says_the_same_of_blocks(
    module: object, measured: Callable[[], PermutationResult], monkeypatch: pytest.MonkeyPatch
):
    blocks = measured()
    with monkeypatch.context() as patch:
        patch.setattr(module, "pooled", _SINGLY)
        single = measured()
    assert single.n_blocks is None
    assert blocks.n_blocks is not None
    assert blocks.n_blocks <= 2 * N_BLOCKS
    assert blocks.observed == pytest.approx(single.observed)
    assert blocks.null_sd == pytest.approx(single.null_sd, rel=0.25)
    assert blocks.null_mean == pytest.approx(single.null_mean, abs=0.35 * single.null_sd)
    assert blocks.p_value == pytest.approx(single.p_value, abs=0.03)
