"""Test the tables that a build on Spark reads, and the memory that it starts with."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pytest

from biasledger.spark import session
from collector.exports.writing import ROW_GROUP_BYTES
from tests.python.spark.cluster import needed

WRITTEN = "select row_group_id, any_value(row_group_num_rows), sum(total_uncompressed_size) from parquet_metadata(?) group by all"


@pytest.mark.parametrize(
    ("text", "n_rows", "most_groups"),
    [
        ("repeat(md5(n::varchar), 100)", 30_000, 8),
        # Runs of one word, and after them one of long texts.
        ("if(n < 60000, 'Yes', repeat(md5(n::varchar), 600))", 61_000, 32),
        ("md5(n::varchar)", 30_000, 1),
        ("null", 10, 1),
        ("''", 0, 1),
    ],
)
def test_a_task_need_not_hold_all_texts(tmp_path: Path, text: str, n_rows: int, most_groups: int) -> None:
    needed()
    from biasledger.spark.tables import write_rows

    file = tmp_path / "rows.parquet"
    with duckdb.connect() as connection:
        columns = f"n, ({text})::varchar as answer, to_json([{text}]) as raw_body"
        write_rows(connection.sql(f"select {columns} from range({n_rows}) as numbers (n)"), file)
        groups = connection.execute(WRITTEN, [str(file)]).fetchall()
        assert connection.execute(f"select count(*), count(distinct n) from '{file}'").fetchone() == (
            n_rows,
            n_rows,
        )
    assert sum(rows for _, rows, _ in groups) == n_rows
    assert all(n_bytes < 2 * ROW_GROUP_BYTES for *_, n_bytes in groups)
    assert (len(groups) > 1) == (most_groups > 1)
    assert len(groups) <= most_groups


def test_a_session_of_this_machine_has_more_memory_than_spark_s_own_gigabyte(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in session._SET_UP:
        monkeypatch.delenv(name, raising=False)
    limits = tmp_path / "memory.max", tmp_path / "limit_in_bytes"
    monkeypatch.setattr(session, "_LIMITS", limits)
    pages = {"SC_PHYS_PAGES": 6 << 20, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    assert session._of_master("spark://127.0.0.1:7077") == session._of_master("sc://127.0.0.1") == {}
    assert session._of_master("local[2]") == {"spark.driver.memory": "6144m"}
    limits[0].write_text("max\n", encoding="ascii")
    assert session._of_master("local[2]") == {"spark.driver.memory": "6144m"}
    limits[0].write_text(f"{8 << 30}\n", encoding="ascii")
    assert session._of_master("local[2]") == {"spark.driver.memory": "2048m"}
    pages["SC_PHYS_PAGES"] = 1 << 18
    assert session._of_master("local[*]") == {"spark.driver.memory": "1024m"}
    monkeypatch.setenv("SPARK_DRIVER_MEMORY", "16g")
    assert session._of_master("local[*]") == {}
