"""Test the tables of measures: types, and that every number equals the measure's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from benchmarks.verdicts.texts import drawn
from biasledger.measures.comparisons import Comparison
from biasledger.measures.decisions.fixed_values import ClusterMeans, fixed_value_gap, fixed_value_gaps
from biasledger.measures.decisions.impact_ratios import (
    ImpactComparison,
    group_impact_ratios,
    impact_ratios,
    impact_test,
    impact_tests,
)
from biasledger.measures.decisions.paired import cochran_q, mcnemar, paired_tests
from biasledger.measures.decisions.positions import Rankings, position_test, position_tests
from biasledger.measures.engine.design import stable_seed
from biasledger.measures.gaps.gap import GapComparison, gap, gaps
from biasledger.measures.lists import PerturbedLists, robustness, robustness_tests, spreads
from biasledger.measures.markers import RatioUnits, stereotype_ratio, stereotype_ratios
from biasledger.measures.prices.associations import associations, category_associations
from biasledger.measures.prices.items import PriceComparison, level_shares, levels
from biasledger.measures.prices.means import mean_prices, means, price_spread
from biasledger.measures.prices.means import spreads as price_spreads
from biasledger.measures.schema import Table
from biasledger.measures.texts.similarity import similarity_gap, similarity_gaps
from biasledger.model_inputs.relations import as_relation
from tests.python.measures.simulated_decisions import levels as simulated_levels
from tests.python.measures.simulated_decisions import people, units_of, versions
from tests.python.measures.simulated_lists import spread_comparison
from tests.python.measures.simulated_prices import names, places, tastes
from tests.python.measures.simulated_prices import units_of as price_units
from tests.python.measures.tables import assert_typed

SETTINGS = 199, 0.05, 9


def random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def ratios(n: int) -> RatioUnits:
    return RatioUnits(np.arange(n), np.ones(n), random(1).random(n), np.ones(n))


GAP = GapComparison(
    "a", ("plain", "rank", ""), versions(simulated_levels(random(1), 30, 0.2)), *SETTINGS, 0.0, 2.0
)
RESUMES = np.repeat(np.arange(40), 4)
SELECTED = (simulated_levels(random(2), 40, 0.2) == 2).ravel()
IMPACT = ImpactComparison(
    "i", ("plain", ""), units_of(np.tile(range(4), 40), RESUMES, RESUMES, 1, SELECTED), *SETTINGS
)
BLOCK = Comparison("b", (), (simulated_levels(random(3), 50, 0.2) == 2).astype(np.int64))
RANKINGS = Rankings(np.arange(3), np.full(3, 3), np.array([9, 4, 2]), np.array([0, 0, 1]))
PRICES = PriceComparison("a", ("plain", "race"), names(random(1), n_names=8, n_sets=2), *SETTINGS, True)
PLACES = PriceComparison("p", ("plain", "place"), places(random(2), n_words=4, n_templates=6), *SETTINGS)


@dataclass(frozen=True)
class Case:
    """A table, a comparison, the results that the measure itself gives of it, and the first parts of its seed."""

    table: Callable[..., Table]
    comparison: Comparison[Any]
    own: Callable[..., Sequence[Any]]
    seeds: tuple[str, ...] = ()
    key: str = "comparison_key"


CASES = {
    "gaps": Case(
        gaps, GAP, lambda one, **draws: [gap(one.units, lowest=0.0, highest=2.0, **draws)], ("gap",)
    ),
    "impact ratios": Case(
        impact_ratios, IMPACT, lambda one, *, alpha, **_: group_impact_ratios(one.units, alpha=alpha)
    ),
    "impact tests": Case(
        impact_tests, IMPACT, lambda one, **draws: [impact_test(one.units, **draws)], ("impact_ratio",)
    ),
    "fixed values": Case(
        fixed_value_gaps,
        Comparison("f", ("plain", ""), ClusterMeans(random(4).random(20), 0.0, 1.0, 0.3), *SETTINGS),
        lambda one, **draws: [fixed_value_gap(one.units, **draws)],
        ("fixed_value_gap",),
    ),
    "paired tests": Case(
        paired_tests,
        BLOCK,
        lambda one, **_: [
            cochran_q(one.units),
            *(mcnemar(one.units[:, label], one.units[:, 0], label) for label in (1, 2, 3)),
        ],
        key="block_key",
    ),
    "positions": Case(
        position_tests,
        Comparison("p", (), RANKINGS),
        lambda one, **_: [position_test(**vars(one.units))],
        key="position_key",
    ),
    "robustness": Case(
        robustness_tests,
        Comparison(
            "r", ("jaccard",), PerturbedLists(random(2).beta(6, 6, 20), random(3).beta(8, 5, 20)), *SETTINGS
        ),
        lambda one, **draws: [robustness(**vars(one.units), **draws)],
    ),
    "stereotype ratios": Case(
        stereotype_ratios,
        Comparison("a", ("plain", "declared", "gender", ""), ratios(20), *SETTINGS),
        lambda one, **draws: [stereotype_ratio(one.units, **draws)],
        ("stereotype_ratio",),
    ),
    "similarities": Case(
        similarity_gaps,
        Comparison("s", ("cosine",), drawn(random(7), n_trials=3), *SETTINGS),
        lambda one, **draws: [similarity_gap(one.units, **draws)],
        ("similarity",),
    ),
    "price levels": Case(
        levels, PRICES, lambda one, **draws: level_shares(one.units, **draws), ("price_levels",)
    ),
    "mean prices": Case(
        means,
        PRICES,
        lambda one, **draws: mean_prices(one.units, has_reference=True, **draws),
        ("mean_prices",),
    ),
    "mean prices without a reference": Case(
        means,
        PLACES,
        lambda one, **draws: mean_prices(one.units, has_reference=False, **draws),
        ("mean_prices",),
    ),
    "price spreads": Case(
        price_spreads, PLACES, lambda one, **draws: [price_spread(one.units, **draws)], ("price_spread",)
    ),
    "associations": Case(
        category_associations,
        Comparison("c", ("plain", "race"), tastes(random(3), n_names=6), *SETTINGS),
        lambda one, **draws: associations(one.units, **draws),
        ("category_associations",),
    ),
    "list spreads": Case(spreads, spread_comparison(), lambda *_, **__: []),
}


@pytest.fixture(params=CASES.values(), ids=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


def test_a_table_is_typed_with_tested_and_untested_rows_together(case: Case) -> None:
    untested = replace(case.comparison, key="untested", n_permutations=0)
    frame = case.table([case.comparison, untested]).to_pandas()
    assert_typed(frame, case.table)
    is_tested = frame[case.key] == case.comparison.key
    assert set(frame[case.key]) == {case.comparison.key, "untested"}
    if "n_permutations" in frame:
        assert frame.loc[is_tested, "p_value"].notna().any()
        assert frame.loc[~is_tested, "p_value"].isna().all()
        assert (frame.loc[~is_tested, "n_permutations"] == 0).all()


def flat(result: object) -> dict[str, Any]:
    """The columns of a result: its test's are its own, and what was observed is no column."""
    values = asdict(result)
    values |= values.pop("test", None) or {} if not isinstance(values.get("test"), str) else {}
    return {name: value for name, value in values.items() if name not in ("observed", "if_unread")}


