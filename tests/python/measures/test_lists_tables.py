"""Test the rows of lists: features, floors, counts, and that every number equals the measure's."""

from __future__ import annotations

import numpy as np
import pandas as pd

from biasledger.measures.engine.design import stable_seed
from biasledger.measures.lists import (
    STATISTICS,
    noise_floor,
    spread,
    spreads,
)
from tests.python.measures.simulated_lists import NAME, spread_comparison


class TestSpreads:
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
