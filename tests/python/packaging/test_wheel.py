"""Test that the wheel is complete and holds nothing else; docs/test_paths.py builds projects with it."""

from __future__ import annotations

import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[3]
DBT = "biasledger/_dbt/biasledger/"
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
    assert "biasledger = biasledger.__main__:main" in texts["entry_points.txt"]
    assert "Apache License" in texts["LICENSE"]
