"""Answers that go wrong are kept, counted and never analysed; thin groups are named, not judged."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from .conftest import Project, import_spec

GOOD = {"lamp": "Bright and warm. It lasts.", "chair": "Soft and strong. It stays."}


def _row(race: str, gender: str, text: str) -> dict[str, str]:
    return {"race": race, "gender": gender, "template": "a", "text": text}


@pytest.fixture(scope="module")
def project(new_project: Callable[[], Project], tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = new_project()
    audit = project.write_audit("bad", import_spec("bad", kind="json_object"))
    rows = [
        _row("White", gender, json.dumps(GOOD | {f"thing{number}": "Useful. Plain."}))
        for gender in ("Man", "Woman")
        for number in range(12)
    ]
    rows += [
        _row("Asian", gender, json.dumps(GOOD | {f"object{number}": "Useful. Plain."}))
        for gender in ("Man", "Woman")
        for number in range(12)
    ]
    rows += [
        _row("Asian", "Man", '{"lamp": "Bright" "chair": }'),
        _row("Asian", "Man", ""),
        _row("Asian", "Woman", "I'm sorry, but I can't help with that."),
        _row("Asian", "Woman", json.dumps({"giant": "word " * 1_000_000})),
        _row("White", "Man", json.dumps({"чай": "Тёплый. 茶は温かい。", "🎁": "🎉🎉🎉"}, ensure_ascii=False)),
        _row("White", "Woman", json.dumps({"🎁": "🎉"}, ensure_ascii=False)),
        _row("Black", "Man", json.dumps(GOOD | {"onceonly": "Single."})),
    ]
    path = tmp_path_factory.mktemp("data") / "answers.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n", encoding="utf-8")
    project.import_file(audit, path)
    project.build()
    return project


def test_bad_answers_are_kept_and_counted_by_group(project: Project) -> None:
    quality = project.rows(
        "select group_name, n_answers, n_ok, n_malformed, n_refused from marts.fct_answer_quality"
        " where attribute = 'race' order by 1"
    )
    assert quality == [("Asian", 28, 24, 3, 1), ("Black", 1, 1, 0, 0), ("White", 26, 26, 0, 0)]


def test_a_group_with_one_answer_is_named_and_not_judged(project: Project) -> None:
    findings = project.rows(
        "select measure, status, explanation from marts.fct_findings where group_name = 'Black' order by 1"
    )
    assert [(measure, status) for measure, status, _ in findings] == [
        ("marked_words", "insufficient_data"),
        ("separability", "insufficient_data"),
        ("word_divergence", "insufficient_data"),
    ]
    assert all("1 distinct answer" in explanation for _, _, explanation in findings)
    skipped = project.rows("select skipped_reason from marts.fct_separability where group_name = 'Black'")
    assert "an SVM needs at least 10" in skipped[0][0]


def test_a_word_that_appears_once_is_reported_and_not_tested(project: Project) -> None:
    rows = project.rows(
        "select n_marked + n_reference, p_value, p_value_adjusted, is_marked from marts.fct_marked_words"
        " where word = 'object3' and attribute = 'race' and n_units_using = 1 and group_name = 'Asian'"
    )
    assert all(row[1:] == (None, None, False) for row in rows)
    once = project.rows("select p_value from marts.fct_marked_words where word = 'onceonly'")
    assert once
    assert all(p_value is None for (p_value,) in once)


def test_an_oversized_answer_is_kept_whole_and_not_analysed(project: Project) -> None:
    import duckdb

    with duckdb.connect(str(project.ledger), read_only=True) as ledger:
        rows = ledger.execute(
            "select status, length(response_text), error from raw.responses where length(response_text) > 4000000"
        ).fetchall()
    assert [(status, length > 5_000_000 - 100) for status, length, _ in rows] == [("malformed", True)]
    assert "200" in rows[0][2]
    assert project.rows("select count(*) from marts.fct_marked_words where word = 'giant'") == [(0,)]


def test_other_scripts_are_words_and_emoji_are_not(project: Project) -> None:
    words = {word for (word,) in project.rows("select distinct word from marts.fct_marked_words")}
    assert {"чай", "тёплый"} <= words
    assert any("茶" in word for word in words)
    assert not any("🎁" in word for word in words)
