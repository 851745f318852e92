"""An erased answer is gone from built tables, too, after the next build."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb

from collector.erasure import erase

from .conftest import Project, import_spec
from .test_same_numbers import _texts

SECRET = "quincelane"


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


def test_no_table_holds_an_erased_answer_after_the_next_build(
    new_project: Callable[[], Project], tmp_path: Path
) -> None:
    project = new_project()
    audit = project.write_audit("texts", import_spec("texts"))
    texts = _texts()
    texts.loc[3, "text"] += f" {SECRET}"
    texts.to_csv(tmp_path / "texts.csv", index=False)
    run_id = project.import_file(audit, tmp_path / "texts.csv").run_id
    project.build()
    assert "marts.fct_marked_words.word" in _tables_with(project.warehouse, SECRET)
    assert "intermediate.int_words_counts.word" in _tables_with(project.work, SECRET)

    with duckdb.connect(str(project.ledger), read_only=True) as connection:
        ((prompt_id, trial),) = connection.execute(
            "select prompt_id, trial from raw.responses where contains(response_text, ?)", [SECRET]
        ).fetchall()
    erase(project.ledger, run_id, prompt_id, trial, reason="names where a private person lives")
    notes: list[str] = []
    project.build(on_note=notes.append)
    assert notes == ["Answers were erased since the last build: all tables are built anew."]
    for path in (project.warehouse, project.work):
        assert _tables_with(path, SECRET) == []
    holders = [
        path
        for path in project.folder.rglob("*")
        if path.is_file() and not path.is_symlink() and SECRET.encode() in path.read_bytes()
    ]
    assert holders == []
    assert project.rows("select count(*) > 0 from marts.fct_marked_words") == [(True,)]
