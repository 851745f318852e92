"""Test the arguments, output and usage errors of `biasledger publish`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from biasledger.publishing.warehouse import publish_warehouse
from tests.python.publishing.conftest import BUILD, TABLES, make_work
from tests.python.publishing.postgres_server import PASSWORD, QUOTED_PASSWORD, postgres_server
from tests.python.running import biasledger, run_python


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a published warehouse; the current one."""
    publish_warehouse(
        make_work(tmp_path / "work.duckdb"),
        tmp_path / "warehouse.duckdb",
        TABLES,
        BUILD,
        ledger=tmp_path / "ledger.duckdb",
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_into_a_folder(folder: Path) -> None:
    result = biasledger("publish", "--to", "out")
    assert (result.exit_code, result.output) == (0, "3 tables, 6 rows published in out.\n")
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "csv", "manifest.json", "parquet", "warehouse.duckdb",
    ]  # fmt: skip
    assert biasledger("publish", "--to", "out", "--format", "csv").exit_code == 0
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["csv", "manifest.json"]


def test_into_a_database(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with postgres_server() as server:
        result = biasledger("publish", "--to", server.uri())
        place = f"{server.folder}/postgres"
        assert (result.exit_code, result.output) == (
            0,
            f"3 tables, 6 rows published in schema biasledger of {place}.\n",
        )
        monkeypatch.setenv("PGPASSWORD", PASSWORD)
        uri = server.uri().replace(f":{QUOTED_PASSWORD}", "")
        result = biasledger("publish", "--to", uri, "--schema", "Audit 2026")
        assert result.output == f"3 tables, 6 rows published in schema Audit 2026 of {place}.\n"
        monkeypatch.setenv("PGPASSWORD", "wrong")
        result = biasledger("--debug", "publish", "--to", uri, code=3)
        assert f"Error: {place} cannot be reached: " in result.stderr
        result = biasledger("--debug", "publish", "--to", server.uri(user="stranger"))
        assert QUOTED_PASSWORD not in result.output
        assert PASSWORD not in result.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Missing option '--to'"),
        (("--to", "mysql://host/db"), "--to takes a folder or an address that begins with postgresql://"),
        (("--to", "out", "--schema", "x"), "--schema goes with a PostgreSQL database"),
        (("--to", "postgresql://h/d", "--format", "csv"), "--format goes with a folder"),
        (("--to", "out", "--warehouse", "none.duckdb"), "There is no warehouse at none.duckdb"),
        (("--to", "postgresql://h:port/d"), "should be like postgresql://user@host:5432/database"),
        (
            ("--to", "postgresql://h/d", "--schema", "x" * 64),
            "cannot be a name in PostgreSQL: at most 63 bytes",
        ),
        (("--to", "postgresql://h/d", "--schema", ""), "cannot be a name in PostgreSQL"),
    ],
)
def test_wrong_use(folder: Path, arguments: tuple[str, ...], sentence: str) -> None:
    result = biasledger("publish", *arguments, code=3)
    assert sentence in result.stderr
    assert not (folder / "out").exists()


@pytest.mark.parametrize("form", ["parquet", "csv", "duckdb"])
def test_a_full_disk_is_reported_in_a_sentence(folder: Path, form: str) -> None:
    """A limit on the size of files is met as a full disk is, and needs no disk of its own."""
    script = (
        "import resource; from biasledger.cli import main; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20, resource.RLIM_INFINITY)); main()"
    )
    done = run_python("-c", script, "publish", "--to", "out", "--format", form, cwd=folder)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    assert done.stderr == "Error: out cannot be written: File too large; make space there and try again.\n"
    assert list((folder / "out").iterdir()) == []


def test_without_the_extra(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    result = biasledger("publish", "--to", "postgresql://h/d", code=3)
    assert "pip install 'biasledger[postgres]'" in result.stderr
