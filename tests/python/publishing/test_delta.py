"""Test the public tables as Delta tables, read by deltalake and by DuckDB."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from deltalake import DeltaTable, write_deltalake

from biasledger.publishing.delta import publish_delta
from biasledger.publishing.published import open_published
from biasledger.publishing.warehouse import publish_warehouse
from collector.errors import InputError
from tests.python.publishing.conftest import BUILD, TABLES


def publish(work: Path, folder: Path, build_id: str, tables: int = 3) -> int:
    warehouse = folder.parent / f"{build_id}.duckdb"
    build = replace(BUILD, build_id=build_id)
    publish_warehouse(work, warehouse, TABLES[:tables], build, ledger=folder.parent / "ledger.duckdb")
    with open_published(warehouse) as published:
        return publish_delta(published, folder)


def test_each_build_is_a_version_and_older_ones_stay(work: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    assert publish(work, lake, "build-1") == 6
    with duckdb.connect(str(work)) as connection:
        expected = connection.sql("from marts.fct_words order by all").fetchall()
        connection.execute("delete from marts.fct_words where run_id = 'run-1'")
        connection.execute(
            "alter table marts.fct_words add column counted ubigint default 18446744073709551615"
        )
        connection.execute("insert into marts.fct_words by name select 'run-3' as run_id, 'new' as word")
    publish(work, lake, "build-2")
    publish(work, lake, "build-2")

    place = lake / "delta/fct_words"
    new, old = DeltaTable(place), DeltaTable(place, version=0)
    assert new.version() == 1
    assert [commit["biasledger.build_id"] for commit in new.history()] == ["build-2", "build-1"]
    files = old.file_uris()
    assert str(duckdb.sql(f"from read_parquet({files}) order by all").fetchall()) == str(expected)
    rows = duckdb.sql(f"select distinct run_id, counted from read_parquet({new.file_uris()}) order by all")
    assert [(run, int(counted)) for run, counted in rows.fetchall()] == [
        ("run-2", 2**64 - 1),
        ("run-3", 2**64 - 1),
    ]
    assert (
        DeltaTable(lake / "delta/dim_runs").metadata().description
        == """Grain: run. An auditor's list; "quoted"."""
    )

    publish(work, lake, "build-3", tables=1)
    assert DeltaTable(place).file_uris() == []
    assert DeltaTable(lake / "delta/dim_runs").version() == 2


def test_a_delta_table_of_others_stays(work: Path, tmp_path: Path) -> None:
    place = tmp_path / "lake/delta/fct_words"
    place.mkdir(parents=True)
    write_deltalake(place, duckdb.sql("select 1 as n"))
    with pytest.raises(InputError, match="biasledger did not publish"):
        publish(work, tmp_path / "lake", "build-1")
    assert DeltaTable(place).version() == 0
    assert not place.with_name("dim_runs").exists()
