"""Test the messages of `biasledger build --target` if it cannot build."""

from __future__ import annotations

from pathlib import Path

import pytest

from biasledger.building import targets
from biasledger.building.targets import runs_on_spark
from biasledger.project import init_project
from collector.errors import InputError


@pytest.fixture
def project(tmp_path: Path) -> Path:
    init_project(tmp_path / "project", every_audit=False)
    return tmp_path / "project"


def test_a_build_runs_on_duckdb_unless_asked_otherwise(project: Path) -> None:
    assert not runs_on_spark(project, None)
    assert not runs_on_spark(project, "warehouse")


@pytest.mark.parametrize("name", ["spark", '\'{{ env_var("BIASLEDGER_WHERE", "spark") }}\''])
def test_the_default_of_the_profile_counts(project: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(targets, "find_spec", lambda name: name)
    monkeypatch.setenv("JAVA_HOME", "java")
    profiles = project / "profiles.yml"
    text = profiles.read_text(encoding="utf-8")
    profiles.write_text(text.replace("target: warehouse", f"target: {name}"), encoding="utf-8")
    assert runs_on_spark(project, None)
    assert not runs_on_spark(project, "warehouse")
    monkeypatch.setenv("DBT_TARGET", "warehouse")
    assert runs_on_spark(project, None)


def test_a_profile_that_is_not_there_is_named(project: Path) -> None:
    profiles = project / "profiles.yml"
    text = profiles.read_text(encoding="utf-8")
    profiles.write_text(text.replace("biasledger:", "other:", 1), encoding="utf-8")
    with pytest.raises(InputError, match=r"profiles\.yml has no profile 'biasledger'"):
        runs_on_spark(project, None)


def test_an_unknown_target_is_named(project: Path) -> None:
    with pytest.raises(InputError, match=r"profiles\.yml has no target 'sparks'; did you mean 'spark'"):
        runs_on_spark(project, "sparks")


def test_without_pyspark_the_extra_is_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "find_spec", lambda _name: None)
    with pytest.raises(InputError, match=r"pip install 'biasledger\[spark\]'"):
        runs_on_spark(project, "spark")


def test_without_java_it_is_asked_for(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "find_spec", lambda name: name)
    monkeypatch.setattr(targets.shutil, "which", lambda _name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(InputError, match="Spark needs Java 17"):
        runs_on_spark(project, "spark")


def test_a_server_of_spark_connect_needs_no_java_here_but_its_client(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = {"pyspark", "pyarrow"}
    monkeypatch.setattr(targets, "find_spec", lambda name: name if name in installed else None)
    monkeypatch.setattr(targets.shutil, "which", lambda _name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("BIASLEDGER_SPARK", "sc://127.0.0.1:15002")
    with pytest.raises(InputError, match=r"pip install 'pyspark\[connect\]'"):
        runs_on_spark(project, "spark")
    installed.add("grpc_status")
    assert runs_on_spark(project, "spark")
