"""Test that a warehouse knows which texts had been erased before it was built."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

from biasledger.cli import cli
from biasledger.publishing.erasures import erased_since_build, erasure_warning, hash_erasures
from biasledger.publishing.warehouse import publish_warehouse
from collector.ledger.database import Ledger
from tests.python.cli.conftest import add_run
from tests.python.publishing.conftest import BUILD, TABLES
from tests.python.publishing.test_work import _erase


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    add_run(tmp_path / "ledger.duckdb", "products")
    return Ledger(tmp_path / "ledger.duckdb")


@pytest.fixture
def warehouse(work: Path, ledger: Ledger, tmp_path: Path) -> Path:
    """As published from the ledger before anything was erased."""
    with ledger.read() as connection:
        build = type(BUILD)(BUILD.build_id, BUILD.built_at, "0.1.0", "2", hash_erasures(connection))
    publish_warehouse(work, tmp_path / "warehouse.duckdb", TABLES, build, ledger=ledger.path)
    return tmp_path / "warehouse.duckdb"


def test_texts_erased_since_the_build_are_reported(ledger: Ledger, warehouse: Path, tmp_path: Path) -> None:
    assert not erased_since_build(warehouse, ledger.path)
    assert erasure_warning(warehouse, ledger.path) is None
    _erase(ledger, 1)
    assert erased_since_build(warehouse, ledger.path)
    warning = erasure_warning(warehouse, ledger.path)
    assert warning is not None
    assert "run `biasledger build`" in warning
    assert erasure_warning(warehouse, tmp_path / "elsewhere.duckdb") is None, "the ledger is not at hand"
    options = ["--ledger", str(ledger.path), "--warehouse", str(warehouse)]
    result = CliRunner().invoke(cli, ["publish", "--to", str(tmp_path / "out"), "--format", "csv", *options])
    assert result.exit_code == 0, result.output
    assert f"Warning: {warning}\n" in result.stderr
    result = CliRunner().invoke(cli, ["report", "--output", str(tmp_path / "report.html"), *options])
    assert f"Warning: {warning}\n" in result.stderr


def test_a_warehouse_that_does_not_say_is_trusted_where_nothing_was_erased(
    ledger: Ledger, warehouse: Path
) -> None:
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("alter table publication.build drop column erasures_hash")
    assert not erased_since_build(warehouse, ledger.path)
    _erase(ledger, 1)
    assert erased_since_build(warehouse, ledger.path)
