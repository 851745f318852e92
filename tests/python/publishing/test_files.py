"""Test published files: their content, their safety in spreadsheets, and other files in the folder."""

from __future__ import annotations

import csv
import fcntl
import hashlib
import json
import math
import os
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

from biasledger.publishing import files as publishing
from biasledger.publishing.files import FORMULA_STARTS, publish_files
from biasledger.publishing.public import PublicTable
from biasledger.publishing.published import open_published
from biasledger.publishing.warehouse import PublishError, publish_warehouse
from collector.errors import InputError
from tests.python.publishing.conftest import BUILD, TABLES, make_work
from tests.python.running import run_python

FILES = [
    "csv/dim_runs.csv", "csv/exceptions.csv", "csv/fct_words.csv", "manifest.json", "parquet/dim_runs.parquet",
    "parquet/exceptions.parquet", "parquet/fct_words.parquet", "warehouse.duckdb",
]  # fmt: skip


@pytest.fixture
def warehouse(work: Path, tmp_path: Path) -> Path:
    path = tmp_path / "warehouse.duckdb"
    publish_warehouse(work, path, TABLES, BUILD, ledger=tmp_path / "ledger.duckdb")
    return path


def publish(warehouse: Path, folder: Path, **options: Any) -> dict[str, Any]:
    with open_published(warehouse) as published:
        return publish_files(published, folder, **options)


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_all_rows_in_every_format(warehouse: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a new" / "folder"
    manifest = publish(warehouse, folder)
    assert names(folder) == FILES
    assert json.loads((folder / "manifest.json").read_text(encoding="utf-8")) == manifest
    assert manifest["build"] == {
        "build_id": "build-1", "built_at": "2026-01-02T03:04:05", "biasledger_version": "0.1.0", "engine_version": "2",
    }  # fmt: skip
    words = manifest["tables"][2]
    assert (words["table"], words["rows"], words["key"]) == ("fct_words", 4, ["run_id", "word", "group_name"])
    assert words["columns"][8] == {
        "name": "markers",
        "type": "VARCHAR[]",
        "nullable": True,
        "description": None,
    }
    assert manifest["tables"][0]["description"] == """Grain: run. An auditor's list; "quoted"."""
    listed = [file for table in manifest["tables"] for file in table["files"].values()]
    for file in [*listed, manifest["files"]["duckdb"]]:
        content = (folder / file["path"]).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (file["bytes"], file["sha256"])

    with duckdb.connect() as connection:
        connection.execute(f"attach '{warehouse}' as published (read_only)")
        expected = connection.execute("from published.marts.fct_words").fetchall()
        types = [column[1] for column in connection.execute("describe published.marts.fct_words").fetchall()]
        parquet = f"'{folder / 'parquet' / 'fct_words.parquet'}'"
        assert repr(connection.execute(f"from {parquet}").fetchall()) == repr(expected)
        assert [column[1] for column in connection.execute(f"describe from {parquet}").fetchall()] == types
        metadata = dict(
            connection.execute(
                f"select key::varchar, value::varchar from parquet_kv_metadata({parquet})"
            ).fetchall()
        )
        assert (metadata["build_id"], metadata["key"]) == ("build-1", "run_id, word, group_name")
        connection.execute(f"attach '{folder / 'warehouse.duckdb'}' as copy (read_only)")
        assert repr(connection.execute("from copy.marts.fct_words").fetchall()) == repr(expected)


def test_text_is_no_formula_and_numbers_stay_numbers(warehouse: Path, tmp_path: Path) -> None:
    publish(warehouse, tmp_path / "out", formats=["csv"])
    assert names(tmp_path / "out") == [name for name in FILES if name.startswith(("csv", "manifest"))]
    with (tmp_path / "out" / "csv" / "fct_words.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["word"] for row in rows] == ["'=1+1", "naïve 日本 🎵", '"quoted", and\na new line', ""]
    assert [row["order"] for row in rows] == ["'-x", "'@y", "'+z", ""]
    assert [row["n"] for row in rows] == ["3", "-4", "", "0"]
    assert [row["z_score"] for row in rows] == ["1.5", "-0.1", "nan", "0.1"]
    assert float(rows[1]["p_value"]) == 1e-300
    assert math.isinf(float(rows[2]["p_value"]))
    assert int(rows[0]["seed"]) == 9223372036854775807
    assert [row["seen_on"] for row in rows] == ["2026-02-03", "", "0001-01-01", ""]
    assert [row["markers"] and json.loads(row["markers"]) for row in rows] == [
        ["a", "b, c"], [], "", ["=cmd", None, 'say "x"'],
    ]  # fmt: skip


def test_every_character_that_begins_a_formula(tmp_path: Path) -> None:
    starts = ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"]
    assert list(FORMULA_STARTS) == starts
    work = make_work(
        tmp_path / "work.duckdb",
        'create schema marts; create table marts.texts (place integer, "=text" varchar, document json, number integer)',
    )
    with duckdb.connect(str(work)) as connection:
        for place, start in enumerate(starts):
            connection.execute(
                "insert into marts.texts values (?, ?, '-1', -1)", [place, f"{start}cmd|' /C calc'!A0"]
            )
        # Not at the beginning it is none, and an empty text is no null.
        connection.execute(
            "insert into marts.texts values (97, 'a=b', null, 0), (98, '', '{\"a\": 1}', 0), (99, null, null, 0)"
        )
    table = [PublicTable("marts", "texts", ("place",))]
    publish_warehouse(work, tmp_path / "w.duckdb", table, BUILD, ledger=tmp_path / "none")
    publish(tmp_path / "w.duckdb", tmp_path / "out", formats=["csv"])
    path = tmp_path / "out" / "csv" / "texts.csv"
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["place", "'=text", "document", "number"]
    assert [row[1] for row in rows] == [f"'{start}cmd|' /C calc'!A0" for start in starts] + ["a=b", "", ""]
    assert [row[2] for row in rows] == ["'-1"] * len(starts) + ["", '{"a": 1}', ""]
    assert [row[3] for row in rows] == ["-1"] * len(starts) + ["0", "0", "0"]
    assert path.read_text(encoding="utf-8").splitlines()[-2:] == ['98,"","{""a"": 1}",0', "99,,,0"]


def test_published_again(warehouse: Path, work: Path, tmp_path: Path) -> None:
    """New files take the place of old ones, those of tables that are gone go, and files of others stay."""
    folder = tmp_path / "out"
    publish(warehouse, folder)
    (folder / "csv" / "mine.csv").write_text("mine", encoding="utf-8")
    (folder / "readme.txt").write_text("mine", encoding="utf-8")
    with (folder / "csv" / "dim_runs.csv").open(encoding="utf-8") as reader:
        first = reader.readline()
        make_work(work, "insert into marts.dim_runs values ('run-3', null, false)")
        publish_warehouse(work, warehouse, TABLES[:1], BUILD, ledger=tmp_path / "ledger.duckdb")
        publish(warehouse, folder, formats=["csv"])
        # Who reads the old file reads it to its end.
        assert len([first, *reader]) == 3
    assert names(folder) == ["csv/dim_runs.csv", "csv/mine.csv", "manifest.json", "readme.txt"]
    assert len((folder / "csv" / "dim_runs.csv").read_text(encoding="utf-8").splitlines()) == 4
    assert not (folder / "parquet").exists()


def test_files_of_others_are_neither_replaced_nor_removed(warehouse: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    (folder / "csv").mkdir(parents=True)
    (folder / "csv" / "dim_runs.csv").write_text("theirs", encoding="utf-8")
    with pytest.raises(InputError, match=r"holds csv/dim_runs.csv, which no earlier publication wrote"):
        publish(warehouse, folder)
    assert names(folder) == ["csv/dim_runs.csv"]

    (folder / "manifest.json").write_text('{"name": "a web application"}', encoding="utf-8")
    with pytest.raises(
        InputError, match=r"manifest.json is not of `biasledger publish`: name another folder"
    ):
        publish(warehouse, folder)

    # A manifest that claims files elsewhere does not make them ours.
    precious = tmp_path / "precious.csv"
    precious.write_text("theirs", encoding="utf-8")
    claimed = [str(precious), "../precious.csv", "csv/../../precious.csv", "readme.txt"]
    manifest = {
        "made_by": "biasledger publish",
        "files": {},
        "tables": [{"files": {"csv": {"path": path}}} for path in claimed],
    }
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "readme.txt").write_text("theirs", encoding="utf-8")
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    publish(warehouse, folder)
    assert precious.read_text(encoding="utf-8") == "theirs"
    assert names(folder) == sorted([*FILES, "readme.txt"])

    with pytest.raises(PublishError, match=r"cannot be written: File exists"):
        publish(warehouse, precious)


@pytest.mark.parametrize("is_first", [True, False], ids=["first", "again"])
@pytest.mark.parametrize("n_renamed", range(len(FILES) - 2))
def test_stopped_while_renaming(
    warehouse: Path,
    work: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    n_renamed: int,
    is_first: bool,
) -> None:
    """A reader who checks the manifest sees that files do not belong together; the next publication repairs it."""
    folder = tmp_path / "out"
    if not is_first:
        publish(warehouse, folder)
        make_work(work, "update marts.dim_runs set is_simulated = not is_simulated")
        # One table less, so that there are files to remove.
        publish_warehouse(work, warehouse, TABLES[:2], BUILD, ledger=tmp_path / "ledger.duckdb")
    replace, n_done = Path.replace, 0

    def stop(self: Path, target: Path) -> Path:
        nonlocal n_done
        if n_done == n_renamed:
            raise OSError(28, "No space left on device")
        n_done += 1
        return replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", stop)
        with pytest.raises(PublishError, match="No space left on device"):
            publish(warehouse, folder)
    assert (folder / "manifest.json").exists() != is_first
    publish(warehouse, folder)
    assert names(folder) == [name for name in FILES if is_first or "exceptions" not in name]


def test_stopped_while_the_manifest_is_written(warehouse: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    publish(warehouse, folder)
    (folder / ".publishing").mkdir()
    (folder / ".publishing" / "manifest.json").write_text('{"made_by": "bias', encoding="utf-8")
    publish(warehouse, folder)
    assert names(folder) == FILES


def test_stopped_while_writing(warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "out"
    publish(warehouse, folder)
    before = {name: (folder / name).read_bytes() for name in names(folder)}

    def stop(*_: object) -> None:
        raise duckdb.IOException("IO Error: disk gone\nmore")

    with monkeypatch.context() as patch:
        patch.setattr(publishing, "write_tables", stop)
        with pytest.raises(PublishError, match=r"cannot be written: IO Error: disk gone\.$"):
            publish(warehouse, folder)
    assert {name: (folder / name).read_bytes() for name in names(folder)} == before


def test_two_publications_into_one_folder(warehouse: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        with pytest.raises(InputError, match="Another `biasledger publish` writes into"):
            publish(warehouse, folder)
    finally:
        os.close(descriptor)
    publish(warehouse, folder)


def test_a_database_that_dbt_wrote_by_hand_is_refused(work: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"was not published by `biasledger build`, so nothing says which"):
        publish(work, tmp_path / "out")
    with pytest.raises(InputError, match=r"There is no warehouse at .*: `biasledger build` makes it"):
        publish(tmp_path / "none.duckdb", tmp_path / "out")


def test_names_that_files_or_readers_cannot_have(work: Path, tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse.duckdb"
    make_work(work, 'create table marts."../x" (one int); create table settings.dim_runs (one int)')
    for tables, sentence in (
        ([PublicTable("marts", "../x", ())], "cannot be a file's name"),
        ([TABLES[0], PublicTable("settings", "dim_runs", ())], "2 published tables are called 'dim_runs'"),
    ):
        publish_warehouse(work, warehouse, tables, BUILD, ledger=tmp_path / "none")
        with pytest.raises(InputError, match=sentence):
            publish(warehouse, tmp_path / "out")
    assert not (tmp_path / "out").exists()


OLD_DUCKDB = "1.5.6"  # the last release of 1.5


@pytest.fixture(scope="session")
def old_duckdb(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The packages of a process that has DuckDB 1.5, since a process has one DuckDB."""
    folder = tmp_path_factory.mktemp("duckdb15")
    options = ("--quiet", "--no-compile", "--disable-pip-version-check", "--target", folder)
    installed = run_python("-m", "pip", "install", *options, f"duckdb=={OLD_DUCKDB}")
    if installed.returncode != 0:
        pytest.skip(f"duckdb {OLD_DUCKDB} cannot be installed: {installed.stderr.strip().splitlines()[-1]}")
    return str(folder)


@pytest.mark.slow
def test_duckdb_1_5_reads_the_warehouse_and_the_file_published(
    old_duckdb: str, warehouse: Path, tmp_path: Path
) -> None:
    publish(warehouse, tmp_path / "out")
    script = """
import duckdb, sys
for path in sys.argv[1:]:
    connection = duckdb.connect(path, read_only=True)
    print(duckdb.__version__, connection.execute("select count(*), sum(n), any_value(markers) from marts.fct_words").fetchall(),
        connection.execute("select comment from duckdb_columns() where comment is not null").fetchall())
"""
    paths = [str(warehouse), str(tmp_path / "out" / "warehouse.duckdb")]
    done = run_python("-c", script, *paths, path=old_duckdb, code=0)
    line = f"{OLD_DUCKDB} [(4, -1, ['a', 'b, c'])] [(\"Key; $1 and 'quotes' — and more.\",)]"
    assert done.stdout.splitlines() == [line, line]
    # The work file is not: what is published is what others can read.
    work = tmp_path / ".biasledger" / "work" / "warehouse.duckdb"
    assert run_python("-c", script, work, path=old_duckdb).returncode != 0
