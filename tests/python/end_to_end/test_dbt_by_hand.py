"""Test `dbt build` from the root of the repository with the shipped profiles.yml, without our command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.python.project import Project

ROOT = Path(__file__).parents[3]


def _dbt(folder: Path, ledger: Path, warehouse: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"BIASLEDGER_LEDGER": str(ledger), "BIASLEDGER_WAREHOUSE": str(warehouse)}
    command = "from dbt.cli.main import cli; cli(prog_name='dbt')"
    options = [
        "build",
        "--profiles-dir",
        ".",
        "--target-path",
        str(folder),
        "--log-path",
        str(folder),
        "--no-use-colors",
        # `make warehouse` runs these.
        "--exclude",
        "resource_type:unit_test",
        "tag:private",
    ]
    return subprocess.run(
        [sys.executable, "-c", command, *options],
        cwd=ROOT,
        env=environment | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_a_ledger_a_sentence_and_with_one_only_the_alarms_fail(
    new_project: Callable[[], Project], tmp_path: Path
) -> None:
    project = new_project()
    finished = _dbt(tmp_path, project.ledger, tmp_path / "warehouse.duckdb")
    assert finished.returncode != 0
    assert "There is no ledger at" in finished.stdout
    assert "Traceback" not in finished.stdout

    project.collect("simulator", "audits/resumes.yml")
    finished = _dbt(tmp_path, project.ledger, tmp_path / "warehouse.duckdb")
    assert finished.returncode == 1, finished.stdout
    results = json.loads((tmp_path / "run_results.json").read_text(encoding="utf-8"))["results"]
    failed = {row["unique_id"].split(".")[2] for row in results if row["status"] in {"fail", "error"}}
    skipped = [row for row in results if row["status"] == "skipped"]
    assert failed == {"alarm_decisions"}
    assert not skipped
    assert "deprecat" not in finished.stdout.lower()
