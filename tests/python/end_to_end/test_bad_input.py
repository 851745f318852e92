"""Test that bad answers are kept, counted and not analysed, and that groups with few answers are named and not judged."""

from __future__ import annotations

import duckdb

from tests.python.project import Project

IN_AUDIT = "join marts.dim_runs using (run_id) where audit = 'bad'"


def test_bad_answers_are_kept_and_counted_by_group(odd: Project) -> None:
    quality = odd.rows(
        "select group_name, n_answers, quality.n_ok, quality.n_malformed, quality.n_refused"
        f" from marts.fct_answer_quality as quality {IN_AUDIT} and attribute = 'race' order by 1"
    )
    assert quality == [("Asian", 28, 24, 3, 1), ("Black", 1, 1, 0, 0), ("White", 26, 26, 0, 0)]


def test_a_group_with_one_answer_is_named_and_not_judged(odd: Project) -> None:
    findings = odd.rows(
        "select measure, status, explanation from marts.fct_findings"
        " where audit = 'bad' and group_name = 'Black' order by 1"
    )
    assert [(measure, status) for measure, status, _ in findings if measure != "answer_gap"] == [
        ("classifier_accuracy", "insufficient_data"),
        ("length_gap", "insufficient_data"),
        ("marked_words", "insufficient_data"),
        ("word_divergence", "insufficient_data"),
    ]
    assert all(
        explanation == "Not judged: there is only 1 answer for each group." for _, _, explanation in findings
    )
    skipped = odd.rows(
        f"select skipped_reason from marts.fct_classifier_accuracy {IN_AUDIT} and group_name = 'Black'"
    )
    assert "1 distinct text; a classifier needs at least 10" in skipped[0][0]


def test_a_word_that_appears_once_is_reported_and_not_tested(odd: Project) -> None:
    rows = odd.rows(
        "select distinct p_value, p_value_adjusted, is_marked from marts.fct_marked_words"
        f" {IN_AUDIT} and n_units_using = 1 and group_name <> 'Black'"
    )
    assert rows == [(None, None, False)]
    once = odd.rows("select p_value from marts.fct_marked_words where word = 'onceonly'")
    assert once
    assert all(p_value is None for (p_value,) in once)


def test_an_oversized_answer_is_kept_whole_and_not_analysed(odd: Project) -> None:
    with duckdb.connect(str(odd.ledger), read_only=True) as ledger:
        rows = ledger.execute(
            "select status, length(response_text), error from raw.responses where length(response_text) > 4000000"
        ).fetchall()
    assert [(status, length > 5_000_000 - 100) for status, length, _ in rows] == [("malformed", True)]
    assert "200" in rows[0][2]
    assert odd.rows("select count(*) from marts.fct_marked_words where word = 'giant'") == [(0,)]


def test_other_scripts_are_words_and_emoji_are_not(odd: Project) -> None:
    words = {word for (word,) in odd.rows(f"select distinct word from marts.fct_marked_words {IN_AUDIT}")}
    assert {"чай", "тёплый"} <= words
    assert any("茶" in word for word in words)
    assert not any("🎁" in word for word in words)
