"""Replications of the sources' data are the same on Spark as on DuckDB: real outputs of models, as users import them."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from benchmarks.same import differences
from biasledger.building.build import build_warehouse
from tests.python.replication.warehouses import DATA_OF, find_data, import_and_build
from tests.python.spark.cluster import needed

# With Spark's own settings, which compile queries: the other tests of builds turn that off.
pytestmark = [pytest.mark.slow, pytest.mark.long]


def test_every_replication_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed()
    absent = sorted({name for name in DATA_OF.values() if find_data(name) is None})
    if absent:
        pytest.skip(
            f"data sets are not here ({', '.join(absent)}); set BIASLEDGER_DATA to the folder that holds them"
        )
    project = tmp_path / "project"
    import_and_build(project, find_data)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("BIASLEDGER_SPARK", "local[2]")
    monkeypatch.setenv("SPARK_DRIVER_MEMORY", "3g")
    published = project / "spark.duckdb"
    build_warehouse(project, project / "ledger.duckdb", published, target="spark")
    assert differences(project / "warehouse.duckdb", published, digits=9) == []
    # A single number that is another is noticed.
    with duckdb.connect(str(published)) as connection:
        of_first = "rowid = (select min(rowid) from marts.fct_word_divergence where jsd is not null)"
        connection.execute(f"update marts.fct_word_divergence set jsd = jsd + 1e-6 where {of_first}")
    assert "marts.fct_word_divergence" in " ".join(
        differences(project / "warehouse.duckdb", published, digits=9)
    )
