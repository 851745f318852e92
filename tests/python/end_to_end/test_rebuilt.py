"""Test how tables of the work file are rebuilt: with the contract's types and comments, and not if a query fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import duckdb
import pytest

ROOT = Path(__file__).parents[3]
FILES = {
    "dbt_project.yml": """
        name: small
        profile: small
        models: {small: {+materialized: rebuilt, +persist_docs: {relation: true, columns: true}}}
        flags: {warn_error_options: {silence: [UnsupportedConstraintMaterialization]}}
        """,
    "profiles.yml": "small: {target: file, outputs: {file: {type: duckdb, path: made.duckdb}}}",
    "models/held.sql": "{{ config(contract={'enforced': true}) }} select 1 as n, 'a' as name",
    "models/free.sql": "select 2 as two",
    "models/_models.yml": """
        models:
          - name: held
            description: "What 'holds'."
            columns:
              - {name: name, data_type: varchar, description: A name., constraints: [{type: not_null}]}
              - {name: n, data_type: integer, description: A number.}
        """,
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text).strip(), encoding="utf-8")
    (folder / "macros").mkdir()
    shutil.copy(ROOT / "macros" / "engine" / "rebuilt.sql", folder / "macros")
    return folder


def _run(project: Path, **environment: str) -> str:
    """Return dbt's output; empty if all was built."""
    command = [sys.executable, "-c", "from dbt.cli.main import cli; cli()", "run", "--profiles-dir", "."]
    known = {name: value for name, value in os.environ.items() if name != "BIASLEDGER_PUBLISHED"}
    done = subprocess.run(
        command, cwd=project, env=known | environment, capture_output=True, text=True, check=False
    )
    return done.stdout if done.returncode else ""


def _write(project: Path, sql: str) -> None:
    config = FILES["models/held.sql"].partition("select")[0]
    (project / "models" / "held.sql").write_text(config + sql, encoding="utf-8")


def _rows(project: Path, sql: str) -> list[tuple[object, ...]]:
    with duckdb.connect(str(project / "made.duckdb"), read_only=True) as connection:
        return connection.execute(sql).fetchall()


@pytest.mark.slow
def test_a_table_is_as_its_contract_says(project: Path) -> None:
    _write(project, "select 1 as n, 'a' as name")
    assert _run(project) == ""
    columns = (
        "select column_name, data_type, is_nullable, comment from duckdb_columns() where table_name = 'held'"
    )
    expected = [("name", "VARCHAR", False, "A name."), ("n", "INTEGER", True, "A number.")]
    assert _rows(project, columns) == expected
    assert _rows(project, "select comment from duckdb_tables() where table_name = 'held'") == [
        ("What 'holds'.",)
    ]
    assert _rows(project, "select * from free") == [(2,)]

    # By hand a query that gives another type is refused; a build of ours makes the contract's type of it.
    _write(project, "select 3::bigint as n, 'b' as name")
    assert "contract" in _run(project)
    assert _rows(project, "select * from held") == [("a", 1)]
    assert _run(project, BIASLEDGER_PUBLISHED="made.duckdb") == ""
    assert _rows(project, "select * from held") == [("b", 3)]
    assert _rows(project, columns) == expected

    # A query that breaks a rule half-way leaves the table as it was.
    _write(project, "select 4 as n, null as name")
    assert "NOT NULL" in _run(project, BIASLEDGER_PUBLISHED="made.duckdb")
    assert _rows(project, "select * from held") == [("b", 3)]


@pytest.mark.slow
def test_a_view_of_the_name_gives_way(project: Path) -> None:
    with duckdb.connect(str(project / "made.duckdb")) as connection:
        connection.execute("drop table if exists free")
        connection.execute("create view free as select 1 as old")
    _write(project, "select 5 as n, 'c' as name")
    assert _run(project) == ""
    assert _rows(project, "select two from free") == [(2,)]
