"""Test docs/sql.md: generated parts match the tables' descriptions, and every command and query runs."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest
import yaml

from biasledger.querying.page import with_generated_parts
from biasledger.querying.tables import described_tables
from tests.python.conftest import FirstAudit
from tests.python.docs.shell import ROOT, blocks, run

PAGES = {name: (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("sql.md", "tables.md")}
SCRIPTS = [block for block in blocks("docs/sql.md") if block.startswith(("biasledger", "finding="))]
# The shared project asks neither for prompts and answers nor for metrics.
NOT_BUILT = re.compile("responses$|dim_days$")


@pytest.mark.parametrize("name", PAGES)
def test_the_pages_are_current(name: str) -> None:
    page = PAGES[name]
    assert with_generated_parts(page) == page, (
        "run: python -m biasledger.querying.page docs/sql.md docs/tables.md"
    )


def test_the_first_page_is_short() -> None:
    by_hand = re.sub(r"<!-- analyses -->.*<!-- end of analyses -->", "", PAGES["sql.md"], flags=re.DOTALL)
    assert len(by_hand.partition("## At the terminal")[0].split()) < 1500, (
        "five minutes at 250 words a minute"
    )


def test_every_public_table_is_described_with_its_key() -> None:
    for table in described_tables():
        assert f"### `{table.name}`\n" in PAGES["tables.md"]
        assert table.grain, table.name
        assert table.key, table.name
        assert set(table.key) <= {column.name for column in table.columns}
        assert all(column.description for column in table.columns), table.name


def test_the_page_says_what_is_published(audited: Path) -> None:
    with duckdb.connect(str(audited / "warehouse.duckdb"), read_only=True) as connection:
        found = connection.execute(
            "select table_name, list((column_name, lower(data_type)) order by column_index) from duckdb_columns() "
            "where schema_name = 'marts' group by all order by all"
        ).fetchall()
    described = sorted(
        (table.name, [(column.name, column.data_type) for column in table.columns])
        for table in described_tables()
        if not NOT_BUILT.match(table.name)
    )
    assert [(name, [tuple(column) for column in columns]) for name, columns in found] == described


def test_every_table_and_column_is_explained_in_the_file_itself(audited: Path) -> None:
    with duckdb.connect(str(audited / "warehouse.duckdb"), read_only=True) as connection:
        for what in ("duckdb_tables", "duckdb_columns"):
            silent = connection.execute(
                f"from {what}() where schema_name in ('marts', 'settings') and coalesce(comment, '') = ''"
            )
            assert silent.fetchall() == []


def test_what_metrics_are_made_of_is_there(audited: Path) -> None:
    defined = yaml.safe_load((ROOT / "models" / "findings" / "_metrics.yml").read_text(encoding="utf-8"))
    with duckdb.connect(str(audited / "warehouse.duckdb"), read_only=True) as connection:
        for model in defined["semantic_models"]:
            table = model["model"].removeprefix("ref('").removesuffix("')")
            parts = [*model["entities"], *model["dimensions"], *model["measures"]]
            columns = ", ".join(part.get("expr", part["name"]) for part in parts)
            assert connection.execute(f"select {columns} from marts.{table} limit 1").fetchall()


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.splitlines()[0][:60] for script in SCRIPTS])
def test_every_command_runs(first_audit: FirstAudit, script: str) -> None:
    finished = run(script, first_audit.folder)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout
