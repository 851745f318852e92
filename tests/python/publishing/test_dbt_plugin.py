"""What dbt finds attached beside its own database."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from biasledger.dbt_plugin import PUBLISHED, Plugin
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
