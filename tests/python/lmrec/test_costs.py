"""Test that `compare` shows the costs of each mitigation of a recommender in Table 3 next to its effect in the audit."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from biasledger.comparing.changes import RECOMMENDER_QUALITY, Change, built_changes
from biasledger.measures.recommenders.table import Measure
from lmrec.augmentation import read_groups
from lmrec.evaluation import evaluate_model
from lmrec.training import TrainSettings, read_hidden, train

NAMES = Path(__file__).parents[3] / "audits" / "names.csv"
Rows = dict[str, list[Measure]]


@pytest.fixture(scope="module")
def measured(
    example_files: tuple[Path, Path], model_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Rows:
    """Table 3 by recommender: without a mitigation, and with each of the four."""
    folder = tmp_path_factory.mktemp("costs")
    names = read_hidden(NAMES)
    train(*example_files, folder / "hidden", TrainSettings(city="Boston", hidden=names))
    train(
        *example_files, folder / "swapped", TrainSettings(city="Boston", swapped=read_groups(NAMES, "race"))
    )
    reviews = example_files[1]
    return {
        "plain": evaluate_model(model_folder, reviews, folder / "0"),
        "hidden": evaluate_model(folder / "hidden", reviews, folder / "1"),
        "swapped": evaluate_model(folder / "swapped", reviews, folder / "2"),
        "fair": evaluate_model(model_folder, reviews, folder / "3", fair=True),
        "plain-masked": evaluate_model(model_folder, reviews, folder / "4", hidden=names),
    }


@pytest.fixture(scope="module")
def warehouse(measured: Rows, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables that a comparison reads, with a run of each target and no measure of the audit compared."""
    path = tmp_path_factory.mktemp("warehouse") / "w.duckdb"
    runs = pd.DataFrame(
        [
            ("plain again", "plain"),
            *((name, name) for name in ("plain", "hidden", "swapped", "fair", "other")),
        ]
    )
    runs.columns = ["run_id", "target"]
    quality = pd.DataFrame(
        [{"recommender": name, **{one.name: getattr(row, one.name) for one in fields(Measure)}}
         for name, rows in measured.items() for row in rows]
    )  # fmt: skip
    compared = pd.DataFrame(
        columns=["baseline_run_id", "run_id", "mitigation", *Change.__dataclass_fields__], dtype="str"
    )
    compared = compared.astype({"worsening": "float64", "tolerance": "float64"})
    of_answers = pd.DataFrame(columns=["run_id", "mitigation"], dtype="str")
    pairs = pd.DataFrame(
        columns=["baseline_run_id", "run_id", "mitigation", "only_in_baseline", "only_in_run"], dtype="str"
    )
    with duckdb.connect(str(path)) as connection:
        connection.execute("create schema marts")
        for table, rows in {
            "dim_runs": runs,
            "fct_recommender_quality": quality,
            "fct_run_comparisons": compared,
            "fct_run_pairs": pairs,
            "fct_run_quality": of_answers,
        }.items():
            connection.register("rows_of_it", rows)
            connection.execute(f"create table marts.{table} as from rows_of_it")
    return path


@pytest.mark.parametrize(
    ("after", "mitigation", "recommender"),
    [
        ("hidden", "plain", "hidden"),
        ("swapped", "plain", "swapped"),
        ("fair", "plain", "fair"),
        ("plain", "masked", "plain-masked"),
    ],
)
def test_each_mitigation_s_cost_is_shown(
    measured: Rows, warehouse: Path, after: str, mitigation: str, recommender: str
) -> None:
    shown = {
        one.name: (one.before, one.after)
        for one in built_changes(warehouse, "plain", after, mitigation).quality
    }
    assert shown == {
        name: tuple(
            next(
                row.value
                for row in measured[one]
                if (row.relevant, row.measure, row.system, row.texts) == (*key, "model", "all")
            )
            for one in ("plain", recommender)
        )
        for key, name in RECOMMENDER_QUALITY.items()
    }
    assert any(before != now for before, now in shown.values())


def test_without_predictions_of_both_nothing_is_shown(warehouse: Path) -> None:
    assert built_changes(warehouse, "plain", "other", "plain").quality == []
    assert built_changes(warehouse, "hidden", "hidden", "masked").quality == []
    # Two runs of one target: what was measured once did not stay as it was.
    assert built_changes(warehouse, "plain", "plain again", "plain").quality == []
