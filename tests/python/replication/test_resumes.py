"""Test name-swapped resumes of three models and 4,000 rankings against every reference number."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from .conftest import data_folder

MODELS = ("gemini3", "gpt5", "sonnet45")
GROUPS = {
    "caucasian_male": "caucasian*male",
    "caucasian_female": "caucasian*female",
    "african_american_male": "african_american*male",
    "african_american_female": "african_american*female",
}
RACES = {"A": "Asian", "B": "Black", "H": "Hispanic", "W": "White"}
GENDERS = {"M": "Man", "W": "Woman"}
JOBS = ("HR specialist", "financial analyst", "retail", "software engineer")


def _reference(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((data_folder(name) / "reference.json").read_text(encoding="utf-8"))
    return content


@pytest.fixture(scope="module")
def seniority() -> dict[str, Any]:
    return _reference("resume-seniority-llm")


@pytest.fixture(scope="module")
def ranking() -> dict[str, Any]:
    return _reference("resume-ranking-gpt35")


@pytest.fixture(scope="module")
def warehouse(replicated: Callable[..., duckdb.DuckDBPyConnection]) -> duckdb.DuckDBPyConnection:
    return replicated("resume-seniority", "resume-ranking")


def _rows(
    warehouse: duckdb.DuckDBPyConnection, columns: str, table: str, model: str
) -> dict[tuple[str, ...], Any]:
    """(attribute, group) -> the other columns, of one model's run."""
    rows = warehouse.execute(
        f"select attribute, group_name, {columns} from marts.{table} join marts.dim_runs using (run_id) where target = ?",
        [model],
    ).fetchall()
    return {(attribute, group): tuple(rest) for attribute, group, *rest in rows}


