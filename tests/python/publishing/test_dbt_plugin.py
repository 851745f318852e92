"""What dbt finds attached beside its own database."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from biasledger.dbt_plugin import CLOSED, PUBLISHED, Plugin
from tests.python.cli.conftest import add_run


def attached(ledger: Path) -> set[str]:
    plugin = Plugin("biasledger", {"ledger": str(ledger)})
    with duckdb.connect(":memory:") as connection:
        plugin.configure_connection(connection)
        names = connection.execute(
            "select database_name from duckdb_databases() where not internal"
        ).fetchall()
    return {name for (name,) in names} - {"memory"}


def test_what_was_published_last_is_there_in_a_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, warehouse = tmp_path / "led'ger.duckdb", tmp_path / "warehouse.duckdb"
    add_run(ledger, "products")
    monkeypatch.delenv(PUBLISHED, raising=False)
    assert attached(ledger) == {"ledger"}
    monkeypatch.setenv(PUBLISHED, str(warehouse))
    assert attached(ledger) == {"ledger"}, "nothing was published yet"
    warehouse.write_bytes(b"no database")
    assert attached(ledger) == {"ledger"}
    warehouse.unlink()
    duckdb.connect(str(warehouse)).close()
    assert attached(ledger) == {"ledger", "published"}


def test_a_closed_build_opens_no_file_but_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeds are links as dbt names them, seen from the project."""
    installed, seeds, out = tmp_path / "thresholds.csv", Path("packages/se'eds"), tmp_path / "out.csv"
    installed.write_text("a\n1\n")
    (tmp_path / "secret.csv").write_text("a\n2\n")
    (tmp_path / seeds).mkdir(parents=True)
    (tmp_path / seeds / "thresholds.csv").symlink_to(installed)
    ledger = tmp_path / "ledger.duckdb"
    add_run(ledger, "products")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(CLOSED, str(seeds))
    plugin = Plugin("biasledger", {"ledger": str(ledger)})
    with duckdb.connect(str(tmp_path / "work.duckdb")) as connection:
        plugin.configure_connection(connection)
        cursor = connection.cursor()
        cursor.execute("create table work as select run_id from ledger.raw.runs")
        cursor.execute("create table thresholds (a integer)")
        cursor.execute("copy thresholds from 'packages/se''eds/thresholds.csv' (format csv, header)")
        for statement in (
            f"copy thresholds to '{out}'",
            f"select * from read_csv('{tmp_path}/secret.csv')",
            f"attach '{out}' as other",
            "set enable_external_access = true",
            f"set allowed_paths = ['{out}']",
        ):
            with pytest.raises(duckdb.Error):
                cursor.execute(statement)
    assert not out.exists()
