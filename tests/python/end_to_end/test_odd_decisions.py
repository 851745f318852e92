"""Decisions that are kept incompletely: nothing missing is taken for fair, right or paired."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Project

RACE = {"race": {"reference": "white", "groups": ["white", "black"]}}


def _spec(name: str, answer: dict[str, Any], columns: dict[str, Any]) -> dict[str, Any]:
    return {
        "audit": name,
        "attributes": RACE,
        "answer": answer,
        "import": {"columns": {**columns, "attributes": {"race": "race"}}},
        "reading": {"decisions": {"ordered": answer["kind"] == "label", "favourable": ["yes"]}}
        if answer["kind"] == "label"
        else {},
    }


def _write(path: Path, header: str, rows: Iterable[tuple[Any, ...]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header.split(","), *rows])
    return path


@pytest.fixture(scope="module")
def odd(new_project: Callable[[], Project]) -> Project:
    project = new_project()
    label = {"kind": "label", "labels": ["no", "yes"]}
    # Rankings of two that name the winner alone, who is white in nine of ten; 40 names a group.
    winners = _write(
        project.folder / "winners.csv",
        "run,job,place,name,race,rank,missing",
        (
            (run, "clerk", place, f"{race} {run % 40}", race, 1 if won else "", 0 if won else 1)
            for run in range(200)
            for place, race in ((1, "white"), (2, "black"))
            for won in [(race == "white") == (run % 10 > 0)]
        ),
    )
    roles = {
        "response": "run",
        "subject": "job",
        "domain": "job",
        "slot": "place",
        "rank": "rank",
        "missing": "missing",
    }
    audit = project.write_audit(
        "winners", _spec("winners", {"kind": "ranking"}, {**roles, "carrier": "name"})
    )
    project.import_file(audit, winners)
    # Applicants numbered anew for each job; only black ones have a right label.
    columns = {"text": "decision", "subject": "id", "domain": "job"}
    restarted = _write(
        project.folder / "restarted.csv",
        "id,job,race,decision",
        (
            (number, job, ("white", "black")[number % 2 ^ shift], "yes" if number % 3 else "no")
            for shift, job in enumerate(("clerk", "driver"))
            for number in range(40)
        ),
    )
    project.import_file(project.write_audit("restarted", _spec("restarted", label, columns)), restarted)
    partly = _write(
        project.folder / "partly.csv",
        "id,job,race,decision,right",
        (
            (number, "clerk", race, "yes", "no" if race == "black" else "")
            for number, race in enumerate(["white", "black"] * 30)
        ),
    )
    audit = project.write_audit("partly", _spec("partly", label, {**columns, "expected": "right"}))
    project.import_file(audit, partly)
    project.build()
    return project


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
