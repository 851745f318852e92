"""Label permutations and the null distribution they give, for all measures.

Draws depend on the seed, on the sizes of strata, and on the ranks of the units' content (`Design.content`), but not on threads,
on where a test stopped, on the outcome's scale or direction, on the groups' names, or on which of them is the reference. If there
are no more arrangements than draws, tests use all of them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, NotRequired, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from biasledger.measures.engine.design import CanonicalOrder, Design, Floats, Integers, Labels, stable_seed
from biasledger.measures.schema import HIDDEN

Statistic = Callable[[Labels], Floats]
"""Labels of b arrangements, shape (b, n_units), to the statistic of each, shape (b,)."""

FamilyStatistic = Callable[[Labels], Floats]
"""Labels of b arrangements, shape (b, n_units), to the statistics of each, shape (b, n_features)."""

STOP_AFTER = 50
"""Draws that reach the observed value before a test stops, if nothing else is said."""

_BLOCK = 256
_MAX_BLOCK_CELLS = 2**22
# Half a megabyte of random numbers, which stay in the processor's cache while they are sorted.
_CACHED_CELLS = 2**16
# Half a megabyte of sums, of which a statistic makes several arrays.
_CACHED_SUMS = 2**16
_MAX_SMALL_STRATUM = 6
_TIE_TOLERANCE = 1e-9
_LABEL_BITS = np.uint64(127)


class Draws(TypedDict):
    """Settings of a test's draws.

    n_permutations: arrangements to draw, 0 for no test. seed: of the draws. stop_after: stop once this many draws reached the
    observed value, None for never, STOP_AFTER if it is left out: p is then plainly large and still valid (Besag & Clifford 1991,
    Sequential Monte Carlo p-values).
    """

    n_permutations: int
    seed: int
    stop_after: NotRequired[int | None]


@dataclass(frozen=True)
class PermutationResult:
    """A statistic against its permutation null.

    p_value is (1 + #{null >= observed}) / (B + 1), or the share of all arrangements where these are no more than B, so that p
    does not depend on the seed or the order of the units; where the test stopped early (Besag & Clifford 1991), it is
    the number of exceedances over the number of draws. n_permutations is the number of draws that p_value rests
    on. n_blocks: blocks that moved where units were pooled, else None.
    """

    observed: float = field(metadata=HIDDEN)
    null_mean: float
    null_sd: float
    p_value: float
    n_permutations: int
    is_stopped_early: bool
    n_blocks: int | None = None

    @property
    def debiased(self) -> float:
        """Observed value minus what the same labels at random give."""
        return self.observed - self.null_mean


@dataclass(frozen=True)
class FamilyResult:
    """A family of statistics against their common permutation null; arrays of shape (n_features,).

    Features without spread under permutation are not tested: their p-values are NaN. critical_value is the (1 -
    alpha) quantile of the largest studentised statistic: observed ± critical_value · null_sd holds for all
    tested features at once. It is infinite where B + 1 < 1 / alpha, as p could not fall below alpha either.
    """

    null_mean: Floats
    null_sd: Floats
    p_value: Floats
    p_value_adjusted: Floats
    critical_value: float
    n_permutations: int
    is_stopped_early: bool
    n_blocks: int | None = None

    def expanded(self, positions: NDArray[np.intp], n_features: int) -> FamilyResult:
        """Return the same result with its features at `positions` of n_features, the others untested."""

        def spread(values: Floats) -> Floats:
            wide = np.full(n_features, np.nan)
            wide[positions] = values
            return wide

        return replace(
            self,
            null_mean=spread(self.null_mean),
            null_sd=spread(self.null_sd),
            p_value=spread(self.p_value),
            p_value_adjusted=spread(self.p_value_adjusted),
        )


def all_labels(design: Design, most: int) -> Labels | None:
    """Return every arrangement of the labels inside strata, the observed one included; None if there are more than `most`."""
    order = np.lexsort((design.labels, design.strata))
    strata, labels = design.strata[order], design.labels[order]
    starts = np.flatnonzero(np.diff(strata, prepend=strata[:1] - 1))
    ends = np.append(starts[1:], strata.size)
    moved = np.flatnonzero(labels[starts] != labels[ends - 1])
    found = design.labels[np.newaxis, :]
    # A stratum that moves has as many arrangements as units, or more.
    if moved.size > math.log2(max(most, 1)) or (ends - starts)[moved].max(initial=1) > most:
        return None
    for start, end in zip(starts[moved], ends[moved], strict=True):
        counts = np.bincount(labels[start:end])
        n_here = math.factorial(int(counts.sum())) // math.prod(math.factorial(int(n)) for n in counts)
        if n_here * len(found) > most:
            return None
        here = np.tile(_multisets(counts), (len(found), 1))
        found = np.repeat(found, n_here, axis=0)
        found[:, order[start:end]] = here
    return found


def _multisets(counts: Integers) -> Labels:
    """Return every order of labels 0, 1, … that occur so many times."""
    size = int(counts.sum())
    found, free = np.zeros((1, size), dtype=np.int8), np.arange(size)[np.newaxis, :]
    for label, count in enumerate(counts):
        if not count:
            continue
        chosen = np.array(list(combinations(range(free.shape[1]), int(count))), dtype=np.int64)
        others = np.ones((len(chosen), free.shape[1]), dtype=bool)
        np.put_along_axis(others, chosen, values=False, axis=1)
        rest = np.nonzero(others)[1].reshape(len(chosen), -1)
        places = free[:, chosen].reshape(-1, int(count))
        found = np.repeat(found, len(chosen), axis=0)
        np.put_along_axis(found, places, np.int8(label), axis=1)
        free = free[:, rest].reshape(len(found), -1)
    return found


def permuted_labels(design: Design, n_permutations: int, seed: int) -> Iterator[Labels]:
    """Blocks of label arrangements, each of shape (b, n_units) with b <= 256, n_permutations rows in all.

    Blocks hold fewer rows where there are very many units, so that memory stays bounded.
    """
    ordered = CanonicalOrder.of(design)
    order, seed = ordered.units, ordered.seed(seed)
    strata = ordered.strata[order]
    _, inverse, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    units_of_size = [
        (int(size), np.flatnonzero(sizes[inverse] == size)) for size in np.flatnonzero(np.bincount(sizes))
    ]
    strata_of_size = [(size, _span(units), _span(order[units])) for size, units in units_of_size]
    # A shuffle of a stratum's labels is as likely whatever order they had.
    numbers = ordered.labels[order]
    labels = ordered.groups[numbers[np.lexsort((numbers, strata))]].astype(np.uint64)
    block_rows = max(1, min(_BLOCK, _MAX_BLOCK_CELLS // max(design.n_units, 1)))
    cached_rows = max(1, _CACHED_CELLS // max(design.n_units, 1))
    for start in range(0, n_permutations, block_rows):
        rows = min(block_rows, n_permutations - start)
        generator = np.random.PCG64(np.random.SeedSequence([seed, start // block_rows]))
        block = np.empty((rows, design.n_units), dtype=np.int8)
        for first in range(0, rows, cached_rows):
            part = block[first : first + cached_rows]
            # A random number whose last seven bits are the unit's label: sorting the numbers of a stratum shuffles its labels.
            keys = generator.random_raw(part.shape) & ~_LABEL_BITS | labels
            for size, units, places in strata_of_size:
                shuffled = _sorted_strata(keys[:, units].reshape(len(part), -1, size))
                part[:, places] = shuffled.reshape(len(part), -1)
        yield block


def _sorted_strata(keys: NDArray[np.uint64]) -> Labels:
    """Return labels in the order of their keys within each stratum, (rows, n_strata, size)."""
    size = keys.shape[-1]
    if size > _MAX_SMALL_STRATUM:
        keys.sort(axis=-1)
        return (keys & _LABEL_BITS).astype(np.int8)
    # Units of all strata change places at once, several times faster than a sort of each of many small strata.
    columns = [np.ascontiguousarray(keys[..., place]) for place in range(size)]
    for last in range(size - 1, 0, -1):
        for place in range(last):
            left, right = columns[place : place + 2]
            columns[place : place + 2] = np.minimum(left, right), np.maximum(left, right)
    return np.stack([(column & _LABEL_BITS).astype(np.int8) for column in columns], axis=-1)


def _span(positions: NDArray[np.signedinteger[Any]]) -> slice | NDArray[np.signedinteger[Any]]:
    """Return positions as a slice where they follow each other, which numpy reads several times faster."""
    if (np.diff(positions) == 1).all():
        return slice(int(positions[0]), int(positions[-1]) + 1)
    return positions


def cached_rows(n_rows: int, n_columns: int) -> list[slice]:
    """Return rows that follow each other, so few that the processor's cache holds several arrays of them."""
    at_once = max(1, _CACHED_SUMS // max(n_columns, 1))
    return [slice(first, first + at_once) for first in range(0, max(n_rows, 1), at_once)]


def permutation_test(design: Design, statistic: Statistic, **draws: Unpack[Draws]) -> PermutationResult:
    """One-sided test (large is extreme) of a statistic against label permutations inside strata."""
    [result] = permutation_tests(design, lambda labels: statistic(labels)[:, np.newaxis], **draws)
    return result


def permutation_tests(
    design: Design,
    statistics: FamilyStatistic,
    *,
    n_permutations: int,
    seed: int,
    stop_after: int | None = STOP_AFTER,
    tie_share: float = 1.0,
) -> list[PermutationResult]:
    """Run permutation_test for several statistics on the same draws; each stops independently of the others.

    tie_share: how much a draw counts that equals the observed value: 1, or 0.5 for the mid-p of outcomes with few values.
    """
    tests = [
        _OneSidedTest(design, _columns(column), float(observed), stop_after, tie_share)
        for column, observed in enumerate(statistics(design.labels[np.newaxis, :])[0])
    ]
    _draw(design, n_permutations, seed, lambda labels: [statistics(labels)], tests)
    return [test.result() for test in tests]


class _Test(ABC):
    """Draws so far of the null of a statistic, which is a function of what an arrangement of labels gives.

    goes_on: whether more of them could still change what it says. is_complete: whether they are all arrangements, the observed
    one among them: no test of these stops early.
    """

    def __init__(self, design: Design, statistic: Callable[[Floats], Floats], stop_after: int | None) -> None:
        self.statistic = statistic
        self.is_complete = False
        self._n_blocks = design.n_blocks
        self._stop_after = stop_after

    @property
    @abstractmethod
    def goes_on(self) -> bool: ...

    @abstractmethod
    def add(self, values: Floats) -> None: ...


class _OneSidedTest(_Test):
    """Draws of one statistic's null so far, and where they reached the observed value for the stop_after-th time."""

    def __init__(
        self,
        design: Design,
        statistic: Callable[[Floats], Floats],
        observed: float,
        stop_after: int | None,
        tie_share: float = 1.0,
    ) -> None:
        super().__init__(design, statistic, stop_after)
        self._observed = observed
        self._tolerance = _TIE_TOLERANCE * max(1.0, abs(observed))
        self._tie_share = tie_share
        self._null: list[Floats] = []
        self._reached = 0.0
        self._stopped_at: int | None = None

    @property
    def goes_on(self) -> bool:
        return self._stopped_at is None

    def add(self, values: Floats) -> None:
        # Written so that an undefined value counts as one that reached: NaN must never make p small.
        reached = (~(values < self._observed - self._tolerance)).astype(np.float64)
        reached[np.abs(values - self._observed) <= self._tolerance] = self._tie_share
        so_far = self._reached + np.cumsum(reached)
        if (
            self.goes_on
            and not self.is_complete
            and self._stop_after is not None
            and so_far[-1] >= self._stop_after
        ):
            drawn_before = sum(len(earlier) for earlier in self._null)
            self._stopped_at = drawn_before + int(np.searchsorted(so_far, self._stop_after)) + 1
        self._reached = float(so_far[-1])
        self._null.append(values)

    def result(self) -> PermutationResult:
        null = np.concatenate(self._null)
        if self._stop_after is not None and self._stopped_at is not None:
            p_value, n_permutations = self._stop_after / self._stopped_at, self._stopped_at
        else:
            # The observed arrangement counts whole: it is added to draws, and is one of all arrangements.
            added = int(not self.is_complete)
            whole = 1.0 if added else 1.0 - self._tie_share
            p_value, n_permutations = (whole + self._reached) / (added + null.size), null.size
        if np.ptp(np.append(null, self._observed)) <= self._tolerance:
            p_value = 1.0  # no arrangement changes the value
        return PermutationResult(
            self._observed,
            float(null.mean()),
            float(null.std(ddof=int(not self.is_complete))),
            p_value,
            n_permutations,
            not self.goes_on,
            self._n_blocks,
        )


def family_permutation_test(
    design: Design, statistic: FamilyStatistic, *, alpha: float, **draws: Unpack[Draws]
) -> FamilyResult:
    """Two-sided step-down max-T test of a family (Westfall & Young 1993), studentised by each feature's permutation sd.

    The mean and sd come from a pilot of draws of their own, so the studentised statistic is one fixed function
    of the labels and the test is exact. p_value is each feature's own, p_value_adjusted controls the
    family-wise error rate.
    """
    [result] = family_permutation_tests(design, statistic, [slice(None)], alpha=alpha, **draws)
    return result


def family_permutation_tests(
    design: Design,
    statistic: FamilyStatistic,
    families: Sequence[slice | NDArray[np.intp]],
    *,
    n_permutations: int,
    alpha: float,
    seed: int,
    stop_after: int | None = STOP_AFTER,
) -> list[FamilyResult]:
    """Run family_permutation_test for several families on the same draws; each stops independently of the others.

    families: which of the statistic's features each family holds. A draw in which a feature is undefined (NaN) counts as one
    that reached it and all more extreme ones; a feature that is undefined for the observed labels is not tested.
    """
    pilot = _pilot(design, statistic, n_permutations, seed)
    observed = statistic(design.labels[np.newaxis, :])
    tests = [
        _FamilyTest(design, _columns(family), pilot.of(family), observed[:, family], stop_after)
        for family in families
    ]
    _draw(design, n_permutations, seed, lambda labels: [statistic(labels)], tests)
    return [test.result(n_permutations, alpha) for test in tests]


def joint_permutation_tests(
    design: Design,
    arranged: Callable[[Labels], Iterable[Floats]],
    statistic: Callable[[Floats], Floats],
    family: Callable[[Floats], Floats],
    *,
    n_permutations: int,
    alpha: float,
    seed: int,
    stop_after: int | None = STOP_AFTER,
) -> tuple[PermutationResult, FamilyResult]:
    """permutation_test of one statistic and family_permutation_test of others on the same draws; each stops by itself.

    arranged: labels (b, n_units) to what both are functions of, such as sums, some arrangements after the other. statistic,
    family: of these to (b,) and (b, n_features).
    """

    def of_labels(labels: Labels) -> Floats:
        return np.concatenate([family(given) for given in arranged(labels)])

    pilot = _pilot(design, of_labels, n_permutations, seed)
    [observed] = arranged(design.labels[np.newaxis, :])
    one = _OneSidedTest(design, statistic, float(statistic(observed)[0]), stop_after)
    many = _FamilyTest(design, family, pilot, family(observed), stop_after)
    del pilot
    _draw(design, n_permutations, seed, arranged, [one, many])
    return one.result(), many.result(n_permutations, alpha)


@dataclass(frozen=True)
class _Pilot:
    """Statistics of draws of their own, (n_draws, n_features), or of all arrangements, whose sd is no estimate."""

    draws: Floats
    is_complete: bool

    def of(self, family: slice | NDArray[np.intp]) -> _Pilot:
        return _Pilot(self.draws[:, family], self.is_complete)

    def moments(self) -> tuple[Floats, Floats]:
        """Return the mean and standard deviation of each column over the draws in which it is defined."""
        is_undefined, added = np.isnan(self.draws), int(not self.is_complete)
        if not is_undefined.any():
            return self.draws.mean(axis=0), self.draws.std(axis=0, ddof=added)
        n = len(self.draws) - is_undefined.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(is_undefined, 0.0, self.draws).sum(axis=0) / n
            squares = np.where(is_undefined, 0.0, (self.draws - mean) ** 2).sum(axis=0)
            return mean, np.sqrt(squares / np.maximum(n - added, 0))


def _pilot(design: Design, statistic: FamilyStatistic, n_permutations: int, seed: int) -> _Pilot:
    """Return the arrangements behind the means and sds of a family's statistics; all if there are few."""
    found = all_labels(design, n_permutations)
    labels = (
        permuted_labels(design, min(n_permutations, 512), stable_seed(seed, "pilot"))
        if found is None
        else _blocks(found)
    )
    return _Pilot(np.concatenate([statistic(block) for block in labels]), found is not None)


def _blocks(labels: Labels) -> Iterator[Labels]:
    rows = max(1, min(_BLOCK, _MAX_BLOCK_CELLS // max(labels.shape[1], 1)))
    return (labels[start : start + rows] for start in range(0, len(labels), rows))


def _columns(of: int | slice | NDArray[np.intp]) -> Callable[[Floats], Floats]:
    return lambda values: values[:, of]


def _draw(
    design: Design,
    n_permutations: int,
    seed: int,
    arranged: Callable[[Labels], Iterable[Floats]],
    tests: Sequence[_Test],
) -> None:
    """Add draws to tests, or every arrangement if there are no more; they go on to the end of a block of draws."""
    going = [test for test in tests if test.goes_on]
    if not going:
        return
    found = all_labels(design, n_permutations)
    for test in going:
        test.is_complete = found is not None
    for block in permuted_labels(design, n_permutations, seed) if found is None else _blocks(found):
        for given in arranged(block):
            for test in going:
                test.add(test.statistic(given))
        going = [test for test in going if test.goes_on]
        if not going:
            return


class _FamilyTest(_Test):
    """Draws of one family so far; observed (1, n_features)."""

    def __init__(
        self,
        design: Design,
        statistic: Callable[[Floats], Floats],
        pilot: _Pilot,
        observed: Floats,
        stop_after: int | None,
    ) -> None:
        super().__init__(design, statistic, stop_after)
        self._null_mean, self._null_sd = pilot.moments()
        tested = np.flatnonzero((self._null_sd > _TIE_TOLERANCE) & ~np.isnan(observed[0]))
        size = np.abs(observed[0, tested] - self._null_mean[tested]) / self._null_sd[tested]
        # Tested features from the least extreme on: all that follows is in this order.
        ascending = np.argsort(size, kind="stable")
        self._columns = tested[ascending]
        self._mean, self._sd = self._null_mean[self._columns], self._null_sd[self._columns]
        ordered = size[ascending]
        self._reach = ordered - _TIE_TOLERANCE * np.maximum(1.0, ordered)
        self._largest = ordered.max(initial=0.0)
        self._own_hits = np.zeros(size.size)
        self._family_hits = np.zeros(size.size)
        self._maxima: list[Floats] = []
        self._drawn = 0

    @property
    def goes_on(self) -> bool:
        if not self._columns.size:
            return False
        # The most extreme feature decides whether the family can alarm: once it is plainly ordinary, it cannot.
        return self._stop_after is None or self.is_complete or bool(self._family_hits[-1] < self._stop_after)

    def add(self, values: Floats) -> None:
        for rows in cached_rows(*values.shape):
            self._add(values[rows])

    def _add(self, values: Floats) -> None:
        studentised = np.take(values, self._columns, axis=1)
        studentised -= self._mean
        np.abs(studentised, out=studentised)
        studentised /= self._sd
        # Written so that an undefined value counts as one that reached: NaN must never make p small.
        self._own_hits += len(values) - np.count_nonzero(studentised < self._reach, axis=0)
        # Step-down: feature j competes with itself and with every feature less extreme than it.
        np.maximum.accumulate(studentised, axis=1, out=studentised)
        self._family_hits += len(values) - np.count_nonzero(studentised < self._reach, axis=0)
        self._maxima.append(studentised[:, -1].copy())
        self._drawn += len(values)

    def result(self, n_permutations: int, alpha: float) -> FamilyResult:
        n_features = self._null_sd.size
        p_value, p_adjusted = np.full(n_features, np.nan), np.full(n_features, np.nan)
        if not self._columns.size:
            return FamilyResult(
                self._null_mean, self._null_sd, p_value, p_adjusted, np.nan, 0, False, self._n_blocks
            )
        added = int(not self.is_complete)
        p_value[self._columns] = (added + self._own_hits) / (added + self._drawn)
        adjusted = np.maximum.accumulate((added + self._family_hits[::-1]) / (added + self._drawn))
        p_adjusted[self._columns] = adjusted[::-1]
        # The observed labels are one arrangement, added to draws, here the largest, so that bands and p-values agree.
        maxima = np.concatenate(self._maxima)
        if self.is_complete:
            maxima = np.delete(maxima, np.nanargmin(np.abs(maxima - self._largest)))
        largest = np.sort(np.append(maxima, np.inf))
        critical_value = float(largest[math.ceil((1 - alpha) * largest.size) - 1])
        return FamilyResult(
            self._null_mean,
            self._null_sd,
            p_value,
            p_adjusted,
            critical_value if not math.isnan(critical_value) else math.inf,
            self._drawn,
            not self.is_complete and self._drawn < n_permutations,
            self._n_blocks,
        )
