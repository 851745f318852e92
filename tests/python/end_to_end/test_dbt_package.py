"""Test the models as a package of somebody else's dbt project, examples/dbt."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
import yaml

from biasledger.project import dbt_source
from collector.ledger.database import Ledger

ROOT = Path(__file__).parents[3]
# The parts of a package that dbt reads.
PARTS = ("dbt_project.yml", "models", "macros", "seeds", "analyses", "tests/dbt")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "examples/dbt", tmp_path / "shop"))


def dbt(shop: Path, ledger: Path, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", "from dbt.cli.main import cli; cli(prog_name='dbt')", *command],
        cwd=shop,
        env=os.environ
        | {
            "PYTHONPATH": str(ROOT),
            "BIASLEDGER_PACKAGE": str(dbt_source()),
            "BIASLEDGER_LEDGER": str(ledger),
            "BIASLEDGER_METHODS": "decisions",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def rows(shop: Path, query: str) -> list[tuple[object, ...]]:
    with duckdb.connect(shop / "shop.duckdb", read_only=True) as connection:
        return connection.execute(query).fetchall()


def schemas(shop: Path) -> set[object]:
    return {name for (name,) in rows(shop, "select distinct schema_name from duckdb_tables()")}


@pytest.mark.long
def test_an_empty_ledger_and_schemas_of_ones_own_with_a_package_from_git(shop: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, source / part)
        else:
            source.mkdir(exist_ok=True)
            shutil.copy(ROOT / part, source / part)
    git = ["git", "-C", str(source), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "a"], ["tag", "v1"]):
        subprocess.run([*git, *command], check=True)
    packages = {"packages": [{"git": source.as_uri(), "revision": "v1"}]}
    (shop / "packages.yml").write_text(yaml.safe_dump(packages), encoding="utf-8")
    (shop / "macros").mkdir()
    (shop / "macros/names.sql").write_text(
        "{% macro generate_schema_name(custom_schema_name, node) -%}"
        "of_{{ custom_schema_name or target.schema }}{%- endmacro %}",
        encoding="utf-8",
    )
    ledger = tmp_path / "ledger.duckdb"
    Ledger(ledger).create()
    dbt(shop, ledger, "deps")
    dbt(shop, ledger, "build", "--profiles-dir", ".", "--target", "prod")
    dbt(shop, ledger, "test", "--profiles-dir", ".", "--target", "prod")
    assert rows(shop, "select count(*) from of_prod.alarms_by_country") == [(0,)]
    assert {"of_marts", "of_settings", "of_alarms"} <= schemas(shop)
    assert not any(str(name).startswith("prod") for name in schemas(shop))
