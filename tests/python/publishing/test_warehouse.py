"""Test that the warehouse is replaced as a whole: readers keep theirs, and after a failure the old one stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from biasledger.publishing import warehouse as publishing
from biasledger.publishing.public import PublicTable
from biasledger.publishing.warehouse import PublishError, publish_warehouse
from collector.errors import InputError
from collector.ledger.database import Ledger
from tests.python.publishing.conftest import BUILD, TABLES, make_work
from tests.python.running import ROOT, rows_in, run_python


def publish(work: Path, warehouse: Path) -> dict[str, int]:
    return publish_warehouse(work, warehouse, TABLES, BUILD, ledger=warehouse.with_name("ledger.duckdb"))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_only_public_tables_with_types_comments_and_keys(work: Path, tmp_path: Path) -> None:
    warehouse = tmp_path / "out" / "warehouse.duckdb"
    assert publish(work, warehouse) == {"marts.dim_runs": 2, "marts.fct_words": 4, "settings.exceptions": 0}
    assert names(warehouse.parent) == ["warehouse.duckdb"]
    assert rows_in(warehouse, "select schema_name, table_name from duckdb_tables() order by all") == [
        *((table.schema, table.name) for table in TABLES[:2]),
        ("publication", "build"),
        ("publication", "tables"),
        ("settings", "exceptions"),
    ]
    for table in ("marts.dim_runs", "marts.fct_words", "settings.exceptions"):
        assert repr(rows_in(warehouse, f"from {table}")) == repr(rows_in(work, f"from {table}"))
        schema, name = table.split(".")
        described = f"""
            select column_name, data_type, is_nullable, comment, (select comment from duckdb_tables() as tables
                where tables.table_name = columns.table_name)
            from duckdb_columns() as columns where schema_name = '{schema}' and table_name = '{name}' order by column_index
        """
        assert rows_in(warehouse, described) == rows_in(work, described)
    assert rows_in(warehouse, "from publication.build") == [
        ("build-1", BUILD.built_at, "0.1.0", "2", "sha256:0")
    ]
    assert rows_in(
        warehouse, "select key_columns from publication.tables where table_name = 'fct_words'"
    ) == [(["run_id", "word", "group_name"],)]
    assert b"a private text" in work.read_bytes()
    assert b"a private text" not in warehouse.read_bytes()
    (version,) = rows_in(
        warehouse, "select tags['storage_version'] from duckdb_databases() where database_name = 'warehouse'"
    )
    assert version == ("v1.5.0+",)


def test_a_reader_keeps_the_file_that_it_has_open(work: Path, tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse.duckdb"
    publish(work, warehouse)
    warehouse.chmod(0o640)
    # Another process, as a BI tool would be.
    script = (
        "import duckdb, sys\n"
        f"connection = duckdb.connect({str(warehouse)!r}, read_only=True)\n"
        "while True:\n"
        "    print(connection.execute('select count(*) from marts.dim_runs').fetchone()[0], flush=True)\n"
        "    if not sys.stdin.readline(): break\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        assert reader.stdout.readline() == "2\n"
        with duckdb.connect(str(work)) as connection:
            connection.execute("insert into marts.dim_runs values ('run-3', null, false)")
        publish(work, warehouse)
        reader.stdin.write("again\n")
        reader.stdin.flush()
        assert reader.stdout.readline() == "2\n"
        reader.stdin.close()
        reader.wait()
    assert rows_in(warehouse, "select count(*) from marts.dim_runs") == [(3,)]
    assert warehouse.stat().st_mode & 0o777 == 0o640


def test_a_warehouse_open_for_writing_elsewhere_is_left_alone(work: Path, tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse.duckdb"
    publish(work, warehouse)
    script = f"import duckdb, sys; c = duckdb.connect({str(warehouse)!r}); print('open', flush=True); sys.stdin.readline()"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "open\n"
        before = warehouse.read_bytes()
        with pytest.raises(InputError, match=r"is open for writing in another program: close it there"):
            publish(work, warehouse)
        assert warehouse.read_bytes() == before
        writer.communicate("\n")
    publish(work, warehouse)


def _leave_wal(warehouse: Path) -> None:
    """A program that wrote to the file, and was killed before it closed it."""
    script = (
        f"import duckdb, os, signal; c = duckdb.connect({str(warehouse)!r}); c.execute('create table notes (one int)');"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    run_python("-c", script)
    assert warehouse.with_name(f"{warehouse.name}.wal").exists()


def test_the_write_ahead_log_of_an_old_file_does_not_reach_the_new_one(work: Path, tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse.duckdb"
    publish(work, warehouse)
    _leave_wal(warehouse)
    publish(work, warehouse)
    assert not warehouse.with_name("warehouse.duckdb.wal").exists()
    assert rows_in(warehouse, "select count(*) from duckdb_tables() where table_name = 'notes'") == [(0,)]


def test_a_damaged_warehouse_is_replaced(work: Path, tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse.duckdb"
    publish(work, warehouse)
    content = warehouse.read_bytes()
    warehouse.write_bytes(content[:4096] + bytes(8192))
    publish(work, warehouse)
    assert rows_in(warehouse, "select count(*) from marts.dim_runs") == [(2,)]


def test_files_that_are_no_warehouse_are_not_overwritten(work: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.duckdb"
    Ledger(ledger).create()
    other = tmp_path / "other.duckdb"
    Ledger(other).create()
    letters = tmp_path / "letters.txt"
    letters.write_text("Dear Sir or Madam, this is no database.", encoding="utf-8")
    for path, sentence in ((ledger, "is the ledger"), (other, "is a ledger"), (letters, "is no DuckDB file")):
        before = path.read_bytes()
        with pytest.raises(InputError, match=sentence):
            publish(work, path)
        assert path.read_bytes() == before


def test_what_fails_while_writing_leaves_the_old_file(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = tmp_path / "warehouse.duckdb"
    publish(work, warehouse)
    before, listed = warehouse.read_bytes(), names(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(publishing, "replace_file", full)
        with pytest.raises(PublishError, match=r"could not be written and is as it was: .*No space left"):
            publish(work, warehouse)
    with pytest.raises(PublishError, match=r"marts.nothing is public but was not built"):
        publish_warehouse(
            work, warehouse, [*TABLES, PublicTable("marts", "nothing", ())], BUILD, ledger=tmp_path / "ledger"
        )
    assert warehouse.read_bytes() == before
    assert names(tmp_path) == listed


def test_a_file_that_lost_rows_is_not_published(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check reads the new file, so it finds what was changed behind the writer's back."""
    warehouse = tmp_path / "warehouse.duckdb"
    publish(work, warehouse)
    before = warehouse.read_bytes()
    check = publishing._check

    def after_a_loss(
        connection: duckdb.DuckDBPyConnection, new: Path, counts: dict[tuple[str, str], int]
    ) -> None:
        with duckdb.connect(str(new)) as elsewhere:
            elsewhere.execute("delete from marts.fct_words where word = ''")
        check(connection, new, counts)

    monkeypatch.setattr(publishing, "_check", after_a_loss)
    with pytest.raises(PublishError, match=r"does not hold all rows of marts.fct_words"):
        publish(work, warehouse)
    assert warehouse.read_bytes() == before


