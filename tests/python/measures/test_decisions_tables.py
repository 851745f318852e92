"""Test the tables of decisions: types, rows, and that every number equals the measure's."""

from __future__ import annotations

from dataclasses import asdict, replace

import duckdb
import numpy as np
import pandas as pd
import pytest

from biasledger.measures.comparisons import Comparison
from biasledger.measures.decisions.gaps import GapComparison, gap, gaps
from biasledger.measures.decisions.impact_ratios import (
    ImpactComparison,
    group_impact_ratios,
    impact_ratios,
    impact_test,
    impact_tests,
)
from biasledger.measures.decisions.paired import cochran_q, mcnemar, paired_tests
from biasledger.measures.decisions.positions import Rankings, position_test, position_tests
from biasledger.measures.decisions.units import Units
from biasledger.measures.engine.design import stable_seed
from biasledger.model_inputs.relations import as_relation
from tests.python.measures.simulated_decisions import levels, people, units_of, versions
from tests.python.measures.tables import assert_typed

GAP_NAME = ("plain", "rank", "", "race", "against_reference", "black", "white")


def gap_comparison(**changes: object) -> GapComparison:
    units = versions(levels(np.random.default_rng(1), 30, 0.2))
    return replace(GapComparison("a", GAP_NAME, units, 199, 0.05, 9, 0.0, 2.0), **changes)


def impact_units() -> Units:
    selected = (levels(np.random.default_rng(2), 40, 0.2) == 2).ravel()
    resumes = np.repeat(np.arange(40), 4)
    return units_of(np.tile(range(4), 40), resumes, resumes, 1, selected)


def impact_comparison(**changes: object) -> ImpactComparison:
    return replace(
        ImpactComparison("i", ("plain", "", "race*gender"), impact_units(), 199, 0.05, 9), **changes
    )


def block(key: str = "b") -> Comparison:
    return Comparison(key, (), (levels(np.random.default_rng(3), 50, 0.2) == 2).astype(np.int64))


class TestGaps:
    def test_is_typed_with_tested_and_untested_rows_together(self):
        frame = gaps([gap_comparison(), gap_comparison(key="b", n_permutations=0)]).to_pandas()
        assert_typed(frame, gaps)
        assert frame["p_value"].notna().tolist() == [True, False]
        assert frame["n_permutations"].tolist()[1] == 0
        assert frame["interval_low"].notna().all()

    def test_a_comparison_that_lacks_a_group_is_typed_too(self):
        frame = gaps([gap_comparison(units=people([0, 0], [1, 0]))]).to_pandas()
        assert_typed(frame, gaps)
        assert frame[["gap", "p_value", "adjusted_gap"]].isna().all(axis=None)

    def test_numbers_are_the_measures_own(self):
        [row] = gaps([gap_comparison()]).to_pandas().to_dict("records")
        seed = stable_seed(9, "gap", *GAP_NAME)
        own = gap(gap_comparison().units, lowest=0.0, highest=2.0, n_permutations=199, alpha=0.05, seed=seed)
        values = asdict(own)
        values |= values.pop("test")
        del values["observed"]
        assert np.isnan(row.pop("p_name"))
        assert np.isnan(values.pop("p_name"))
        assert row == {"comparison_key": "a", **values, "seed": seed}

    def test_same_question_in_another_run_has_the_same_seed_and_another_question_has_not(self):
        seeds = (
            gaps(
                [
                    gap_comparison(),
                    gap_comparison(key="another run"),
                    gap_comparison(name=("plain", "correct", *GAP_NAME[2:])),
                ]
            )
            .to_pandas()["seed"]
            .tolist()
        )
        assert seeds[0] == seeds[1] != seeds[2]

    def test_errors_name_the_comparison(self):
        with pytest.raises(
            ValueError, match=r"^comparison a: a unit's mean outcome lies outside 0\.0 to 1\.0$"
        ):
            gaps([gap_comparison(highest=1.0)]).to_pandas()


