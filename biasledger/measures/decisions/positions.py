"""Position bias: whether the place in which a candidate is shown decides who is ranked first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from biasledger.measures.comparisons import Comparison, table
from biasledger.measures.declared import Measure, Threshold
from biasledger.measures.engine.design import Floats, Integers
from biasledger.measures.engine.intervals import NO_VARIANCE, t_quantile
from biasledger.measures.engine.sums import numbered, sums_at
from biasledger.measures.schema import Table

MEASURES = (
    Measure(
        name="position_bias",
        description=(
            "Whether the order in which candidates are shown decides; far larger than any effect of names it hides these"
        ),
        scale="share of rankings whose first-shown candidate is put first, minus chance",
        bounds=(-1, 1),
        side="two-sided",
        unit="rankings of different candidates",
        label="the advantage of being shown first",
        display=(100, " points"),
        threshold=Threshold(
            value=0.1,
            reason=(
                "No published value: the order shown decides one ranking in ten more than chance would; answers to the "
                "same candidates in the same order count as one"
            ),
            source="Ours",
            min_units=20,
            severity="warn",
        ),
    ),
)


@dataclass(frozen=True)
class PositionTest:
    """The share of rankings whose first place has the candidate shown first, with an equal share and the result of chance.

    n_sets: sets of candidates in an order; one set has all answers to it. n_positions: candidates of the longest ranking.
    The interval is Wilson's of as many independent answers as have the error over sets. p_value: of all positions;
    p_first: of the first one, both two-sided.
    """

    n_responses: int
    n_sets: int
    n_positions: int
    share_first: float
    interval_low: float
    interval_high: float
    expected_share: float
    chi_square: float
    p_value: float
    p_first: float


@dataclass(frozen=True)
class Rankings:
    """The input of position_test, a row a response: arrays (n_responses,)."""

    top_positions: Integers
    n_positions: Integers
    n_answers: Integers
    sets: Integers


def position_test(
    top_positions: Integers,
    n_positions: Integers,
    n_answers: Integers | None = None,
    sets: Integers | None = None,
    *,
    alpha: float = 0.05,
) -> PositionTest:
    """Return whether the position shown decides who is ranked first.

    top_positions: (n_responses,), position of the candidate ranked first, 0 is the first shown; n_positions: (n_responses,),
    candidates that each response ranks; n_answers: (n_responses,), answers that each row counts, None for one each; sets:
    (n_responses,), the set of candidates in an order that each ranks, None for one each. If the order decides nothing, every
    candidate of a set might as well have been at any of its places: a set's counts then change places, whatever they are. The
    first place's p is exact, p of all places that of the quadratic form of their counts; where every set is ranked once and
    all are of one length they are the binomial and the chi-square test.

    Raises:
        ValueError: no response, fewer than two positions, a position outside them, or a set of several lengths.
    """
    if not top_positions.size or (n_positions < 2).any():
        raise ValueError("a position test needs a response, and two candidates in each")
    if (top_positions < 0).any() or (top_positions >= n_positions).any():
        raise ValueError("positions lie from 0 to the number of candidates less one")
    answers = np.ones_like(top_positions) if n_answers is None else n_answers
    if sets is None:
        # Without other information each answer of a row is a set of its own.
        top_positions, n_positions = (np.repeat(array, answers) for array in (top_positions, n_positions))
        answers, of_set = np.ones_like(top_positions), np.arange(top_positions.size)
    else:
        of_set = numbered(sets)
    lengths = np.zeros(int(of_set.max()) + 1, dtype=np.int64)
    lengths[of_set] = n_positions
    if (lengths[of_set] != n_positions).any():
        raise ValueError("a set of candidates has one length")
    counts = sums_at((of_set, top_positions), answers.astype(np.float64), lengths.size, int(lengths.max()))
    sizes = counts.sum(axis=1)
    is_place = np.arange(counts.shape[1]) < lengths[:, np.newaxis]
    shares = np.where(is_place, 1 / lengths[:, np.newaxis], 0.0)
    n_responses, expected = int(sizes.sum()), sizes @ shares
    share_first, expected_share = float(counts[:, 0].sum() / n_responses), float(expected[0] / n_responses)
    low, high = _position_limits(counts[:, 0], sizes, shares[:, 0], alpha)
    return PositionTest(
        n_responses,
        int(lengths.size),
        int(lengths.max()),
        share_first,
        low,
        high,
        expected_share,
        float(scipy.stats.chisquare(counts.sum(axis=0), expected).statistic),
        _places_p(counts - sizes[:, np.newaxis] * shares, is_place, lengths),
        _first_place_p(counts.astype(np.int64), lengths),
    )


def position_tests(rankings: Iterable[Comparison[Rankings]]) -> Table:
    """Return a row for each set of rankings: its PositionTest."""
    return table(
        PositionTest,
        rankings,
        lambda one, _: position_test(**vars(one.units)),
        key="position_key",
    )


def _position_limits(first: Floats, sizes: Floats, shares: Floats, alpha: float) -> tuple[float, float]:
    """Wilson's interval of the share put first, of as many answers as have its error over sets."""
    n, n_sets = float(sizes.sum()), first.size
    share = float(first.sum() / n)
    deviations = first - sizes * (shares + share - float(shares @ sizes) / n)
    variance = float((deviations**2).sum()) / n**2
    effective = float(n_sets)
    if variance > NO_VARIANCE**2:
        effective = min(share * (1 - share) / variance, n)
        if (sizes > 1).any() and n_sets > 1:
            t_to_z = special.ndtri(1 - alpha / 2) / float(t_quantile(1 - alpha / 2, n_sets - 1))
            effective *= t_to_z**2 * (n_sets - 1) / n_sets
    z = float(special.ndtri(1 - alpha / 2)) ** 2 / effective
    centre = (share + z / 2) / (1 + z)
    half_width = float(np.sqrt(share * (1 - share) * z + z**2 / 4)) / (1 + z)
    return max(centre - half_width, 0.0), min(centre + half_width, 1.0)


