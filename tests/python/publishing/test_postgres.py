"""Test publishing into PostgreSQL: the rows, concurrent readers, and objects that depend on the tables."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from adbc_driver_postgresql import dbapi
from adbc_driver_postgresql.dbapi import Error

from biasledger.publishing.postgres import PostgresSummary, publish_postgres
from biasledger.publishing.public import PublicTable
from biasledger.publishing.published import open_published
from biasledger.publishing.warehouse import PublishError, publish_warehouse
from collector.errors import InputError
from tests.python.publishing.conftest import BUILD, TABLES, make_work
from tests.python.publishing.postgres_server import (
    PASSWORD,
    QUOTED_PASSWORD,
    PostgresServer,
    postgres_server,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with postgres_server() as running:
        yield running


class Database:
    """A database of its own for a test."""

    def __init__(self, uri: str) -> None:
        self.uri = uri

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with dbapi.connect(self.uri) as connection, connection.cursor() as cursor:
            cursor.execute(query)
            return list(cursor.fetchall())

    def do(self, *statements: str) -> None:
        with dbapi.connect(self.uri, autocommit=True) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)


@pytest.fixture
def database(server: PostgresServer, request: pytest.FixtureRequest) -> Database:
    name = "".join(letter if letter.isalnum() else "_" for letter in request.node.name)[:60].lower()
    Database(server.uri()).do(f"create database {name}")
    return Database(server.uri(name))


class Warehouse:
    """A published warehouse that can be changed and published again."""

    def __init__(self, work: Path, path: Path) -> None:
        self.work, self.path, self.tables = work, path, list(TABLES)
        self.publish()

    def change(self, sql: str) -> None:
        make_work(self.work, sql)
        self.publish()

    def publish(self) -> None:
        publish_warehouse(self.work, self.path, self.tables, BUILD, ledger=self.path.with_name("ledger"))

    def to(self, database: Database, **options: Any) -> PostgresSummary:
        with open_published(self.path) as published:
            return publish_postgres(published, database.uri, **options)


@pytest.fixture
def warehouse(work: Path, tmp_path: Path) -> Warehouse:
    return Warehouse(work, tmp_path / "warehouse.duckdb")


def test_types_comments_keys_and_every_value(warehouse: Warehouse, database: Database) -> None:
    done = warehouse.to(database)
    assert (done.schema, done.n_tables, done.n_rows) == ("biasledger", 3, 6)
    types = database.rows(
        "select column_name, format_type(atttypid, atttypmod), is_nullable from information_schema.columns"
        " join pg_attribute on attrelid = 'biasledger.fct_words'::regclass and attname = column_name"
        " where table_schema = 'biasledger' and table_name = 'fct_words' order by ordinal_position"
    )
    assert types == [
        ("run_id", "text", "NO"),
        ("word", "text", "NO"),
        ("group_name", "text", "YES"),
        ("n", "integer", "YES"),
        ("z_score", "double precision", "YES"),
        ("p_value", "double precision", "YES"),
        ("seed", "bigint", "YES"),
        ("seen_on", "date", "YES"),
        ("markers", "text[]", "YES"),
        ("order", "text", "YES"),
    ]
    rows = database.rows("select * from biasledger.fct_words order by run_id desc, word, n")
    assert rows == [
        ("run-2", "", "", 0, 0.1, None, 0, None, ["=cmd", None, 'say "x"'], None),
        ("run-2", '"quoted", and\na new line', "White*Man", None, rows[1][4], math.inf, None, date(1, 1, 1), None, "+z"),
        ("run-1", "=1+1", "Black", 3, 1.5, 0.04, 9223372036854775807, date(2026, 2, 3), ["a", "b, c"], "-x"),
        ("run-1", "naïve 日本 🎵", None, -4, -0.1, 1e-300, -1, None, [], "@y"),
    ]  # fmt: skip
    assert math.isnan(rows[1][4])
    assert database.rows("select started_at from biasledger.dim_runs order by 1") == [
        (datetime(2026, 1, 1, 0, 0, 0, 123456),),
        (None,),
    ]
    comments = "select obj_description('biasledger.dim_runs'::regclass), col_description('biasledger.dim_runs'::regclass, 1)"
    assert database.rows(comments) == [
        ("""Grain: run. An auditor's list; "quoted".""", "Key; $1 and 'quotes' — and more.")
    ]
    keys = (
        "select conrelid::regclass::text, pg_get_constraintdef(oid) from pg_constraint where contype in ('p', 'u')"
        " and connamespace = 'biasledger'::regnamespace order by 1"
    )
    assert database.rows(keys) == [
        ("biasledger.dim_runs", "PRIMARY KEY (run_id)"),
        # A group may be null there, which a primary key would not let be.
        ("biasledger.fct_words", "UNIQUE NULLS NOT DISTINCT (run_id, word, group_name)"),
        ("biasledger.published_tables", "PRIMARY KEY (table_name)"),
    ]
    assert database.rows("select build_id, engine_version, built_at from biasledger.published_build") == [
        ("build-1", "2", BUILD.built_at)
    ]
    assert database.rows("select table_name, n_rows from biasledger.published_tables order by 1") == [
        ("dim_runs", 2),
        ("exceptions", 0),
        ("fct_words", 4),
    ]


