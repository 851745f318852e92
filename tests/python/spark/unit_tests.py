"""Run dbt's unit tests on Spark: python -m tests.python.spark.unit_tests BUILT, in a project; BUILT is DuckDB's build of it.

A unit test brings its own rows, and asks of the tables that it stands in for only which columns they have: Spark gets them empty.
"""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb
from dbt.cli.main import dbtRunner

from biasledger.spark.adapter import SparkConnectionManager, SparkCredentials
from collector.sql import identifier
from tests.python.spark.cluster import SMALL

# For inputs that have no rows and are all alike, this rule of Spark 4.3 fails an assertion of its own.
_LESS = {"spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.ReorderJoin"}


def main(built: str) -> int:
    """0 where tests ran and all passed."""
    credentials = SparkCredentials(
        master="local[1]", ledger="ledger.duckdb", warehouse="units.duckdb", settings={**SMALL, **_LESS}
    )
    tables = SparkConnectionManager.tables(credentials)
    with duckdb.connect(built, read_only=True) as connection:
        connection.execute("attach 'ledger.duckdb' as ledger (read_only)")
        listed = connection.execute(
            "select table_schema, table_name from information_schema.tables where table_catalog = current_database()"
        ).fetchall()
        for schema, name in listed:
            rows = connection.table(f"{identifier(schema)}.{identifier(name)}")
            tables.write(schema, name, rows.limit(0))
    done = dbtRunner().invoke(
        ["test", "--target", "spark", "--profiles-dir", ".", "--select", "test_type:unit", "--threads", "1"]
    )
    return int(not done.success or not done.result)


if __name__ == "__main__":
    Path("units.duckdb").unlink(missing_ok=True)
    sys.exit(main(sys.argv[1]))
