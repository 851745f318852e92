"""Test how often a change over turns is found: without one, at the threshold, and planted."""

from __future__ import annotations

import numpy as np
import pytest

from biasledger.measures.gaps.gap import Gap, gap
from biasledger.measures.gaps.units import Units
from tests.python.measures.designs import design_of

N_CONVERSATIONS, N_TURNS, N_AUDITS, THRESHOLD = 60, 4, 50, 0.2


def audit(seed: int, *, growth: float, lowered: float = 0.0) -> Gap:
    """Half of the conversations are about one group; each has a level and a change of its own."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], N_CONVERSATIONS // 2).astype(np.int8)
    turns = np.arange(N_TURNS) / (N_TURNS - 1)
    level = rng.normal(0, 0.6, labels.size) - lowered * labels
    change = rng.normal(0, 0.5, labels.size) + growth * labels
    values = level[:, None] + change[:, None] * turns + rng.normal(0, 0.7, (labels.size, N_TURNS))
    slopes = np.polynomial.polynomial.polyfit(turns, values.T, 1)[1]
    totals = slopes / np.sqrt(values.var(axis=0).mean())
    highest = 1 + float(np.abs(totals).max())
    units = Units(
        design_of(labels),
        np.arange(labels.size),
        np.ones(labels.size),
        totals,
    )
    return gap(units, lowest=-highest, highest=highest, n_permutations=199, alpha=0.05, seed=seed)


def is_alarm(found: Gap) -> bool:
    assert found.test is not None
    is_certain = found.test.p_value < 0.05 and not found.adjusted_low <= 0 <= found.adjusted_high
    return is_certain and abs(found.adjusted_gap) >= THRESHOLD


@pytest.mark.parametrize("lowered", [0.0, 1.0])
def test_a_difference_that_does_not_grow_is_no_alarm(lowered: float) -> None:
    alarms = sum(is_alarm(audit(seed, growth=0.0, lowered=lowered)) for seed in range(N_AUDITS))
    # Of 50, with 2.5 expected.
    assert alarms <= 6


def test_a_difference_that_grows_is_found() -> None:
    found = [audit(seed, growth=0.9) for seed in range(N_AUDITS)]
    assert sum(map(is_alarm, found)) >= 40
    # 0.9 in standard deviations of about 1.
    assert np.mean([one.adjusted_gap for one in found]) == pytest.approx(0.9, abs=0.1)


def test_a_difference_at_the_threshold_is_not_clear() -> None:
    found = [audit(seed, growth=THRESHOLD) for seed in range(N_AUDITS)]
    assert sum(max(one.adjusted_high, -one.adjusted_low) < THRESHOLD for one in found) <= 3
