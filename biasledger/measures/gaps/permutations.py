"""Permutation test of a gap inside strata, with the judged statistic, studentised.

For every arrangement of the labels the gap is computed with its Mantel-Haenszel weights, and divided by a standard error
over clusters that lets groups spread unequally: permuting the bare difference of a small group with a large spread and a large
one with a small spread gives many times the false alarms that it should (Janssen 1997, Chung & Romano 2013).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
from scipy import sparse

from biasledger.measures.engine.design import Design, Floats, Integers, Labels, Moves, pooled
from biasledger.measures.engine.intervals import NO_VARIANCE
from biasledger.measures.engine.resampling import Draws, PermutationResult, permutation_tests
from biasledger.measures.engine.sums import numbered
from biasledger.measures.gaps.units import Units

_PRIOR_DEGREES = 1.0
"""Degrees of freedom that both groups' common variance adds to each group's own: a group whose few units are all equal is not
known without error."""


@dataclass(frozen=True)
class StratifiedGap:
    """The gap inside strata of any arrangement of the labels, and its standard error.

    The gap is Σ w d / Σ w over strata, d the difference of the groups' means and w = n1 n0 / (n1 + n0). Its error is that of the
    regression on the label with an effect for each stratum, summed over clusters (Liang & Zeger 1986). n, residuals:
    (n_units, n_strata), answers and the total less what the stratum's mean gives. clusters: (n_clusters, n_units) or, where no
    stratum is in two of them, (n_clusters, n_strata), 1 for what a cluster holds; None where every unit is one by itself,
    so that each group has a variance of its own. squares: residuals², residuals · n and n² by unit and stratum, where every
    unit is in one stratum. sizes: units labelled 1 and 0.
    """

    n: sparse.csr_array
    residuals: sparse.csr_array
    clusters: sparse.csr_array | None
    are_strata_whole: bool
    squares: tuple[sparse.csr_array, sparse.csr_array, sparse.csr_array] | None
    sizes: tuple[int, int]
    scale: float

    @classmethod
    def of(cls, units: Units, moves: Moves, clusters: Integers | None, scale: float) -> StratifiedGap:
        """clusters: of each of the units that move; scale: the range of the outcome."""
        strata = numbered(units.design.strata)
        means = (np.bincount(strata, weights=units.total) / np.bincount(strata, weights=units.n))[strata]
        members, are_strata_whole = None, False
        if clusters is not None:
            names, of_unit = np.unique(clusters, return_inverse=True)
            # Pairs coded as one number are sorted many times faster than rows of two.
            pairs = np.unique(strata * names.size + of_unit[moves.of_row])
            of_strata, of_clusters = np.divmod(pairs, names.size)
            are_strata_whole = bool((np.diff(of_strata) != 0).all())
            places = of_clusters if are_strata_whole else of_unit
            members = sparse.csr_array(
                sparse.coo_array((np.ones(places.size), (places, np.arange(places.size))))
            )
        n, residuals = (moves.by_place(values, strata) for values in (units.n, units.total - means * units.n))
        squares = None
        if clusters is None and n.nnz == moves.design.n_units:
            squares = (residuals * residuals, residuals * n, n * n)
        sizes = moves.design.count(1), moves.design.count(0)
        return cls(n, residuals, members, are_strata_whole, squares, sizes, scale)

    def values(self, labels: Labels) -> tuple[Floats, Floats]:
        """Return the gap and standard error of arrangements (b, n_units): (b,) each; NaN where no stratum holds both groups."""
        marked = np.ascontiguousarray(labels.T, dtype=np.float64)
        n, sizes = (np.asarray(self.n.sum(axis=axis))[:, np.newaxis] for axis in (1, 0))
        shares = (self.n.T @ marked) / sizes
        of_strata = sizes * shares * (1 - shares)
        weights = of_strata.sum(axis=0)
        excess = self.residuals.T @ marked
        with np.errstate(invalid="ignore", divide="ignore"):
            weights = np.where(weights > NO_VARIANCE * n.sum(), weights, np.nan)
            gaps = excess.sum(axis=0) / weights
            gaps = np.where(np.abs(gaps) <= NO_VARIANCE * self.scale, 0.0, gaps)
            if self.clusters is not None and self.are_strata_whole:
                variances = _summed(self.clusters @ (excess - gaps * of_strata))
            elif self.squares is not None:
                variances = self._of_strata(marked, shares, gaps)
            else:
                variances = self._of_units(marked, shares, gaps, n)
            errors = np.sqrt(variances) / weights
        # Without any variance the gap itself decides: far beyond any error, or 0.
        return gaps, np.maximum(errors, NO_VARIANCE * self.scale)

    def _of_units(self, marked: Floats, shares: Floats, gaps: Floats, n: Floats) -> Floats:
        """Variance from each unit's part in the gap: its label less the stratum's mean, times what the gap does not explain."""
        shared = self.n @ shares
        leverage = shared + marked * (n - 2 * shared)
        residuals = np.asarray(self.residuals.sum(axis=1))[:, np.newaxis]
        own = marked * residuals - self.residuals @ shares
        own -= gaps * (self.n @ shares**2 + marked * (n - 2 * shared))
        if self.clusters is not None:
            return _summed(self.clusters @ own)
        inside = marked, 1 - marked
        squares, leverages = own**2, leverage**2
        return _separate(
            [(one * squares).sum(axis=0) for one in inside],
            [(one * leverages).sum(axis=0) for one in inside],
            self.sizes,
        )

    def _of_strata(self, marked: Floats, shares: Floats, gaps: Floats) -> Floats:
        """Return the same where every unit is in one stratum: both sums of squares follow from sums by stratum and group."""
        assert self.squares is not None
        sums, leverages = [], []
        of_marked = [square.T @ marked for square in self.squares]
        of_all = [np.asarray(square.sum(axis=0))[:, np.newaxis] for square in self.squares]
        for lever, parts in (
            (1 - shares, of_marked),
            (shares, [whole - part for whole, part in zip(of_all, of_marked, strict=True)]),
        ):
            sign = 1.0 if parts is of_marked else -1.0
            rr, rn, nn = parts
            step = gaps * lever
            squares = (lever**2 * (rr - 2 * sign * step * rn + step**2 * nn)).sum(axis=0)
            # A remainder from rounding, where sums cancel, is not variance.
            sums.append(np.where(squares > NO_VARIANCE * (lever**2 * rr).sum(axis=0), squares, 0.0))
            leverages.append((lever**2 * nn).sum(axis=0))
        return _separate(sums, leverages, self.sizes)


def _summed(sums: Floats) -> Floats:
    """Variance of the total of clusters that hold both groups."""
    return np.asarray((sums**2).sum(axis=0) * len(sums) / max(len(sums) - 1, 1))


def _separate(squares: Sequence[Floats], leverages: Sequence[Floats], sizes: tuple[int, int]) -> Floats:
    """Return the sum of both groups' variances; each group's own, with some degrees of freedom of the common one."""
    sums = [square * size / lever for square, lever, size in zip(squares, leverages, sizes, strict=True)]
    common = (sums[0] + sums[1]) / max(sum(sizes) - 2, 1)
    variances = [
        lever * (total + _PRIOR_DEGREES * common) / (size - 1 + _PRIOR_DEGREES)
        for lever, total, size in zip(leverages, sums, sizes, strict=True)
    ]
    return np.asarray(variances[0] + variances[1])


def gap_test(
    units: Units,
    moves: Moves,
    clusters: Integers | None,
    *,
    scale: float,
    tie_share: float = 1.0,
    **draws: Unpack[Draws],
) -> PermutationResult:
    """Two-sided test of the gap inside strata, when labels of `moves` are permuted; observed, null mean and sd are the gap's.

    clusters: of each of the units that move, None where each is one by itself. scale: the range of the outcome. Many units are
    pooled.
    """
    units, moves, clusters = _in_blocks(units, moves, clusters, draws["seed"])
    statistic = StratifiedGap.of(units, moves, clusters, scale)
    gaps, _ = statistic.values(moves.design.labels[np.newaxis, :])
    observed = float(gaps[0])
    sign = -1.0 if observed < 0 else 1.0

    def statistics(labels: Labels) -> Floats:
        values, errors = statistic.values(labels)
        is_observed = (labels == moves.design.labels).all(axis=1)
        widening = np.where(is_observed, 1.0, units.null_scale)
        return np.column_stack([np.abs(values) / errors * widening, sign * values * widening])

    two_sided, one_sided = permutation_tests(moves.design, statistics, tie_share=tie_share, **draws)
    return replace(
        two_sided, observed=observed, null_mean=sign * one_sided.null_mean, null_sd=one_sided.null_sd
    )


def _in_blocks(
    units: Units, moves: Moves, clusters: Integers | None, seed: int
) -> tuple[Units, Moves, Integers | None]:
    """Return the same in blocks where many units move, with outcomes less their stratum's mean, so that strata can move together.

    Names, which move across strata, and clusters that hold both groups and are no strata move as they are.
    """
    blocks, strata_of_rows = pooled(moves.design, seed), moves.design.strata[moves.of_row]
    if (
        blocks.design.n_blocks is None
        or not np.array_equal(strata_of_rows, units.design.strata)
        or not (clusters is None or _is_same(clusters, moves.design.strata))
    ):
        return units, moves, clusters
    strata = numbered(units.design.strata)
    means = (np.bincount(strata, weights=units.total) / np.bincount(strata, weights=units.n))[strata]
    pooled_units = replace(
        units,
        design=Design(units.design.labels, blocks.together[moves.of_row]),
        total=units.total - means * units.n,
    )
    return pooled_units, moves.composed_with(blocks), None if clusters is None else blocks.design.strata


def _is_same(clusters: Integers, strata: Integers) -> bool:
    """Return whether two numberings part the units alike."""
    (names, one), (other_names, other) = (
        np.unique(numbers, return_inverse=True) for numbers in (clusters, strata)
    )
    n_pairs = np.unique(one.astype(np.int64) * other_names.size + other).size
    return bool(n_pairs == names.size == other_names.size)
