"""Attempts to leave `biasledger query`: to read files, other databases, the environment and Python, to load code, to write."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from unittest import mock

import duckdb
from click.testing import CliRunner

from benchmarks.attacks import Attack
from biasledger.cli import cli

# What must not come out, wherever it is looked for.
_SECRET = "quince-7731-secret"  # planted to be looked for
secret_variable = [_SECRET]
# {folder} holds a secret in secret.csv, .json, .parquet and other.duckdb; a statement that is none in DuckDB is refused as well.
_READING = (
    "select * from read_csv('{folder}/secret.csv')",
    "select * from read_csv_auto(['{folder}/secret.csv'])",
    "from '{folder}/secret.csv'",
    'from "{folder}/secret.csv"',
    "from '{folder}/secret.json'",
    "from '{folder}/secret.parquet'",
    "from '{folder}/*.csv'",
    "from '{folder}/other.duckdb'",
    "select * from read_text('{folder}/secret.csv')",
    "select content from read_blob('{folder}/secret.csv')",
    "select * from read_parquet('{folder}/secret.parquet')",
    "select * from parquet_scan('{folder}/secret.parquet')",
    "select * from parquet_metadata('{folder}/secret.parquet')",
    "select * from parquet_schema('{folder}/secret.parquet')",
    "select * from parquet_kv_metadata('{folder}/secret.parquet')",
    "select * from read_json('{folder}/secret.json')",
    "select * from read_json_objects('{folder}/secret.json')",
    "select * from read_ndjson('{folder}/secret.json')",
    "select * from sniff_csv('{folder}/secret.csv')",
    "select * from glob('{folder}/*')",
    "describe select * from read_csv('{folder}/secret.csv')",
    "describe '{folder}/secret.csv'",
    "summarize '{folder}/secret.csv'",
    "summarize select * from '{folder}/secret.csv'",
    "explain analyze select * from read_csv('{folder}/secret.csv')",
    "pivot '{folder}/secret.csv' on secret",
    "unpivot '{folder}/secret.csv' on secret into name n value v",
    "with t as (from read_text('{folder}/secret.csv')) select content from t",
    "select (select content from read_text('{folder}/secret.csv'))",
    "select * from fct_findings where status in (select secret from '{folder}/secret.csv')",
    "select * from fct_findings, lateral (select * from read_text('{folder}/secret.csv'))",
    "select * from query('from read_csv(''{folder}/secret.csv'')')",
    "select * from query_table('{folder}/secret.csv')",
    "select * from query_table(['{folder}/secret.csv'])",
    "from fct_findings union all by name from '{folder}/secret.csv'",
    "select error('x') from read_csv('{folder}/secret.csv')",
    "select cast(content as int) from read_text('{folder}/secret.csv')",
    "values ((from read_text('{folder}/secret.csv') select content))",
    "show tables from '{folder}/other.duckdb'",
    "table '{folder}/secret.csv'",
    "select * from json_execute_serialized_sql(json_serialize_sql('from read_csv(''{folder}/secret.csv'')'))",
    "from json_execute_serialized_sql((select json_serialize_sql('from ''{folder}/secret.csv''')))",
    "select * from read_duckdb('{folder}/other.duckdb', table_name = 'secret')",
)
_SURROUNDINGS = (
    "select getenv('ATTACK_SECRET')",
    "select * from read_text('/proc/self/environ')",
    "select * from read_blob('/proc/self/cmdline')",
    "select * from '/etc/passwd'",
    "from secret_variable",
    "select * from secret_variable",
    "from duckdb_secrets()",
    "select * from which_secret('s3://x', 's3')",
    "select getvariable('secret_variable')",
    "select * from duckdb_temporary_files()",
    "select * from duckdb_logs()",
    "select * from read_text('file:///proc/self/environ')",
    "select * from python_scan_all_frames",
    "select * from pandas_scan(1)",
    "select * from arrow_scan(1, 1, 1)",
    "select * from seq_scan('secret')",
)
_OTHER_DATABASES = (
    "attach '{folder}/other.duckdb' as other",
    "attach '{folder}/other.duckdb' (read_only)",
    "attach ':memory:' as scratch",
    "attach if not exists '{folder}/other.duckdb' as other",
    "attach 'postgres://localhost/x' as other (type postgres)",
    "attach '{folder}/secret.csv' as other (type sqlite)",
    "detach warehouse",
    "use memory",
    "use warehouse.main",
    "from other.main.secret",
    "select 1; attach '{folder}/other.duckdb' as other; from other.secret",
    "attach '{folder}/other.duckdb' as other; from other.secret",
    "import database '{folder}'",
    "call pragma_database_list()",
    "select * from sqlite_scan('{folder}/other.duckdb', 'secret')",
    "select * from postgres_scan('host=localhost', 'public', 'secret')",
    "select * from postgres_query('x', 'select 1')",
    "select * from mysql_query('x', 'select 1')",
)
_CODE = (
    "install httpfs",
    "force install httpfs from community",
    "load httpfs",
    "load '{folder}/evil.duckdb_extension'",
    "install '{folder}/evil.duckdb_extension'",
    "update extensions",
    "select * from read_csv('https://localhost:1/secret.csv')",
    "from 's3://bucket/secret.parquet'",
    "from 'https://localhost:1/secret.parquet'",
    "from read_text('http://127.0.0.1:1/x')",
    "select * from shell('cat {folder}/secret.csv')",
    "select * from iceberg_scan('{folder}')",
    "select * from delta_scan('{folder}')",
    "select * from st_read('{folder}/secret.csv')",
    "create secret s (type s3, key_id 'x', secret 'y')",
    "create persistent secret s (type s3)",
    "create macro m() as table from read_csv('{folder}/secret.csv')",
    "create function f(x) as getenv(x)",
    "pragma add_parquet_key('k', '0123456789112345')",
)
_WRITING = (
    "copy (select 1) to '{folder}/out.csv'",
    "copy fct_findings to '{folder}/out.parquet'",
    "copy fct_findings from '{folder}/secret.csv'",
    "copy (select 1) to '/dev/stdout'",
    "explain analyze copy (select 1) to '{folder}/out.csv'",
    "export database '{folder}/out'",
    "copy from database warehouse to memory",
    "insert into fct_findings values ('forged', 'clear')",
    "explain analyze insert into fct_findings values ('forged', 'clear')",
    "update fct_findings set status = 'clear'",
    "explain analyze update fct_findings set status = 'clear'",
    "delete from fct_findings",
    "truncate fct_findings",
    "drop table fct_findings",
    "alter table fct_findings add column x int",
    "create table t as select 1",
    "create temp table t as select 1",
    "create view warehouse.marts.v as select 1",
    "create or replace table fct_findings as select 1 as a",
    "merge into fct_findings using (select 1 as x) on false when not matched then insert values ('f', 'c')",
    "checkpoint",
    "force checkpoint warehouse",
    "vacuum",
    "analyze",
    "begin transaction",
    "commit",
    "comment on table fct_findings is 'forged'",
    "set enable_external_access = true",
    "reset enable_external_access",
    "set global enable_external_access = true",
    "set lock_configuration = false",
    "reset lock_configuration",
    "set allow_unsigned_extensions = true",
    "set log_query_path = '{folder}/out.log'",
    "pragma enable_profiling",
    "pragma profiling_output = '{folder}/out.json'",
    "set profiling_output = '{folder}/out.json'",
    "set allowed_directories = ['{folder}']",
    "set temp_directory = '{folder}/out'",
    "set home_directory = '{folder}'",
    "set variable x = 1",
    "call enable_logging(storage = 'file', storage_config = {{'path': '{folder}/out'}})",
    "prepare p as select 1",
    "execute p",
    "select 1; select 2",
    "select 1; drop table fct_findings",
    "with x as (delete from fct_findings returning *) from x",
    "select * from query('drop table fct_findings')",
    "select * from query('copy (select 1) to ''{folder}/out.csv''')",
)


def _planted(folder: Path) -> None:
    """A warehouse with one finding, and beside it what a query must not see."""
    with duckdb.connect(str(folder / "warehouse.duckdb")) as connection:
        connection.execute("create schema marts")
        connection.execute("create table marts.fct_findings as select 'f1' as finding_id, 'alarm' as status")
    with duckdb.connect(str(folder / "other.duckdb")) as connection:
        connection.execute(f"create table secret as select '{_SECRET}' as secret")
        for name in ("secret.csv", "secret.json", "secret.parquet"):
            connection.execute(f"copy secret to '{folder / name}'")
    (folder / "evil.duckdb_extension").write_text(_SECRET, encoding="utf-8")


def _state(folder: Path) -> Mapping[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _out(statements: Sequence[str], *, is_refused: bool) -> Callable[[int, Path], str | None]:
    """A trial that runs one of the statements, each in turn."""

    def trial(seed: int, folder: Path) -> str | None:
        _planted(folder)
        sql = statements[seed % len(statements)].format(folder=folder)
        before = _state(folder)
        with mock.patch.dict(os.environ, {"ATTACK_SECRET": _SECRET}):
            result = CliRunner().invoke(
                cli, ["query", sql, "--warehouse", str(folder / "warehouse.duckdb"), "--format", "csv"]
            )
        told = result.output.replace(sql, "")
        if _SECRET in told or "root:" in told:
            return f"{sql!r} gave what it must not"
        if _state(folder) != before:
            return f"{sql!r} left something in files"
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            return f"{sql!r} ended with {type(result.exception).__name__}"
        if is_refused and result.exit_code == 0:
            return f"{sql!r} was not refused"
        return None

    return trial


def _reads_its_own(_seed: int, folder: Path) -> str | None:
    _planted(folder)
    result = CliRunner().invoke(
        cli,
        ["query", "from fct_findings", "--warehouse", str(folder / "warehouse.duckdb"), "--format", "csv"],
    )
    return None if "f1,alarm" in result.output else f"a query of the tables gave {result.output!r}"


def _over_a_link(_seed: int, folder: Path) -> str | None:
    """The warehouse's own name as a link to a file that is none."""
    _planted(folder)
    (folder / "warehouse.duckdb").unlink()
    (folder / "warehouse.duckdb").symlink_to(folder / "secret.csv")
    result = CliRunner().invoke(
        cli, ["query", "from fct_findings", "--warehouse", str(folder / "warehouse.duckdb")]
    )
    if _SECRET in result.output or result.exit_code == 0:
        return "a file that is no warehouse was read"
    shutil.copyfile(folder / "other.duckdb", folder / "copy.duckdb")
    result = CliRunner().invoke(cli, ["query", "from secret", "--warehouse", str(folder / "copy.duckdb")])
    return "another database was read" if _SECRET in result.output or result.exit_code == 0 else None


def _escape(name: str, statements: Sequence[str], *, is_refused: bool = True) -> Attack:
    trial = _out(statements, is_refused=is_refused)
    return Attack("", f"query: {name}", "escapes", len(statements), "held", trial)


ATTACKS: tuple[Attack, ...] = (
    Attack("", "query: the published tables, which it may read", "escapes", 1, "read", _reads_its_own),
    _escape("files read", _READING),
    _escape("the environment, the system and Python read", _SURROUNDINGS, is_refused=False),
    _escape("other databases attached", _OTHER_DATABASES),
    _escape("extensions loaded, the network reached, functions made", _CODE),
    _escape("written, set or made", _WRITING),
    Attack("", "query: what is no warehouse", "escapes", 1, "held", _over_a_link),
)
