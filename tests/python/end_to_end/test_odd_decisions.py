"""Test decisions with missing parts: a missing value never counts as fair, correct or paired."""

from __future__ import annotations

import pytest
from sklearn.metrics import confusion_matrix

from biasledger.querying.analyses import read_sql
from tests.python.project import Project


def test_who_is_not_named_was_not_selected(odd: Project) -> None:
    rows = odd.rows(
        "select group_name, n_people, selection_rate, mean_rank_value from marts.fct_decision_rates"
        " join marts.dim_runs using (run_id) where audit = 'winners' order by 1"
    )
    assert rows == [
        ("black", 200, pytest.approx(0.1), pytest.approx(0.1)),
        ("white", 200, pytest.approx(0.9), pytest.approx(0.9)),
    ]
    alarms = odd.rows(
        "select measure from marts.fct_alarms where audit = 'winners' and severity = 'error' order by 1"
    )
    assert alarms == [("impact_ratio",), ("place_gap",)]


def test_ids_that_restart_in_each_job_are_no_pairs(odd: Project) -> None:
    rows = odd.rows(
        "select distinct domain, is_paired, p_value is not null from marts.fct_decision_gaps"
        " join marts.dim_runs using (run_id) where audit = 'restarted' order by 1"
    )
    assert rows == [("clerk", False, True), ("driver", False, True)]


def test_without_a_right_label_nobody_is_held_against_one(odd: Project) -> None:
    rows = odd.rows(
        "select group_name, mean_rank_value from marts.fct_decision_rates join marts.dim_runs using (run_id)"
        " where audit = 'partly' order by 1"
    )
    assert rows == [("black", 1.0), ("white", None)]
    assert odd.rows(
        "select count(*) from marts.fct_findings where audit = 'partly' and measure = 'rank_gap'"
    ) == [(0,)]


def test_equal_rates_are_said_to_be_equal(odd: Project) -> None:
    rows = odd.rows(
        "select explanation from marts.fct_findings where audit = 'partly' and measure = 'impact_ratio'"
    )
    assert rows[0][0].startswith("All groups of race are labelled yes 100.0 % of the time")


def test_the_same_prompt_with_the_same_answers_is_clear_by_construction(odd: Project) -> None:
    rows = odd.rows(
        "select measure, status, explanation, n_units_needed from marts.fct_findings where audit = 'blind' order by 1"
    )
    assert [(measure, status) for measure, status, *_ in rows] == [
        ("impact_ratio", "clear"),
        ("rank_gap", "clear"),
    ]
    for _, _, explanation, needed in rows:
        assert "The prompts are the same for both groups, and so was every answer" in explanation
        assert needed is None


def test_what_no_resume_showed_yet_shrinks_with_their_number(odd: Project) -> None:
    rows = odd.rows(
        "select status, n_units, n_units_needed, settled_by from marts.fct_findings"
        " where audit = 'unseen' and measure = 'rank_gap'"
    )
    # With so many resumes the share that none of them showed is small enough for the threshold of 0.05.
    assert [row[:2] + row[3:] for row in rows] == [("inconclusive", 12, "cases")]
    assert rows[0][2] in (128, 129)


def test_five_names_a_group_are_five(odd: Project) -> None:
    rows = odd.rows(
        "select status, n_units, explanation from marts.fct_findings where audit = 'few' and measure = 'place_gap'"
    )
    assert [row[:2] for row in rows] == [("insufficient_data", 5)]
    assert "there are only 5 names a group" in rows[0][2]


def test_the_effect_of_one_of_two_names_is_no_alarm(odd: Project) -> None:
    rows = odd.rows(
        "select status, severity, scope, value, interval_low <= 0 and interval_high >= 0, n_units, settled_by"
        " from marts.fct_findings where audit = 'reused' and measure = 'rank_gap'"
    )
    assert rows == [("inconclusive", "error", "group", -0.5, True, 2, "names a group")]
    ((by_case, by_name, n_cases, n_names),) = odd.rows(
        "select p_value_by_case, p_value_by_name, n_cases, n_names from marts.fct_decision_gaps"
        " join marts.dim_runs using (run_id) where audit = 'reused' and outcome = 'rank_value'"
    )
    assert by_case < 0.001
    assert by_name > 0.05
    assert (n_cases, n_names) == (40, 2)


def test_large_amounts_are_judged_in_per_cent(odd: Project) -> None:
    rows = odd.rows(
        "select audit, measure, status, round(value, 3), statement from marts.fct_findings"
        " where audit in ('underpaid', 'paid_alike', 'ranked') and measure in ('relative_gap', 'score_gap', 'percentile_gap')"
        " order by audit desc"
    )
    (underpaid, *alarm), (ranked, *by_ranks), (alike, *clear) = rows
    assert (underpaid, ranked, alike) == ("underpaid", "ranked", "paid_alike")
    assert alarm == [
        "relative_gap",
        "alarm",
        pytest.approx(-0.051, abs=0.002),
        (
            "scores for black people are 5.0 % lower than for white people (7,109 less than the usual 142,186); judged in "
            "per cent, as the scale ends above 1,000"
        ),
    ]
    assert by_ranks == [
        "percentile_gap",
        "alarm",
        -0.5,
        "scores for black people rank 50.0 percentile points lower than for white people among those of the same case",
    ]
    assert clear[:2] == ["relative_gap", "clear"]
    assert abs(clear[2]) < 0.003


def test_each_kind_of_error_is_compared(odd: Project) -> None:
    rows = odd.rows(
        "select scheme, status, round(value, 9), explanation from marts.fct_findings"
        " where audit = 'erring' and measure = 'error_rate_gap' order by 1"
    )
    assert [row[:3] for row in rows] == [
        ("false_negative", "alarm", 0.4),
        ("false_positive", "inconclusive", 0.0),
    ]
    assert rows[0][3].startswith(
        "Where yes is right, answers about black people are wrong 50.0 % of the time"
    )


def test_error_rates_are_those_of_a_confusion_matrix(odd: Project) -> None:
    decisions = odd.query(
        "select group_name, expected_label, label from marts.fct_predictions join marts.dim_prompt_groups"
        " using (run_id, prompt_id, slot) join marts.dim_runs using (run_id) where audit = 'erring'"
    )
    matrices = {
        group: confusion_matrix(rows["expected_label"], rows["label"], labels=["no", "yes"], normalize="true")
        for group, rows in decisions.groupby("group_name")
    }
    rates = odd.rows(
        "select group_name, false_positive_rate, false_negative_rate from marts.fct_decision_rates"
        " join marts.dim_runs using (run_id) where audit = 'erring'"
    )
    assert sorted(rates) == [
        (group, pytest.approx(matrix[0, 1], abs=1e-12), pytest.approx(matrix[1, 0], abs=1e-12))
        for group, matrix in sorted(matrices.items())
    ]
    false_positives, misses = zip(
        *((matrix[0, 1], matrix[1, 0]) for matrix in matrices.values()), strict=True
    )
    equalised_odds = max(max(misses) - min(misses), max(false_positives) - min(false_positives))
    differences = (
        f"select equalized_odds_difference from ({read_sql('equalised_odds')}) where audit = 'erring'"
    )
    assert odd.rows(differences) == [(pytest.approx(equalised_odds, abs=1e-12),)]
