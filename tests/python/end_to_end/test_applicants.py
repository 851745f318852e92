"""Real applicants, one score each: unpaired, judged by job, in the form that Local Law 144 asks for."""

from __future__ import annotations

import csv
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import fisher_exact

from .conftest import Project

SPEC = {
    "audit": "applicants",
    "attributes": {
        "sex": {"reference": "Male", "groups": ["Male", "Female"]},
        "race": {"reference": "White", "groups": ["White", "Black", "Asian", "Unknown"]},
    },
    "answer": {"kind": "score", "minimum": 0, "maximum": 100},
    "import": {
        "columns": {
            "text": "score",
            "subject": "applicant",
            "domain": "job",
            "attributes": {"sex": "sex", "race": "race"},
        }
    },
    "reading": {"crossed": ["sex*race"]},
}


@pytest.fixture(scope="module")
def applicants(new_project: Callable[[], Project]) -> Project:
    """600 applicants for two jobs; women of the first are scored one standard deviation lower, 8 are Asian, 30 unknown."""
    project = new_project()
    rng = np.random.default_rng(3)
    file = project.folder / "applicants.csv"
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["applicant", "job", "sex", "race", "score"])
        for number in range(600):
            job = "clerk" if number % 2 else "driver"
            sex = "Female" if rng.random() < 0.4 else "Male"
            race = "Asian" if number < 8 else "Unknown" if number < 38 else rng.choice(["White", "Black"])
            score = round(
                float(np.clip(rng.normal(60 - 10 * (job == "clerk" and sex == "Female"), 10), 0, 100))
            )
            writer.writerow([number, job, sex, race, "no score" if number % 100 == 99 else score])
    project.import_file(project.write_audit("applicants", SPEC), file)
    project.build()
    return project


def test_people_are_not_paired_and_the_caution_says_so(applicants: Project) -> None:
    assert applicants.rows(
        "select distinct is_paired, caution like 'different people are compared%' from marts.fct_decision_gaps"
    ) == [(False, True)]
    for table in ("fct_prediction_consistency", "fct_promotions", "fct_paired_tests", "fct_position_bias"):
        assert applicants.rows(f"select count(*) from marts.{table}") == [(0,)]


def test_the_planted_gap_is_found_in_its_job_alone(applicants: Project) -> None:
    rows = applicants.rows(
        "select measure, subject, status from marts.fct_findings"
        " where attribute = 'sex' and measure in ('score_gap', 'impact_ratio') order by all"
    )
    assert rows[0] == ("impact_ratio", "clerk", "alarm")
    assert rows[2] == ("score_gap", "clerk", "alarm")
    assert all(status != "alarm" for _, job, status in rows if job == "driver")
    race = applicants.rows("select distinct status from marts.fct_findings where attribute = 'race'")
    assert ("alarm",) not in race


def test_a_score_above_the_median_is_selected(applicants: Project) -> None:
    rows = applicants.rows(
        "select count(*) from marts.fct_predictions"
        " where is_selected <> (score > (select median(score) from marts.fct_predictions))"
    )
    assert rows == [(0,)]


def test_small_and_unknown_categories_are_shown_and_excluded(applicants: Project) -> None:
    rows = applicants.rows(
        "select group_name, excluded_reason, impact_ratio is null, sum(n_asked), sum(n_people) > 0"
        " from marts.fct_decision_rates where attribute = 'race' group by 1, 2, 3 order by 1, 2"
    )
    assert [row[:3] for row in rows] == [
        ("Asian", "less than 2 % of the sample", True),
        ("Black", None, False),
        ("Unknown", "the group is unknown", True),
        ("White", None, False),
    ]
    assert sum(row[3] for row in rows) == 600
    ((n_unknown,),) = applicants.rows(
        "select sum(n_unknown) from marts.fct_decision_rates where attribute = 'sex'"
    )
    assert n_unknown == 6


def test_rates_ratios_and_fisher_equal_an_independent_computation(applicants: Project) -> None:
    rows = applicants.rows(
        "select group_name, n_people, n_selected, impact_ratio, fisher_p_value, is_below_four_fifths"
        " from marts.fct_decision_rates where attribute = 'sex' and domain = 'clerk' order by 1"
    )
    (_, n_female, selected_female, ratio, p_value, is_below), (_, n_male, selected_male, *_) = rows
    assert ratio == pytest.approx((selected_female / n_female) / (selected_male / n_male))
    table = [
        [selected_female, n_female - selected_female],
        [selected_male, n_male - selected_male],
    ]
    assert p_value == pytest.approx(fisher_exact(table).pvalue)
    assert is_below == (ratio < 0.8)
