"""Test worst-case bounds of gaps and impact ratios against every value that unread answers can have."""

from __future__ import annotations

import itertools
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest

from biasledger.measures.decisions.impact_ratios import (
    ImpactComparison,
    impact_bounds,
    impact_test,
    impact_tests,
)
from biasledger.measures.gaps.gap import GapComparison, bounded_gaps, gap, gap_bounds
from biasledger.measures.gaps.units import Units
from biasledger.measures.gaps.unread import Bounds, Unread
from biasledger.model_inputs.decisions import read_impact_comparisons
from biasledger.model_inputs.gaps import read_gap_comparisons
from tests.python.measures.simulated_decisions import units_of
from tests.python.measures.tables import assert_typed

NONE = {"n_permutations": 0, "alpha": 0.05, "seed": 1}


def read_and_unread(
    labels, strata, clusters, total, n_unread, lowest=0.0, highest=1.0
) -> tuple[Units, Unread]:
    """The units that were read, and all of them; each row has one answer, which was read or not."""
    labels, n_unread = np.asarray(labels), np.asarray(n_unread, float)
    everything = units_of(labels, strata, clusters, 1, total)
    kept = n_unread == 0
    read = units_of(
        labels[kept],
        everything.design.strata[kept],
        everything.clusters[kept],
        1,
        everything.total[kept],
    )
    return read, Unread(everything, n_unread, n_unread * lowest, n_unread * highest)


def completions(unread: Unread, values):
    """The units with every combination of values for the answers of the rows that have one unread answer each."""
    open_rows = np.flatnonzero(unread.n)
    for chosen in itertools.product(values, repeat=open_rows.size):
        total = unread.units.total.copy()
        total[open_rows] += chosen
        yield replace(unread.units, total=total)


@pytest.fixture
def labelled() -> tuple[Units, Unread]:
    """Labels 0, 1, 2 of 12 resumes under two names; of four versions the label is not read, of one resume neither."""
    rng = np.random.default_rng(4)
    labels, strata = np.tile([0, 1], 12), np.repeat(np.arange(12), 2)
    unread = np.zeros(24)
    unread[[2, 7, 10, 11]] = 1
    total = rng.integers(0, 3, 24) * (1 - unread)
    return read_and_unread(labels, strata, strata, total, unread, 0, 2)


def test_a_gap_s_bounds_are_those_of_all_labels_that_unread_answers_can_have(labelled) -> None:
    read, unread = labelled
    found = gap(read, lowest=0, highest=2, **NONE)
    bounds = gap_bounds(found, unread, lowest=0, highest=2, alpha=0.05)
    values = [
        gap(units, lowest=0, highest=2, **NONE).adjusted_gap for units in completions(unread, (0, 1, 2))
    ]
    assert bounds.n_unread == 4
    assert bounds.value_if_unread_low == pytest.approx(min(values))
    assert bounds.value_if_unread_high == pytest.approx(max(values))
    assert min(values) < found.adjusted_gap < max(values)


def test_the_interval_at_a_bound_is_that_of_the_completed_answers(labelled) -> None:
    read, unread = labelled
    found = gap(read, lowest=0, highest=2, **NONE)
    bounds = gap_bounds(found, unread, lowest=0, highest=2, alpha=0.05)
    lowest, highest = (
        gap(unread.completed((unread.units.design.labels == label) * 1.0), lowest=0, highest=2, **NONE)
        for label in (0, 1)
    )
    assert bounds.interval_if_unread_low == pytest.approx(min(lowest.adjusted_low, found.adjusted_low))
    assert bounds.interval_if_unread_high == pytest.approx(max(highest.adjusted_high, found.adjusted_high))


def test_the_range_of_an_unread_label_may_be_its_own_row_s() -> None:
    """Labels less the right one: with right labels 0 and 2, an unread answer is from 0 to 2 and from -2 to 0."""
    labels, strata = np.tile([0, 1], 6), np.repeat(np.arange(6), 2)
    n_unread = np.zeros(12)
    n_unread[[1, 3]] = 1
    numbers = np.arange(12)
    lowest, highest = np.where(numbers == 3, -2.0, 0), np.where(numbers == 1, 2.0, 0)
    read, unread = read_and_unread(labels, strata, strata, np.zeros(12), n_unread, lowest, highest)
    found = gap(read, lowest=-2, highest=2, **NONE)
    bounds = gap_bounds(found, unread, lowest=-2, highest=2, alpha=0.05)
    assert bounds.value_if_unread_low == pytest.approx(-2 / 6)
    assert bounds.value_if_unread_high == pytest.approx(2 / 6)


def test_names_lengthen_the_interval_at_a_bound_too() -> None:
    """Two names a group, reused in every resume: the results of one name say little about other names."""
    labels, strata = np.tile([0, 0, 1, 1], 10), np.repeat(np.arange(10), 4)
    n_unread = np.zeros(40)
    n_unread[::9] = 1
    total = np.tile([1.0, 0, 1, 1], 10) * (1 - n_unread)
    read, unread = read_and_unread(labels, strata, strata, total, n_unread)
    names = np.tile(np.arange(4), 10)
    bounds = [
        gap_bounds(gap(some, lowest=0, highest=1, **NONE), of_all, lowest=0, highest=1, alpha=0.05)
        for some, of_all in (
            (read, unread),
            (
                replace(read, names=names[n_unread == 0]),
                replace(unread, units=replace(unread.units, names=names)),
            ),
        )
    ]
    assert bounds[1].value_if_unread_low == bounds[0].value_if_unread_low
    assert bounds[1].interval_if_unread_low < bounds[0].interval_if_unread_low


@pytest.mark.parametrize("seed", range(5))
def test_a_ratio_s_bounds_are_those_of_all_that_may_have_been_selected(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 2], 20)
    n_unread = np.zeros(60)
    n_unread[rng.choice(60, 7, replace=False)] = 1
    selected = (rng.random(60) < np.repeat([0.7, 0.5, 0.4], 20)) * (1 - n_unread)
    read, unread = read_and_unread(labels, 0, np.arange(60), selected, n_unread)
    found = impact_test(read, **NONE)
    bounds = impact_bounds(found, unread, alpha=0.05)
    ratios = []
    for completed in completions(unread, (0, 1)):
        rates = [completed.total[labels == label].mean() for label in range(3)]
        ratios.append(min(rates) / max(rates))
    assert bounds.value_if_unread_low == pytest.approx(min(*ratios, found.smallest_ratio))
    # At most one of twenty is between two whole numbers of selected people.
    assert max(ratios) <= bounds.value_if_unread_high + 1e-12
    assert bounds.value_if_unread_high < max(*ratios, found.smallest_ratio) + 0.1
    assert (
        bounds.interval_if_unread_low
        <= found.interval_low
        <= found.interval_high
        <= bounds.interval_if_unread_high
    )


def test_rates_that_may_be_equal_have_a_ratio_of_one() -> None:
    selected, n_unread = [1] * 14 + [0] * 6, [0] * 14 + [1] * 6
    read, unread = read_and_unread([0] * 10 + [1] * 10, 0, np.arange(20), selected, n_unread)
    bounds = impact_bounds(impact_test(read, **NONE), unread, alpha=0.05)
    assert (bounds.value_if_unread_low, bounds.value_if_unread_high) == pytest.approx((0.4, 1.0))


def test_a_group_of_which_nobody_may_be_selected_has_a_ratio_of_zero() -> None:
    selected, n_unread = [1] * 5 + [0] * 15, [0] * 19 + [1]
    read, unread = read_and_unread([0] * 10 + [1] * 10, 0, np.arange(20), selected, n_unread)
    bounds = impact_bounds(impact_test(read, **NONE), unread, alpha=0.05)
    assert (bounds.value_if_unread_low, bounds.value_if_unread_high) == pytest.approx((0.0, 0.2))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": np.zeros(2)}, "equal length"),
        ({"n": np.full(3, 2.0)}, "from no to n unread"),
        ({"n": np.full(3, -1.0)}, "from no to n unread"),
        ({"lowest": np.full(3, 5.0)}, "lies above the highest"),
    ],
)
def test_what_cannot_be_is_refused(changes, message: str) -> None:
    units = units_of([0, 1, 1], 0, np.arange(3), 1, [0, 1, 0])
    good = Unread(units, np.array([1.0, 0, 0]), np.zeros(3), np.array([1.0, 0, 0]))
    assert good.n_total == 1
    with pytest.raises(ValueError, match=message):
        replace(good, **changes)


