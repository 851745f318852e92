"""The dbt adapter `sparksession`: models written in DuckDB's SQL run on Spark, Python models get DuckDB's relations.

dbt passes queries in DuckDB's SQL, which are translated where they are executed; tables, views and seeds
are made by methods that the materialisations call.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import duckdb
import pandas as pd
from dbt.adapters.base.column import Column
from dbt.adapters.base.meta import available
from dbt.adapters.base.plugin import AdapterPlugin
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.connection import AdapterResponse, Connection, ConnectionState, Credentials
from dbt.adapters.contracts.relation import Policy, RelationType
from dbt.adapters.sql.connections import SQLConnectionManager
from dbt.adapters.sql.impl import SQLAdapter
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError
from sqlglot import exp

from biasledger.dbt_plugin import Plugin
from biasledger.publishing.public import is_public
from biasledger.spark.masters import shown, without_secrets
from biasledger.spark.parts import PartError, rows_by_part
from biasledger.spark.session import open_session
from biasledger.spark.tables import Tables, tables_folder
from biasledger.spark.translate import spark_name, to_spark
from collector.errors import BiasledgerError
from collector.files.places import local_path

_INCLUDED = Path(__file__).parent / "include"


@dataclass
class SparkCredentials(Credentials):
    """The settings of this target in profiles.yml.

    Attributes:
        master: where Spark runs: local[N] on this machine, spark://HOST:PORT on a cluster of its own, sc://HOST:PORT behind a
            server of Spark Connect, active in the session that this process has.
        ledger: the ledger, a DuckDB file, or the folder of an export.
        warehouse: the DuckDB file that public tables are written to.
        tables: the folder of all tables as Parquet, which every machine of the cluster has under this path; next to the warehouse
            if not given.
        settings: of Spark, such as spark.executor.memory.
    """

    database: str = "spark"
    schema: str = "main"
    master: str = "local[*]"
    ledger: str = "ledger.duckdb"
    warehouse: str = "warehouse.duckdb"
    tables: str = ""
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def type(self) -> str:
        """The adapter's name."""
        return "sparksession"

    @property
    def unique_field(self) -> str:
        """Identify the place of the connection."""
        return shown(self.master)

    def _connection_keys(self) -> tuple[str, ...]:
        return ("master", "ledger", "warehouse", "tables", "schema")

    def connection_info(self, *, with_aliases: bool = False) -> Iterator[tuple[str, Any]]:
        """Yield the settings that `dbt debug` prints."""
        for key, value in super().connection_info(with_aliases=with_aliases):
            yield key, shown(value) if key == "master" else value


@dataclass(frozen=True, eq=False, repr=False)
class SparkRelation(BaseRelation):
    """A table or view, which Spark knows by schema and name."""

    include_policy: Policy = field(default_factory=lambda: Policy(database=False))


class _Cursor:
    """The cursor that dbt expects: it executes queries in DuckDB's SQL."""

    def __init__(self, adapter_tables: Tables) -> None:
        self._tables = adapter_tables
        self.description: list[tuple[Any, ...]] = []
        self._rows: list[tuple[Any, ...]] = []

    def execute(self, sql: str, _bindings: Any = None) -> None:
        frame = self._tables.spark.sql(translated(sql, self._tables))
        self.description = [
            (one.name, one.dataType.simpleString(), *[None] * 5) for one in frame.schema.fields
        ]
        self._rows = [tuple(row) for row in frame.collect()]

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self._rows

    def fetchmany(self, size: int) -> list[tuple[Any, ...]]:
        return self._rows[:size]

    def fetchone(self) -> tuple[Any, ...] | None:
        return self._rows[0] if self._rows else None

    def close(self) -> None:
        self._rows = []


