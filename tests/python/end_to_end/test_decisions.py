"""Test name-swapped resumes and rankings on simulated models: only the bias by race that was planted raises alarms."""

from __future__ import annotations

import duckdb
import pandas as pd

from tests.python.project import Project


def test_planted_bias_fires_for_race_alone(shipped: Project) -> None:
    alarms = shipped.rows(
        "select audit, measure, attribute, group_name from marts.fct_alarms"
        " where target = 'simulator' and audit in ('resumes', 'rankings') and severity = 'error' order by all"
    )
    assert alarms == [
        ("rankings", "impact_ratio", "race", "(all)"),
        ("rankings", "place_gap", "race", "black"),
        ("resumes", "impact_ratio", "race", "(all)"),
        ("resumes", "rank_gap", "race", "black"),
    ]
    failing = shipped.work_rows("select count(*) from alarms.alarm_decisions where target = 'simulator'")
    assert failing == [(4,)]


def test_a_fair_model_raises_no_alarm(shipped: Project) -> None:
    assert shipped.rows(
        "select count(*) from marts.fct_alarms where target = 'simulator-fair' and audit in ('resumes', 'rankings')"
    ) == [(0,)]
    statuses = shipped.rows(
        "select distinct status from marts.fct_findings where target = 'simulator-fair' and audit = 'rankings'"
        " and attribute in ('race', 'gender', '(position)')"
    )
    assert statuses == [("clear",)]


def test_rates_equal_an_independent_count(shipped: Project) -> None:
    with duckdb.connect(str(shipped.ledger), read_only=True) as ledger:
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
            "mean_rank_value": difference.groupby(answers["group_name"]).mean(),
        }
    )
    found = shipped.query(
        "select group_name, n_people, selection_rate, accuracy, mean_rank_value from marts.fct_decision_rates"
        " join marts.dim_runs using (run_id)"
        " where audit = 'resumes' and target = 'simulator' and attribute = 'race' order by 1"
    ).set_index("group_name")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_names=False)


def test_every_resume_is_asked_about_under_every_combination(shipped: Project) -> None:
    rows = shipped.rows(
        "select distinct is_complete, n_predictions, n_unknown from marts.fct_prediction_consistency"
    )
    assert rows == [(True, 32, 0)]


def test_rankings_are_balanced_over_positions_and_have_no_pairs(shipped: Project) -> None:
    rows = shipped.work_rows(
        "select count(distinct slot), count(distinct n) from ("
        " select slot, group_name, count(*) as n from intermediate.int_prompt_groups"
        " join marts.dim_runs using (run_id) where audit = 'rankings' and attribute = 'race*gender' group by all)"
    )
    assert rows == [(4, 1)]
    assert shipped.rows(
        "select distinct is_paired from marts.fct_decision_gaps join marts.dim_runs using (run_id) where audit = 'rankings'"
    ) == [(False,)]


def test_any_two_models_stand_side_by_side(shipped: Project) -> None:
    rows = shipped.rows(
        "select audit, abs(difference) > 0.1, p_value < 0.05 from marts.fct_model_comparisons"
        " where outcome = 'rank_value' and attribute = 'race'"
        " and target like 'simulator%' and other_target like 'simulator%' order by 1"
    )
    assert rows[0] == ("rankings", True, True)
    assert [audit for audit, *_ in rows] == ["rankings", "resumes"]


def test_position_bias_is_distinguished_from_names(shipped: Project) -> None:
    rows = dict(
        shipped.rows(
            "select target, status from marts.fct_findings"
            " where measure = 'position_bias' and target like 'simulator%' order by 1"
        )
    )
    assert rows == {"simulator": "alarm", "simulator-fair": "clear"}


def test_promotions_and_demotions_balance(shipped: Project) -> None:
    rows = shipped.rows(
        "select group_name, net < 0 from marts.fct_promotions join marts.dim_runs using (run_id)"
        " where target = 'simulator' and attribute = 'race' order by 1"
    )
    assert rows == [("black", True), ("white", False)]
