"""Texts are shared out to all threads, whatever their number."""

from __future__ import annotations

import re

import duckdb

from biasledger.project import dbt_source


def test_duckdb_has_the_setting_that_is_made_before_texts_are_cut() -> None:
    """Without it, builds would only be slower, which nobody would notice."""
    macro = (dbt_source() / "macros/engine/tasks.sql").read_text(encoding="utf-8")
    [name] = re.findall(r"function_name = '(\w+)'", macro)
    with duckdb.connect() as connection:
        connection.execute(f"pragma {name}")
    model = dbt_source() / "models/intermediate/words/int_words_counts.sql"
    assert "small_tasks()" in model.read_text(encoding="utf-8")
