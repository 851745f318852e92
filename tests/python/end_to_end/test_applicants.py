"""Test an audit of real applicants with one score each, judged by job and in the form of Local Law 144."""

from __future__ import annotations

import pytest
from scipy.stats import fisher_exact

from tests.python.project import Project

IN_AUDIT = "join marts.dim_runs using (run_id) where audit = 'applicants'"


def test_people_are_not_paired_and_the_caution_says_so(odd: Project) -> None:
    assert odd.rows(
        "select distinct is_paired, caution like 'different people are compared%' from marts.fct_decision_gaps"
        f" {IN_AUDIT}"
    ) == [(False, True)]
    for table in ("fct_prediction_consistency", "fct_promotions", "fct_paired_tests", "fct_position_bias"):
        assert odd.rows(f"select count(*) from marts.{table} {IN_AUDIT}") == [(0,)]


def test_the_planted_gap_is_found_in_its_job_alone(odd: Project) -> None:
    rows = odd.rows(
        "select measure, subject, status from marts.fct_findings"
        " where audit = 'applicants' and attribute = 'sex' and measure in ('score_gap', 'impact_ratio') order by all"
    )
    assert rows[0] == ("impact_ratio", "clerk", "alarm")
    assert rows[2] == ("score_gap", "clerk", "alarm")
    assert all(status != "alarm" for _, job, status in rows if job == "driver")
    race = odd.rows(
        "select distinct status from marts.fct_findings where audit = 'applicants' and attribute = 'race'"
    )
    assert ("alarm",) not in race


def test_people_speak_for_their_group_though_one_word_names_it(odd: Project) -> None:
    rows = odd.rows(
        "select attribute, measure, group_name, scope from marts.fct_findings where audit = 'applicants'"
        " and attribute in ('sex', 'race') and measure in ('score_gap', 'impact_ratio') group by all order by all"
    )
    # Four of the eight Asians are in a job: too few for a group, and too few for the impact ratio.
    assert rows == [
        ("race", "impact_ratio", "(all)", "group"),
        ("race", "score_gap", "Asian", "names"),
        ("race", "score_gap", "Black", "group"),
        ("sex", "impact_ratio", "(all)", "group"),
        ("sex", "score_gap", "Female", "group"),
    ]


def test_a_score_above_the_median_is_selected(odd: Project) -> None:
    rows = odd.rows(
        f"with predictions as (select * from marts.fct_predictions {IN_AUDIT})"
        " select count(*), count(*) filter (where is_selected <> (score > (select median(score) from predictions)))"
        " from predictions"
    )
    assert rows == [(600, 0)]


def test_small_and_unknown_categories_are_shown_and_excluded(odd: Project) -> None:
    rows = odd.rows(
        "select group_name, excluded_reason, impact_ratio is null, sum(n_asked), sum(n_people) > 0"
        f" from marts.fct_decision_rates {IN_AUDIT} and attribute = 'race' group by 1, 2, 3 order by 1, 2"
    )
    assert [row[:3] for row in rows] == [
        ("Asian", "less than 2 % of the sample", True),
        ("Black", None, False),
        ("Unknown", "the group is unknown", True),
        ("White", None, False),
    ]
    assert sum(row[3] for row in rows) == 600
    ((n_unknown,),) = odd.rows(
        f"select sum(n_unknown) from marts.fct_decision_rates {IN_AUDIT} and attribute = 'sex'"
    )
    assert n_unknown == 6


def test_rates_ratios_and_fisher_equal_an_independent_computation(odd: Project) -> None:
    rows = odd.rows(
        "select group_name, n_people, n_selected, impact_ratio, fisher_p_value, is_below_four_fifths"
        f" from marts.fct_decision_rates {IN_AUDIT} and attribute = 'sex' and domain = 'clerk' order by 1"
    )
    (_, n_female, selected_female, ratio, p_value, is_below), (_, n_male, selected_male, *_) = rows
    assert ratio == pytest.approx((selected_female / n_female) / (selected_male / n_male))
    table = [
        [selected_female, n_female - selected_female],
        [selected_male, n_male - selected_male],
    ]
    assert p_value == pytest.approx(fisher_exact(table).pvalue)
    assert is_below == (ratio < 0.8)
