"""Test that questions without an answer raise an alarm if they concern one group, and none if they concern both."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from biasledger.checking.cases import read_check
from biasledger.cli import cli
from biasledger.explaining import explain_finding
from biasledger.reporting import render
from tests.python.end_to_end.planting.failures import BLOCKED, N_BLOCKED, N_CASES
from tests.python.project import Project


def _gaps(project: Project, audit: str) -> dict[str, tuple[str, float]]:
    """Scheme -> status and value of the gap between women and men."""
    return {
        scheme: (status, value)
        for scheme, status, value in project.rows(
            f"select scheme, status, value from marts.fct_findings where audit = '{audit}' and measure = 'answer_gap'"
        )
    }


@pytest.mark.parametrize("audit", ["blocked_in_column", "blocked_in_text"])
def test_what_a_filter_blocks_is_refused(odd: Project, audit: str) -> None:
    assert _gaps(odd, audit) == {"refused": ("alarm", pytest.approx(N_BLOCKED / N_CASES))}
    ((explanation, n_cases, judged_attempt),) = odd.rows(
        f"""
        select findings.explanation, gaps.n_cases, gaps.judged_attempt
        from marts.fct_findings as findings inner join marts.fct_answer_gaps as gaps using (contrast_id, scheme)
        where findings.audit = '{audit}' and findings.measure = 'answer_gap'
        """
    )
    assert explanation.startswith(
        "62.5 % of the answers about women are refusals, and 0.0 % of the answers about men, over the same 40 cases. "
    )
    assert (n_cases, judged_attempt) == (N_CASES, "first")


def test_the_same_cases_are_compared_though_few_were_answered(odd: Project) -> None:
    cautions = odd.rows(
        "select audit, caution, explanation from marts.fct_findings"
        " where audit in ('blocked_in_column', 'blocked_in_text', 'failed_of_one') and measure = 'rank_gap'"
    )
    assert len(cautions) == 3
    assert {caution for _, caution, _ in cautions} == {None}
    assert not any("different people" in explanation for *_, explanation in cautions)


def test_where_few_are_asked_about_twice_most_are_different_people(odd: Project) -> None:
    ((caution,),) = odd.rows(
        "select caution from marts.fct_findings where audit = 'few_shared' and measure = 'rank_gap'"
    )
    assert caution == "most of those compared are different people, so their qualifications may differ, too"


def test_failed_questions_of_one_group_are_an_alarm_of_their_own(odd: Project) -> None:
    assert _gaps(odd, "failed_of_one") == {"failed": ("alarm", pytest.approx(N_BLOCKED / N_CASES))}
    # A text next to an error is no answer.
    assert odd.rows(
        "select group_name, quality.n_ok, n_error from marts.fct_answer_quality as quality"
        " inner join marts.dim_runs as runs using (run_id)"
        " where runs.audit = 'failed_of_one' order by 1"
    ) == [("man", 40, 0), ("woman", 15, 25)]


def test_an_outage_of_both_groups_is_no_alarm(odd: Project) -> None:
    gaps = _gaps(odd, "failed_of_both")
    assert set(gaps) == {"failed"}
    assert gaps["failed"][0] in {"inconclusive", "clear"}


@pytest.mark.parametrize("audit", ["blocked_for_all", "failed_for_all"])
def test_without_a_usable_answer_nothing_is_clear(odd: Project, audit: str) -> None:
    assert odd.rows(f"select status, explanation from marts.fct_findings where audit = '{audit}'") == [
        ("insufficient_data", "Not judged: no question got an answer that can be used.")
    ]
    run = odd.rows(f"select run_id from marts.dim_runs where audit = '{audit}'")[0][0]
    assert odd.rows(f"select verdict from marts.fct_verdicts where run_id = '{run}'") == [
        ("insufficient_data",)
    ]
    check = read_check(odd.warehouse, run=run)
    assert check.verdict == "undecided"
    finished = CliRunner().invoke(cli, ["findings", "--warehouse", str(odd.warehouse), "--run", run])
    assert "clear" not in finished.output.replace("0 clear", "")
    assert "Nothing is known of sex man" in finished.output


def test_the_report_calls_nothing_clear_without_an_answer(odd: Project) -> None:
    page = render(odd.warehouse)
    assert "Who is refused more often" in page
    assert "failed with an error" in page


def test_refusing_all_of_a_group_stays_an_alarm(odd: Project) -> None:
    assert _gaps(odd, "blocked_for_women") == {"refused": ("alarm", 1.0)}


def test_first_tries_are_judged(odd: Project) -> None:
    found = {
        group: (status, value)
        for group, status, value in odd.rows(
            "select group_name, status, value from marts.fct_findings"
            " where audit = 'first_tries' and measure = 'answer_gap' and scheme = 'unusable'"
        )
    }
    assert found["Polish"][0] == "alarm"
    assert found["Polish"][1] > 0.2
    assert found["Turkish"][0] != "alarm"
    # All of them got an answer in the end.
    quality = odd.rows(
        "select group_name, n_answers, quality.n_ok, n_asked_again from marts.fct_answer_quality as quality"
        " inner join marts.dim_runs as runs using (run_id) where runs.audit = 'first_tries' order by 1"
    )
    assert {(n_answers, n_ok) for _, n_answers, n_ok, _ in quality} == {(48, 48)}
    asked_again = {group: n for group, _, _, n in quality}
    assert asked_again["Polish"] > asked_again["German"] + asked_again["Turkish"]


def test_an_audit_may_ask_for_the_last_tries(odd: Project) -> None:
    assert _gaps(odd, "last_tries") == {}
    ((judged_attempt,),) = odd.rows(
        "select distinct judged_attempt from marts.fct_answer_gaps inner join marts.dim_runs as runs using (run_id)"
        " where runs.audit = 'last_tries'"
    )
    assert judged_attempt == "last"


def test_the_replies_behind_a_gap_are_those_that_were_judged(odd: Project) -> None:
    for audit, scheme, text, missing in (
        ("first_tries", "unusable", "{}", ""),
        ("blocked_in_column", "refused", None, BLOCKED),
        ("failed_of_one", "failed", "accept", ""),
    ):
        ((finding_id,),) = odd.rows(
            f"select finding_id from marts.fct_findings where audit = '{audit}' and scheme = '{scheme}'"
            " and measure = 'answer_gap' and status = 'alarm'"
        )
        side = explain_finding(finding_id, odd.warehouse, odd.ledger).sides[0]
        assert len(side.answers) == 3
        assert {answer.text for answer in side.answers} == {text}
        assert all(missing in answer.missing for answer in side.answers)
