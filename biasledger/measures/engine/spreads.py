"""Spreads of groups' means, freed of what chance adds to them.

The largest of several means lies above the smallest by chance alone. Subtracting the mean of a permuted spread takes off too
much where groups do differ: shuffled labels then mix the groups' differences into every group. Squares add up, so that the
square of what is observed, less the mean square of what noise alone gives, is the square of the groups' own spread: exactly
for two groups and for standard deviations, nearly so for ranges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from biasledger.measures.engine.design import Design, Floats, Labels, stable_seed
from biasledger.measures.engine.resampling import permuted_labels

_N_DRAWS = 500
_JUST_ABOVE = 1e-6


@dataclass(frozen=True)
class Chance:
    """The effect of noise on spreads, each (n_statistics,).

    size: the spread where groups differ by noise only, as a root mean square. bias: how much wider spreads get when the
    noise is added a second time on top of the groups' means.
    """

    size: Floats
    bias: Floats


def chance_of(
    design: Design,
    noise_means: Callable[[Labels], Floats],
    statistics: Callable[[Floats], Floats],
    means: Floats,
    *,
    seed: int,
) -> Chance:
    """Return the effect of noise on statistics of groups' means, from arrangements of its own.

    noise_means: (b, n_units) labels to the groups' means, (b, n_groups), of values that were freed of the groups' differences.
    statistics: (…, n_groups) to (…, n_statistics). means: as observed, (n_groups,).
    """
    draws = permuted_labels(design, _N_DRAWS, stable_seed(seed, "chance"))
    noise = np.concatenate([noise_means(labels) for labels in draws])
    again = statistics(means + (noise - noise.mean(axis=0)))
    return Chance(
        np.asarray(np.sqrt((statistics(noise) ** 2).mean(axis=0)), dtype=np.float64),
        np.asarray(again.mean(axis=0) - statistics(means), dtype=np.float64),
    )


def beyond_chance(observed: Floats, chance: Chance) -> Floats:
    """Return a spread beyond chance, √(observed² - chance²); 0 where chance gives as much or more."""
    return np.asarray(np.sqrt(np.maximum(observed**2 - chance.size**2, 0.0)), dtype=np.float64)


def lower_end(debiased: float, half_width: float, bias: float, p_value: float, alpha: float) -> float:
    """Return the lower end of the interval of a spread; NaN where half_width or debiased is.

    The groups that lie farthest apart were chosen for it, so that their difference is too large: what the noise would add if
    it came once more is taken off. Whether 0 is left out is what the test says, which is exact there: the end is 0 where
    the test finds no difference and above it where it does.
    """
    if np.isnan(debiased) or np.isnan(half_width):
        return float("nan")
    low = debiased - half_width - max(bias, 0.0)
    return max(low, min(_JUST_ABOVE, debiased)) if p_value < alpha else 0.0