def test_types_that_only_a_user_s_own_models_have(warehouse: Warehouse, database: Database) -> None:
    warehouse.tables.append(PublicTable("main", "mine", ()))
    warehouse.change(
        """
        create table mine as select
            1::tinyint as tiny, 2::ubigint as huge, 1.25::decimal(10, 2) as price, 1.5::float as small,
            [1, 2]::bigint[] as numbers,
            {'a': [1, 2], 'b': 'say "x"'} as record, map {'k': 1} as pairs, '{"z": [1]}'::json as document,
            [[1], [2, 3]] as nested, 'x'::enum ('x', 'y') as letter, 'ab'::blob as bytes, '01:02:03'::time as at,
            '2026-01-01 00:00:00+00'::timestamptz as moment, '2026-01-02'::timestamp_s as second,
            'a' || chr(0) || 'b' as nul, ['a' || chr(0)] as nuls, uuid '11111111-2222-3333-4444-555555555555' as id
        """
    )
    warehouse.to(database)
    query = """
        select tiny, huge::text, price::text, small, numbers, record ->> 'b', pairs ->> 'k', document -> 'z' ->> 0,
            nested -> 1 ->> 1, letter, bytes, at::text, moment at time zone 'UTC', second, nul, nuls, id
        from biasledger.mine
    """
    assert database.rows(query) == [
        (1, "2", "1.25", 1.5, [1, 2], 'say "x"', "1", "1", "3", "x", b"ab", "01:02:03", datetime(2026, 1, 1),
         datetime(2026, 1, 2), "a\ufffdb", ["a\ufffd"], "11111111-2222-3333-4444-555555555555")
    ]  # fmt: skip


def test_a_reader_sees_the_old_rows_or_the_new_ones_and_never_none(
    warehouse: Warehouse, database: Database
) -> None:
    """One reader asks again and again; another asks twice in one transaction, in which nothing may change."""
    warehouse.change("insert into marts.dim_runs select 'old-' || range, null, false from range(50000)")
    warehouse.to(database)
    query = "select count(*), min(run_id) from biasledger.dim_runs where run_id not like 'run-%'"
    old, new = (50_000, "old-0"), (80_000, "new-0")
    warehouse.change(
        "delete from marts.dim_runs where run_id like 'old-%'; alter table marts.dim_runs add column note varchar;"
        "insert into marts.dim_runs select 'new-' || range, null, false, 'n' from range(80000)"
    )
    seen: list[tuple[Any, ...]] = []
    begun, done = threading.Event(), threading.Event()

    def read() -> None:
        with dbapi.connect(database.uri, autocommit=True) as connection, connection.cursor() as cursor:
            while not done.is_set() or seen[-1] != new:
                cursor.execute(query)
                seen.append(cursor.fetchone())
                begun.set()

    # Its transaction began before, and has not looked at the table yet.
    with dbapi.connect(database.uri, autocommit=True) as patient, patient.cursor() as cursor:
        cursor.execute("begin isolation level repeatable read")
        cursor.execute("select 1")
        reader = threading.Thread(target=read)
        reader.start()
        assert begun.wait(600)
        warehouse.to(database)
        done.set()
        reader.join(600)
        assert not reader.is_alive()
        cursor.execute(query)
        assert cursor.fetchone() == old
        cursor.execute("commit")
        cursor.execute(query)
        assert cursor.fetchone() == new
    assert set(seen) == {old, new}
    assert len(seen) > 3
    assert seen == sorted(seen), "the old ones first, then the new ones"


