"""Test people of unknown groups: their counts next to the rates, in the table of Local Law 144 and in the report."""

from __future__ import annotations

import duckdb

from biasledger.reporting.methods.decisions import pictures
from biasledger.reporting.source import open_warehouse
from tests.python.project import Project
from tests.python.query.analysed import run

IN_AUDIT = "join marts.dim_runs using (run_id) where audit = 'unknown-groups'"


def test_who_is_left_out_is_counted_with_the_reason(odd: Project) -> None:
    rows = odd.rows(
        f"select attribute, group_name, reason, n_people from marts.fct_decisions_left_out {IN_AUDIT} order by all"
    )
    small = "less than 2 % of the sample"
    assert rows == [
        ("race", "", "the group is not stated", 6),
        ("race", "Asian", small, 1),
        ("sex", "", "the group is not stated", 9),
        ("sex*race", "", "the group is not stated", 14),
        ("sex*race", "Male*Asian", small, 1),
    ]


def test_a_group_called_unknown_is_distinguished_from_none(odd: Project) -> None:
    assert odd.rows(
        "select attribute, reason, sum(n_people) from marts.fct_decisions_left_out join marts.dim_runs using (run_id)"
        " where audit = 'applicants' and group_name = '' group by all order by all"
    ) == [("race", "the group is unknown", 30), ("sex*race", "the group is unknown", 30)]


def test_the_table_of_exclusions_agrees(odd: Project) -> None:
    rows = odd.rows(
        f"select attribute, reason, stated_as, n from marts.fct_exclusions {IN_AUDIT} order by all"
    )
    assert sum(n for attribute, reason, _, n in rows if attribute == "sex" and reason != "small_group") == 9
    assert sum(n for attribute, reason, _, n in rows if attribute == "race" and reason != "small_group") == 6
    assert ("sex*race", "component_unknown", "", 14) in rows
    assert sum(n for _, reason, _, n in rows if reason == "missing") == 6
    assert ("race", "small_group", "Asian", 1) in rows


def test_answers_without_a_group_are_counted_by_rule(odd: Project) -> None:
    """An answer without sex and race has a row of its own, so that no answer of the file is left out."""
    assert odd.rows(
        f"select group_name, sum(n) from marts.fct_answer_reading {IN_AUDIT} and attribute = '' group by all"
    ) == [("", 1)]
    ((n_answers,),) = odd.rows(f"select n_answers from marts.fct_run_quality {IN_AUDIT}")
    assert odd.rows(
        f"select sum(n) from marts.fct_answer_reading {IN_AUDIT} and attribute in ('sex', '')"
    ) == [(n_answers - 8,)]


def test_missing_decisions_are_errors_that_say_what_stood_there(odd: Project) -> None:
    with duckdb.connect(str(odd.ledger), read_only=True) as connection:
        rows = connection.execute(
            "select status, error, count(*) from raw.responses join raw.runs using (run_id) where audit = 'unknown-groups'"
            " and status <> 'ok' group by all order by all"
        ).fetchall()
    assert rows == [
        ("error", "The cell is missing (#N/A).", 1),
        ("error", "The cell is missing (#REF!).", 1),
        ("error", "The cell is missing ([FAILED]).", 2),
        ("error", "The cell is missing (null).", 1),
        ("malformed", "The answer is empty.", 1),
    ]


def test_the_table_of_local_law_144_and_the_report_say_so(odd: Project) -> None:
    rows = [row for row in run(odd.warehouse, "nyc_local_law_144") if row["audit"] == "unknown-groups"]
    assert {row["number_of_unknown_category"] for row in rows} == {14}
    assert {(row["table_part"], row["number_of_unknown_category_in_this_part"]) for row in rows} == {
        ("Sex categories", 9),
        ("Race/ethnicity categories", 6),
        ("Intersectional categories", 14),
    }
    ((run_id,),) = odd.rows("select run_id from marts.dim_runs where audit = 'unknown-groups'")
    with open_warehouse(odd.warehouse) as source:
        (rates,) = [one for one in pictures(source, run_id) if one.key == "decisions-rates"]
    assert "9 people whose sex is not stated" in rates.note
    assert "1 person of Asian, as they are less than 2 % of the sample" in rates.note
