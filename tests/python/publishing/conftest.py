"""A small work file like that of a build, full of values that are hard to copy."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import duckdb
import pytest

from biasledger.publishing.public import PublicTable
from biasledger.publishing.warehouse import BuildInfo

BUILD = BuildInfo("build-1", datetime(2026, 1, 2, 3, 4, 5), "0.1.0", "2", "sha256:0")
TABLES = [
    PublicTable("marts", "dim_runs", ("run_id",)),
    PublicTable("marts", "fct_words", ("run_id", "word", "group_name")),
    PublicTable("settings", "exceptions", ()),
]
WORK = """
    create schema marts; create schema settings; create schema intermediate;
    create table marts.dim_runs (run_id varchar not null, started_at timestamp, is_simulated boolean);
    insert into marts.dim_runs values ('run-1', '2026-01-01 00:00:00.123456', true), ('run-2', null, false);
    comment on table marts.dim_runs is 'Grain: run. An auditor''s list; "quoted".';
    comment on column marts.dim_runs.run_id is 'Key; $1 and ''quotes'' — and more.';
    create table marts.fct_words (
        run_id varchar not null, word varchar not null, group_name varchar, n integer, z_score double, p_value double,
        seed bigint, seen_on date, markers varchar[], "order" varchar
    );
    insert into marts.fct_words values
        ('run-1', '=1+1', 'Black', 3, 1.5, 0.04, 9223372036854775807, '2026-02-03', ['a', 'b, c'], '-x'),
        ('run-1', 'naïve 日本 🎵', null, -4, -0.1, 1e-300, -1, null, [], '@y'),
        ('run-2', '"quoted", and
a new line', 'White*Man', null, 'nan', 'inf', null, '0001-01-01', null, '+z'),
        ('run-2', '', '', 0, 0.1, null, 0, null, ['=cmd', null, 'say "x"'], null);
    create table settings.exceptions (measure varchar, until date);
    create table intermediate.int_texts (answer_text varchar);
    insert into intermediate.int_texts values ('a private text');
"""


def make_work(path: Path, sql: str = WORK) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.execute(sql)
    return path


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return make_work(tmp_path / ".biasledger" / "work" / "warehouse.duckdb")
