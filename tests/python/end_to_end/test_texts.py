"""Test measures of texts: planted bias raises alarms, a fair model does not, and nothing is judged without a noise floor."""

from __future__ import annotations

import pytest

from biasledger.explaining import explain_finding
from biasledger.reporting.methods.texts import pictures
from biasledger.reporting.source import open_warehouse
from tests.python.project import Project

from .planting import advice

MEASURES = ("hedging_gap", "readability_gap", "similarity_gap", "type_token_ratio_gap")
FINDINGS = f"from marts.fct_findings where measure in {MEASURES}"


def test_what_is_planted_fires(shipped: Project) -> None:
    assert shipped.rows(
        "select measure, severity, sign(value), scope from marts.fct_findings"
        f" where status = 'alarm' and target = 'simulator' and mitigation = 'plain'"
        f" and audit = 'advice' and measure in {MEASURES} order by 1"
    ) == [
        ("hedging_gap", "warn", 1, "group"),
        ("readability_gap", "warn", 1, "group"),
        ("similarity_gap", "error", 1, "group"),
        ("type_token_ratio_gap", "warn", -1, "group"),
    ]
    for level, n in (("alarm", 1), ("warning", 3)):
        assert shipped.work_rows(
            f"select count(*) from alarms.{level}_texts where target = 'simulator' and mitigation = 'plain' and audit = 'advice'"
        ) == [(n,)]


def test_a_fair_model_is_silent(shipped: Project) -> None:
    found = shipped.rows(
        f"select measure, status {FINDINGS} and target = 'simulator-fair' and audit = 'advice' order by 1"
    )
    assert [measure for measure, _ in found] == list(MEASURES)
    # So few answers do not rule out that a tenth of the words is one group's own: similarity_gap is inconclusive.
    assert {status for _, status in found} <= {"clear", "inconclusive"}


def test_without_a_floor_the_published_number_is_shown_and_what_to_add(odd: Project) -> None:
    ((status, value, published, statement, needed),) = odd.rows(
        f"select status, value, published_value, statement, advice {FINDINGS}"
        f" and audit = '{advice.AUDIT}' and measure = 'similarity_gap'"
    )
    assert (status, value) == ("insufficient_data", None)
    assert 0 < published < 1
    assert "ask each twice (trials), or in a second wording or name of each group" in statement
    assert needed.startswith("At least 5 prompts, answers or names a group are needed.")


def test_languages_without_hedges_say_so(odd: Project) -> None:
    rows = dict(odd.rows(f"select measure, statement {FINDINGS} and audit = '{advice.AUDIT}'"))
    assert (
        rows["hedging_gap"]
        == "the answers about a group are too short for this measure or in a language that it lacks"
    )
    assert odd.rows(
        "select outcome, count(value) > 0 from marts.fct_text_answers join marts.dim_runs using (run_id)"
        f" where audit = '{advice.AUDIT}' and outcome in ('readability', 'hedging') group by outcome order by outcome"
    ) == [("hedging", False), ("readability", True)]


def test_all_schemes_are_shown_and_the_first_is_judged(shipped: Project) -> None:
    rows = shipped.rows(
        "select scheme, is_judged, p_value is not null, n_questions, n_names from marts.fct_text_similarity"
        " join marts.dim_runs using (run_id) where target = 'simulator' and mitigation = 'plain' and audit = 'advice' order by 1"
    )
    assert rows == [
        ("bleu", False, False, 6, 8),
        ("cosine", True, True, 6, 8),
        ("lsa", False, False, 6, 8),
        ("rouge_l", False, False, 6, 8),
    ]


def test_names_are_no_part_of_what_is_compared(shipped: Project) -> None:
    assert shipped.work_rows(
        "select count(*) from intermediate.int_texts_answers where words similar to '.*(keisha|emily|anne).*'"
    ) == [(0,)]


def test_other_audits_have_none_of_it(shipped: Project) -> None:
    assert shipped.rows(f"select count(*) {FINDINGS} and audit = 'products'") == [(0,)]


@pytest.mark.parametrize("measure", MEASURES)
def test_a_finding_is_walked_back_to_answers(shipped: Project, measure: str) -> None:
    ((finding_id, value),) = shipped.rows(
        f"select finding_id, value {FINDINGS} and measure = '{measure}' and audit = 'advice' and target = 'simulator'"
        " and mitigation = 'plain'"
    )
    found = explain_finding(finding_id, shipped.warehouse, shipped.ledger, 2)
    assert found.missing == []
    assert value in {
        row.get("similarity_gap", row.get("adjusted_gap")) for row in found.evidence.tables[0].rows
    }
    assert [len(side.answers) for side in found.sides] == [2, 2]
    assert all("Dear " in (answer.text or "") for side in found.sides for answer in side.answers)
    if measure == "hedging_gap":
        assert found.sides[0].answers[0].spans
        assert not found.sides[1].answers[0].spans


def test_the_report_draws_both_pictures(shipped: Project) -> None:
    ((run_id,),) = shipped.rows(
        "select run_id from marts.dim_runs where audit = 'advice' and target = 'simulator'"
    )
    with open_warehouse(shipped.warehouse) as source:
        drawn = pictures(source, run_id)
    assert [picture.key for picture in drawn] == ["texts-similarity", "texts-gaps"]
    assert [len(picture.panels) for picture in drawn] == [4, 3]
