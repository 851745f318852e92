"""Test where tables are built, and when all of them are rebuilt."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from biasledger.publishing import work as module
from biasledger.publishing.work import delete_outdated_work_file, work_file
from collector.ledger.database import Ledger
from tests.python.cli.conftest import add_run


def test_the_work_file_lies_in_the_project_wherever_the_warehouse_is(tmp_path: Path) -> None:
    project = tmp_path / "project"
    here = work_file(project, project / "warehouse.duckdb")
    assert here == project / ".biasledger" / "work" / "warehouse.duckdb"
    places = {
        work_file(project, warehouse)
        for warehouse in (
            project / "warehouse.duckdb",
            project / "out" / "warehouse.duckdb",
            tmp_path / "warehouse.duckdb",
            project / ".biasledger" / "work" / "warehouse.duckdb",
        )
    }
    assert len(places) == 4
    assert {place.parent for place in places} == {here.parent}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    add_run(tmp_path / "ledger.duckdb", "products", "run-1")
    return Ledger(tmp_path / "ledger.duckdb")


def _erase(ledger: Ledger, trial: int) -> None:
    with duckdb.connect(str(ledger.path)) as connection:
        connection.execute(
            "insert into raw.erasures (run_id, prompt_id, trial, attempt, texts, reason, erased_at)"
            " values ('run-1', 'p', ?, 1, '{}', 'private', '2026-01-01')",
            [trial],
        )


def test_what_the_ledger_has_lost_is_retracted(ledger: Ledger, tmp_path: Path) -> None:
    work = tmp_path / "work" / "warehouse.duckdb"
    assert delete_outdated_work_file(work, ledger) == []
    work.write_text("built")
    add_run(ledger.path, "products", "run-2")
    assert delete_outdated_work_file(work, ledger) == [], "a new run takes nothing away"
    assert work.exists()

    for trial in (1, 2):
        _erase(ledger, trial)
        assert delete_outdated_work_file(work, ledger) == [
            "Answers were erased since the last build: all tables are rebuilt."
        ]
        assert not work.exists()
        work.write_text("built again")
        assert delete_outdated_work_file(work, ledger) == []

    with duckdb.connect(str(ledger.path)) as connection:
        connection.execute("delete from raw.runs where run_id = 'run-2'")
    assert delete_outdated_work_file(work, ledger) == [
        "Runs were retracted or taken out of the ledger since the last build: all tables are rebuilt."
    ]
    assert not work.exists()


def test_what_another_version_built_is_not_gone_on_with(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Incremental tables keep the rows, and the columns, of the models that made them."""
    work = tmp_path / "work" / "warehouse.duckdb"
    assert delete_outdated_work_file(work, ledger) == []
    work.write_text("built")
    seen = work.with_name("warehouse.duckdb.seen.json")
    # As the version before wrote it.
    seen.write_text(json.dumps({name: json.loads(seen.read_text())[name] for name in ("runs", "erasures")}))
    said = ["The last build was made by another version of biasledger: all tables are rebuilt."]
    assert delete_outdated_work_file(work, ledger) == said
    assert not work.exists()
    work.write_text("built again")
    assert delete_outdated_work_file(work, ledger) == []

    monkeypatch.setattr(module, "dbt_source", lambda: tmp_path)
    (tmp_path / "models").mkdir()
    (tmp_path / "dbt_project.yml").write_text("")
    for content in ("select 1", "select 2"):
        (tmp_path / "models" / "int_rows.sql").write_text(content)
        assert delete_outdated_work_file(work, ledger) == said
        work.write_text("built again")
        assert delete_outdated_work_file(work, ledger) == []


def test_a_work_file_of_unknown_origin_is_not_trusted(ledger: Ledger, tmp_path: Path) -> None:
    work = tmp_path / "work" / "warehouse.duckdb"
    work.parent.mkdir()
    for content in (None, "{", '{"runs": []}'):
        work.write_text("built by whom?")
        if content is not None:
            work.with_name("warehouse.duckdb.seen.json").write_text(content)
        assert len(delete_outdated_work_file(work, ledger)) == 1
        assert not work.exists()
