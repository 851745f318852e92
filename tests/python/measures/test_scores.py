"""Test gaps of scores on other ranges than 0 to 1, which are compared by how bad they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from biasledger.measures.engine.design import Design
from biasledger.measures.gaps.gap import Gap, gap
from biasledger.measures.gaps.units import Units
from tests.python.measures.designs import design_of

ALPHA, THRESHOLD = 0.05, 0.10
N_NAMES, N_TEXTS, N_AUDITS = 12, 5, 120


def compounds(seed: int, *, shift: float) -> Units:
    """Texts of names in VADER's range, -1 to 1: three in ten are 0, the others lean to praise; group 1's lie lower by `shift`."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.array([0, 1], dtype=np.int8), N_NAMES)
    scores = 2 * rng.beta(2.5, 1.5, (labels.size, N_TEXTS)) - 1 + rng.normal(0, 0.1, (labels.size, 1))
    scores[rng.random(scores.shape) < 0.3] = 0
    scores = np.clip(scores - shift * labels[:, np.newaxis], -1, 1)
    design = design_of(labels)
    return Units(design, np.arange(labels.size), np.full(labels.size, float(N_TEXTS)), scores.sum(axis=1))


def of_badness(units: Units, n_permutations: int, seed: int) -> Gap:
    """The gap as the warehouse measures it where lower is worse: from 0, the better end, to 1."""
    bad = replace(units, total=(units.n - units.total) / 2)
    return gap(bad, lowest=0, highest=1, n_permutations=n_permutations, alpha=ALPHA, seed=seed)


@pytest.mark.parametrize("shift", [0.0, 0.3])
def test_a_gap_of_badness_is_the_gap_of_scores_in_shares_of_their_range(shift: float) -> None:
    units = compounds(1, shift=shift)
    bad = of_badness(units, 199, 5)
    own = gap(units, lowest=-1, highest=1, n_permutations=199, alpha=ALPHA, seed=5)
    assert bad.adjusted_gap == pytest.approx(-own.adjusted_gap / 2)
    assert (bad.adjusted_low, bad.adjusted_high) == pytest.approx(
        (-own.adjusted_high / 2, -own.adjusted_low / 2)
    )
    assert bad.p_case == own.p_case
    assert 1 - 2 * bad.mean_marked == pytest.approx(own.mean_marked)


@pytest.mark.parametrize("factor", [100, 0.37, -1])
@pytest.mark.parametrize("n_names", [12, 600])
def test_draws_do_not_depend_on_the_scale_or_direction_of_scores(factor: float, n_names: int) -> None:
    """Names in four templates with unequal numbers of answers, of which many tie; the cases of 600 a group are pooled."""
    rng = np.random.default_rng(n_names)
    n_rows = 8 * n_names
    design = Design(
        np.repeat(np.array([0, 1], dtype=np.int8), 4 * n_names), np.tile(np.arange(4), 2 * n_names)
    )
    n = rng.integers(1, 4, n_rows).astype(float)
    total = n * (rng.integers(1, 6, n_rows) / 10)
    names = np.repeat(np.arange(2 * n_names), 4)
    units = Units(design, names, n, total, names=names)

    def tested(given: Units) -> Gap:
        bounds = sorted([0.0, factor if given is not units else 1.0])
        return gap(given, lowest=bounds[0], highest=bounds[1], n_permutations=499, alpha=ALPHA, seed=3)

    own, scaled = tested(units), tested(replace(units, total=total * factor))
    assert scaled.adjusted_gap == pytest.approx(factor * own.adjusted_gap)
    assert (scaled.p_case, scaled.p_name) == (own.p_case, own.p_name)


def test_false_alarms_are_rare_where_no_group_is_scored_worse() -> None:
    found = [of_badness(compounds(seed, shift=0), 99, seed) for seed in range(N_AUDITS)]
    # Two standard errors above one in twenty.
    assert np.mean([one.p_case < ALPHA for one in found]) <= ALPHA + 2 * np.sqrt(0.05 * 0.95 / N_AUDITS)
    alarms = [one.p_case < ALPHA and abs(one.adjusted_gap) >= THRESHOLD for one in found]
    assert np.mean(alarms) <= ALPHA


def test_a_gap_at_the_threshold_is_not_clear_and_a_large_one_is_found() -> None:
    # Texts of 0 move, too; what is cut off at -1 is made up for.
    at_it = [of_badness(compounds(seed, shift=2 * THRESHOLD + 0.01), 0, seed) for seed in range(N_AUDITS)]
    assert np.mean([one.adjusted_gap for one in at_it]) == pytest.approx(THRESHOLD, abs=0.01)
    clear = [max(-one.adjusted_low, one.adjusted_high) < THRESHOLD for one in at_it]
    assert np.mean(clear) <= ALPHA / 2 + 2 * np.sqrt(0.025 * 0.975 / N_AUDITS)
    large = [of_badness(compounds(seed, shift=0.6), 99, seed) for seed in range(50)]
    assert np.mean([one.p_case < ALPHA and one.adjusted_low > 0 for one in large]) > 0.9
