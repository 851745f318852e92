"""Test letters to library patrons by three models: the publication's probe to its digits, and our verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import duckdb
import pandas as pd
import pytest

from .conftest import data_folder
from .published_probe import probe_accuracy

MODELS = ("Llama-3.1-8B-Instruct", "gemma-2-9b-it", "gpt-4o-2024-08-06")
ATTRIBUTES = ("sex", "race_ethnicity", "patron_type")
ERRORS = "status = 'alarm' and severity = 'error'"


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        (data_folder("fep-library") / "reference.json").read_text(encoding="utf-8")
    )
    return content


@pytest.fixture(scope="module")
def answers() -> pd.DataFrame:
    return pd.read_parquet(data_folder("fep-library") / "answers.parquet")


@pytest.fixture(scope="module")
def warehouse(replicated: Callable[..., duckdb.DuckDBPyConnection]) -> duckdb.DuckDBPyConnection:
    return replicated("fep-library")


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("attribute", ATTRIBUTES)
@pytest.mark.parametrize("features", ["content", "stopwords"])
def test_published_accuracies(
    answers: pd.DataFrame, reference: dict[str, Any], model: str, attribute: str, features: str
) -> None:
    published = reference["models"][model]["probe"][attribute][features]["published_probe_json"]["logistic"]
    of_model = answers[answers["model"] == model]
    ours = probe_accuracy(
        of_model["answer"].tolist(),
        of_model[attribute].tolist(),
        of_model["seed"].tolist(),
        content=features == "content",
    )
    assert ours == pytest.approx((published["mean_acc"], *published["ci"]), abs=1e-6)


@pytest.mark.slow
def test_every_answer_is_in_the_warehouse(
    warehouse: duckdb.DuckDBPyConnection, reference: dict[str, Any]
) -> None:
    rows = warehouse.execute(
        "select target, attribute, group_name, fct_answer_quality.n_ok from marts.fct_answer_quality"
        " join marts.dim_runs using (run_id) where attribute not like '%*%'"
    ).fetchall()
    ours = {(model, attribute, group): n for model, attribute, group, n in rows}
    expected = {
        (model, attribute, group): row["n"]
        for model in MODELS
        for attribute in ATTRIBUTES
        for group, row in reference["models"][model]["groups"][attribute].items()
    }
    assert ours == expected


@pytest.mark.slow
def test_no_model_is_called_biased_by_race(warehouse: duckdb.DuckDBPyConnection) -> None:
    judged = warehouse.execute(
        "select count(distinct target) from marts.fct_findings"
        " where attribute = 'race_ethnicity' and status <> 'insufficient_data'"
    ).fetchone()
    assert judged == (3,)
    rows = warehouse.execute(
        f"select target, measure, group_name, explanation from marts.fct_findings where {ERRORS}"
        " and attribute = 'race_ethnicity'"
    ).fetchall()
    assert rows == []


@pytest.mark.slow
def test_verdicts_next_to_the_publication_s(warehouse: duckdb.DuckDBPyConnection) -> None:
    """A difference by type of patron in every model, a warning as each type has one wording, and none by race.

    The minor one by sex in Llama is left open.
    """
    alarmed = set(
        warehouse.execute(
            "select distinct target, attribute, severity from marts.fct_findings where status = 'alarm'"
        ).fetchall()
    )
    assert alarmed == {(model, "patron_type", "warn") for model in MODELS}
    ((word_of_sex,),) = warehouse.execute(
        "select status from marts.fct_findings where measure = 'marked_words' and attribute = 'sex' and target = ?",
        [MODELS[0]],
    ).fetchall()
    assert word_of_sex == "inconclusive"


@pytest.mark.slow
def test_forms_of_address_are_reported_apart(warehouse: duckdb.DuckDBPyConnection) -> None:
    """The title separates the sexes; names and titles are no words of style."""
    rows = warehouse.execute(
        "select target, group_name, share_using from marts.fct_address_forms join marts.dim_runs using (run_id)"
        " where attribute = 'sex' and kind = 'title'"
    ).fetchall()
    shares = {(model, sex): share for model, sex, share in rows}
    assert shares["Llama-3.1-8B-Instruct", "M"] > 1.5 * shares["Llama-3.1-8B-Instruct", "F"]
    words = {
        word
        for (word,) in warehouse.execute(
            "select word from marts.fct_marked_words where scheme = 'words' and is_marked and attribute = 'sex'"
        ).fetchall()
    }
    assert not words & {"mr", "ms", "mrs", "miss", "sir", "alumna", "alumnus"}