def test_views_grants_and_indexes_of_others_live_on(warehouse: Warehouse, database: Database) -> None:
    warehouse.to(database)
    database.do(
        "create role analyst",
        "grant select on biasledger.fct_words to analyst",
        "create view public.strong as select word, z_score from biasledger.fct_words where n > 0",
        "create index by_word on biasledger.fct_words (word)",
    )
    before = database.rows("select 'biasledger.fct_words'::regclass::oid")
    warehouse.change("update marts.fct_words set n = 7; update marts.fct_words set z_score = 2.5")
    warehouse.to(database)
    assert database.rows("select 'biasledger.fct_words'::regclass::oid") == before
    assert database.rows("select count(*), max(z_score) from public.strong") == [(4, 2.5)]
    assert database.rows("select has_table_privilege('analyst', 'biasledger.fct_words', 'select')") == [
        (True,)
    ]
    assert database.rows("select count(*) from pg_indexes where indexname = 'by_word'") == [(1,)]


def test_changed_columns_and_keys(warehouse: Warehouse, database: Database) -> None:
    warehouse.to(database)
    database.do("create view public.words as select run_id, word from biasledger.fct_words")
    warehouse.tables[1] = PublicTable("marts", "fct_words", ("run_id", "word"))
    warehouse.change(
        """
        create or replace table marts.fct_words as
            select word, run_id, cast(n as double) as n, 'new' as note, group_name, markers from marts.fct_words;
        comment on column marts.fct_words.note is 'New.';
        """
    )
    warehouse.to(database)
    columns = database.rows(
        "select attname, format_type(atttypid, atttypmod), attnotnull, col_description(attrelid, attnum) from pg_attribute"
        " where attrelid = 'biasledger.fct_words'::regclass and attnum > 0 and not attisdropped order by attname"
    )
    assert columns == [
        ("group_name", "text", False, None),
        ("markers", "text[]", False, None),
        ("n", "double precision", False, None),
        ("note", "text", False, "New."),
        ("run_id", "text", False, None),
        ("word", "text", False, None),
    ]
    assert database.rows("select n, note, markers from biasledger.fct_words where word = '=1+1'") == [
        (3.0, "new", ["a", "b, c"])
    ]
    assert database.rows(
        "select pg_get_constraintdef(oid) from pg_constraint where conrelid = 'biasledger.fct_words'::regclass"
    ) == [("UNIQUE NULLS NOT DISTINCT (run_id, word)",)]
    assert database.rows("select count(*) from public.words") == [(4,)]


def test_a_view_on_a_column_that_is_gone_is_named_and_nothing_is_changed(
    warehouse: Warehouse, database: Database
) -> None:
    warehouse.to(database)
    database.do("create view public.scores as select z_score from biasledger.fct_words")
    before = database.rows("select * from biasledger.dim_runs order by 1")
    warehouse.change(
        "insert into marts.dim_runs values ('run-9', null, true); alter table marts.fct_words drop column z_score"
    )
    with pytest.raises(
        PublishError,
        match=r"^Nothing was changed in schema biasledger of .*: a column has changed, and view scores depends on column "
        r"z_score of table biasledger.fct_words; drop it and create it again, or publish into another schema\.$",
    ):
        warehouse.to(database)
    assert database.rows("select * from biasledger.dim_runs order by 1") == before
    warehouse.to(database, schema="other")
    assert database.rows("select count(*) from other.dim_runs") == [(3,)]


def test_tables_that_are_public_no_longer(warehouse: Warehouse, database: Database) -> None:
    warehouse.to(database)
    database.do(
        "create view public.words as select word from biasledger.fct_words",
        "create table biasledger.notes_of_others (note text)",
    )
    warehouse.tables = TABLES[:1]
    warehouse.publish()
    notes: list[str] = []
    warehouse.to(database, on_note=notes.append)
    assert notes == [
        "biasledger.fct_words is no longer published; it stays, empty, because view words depends on table biasledger.fct_words."
    ]
    tables = "select relname from pg_class where relnamespace = 'biasledger'::regnamespace and relkind = 'r' order by 1"
    left = ["dim_runs", "fct_words", "notes_of_others", "published_build", "published_tables"]
    assert [name for (name,) in database.rows(tables)] == left
    assert database.rows("select count(*) from public.words") == [(0,)]
    # Once it is published again, it is filled again.
    warehouse.tables = list(TABLES)
    warehouse.publish()
    warehouse.to(database)
    assert database.rows("select count(*) from public.words") == [(4,)]


