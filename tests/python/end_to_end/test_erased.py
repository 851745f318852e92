"""Test that the next build removes an erased answer from the tables."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb

from collector.ledger.erasure import erase
from tests.python.project import Project

from .planting.texts import SECRET


def _tables_with(path: Path, text: str) -> list[str]:
    with duckdb.connect(str(path), read_only=True) as connection:
        columns = connection.execute(
            "select schema_name, table_name, column_name from duckdb_columns() join duckdb_tables()"
            " using (schema_name, table_name) where data_type like 'VARCHAR%' order by all"
        ).fetchall()
        return [
            f"{schema}.{table}.{column}"
            for schema, table, column in columns
            if connection.execute(
                f'select 1 from {schema}.{table} where contains("{column}"::varchar, ?) limit 1', [text]
            ).fetchone()
        ]


def test_no_table_holds_an_erased_answer_after_the_next_build(alone: Project, tmp_path: Path) -> None:
    assert {"marts.fct_marked_words.word", "marts.responses.response_text"} <= {
        *_tables_with(alone.warehouse, SECRET)
    }
    assert "intermediate.int_words_counts.word" in _tables_with(alone.work, SECRET)

    # The file that was imported is its owner's to delete.
    ignored = shutil.ignore_patterns("packages", "texts.csv")
    project = Project(shutil.copytree(alone.folder, tmp_path / "project", ignore=ignored))
    with duckdb.connect(str(project.ledger), read_only=True) as connection:
        ((run_id, prompt_id, trial),) = connection.execute(
            "select run_id, prompt_id, trial from raw.responses where contains(response_text, ?)", [SECRET]
        ).fetchall()
    erase(project.ledger, run_id, prompt_id, trial, reason="names where a private person lives")
    notes: list[str] = []
    project.build(on_note=notes.append)
    assert notes == ["Answers were erased since the last build: all tables are rebuilt."]
    for path in (project.warehouse, project.work):
        assert _tables_with(path, SECRET) == []
    holders = [
        path
        for path in project.folder.rglob("*")
        if path.is_file() and not path.is_symlink() and SECRET.encode() in path.read_bytes()
    ]
    assert holders == []
    assert project.rows("select count(*) > 0 from marts.fct_marked_words") == [(True,)]
    # The table still shows that there was an answer, and its status.
    erased = "select status, count(*) from marts.responses where response_text is null group by status"
    assert project.rows(erased) == [("ok", 1)]


def test_texts_that_a_project_publishes_are_the_ledger_s(alone: Project) -> None:
    published = alone.rows("select groups, response_text from marts.responses order by all")
    with duckdb.connect(str(alone.ledger), read_only=True) as connection:
        kept = connection.execute(
            """
            select string_agg(attribute || '=' || group_name, '; ' order by attribute) as groups, response_text
            from raw.kept_responses inner join raw.kept_prompt_attributes using (run_id, prompt_id)
            group by run_id, prompt_id, trial, response_text order by all
            """
        ).fetchall()
    assert published == kept
    assert len(kept) == 72
    assert published[0][0] == "gender=Man; race=Asian"