def test_numbers_are_the_measures_own(case: Case) -> None:
    one = case.comparison
    seed = stable_seed(9, *case.seeds, *one.name)
    own = pd.DataFrame([flat(result) for result in case.own(one, n_permutations=199, alpha=0.05, seed=seed)])
    frame = case.table([one]).to_pandas()
    assert set(own) <= set(frame)
    if len(own):
        own = own.astype(frame.dtypes[list(own)].to_dict())
        pd.testing.assert_frame_equal(frame[list(own)], own, check_exact=True)
        assert set(frame.get("seed", [seed])) == {seed}


def test_the_same_question_in_another_run_has_the_same_numbers_and_another_question_another_seed(
    case: Case,
) -> None:
    one, again, other = (
        case.table([replace(case.comparison, **changes)]).to_pandas()
        for changes in ({}, {"key": "another run"}, {"name": ("neutral", *case.comparison.name[1:])})
    )
    pd.testing.assert_frame_equal(one.drop(columns=case.key), again.drop(columns=case.key))
    assert "seed" not in one or set(one["seed"]).isdisjoint(other["seed"])


@pytest.mark.parametrize(
    ("table", "comparison", "empty"),
    [
        (gaps, replace(GAP, units=people([0, 0], [1, 0])), ["gap", "p_value", "adjusted_gap"]),
        (impact_tests, replace(IMPACT, units=replace(IMPACT.units, total=np.zeros(160))), ["smallest_ratio"]),
        (
            stereotype_ratios,
            Comparison("b", ("plain",), ratios(0), *SETTINGS),
            ["ratio", "p_value", "smallest_p"],
        ),
    ],
    ids=["a group is absent", "nobody is selected", "no texts"],
)
def test_what_has_no_value_is_typed_and_empty(
    table: Callable[..., Table], comparison: Comparison[Any], empty: list[str]
) -> None:
    frame = table([comparison]).to_pandas()
    assert_typed(frame, table)
    assert frame[empty].isna().all(axis=None)


def test_price_spreads_are_of_comparisons_without_reference_alone() -> None:
    assert price_spreads([PRICES, PLACES]).to_pandas()["comparison_key"].tolist() == ["p"]
    lone = price_units([0, 0], 0, range(2), np.ones((2, 2)))
    assert price_spreads([replace(PLACES, units=lone)]).to_pandas().empty


def test_duckdb_reads_the_missing_label_as_null() -> None:
    with duckdb.connect() as connection:
        rows = as_relation(connection, paired_tests([BLOCK])).select("test, label, typeof(label)").fetchall()
    assert rows == [
        ("cochran_q", None, "BIGINT"),
        *(("mcnemar", label, "BIGINT") for label in (1, 2, 3)),
    ]
