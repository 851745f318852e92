"""docs/sql.md: the generated parts are as the tables' descriptions say, and every command and query in it runs."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from biasledger.querying.page import with_generated_parts
from biasledger.querying.tables import described_tables
from tests.python.conftest import FirstAudit
from tests.python.docs.shell import ROOT, blocks, run

PAGE = (ROOT / "docs" / "sql.md").read_text(encoding="utf-8")
SCRIPTS = [block for block in blocks("docs/sql.md") if block.startswith(("biasledger", "finding="))]


def test_the_page_is_current() -> None:
    assert with_generated_parts(PAGE) == PAGE, "run: python -m biasledger.querying.page docs/sql.md"


def test_every_public_table_is_described_with_its_key() -> None:
    for table in described_tables():
        assert f"#### `{table.name}`\n" in PAGE
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
    # The shared project has no audit of the room `texts`; its tables are made by their contracts as all others are.
    described = sorted(
        (table.name, [(column.name, column.data_type) for column in table.columns])
        for table in described_tables()
        if not table.name.startswith("fct_text_")
    )
    assert [(name, [tuple(column) for column in columns]) for name, columns in found] == described


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.splitlines()[0][:60] for script in SCRIPTS])
def test_every_command_runs(first_audit: FirstAudit, script: str) -> None:
    finished = run(script, first_audit.folder)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout


def test_the_query_runs(first_audit: FirstAudit) -> None:
    (query,) = re.findall(r"^```sql\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    with duckdb.connect(str(first_audit.folder / "warehouse.duckdb"), read_only=True) as connection:
        assert connection.execute(query).fetchall()
