"""Test runs at equal sizes: what is kept, and that a model asked twice gives the same with any number of questions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from biasledger.measures.engine.design import Design
from biasledger.measures.equal_sizes.counts import CountPair, CountUnits, thin_counts
from biasledger.measures.equal_sizes.decisions import impact_reading, selection_sizes
from biasledger.measures.equal_sizes.lists import (
    Cells,
    ListPair,
    common_values,
    list_sizes,
    spread_readings,
)
from biasledger.measures.equal_sizes.prices import price_sizes
from biasledger.measures.equal_sizes.readings import SIDES, common_cells
from biasledger.measures.equal_sizes.words import WordUnits, common_texts, word_readings
from biasledger.measures.gaps.units import Units
from biasledger.measures.lists import spread
from biasledger.measures.prices.items import ItemCounts
from biasledger.measures.prices.means import price_spread
from biasledger.measures.words.divergence import divergence
from tests.python.measures.simulated_texts import corpus

CELLS = st.lists(st.sampled_from("abcde"), max_size=30)


@given(CELLS, CELLS)
def test_both_sides_keep_the_same_number_in_every_cell(one: list[str], other: list[str]) -> None:
    cells, others = np.array(one, dtype=np.str_), np.array(other, dtype=np.str_)
    kept, other_kept = common_cells(cells, others)
    for cell in "abcde":
        n = min(one.count(cell), other.count(cell))
        # The first ones in the order given, and no more.
        assert [i for i in kept if one[i] == cell] == [i for i, name in enumerate(one) if name == cell][:n]
        assert [i for i in other_kept if other[i] == cell] == [
            i for i, name in enumerate(other) if name == cell
        ][:n]


def _texts(rng: np.random.Generator, n_marked: int, n_reference: int, effect: float) -> WordUnits:
    features, design = corpus(rng, n_marked, n_reference, effect=effect)
    return WordUnits(design.labels, design.strata.astype(np.str_), np.arange(design.n_units), features)


@pytest.mark.slow
def test_the_same_bias_reads_alike_at_equal_sizes_and_not_otherwise() -> None:
    rng = np.random.default_rng(3)
    naive, equal = [], []
    for _ in range(12):
        small, large = _texts(rng, 12, 12, 0.4), _texts(rng, 90, 90, 0.4)
        thinned = common_texts(small, large)
        assert [units.labels.size for units in thinned] == [24, 24]
        of_words = [word_readings(units, seed=1, alpha=0.05) for units in thinned]
        equal.append(
            [
                of_words[1][name].value - of_words[0][name].value
                for name in ("classifier_accuracy", "marked_words")
            ]
        )
        full = [word_readings(units, seed=1, alpha=0.05) for units in (small, large)]
        naive.append(
            [full[1][name].value - full[0][name].value for name in ("classifier_accuracy", "marked_words")]
        )
    # Asked seven times as often, the same model seems worse if the two values are subtracted without correction.
    assert np.mean(naive, axis=0)[0] > 0.05
    assert np.mean(naive, axis=0)[1] > 2
    error = np.std(equal, axis=0, ddof=1) / np.sqrt(12)
    assert (np.abs(np.mean(equal, axis=0)) < 3 * error).all()


@pytest.mark.slow
def test_differences_of_the_same_model_lie_inside_their_intervals() -> None:
    rng = np.random.default_rng(7)
    deviates: dict[str, list[float]] = {}
    for _ in range(60):
        one, other = common_texts(_texts(rng, 24, 24, 0.4), _texts(rng, 24, 20, 0.4))
        before, after = (word_readings(units, seed=1, alpha=0.05) for units in (one, other))
        for name in before.keys() & after.keys():
            arm = np.hypot(before[name].arm_high, after[name].arm_low)
            deviates.setdefault(name, []).append((after[name].value - before[name].value) / arm)
    assert set(deviates) == {"word_divergence", "classifier_accuracy", "marked_words"}
    for name, values in deviates.items():
        outside = np.sum(np.abs(values) > 1)
        # At 5 % of 60, eight or more come once in a hundred times.
        assert stats.binom.sf(outside - 1, 60, 0.05) > 0.01, name


def _asked(units: WordUnits, n_questions: int, *, moves: bool) -> WordUnits:
    """Texts as answers to so many questions of each group; prompts move, or answers do."""
    asked = np.char.add(
        units.labels.astype(np.str_), (np.arange(units.labels.size) % n_questions).astype(np.str_)
    )
    return replace(units, prompts=asked if moves else None)


@pytest.mark.parametrize("moves", [(True, False), (False, True)])
def test_runs_of_which_one_moves_prompts_are_compared_by_answers(moves: tuple[bool, bool]) -> None:
    rng = np.random.default_rng(13)
    one, other = common_texts(
        _asked(_texts(rng, 40, 40, 0.1), 5 - moves[1], moves=moves[0]),
        _asked(_texts(rng, 32, 40, 0.9), 5 - moves[0], moves=moves[1]),
    )
    assert [np.bincount(units.labels).tolist() for units in (one, other)] == [[40, 32], [40, 32]]
    assert [units.prompts for units in (one, other)] == [None, None]
    before, after = (word_readings(units, seed=1, alpha=0.05) for units in (one, other))
    assert before.keys() == after.keys() == {"word_divergence", "classifier_accuracy", "marked_words"}
    arm = np.hypot(before["word_divergence"].arm_high, after["word_divergence"].arm_low)
    assert after["word_divergence"].value - before["word_divergence"].value > arm


def test_where_prompts_move_in_both_the_common_ones_are_kept() -> None:
    rng = np.random.default_rng(13)
    one, other = common_texts(
        _asked(_texts(rng, 40, 40, 0.1), 5, moves=True), _asked(_texts(rng, 40, 40, 0.1), 8, moves=True)
    )
    assert one.prompts is not None
    assert other.prompts is not None
    assert sorted(one.prompts.tolist()) == sorted(other.prompts.tolist())
    assert set(one.prompts) == {f"{label}{number}" for label in "01" for number in range(5)}


def test_a_worse_model_is_recognised() -> None:
    rng = np.random.default_rng(11)
    one, other = common_texts(_texts(rng, 45, 45, 0.1), _texts(rng, 45, 45, 0.9))
    before, after = (word_readings(units, seed=1, alpha=0.05) for units in (one, other))
    for name in ("word_divergence", "classifier_accuracy"):
        arm = np.hypot(before[name].arm_high, after[name].arm_low)
        assert after[name].value - before[name].value > 2 * arm


def test_at_full_size_readings_are_the_measures_own() -> None:
    rng = np.random.default_rng(5)
    units = _texts(rng, 30, 30, 0.5)
    design = Design(units.labels, units.strata.astype(np.int64))
    own = divergence(units.features, design, n_permutations=1999, seed=9)
    assert own.test is not None
    reading = word_readings(units, seed=1, alpha=0.05)["word_divergence"]
    assert reading.value == pytest.approx(own.test.debiased, abs=4 * own.test.null_sd / np.sqrt(199))
    assert reading.arm_low == pytest.approx(1.959964 * own.standard_error, rel=1e-12)


def test_lists_are_compared_over_the_subjects_that_both_have() -> None:
    rng = np.random.default_rng(2)
    values, subjects = rng.random((30, 3)), np.array([f"s{i:02d}" for i in range(30)])
    other = rng.random((20, 3))
    other[4, 1] = np.nan
    one, two = common_values(values, subjects, other, subjects[10:])
    assert one.shape == two.shape == (20, 3)
    assert np.isnan(one[4, 1])
    assert np.isnan(two[4, 1])
    assert (one[0] == values[10]).all()
    readings = spread_readings(one, seed=4, alpha=0.05)
    own = spread(one, n_permutations=199, alpha=0.05, seed=4, stop_after=None)
    assert own["range"].test is not None
    assert readings["range"].value == pytest.approx(own["range"].debiased)
    assert spread_readings(np.zeros((10, 3)), seed=4, alpha=0.05)["range"].arm_low == pytest.approx(
        1 - 0.025 ** (1 / 10)
    )


def test_answers_are_thinned_without_replacement_and_without_preference() -> None:
    counts = np.tile([[30.0, 10.0]], (4000, 1))
    keys = np.array([f"u{i}" for i in range(4000)])
    thinned = thin_counts(counts, np.full(4000, 8), keys, seed=1)
    assert (thinned.sum(axis=1) == 8).all()
    reference = stats.hypergeom(40, 30, 8)
    assert thinned[:, 0].mean() == pytest.approx(reference.mean(), abs=4 * reference.std() / np.sqrt(4000))
    assert thinned[:, 0].var() == pytest.approx(reference.var(), rel=0.1)
    assert (thin_counts(counts[::-1], np.full(4000, 8), keys[::-1], seed=1)[::-1] == thinned).all()
    assert (thin_counts(counts, np.full(4000, 99), keys, seed=1) == counts).all()


def _selected(rng: np.random.Generator, n: int, rates: dict[str, float]) -> CountUnits:
    keys = np.repeat([f"r{i}" for i in range(40)], len(rates))
    groups = np.tile(list(rates), 40)
    chosen = rng.binomial(n, [rates[group] for group in groups]).astype(float)
    return CountUnits(keys, groups, keys, keys, np.column_stack([chosen, n - chosen])[:, np.newaxis])


def test_impact_ratios_do_not_fall_with_the_number_of_answers() -> None:
    rng = np.random.default_rng(8)
    name = ("selected", "race", "(all)", "(best off)", "")
    rates = {"a": 0.5, "b": 0.5, "c": 0.5}
    naive, equal = [], []
    for _ in range(40):
        sides = _selected(rng, 1, rates), _selected(rng, 40, rates)
        frame = selection_sizes([CountPair("pair", name, sides, seed=1)]).to_pandas().set_index("side").value
        equal.append(frame["run"] - frame["baseline"])
        whole = []
        for units in sides:
            labels = np.unique(units.groups, return_inverse=True)[1].astype(np.int8)
            strata = np.unique(units.keys, return_inverse=True)[1].astype(np.int64)
            counts = units.counts[:, 0]
            reading = impact_reading(
                Units(Design(labels, strata), strata, counts.sum(axis=1), counts[:, 0]), alpha=0.05, seed=1
            )
            assert reading is not None
            whole.append(reading.value)
        naive.append(whole[1] - whole[0])
    assert np.mean(naive) > 0.1
    assert abs(np.mean(equal)) < 3 * np.std(equal) / np.sqrt(40)


def _priced(rng: np.random.Generator, n: int, shares: dict[str, list[float]]) -> CountUnits:
    keys = np.repeat([f"name{i}" for i in range(12)], len(shares))
    groups = np.tile(list(shares), 12)
    levels = np.array([rng.multinomial(n, shares[group]) for group in groups], dtype=float)
    names = np.char.add(keys, groups)
    return CountUnits(names, groups, np.full(keys.size, ""), names, levels[:, np.newaxis])


def test_price_levels_are_read_at_the_smaller_number_of_items() -> None:
    rng = np.random.default_rng(21)
    name = ("price", "race", "", "(each other)", "")
    alike = {"a": [0.2, 0.5, 0.3], "b": [0.2, 0.5, 0.3]}
    cheaper = {"a": [0.6, 0.3, 0.1], "b": [0.1, 0.3, 0.6]}
    small, large, worse = (_priced(rng, n, shares) for n, shares in ((20, alike), (80, alike), (80, cheaper)))
    frame = price_sizes(
        [CountPair("fair", name, (small, large)), CountPair("worse", name, (small, worse))]
    ).to_pandas()
    rows = frame.set_index(["pair_key", "side"])
    assert set(frame.measure) == {"price_spread"}
    assert (frame.n_units == 24).all()
    assert rows.loc[("fair", "baseline")].equals(rows.loc[("worse", "baseline")])
    own = ItemCounts(small.design, small.cluster_numbers, small.counts[:, np.newaxis], 2)
    result = price_spread(own, n_permutations=199, alpha=0.05, seed=0, stop_after=None)
    assert result is not None
    assert result.test is not None
    # The smaller side is whole; only its permutations are drawn anew.
    baseline, run = rows.loc[("fair", "baseline")], rows.loc[("fair", "run")]
    assert baseline.value == pytest.approx(result.debiased, abs=0.05)
    assert baseline.arm_low == baseline.arm_high == pytest.approx(2.0687 * result.standard_error, rel=1e-3)
    assert abs(run.value - baseline.value) < np.hypot(run.arm_high, baseline.arm_low)
    # From a share of .6 dear items to .6 cheap ones is a whole level.
    assert rows.loc[("worse", "run")].value == pytest.approx(1.0, abs=0.2)


def _cells(values: NDArray[np.float64], first: int = 0) -> Cells:
    return Cells(values, np.array([f"s{first + i:02d}" for i in range(len(values))]))


@pytest.mark.parametrize(
    ("feature", "n_groups", "is_personality", "measures"),
    [
        ("similarity", 3, False, ["snsr", "snsv"]),
        ("similarity", 2, False, ["snsr"]),
        ("similarity", 3, True, ["snsr", "snsv", "personality_fairness"]),
        ("unanswered", 3, False, ["unanswered_spread"]),
        ("shortfall", 3, False, ["shortfall_spread"]),
        ("repeated", 3, False, ["repeat_spread"]),
        ("ndcg", 3, False, ["relevance_spread"]),
    ],
)
def test_lists_are_read_by_the_measures_of_their_feature(
    feature: str, n_groups: int, is_personality: bool, measures: list[str]
) -> None:
    values = np.random.default_rng(22).random((30, n_groups))
    values[:, 0] += 0.5
    pair = ListPair(
        "pair",
        ("jaccard", "religion", "Muslim", "", ""),
        (_cells(values), _cells(values[10:], 10)),
        feature=feature,
        similarity="jaccard",
        is_personality=is_personality,
    )
    frame = list_sizes([pair]).to_pandas()
    assert list(frame.side) == ["baseline"] * len(measures) + ["run"] * len(measures)
    assert list(frame.measure) == measures * 2
    assert set(frame.reference_group) == {"(neutral)" if feature == "similarity" else "(each other)"}
    assert (frame.n_units == 20).all()
    # Both sides keep the same subjects, whose values are the same here.
    one, other = (frame[frame.side == side].drop(columns="side").reset_index(drop=True) for side in SIDES)
    assert one.equals(other)
    own = spread(values[10:], n_permutations=199, alpha=0.05, seed=0, stop_after=None)
    for row in one.itertuples():
        statistic = {"snsv": "sd", "personality_fairness": "mean_absolute_deviation"}.get(
            row.measure, "range"
        )
        debiased = own[statistic].debiased
        expected = 1 - debiased if row.measure == "personality_fairness" else debiased
        assert row.value == pytest.approx(expected, abs=0.03)
        assert 0 < row.arm_low < 0.5


def test_lists_of_fewer_than_two_common_subjects_are_not_read() -> None:
    values = np.random.default_rng(23).random((5, 3))
    pair = ListPair("pair", ("", "religion", "", "", ""), (_cells(values), _cells(values, 4)))
    assert list_sizes([pair]).to_pandas().empty


def _customers(rng: np.random.Generator, week: str, rates: dict[str, float], n: int) -> CountUnits:
    groups = np.repeat([*rates], n)
    selected = rng.random(groups.size) < np.repeat([*rates.values()], n)
    keys = np.array([f"{week} {customer}" for customer in rng.permutation(groups.size)])
    counts = np.column_stack([selected, ~selected]).astype(np.float64)[:, np.newaxis]
    return CountUnits(keys, groups, np.full(groups.size, "all"), keys, counts)


def of_weeks(weeks: list[CountUnits]) -> CountPair:
    one, other = weeks
    return CountPair(
        key="k",
        name=("selected", "sex", "(all)", "(best off)", ""),
        units=(one, other),
        alpha=0.05,
        seed=1,
    )


@pytest.mark.parametrize("turned", [False, True], ids=["group added", "group gone"])
def test_weeks_of_other_customers_are_compared_on_the_groups_of_both(turned: bool) -> None:
    rng = np.random.default_rng(4)
    weeks = [
        _customers(rng, "first", {"m": 0.8, "f": 0.7}, 60),
        _customers(rng, "second", {"m": 0.8, "f": 0.35, "d": 0.05}, 80),
    ]
    units = weeks[::-1] if turned else weeks
    read = selection_sizes([of_weeks(units)]).to_pandas().set_index("side")
    first, second = ("run", "baseline") if turned else ("baseline", "run")
    assert list(read.n_units) == [60, 60]
    assert read.value[first] == pytest.approx(0.7 / 0.8, abs=0.15)
    # The third group, a ratio of 1 to 16, does not count.
    assert read.value[second] == pytest.approx(0.35 / 0.8, abs=0.15)


@pytest.mark.parametrize(("n_shared", "kept"), [(29, 60), (30, 30), (31, 31)])
def test_runs_that_share_half_of_their_customers_are_compared_on_these(n_shared: int, kept: int) -> None:
    """Sixty customers a group in each week, of whom so many are the same in both."""
    weeks = []
    for week in ("first", "second"):
        names = [f"{'both' if place < n_shared else week} {place}" for place in range(60)]
        keys = np.array([f"{group} {name}" for group in "fm" for name in names])
        counts = np.tile([1.0, 0.0], (120, 1))[:, np.newaxis]
        weeks.append(CountUnits(keys, np.repeat(["f", "m"], 60), np.full(120, "all"), keys, counts))
    read = selection_sizes([of_weeks(weeks)]).to_pandas()
    assert list(read.n_units) == [kept, kept]


def test_customers_of_another_week_are_drawn_at_random_and_not_by_name() -> None:
    """The first half by name of the larger week's women is never selected; all others always are."""
    weeks = []
    for week, n in (("first", 30), ("second", 200)):
        keys = np.array([f"{week} {group} {place:03}" for group in "fm" for place in range(n)])
        selected = (np.tile(np.arange(n), 2) >= 100) | (np.repeat(["f", "m"], n) == "m") | (week == "first")
        counts = np.column_stack([selected, ~selected]).astype(np.float64)[:, np.newaxis]
        weeks.append(CountUnits(keys, np.repeat(["f", "m"], n), np.full(2 * n, "all"), keys, counts))
    read = selection_sizes([of_weeks(weeks)]).to_pandas().set_index("side")
    assert list(read.n_units) == [30, 30]
    assert read.value["baseline"] == 1.0
    assert read.value["run"] == pytest.approx(0.5, abs=0.25)
