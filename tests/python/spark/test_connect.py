"""Test that a build on a cluster or through Spark Connect, of a ledger exported as Delta tables, equals that on DuckDB."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import duckdb
import pytest

from biasledger.project import init_project
from biasledger.verify_export import verify_export
from collector.exports.writing import export_ledger
from collector.ledger.database import Ledger
from collector.ledger.erasure import erase
from tests.python.end_to_end.planting import advice
from tests.python.project import Project
from tests.python.running import run_python
from tests.python.spark.cluster import SMALL, cluster, connect_server, needed, settings_of_spark
from tests.python.spark.test_active import rows_of
from tests.python.spark.test_masters import DBT

pytestmark = pytest.mark.slow
# dbt's tests read tables besides.
SELECTED = [
    "--select",
    "+dim_runs",
    "+fct_text_similarity",
    "--exclude",
    "resource_type:unit_test",
    "resource_type:test",
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project that was built on DuckDB, with its ledger exported to the folder `exported`."""
    needed("grpc_status", "deltalake")
    project = Project(tmp_path_factory.mktemp("built") / "project")
    init_project(project.folder)
    advice.plant(project)
    exported = project.folder / "exported"
    _export_twice(project, exported)
    assert {verdict.state for verdict in verify_export(exported)} == {"intact"}
    _leave_lying_around(exported)
    project.build()
    return project


@pytest.mark.long
@pytest.mark.parametrize("place", [cluster, connect_server])
def test_an_export_is_built_on_a_server(
    tmp_path: Path, built: Project, place: Callable[[Path], AbstractContextManager[str]]
) -> None:
    """A selection of models; test_build.py builds all of them."""
    exported, tables = (folder.as_uri() for folder in (built.folder / "exported", tmp_path / "tables"))
    settings_of_spark(built.folder, SMALL, ledger=exported, tables=tables)
    published = tmp_path / "by-hand.duckdb"
    with place(tmp_path) as address:
        done = run_python(
            *("-c", DBT, "build", "--target", "spark", "--profiles-dir", ".", *SELECTED),
            cwd=built.folder,
            SPARK_LOCAL_IP="127.0.0.1",
            BIASLEDGER_SPARK=address,
            BIASLEDGER_WAREHOUSE=str(published),
        )
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-5_000:]
    for table in ("dim_runs", "fct_text_similarity"):
        rows = [rows_of(warehouse, table) for warehouse in (built.warehouse, published)]
        assert rows[0]
        assert rows[0] == rows[1]
    assert list(built.folder.glob("*tables*")) == []
    assert not (tmp_path / "tables").exists()


def _export_twice(project: Project, exported: Path) -> None:
    """As it was before an answer's text was erased, then again, which writes that run alone anew."""
    export_ledger(project.ledger, exported, "delta")
    with Ledger(project.ledger).read() as connection:
        ((run_id, prompt_id, trial),) = connection.execute(
            "select run_id, prompt_id, trial from raw.responses where status = 'ok' order by all limit 1"
        ).fetchall()
    erase(project.ledger, run_id, prompt_id, trial, reason="to see that Spark does not read it")
    assert export_ledger(project.ledger, exported, "delta").rewritten == (run_id,)


def _leave_lying_around(exported: Path) -> None:
    """A file that no manifest has, of one answer to each question more than there are."""
    for file in list(exported.glob("responses/run_id=*/*.parquet")):
        duckdb.execute(
            f"copy (select * replace (trial + 100 as trial) from read_parquet('{file}', hive_partitioning = false)) "
            f"to '{file.with_name('stray.parquet')}' (format parquet)"
        )


_BESIDE = """
import sys
from pathlib import Path

import duckdb
from pyspark.sql import SparkSession

from biasledger.spark.session import open_session
from biasledger.spark.tables import Tables

mine = SparkSession.builder.remote(sys.argv[1]).create()
mine.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
build = open_session("active", {"spark.sql.shuffle.partitions": 3})
build.range(2).createOrReplaceTempView("marts__dim_runs")
assert build.sql("select text_of_number(0.1D) as said").collect()[0].said == "0.1"
for session, *state in ((build, "UTC", "3", True), (mine, "Asia/Tokyo", "2", False)):
    assert state == [
        session.conf.get("spark.sql.session.timeZone"),
        session.conf.get("spark.sql.shuffle.partitions"),
        session.catalog.tableExists("marts__dim_runs"),
    ], state
Tables(build, duckdb.connect(), Path("tables")).close()
assert SparkSession.active() is mine
assert mine.range(2).count() == 2
"""


def test_a_session_of_a_server_that_is_active_is_left_as_it_was(tmp_path: Path) -> None:
    needed("grpc_status")
    with connect_server(tmp_path) as address:
        command = [sys.executable, "-W", "ignore", "-c", _BESIDE, address]
        # A client tries for half an hour to reach a server that has ended.
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=300)
        assert done.returncode == 0, done.stderr