class _Handle:
    """A thread's connection: all threads have the one session, and there are no transactions."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    def cursor(self) -> _Cursor:
        return _Cursor(self.tables)

    def rollback(self) -> None:
        pass

    def close(self) -> None:
        pass


def _begun(credentials: SparkCredentials) -> Tables:
    warehouse = local_path(credentials.warehouse)
    folder = tables_folder(local_path(credentials.tables or f"{warehouse}.tables"))
    ledger = Plugin("ledger", {"ledger": credentials.ledger})
    warehouse.parent.mkdir(parents=True, exist_ok=True)
    duck = duckdb.connect(str(warehouse))
    ledger.configure_connection(duck)
    spark = open_session(credentials.master, credentials.settings)
    return Tables(spark, duck, folder)


class SparkConnectionManager(SQLConnectionManager):
    """Hands out the process's session."""

    TYPE = "sparksession"
    _lock: ClassVar = threading.Lock()
    _tables: ClassVar[Tables | None] = None
    _master: ClassVar = ""

    @classmethod
    def tables(cls, credentials: SparkCredentials) -> Tables:
        """Return the tables of this process's build, which are begun by the first call."""
        with cls._lock, as_dbt_errors():
            if cls._tables is None:
                cls._master = credentials.master
                cls._tables = _begun(credentials)
            return cls._tables

    def cleanup_all(self) -> None:
        """End the session that a command of dbt began, because its process may go on, for example to read the tables."""
        super().cleanup_all()
        with self._lock:
            if SparkConnectionManager._tables is not None:
                SparkConnectionManager._tables.close()
                SparkConnectionManager._tables = None

    @classmethod
    def without_secrets(cls, message: str) -> str:
        """Return a message without the secrets in the address of a server."""
        return without_secrets(message, cls._master)

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Give a thread its connection."""
        if connection.state != ConnectionState.OPEN:
            connection.handle = _Handle(cls.tables(connection.credentials))
            connection.state = ConnectionState.OPEN
        return connection

    def cancel(self, connection: Connection) -> None:
        """Stop what runs."""
        connection.handle.tables.spark.interruptAll()

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:  # noqa: ARG002 (dbt passes the statement)
        """Every error as one that dbt reports of the model."""
        with as_dbt_errors():
            yield

    @classmethod
    def get_response(cls, cursor: Any) -> AdapterResponse:  # noqa: ARG003 (dbt passes the cursor)
        """Nothing is to be said of a statement that was executed."""
        return AdapterResponse(_message="OK")

    @classmethod
    def data_type_code_to_name(cls, type_code: int | str) -> str:
        """Return the name of a type."""
        return str(type_code)

    def add_begin_query(self) -> None:
        """There are no transactions."""

    def add_commit_query(self) -> None:
        """There are no transactions."""


@contextmanager
def as_dbt_errors() -> Iterator[None]:
    """Errors of Spark, DuckDB and the translation as dbt's, without the stack of Java."""
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, duckdb.Error, BiasledgerError) as error:
        raise DbtDatabaseError(SparkConnectionManager.without_secrets(_reason(str(error)))) from None


def _reason(message: str) -> str:
    """Return the cause of an error, without the stacks of Java and of a worker's Python; the last line of the stack names it."""
    message = message.split("JVM stacktrace", maxsplit=1)[0].strip()
    _, *stack = message.split("Traceback (most recent call last):\n")
    if not stack:
        return message
    lines = [
        line for line in stack[-1].splitlines() if line.strip() and not line.lstrip().startswith("SQLSTATE")
    ]
    return lines[-1].strip().split(f"{PartError.__name__}: ")[-1]


def translated(sql: str, tables: Tables) -> str:
    """Return a query in DuckDB's SQL as one of Spark, which may name tables of the ledger."""

    def columns(table: exp.Table) -> list[str]:
        return tables.columns(table.db, table.name)

    def meet(table: exp.Table) -> None:
        tables.copy_from_ledger(table.db, table.name)

    return to_spark(sql, columns, meet)


def _names(relation: BaseRelation) -> tuple[str, str]:
    """Schema and name."""
    return str(relation.schema), str(relation.identifier)