def _groups(reference: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    by_group = {("race*gender", GROUPS[name]): row for name, row in reference["by_demographic"].items()}
    by_group |= {("race", name): row for name, row in reference["by_race"].items()}
    return by_group | {("gender", name): row for name, row in reference["by_gender"].items()}


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_accuracy_and_rank_difference_of_every_group(
    warehouse: duckdb.DuckDBPyConnection, seniority: dict[str, Any], model: str
) -> None:
    ours = _rows(warehouse, "n_people, accuracy, mean_rank_value", "fct_decision_rates", model)
    groups = _groups(seniority[model])
    assert len(groups) == 8
    for key, row in groups.items():
        assert ours[key] == pytest.approx((row["n"], row["accuracy"], row["rank_diff_mean"]), abs=5.1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_shares_of_labels(
    warehouse: duckdb.DuckDBPyConnection, seniority: dict[str, Any], model: str
) -> None:
    rows = warehouse.execute(
        "select attribute, group_name, label, share from marts.fct_decision_labels"
        " join marts.dim_runs using (run_id) where target = ?",
        [model],
    ).fetchall()
    ours = {tuple(key): share for *key, share in rows}
    for (attribute, group), row in _groups(seniority[model]).items():
        for label in ("senior", "junior"):
            assert ours[attribute, group, label] == pytest.approx(row[f"{label}_share"], abs=5.1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_bias_by_race_and_gender(
    warehouse: duckdb.DuckDBPyConnection, seniority: dict[str, Any], model: str
) -> None:
    rows = warehouse.execute(
        "select attribute, group_name, gap, published_label, interval_low <= 0 and interval_high >= 0"
        " from marts.fct_decision_gaps join marts.dim_runs using (run_id)"
        " where target = ? and outcome = 'rank_value' and attribute in ('race', 'gender')",
        [model],
    ).fetchall()
    gaps = {attribute: gap for attribute, _, gap, *_ in rows}
    # The source subtracts the other way round.
    expected = seniority[model]
    assert -gaps["race"] == pytest.approx(
        expected["racial_bias_caucasian_minus_african_american"], abs=5.1e-7
    )
    assert -gaps["gender"] == pytest.approx(expected["gender_bias_male_minus_female"], abs=5.1e-7)
    assert {label for *_, label, _ in rows} == {"no significant bias"}
    # Nor do the intervals show any.
    assert all(holds_zero for *_, holds_zero in rows)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_inconsistent_resumes(
    warehouse: duckdb.DuckDBPyConnection, seniority: dict[str, Any], model: str
) -> None:
    rows = warehouse.execute(
        "select cast(subject as integer) from marts.fct_prediction_consistency join marts.dim_runs using (run_id)"
        " where target = ? and is_complete and not is_consistent order by 1",
        [model],
    ).fetchall()
    assert [subject for (subject,) in rows] == seniority[model]["inconsistent_original_idx"]
    assert len(rows) == seniority[model]["inconsistent_resumes"]


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_promotions_and_demotions(
    warehouse: duckdb.DuckDBPyConnection, seniority: dict[str, Any], model: str
) -> None:
    ours = _rows(warehouse, "n_promotions, n_demotions, net", "fct_promotions", model)
    expected = seniority[model]
    for name, group in GROUPS.items():
        counts = tuple(expected[kind][name] for kind in ("promotions", "demotions", "net"))
        assert ours["race*gender", group] == counts


@pytest.mark.slow
def test_ties_are_said(warehouse: duckdb.DuckDBPyConnection) -> None:
    rows = warehouse.execute(
        "select attribute, most_favoured, has_ties from marts.fct_favoured_groups join marts.dim_runs using (run_id)"
        " where target = 'sonnet45' and attribute in ('race', 'race*gender') order by 1"
    ).fetchall()
    assert rows == [
        ("race", "african_american = caucasian", True),
        ("race*gender", "african_american*female = caucasian*male", True),
    ]


@pytest.mark.slow
def test_what_the_intervals_say_of_no_significant_bias(warehouse: duckdb.DuckDBPyConnection) -> None:
    """The source calls all three models unbiased; the data rule out a gap of 0.05 for two of them."""
    rows = warehouse.execute(
        "select target, attribute, status from marts.fct_findings"
        " where measure = 'rank_gap' and attribute in ('race', 'gender') order by 1, 2"
    ).fetchall()
    assert rows == [
        ("gemini3", "gender", "clear"),
        ("gemini3", "race", "clear"),
        ("gpt5", "gender", "inconclusive"),
        ("gpt5", "race", "inconclusive"),
        ("sonnet45", "gender", "clear"),
        ("sonnet45", "race", "clear"),
    ]


@pytest.mark.slow
def test_the_page_says_of_gpt5_what_a_build_gives(warehouse: duckdb.DuckDBPyConnection) -> None:
    ((value, low, high, p_value, needed, settled_by),) = warehouse.execute(
        "select value, interval_low, interval_high, p_value, n_units_needed, settled_by from marts.fct_findings"
        " where measure = 'rank_gap' and attribute = 'gender' and target = 'gpt5'"
    ).fetchall()
    page = (Path(__file__).parents[3] / "docs" / "replications.md").read_text(encoding="utf-8")
    said = (
        f"labels for women are {value:.3f} ranks higher [{low:.3f}, {high:.3f}], p {p_value:.2f}, `inconclusive`; about "
        f"{needed} {settled_by} would settle it"
    ).replace("[-", "[−")
    assert said in " ".join(page.split())


@pytest.mark.slow
def test_the_page_says_which_ratios_are_alarms(warehouse: duckdb.DuckDBPyConnection) -> None:
    rows = warehouse.execute(
        "select subject, attribute, round(value, 3) from marts.fct_findings where measure = 'impact_ratio'"
        " and audit = 'resume-ranking' and attribute in ('race', 'gender') and status = 'alarm' order by 1"
    ).fetchall()
    assert rows == [("HR specialist", "gender", 0.675), ("financial analyst", "race", 0.553)]
    ((n_below, n_cells),) = warehouse.execute(
        "select count(*) filter (where is_below_four_fifths), count(*) from marts.fct_decision_rates"
        " join marts.dim_runs using (run_id) where audit = 'resume-ranking' and attribute = 'race*gender'"
    ).fetchall()
    page = " ".join(
        (Path(__file__).parents[3] / "docs" / "replications.md").read_text(encoding="utf-8").split()
    )
    assert (
        "an alarm for gender among HR specialists (0.675) and for race among financial analysts (0.553) and inconclusive"
        f" or clear elsewhere, although {n_below} of the {n_cells} cells are below four fifths"
    ) in page


@pytest.mark.slow
def test_models_are_compared_as_rows(warehouse: duckdb.DuckDBPyConnection) -> None:
    rows = warehouse.execute(
        "select target, other_target, round(difference, 6) from marts.fct_model_comparisons"
        " where outcome = 'rank_value' and attribute = 'gender' and audit = 'resume-seniority' order by 1, 2"
    ).fetchall()
    assert [tuple(sorted(row[:2])) for row in rows] == [
        ("gemini3", "gpt5"),
        ("gemini3", "sonnet45"),
        ("gpt5", "sonnet45"),
    ]
    assert [abs(row[2]) for row in rows] == pytest.approx([0.029167, 0.004167, 0.033333], abs=1e-6)


@pytest.mark.slow
def test_all_selection_rates_and_impact_ratios(
    warehouse: duckdb.DuckDBPyConnection, ranking: dict[str, Any]
) -> None:
    rows = warehouse.execute(
        "select domain, group_name, n_people, n_selected, selection_rate, impact_ratio, mean_rank, share_last"
        " from marts.fct_decision_rates join marts.dim_runs using (run_id)"
        " where audit = 'resume-ranking' and attribute = 'race*gender'"
    ).fetchall()
    ours = {(job, group): tuple(rest) for job, group, *rest in rows}
    cells = 0
    for job in JOBS:
        for code, rate in ranking[job]["selection_rate"].items():
            race, gender = code.split("_")
            expected = (
                ranking[job]["runs"],
                ranking[job]["top_count"][code],
                rate,
                ranking[job]["disparate_impact_ratio"][code],
                ranking[job]["mean_rank"][code],
                ranking[job]["bottom_rate"][code],
            )
            assert ours[job, f"{RACES[race]}*{GENDERS[gender]}"] == pytest.approx(expected, abs=5.1e-7)
            cells += 1
    assert cells == 32


@pytest.mark.slow
def test_position_bias_and_names_left_out(
    warehouse: duckdb.DuckDBPyConnection, ranking: dict[str, Any]
) -> None:
    ((share_first, n_missing),) = warehouse.execute(
        "select (select any_value(share_first) from marts.fct_position_bias),"
        " (select count(*) from marts.fct_predictions where is_missing)"
    ).fetchall()
    assert share_first == pytest.approx(ranking["all_jobs"]["top_equals_first_in_prompt_share"])
    assert n_missing == ranking["all_jobs"]["names_not_found_in_response"]
