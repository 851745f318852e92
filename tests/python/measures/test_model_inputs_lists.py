"""Test the step from relations of lists to matrices: places, nulls, order of rows, threads."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import duckdb
import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from biasledger.measures.lists import robustness_tests, spreads
from biasledger.model_inputs.lists import read_robustness_comparisons, read_spread_comparisons
from biasledger.model_inputs.models import measured, rows_of_runs, rows_of_states

FEATURES = ["jaccard", "serp", "prag", "serp_code", "prag_code"]


@pytest.fixture
def connection():
    with duckdb.connect() as connection:
        yield connection


def comparisons_frame(keys: list[str], rerun_keys: list[str | None]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "comparison_key": keys,
            "values_key": keys,
            "run_id": "run",
            "mitigation": "plain",
            "scheme": "items",
            "neutral": "matched",
            "wording": "clean",
            "domain": "music",
            "attribute": keys,
            "n_groups": 3,
            "is_judged": True,
            "rerun_key": rerun_keys,
            "n_permutations": 199,
            "alpha": 0.05,
            "seed": 7,
        }
    )


def cells_frame(keys: list[str], n_subjects: int = 12) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    rows = [
        {"values_key": key, "subject_id": subject, "label": label}
        | {feature: rng.beta(5, 5) for feature in FEATURES}
        | {"unanswered": 0.0, "ndcg": None}
        for key in keys
        for subject in range(n_subjects)
        for label in range(3)
    ]
    frame = pd.DataFrame(rows)
    frame.loc[frame.index % 11 == 0, FEATURES] = None
    frame.loc[frame.index % 11 == 0, "unanswered"] = 1.0
    return frame.astype({"ndcg": "float64"})


def reruns_frame(keys: list[str], n_subjects: int = 8) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    rows = [
        {"values_key": key, "subject_id": subject, "rerun": rerun}
        | {feature: rng.beta(5, 5) for feature in FEATURES}
        for key in keys
        for subject in range(n_subjects)
        for rerun in range(1, 6)
        if (subject, rerun) != (2, 3)
    ]
    return pd.DataFrame(rows, columns=["values_key", "subject_id", "rerun", *FEATURES])


def relations(connection, comparisons, cells, reruns):
    return (connection.from_df(comparisons), connection.from_df(cells), connection.from_df(reruns))


class TestSpreadComparisons:
    def test_every_value_stands_in_its_subjects_row_and_groups_column(self, connection):
        cells, reruns = cells_frame(["a", "b"]), reruns_frame(["q"])
        read = list(
            read_spread_comparisons(
                *relations(connection, comparisons_frame(["b", "a"], ["q", None]), cells, reruns),
            )
        )
        assert [one.key for one in read] == ["a", "b"]
        for one in read:
            for feature in [*FEATURES, "unanswered", "ndcg"]:
                expected = cells[cells["values_key"] == one.key].pivot(
                    index="subject_id", columns="label", values=feature
                )
                np.testing.assert_array_equal(one.units.features[feature], expected.to_numpy(dtype=float))
        assert read[0].units.reruns == {}
        expected = reruns.pivot(index="subject_id", columns="rerun", values="serp").to_numpy()
        np.testing.assert_array_equal(read[1].units.reruns["serp"], expected)
        assert list(read[1].units.reruns) == FEATURES
        assert read[1].name == ("plain", "items", "matched", "clean", "music")
        assert (read[1].n_permutations, read[1].alpha, read[1].seed) == (199, 0.05, 7)

    @pytest.mark.parametrize("threads", [1, 4])
    def test_rows_in_any_order_and_any_number_of_threads_give_the_same_numbers(self, connection, threads):
        frames = (comparisons_frame(["a", "b"], ["q", "q"]), cells_frame(["a", "b"]), reruns_frame(["q"]))
        expected = spreads(read_spread_comparisons(*relations(connection, *frames))).to_pandas()
        connection.execute(f"set threads to {threads}")
        shuffled = [frame.sample(frac=1, random_state=threads) for frame in frames]
        found = spreads(read_spread_comparisons(*relations(connection, *shuffled))).to_pandas()
        assert len(expected) == 2 * (5 * 3 + 1)
        pd.testing.assert_frame_equal(found, expected)

    def test_a_comparison_measured_alone_has_the_same_numbers(self, connection):
        comparisons = comparisons_frame(["a", "b"], ["q", "q"])
        others = cells_frame(["a", "b"]), reruns_frame(["q"])
        whole, alone = (
            spreads(read_spread_comparisons(*relations(connection, one, *others))).to_pandas()
            for one in (comparisons, comparisons.query("comparison_key == 'b'"))
        )
        of_b = whole[whole["comparison_key"] == "b"].reset_index(drop=True)
        assert len(of_b) == 5 * 3 + 1
        pd.testing.assert_frame_equal(alone, of_b)

    def test_reruns_without_rows_leave_the_floor_empty(self, connection):
        frames = (comparisons_frame(["a"], ["q"]), cells_frame(["a"]))
        for reruns in (reruns_frame([]).astype({"values_key": str}), reruns_frame(["other"])):
            frame = spreads(read_spread_comparisons(*relations(connection, *frames, reruns))).to_pandas()
            assert frame["noise_floor"].isna().all()
            assert frame["p_value"].notna().all()

    def test_a_comparison_without_cells_has_no_rows(self, connection):
        frames = (comparisons_frame(["a", "b"], [None, None]), cells_frame(["a"]), reruns_frame(["q"]))
        frame = spreads(read_spread_comparisons(*relations(connection, *frames))).to_pandas()
        assert set(frame["comparison_key"]) == {"a"}

    @pytest.mark.parametrize(
        ("column", "value", "message"),
        [
            ("label", 3, "comparison a: label lies outside 0 to 2"),
            ("label", -1, "comparison a: label lies outside 0 to 2"),
            ("label", 1, "comparison a: a subject and label come twice"),
        ],
    )
    def test_cells_that_do_not_fit_are_refused_by_name(self, connection, column, value, message):
        cells = cells_frame(["a"])
        cells.loc[0, column] = value
        with pytest.raises(ValueError, match=message):
            list(
                read_spread_comparisons(
                    *relations(connection, comparisons_frame(["a"], [None]), cells, reruns_frame(["q"])),
                )
            )


class TestRobustnessComparisons:
    def frames(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        rng = np.random.default_rng(5)
        comparisons = pd.DataFrame(
            {
                "comparison_key": ["a", "b"],
                "values_key": ["a", "b"],
                "mitigation": "plain",
                "scheme": "items",
                "wording": ["typo_swap", "fr"],
                "domain": "music",
                "attribute": "gender",
                "similarity": "jaccard",
                "n_permutations": 199,
                "alpha": 0.05,
                "seed": 7,
            }
        )
        cells = pd.DataFrame(
            {
                "values_key": np.repeat(["a", "b"], 15),
                "subject_id": np.tile(np.arange(15), 2),
                "similarity": rng.beta(5, 5, 30),
                "rerun_similarity": np.where(np.arange(30) % 4 == 0, np.nan, rng.beta(7, 5, 30)),
            }
        )
        return comparisons, cells

    def test_rows_in_any_order_give_the_same_numbers(self, connection):
        comparisons, cells = self.frames()
        expected, found = (
            robustness_tests(
                read_robustness_comparisons(connection.from_df(comparisons), connection.from_df(one))
            ).to_pandas()
            for one in (cells, cells.sample(frac=1, random_state=1))
        )
        pd.testing.assert_frame_equal(found, expected)
        assert expected["n_subjects"].tolist() == [15, 15]
        assert expected["n_pairs"].tolist() == [11, 11]
        of_a = cells[cells["values_key"] == "a"]
        assert expected["similarity"][0] == pytest.approx(of_a["similarity"].mean())
        assert expected["noise_floor"][0] == pytest.approx(of_a["rerun_similarity"].mean())


@pytest.fixture
def measuring(connection, monkeypatch):
    """Return a function that runs a model of two comparisons, of the runs r and s, and returns keys and states of its rows."""
    monkeypatch.setenv("BIASLEDGER_SETTINGS", "settings")
    threads = set()

    def read(comparisons, cells):
        for one in read_robustness_comparisons(comparisons, cells):
            threads.update(pool["num_threads"] for pool in threadpool_info())
            yield one

    def measure(rows_of, *runs, held=()):
        connection.execute(
            "create or replace table held as select unnest(?::varchar[]) as run_state", [list(held)]
        )
        dbt = SimpleNamespace(is_incremental=bool(held), this="held")
        comparisons, cells = TestRobustnessComparisons().frames()
        if not runs:
            comparisons["run_state"] = ["1", "2"]
        given = connection.from_df(comparisons.assign(run_id=["r", "s"])), connection.from_df(cells)
        rows = rows_of(dbt, connection, robustness_tests, read, *runs, *given)
        found = rows.select("comparison_key", "run_state").order("all").fetchall()
        assert threads == {1}
        return found

    return measure


def test_a_model_measures_each_run_whose_state_its_table_lacks_on_one_thread(connection, measuring):
    runs = connection.sql("from (values ('r', '1'), ('s', '2'), ('gone', null)) as runs(run_id, run_state)")
    assert measuring(rows_of_runs, runs) == [("a", "1 settings"), ("b", "2 settings")]
    assert measuring(rows_of_runs, runs, held=["1 settings", "2 others"]) == [("b", "2 settings")]
    assert measuring(rows_of_runs, runs, held=["1 settings", "2 settings"]) == []
    without_r = runs.filter("run_id <> 'r'").union(connection.sql("select 'r', null"))
    assert measuring(rows_of_runs, without_r) == [("b", "2 settings")]


def test_a_model_of_pairs_measures_each_whose_state_its_table_lacks(measuring):
    assert measuring(rows_of_states) == [("a", "1 settings"), ("b", "2 settings")]
    assert measuring(rows_of_states, held=["1 settings"]) == [("b", "2 settings")]


def test_by_hand_everything_is_measured(connection, measuring, monkeypatch):
    monkeypatch.delenv("BIASLEDGER_SETTINGS")
    [(_, first), (_, second)] = measuring(rows_of_states)
    assert first.startswith("1 ")
    monkeypatch.setattr("biasledger.model_inputs.models.get_invocation_id", lambda: "another")
    assert measuring(rows_of_states, held=[first, second]) == [("a", "1 another"), ("b", "2 another")]


def test_a_measure_stays_on_one_thread_while_others_next_to_it_end():
    def threads(_=()):
        return {pool["num_threads"] for pool in threadpool_info()}

    def of_the_process(n):
        """Set by a thread that ends, so that others may set it."""
        with ThreadPoolExecutor(1) as setter:
            setter.submit(threadpool_limits, limits=n)

    before, first_ended, second_began = threads(), threading.Event(), threading.Event()

    def second(_):
        second_began.set()
        assert first_ended.wait(600)
        return threads()

    with ThreadPoolExecutor(1) as thread:

        def first(_):
            running = thread.submit(measured, second, ())
            assert second_began.wait(600)
            return running

        try:
            of_the_process(2)
            running = measured(first, ())
            first_ended.set()
            assert running.result() == {1}
            assert threads() == {2}
        finally:
            of_the_process(max(before))
