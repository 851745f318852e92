"""Test the databases that dbt finds attached next to its own."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from dbt_common.exceptions import DbtRuntimeError

from biasledger.dbt_plugin import CLOSED, PUBLISHED, Plugin
from collector.exports.writing import export_ledger
from collector.ledger.database import Ledger
from collector.ledger.retraction import retract
from tests.python.cli.conftest import add_run
from tests.python.end_to_end.planting import menu
from tests.python.project import Project


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


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "delete from raw.schema_migrations where version = (select max(version) from raw.schema_migrations)",
            "has an older schema; the next `biasledger collect`",
        ),
        (
            "update raw.schema_migrations set version = 9999 where version = (select max(version) from raw.schema_migrations)",
            "has schema 9999 .* upgrade biasledger",
        ),
        ("drop table raw.schema_migrations", "is a DuckDB file, but no ledger"),
    ],
)
def test_a_ledger_of_another_version_is_named(tmp_path: Path, statement: str, message: str) -> None:
    """dbt would say that a table of the ledger does not exist."""
    ledger = tmp_path / "ledger.duckdb"
    Ledger(ledger).create()
    with duckdb.connect(str(ledger)) as connection:
        connection.execute(statement)
    with pytest.raises(DbtRuntimeError, match=message):
        attached(ledger)


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


def kept(ledger: Path) -> dict[str, tuple[list[str], list[str]]]:
    """Columns and rows of what dbt reads of a ledger, but for when its schema came and which of all its events came first."""
    with duckdb.connect(":memory:") as connection:
        Plugin("biasledger", {"ledger": str(ledger)}).configure_connection(connection)
        assert connection.execute("select current_database()").fetchall() == [("memory",)]
        names = connection.execute(
            "select table_name from information_schema.tables where table_catalog = 'ledger' and table_name not like 'empty_%'"
        ).fetchall()
        tables = {
            name: connection.sql(
                f"select columns(lambda c: c not in ('rowid', 'applied_at', 'event_number')) from ledger.raw.{name}"
            )
            for (name,) in names
        }
        return {
            name: (
                [f"{one} {kind}" for one, kind in zip(rows.columns, rows.types, strict=True)],
                sorted(map(repr, rows.fetchall())),
            )
            for name, rows in tables.items()
        }


def test_an_export_is_read_as_the_ledger_that_it_is_of(tmp_path: Path) -> None:
    project, folder = Project(tmp_path), tmp_path / "expor'ted"
    (tmp_path / "audits").mkdir()
    menu.plant(project)
    ledger, runs = project.ledger, []
    for name in ("one", "gone"):
        (tmp_path / "menu.csv").write_text(menu.REPLIES.replace("Nowhere", name), encoding="utf-8")
        runs.append(project.import_file("audits/menu.yml", tmp_path / "menu.csv", name=name).run_id)
    retract(ledger, runs[1], reason="a test")
    export_ledger(ledger, folder, "parquet")
    assert kept(folder) == kept(ledger)
    assert len(kept(folder)["kept_runs"][1]) == 2
    with duckdb.connect(":memory:") as connection:
        Plugin("biasledger", {"ledger": str(folder)}).configure_connection(connection)
        events = connection.execute(
            "select event from ledger.raw.kept_run_events where run_id = ? order by event_number", [runs[0]]
        ).fetchall()
    with Ledger(ledger).read() as connection:
        assert (
            events
            == connection.execute(
                "select event from raw.run_events where run_id = ? order by rowid", [runs[0]]
            ).fetchall()
        )


def test_a_folder_that_is_no_export_is_named(tmp_path: Path) -> None:
    with duckdb.connect(":memory:") as connection, pytest.raises(DbtRuntimeError, match="cannot be read"):
        Plugin("biasledger", {"ledger": str(tmp_path)}).configure_connection(connection)
