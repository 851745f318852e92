"""Test the spreads that chance alone gives, without the groups' differences and absent lists."""

from __future__ import annotations

import numpy as np
import pytest

from biasledger.measures.engine.spreads import Chance, beyond_chance, lower_end
from biasledger.measures.lists import STATISTICS, spread
from biasledger.measures.prices.means import price_spread
from tests.python.measures.simulated_prices import places, units_of


def similarities(rng: np.random.Generator, differs: float, n_subjects: int = 20, n_groups: int = 4):
    values = rng.normal(0.5, 0.1, (n_subjects, 1)) + rng.normal(0, 0.15, (n_subjects, n_groups))
    values[:, 0] -= differs
    return values.clip(0, 1)


def test_squares_of_two_groups_add_up() -> None:
    rng = np.random.default_rng(1)
    squares = []
    for seed in range(200):
        values = rng.normal([0.5, 0.6], 0.15, (15, 2))
        result = spread(values, n_permutations=19, alpha=0.05, seed=seed)["range"]
        squares.append(result.value**2 - result.chance**2)
    error = np.std(squares) / np.sqrt(len(squares))
    assert np.mean(squares) == pytest.approx(0.1**2, abs=4 * error)


def test_the_difference_that_is_looked_for_is_no_part_of_chance() -> None:
    values = similarities(np.random.default_rng(2), 0.0) / 2
    values[3, 1] = values[7, 0] = np.nan
    apart = values.copy()
    apart[:, 0] += 0.4
    plain, shifted = (spread(one, n_permutations=199, alpha=0.05, seed=3) for one in (values, apart))
    for name in STATISTICS:
        assert shifted[name].chance == pytest.approx(plain[name].chance)
        assert shifted[name].test.null_mean > 1.5 * plain[name].test.null_mean
        assert shifted[name].debiased == pytest.approx(
            np.sqrt(shifted[name].value ** 2 - shifted[name].chance ** 2)
        )


def test_a_group_that_differs_is_found_as_often_as_its_p_allows() -> None:
    found = significant = old = 0
    rng = np.random.default_rng(4)
    for seed in range(100):
        result = spread(similarities(rng, 0.13), n_permutations=199, alpha=0.05, seed=seed)["range"]
        significant += result.test.p_value < 0.05
        found += result.test.p_value < 0.05 and result.debiased >= 0.1 and result.interval_low > 0
        old += result.test.p_value < 0.05 and result.test.debiased >= 0.1
    assert found >= 0.9 * significant >= 60
    assert old < 50


@pytest.mark.parametrize("n_groups", [4, 7])
def test_groups_that_are_alike_seldom_pass_the_threshold(n_groups: int) -> None:
    rng = np.random.default_rng(5)
    alarms = 0
    for seed in range(150):
        values = similarities(rng, 0.0, n_groups=n_groups)
        result = spread(values, n_permutations=199, alpha=0.05, seed=seed)["range"]
        alarms += result.test.p_value < 0.05 and result.debiased >= 0.1
        assert (result.interval_low > 0) == (result.test.p_value < 0.05 and result.debiased > 0)
    assert alarms <= 14


def test_one_subject_tells_no_noise_from_groups() -> None:
    result = spread(np.array([[0.2, 0.6]]), n_permutations=19, alpha=0.05, seed=1)["range"]
    assert (result.value, result.chance, result.debiased) == (
        pytest.approx(0.4),
        pytest.approx(0.4),
        pytest.approx(0.0, abs=1e-6),
    )


def test_a_dearer_place_is_no_part_of_chance() -> None:
    alike, apart = (
        price_spread(
            places(np.random.default_rng(6), n_words=5, shift=shift), n_permutations=99, alpha=0.05, seed=2
        )
        for shift in (0.0, 1.0)
    )
    assert alike is not None
    assert apart is not None
    assert apart.chance == pytest.approx(alike.chance, rel=0.25)
    assert apart.test is not None
    assert apart.test.null_mean > 1.5 * alike.chance
    assert apart.debiased == pytest.approx(np.sqrt(apart.spread**2 - apart.chance**2))


def test_items_of_one_template_tell_no_noise_from_words() -> None:
    counts = np.array([[3, 1, 0, 0], [1, 3, 0, 0]])
    result = price_spread(units_of([0, 1], [0, 0], [0, 0], counts), n_permutations=19, alpha=0.05, seed=1)
    assert result is not None
    assert result.chance == pytest.approx(result.spread)
    assert result.debiased == 0.0


def test_nothing_lies_beyond_a_larger_chance() -> None:
    chance = Chance(np.array([0.3, 0.4]), np.zeros(2))
    assert beyond_chance(np.array([0.5, 0.3]), chance).tolist() == [pytest.approx(0.4), 0.0]


@pytest.mark.parametrize(
    ("debiased", "half_width", "bias", "p_value", "low"),
    [
        (0.5, 0.2, 0.1, 0.01, pytest.approx(0.2)),
        (0.5, 0.2, -0.1, 0.01, pytest.approx(0.3)),
        (0.5, 0.2, 0.1, 0.05, 0.0),
        (0.1, 0.2, 0.0, 0.01, 1e-6),
        (0.0, 0.2, 0.0, 0.01, 0.0),
    ],
)
def test_the_lower_end_leaves_out_nought_where_the_test_does(
    debiased: float, half_width: float, bias: float, p_value: float, low: float
) -> None:
    assert lower_end(debiased, half_width, bias, p_value, 0.05) == low


def test_the_lower_end_of_nothing_is_unknown() -> None:
    assert np.isnan(lower_end(np.nan, 0.1, 0.0, 0.01, 0.05))
    assert np.isnan(lower_end(0.1, np.nan, 0.0, 0.01, 0.05))