@pytest.mark.parametrize("moment", ["insert", "check", "replace"])
def test_killed_while_publishing(work: Path, tmp_path: Path, moment: str) -> None:
    """kill -9 half-way through the rows, before the check, and before the renaming: the old file, whole; then all goes well."""
    warehouse = tmp_path / "warehouse.duckdb"
    publish(work, warehouse)
    before = warehouse.read_bytes()
    make_work(work, "insert into marts.dim_runs select 'run-' || range, null, false from range(3, 300000)")
    marker = tmp_path / "reached"
    # The process waits at the moment, with the new file as far as it is by then.
    script = f"""
import sys, time
from pathlib import Path
from biasledger.publishing import warehouse as publishing
from tests.python.publishing.conftest import BUILD, TABLES
moments = {{"insert": "_describe", "check": "_check", "replace": "replace_file"}}
def wait(*_):
    Path({str(marker)!r}).touch()
    time.sleep(60)
setattr(publishing, moments[{moment!r}], wait)
publishing.publish_warehouse(Path({str(work)!r}), Path({str(warehouse)!r}), TABLES, BUILD, ledger=Path("ledger.duckdb"))
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}
    ) as process:
        deadline = time.monotonic() + 600
        while not marker.exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    assert any(name.startswith(".warehouse.new.duckdb") for name in names(tmp_path)), (
        "there is something to clear"
    )
    assert warehouse.read_bytes() == before
    assert rows_in(warehouse, "select count(*) from marts.dim_runs") == [(2,)]
    publish(work, warehouse)
    assert rows_in(warehouse, "select count(*) from marts.dim_runs") == [(299_999,)]
    assert names(tmp_path) == [".biasledger", "reached", "warehouse.duckdb"]
    assert names(work.parent) == ["warehouse.duckdb"]


def test_a_link_to_the_warehouse_stays_a_link(work: Path, tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    link = tmp_path / "warehouse.duckdb"
    link.symlink_to(tmp_path / "shared" / "tables.duckdb")
    publish(work, link)
    assert link.is_symlink()
    assert rows_in(tmp_path / "shared" / "tables.duckdb", "select count(*) from marts.dim_runs") == [(2,)]
