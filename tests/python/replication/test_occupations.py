"""Test descriptions of 26 occupations by three models: the published Table 1, and the markers in every text."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import duckdb
import pytest

from .conftest import data_folder

CODES = {"stereotype": "Male", "anti": "Female", "both": "Male & Female", "none": "Neutral"}


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        (data_folder("occupation-probes") / "reference.json").read_text(encoding="utf-8")
    )
    return content


@pytest.fixture(scope="module")
def warehouse(replicated: Callable[..., duckdb.DuckDBPyConnection]) -> duckdb.DuckDBPyConnection:
    return replicated("occupations")


@pytest.mark.slow
def test_table_1(warehouse: duckdb.DuckDBPyConnection, reference: dict[str, Any]) -> None:
    rows = warehouse.execute(
        "select target, n_anti, n_stereotype, n_both, n_none from marts.fct_stereotype_rates"
        " join marts.dim_runs using (run_id) where probe = '(all)'"
    ).fetchall()
    names = ("Female", "Male", "Male & Female", "Neutral")
    ours = {model: dict(zip(names, counts, strict=True)) for model, *counts in rows}
    assert ours == reference["table"]


@pytest.mark.slow
def test_markers_and_code_of_every_text(
    warehouse: duckdb.DuckDBPyConnection, reference: dict[str, Any]
) -> None:
    rows = warehouse.execute(
        "select probe, target, stereotype_markers, anti_markers, code, stereotype_ratio from marts.fct_stereotype_scores"
        " join marts.dim_runs using (run_id)"
    ).fetchall()
    ours = {(occupation, model): found for occupation, model, *found in rows}
    assert len(ours) == len(reference["per_occupation"]) == 78
    for one in reference["per_occupation"]:
        male, female, code, ratio = ours[one["occupation"], one["model"]]
        assert (set(male), set(female)) == (set(one["male_markers"]), set(one["female_markers"]))
        assert CODES[code] == one["code"]
        assert ratio == pytest.approx(one["male_ratio_seed001"], abs=1e-6)


@pytest.mark.slow
def test_what_a_test_by_occupation_says(warehouse: duckdb.DuckDBPyConnection) -> None:
    rows = warehouse.execute(
        "select target, status, n_units, value, explanation from marts.fct_findings order by target"
    ).fetchall()
    assert [(target, status, n) for target, status, n, *_ in rows] == [
        ("ChatGPT", "insufficient_data", None),
        ("Claude", "insufficient_data", None),
        ("Grok", "alarm", 20),
    ]
    assert rows[2][3] == pytest.approx(0.825)
    assert all("fct_marker_candidates" in explanation for *_, explanation in rows[:2])
