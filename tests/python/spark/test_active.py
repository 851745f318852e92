"""Test that a build leaves a session of Spark that already exists unchanged, as on Databricks."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from biasledger.project import init_project
from tests.python.end_to_end.planting import advice
from tests.python.project import Project
from tests.python.running import rows_in, run_python
from tests.python.spark.cluster import needed

pytestmark = pytest.mark.slow


def test_a_session_that_is_active_is_used_and_left_as_it_was(tmp_path: Path) -> None:
    needed()
    project = Project(tmp_path / "project")
    init_project(project.folder)
    advice.plant(project)
    project.build()
    done = run_python(
        *("-m", "tests.python.spark.notebook"),
        cwd=project.folder,
        SPARK_LOCAL_IP="127.0.0.1",
        # The program that begins a session chooses its workers' Python.
        PYSPARK_PYTHON=sys.executable,
        BIASLEDGER_SPARK="active",
        BIASLEDGER_WAREHOUSE="by-hand.duckdb",
    )
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-5_000:]
    said = json.loads(done.stdout.splitlines()[-1])
    # Databricks' SQL is Spark's with this on, and so is Spark's of today.
    assert said["is ansi unasked"] == "true"
    assert said["before"]["settings"]["spark.sql.session.timeZone"] == "Asia/Tokyo"
    assert said["before"]["rows of theirs"] == 3
    assert said["before"]["is active"]
    assert said["after"] == said["before"]
    assert not (project.folder / "by-hand.duckdb.tables").exists()
    for table in ("dim_runs", "fct_text_similarity"):
        one, other = (
            rows_of(project.folder / name, table) for name in ("warehouse.duckdb", "by-hand.duckdb")
        )
        assert one
        assert one == other


def rows_of(warehouse: Path, table: str) -> list[tuple[object, ...]]:
    """The sorted rows of a public table, with numbers of nine digits."""
    found = rows_in(warehouse, f"from marts.{table} order by all")
    return [tuple(round(cell, 9) if isinstance(cell, float) else cell for cell in row) for row in found]
