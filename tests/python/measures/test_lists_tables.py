"""Test the tables of list measures: types, rows, and that every number equals the measure's."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pandas as pd

from biasledger.measures.comparisons import Comparison
from biasledger.measures.engine.design import stable_seed
from biasledger.measures.lists import (
    STATISTICS,
    Lists,
    PerturbedLists,
    noise_floor,
    robustness,
    robustness_tests,
    spread,
    spreads,
)
from tests.python.measures.tables import assert_typed

NAME = ("plain", "items", "matched", "clean", "music", "gender")


def spread_comparison(features=None, reruns=None, **changes: object) -> Comparison[Lists]:
    rng = np.random.default_rng(1)
    similarities = rng.beta(6, 6, size=(20, 3))
    similarities[4, 1] = np.nan
    refused = np.isnan(similarities).astype(float)
    own = {"jaccard": similarities, "unanswered": refused, "ndcg": np.full((20, 3), np.nan)}
    again = {"jaccard": rng.beta(6, 6, size=(12, 5))}
    lists = Lists(own if features is None else features, again if reruns is None else reruns)
    return replace(Comparison("a", NAME, lists, 199, 0.05, 9), **changes)


def robustness_comparison(key: str = "r", **changes: object) -> Comparison[PerturbedLists]:
    rng = np.random.default_rng(2)
    lists = replace(PerturbedLists(rng.beta(6, 6, 20), rng.beta(8, 5, 20)), **changes)
    name = ("jaccard", "plain", "items", "typo_swap", "music", "gender")
    return Comparison(key, name, lists, 199, 0.05, 9)


class TestSpreads:
    def test_is_typed_with_tested_and_untested_rows_together(self):
        frame = spreads(
            [spread_comparison(), spread_comparison(key="b", n_permutations=0, reruns={})]
        ).to_pandas()
        assert_typed(frame, spreads)
        assert frame.loc[frame["comparison_key"] == "b", "p_value"].isna().all()
        assert (frame.loc[frame["comparison_key"] == "b", "n_permutations"] == 0).all()

    def test_similarities_get_every_statistic_shares_their_range_and_absent_features_no_row(self):
        frame = spreads([spread_comparison()]).to_pandas()
        assert list(zip(frame["feature"], frame["statistic"], strict=True)) == [
            *(("jaccard", name) for name in STATISTICS),
            ("unanswered", "range"),
        ]

    def test_numbers_are_the_measures_own(self):
        comparison = spread_comparison()
        frame = spreads([comparison]).to_pandas().set_index(["feature", "statistic"])
        seed = stable_seed(9, "jaccard", *NAME)
        own = spread(comparison.units.features["jaccard"], n_permutations=199, alpha=0.05, seed=seed)
        floors = noise_floor(comparison.units.reruns["jaccard"], 3, seed=stable_seed(seed, "noise_floor"))
        for name in STATISTICS:
            row, result = frame.loc[("jaccard", name)], own[name]
            assert (row["value"], row["standard_error"], row["interval_low"], row["interval_high"]) == (
                result.value, result.standard_error, result.interval_low, result.interval_high,
            )  # fmt: skip
            assert (row["chance"], row["debiased"]) == (result.chance, result.debiased)
            assert (row["null_mean"], row["null_sd"], row["p_value"], row["n_permutations"]) == (
                result.test.null_mean, result.test.null_sd, result.test.p_value, result.test.n_permutations,
            )  # fmt: skip
            assert (row["noise_floor"], row["noise_floor_high"]) == (floors[name].mean, floors[name].high)
            assert (row["seed"], row["is_stopped_early"]) == (seed, result.test.is_stopped_early)
            assert (row["n_subjects"], row["n_smallest_group"], row["n_cells"]) == (20, 19, 59)

    def test_features_without_reruns_have_no_floor(self):
        frame = spreads([spread_comparison()]).to_pandas().set_index("feature")
        assert np.isnan(frame.loc["unanswered", "noise_floor"])
        assert frame.loc["jaccard", "noise_floor"].notna().all()

    def test_floor_is_for_as_many_groups_as_have_lists(self):
        full = spread_comparison()
        wide = np.column_stack([full.units.features["jaccard"], np.full(20, np.nan)])
        frames = [
            spreads([spread_comparison(features={"jaccard": values})]).to_pandas()
            for values in (full.units.features["jaccard"], wide)
        ]
        pd.testing.assert_frame_equal(*frames)

    def test_subjects_with_one_list_count_as_cells_alone(self):
        values = np.array(
            [[0.1, 0.2, np.nan], [np.nan, 0.4, np.nan], [np.nan, np.nan, np.nan], [0.3, 0.5, 0.6]]
        )
        frame = spreads([spread_comparison(features={"jaccard": values}, reruns={})]).to_pandas()
        counts = zip(frame["n_subjects"], frame["n_smallest_group"], frame["n_cells"], strict=True)
        # Two subjects have lists to permute; the third group has a list of one of them.
        assert set(counts) == {(2, 1, 6)}

    def test_same_question_in_another_run_has_the_same_seed_and_another_question_has_not(self):
        seeds = [
            spreads([one]).to_pandas()["seed"].iloc[0]
            for one in (
                spread_comparison(),
                spread_comparison(key="another run"),
                spread_comparison(name=(*NAME[:-1], "age")),
            )
        ]
        assert seeds[0] == seeds[1] != seeds[2]


class TestRobustnessTests:
    def test_is_typed_with_tested_and_untested_rows_together(self):
        frame = robustness_tests(
            [robustness_comparison(), robustness_comparison(key="s", rerun_similarities=np.full(20, np.nan))]
        ).to_pandas()
        assert_typed(frame, robustness_tests)
        assert frame["p_value"].notna().tolist() == [True, False]
        assert frame["n_pairs"].tolist() == [20, 0]

    def test_numbers_are_the_measures_own(self):
        comparison = robustness_comparison()
        [row] = robustness_tests([comparison]).to_pandas().to_dict("records")
        seed = stable_seed(9, *comparison.name)
        own = asdict(robustness(**vars(comparison.units), n_permutations=199, seed=seed))
        own |= own.pop("test")
        del own["observed"]
        assert row == {"comparison_key": "r", **own, "seed": seed}
        assert row["n_pairs"] == 20
