"""Pairs of runs to what each side reads at equal sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biasledger.measures.comparisons import Comparison, table
from biasledger.measures.decisions.units import Units
from biasledger.measures.engine.resampling import Design, Floats, Integers
from biasledger.measures.equal_sizes.readings import (
    Reading,
    WordUnits,
    common_cells,
    common_texts,
    common_values,
    impact_reading,
    price_reading,
    spread_readings,
    thin_counts,
    word_readings,
)
from biasledger.measures.prices import items

_SIDES = ("baseline", "run")
_MEASURES_OF_FEATURES = {
    "unanswered": "unanswered_spread",
    "shortfall": "shortfall_spread",
    "repeated": "repeat_spread",
    "ndcg": "relevance_spread",
}


@dataclass(frozen=True)
class Question:
    """What a pair of runs is compared in, as in the findings; the same for the same question of every pair."""

    scheme: str
    attribute: str
    group_name: str
    reference_group: str
    subject: str


@dataclass(frozen=True)
class SideReading:
    """What one side of a pair (baseline or run) reads of a question by one measure."""

    side: str
    measure: str
    question: Question
    reading: Reading


@dataclass(frozen=True)
class Cells:
    """One feature of lists in one run: values (n_subjects, n_groups), NaN where absent; subjects (n_subjects,) names."""

    values: Floats
    subjects: NDArray[np.str_]


@dataclass(frozen=True)
class CountUnits:
    """Units of one attribute in one run with counts (n_units, n_sets, n_kinds) of what they got; other arrays (n_units,).

    keys and groups name units and their groups alike in every run; strata and clusters too.
    """

    keys: NDArray[np.str_]
    groups: NDArray[np.str_]
    strata: NDArray[np.str_]
    clusters: NDArray[np.str_]
    counts: Floats

    def keep(self, kept: NDArray[np.intp]) -> CountUnits:
        """Some of the units."""
        return CountUnits(*(getattr(self, one.name)[kept] for one in fields(self)))


WordPair = Comparison[tuple[WordUnits, WordUnits]]
"""Texts of one contrast, before and after. The names of pairs are questions: scheme, attribute, groups and subject."""


@dataclass(frozen=True)
class ListPair(Comparison[tuple[Cells, Cells]]):
    """One feature of one attribute's lists, before and after; columns are the same groups on both sides.

    feature: similarity (then `similarity` names which), unanswered, shortfall, repeated or ndcg.
    """

    feature: str = "similarity"
    similarity: str = ""
    is_personality: bool = False


@dataclass(frozen=True)
class CountPair(Comparison[tuple[CountUnits, CountUnits]]):
    """What the groups of one attribute got, before and after; n_candidates as in `Units`."""

    n_candidates: int = 1


def word_sizes(pairs: Iterable[WordPair]) -> pd.DataFrame:
    """A row a pair, contrast, side and measure of words: its SideReading."""

    def readings(pair: WordPair) -> Iterator[SideReading]:
        for side, units in zip(_SIDES, common_texts(*pair.units), strict=True):
            found = word_readings(units, seed=pair.seed_for("words"), alpha=pair.alpha)
            for measure, reading in found.items():
                yield SideReading(side, measure, Question(*pair.name), reading)

    return _table(pairs, readings)


def list_sizes(pairs: Iterable[ListPair]) -> pd.DataFrame:
    """A row a pair, attribute, side and measure of lists: its SideReading."""

    def readings(pair: ListPair) -> Iterator[SideReading]:
        (one, other), question = pair.units, Question(*pair.name)
        if pair.feature == "similarity":
            question = replace(question, scheme=pair.similarity, reference_group="(neutral)")
        else:
            question = replace(question, reference_group="(each other)")
        both = common_values(one.values, one.subjects, other.values, other.subjects)
        for side, values in zip(_SIDES, both, strict=True):
            found = spread_readings(values, seed=pair.seed_for(pair.feature), alpha=pair.alpha)
            for measure, reading in _list_measures(pair, found, values):
                yield SideReading(side, measure, question, reading)

    return _table(pairs, readings)


def _list_measures(
    pair: ListPair, readings: Mapping[str, Reading], values: Floats
) -> Iterator[tuple[str, Reading]]:
    if not readings:
        return
    if pair.feature != "similarity":
        yield _MEASURES_OF_FEATURES[pair.feature], readings["range"]
        return
    yield "snsr", readings["range"]
    # Of two groups SNSV is half of SNSR, and no finding of its own.
    if (~np.isnan(values)).any(axis=0).sum() > 2:
        yield "snsv", readings["sd"]
    if pair.is_personality:
        deviation = readings["mean_absolute_deviation"]
        yield (
            "personality_fairness",
            Reading(1 - deviation.value, deviation.arm_high, deviation.arm_low, deviation.n_units),
        )


def selection_sizes(pairs: Iterable[CountPair]) -> pd.DataFrame:
    """A row a pair, attribute and side, the smallest impact ratio: its SideReading.

    counts (n_units, 1, 2): selected and not selected.
    """

    def reading(pair: CountPair, units: CountUnits, seed: int) -> Reading | None:
        counts = units.counts[:, 0]
        n, selected = counts.sum(axis=1), counts[:, 0]
        rows = Units(_design(units), _numbers(units.clusters), n, selected, pair.n_candidates)
        return impact_reading(rows, alpha=pair.alpha, seed=seed)

    return _count_sizes(pairs, "impact_ratio", reading)


def price_sizes(pairs: Iterable[CountPair]) -> pd.DataFrame:
    """A row a pair, attribute and side, how far mean price levels lie apart: its SideReading.

    counts (n_units, n_sets, n_levels): items of each price level.
    """

    def reading(pair: CountPair, units: CountUnits, seed: int) -> Reading | None:
        counts, n_groups = units.counts[:, np.newaxis], np.unique(units.groups).size
        rows = items.ItemCounts(_design(units), _numbers(units.clusters), counts, n_groups)
        return price_reading(rows, alpha=pair.alpha, seed=seed)

    return _count_sizes(pairs, "price_spread", reading)


def _count_sizes(
    pairs: Iterable[CountPair], measure: str, reading: Callable[[CountPair, CountUnits, int], Reading | None]
) -> pd.DataFrame:
    def readings(pair: CountPair) -> Iterator[SideReading]:
        for side, units in zip(_SIDES, _common_counts(pair), strict=True):
            if np.unique(units.groups).size < 2:
                continue
            found = reading(pair, units, pair.seed_for(measure))
            if found is not None:
                yield SideReading(side, measure, Question(*pair.name), found)

    return _table(pairs, readings)


_Pair = TypeVar("_Pair", WordPair, ListPair, CountPair)


def _table(pairs: Iterable[_Pair], readings: Callable[[_Pair], Iterable[SideReading]]) -> pd.DataFrame:
    return table(SideReading, pairs, lambda pair, _: readings(pair), key="pair_key")


def _common_counts(pair: CountPair) -> tuple[CountUnits, CountUnits]:
    """The units that both sides have, with equally many answers or items of each in every set."""
    cells, others = (
        np.char.add(np.char.add(units.keys.astype(np.str_), "|"), units.groups.astype(np.str_))
        for units in pair.units
    )
    kept, other_kept = common_cells(cells, others)
    one, other = pair.units[0].keep(kept), pair.units[1].keep(other_kept)
    order, other_order = np.argsort(cells[kept]), np.argsort(others[other_kept])
    one, other = one.keep(order), other.keep(other_order)
    sizes = np.minimum(one.counts.sum(axis=2), other.counts.sum(axis=2))
    has_any = sizes.sum(axis=1) > 0
    one, other, sizes = one.keep(np.flatnonzero(has_any)), other.keep(np.flatnonzero(has_any)), sizes[has_any]
    seed = pair.seed_for("sizes")
    return _thinned(one, sizes, seed), _thinned(other, sizes, seed)


def _thinned(units: CountUnits, sizes: Floats, seed: int) -> CountUnits:
    counts = units.counts.copy()
    for place in range(counts.shape[1]):
        whole = np.round(sizes[:, place]).astype(np.int64)
        # Every unit of every group draws by itself: groups that drew alike would lie closer together than they do.
        keys = np.char.add(np.char.add(units.keys, "|"), np.char.add(units.groups, f"|{place}"))
        counts[:, place] = thin_counts(units.counts[:, place], whole, keys, seed)
    return replace(units, counts=counts)


def _design(units: CountUnits) -> Design:
    labels = np.unique(units.groups, return_inverse=True)[1].astype(np.int8)
    return Design(labels, _numbers(units.strata))


def _numbers(names: NDArray[np.str_]) -> Integers:
    return np.unique(names, return_inverse=True)[1].astype(np.int64)
