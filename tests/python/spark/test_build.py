"""Test that a build on Spark publishes the same as on DuckDB: every public table, verdict and alarm.

The one ledger has a small audit of each kind, so that every public table has rows. Spark runs in one process here;
test_connect.py and test_parts.py use a cluster.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
import sqlglot
from sqlglot.dialects.databricks import Databricks

from benchmarks.same import differences
from biasledger.building.build import BuildSummary, build_warehouse, up_to_date_build
from biasledger.project import init_project
from biasledger.spark.lint import columns_in, compiled_models
from biasledger.spark.translate import to_spark
from tests.python.project import Project
from tests.python.publishing.postgres_server import postgres_server
from tests.python.running import rows_in, run_python
from tests.python.spark import methods
from tests.python.spark.cluster import SMALL, needed, settings_of_spark
from tests.python.spark.databricks import Databricks4

pytestmark = [pytest.mark.slow, pytest.mark.long]


@dataclass(frozen=True)
class OnSpark:
    """A project that was built on Spark next to DuckDB.

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
    methods.plant(project)
    project.build()
    published = project.folder / "spark.duckdb"
    # A build on Spark takes it away.
    work = Path(shutil.copyfile(project.work, folder / "work.duckdb"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("BIASLEDGER_SPARK", "local[2]")
        settings_of_spark(project.folder, SMALL)
        summary = build_warehouse(project.folder, project.ledger, published, target="spark")
        yield OnSpark(project.folder, work, project.warehouse, published, summary)


def test_every_public_table_says_the_same(on_spark: OnSpark) -> None:
    assert differences(on_spark.warehouse, on_spark.published, digits=9) == []


def test_every_public_table_has_rows(on_spark: OnSpark) -> None:
    assert [table for table, n_rows in on_spark.summary.published.items() if not n_rows] == []


def test_the_same_alarms_ring(on_spark: OnSpark) -> None:
    assert on_spark.summary.has_alarms
    statuses = "select finding_id, status from marts.fct_findings order by all"
    assert rows_in(on_spark.warehouse, statuses) == rows_in(on_spark.published, statuses)


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
    [message] = differences(on_spark.warehouse, changed, digits=9)
    assert message.startswith(f"marts.{table}: 1 rows of the first and 1 of the second differ")


def test_dbts_unit_tests_pass_on_spark(on_spark: OnSpark) -> None:
    run_python("-m", "tests.python.spark.unit_tests", on_spark.work, cwd=on_spark.folder, code=0)


def test_every_model_is_the_same_in_the_sql_of_databricks(on_spark: OnSpark) -> None:
    """Statements about open-source Spark, which builds with ANSI mode on, as Databricks does, are tested here."""
    columns = columns_in(on_spark.work)
    models = dict(compiled_models(on_spark.folder / "target/compiled/biasledger/models"))
    assert len(models) > 200
    for file, sql in models.items():
        printed = to_spark(sql, columns, dialect=Databricks4)
        assert printed == to_spark(sql, columns), file
        assert sqlglot.parse_one(printed, dialect=Databricks)


@pytest.mark.parametrize(
    "command",
    [
        ["findings", "--all", "--why"],
        ["check", "--format", "json"],
        ["query", "select * from fct_alarms order by all"],
    ],
)
def test_commands_say_the_same_of_both(on_spark: OnSpark, command: list[str]) -> None:
    one, other = (_said(on_spark, warehouse, *command) for warehouse in _both(on_spark))
    assert one.stdout
    assert (one.returncode, _rounded(one.stdout)) == (other.returncode, _rounded(other.stdout))


def test_a_finding_of_each_method_is_explained_alike(on_spark: OnSpark) -> None:
    found = rows_in(
        on_spark.published,
        "select min(finding_id) from marts.fct_findings where status = 'alarm' group by measure order by all",
    )
    assert len(found) > 5
    for (finding,) in found:
        one, other = (
            _said(on_spark, warehouse, "explain", finding, "--format", "json")
            for warehouse in _both(on_spark)
        )
        assert one.returncode == 0, one.stderr
        assert _rounded(one.stdout) == _rounded(other.stdout)


def test_the_report_is_the_same_page(on_spark: OnSpark, tmp_path: Path) -> None:
    pages = []
    for number, warehouse in enumerate(_both(on_spark)):
        page = tmp_path / f"{number}.html"
        done = _said(on_spark, warehouse, "report", "--output", str(page))
        assert done.returncode == 0, done.stderr
        pages.append(len(page.read_text(encoding="utf-8")))
    # The id and time of the build differ.
    assert pages[0] == pytest.approx(pages[1], rel=0.001)


def test_what_was_published_is_published_further(on_spark: OnSpark, tmp_path: Path) -> None:
    folder = tmp_path / "published"
    assert _said(on_spark, on_spark.published, "publish", "--to", str(folder)).returncode == 0
    assert differences(on_spark.warehouse, folder / "warehouse.duckdb", digits=9) == []
    parquet = {path.stem: _count(f"from '{path}'") for path in folder.glob("parquet/*.parquet")}
    assert parquet == {table.partition(".")[2] or table: n for table, n in on_spark.summary.published.items()}


def test_what_was_published_goes_to_postgresql(on_spark: OnSpark) -> None:
    dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")
    with postgres_server() as server:
        done = _said(on_spark, on_spark.published, "publish", "--to", server.uri())
        assert done.returncode == 0, done.stderr
        with dbapi.connect(server.uri()) as connection, connection.cursor() as cursor:
            cursor.execute("select finding_id, status from biasledger.fct_findings order by 1, 2")
            found = cursor.fetchall()
    published = rows_in(on_spark.warehouse, "select finding_id, status from marts.fct_findings")
    assert sorted(found) == sorted(published)


def _both(on_spark: OnSpark) -> tuple[Path, Path]:
    return on_spark.warehouse, on_spark.published


def _said(on_spark: OnSpark, warehouse: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return run_python(
        *("-m", "biasledger", *command, "--warehouse", warehouse), cwd=on_spark.folder, COLUMNS="200"
    )


def _rounded(said: str) -> str:
    """Without what differs between builds: last digits, which build it was, when, and the file's name."""
    said = re.sub(r"-?\d+\.\d+(?:e-?\d+)?", lambda found: f"{float(found[0]):.9f}", said)
    said = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?", "MOMENT", said)
    said = re.sub(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "BUILD", said)
    return re.sub(r"\b(?:spark|warehouse)\.duckdb", "FILE", said)


def _count(query: str) -> int:
    ((n_rows,),) = duckdb.execute(f"select count(*) {query}").fetchall()
    return int(n_rows)


def test_nothing_is_new_afterwards(on_spark: OnSpark) -> None:
    ledger = on_spark.folder / "ledger.duckdb"
    assert up_to_date_build(on_spark.folder, ledger, on_spark.published, "spark") is not None


def test_answers_are_not_left_behind(on_spark: OnSpark) -> None:
    assert list(on_spark.folder.rglob("*.parquet")) == []
    assert [path.name for path in on_spark.folder.iterdir() if "spark" in path.name] == ["spark.duckdb"]
