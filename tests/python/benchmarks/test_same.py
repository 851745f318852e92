"""Test the row-by-row comparison of two warehouses, which ignores the id of the build."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

from benchmarks.__main__ import main
from benchmarks.processes import BenchmarkError
from benchmarks.same import differences

TABLES = (
    "create schema marts",
    "create table marts.fct_findings as select 'f' as finding_id, 0.1::double + 0.2::double as value, ['a', 'b'] as family",
    "create table marts.fct_builds as select 'b1' as build_id, 3 as n_runs, timestamp '2026-01-01' as built_at",
    """
    create table marts.fct_finding_history as
    select *, timestamp '2026-01-01' as built_at
    from (values ('f', 'b1', 1, false), ('gone', 'b1', 1, true)) as rows (finding_id, build_id, value, is_removed)
    """,
)


def made(path: Path, *more: str) -> Path:
    with duckdb.connect(str(path)) as connection:
        for statement in (*TABLES, *more):
            connection.execute(statement)
    return path


@pytest.fixture
def one(tmp_path: Path) -> Path:
    return made(tmp_path / "one.duckdb")


def test_builds_and_what_was_removed_since_do_not_count(one: Path, tmp_path: Path) -> None:
    other = made(
        tmp_path / "other.duckdb",
        "update marts.fct_builds set build_id = 'b0', n_runs = 1",
        "insert into marts.fct_builds values ('b2', 3, '2026-01-02')",
        "delete from marts.fct_finding_history where finding_id = 'gone'",
        "update marts.fct_finding_history set build_id = 'b0', value = 7",
        "insert into marts.fct_finding_history values ('f', 'b2', 1, false, '2026-01-02')",
    )
    assert differences(one, other) == []
    result = CliRunner().invoke(main, ["same", str(one), str(other)])
    assert (result.exit_code, result.stdout) == (
        0,
        "Every public table is the same, but for which build it was.\n",
    )


def test_rows_are_compared_in_the_columns_that_both_have(one: Path, tmp_path: Path) -> None:
    other = made(
        tmp_path / "other.duckdb",
        "alter table marts.fct_findings drop column family",
        "update marts.fct_findings set value = 0.3",
    )
    columns, rows = differences(one, other)
    assert columns == "marts.fct_findings has other columns: family VARCHAR[]"
    assert "value 0.30000000000000004 and 0.3" in rows


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("update marts.fct_findings set value = 0.3", "value 0.30000000000000004 and 0.3"),
        ("update marts.fct_findings set family = ['b', 'a']", "family ['a', 'b'] and ['b', 'a']"),
        (
            "insert into marts.fct_findings from marts.fct_findings",
            "0 rows of the first and 1 of the second differ",
        ),
        ("alter table marts.fct_findings add column more integer", "has other columns: more INTEGER"),
        ("create table marts.fct_more as select 1 as n", "marts.fct_more is in"),
        ("update marts.fct_builds set n_runs = 2", "n_runs 3 and 2"),
        ("update marts.fct_finding_history set is_removed = true", "1 rows of the first and 0 of the second"),
    ],
)
def test_differences_are_reported(one: Path, tmp_path: Path, change: str, message: str) -> None:
    other = made(tmp_path / "other.duckdb", change)
    (sentence,) = differences(one, other)
    assert message in sentence
    result = CliRunner().invoke(main, ["same", str(one), str(other)])
    assert (result.exit_code, result.stdout) == (1, f"{sentence}\n")


def test_columns_that_both_have_are_compared_whatever_else_one_has(one: Path, tmp_path: Path) -> None:
    other = made(
        tmp_path / "other.duckdb",
        "alter table marts.fct_findings add column more integer; update marts.fct_findings set value = 0.3",
    )
    columns, rows = differences(one, other)
    assert "has other columns: more INTEGER" in columns
    assert "value 0.30000000000000004 and 0.3" in rows


def test_numbers_may_be_rounded_first(one: Path, tmp_path: Path) -> None:
    other = made(tmp_path / "other.duckdb", "update marts.fct_findings set value = 0.3")
    assert differences(one, other, digits=12) == []


def test_what_is_no_warehouse_is_said(one: Path, tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match="There is no file"):
        differences(one, tmp_path / "none.duckdb")
    with duckdb.connect(str(tmp_path / "empty.duckdb")):
        pass
    with pytest.raises(BenchmarkError, match=r"empty.duckdb holds no published table"):
        differences(one, tmp_path / "empty.duckdb")
