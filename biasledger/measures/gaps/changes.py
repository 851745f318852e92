"""The change of a gap between two runs, on the cases that both were asked about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from biasledger.measures.comparisons import Comparison, table
from biasledger.measures.engine.design import Floats
from biasledger.measures.engine.intervals import NO_VARIANCE, rule_of_three, t_quantile
from biasledger.measures.engine.jackknife import jackknife_variance
from biasledger.measures.gaps.clusters import comparable_clusters, names_excess, stratified
from biasledger.measures.gaps.units import Units
from biasledger.measures.schema import Table


@dataclass(frozen=True)
class SharedUnits:
    """The units that two runs share, in one order; labels 1 (marked) and 0 (reference).

    after: the run's units. n_before, total_before: answers and outcomes of the same units in the baseline. scale: the range of
    the outcome. n_left_out: clusters that one run alone has.
    """

    after: Units
    n_before: Floats
    total_before: Floats
    scale: float
    n_left_out: int = 0


@dataclass(frozen=True)
class Question:
    """The finding that is compared, by the columns that both runs have."""

    measure: str
    scheme: str
    attribute: str
    group_name: str
    reference_group: str
    subject: str


@dataclass(frozen=True)
class GapChange:
    """The adjusted gap on shared cases before and after, and Student's interval of the difference.

    degrees: of freedom. half_width: of the interval. n_shared: clusters in the smaller group. n_left_out: clusters that one run
    alone has. by: "case" or "name", whichever makes the interval longer.
    """

    shared_baseline_value: float
    shared_value: float
    shared_error: float
    shared_degrees: float
    shared_half_width: float
    n_shared: int
    n_left_out: int
    by: str


@dataclass(frozen=True)
class GapPair(Comparison[SharedUnits]):
    """The units of a finding that two runs share; `name` has the fields of `Question`."""


@dataclass(frozen=True)
class _QuestionChange:
    question: Question
    change: GapChange


def gap_changes(pairs: Iterable[GapPair]) -> Table:
    """Yield a row for each pair and finding: its Question and GapChange, where the gap is known on what both runs share."""

    def changes(pair: GapPair) -> Iterator[_QuestionChange]:
        change = gap_change(pair.units, alpha=pair.alpha)
        if change is not None:
            yield _QuestionChange(Question(*pair.name), change)

    return table(_QuestionChange, pairs, lambda pair, _: changes(pair), key="pair_key")


def gap_change(shared: SharedUnits, *, alpha: float) -> GapChange | None:
    """Return how much the adjusted gap changed on shared units; None without a shared stratum or with fewer than two clusters.

    Each unit weighs as much in both runs: the harmonic mean of its answers. So the difference of the gaps is the gap of the
    units' differences, and the jackknife over clusters of that gap is its error: what is odd about a case cancels. Names are a
    second way to cluster where they recur; the longer interval counts.
    """
    after = shared.after
    n = 2 * after.n * shared.n_before / (after.n + shared.n_before)
    before = replace(after, n=n, total=n * shared.total_before / shared.n_before)
    units = replace(after, n=n, total=n * after.total / after.n - before.total)
    difference, without = stratified(units)
    baseline_value, _ = stratified(before)
    held = comparable_clusters(units)
    comparable = held.any(axis=1)
    if not np.isfinite(difference):
        return None
    if (held[comparable].sum(axis=1) > 1).any():
        n_shared = int(comparable.sum())
        error, degrees = float(np.sqrt(jackknife_variance(without[comparable]))), float(n_shared - 1)
    else:
        sizes = held[comparable].sum(axis=0)
        n_shared = int(sizes.min())
        if n_shared < 2:
            return None
        parts = [jackknife_variance(without[held[:, label]]) for label in (0, 1)]
        rivals = after.correlation_of_rivals * float(np.sqrt(parts[0] * parts[1]))
        error = float(np.sqrt(sum(parts) - 2 * rivals))
        below = sum(part**2 / (size - 1) for part, size in zip(parts, sizes, strict=True))
        degrees = sum(parts) ** 2 / below if below > 0 else float(n_shared - 1)
    if n_shared < 2 or not np.isfinite(error):
        return None
    if error <= NO_VARIANCE * shared.scale:
        # No case differs from another: one in n clusters might, though none of these does.
        error = shared.scale * float(rule_of_three(n_shared, alpha)) / _quantile(degrees, alpha)
    by, half_width = "case", _quantile(degrees, alpha) * error
    names = units.by_name()
    if names is not None and names.design.fewest() > 1:
        excess, name_degrees = names_excess(units, names)
        name_error = float(np.sqrt(error**2 + excess))
        if np.isfinite([name_error, name_degrees]).all():
            by_name = _quantile(name_degrees, alpha) * name_error
            if by_name > half_width:
                by, half_width, error, degrees = "name", by_name, name_error, name_degrees
    return GapChange(
        baseline_value,
        baseline_value + difference,
        error,
        degrees,
        half_width,
        n_shared,
        shared.n_left_out,
        by,
    )


def _quantile(degrees: float, alpha: float) -> float:
    return float(t_quantile(1 - alpha / 2, degrees))
