"""Test that what shares a cluster is judged as one, and that groups are compared inside blocks."""

from __future__ import annotations

from tests.python.project import Project

from .planting.customers import N_CUSTOMERS


def test_customers_with_words_of_their_own_are_judged_and_raise_no_alarm(odd: Project) -> None:
    rows = odd.rows(
        "select measure, status in ('clear', 'inconclusive'), scope, n_units from marts.fct_findings"
        " where audit = 'customers' and measure in ('marked_words', 'word_divergence', 'classifier_accuracy') order by 1"
    )
    assert rows == [
        (measure, True, "group", N_CUSTOMERS // 2)
        for measure in ("classifier_accuracy", "marked_words", "word_divergence")
    ]


def test_a_finding_of_days_with_one_group_each_says_why_it_is_not_judged(odd: Project) -> None:
    ((status, explanation, advice),) = odd.rows(
        "select status, explanation, advice from marts.fct_findings where audit = 'days' and measure = 'score_gap'"
    )
    assert status == "insufficient_data"
    assert explanation.startswith("Not judged: each block holds only one group")
    assert advice.startswith("Ask about both groups in each block")
