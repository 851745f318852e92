"""Test verdicts with unread answers: a verdict holds only for all values they may have, and they are counted by group."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from biasledger.cli import cli
from biasledger.comparing.answer_notes import answer_notes
from biasledger.comparing.built_tables import open_tables
from biasledger.reporting import render
from tests.python.end_to_end.planting.unread import BIASED, FAIR, N_FAIR, N_RESUMES
from tests.python.project import Project


def _judged(project: Project, audit: str, measure: str) -> tuple[str, str, int, float | None, float | None]:
    ((status, explanation, *numbers),) = project.rows(
        "select status, explanation, n_unread, value_if_unread_low, value_if_unread_high from marts.fct_findings"
        f" where audit = '{audit}' and measure = '{measure}' and scheme in ('rank_value', 'selected')"
    )
    return status, explanation, *numbers


@pytest.mark.parametrize("measure", ["rank_gap", "impact_ratio"])
@pytest.mark.parametrize(
    ("audit", "status", "message"),
    [
        ("bias_read", "alarm", None),
        ("bias_few_unread", "alarm", "8 answers could not be read (black 6, white 2)"),
        ("bias_many_unread", "inconclusive", "80 answers could not be read (black 80)"),
        ("fair_read", "clear", None),
        ("fair_one_unread", "clear", "1 answer could not be read (black 1)"),
        ("fair_many_unread", "inconclusive", "60 answers could not be read (black 60)"),
    ],
)
def test_a_verdict_stands_only_whatever_unread_answers_say(
    odd: Project, audit: str, status: str, message: str | None, measure: str
) -> None:
    found, explanation, n_unread, low, high = _judged(odd, audit, measure)
    assert found == status
    assert n_unread == sum({**BIASED, **FAIR}[audit])
    if message is None:
        assert "could not be read" not in explanation
        assert low is high is None
    else:
        assert message in explanation
        unit = " ranks" if measure == "rank_gap" else ""
        assert f"the value lies between {low:.3g}{unit} and {high:.3g}{unit}" in explanation
        assert ("which does not change the verdict" in explanation) == (status != "inconclusive")


def test_bounds_are_those_of_the_worst_cases(odd: Project) -> None:
    """Of 200 versions each 140 white ones are selected, and of black ones 54 of the 120 that were read."""
    _, _, _, low, high = _judged(odd, "bias_many_unread", "rank_gap")
    ((n_selected,),) = odd.rows(
        "select n_selected from marts.fct_decision_rates join marts.dim_runs using (run_id)"
        " where audit = 'bias_many_unread' and group_name = 'black'"
    )
    assert low == pytest.approx(n_selected / N_RESUMES - 0.7)
    assert high == pytest.approx((n_selected + 80) / N_RESUMES - 0.7)
    _, _, _, low, high = _judged(odd, "bias_many_unread", "impact_ratio")
    assert low == pytest.approx(n_selected / N_RESUMES / 0.7)
    assert high == pytest.approx((n_selected + 80) / N_RESUMES / 0.7)
    _, _, _, low, high = _judged(odd, "fair_many_unread", "rank_gap")
    assert high - low == pytest.approx(60 / N_FAIR)


def test_a_group_that_was_not_read_at_all_clears_nobody(odd: Project) -> None:
    status, explanation, n_unread, low, high = _judged(odd, "group_unread", "impact_ratio")
    assert (status, n_unread, low, high) == ("inconclusive", 100, 0.0, 1.0)
    assert "(black 100)" in explanation
    assert odd.rows(
        "select silence from marts.fct_group_coverage join marts.dim_runs using (run_id)"
        " where audit = 'group_unread' and is_silent"
    ) == [("none of 100 answers can be used: 100 unread",)]
    # The other groups' answers are still judged.
    assert odd.rows(
        "select group_name, status, n_unread from marts.fct_findings where audit = 'group_unread' and measure = 'rank_gap'"
    ) == [("asian", "clear", 0)]


def test_a_refusal_is_no_answer_that_could_not_be_read(odd: Project) -> None:
    assert odd.rows("select distinct n_unread from marts.fct_findings where audit = 'bias_refused'") == [(0,)]
    assert odd.rows(
        "select scheme, status from marts.fct_findings where audit = 'bias_refused' and measure = 'impact_ratio' order by 1"
    ) == [("selected", "clear"), ("selected_of_asked", "clear")]


def test_scores_are_bounded_by_their_scale(odd: Project) -> None:
    status, _, n_unread, low, high = _judged(odd, "scores_unread", "score_gap")
    assert (status, n_unread) == ("inconclusive", 30)
    assert low < -2 < 0 < high
    status, explanation, n_unread, low, high = _judged(odd, "equal_scores_unread", "score_gap")
    assert (status, n_unread) == ("inconclusive", 10)
    assert low == -high < 0
    assert explanation.startswith("All scores are equal")


def test_unread_answers_are_counted_by_group_and_rule(odd: Project) -> None:
    rows = odd.rows(
        "select group_name, status, read_by <> '', n, share from marts.fct_answer_reading"
        " join marts.dim_runs using (run_id) where audit = 'bias_few_unread' and status = 'unread' order by 1"
    )
    assert rows == [("black", "unread", False, 6, 0.03), ("white", "unread", False, 2, 0.01)]
    assert odd.rows(
        "select count(*) from (select sum(share) as share from marts.fct_answer_reading"
        " group by run_id, mitigation, attribute, group_name) where abs(share - 1) > 1e-9"
    ) == [(0,)]
    assert odd.rows(
        "select quality.share_unread, quality.share_ok from marts.fct_run_quality as quality"
        " join marts.dim_runs using (run_id) where audit = 'bias_few_unread'"
    ) == [(0.02, 0.98)]
    assert odd.rows(
        "select group_name, n_unread, share_unread from marts.fct_answer_quality"
        " join marts.dim_runs using (run_id) where audit = 'bias_few_unread' order by 1"
    ) == [("black", 6, 0.03), ("white", 2, 0.01)]


def test_the_build_says_how_many_are_unread(odd: Project, tmp_path: Path) -> None:
    with open_tables(odd.warehouse) as tables:
        notes = answer_notes(tables)
    assert (
        "bias_few_unread, target bias_few_unread: 8 of 400 answers unread (2.0 %): black 6, white 2." in notes
    )
    assert not any(note.startswith("bias_read") for note in notes)


def test_the_report_shows_how_answers_were_read(odd: Project) -> None:
    ((run,),) = odd.rows("select run_id from marts.dim_runs where audit = 'bias_few_unread'")
    page = render(odd.warehouse, [run])
    assert "How answers were read" in page
    assert "No rule reads 8 answers" in page
    assert "unread 3 %" in page


def test_explain_states_the_bounds(odd: Project) -> None:
    ((finding,),) = odd.rows(
        "select finding_id from marts.fct_findings where audit = 'bias_many_unread' and measure = 'rank_gap'"
    )
    options = ["--warehouse", str(odd.warehouse), "--ledger", str(odd.ledger)]
    finished = CliRunner().invoke(cli, ["explain", finding, *options])
    assert finished.exit_code == 0, finished.output
    message = " ".join(finished.output.split())
    assert "80 answers could not be read (black 80)" in message
    assert "It would be settled once its 80 unread answers are read." in message
