"""Name-swapped resumes and rankings on simulated models: planted bias by race fires, gender and the fair model stay silent."""

from __future__ import annotations

from collections.abc import Callable

import duckdb
import pandas as pd
import pytest

from .conftest import Project


@pytest.fixture(scope="module")
def decisions(new_project: Callable[[], Project]) -> Project:
    project = new_project()
    for target in ("simulator", "simulator-fair"):
        for audit in ("resumes", "rankings"):
            project.collect(target, f"audits/{audit}.yml")
    project.build()
    return project


def test_planted_bias_fires_for_race_alone(decisions: Project) -> None:
    alarms = decisions.rows(
        "select audit, measure, attribute, group_name from marts.fct_alarms"
        " where target = 'simulator' and severity = 'error' order by all"
    )
    assert alarms == [
        ("rankings", "impact_ratio", "race", "(all)"),
        ("rankings", "place_gap", "race", "black"),
        ("resumes", "impact_ratio", "race", "(all)"),
        ("resumes", "rank_gap", "race", "black"),
    ]
    failing = decisions.work_rows("select count(*) from alarms.alarm_decisions")
    assert failing == [(4,)]


def test_a_fair_model_raises_no_alarm(decisions: Project) -> None:
    assert decisions.rows("select count(*) from marts.fct_alarms where target = 'simulator-fair'") == [(0,)]
    statuses = decisions.rows(
        "select distinct status from marts.fct_findings where target = 'simulator-fair' and audit = 'rankings'"
        " and attribute in ('race', 'gender', '(position)')"
    )
    assert statuses == [("clear",)]


def test_rates_equal_an_independent_count(decisions: Project) -> None:
    with duckdb.connect(str(decisions.ledger), read_only=True) as ledger:
        answers = ledger.execute(
            "select group_name, answer_text, expected_label from raw.responses"
            " join raw.prompts using (run_id, prompt_id) join raw.prompt_attributes using (run_id, prompt_id)"
            " join raw.runs using (run_id) where audit = 'resumes' and target = 'simulator' and attribute = 'race'"
        ).df()
    ranks = {"junior": 0, "mid": 1, "senior": 2}
    difference = answers["answer_text"].map(ranks) - answers["expected_label"].map(ranks)
    expected = pd.DataFrame(
        {
            "n_people": answers.groupby("group_name").size(),
            "selection_rate": (answers["answer_text"] == "senior").groupby(answers["group_name"]).mean(),
            "accuracy": (answers["answer_text"] == answers["expected_label"])
            .groupby(answers["group_name"])
            .mean(),
            "mean_standing": difference.groupby(answers["group_name"]).mean(),
        }
    )
    found = decisions.query(
        "select group_name, n_people, selection_rate, accuracy, mean_standing from marts.fct_decision_rates"
        " join marts.dim_runs using (run_id)"
        " where audit = 'resumes' and target = 'simulator' and attribute = 'race' order by 1"
    ).set_index("group_name")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_names=False)


def test_every_resume_is_asked_about_under_every_combination(decisions: Project) -> None:
    rows = decisions.rows(
        "select distinct is_complete, n_predictions, n_unknown from marts.fct_prediction_consistency"
    )
    assert rows == [(True, 32, 0)]


def test_rankings_are_balanced_over_positions_and_have_no_pairs(decisions: Project) -> None:
    rows = decisions.work_rows(
        "select count(distinct slot), count(distinct n) from ("
        " select slot, group_name, count(*) as n from intermediate.int_prompt_groups"
        " join marts.dim_runs using (run_id) where audit = 'rankings' and attribute = 'race*gender' group by all)"
    )
    assert rows == [(4, 1)]
    assert decisions.rows(
        "select distinct is_paired from marts.fct_decision_gaps join marts.dim_runs using (run_id) where audit = 'rankings'"
    ) == [(False,)]


def test_any_two_models_stand_side_by_side(decisions: Project) -> None:
    rows = decisions.rows(
        "select audit, abs(difference) > 0.1, p_value < 0.05 from marts.fct_model_comparisons"
        " where outcome = 'standing' and attribute = 'race' order by 1"
    )
    assert rows[0] == ("rankings", True, True)
    assert [audit for audit, *_ in rows] == ["rankings", "resumes"]


def test_position_bias_is_told_apart_from_names(decisions: Project) -> None:
    rows = dict(
        decisions.rows(
            "select target, status from marts.fct_findings where measure = 'position_bias' order by 1"
        )
    )
    assert rows == {"simulator": "alarm", "simulator-fair": "clear"}


def test_promotions_and_demotions_balance(decisions: Project) -> None:
    rows = decisions.rows(
        "select group_name, net < 0 from marts.fct_promotions join marts.dim_runs using (run_id)"
        " where target = 'simulator' and attribute = 'race' order by 1"
    )
    assert rows == [("black", True), ("white", False)]
