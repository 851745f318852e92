"""A change to any column, or to any row, of the tables of evidence is found; every table is tried, whatever migrations add."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import pytest

from biasledger.verify import verify_ledger

from .conftest import Kept, collect_answers

pytestmark = pytest.mark.slow

TABLES = (
    "runs",
    "prompts",
    "prompt_attributes",
    "responses",
    "run_events",
    "chain",
    "seals",
    "analysis_settings",
)
# Moments that no digest covers: when a seal was written, and when an audit's analysis was registered.
UNPROTECTED = {("seals", "sealed_at"), ("analysis_settings", "registered_at")}
# Type of a column -> another value.
CHANGED: Mapping[str, str] = {
    "VARCHAR": "coalesce({0}, '') || 'x'",
    "BOOLEAN": "not coalesce({0}, false)",
    "TIMESTAMP": "coalesce({0}, '2026-01-01') + interval 1 second",
    "JSON": "'{{\"changed\": true}}'",
}
A_NUMBER = "coalesce({0}, 0) + 1"
LAST_ROW = "rowid = (select max(rowid) from raw.{0})"


def is_found(kept: Kept, statement: str, folder: Path) -> bool:
    """Change a copy of the ledger, next to its journal, and verify it."""
    changed = folder / kept.ledger_path.name
    shutil.copyfile(kept.ledger_path, changed)
    with duckdb.connect(str(changed)) as connection:
        ((n_changed,),) = connection.execute(statement).fetchall()
    assert n_changed, statement
    return any(verdict.state == "broken" for verdict in verify_ledger(changed))


@pytest.mark.parametrize("table", TABLES)
def test_any_change_to_a_table_is_found(copied: Callable[..., Kept], tmp_path: Path, table: str) -> None:
    kept = copied(collect_answers, tmp_path)
    columns = kept.query(
        f"select column_name, data_type from duckdb_columns() where schema_name = 'raw' and table_name = '{table}'"
    )
    assert columns
    last = LAST_ROW.format(table)
    statements = [
        f"update raw.{table} set {name} = {CHANGED.get(kind, A_NUMBER).format(name)} where {last}"
        for name, kind in columns
        if (table, name) not in UNPROTECTED
    ]
    statements.append(f"delete from raw.{table} where {last}")
    if table not in {"runs", "prompts"}:
        statements.append(f"insert into raw.{table} from raw.{table} where {last}")
    folder = tmp_path / "changed"
    folder.mkdir()
    if kept.journal.exists():
        shutil.copytree(kept.journal.parent, folder / kept.journal.parent.name)
    assert [one for one in statements if not is_found(kept, one, folder)] == []


def test_every_table_of_evidence_is_tried(kept: Kept) -> None:
    others = {
        table
        for (table,) in kept.query("select table_name from duckdb_tables() where schema_name = 'raw'")
        if table not in TABLES
    }
    # Tables of a run that these two runs leave empty, and the ledger's own notes.
    assert all(
        kept.query(f"select count(*) from raw.{table}") == [(0,)] for table in others - {"schema_migrations"}
    )
