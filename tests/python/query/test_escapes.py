"""Queries that try to read, load or write something outside the published tables: nothing comes out or is left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

from biasledger.cli import cli
from biasledger.querying.connection import locked_warehouse
from biasledger.querying.statements import run_statement
from collector.errors import BiasledgerError

SECRET = "quince-7731-secret"
secret_variable = [SECRET]
# {0}: a folder that holds secret.csv, .json, .parquet and other.duckdb.
FILES = """
from '{0}/secret.csv'
from "{0}/secret.csv"
from '{0}/*.csv'
from '{0}/secret.json'
from '{0}/other.duckdb'
from read_csv_auto(['{0}/secret.csv'])
from read_blob('{0}/secret.csv')
from parquet_scan('{0}/secret.parquet')
from read_parquet('https://127.0.0.1/x.parquet')
from parquet_metadata('{0}/secret.parquet')
from parquet_kv_metadata('{0}/secret.parquet')
from read_ndjson('{0}/secret.json')
from read_json_objects('{0}/secret.json')
from sniff_csv('{0}/secret.csv')
from glob('{0}/*')
from read_duckdb('{0}/other.duckdb', table_name = 'secret')
describe select * from read_csv('{0}/secret.csv')
summarize '{0}/secret.csv'
explain analyze select * from read_csv('{0}/secret.csv')
pivot '{0}/secret.csv' on secret
unpivot '{0}/secret.csv' on secret into name n value v
with t as (from read_text('{0}/secret.csv')) select content from t
select (select content from read_text('{0}/secret.csv'))
select * from fct_findings where status in (select secret from '{0}/secret.csv')
select * from fct_findings, lateral (select * from read_text('{0}/secret.csv'))
from query('from read_csv(''{0}/secret.csv'')')
from query_table(['{0}/secret.csv'])
from fct_findings union all by name from '{0}/secret.csv'
select cast(content as int) from read_text('{0}/secret.csv')
show tables from '{0}/other.duckdb'
table '{0}/secret.csv'
from json_execute_serialized_sql((select json_serialize_sql('from ''{0}/secret.csv''')))
"""
OTHER_DATABASES = """
attach '{0}/other.duckdb' as other (read_only)
attach ':memory:' as scratch
attach 'postgres://localhost/x' as other (type postgres)
attach '{0}/secret.csv' as other (type sqlite)
detach warehouse
use memory
from other.main.secret
select 1; attach '{0}/other.duckdb' as other; from other.secret
import database '{0}'
from sqlite_scan('{0}/other.duckdb', 'secret')
from postgres_query('x', 'select 1')
"""
CODE = """
force install httpfs from community
load '{0}/evil.duckdb_extension'
from 's3://bucket/secret.parquet'
from read_text('http://127.0.0.1:1/x')
from shell('cat {0}/secret.csv')
from iceberg_scan('{0}')
create persistent secret s (type s3)
create macro m() as table from read_csv('{0}/secret.csv')
pragma add_parquet_key('k', '0123456789112345')
"""
WRITING = """
copy fct_findings to '{0}/out.parquet'
copy fct_findings from '{0}/secret.csv'
copy (select 1) to '/dev/stdout'
/* a */ copy (select 1) to '{0}/out.csv'
explain analyze copy (select 1) to '{0}/out.csv'
explain analyze update fct_findings set status = 'clear'
explain analyze insert into fct_findings from fct_findings
export database '{0}/out'
copy from database warehouse to memory
truncate fct_findings
alter table fct_findings add column x int
create or replace table fct_findings as select 1 as a
create view warehouse.marts.v as select 1
merge into fct_findings using (select 1 as x) on false when not matched then insert values ('f', 'c')
with x as (delete from fct_findings returning *) from x
comment on table fct_findings is 'forged'
force checkpoint warehouse
set enable_external_access = true
reset lock_configuration
set allow_unsigned_extensions = true
set log_query_path = '{0}/out.log'
pragma profiling_output = '{0}/out.json'
set allowed_directories = ['{0}']
set temp_directory = '{0}/out'
set variable x = 1
call enable_logging(storage = 'file', storage_config = {{'path': '{0}/out'}})
execute p
select 1; drop table fct_findings
from query('drop table fct_findings')
from query('copy (select 1) to ''{0}/out.csv''')
"""
# Some of these are refused, others have no rows: what counts is what comes out.
SURROUNDINGS = """
select getenv('A_SECRET')
from read_text('/proc/self/environ')
from '/etc/passwd'
from secret_variable
from duckdb_secrets()
from which_secret('s3://x', 's3')
select getvariable('secret_variable')
from duckdb_temporary_files()
from duckdb_logs()
from python_scan_all_frames
from pandas_scan(1)
from arrow_scan(1, 1, 1)
from seq_scan('secret')
"""


@pytest.fixture
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A warehouse with one finding, next to files that a query must not read."""
    monkeypatch.setenv("A_SECRET", SECRET)
    path = tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create schema marts")
        connection.execute("create table marts.fct_findings as select 'f1' as finding_id, 'alarm' as status")
    with duckdb.connect(str(tmp_path / "other.duckdb")) as connection:
        connection.execute(f"create table secret as select '{SECRET}' as secret")
        for name in ("secret.csv", "secret.json", "secret.parquet"):
            connection.execute(f"copy secret to '{tmp_path / name}'")
    (tmp_path / "evil.duckdb_extension").write_text(SECRET, encoding="utf-8")
    return path


def answers(warehouse: Path, statements: str) -> Iterator[tuple[str, bool, str]]:
    """Each statement, whether it was refused, and all that it gave."""
    with locked_warehouse(warehouse) as connection:
        for line in statements.strip().splitlines():
            sql = line.format(warehouse.parent)
            try:
                yield sql, False, repr(list(run_statement(connection, sql).rows))
            except BiasledgerError as error:
                yield sql, True, str(error).replace(sql, "")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "statements", [FILES, OTHER_DATABASES, CODE, WRITING], ids=["files", "databases", "code", "writing"]
)
def test_what_leaves_the_published_tables_is_refused(warehouse: Path, statements: str) -> None:
    before = files(warehouse.parent)
    found = list(answers(warehouse, statements))
    assert [sql for sql, is_refused, _ in found if not is_refused] == []
    assert [sql for sql, _, given in found if SECRET in given] == []
    assert files(warehouse.parent) == before


def test_nothing_of_the_process_comes_out(warehouse: Path) -> None:
    before = files(warehouse.parent)
    given = [(sql, given) for sql, _, given in answers(warehouse, SURROUNDINGS)]
    assert [one for one in given if SECRET in one[1] or "root:" in one[1]] == []
    assert files(warehouse.parent) == before


def test_a_link_and_another_database_are_no_warehouse(warehouse: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.duckdb"
    link.symlink_to(tmp_path / "secret.csv")
    for path in (link, tmp_path / "other.duckdb"):
        result = CliRunner().invoke(cli, ["query", "from secret", "--warehouse", str(path)])
        assert result.exit_code != 0
        assert SECRET not in result.output
