"""Tables of a build on Spark: each is a folder of Parquet for Spark and DuckDB; public ones are also in a DuckDB file.

The ledger and what was published last are read by DuckDB, once for each table that a model asks for.
"""

from __future__ import annotations

import atexit
import shutil
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow.parquet
from pyspark.sql.pandas.types import from_arrow_schema

from biasledger.spark.session import end_of_server
from biasledger.spark.translate import spark_name
from collector.exports.writing import ROW_GROUP_ROWS, rows_at_once
from collector.sql import identifier, literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

LEDGER = "raw"
_TEXTS = {"VARCHAR", "JSON"}
_WIDER = {
    "JSON": "varchar",
    "UBIGINT": "decimal(20, 0)",
    "HUGEINT": "bigint",
    "UINTEGER": "bigint",
    "USMALLINT": "integer",
    "UTINYINT": "smallint",
}


def tables_folder(place: Path) -> Path:
    """Return a new private folder inside a folder that may be shared."""
    return place.resolve() / "biasledger-tables"


class Tables:
    """The tables of one build.

    Args:
        spark: the session.
        duck: a connection to the DuckDB file that public tables go to, with the ledger attached as `ledger`.
        folder: where the Parquet is, until dbt's command ends: it holds answers. Every machine that works for the session
            reads and writes it under this path.
    """

    def __init__(self, spark: SparkSession, duck: duckdb.DuckDBPyConnection, folder: Path) -> None:
        self.spark = spark
        self._duck = duck
        self._folder = folder
        self._views: set[str] = set()
        # Views and tables of the ledger whose files are complete.
        self._written: set[Path] = set()
        self._lock = threading.Lock()
        self.schemas = {LEDGER}
        # Delete the tables of an earlier build, which could be taken for results of this one.
        self._remove()
        atexit.register(self.close)

    def close(self) -> None:
        """Delete the files, let go of the DuckDB file, and end a server's session: any other would stop
        with it the Spark that all sessions of this process share."""
        atexit.unregister(self.close)
        self._remove()
        self._duck.close()
        if type(self.spark).__module__.startswith("pyspark.sql.connect"):
            end_of_server(self.spark)

    def _remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        with suppress(OSError):
            self._folder.parent.rmdir()

    def columns(self, schema: str, name: str) -> list[str]:
        """Return the names of a table's columns."""
        return list(self.spark.table(_named(schema, name)).columns)

    def make(self, schema: str, name: str, rows: DataFrame) -> None:
        """Write a table and make it known."""
        rows.write.mode("overwrite").parquet(str(self._place(schema, name)))
        self._register(schema, name, rows.schema)

    def view(self, schema: str, name: str, sql: str) -> None:
        """Make a view of Spark's SQL."""
        self.spark.sql(f"create or replace temporary view {_named(schema, name)} as {sql}")
        self._views.add(_named(schema, name))

    def write(self, schema: str, name: str, rows: duckdb.DuckDBPyRelation) -> None:
        """Write a table of rows that DuckDB has."""
        place = self._place(schema, name)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        write_rows(rows, place / "rows.parquet")
        written = pyarrow.parquet.read_schema(place / "rows.parquet")
        self._register(schema, name, from_arrow_schema(written, prefer_timestamp_ntz=True))

    def read(self, schema: str, name: str, connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        """Return a table as DuckDB reads it: from its files, of which a filter reads only what it needs. A view's are written
        now.
        """
        place = self._place(schema, name)
        with self._lock:
            # A folder exists as soon as writing begins, so it does not show that writing ended.
            if _named(schema, name) in self._views and place not in self._written:
                self.spark.table(_named(schema, name)).write.mode("overwrite").parquet(str(place))
                self._written.add(place)
        rows = connection.read_parquet(str(place / "*.parquet"))
        return rows.select(_for_duckdb(rows))

    def drop(self, schema: str, name: str) -> None:
        """Drop a table or view and delete its files."""
        self.spark.sql(f"drop view if exists {_named(schema, name)}")
        self._views.discard(_named(schema, name))
        self._written.discard(self._place(schema, name))
        shutil.rmtree(self._place(schema, name), ignore_errors=True)

    def _register(self, schema: str, name: str, kinds: StructType) -> None:
        # Told what the columns are, Spark does not open the files to find out. No catalogue hears of it.
        rows = self.spark.read.schema(kinds).parquet(str(self._place(schema, name)))
        rows.createOrReplaceTempView(spark_name(schema, name))
        self._views.discard(_named(schema, name))

    def _place(self, schema: str, name: str) -> Path:
        return self._folder / schema / name

    def copy_from_ledger(self, schema: str, name: str) -> None:
        """Make a table of the ledger known, which is written when it is first asked for."""
        with self._lock:
            place = self._place(schema, name)
            if schema == LEDGER and place not in self._written:
                self.write(
                    schema, name, self._duck.cursor().table(f"ledger.{identifier(schema)}.{identifier(name)}")
                )
                self._written.add(place)

    # --- the DuckDB file ------------------------------------------------------------------------------------------------------

    def published(self, schema: str, name: str) -> bool:
        """Bring over a table as it was published last, as `published.NAME`; whether there is one."""
        connection = self._duck.cursor()
        found = connection.execute(
            "select database_name from duckdb_tables() where schema_name = ? and table_name = ? "
            "and database_name in ('published', current_database()) order by database_name = 'published' desc",
            [schema, name],
        ).fetchall()
        if found:
            where = ".".join(identifier(one) for one in (found[0][0], schema, name))
            self.write("published", name, connection.table(where))
        return bool(found)

    def hand_back(self, schema: str, name: str, model: Mapping[str, Any]) -> None:
        """Write a public table into the DuckDB file, with its contract's types, what must not be null, and its comments."""
        connection = self._duck.cursor()
        rows = self.read(schema, name, connection)
        types = {
            column["name"]: column["data_type"]
            for column in model["columns"].values()
            if column.get("data_type")
        }
        required = {
            column["name"]
            for column in model["columns"].values()
            if any(str(one["type"]).endswith("not_null") for one in column.get("constraints") or [])
        }
        if set(types) != set(rows.columns):
            types = dict(zip(rows.columns, map(str, rows.types), strict=True))
        self.declare(schema, name, types, required, model)
        listed = ", ".join(identifier(column) for column in types)
        rows.select(listed).insert_into(f"{identifier(schema)}.{identifier(name)}")

    def seed(
        self, schema: str, name: str, types: Mapping[str, str], file: Path, model: Mapping[str, Any]
    ) -> None:
        """Read a CSV file into the DuckDB file as dbt-duckdb does, and hand it on to Spark."""
        self.declare(schema, name, types, set(), model)
        connection, where = self._duck.cursor(), f"{identifier(schema)}.{identifier(name)}"
        connection.execute(f"copy {where} from {literal(file)} (format csv, header true, delimiter ',')")
        self.write(schema, name, connection.table(where))

    def declare(
        self, schema: str, name: str, types: Mapping[str, str], required: set[str], model: Mapping[str, Any]
    ) -> None:
        """Make an empty table in the DuckDB file in place of what has the name, with comments."""
        connection, where = self._duck.cursor(), f"{identifier(schema)}.{identifier(name)}"
        definitions = ", ".join(
            f"{identifier(column)} {kind}{' not null' if column in required else ''}"
            for column, kind in types.items()
        )
        with self._lock:
            connection.execute(f"create schema if not exists {identifier(schema)}")
        connection.execute(f"create or replace table {where} ({definitions})")
        if model.get("description"):
            connection.execute(f"comment on table {where} is {literal(model['description'])}")
        for column in model["columns"].values():
            if column["name"] in types and column.get("description"):
                connection.execute(
                    f"comment on column {where}.{identifier(column['name'])} is {literal(column['description'])}"
                )


def _named(schema: str, name: str) -> str:
    return f"`{spark_name(schema, name)}`"


def write_rows(rows: duckdb.DuckDBPyRelation, file: Path) -> None:
    """Write rows as Parquet that Spark reads in tasks of bounded memory: a task holds a row group, and several take several."""
    kinds = zip(rows.columns, map(str, rows.types), strict=True)
    lengths = [f"coalesce(strlen({identifier(name)}::varchar), 0)" for name, kind in kinds if kind in _TEXTS]
    # Sized by the longest part, because texts may be short in one run and long in another.
    least, _ = ROW_GROUP_ROWS
    stretches = rows.project(
        f"{' + '.join(lengths) or '0'} as n_bytes, (row_number() over () - 1) // {least} as stretch"
    )
    means = stretches.aggregate("avg(n_bytes) as row_bytes", "stretch")
    ((row_bytes,),) = means.aggregate("max(row_bytes)").fetchall()
    rows.select(for_spark(rows)).write_parquet(str(file), row_group_size=rows_at_once(row_bytes or 0.0))


def for_spark(rows: duckdb.DuckDBPyRelation) -> str:
    """Return the columns as Spark has types for them: it knows no JSON, no unsigned integers, and none of 128 bits."""
    return _cast(rows, _WIDER)


def _for_duckdb(rows: duckdb.DuckDBPyRelation) -> str:
    """Return the columns as DuckDB has them: decimals of 20 digits are its keys of 64 bits."""
    return _cast(rows, {"DECIMAL(20,0)": "ubigint"})


def _cast(rows: duckdb.DuckDBPyRelation, types: Mapping[str, str]) -> str:
    return ", ".join(
        f"cast({identifier(column)} as {types[str(kind)]}) as {identifier(column)}"
        if str(kind) in types
        else identifier(column)
        for column, kind in zip(rows.columns, rows.types, strict=True)
    )
