"""Pairs of runs to tidy tables of what each side reads at equal sizes: what the Python dbt models return."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biasledger.measures import prices
from biasledger.measures.equal_sizes import (
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
from biasledger.measures.errors import named_errors
from biasledger.measures.resampling import Design, Floats, Integers, stable_seed
from biasledger.measures.units import Units

READINGS = {
    "pair_key": "str",
    "side": "str",
    "measure": "str",
    "scheme": "str",
    "attribute": "str",
    "group_name": "str",
    "reference_group": "str",
    "subject": "str",
    "value": "float64",
    "arm_low": "float64",
    "arm_high": "float64",
    "n_units": "int64",
}
"""side: baseline or run. arm_low, arm_high: how far the 95 % interval reaches below and above the value."""

_SIDES = ("baseline", "run")
_MEASURES_OF_FEATURES = {
    "unanswered": "unanswered_spread",
    "shortfall": "shortfall_spread",
    "repeated": "repeat_spread",
    "ndcg": "relevance_spread",
}


@dataclass(frozen=True)
class PairName:
    """Which pair of runs, and which question of both: attribute, groups and subject as in the findings."""

    pair_key: str
    scheme: str
    attribute: str
    group_name: str
    reference_group: str
    subject: str
    alpha: float
    seed: int

    def seed_for(self, measure: str) -> int:
        """The seed of a measure's draws: the same for both sides, and for the same question of every pair."""
        return stable_seed(
            self.seed,
            measure,
            self.scheme,
            self.attribute,
            self.group_name,
            self.reference_group,
            self.subject,
        )


@dataclass(frozen=True)
class WordPair:
    """Texts of one contrast, before and after."""

    name: PairName
    sides: tuple[WordUnits, WordUnits]


@dataclass(frozen=True)
class Cells:
    """One feature of lists in one run: values (n_subjects, n_groups), NaN where absent; subjects (n_subjects,) names."""

    values: Floats
    subjects: NDArray[np.str_]


@dataclass(frozen=True)
class ListPair:
    """One feature of one attribute's lists, before and after; columns are the same groups on both sides.

    feature: similarity (then scheme names which), unanswered, shortfall, repeated or ndcg.
    """

    name: PairName
    feature: str
    similarity: str
    is_personality: bool
    sides: tuple[Cells, Cells]


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
        return CountUnits(
            self.keys[kept], self.groups[kept], self.strata[kept], self.clusters[kept], self.counts[kept]
        )


@dataclass(frozen=True)
class CountPair:
    """What the groups of one attribute got, before and after; n_candidates as in `Units`."""

    name: PairName
    sides: tuple[CountUnits, CountUnits]
    n_candidates: int = 1


def word_sizes(pairs: Iterable[WordPair]) -> pd.DataFrame:
    """A row a pair, contrast, side and measure of words, columns READINGS."""
    rows = []
    for pair in pairs:
        with named_errors(pair.name.pair_key):
            for side, units in zip(_SIDES, common_texts(*pair.sides), strict=True):
                readings = word_readings(units, seed=pair.name.seed_for("words"), alpha=pair.name.alpha)
                rows += [_row(pair.name, side, measure, reading) for measure, reading in readings.items()]
    return _frame(rows)


def list_sizes(pairs: Iterable[ListPair]) -> pd.DataFrame:
    """A row a pair, attribute, side and measure of lists, columns READINGS."""
    rows = []
    for pair in pairs:
        (one, other), name = pair.sides, pair.name
        with named_errors(name.pair_key):
            for side, values in zip(
                _SIDES, common_values(one.values, one.subjects, other.values, other.subjects), strict=True
            ):
                readings = spread_readings(values, seed=name.seed_for(pair.feature), alpha=name.alpha)
                for measure, reading in _list_measures(pair, readings, values):
                    is_similarity = pair.feature == "similarity"
                    row = _row(name, side, measure, reading)
                    rows.append(
                        {
                            **row,
                            "scheme": pair.similarity if is_similarity else name.scheme,
                            "reference_group": "(neutral)" if is_similarity else "(each other)",
                        }
                    )
    return _frame(rows)


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
    """A row a pair, attribute and side: the smallest impact ratio, columns READINGS.

    counts (n_units, 1, 2): selected and not selected.
    """
    rows = []
    for pair in pairs:
        with named_errors(pair.name.pair_key):
            for side, units in zip(_SIDES, _common_counts(pair), strict=True):
                if np.unique(units.groups).size < 2:
                    continue
                counts = units.counts[:, 0]
                reading = impact_reading(
                    Units(
                        _design(units),
                        _numbers(units.clusters),
                        counts.sum(axis=1),
                        counts[:, 0],
                        pair.n_candidates,
                    ),
                    alpha=pair.name.alpha,
                    seed=pair.name.seed_for("impact_ratio"),
                )
                if reading is not None:
                    rows.append(_row(pair.name, side, "impact_ratio", reading))
    return _frame(rows)


