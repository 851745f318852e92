"""Test that a query only reads the published tables, and that an error is one sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from biasledger.cli import cli
from biasledger.querying.connection import locked_warehouse
from biasledger.querying.statements import run_statement
from collector.errors import BiasledgerError, InputError

TABLES = """
    create schema marts; create schema settings; create schema other;
    create table marts.fct_findings as select 'f' || i as finding_id, 'alarm' as status, i / 10 as value from range(20) t(i);
    create table marts.dim_runs as select 'run-1' as run_id, timestamp '2026-01-01' as started_at;
    create table settings.thresholds as select 'snsr' as measure, 0.1 as threshold;
    create table other.mine as select 42 as answer;
"""


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    path = tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES)
    return path


def ask(warehouse: Path, sql: str) -> list[tuple[object, ...]]:
    with locked_warehouse(warehouse) as connection:
        return list(run_statement(connection, sql).rows)


def refusal(warehouse: Path, sql: str) -> str:
    with pytest.raises(InputError) as caught:
        ask(warehouse, sql)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    "sql",
    [
        "select count(*) from fct_findings",
        "from fct_findings",
        "with one as (select 1 as a) select * from one",
        "describe fct_findings",
        "summarize dim_runs",
        "show tables",
        "pivot fct_findings on status using count(*)",
        "explain select 1",
        "values (1), (2)",
        "select threshold from thresholds",
        "select answer from mine",
        "select * from marts.fct_findings;",
        "-- a comment\nselect 1 -- another",
        "select list_transform([1, 2], lambda x: x + 1)",
        "select now()",
    ],
)
def test_what_reads_runs(warehouse: Path, sql: str) -> None:
    assert ask(warehouse, sql)


# sqlglot 30 does not read DuckDB's literals of bytes; DuckDB decides what runs.
def test_what_sqlglot_cannot_read_runs_where_duckdb_can(warehouse: Path) -> None:
    import sqlglot

    sql = "select x'00' as b"
    with pytest.raises(sqlglot.errors.SqlglotError):
        sqlglot.parse_one(sql, dialect="duckdb")
    assert ask(warehouse, sql) == [(b"\x00",)]


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("insert into fct_findings select * from fct_findings", "INSERT"),
        ("create table a as select 1", "CREATE"),
        ("create temp table a as select 1", "CREATE"),
        ("drop table fct_findings", "DROP"),
        ("delete from fct_findings", "DELETE"),
        ("update fct_findings set value = 0", "UPDATE"),
        ("copy fct_findings to 'out.csv'", "COPY"),
        ("attach 'other.duckdb'", "ATTACH"),
        ("install httpfs", "LOAD"),
        ("load json", "LOAD"),
        ("update extensions", "this statement"),
        ("pragma version", "PRAGMA"),
        ("call pragma_version()", "CALL"),
        ("set threads = 1", "SET"),
        ("prepare p as select 1", "PREPARE"),
        ("checkpoint", "CALL"),
        ("export database 'folder'", "EXPORT"),
        ("begin", "TRANSACTION"),
        ("vacuum", "VACUUM"),
    ],
)
def test_what_does_not_read_is_refused_before_it_runs(warehouse: Path, sql: str, kind: str) -> None:
    assert f"A query only reads: {kind} is refused" in refusal(warehouse, sql)
    assert ask(warehouse, "select count(*) from fct_findings") == [(20,)]


def test_a_file_is_refused_by_what_a_query_reads(warehouse: Path) -> None:
    """More of what is outside of the warehouse is in test_escapes.py."""
    for sql in ("select * from '{folder}/secret.csv'", "from read_parquet('https://127.0.0.1/x.parquet')"):
        said = refusal(warehouse, sql.format(folder=warehouse.parent))
        assert "a query reads the published tables alone" in said


def test_the_locks_cannot_be_opened_from_inside(warehouse: Path) -> None:
    import duckdb

    with locked_warehouse(warehouse) as connection:
        for sql in (
            "set enable_external_access = true",
            "set lock_configuration = false",
            "reset enable_external_access",
        ):
            with pytest.raises(duckdb.Error):
                connection.execute(sql)


def test_python_s_variables_are_no_tables(warehouse: Path) -> None:
    frame = duckdb.sql("select 1 as a").df()
    assert len(frame) == 1
    assert "There is no table 'frame'" in refusal(warehouse, "select * from frame")


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("select * from fct_finding", "There is no table 'fct_finding'; did you mean 'fct_findings'?"),
        ("select statuz from fct_findings", "There is no column 'statuz' in fct_findings; did you mean 'status'?"),
        ("select f.statuz from fct_findings as f", "There is no column 'statuz' in fct_findings; did you mean 'status'?"),
        ("select run from dim_runs", "There is no column 'run' in dim_runs; did you mean 'run_id'?"),
        ("select * from fct_regard_gaps", "it is one of the method markers, and no audit of that kind has been built."),
        ("from verdicts", "'verdicts': it was built by an older version, and `biasledger build` makes it."),
        ("from responses", "it is only there where the project's dbt_project.yml says `publish_texts: true`."),
        ("select * from int_words_units", "(staging and intermediate tables are not published)"),
        ("select 1; select 2", "The query has 2 statements and should have one."),
        ("-- nothing", "The query has no statements and should have one."),
        ("select 1,\n2 by c", 'The query cannot be run: syntax error at or near "by" (line 2, column 3).'),
        ("select foo(1)", "The query cannot be run: Scalar Function with name foo does not exist!"),
        ("select 'a", "unterminated"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence(warehouse: Path, sql: str, sentence: str) -> None:
    assert sentence in refusal(warehouse, sql)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.text(max_size=60))
def test_any_text_gives_rows_or_a_sentence(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.duckdb"
    if not path.exists():
        with duckdb.connect(str(path)) as connection:
            connection.execute(TABLES)
    try:
        ask(path, text)
        sentence = ""
    except InputError as error:
        sentence = str(error)
    assert "\n" not in sentence


def test_what_cannot_be_read_says_why(warehouse: Path, tmp_path: Path) -> None:
    def said(command: list[str], path: Path) -> str:
        done = CliRunner().invoke(cli, [*command, "--warehouse", str(path)])
        assert done.exit_code == 3
        assert "unexpected" not in done.output
        return " ".join(done.output.split())

    cut = tmp_path / "cut.duckdb"
    # Its headers alone, which name blocks that are not there.
    cut.write_bytes(warehouse.read_bytes()[:12_288])
    ledger = tmp_path / "ledger.duckdb"
    with duckdb.connect(str(ledger)) as connection:
        connection.execute("create schema raw; create table raw.responses (run_id varchar)")
    hold = f"import duckdb, time; c = duckdb.connect({str(warehouse)!r}); print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        locked = [said(command, warehouse) for command in (["query", "select 1"], ["check"])]
        holder.kill()
    assert all(f"in use by process {holder.pid} (" in one and "close it there" in one for one in locked)
    for command in (["query", "select 1"], ["check"], ["findings"]):
        assert "cut off" in said(command, cut)
        assert "is a ledger and no warehouse" in said(command, ledger)


def test_a_warehouse_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no warehouse at"):
        ask(tmp_path / "none.duckdb", "select 1")
    (tmp_path / "text.duckdb").write_text("this is no database, however long it is" * 200)
    with pytest.raises(BiasledgerError, match="cannot be read"):
        ask(tmp_path / "text.duckdb", "select 1")
    with duckdb.connect(str(tmp_path / "empty.duckdb")):
        pass
    with pytest.raises(BiasledgerError, match="holds no published tables"):
        ask(tmp_path / "empty.duckdb", "select 1")