class _Session:
    """The parts of DuckDB's connection that a Python model uses."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self.connection = duckdb.connect()
        self.rows_by_part = partial(rows_by_part, tables.spark)

    def table(self, name: str) -> duckdb.DuckDBPyRelation:
        schema, table = name.replace('"', "").split(".")[-2:]
        return self._tables.read(schema, table, self.connection)


class SparksessionAdapter(SQLAdapter):
    """Makes tables, views and seeds; see the materialisations in `include`."""

    ConnectionManager = SparkConnectionManager
    Relation = SparkRelation

    @property
    def _tables(self) -> Tables:
        return SparkConnectionManager.tables(self.config.credentials)

    @classmethod
    def date_function(cls) -> str:
        """When it is."""
        return "current_timestamp()"

    def list_schemas(self, database: str) -> list[str]:  # noqa: ARG002 (dbt's signature)
        """Return the schemas there are."""
        return sorted(self._tables.schemas)

    def check_schema_exists(self, database: str, schema: str) -> bool:
        """Return whether there is a schema."""
        return schema in self.list_schemas(database)

    def create_schema(self, relation: BaseRelation) -> None:
        """Make a relation's schema."""
        self._tables.schemas.add(str(relation.schema))

    def drop_schema(self, relation: BaseRelation) -> None:
        """Drop a schema; its tables go with the build."""
        self._tables.schemas.discard(str(relation.schema))

    def list_relations_without_caching(self, schema_relation: BaseRelation) -> list[BaseRelation]:  # noqa: ARG002 (dbt's signature)
        """None: every model is rebuilt, so no incremental one begins with earlier rows."""
        return []

    def get_columns_in_relation(self, relation: BaseRelation) -> list[Column]:
        """Return the columns of a table, of DuckDB's types."""
        with as_dbt_errors():
            fields = self._tables.spark.table(spark_name(*_names(relation))).schema.fields
        return [
            Column(one.name, exp.DataType.build(one.dataType.simpleString(), dialect="spark").sql("duckdb"))
            for one in fields
        ]

    def expand_column_types(self, goal: BaseRelation, current: BaseRelation) -> None:
        """Nothing: no type has a length."""

    @available.parse_none
    def drop_relation(self, relation: BaseRelation) -> None:
        """Drop a table or view."""
        self.cache_dropped(relation)
        with as_dbt_errors():
            self._tables.drop(*_names(relation))

    @available.parse_none
    def make_table(self, relation: BaseRelation, sql: str) -> None:
        """Make a table of a query in DuckDB's SQL."""
        with as_dbt_errors():
            tables = self._tables
            tables.make(*_names(relation), tables.spark.sql(translated(sql, tables)))

    @available.parse_none
    def make_view(self, relation: BaseRelation, sql: str) -> None:
        """Make a view of a query in DuckDB's SQL."""
        with as_dbt_errors():
            tables = self._tables
            tables.view(*_names(relation), translated(sql, tables))

    @available.parse_none
    def make_by_python(self, relation: BaseRelation, code: str) -> None:
        """Run a Python model on this machine, and make a table of its rows, or of a frame of Spark."""
        session = _Session(self._tables)
        module: Any = ModuleType(f"dbt_model_{relation.identifier}")
        try:
            # The code that dbt compiled of the project's own model.
            exec(compile(code.lstrip(), f"{relation.identifier}.py", "exec"), module.__dict__)  # noqa: S102
            rows = module.model(module.dbtObj(session.table), session)
        except Exception as error:  # noqa: BLE001 (any error of the model is reported, without secrets in its stack)
            message = SparkConnectionManager.without_secrets(_reason(str(error)))
            raise DbtRuntimeError(f"Python model failed: {type(error).__name__}: {message}") from None
        with as_dbt_errors():
            if isinstance(rows, pd.DataFrame):
                rows = session.connection.from_df(rows)
            make = self._tables.write if isinstance(rows, duckdb.DuckDBPyRelation) else self._tables.make
            make(*_names(relation), rows)

    @available.parse_none
    def make_seed(self, relation: BaseRelation, model: Mapping[str, Any], types: Mapping[str, str]) -> None:
        """Make a table of a seed's file."""
        with as_dbt_errors():
            file = Path(model["root_path"]) / model["original_file_path"]
            self._tables.seed(*_names(relation), types, file, model)

    @available.parse_none
    def hand_back(self, relation: BaseRelation, model: Mapping[str, Any]) -> None:
        """Write a public table into the DuckDB file."""
        if is_public(model):
            with as_dbt_errors():
                self._tables.hand_back(*_names(relation), model)

    @available.parse_none
    def published(self, name: str) -> BaseRelation | None:
        """Return a table of the marts as it was published last; None where there was none."""
        with as_dbt_errors():
            found = self._tables.published("marts", name)
        if not found:
            return None
        return self.Relation.create(schema="published", identifier=name, type=RelationType.Table)


PLUGIN = AdapterPlugin(
    adapter=SparksessionAdapter,  # type: ignore[arg-type]  # dbt's protocol is not what its own adapters are
    credentials=SparkCredentials,
    include_path=str(_INCLUDED),
    project_name="dbt_sparksession",
)
