"""Test the wheel: complete, without files that users do not need, and enough for `biasledger init`."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DBT = "biasledger/_dbt/biasledger/"
# Models that are off unless a project asks for them.
OFF = {"responses", "dim_days"}
SHIPPED = {
    "dbt_project.yml": DBT,
    "profiles.yml": DBT,
    "models": DBT,
    "macros": DBT,
    "seeds": DBT,
    "analyses": DBT,
    "tests/dbt": DBT,
    "audits": "biasledger/_starter/",
    "targets.yml": "biasledger/_starter/",
    "docs": "biasledger/_documents/",
    "biasledger": "",
    "collector": "",
    "dbt": "",
    "lmrec": "",
}


def source_files(part: str) -> set[str]:
    top = ROOT / part
    paths = [top] if top.is_file() else [path for path in top.rglob("*") if path.is_file()]
    return {str(path.relative_to(ROOT)) for path in paths if "__pycache__" not in path.parts}


def test_the_wheel_holds_every_source_file_and_nothing_else(wheel: Path) -> None:
    expected = {place + name for part, place in SHIPPED.items() for name in source_files(part)}
    found = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert found == expected


def test_the_metadata_name_licence_python_and_command(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    texts = {
        Path(name).name: archive.read(name).decode() for name in archive.namelist() if ".dist-info/" in name
    }
    metadata = texts["METADATA"]
    assert "Name: biasledger\nVersion: 0.1.0\n" in metadata
    assert "License-Expression: Apache-2.0\n" in metadata
    assert "Requires-Python: >=3.11\n" in metadata
    assert "biasledger = biasledger.cli:main" in texts["entry_points.txt"]
    assert "Apache License" in texts["LICENSE"]


@pytest.mark.slow
def test_an_installed_wheel_lays_out_a_project_that_dbt_reads(installed: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"}

    def python(*arguments: str, cwd: Path) -> str:
        command = [sys.executable, "-P", *arguments]
        done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    python("-m", "biasledger.cli", "init", "project", cwd=tmp_path)
    models = tmp_path / "project" / ".biasledger" / "packages" / "biasledger" / "models"
    assert models.resolve() == (installed / "biasledger" / "_dbt" / "biasledger" / "models").resolve()
    dbt = "from dbt.cli.main import cli; cli()"
    arguments = ("--quiet", "ls", "--resource-type", "model", "--output", "name", "--profiles-dir", ".")
    listed = python("-c", dbt, *arguments, cwd=tmp_path / "project").split()
    there = {path.stem for path in (ROOT / "models").rglob("*") if path.suffix in {".sql", ".py"}}
    assert there - OFF == set(listed)
