"""Decisions that are kept incompletely: nothing missing is taken for fair, right or paired."""

from __future__ import annotations

import pytest

from tests.python.project import Project


def test_who_is_not_named_was_not_selected(odd: Project) -> None:
    rows = odd.rows(
        "select group_name, n_people, selection_rate, mean_standing from marts.fct_decision_rates"
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
        "select group_name, mean_standing from marts.fct_decision_rates join marts.dim_runs using (run_id)"
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
    assert rows[0][0].startswith("All groups are selected at 100.0 %")
