"""Test the tables of prices and categories: types, rows, and that every number equals the measure's."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest

from biasledger.measures.comparisons import Comparison
from biasledger.measures.engine.design import stable_seed
from biasledger.measures.prices.associations import associations, category_associations
from biasledger.measures.prices.items import PriceComparison, level_shares, levels
from biasledger.measures.prices.means import mean_prices, means, price_spread, spreads
from tests.python.measures.simulated_prices import names, places, tastes, units_of
from tests.python.measures.tables import assert_typed


def price_comparison(**changes: object) -> PriceComparison:
    units = names(np.random.default_rng(1), n_names=8, n_sets=2)
    return replace(PriceComparison("a", ("plain", "race"), units, 99, 0.05, 9, True), **changes)


def place_comparison(**changes: object) -> PriceComparison:
    units = places(np.random.default_rng(2), n_words=4, n_templates=6)
    return replace(PriceComparison("p", ("plain", "location"), units, 99, 0.05, 9), **changes)


def association_comparison(**changes: object) -> Comparison:
    units = tastes(np.random.default_rng(3), n_names=6)
    name = ("plain", "race", "black", "white")
    return replace(Comparison("c", name, units, 99, 0.05, 9), **changes)


@pytest.mark.parametrize(
    ("table", "comparison"),
    [
        (levels, price_comparison),
        (means, price_comparison),
        (means, place_comparison),
        (spreads, place_comparison),
        (category_associations, association_comparison),
    ],
)
class TestEveryTable:
    def test_is_typed_with_tested_and_untested_rows_together(self, table, comparison):
        frame = table([comparison(), comparison(key="b", n_permutations=0)]).to_pandas()
        assert_typed(frame, table)
        assert sorted(set(frame["comparison_key"])) == sorted({comparison().key, "b"})
        assert frame.loc[frame["comparison_key"] == "b", "p_value"].isna().all()
        assert frame.loc[frame["comparison_key"] != "b", "p_value"].notna().any()

    def test_same_question_in_another_run_has_the_same_numbers_and_another_question_another_seed(
        self, table, comparison
    ):
        one = table([comparison()]).to_pandas().drop(columns="comparison_key")
        again = table([comparison(key="another run")]).to_pandas().drop(columns="comparison_key")
        pd.testing.assert_frame_equal(one, again)
        other = table([comparison(name=("neutral", *comparison().name[1:]))]).to_pandas()
        assert set(one["seed"]).isdisjoint(other["seed"])


def own_rows(key, seed, results):
    return pd.DataFrame([{"comparison_key": key, **asdict(row), "seed": seed} for row in results])


def test_numbers_are_the_measures_own():
    units, settings = price_comparison().units, {"n_permutations": 99, "alpha": 0.05}
    seed = stable_seed(9, "price_levels", "plain", "race")
    own = own_rows("a", seed, level_shares(units, seed=seed, **settings))
    pd.testing.assert_frame_equal(levels([price_comparison()]).to_pandas(), own)
    seed = stable_seed(9, "mean_prices", "plain", "race")
    own = own_rows("a", seed, mean_prices(units, has_reference=True, seed=seed, **settings))
    pd.testing.assert_frame_equal(means([price_comparison()]).to_pandas(), own)
    seed = stable_seed(9, "category_associations", "plain", "race", "black", "white")
    own = own_rows("c", seed, associations(association_comparison().units, seed=seed, **settings))
    own = own.astype({"n_blocks": "Int64"})
    pd.testing.assert_frame_equal(category_associations([association_comparison()]).to_pandas(), own)


def test_spreads_are_of_comparisons_without_reference_alone():
    frame = spreads([price_comparison(), place_comparison()]).to_pandas()
    [row] = frame.to_dict("records")
    seed = stable_seed(9, "price_spread", "plain", "location")
    own = price_spread(place_comparison().units, n_permutations=99, alpha=0.05, seed=seed)
    values = asdict(own)
    values |= values.pop("test")
    del values["observed"]
    assert row == {"comparison_key": "p", **values, "seed": seed}
    assert row["n_clusters"] == 6
    lone = units_of([0, 0], 0, range(2), np.ones((2, 2)))
    assert spreads([place_comparison(units=lone)]).to_pandas().empty
