"""A build behind a server of Spark Connect, of a ledger that is the folder of an export, publishes what DuckDB does."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from benchmarks.same import differences
from biasledger.building.build import build_warehouse
from biasledger.project import init_project
from collector.exports.writing import export_ledger
from tests.python.end_to_end.planting import advice
from tests.python.project import Project
from tests.python.spark.cluster import connect_server, needed

pytestmark = pytest.mark.slow


def test_an_export_is_built_behind_a_server(tmp_path: Path) -> None:
    needed("grpc_status")
    project = Project(tmp_path / "project")
    init_project(project.folder)
    advice.plant(project)
    project.build()
    export_ledger(project.ledger, project.folder / "exported", "parquet")
    profiles = project.folder / "profiles.yml"
    profile = yaml.safe_load(profiles.read_text(encoding="utf-8"))
    profile["biasledger"]["outputs"]["spark"]["ledger"] = "exported"
    profiles.write_text(yaml.safe_dump(profile), encoding="utf-8")
    published = project.folder / "spark.duckdb"
    with connect_server(tmp_path) as address, pytest.MonkeyPatch.context() as patch:
        patch.setenv("BIASLEDGER_SPARK", address)
        build_warehouse(project.folder, project.ledger, published, target="spark")
    assert differences(project.warehouse, published, digits=9) == []
    assert list(project.folder.glob("*tables*")) == []
