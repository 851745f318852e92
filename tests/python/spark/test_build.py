"""A build on a Spark cluster publishes what a build on DuckDB does: every public table, every verdict, every alarm.

The one ledger has a small audit of each kind, so that every public table has rows.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
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
from tests.python.spark import rooms
from tests.python.spark.cluster import SMALL, cluster, needed

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class OnSpark:
    """A project that was built on Spark beside DuckDB.

    Attributes:
        folder: the project's.
        work: what DuckDB built, private tables among it.
        warehouse, published: what DuckDB and what Spark published.
        summary: of the build on Spark.
    """

    folder: Path
    work: Path
    warehouse: Path
    published: Path
    summary: BuildSummary


@pytest.fixture(scope="module")
def on_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OnSpark]:
    needed()
    folder = tmp_path_factory.mktemp("spark")
    project = Project(folder / "project")
    init_project(project.folder)
    rooms.plant(project)
    project.build()
    published = project.folder / "spark.duckdb"
    # A build on Spark takes it away.
    work = Path(shutil.copyfile(project.work, folder / "work.duckdb"))
    with pytest.MonkeyPatch.context() as patch, cluster(folder) as address:
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("BIASLEDGER_SPARK", address)
        profiles = project.folder / "profiles.yml"
        profile = yaml.safe_load(profiles.read_text(encoding="utf-8"))
        profile["biasledger"]["outputs"]["spark"]["settings"] = SMALL
        profiles.write_text(yaml.safe_dump(profile), encoding="utf-8")
        summary = build_warehouse(project.folder, project.ledger, published, target="spark")
        yield OnSpark(project.folder, work, project.warehouse, published, summary)


def test_every_public_table_says_the_same(on_spark: OnSpark) -> None:
    assert differences(on_spark.warehouse, on_spark.published, digits=9) == []


def test_every_public_table_has_rows(on_spark: OnSpark) -> None:
    assert [table for table, n_rows in on_spark.summary.published.items() if not n_rows] == []


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


@pytest.mark.parametrize(
    ("table", "change", "where"),
    [
        ("fct_findings", "set value = value + 1e-6", "value is not null"),
        ("fct_findings", "set status = 'clear'", "status = 'alarm'"),
        ("fct_labels", "set labelled_by = ''", "true"),
        ("fct_word_divergence_words", "set word = word || '.'", "true"),
    ],
)
def test_one_other_cell_is_noticed(
    on_spark: OnSpark, tmp_path: Path, table: str, change: str, where: str
) -> None:
    changed = tmp_path / "changed.duckdb"
    shutil.copyfile(on_spark.published, changed)
    with duckdb.connect(str(changed)) as connection:
        connection.execute(
            f"update marts.{table} {change} where rowid = (select min(rowid) from marts.{table} where {where})"
        )
    [told] = differences(on_spark.warehouse, changed, digits=9)
    assert told.startswith(f"marts.{table}: 1 rows of the first and 1 of the second differ")


def test_dbts_unit_tests_pass_on_spark(on_spark: OnSpark) -> None:
    command = [sys.executable, "-m", "tests.python.spark.unit_tests", str(on_spark.work)]
    done = subprocess.run(
        command,
        cwd=on_spark.folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-20_000:]


def test_nothing_is_new_afterwards(on_spark: OnSpark) -> None:
    ledger = on_spark.folder / "ledger.duckdb"
    assert what_stands(on_spark.folder, ledger, on_spark.published, "spark") is not None


def test_answers_are_not_left_behind(on_spark: OnSpark) -> None:
    assert list(on_spark.folder.rglob("*.parquet")) == []
    assert [path.name for path in on_spark.folder.iterdir() if "spark" in path.name] == ["spark.duckdb"]