def test_tables_of_others_are_not_touched(warehouse: Warehouse, database: Database) -> None:
    database.do(
        "create schema biasledger", "create view biasledger.dim_runs as select 1 as one", "create schema theirs",
        "create table theirs.published_tables (table_name text)", "create table theirs.fct_words (word text)",
        "insert into theirs.fct_words values ('theirs')",
    )  # fmt: skip
    for schema, name in (("biasledger", "dim_runs"), ("theirs", "fct_words")):
        with pytest.raises(InputError, match=f"The schema {schema} holds a table or view {name}, which no"):
            warehouse.to(database, schema=schema)
    assert database.rows("select word from theirs.fct_words") == [("theirs",)]
    assert database.rows("select one from biasledger.dim_runs") == [(1,)]


def test_two_publications_at_once(warehouse: Warehouse, database: Database) -> None:
    warehouse.to(database)
    with dbapi.connect(database.uri) as other, other.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(hashtextextended('biasledger publish biasledger', 0))")
        with pytest.raises(InputError, match="Another `biasledger publish` writes into schema biasledger"):
            warehouse.to(database)
    warehouse.to(database)


def test_a_key_too_long_for_an_index(warehouse: Warehouse, database: Database) -> None:
    warehouse.change(
        "insert into marts.fct_words (run_id, word, n) select 'run-1', string_agg(md5(range::varchar), ''), 1 from range(300)"
    )
    notes: list[str] = []
    assert warehouse.to(database, on_note=notes.append).n_rows == 7
    assert notes == [
        "fct_words gets no primary key: the text in one is 9,605 bytes long, more than an index can hold."
    ]


def test_rights(warehouse: Warehouse, server: PostgresServer, database: Database) -> None:
    database.do(f"create role guest login password '{PASSWORD}'")
    guest = Database(database.uri.replace("//owner:", "//guest:"))
    with pytest.raises(PublishError, match=r"permission denied .* needs the right to create the schema"):
        warehouse.to(guest)
    name = database.rows("select current_database()")[0][0]
    database.do(f"grant create on database {name} to guest")
    assert warehouse.to(guest).n_tables == 3
    database.do("drop owned by guest", "drop role guest")


def test_nothing_is_written_among_what_postgresql_says_of_itself(
    warehouse: Warehouse, database: Database
) -> None:
    for schema in ("pg_catalog", "PG_new", "Information_Schema"):
        with pytest.raises(InputError, match=f"'{schema}' is a schema of PostgreSQL itself"):
            warehouse.to(database, schema=schema)


def test_passwords_are_never_shown(
    warehouse: Warehouse, server: PostgresServer, capfd: pytest.CaptureFixture[str]
) -> None:
    secret = "hunter2"
    uris = [
        server.uri(user="stranger"),
        server.uri(database="nowhere"),
        f"postgresql://u:{secret}@127.0.0.1:1/x",
        f"postgresql://u:{secret}@127.0.0.1:99999/x",
        f"postgresql://u:{secret} {secret}@127.0.0.1/x",
        f"postgresql://u:{secret}%zz@127.0.0.1/x",
        f"postgresql://u:@{secret}@127.0.0.1:1/x",
        f"postgresql://u:{secret}@[::1/x",
        f"postgresql:///x?host=/none&password={secret}",
        f"postgresql:///x?host=/none&passwrd={secret}&sslpassword={secret}",
        f"postgresql://u:{secret}@/x?host=/none&nonsense={secret}",
    ]
    for uri in uris:
        with pytest.raises((PublishError, InputError)) as raised:
            warehouse.to(Database(uri))
        sentence = str(raised.value)
        assert sentence.endswith(".")
        for text in (secret, PASSWORD, QUOTED_PASSWORD):
            assert text not in sentence, sentence
        assert raised.value.__cause__ is None
    summary = warehouse.to(Database(server.uri()))
    assert QUOTED_PASSWORD not in repr(summary)
    assert secret not in "".join(capfd.readouterr())


def test_the_server_is_a_real_one_and_not_root_s(database: Database) -> None:
    assert database.rows("select split_part(version(), ' ', 1)") == [("PostgreSQL",)]
    with pytest.raises(Error):
        Database(database.uri.replace(QUOTED_PASSWORD, "wrong")).rows("select 1")
