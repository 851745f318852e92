"""A build on a Spark cluster publishes what a build on DuckDB does: every public table, every verdict, every alarm.

The project is of one room: on two cores a build of all six takes longer than a test may.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
import yaml

from benchmarks.same import differences
from biasledger.building.build import BuildSummary, build_warehouse, what_stands
from biasledger.project import init_project
from tests.python.project import Project
from tests.python.spark.cluster import cluster, missing

pytestmark = pytest.mark.slow
# For little data: what compiles, replans and spreads pays where there is much.
_SMALL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.memory": "640m",
    "spark.sql.shuffle.partitions": 2,
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@dataclass(frozen=True)
class OnSpark:
    """A project that was built on Spark beside DuckDB: `warehouse` is DuckDB's, `published` Spark's."""

    folder: Path
    warehouse: Path
    published: Path
    summary: BuildSummary


@pytest.fixture(scope="module")
def on_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OnSpark]:
    if reason := missing():
        if os.environ.get("BIASLEDGER_SPARK_REQUIRED"):
            pytest.fail(f"{reason}, and this test may not be skipped here")
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("spark")
    project = Project(folder / "project")
    init_project(project.folder)
    project.collect("simulator", "audits/rankings.yml")
    project.build()
    published = project.folder / "spark.duckdb"
    with pytest.MonkeyPatch.context() as patch, cluster(folder) as address:
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("BIASLEDGER_SPARK", address)
        profiles = project.folder / "profiles.yml"
        profile = yaml.safe_load(profiles.read_text(encoding="utf-8"))
        profile["biasledger"]["outputs"]["spark"]["settings"] = _SMALL
        profiles.write_text(yaml.safe_dump(profile), encoding="utf-8")
        summary = build_warehouse(project.folder, project.ledger, published, target="spark")
        yield OnSpark(project.folder, project.warehouse, published, summary)


def test_every_public_table_says_the_same(on_spark: OnSpark) -> None:
    assert differences(on_spark.warehouse, on_spark.published, digits=9) == []


def test_the_same_alarms_ring(on_spark: OnSpark) -> None:
    assert on_spark.summary.has_alarms
    with duckdb.connect() as connection:
        connection.execute(f"attach '{on_spark.warehouse}' as one (read_only)")
        connection.execute(f"attach '{on_spark.published}' as other (read_only)")
        one, other = (
            connection.execute(
                f"select finding_id, status from {name}.marts.fct_findings order by all"
            ).fetchall()
            for name in ("one", "other")
        )
    assert one == other


def test_one_other_number_is_noticed(on_spark: OnSpark, tmp_path: Path) -> None:
    changed = tmp_path / "changed.duckdb"
    shutil.copyfile(on_spark.published, changed)
    with duckdb.connect(str(changed)) as connection:
        connection.execute(
            "update marts.fct_findings set value = value + 1e-6 where finding_id = (select min(finding_id) "
            "from marts.fct_findings where value is not null)"
        )
    [told] = differences(on_spark.warehouse, changed, digits=9)
    assert told.startswith("marts.fct_findings: 1 rows")


def test_nothing_is_new_afterwards(on_spark: OnSpark) -> None:
    ledger = on_spark.folder / "ledger.duckdb"
    assert what_stands(on_spark.folder, ledger, on_spark.published, "spark") is not None


def test_answers_are_not_left_behind(on_spark: OnSpark) -> None:
    assert list(on_spark.folder.rglob("*.parquet")) == []
    assert [path.name for path in on_spark.folder.iterdir() if "spark" in path.name] == ["spark.duckdb"]