def price_sizes(pairs: Iterable[CountPair]) -> pd.DataFrame:
    """A row a pair, attribute and side: how far mean price levels lie apart, columns READINGS.

    counts (n_units, n_sets, n_levels): items of each price level.
    """
    rows = []
    for pair in pairs:
        with named_errors(pair.name.pair_key):
            for side, units in zip(_SIDES, _common_counts(pair), strict=True):
                n_groups = np.unique(units.groups).size
                if n_groups < 2:
                    continue
                reading = price_reading(
                    prices.Units(
                        _design(units), _numbers(units.clusters), units.counts[:, np.newaxis], n_groups
                    ),
                    alpha=pair.name.alpha,
                    seed=pair.name.seed_for("price_spread"),
                )
                if reading is not None:
                    rows.append(_row(pair.name, side, "price_spread", reading))
    return _frame(rows)


def _common_counts(pair: CountPair) -> tuple[CountUnits, CountUnits]:
    """The units that both sides have, with equally many answers or items of each in every set."""
    cells, others = (
        np.char.add(np.char.add(units.keys.astype(np.str_), "|"), units.groups.astype(np.str_))
        for units in pair.sides
    )
    kept, other_kept = common_cells(cells, others)
    one, other = pair.sides[0].keep(kept), pair.sides[1].keep(other_kept)
    order, other_order = np.argsort(cells[kept]), np.argsort(others[other_kept])
    one, other = one.keep(order), other.keep(other_order)
    sizes = np.minimum(one.counts.sum(axis=2), other.counts.sum(axis=2))
    has_any = sizes.sum(axis=1) > 0
    one, other, sizes = one.keep(np.flatnonzero(has_any)), other.keep(np.flatnonzero(has_any)), sizes[has_any]
    seed = pair.name.seed_for("sizes")
    return _thinned(one, sizes, seed), _thinned(other, sizes, seed)


def _thinned(units: CountUnits, sizes: Floats, seed: int) -> CountUnits:
    counts = units.counts.copy()
    for place in range(counts.shape[1]):
        whole = np.round(sizes[:, place]).astype(np.int64)
        # Every unit of every group draws by itself: groups that drew alike would lie closer together than they do.
        keys = np.char.add(np.char.add(units.keys, "|"), np.char.add(units.groups, f"|{place}"))
        counts[:, place] = thin_counts(units.counts[:, place], whole, keys, seed)
    return CountUnits(units.keys, units.groups, units.strata, units.clusters, counts)


def _design(units: CountUnits) -> Design:
    labels = np.unique(units.groups, return_inverse=True)[1].astype(np.int8)
    return Design(labels, _numbers(units.strata))


def _numbers(names: NDArray[np.str_]) -> Integers:
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def _row(name: PairName, side: str, measure: str, reading: Reading) -> dict[str, object]:
    return {
        "pair_key": name.pair_key,
        "side": side,
        "measure": measure,
        "scheme": name.scheme,
        "attribute": name.attribute,
        "group_name": name.group_name,
        "reference_group": name.reference_group,
        "subject": name.subject,
        "value": reading.value,
        "arm_low": reading.arm_low,
        "arm_high": reading.arm_high,
        "n_units": reading.n_units,
    }


def _frame(rows: list[dict[str, object]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(READINGS)).astype(READINGS)