def _places_p(deviations: Floats, is_place: NDArray[np.bool_], lengths: Integers) -> float:
    """Chi-square p of the quadratic form of all places' counts; deviations: (n_sets, n_places), from equal shares."""
    variances = (np.where(is_place, deviations, 0.0) ** 2).sum(axis=1) / lengths
    covariance = np.zeros((deviations.shape[1],) * 2)
    for length in np.unique(lengths):
        scale = variances[lengths == length].sum() * length / (length - 1)
        covariance[:length, :length] += scale * (np.eye(length) - 1 / length)
    if covariance.max() <= NO_VARIANCE:
        return 1.0
    total = np.where(is_place, deviations, 0.0).sum(axis=0)
    statistic = float(total @ np.linalg.pinv(covariance, rcond=1e-9, hermitian=True) @ total)
    rank = int(np.linalg.matrix_rank(covariance, tol=1e-9 * covariance.max(), hermitian=True))
    return float(scipy.stats.chi2.sf(statistic, rank))


def _first_place_p(counts: Integers, lengths: Integers) -> float:
    """Two-sided exact p of the first place's count, where a set's first place gets the count of any of its places.

    The distribution of a sum of independent counts, by its Fourier transform.
    """
    n = int(counts.sum())
    kinds, of_kind = np.unique(
        np.column_stack([lengths, -np.sort(-counts, axis=1)]), axis=0, return_counts=True
    )
    angles = -2j * np.pi * np.arange(n + 1) / (n + 1)
    logs = np.zeros(n + 1, dtype=np.complex128)
    with np.errstate(divide="ignore"):
        for (length, *places), times in zip(kinds, of_kind, strict=True):
            values, often = np.unique(places[:length], return_counts=True)
            logs += times * np.log(np.exp(np.outer(angles, values)) @ (often / length))
    masses = np.maximum(np.fft.ifft(np.exp(logs)).real, 0.0)
    reached = masses <= masses[int(counts[:, 0].sum())] * (1 + 1e-7) + 1e-15
    return float(np.clip(masses[reached].sum(), np.finfo(np.float64).eps, 1.0))
