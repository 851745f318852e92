from pathlib import Path

import duckdb

from collector.sql import identifier, literal


def test_quotes_in_texts_and_names_stay_what_they_are() -> None:
    name = """a "b" 'c'; --"""
    found = duckdb.sql(f"select {literal(name)} as {identifier(name)}, {literal(Path('it') / name)} as path")
    assert found.columns == [name, "path"]
    assert found.fetchall() == [(name, f"it/{name}")]