def test_what_was_read_lies_inside_the_bounds() -> None:
    bounds = Bounds.around(3, (0.5, 0.2, 0.8), (0.6, 0.3), (0.55, 0.7))
    assert bounds == Bounds(3, 0.5, 0.55, 0.2, 0.8)
    assert np.isnan(Bounds.around(3, (0.5, 0.2, 0.8), (0.4, np.nan), (0.6, 0.9)).interval_if_unread_low)


def test_tables_hold_bounds_where_something_is_unread(labelled) -> None:
    read, unread = labelled
    one = GapComparison("a", ("gap",), read, 99, 0.05, 9, 0.0, 2.0)
    frame = bounded_gaps([one, replace(one, key="b", unread=unread)]).to_pandas()
    assert_typed(frame, bounded_gaps)
    assert frame["n_unread"].tolist() == [0, 4]
    assert frame["value_if_unread_low"].isna().tolist() == [True, False]
    assert frame["adjusted_gap"].nunique() == frame["p_value"].nunique() == 1
    selected = replace(read, total=(read.total == 2).astype(float))
    ratio = ImpactComparison("a", ("ratio",), selected, 99, 0.05, 9)
    open_ratio = replace(unread, units=replace(unread.units, total=(unread.units.total == 2).astype(float)))
    frame = impact_tests(
        [ratio, replace(ratio, key="b", unread=replace(open_ratio, highest=unread.n))]
    ).to_pandas()
    assert_typed(frame, impact_tests)
    assert frame["n_unread"].tolist() == [0, 4]


class TestReading:
    comparisons = pd.DataFrame(
        {
            "comparison_key": ["a"],
            "run_id": "r",
            "mitigation": "plain",
            "outcome": "rank_value",
            "domain": "",
            "attribute": "race",
            "comparison": "against_reference",
            "group_name": "black",
            "reference_group": "white",
            "outcome_lowest": 0,
            "outcome_highest": 2,
            "n_permutations": 0,
            "alpha": 0.05,
            "seed": 7,
        }
    )
    members = pd.DataFrame(
        {
            "comparison_key": "a",
            "unit_id": np.arange(6),
            "label": [0, 1, 0, 1, 0, 1],
            "stratum_id": [0, 0, 1, 1, 2, 2],
            "cluster_id": [0, 0, 1, 1, 2, 2],
            "whole_id": np.arange(6),
            "n_candidates": 1.0,
            "n": [1.0, 0, 2, 1, 1, 1],
            "total": [2.0, 0, 3, 1, 0, 1],
            "n_unread": [0.0, 1, 1, 0, 0, 0],
            "unread_lowest": 0.0,
            "unread_highest": [0.0, 2, 2, 0, 0, 0],
        }
    )

    @pytest.mark.parametrize("read", [read_gap_comparisons, read_impact_comparisons])
    def test_unread_answers_are_apart_from_those_that_were_read(self, read) -> None:
        with duckdb.connect() as connection:
            frames = (connection.from_df(frame) for frame in (self.comparisons, self.members))
            (one,) = read(*frames)
        assert one.units.n.tolist() == [1, 2, 1, 1, 1]
        assert one.units.design.strata.tolist() == [0, 1, 1, 2, 2]
        assert one.unread.units.n.tolist() == [1, 1, 3, 1, 1, 1]
        assert one.unread.units.total.tolist() == [2, 0, 3, 1, 0, 1]
        assert one.unread.n.tolist() == [0, 1, 1, 0, 0, 0]
        assert one.unread.highest.tolist() == [0, 2, 2, 0, 0, 0]

    def test_where_all_was_read_nothing_is_open(self) -> None:
        members = self.members.assign(n=1.0, total=1.0, n_unread=0.0, unread_highest=0.0)
        with duckdb.connect() as connection:
            frames = (connection.from_df(frame) for frame in (self.comparisons, members))
            (one,) = read_gap_comparisons(*frames)
        assert one.unread is None
