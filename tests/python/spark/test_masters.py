"""Test that the address of Spark is printed without secrets, such as the token of Spark Connect."""

from __future__ import annotations

from pathlib import Path

import pytest

from biasledger.building.targets import runs_on_spark
from biasledger.project import init_project
from biasledger.spark.masters import shown, without_secrets
from collector.errors import InputError
from tests.python.end_to_end.planting import advice
from tests.python.project import Project
from tests.python.running import run_python
from tests.python.spark.cluster import needed

TOKEN = "dapi0123456789abcdef"  # made up
HOST = "sc://adb-1.example.com:443"


@pytest.mark.parametrize(
    ("master", "printed"),
    [
        ("local[*]", "local[*]"),
        ("spark://127.0.0.1:7077", "spark://127.0.0.1:7077"),
        (f"{HOST}/;token={TOKEN};x-databricks-cluster-id=1-2-three", HOST),
        (f"{HOST};token={TOKEN}", HOST),
        (f"sc://{TOKEN}@adb-1.example.com:443", HOST),
        (f" SC://adb-1.example.com:443/;token={TOKEN}", HOST),
        (f"sc://me/{TOKEN}@adb-1.example.com", "sc://[key]"),
        (f"{HOST}/;token=a@{TOKEN}", "sc://[key]"),
    ],
)
def test_an_address_is_shown_without_parameters(master: str, printed: str) -> None:
    assert shown(master) == printed


@pytest.mark.parametrize(
    "parameters",
    [
        f"/;use_ssl=true;token={TOKEN}",
        f"/;authorization=Bearer%20{TOKEN}",
        f"/token={TOKEN}",
        f"/;{TOKEN}",
        f"/?token={TOKEN}",
    ],
)
def test_what_may_be_a_secret_is_struck_out_of_messages(parameters: str) -> None:
    message = without_secrets(f"true: Bearer {TOKEN} and {HOST}{parameters}", f"{HOST}{parameters}")
    assert TOKEN not in message
    assert "true: " in message
    assert HOST in message


def test_a_token_with_an_at_is_struck_out_too() -> None:
    master = f"{HOST}/;token=somebody@{TOKEN}"
    assert without_secrets(f"Bearer somebody@{TOKEN}", master) == "Bearer [key]"
    assert TOKEN not in without_secrets(f"of {TOKEN} at {master}", master)


def test_what_is_no_secret_stays_in_messages() -> None:
    master = f"{HOST}/;user_id=somebody;x-databricks-cluster-id=0101-cluster;token={TOKEN}"
    assert without_secrets("somebody on 0101-cluster", master) == "somebody on 0101-cluster"


@pytest.mark.slow
def test_a_build_that_cannot_connect_tells_no_token(tmp_path: Path) -> None:
    """The address lacks a semicolon, and pyspark's own sentence would quote it."""
    needed("grpc_status")
    project = Project(tmp_path / "project")
    init_project(project.folder)
    advice.plant(project)
    said = ""
    by_hand = ["-c", DBT, "--debug", "build", "--target", "spark", "--profiles-dir", "."]
    for command in (["-m", "biasledger", "build", "--target", "spark"], by_hand):
        address = f"{HOST}/token={TOKEN};x-databricks-cluster-id=1-2-three"
        done = run_python(*command, cwd=project.folder, BIASLEDGER_SPARK=address)
        assert done.returncode != 0
        said += done.stdout + done.stderr
    assert f"The server of Spark Connect at {HOST} cannot be used: " in said
    assert TOKEN not in said
    holding = [
        path for path in project.folder.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()
    ]
    assert holding == []


def test_dbt_debug_prints_no_token() -> None:
    needed()
    from biasledger.spark.adapter import SparkCredentials

    credentials = SparkCredentials(master=f"{HOST}/;token={TOKEN}")
    assert dict(credentials.connection_info())["master"] == credentials.unique_field == HOST


DBT = "from dbt.cli.main import cli; cli(prog_name='dbt')"


@pytest.mark.parametrize("key", ["tables", "ledger", "warehouse"])
def test_an_object_store_is_refused_before_spark_is_begun(key: str) -> None:
    needed()
    from dbt_common.exceptions import DbtRuntimeError

    from biasledger.spark.adapter import SparkConnectionManager, SparkCredentials

    with pytest.raises(DbtRuntimeError, match="s3://bucket/a is no path of this machine"):
        SparkConnectionManager.tables(SparkCredentials(**{key: "s3://bucket/a"}))
    assert not Path("s3:").exists()


def test_active_needs_a_session_and_begins_none() -> None:
    needed()
    from biasledger.spark.session import open_session

    with pytest.raises(InputError, match="This process has no session of Spark, and master is active"):
        open_session("active", {})


def test_biasledger_build_says_that_it_has_no_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed()
    init_project(tmp_path / "project", every_audit=False)
    monkeypatch.setenv("BIASLEDGER_SPARK", "active")
    with pytest.raises(InputError, match="runs dbt as a process of its own, which has no session of Spark"):
        runs_on_spark(tmp_path / "project", "spark")
