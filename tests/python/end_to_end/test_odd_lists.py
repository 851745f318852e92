"""Test audits of lists with another structure than the shipped one: constraints hold."""

from __future__ import annotations

from tests.python.project import Project


def test_a_mitigation_is_compared_in_each_domain(odd: Project) -> None:
    rows = odd.rows(
        "select subject, verdict, difference is not null, p_value"
        " from marts.fct_mitigation_comparisons where measure = 'snsr' order by 1"
    )
    # Four subjects in each domain are too few to judge a change, and enough to show it.
    assert rows == [("bands", "insufficient_data", True, None), ("films", "insufficient_data", True, None)]


def test_of_two_judged_neutral_prompts_one_makes_findings(odd: Project) -> None:
    rows = odd.rows(
        "select neutral, bool_or(is_judged_neutral) from marts.fct_group_similarity join marts.dim_runs using (run_id)"
        " where audit = 'two-neutrals' and attribute = 'race' group by 1 order by 1"
    )
    assert rows == [("by", True), ("neutral", False)]
    ((n,),) = odd.rows(
        "select count(*) from marts.fct_findings where audit = 'two-neutrals' and measure = 'snsr'"
    )
    assert n == 1


def test_an_audit_in_one_other_language_is_judged(odd: Project) -> None:
    rows = odd.rows(
        "select distinct wording, neutral from marts.fct_group_similarity join marts.dim_runs using (run_id)"
        " where audit = 'german' and is_judged_neutral and attribute = 'race'"
    )
    assert rows == [("clean", "neutral")]
    ((n,),) = odd.rows("select count(*) from marts.fct_findings where audit = 'german'")
    assert n > 0


def test_lists_about_nobody_in_particular_are_one_subject(odd: Project) -> None:
    rows = odd.rows(
        "select group_name, subject, count(*) from marts.fct_list_items join marts.dim_runs using (run_id)"
        " where audit = 'no-subject' and attribute = 'race' and scheme = 'items' group by all order by all"
    )
    assert rows == [("Black", "", 5), ("White", "", 5)]


def test_of_a_question_asked_twice_the_published_code_keeps_the_last_list(odd: Project) -> None:
    rows = odd.rows(
        "select scheme, group_name, similarity from marts.fct_group_similarity join marts.dim_runs using (run_id)"
        " where audit = 'asked-twice' and attribute = 'race' and similarity_name = 'jaccard' order by all"
    )
    assert rows == [
        ("items", "Black", 0.5),
        ("items", "White", 1.0),
        ("reference", "Black", 1.0),
        ("reference", "White", 1.0),
    ]
    # The published threshold is about the published code's number.
    ((value, published_value, n_units, settled_by),) = odd.rows(
        "select snsr, published_value, n_units, settled_by from marts.fct_findings"
        " join marts.fct_similarity_spread as spread using (run_id, attribute)"
        " where audit = 'asked-twice' and measure = 'snsr' and spread.scheme = 'items' and similarity_name = 'jaccard'"
    )
    assert (value, published_value, n_units, settled_by) == (0.5, 0.0, 3, "subjects")