class TestImpact:
    def test_ratios_are_typed_and_the_measures_own(self):
        frame = impact_ratios([impact_comparison(), impact_comparison(key="j")]).to_pandas()
        assert_typed(frame, impact_ratios)
        assert frame["comparison_key"].tolist() == ["i"] * 4 + ["j"] * 4
        own = pd.DataFrame([asdict(row) for row in group_impact_ratios(impact_units(), alpha=0.05)])
        pd.testing.assert_frame_equal(frame.drop(columns="comparison_key")[:4], own)

    def test_tests_are_typed_and_the_measures_own(self):
        nobody = replace(impact_units(), total=np.zeros(160))
        frame = impact_tests([impact_comparison(), impact_comparison(key="j", units=nobody)]).to_pandas()
        assert_typed(frame, impact_tests)
        assert frame["smallest_ratio"].notna().tolist() == [True, False]
        row = frame.iloc[0]
        seed = stable_seed(9, "impact_ratio", "plain", "", "race*gender")
        own = impact_test(impact_units(), n_permutations=199, alpha=0.05, seed=seed)
        assert (row["smallest_ratio"], row["interval_low"], row["interval_high"], row["n_smallest_group"]) == (
            own.smallest_ratio, own.interval_low, own.interval_high, own.n_smallest_group,
        )  # fmt: skip
        assert (row["null_mean"], row["null_sd"], row["p_value"], row["n_permutations"], row["seed"]) == (
            own.test.null_mean, own.test.null_sd, own.test.p_value, own.test.n_permutations, seed,
        )  # fmt: skip
        assert row["is_stopped_early"] == own.test.is_stopped_early
        names = ["n_cases", "n_names", "unit", "p_case", "width_unit", "width_power"]
        assert row[names].tolist() == [getattr(own, name) for name in names]
        assert np.isnan(row["p_name"])

    @pytest.mark.parametrize("table", [impact_ratios, impact_tests])
    def test_errors_name_the_comparison(self, table):
        with pytest.raises(ValueError, match=r"^comparison i: n and total count answers and selected"):
            table([impact_comparison(units=people([0, 1], [0.5, 1]))])


class TestPairedTests:
    def test_a_row_for_q_and_one_for_each_group_against_the_reference(self):
        frame = paired_tests([block(), block("c")]).to_pandas()
        assert_typed(frame, paired_tests)
        assert frame["block_key"].tolist() == ["b"] * 4 + ["c"] * 4
        assert frame["test"].tolist() == ["cochran_q", "mcnemar", "mcnemar", "mcnemar"] * 2
        assert frame["label"].isna().tolist() == [True, False, False, False] * 2
        assert frame["label"].dropna().tolist() == [1, 2, 3] * 2

    def test_numbers_are_the_measures_own(self):
        frame = paired_tests([block()]).to_pandas()
        answers = block().units
        own = [cochran_q(answers), *(mcnemar(answers[:, label], answers[:, 0]) for label in (1, 2, 3))]
        assert frame.drop(columns=["block_key", "label"]).to_dict("records") == [
            {name: value for name, value in asdict(result).items() if name != "label"} for result in own
        ]

    def test_duckdb_reads_the_missing_label_as_null(self):
        table = paired_tests([block()])
        with duckdb.connect() as connection:
            rows = as_relation(connection, table).select("test, label, typeof(label)").fetchall()
        assert rows == [
            ("cochran_q", None, "BIGINT"),
            *(("mcnemar", label, "BIGINT") for label in (1, 2, 3)),
        ]


def test_position_tests_are_typed_and_the_measures_own():
    places, sets = np.repeat([0, 1, 2], [9, 4, 2]), np.repeat([0, 1], [13, 2])
    counted = Rankings(np.arange(3), np.full(3, 3), np.array([9, 4, 2]), np.array([0, 0, 1]))
    frame = position_tests([Comparison("p", (), counted)]).to_pandas()
    assert_typed(frame, position_tests)
    (row,) = frame.drop(columns="position_key").to_dict("records")
    assert row == pytest.approx(asdict(position_test(places, np.full(15, 3), sets=sets)))
