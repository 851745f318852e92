"""Python models on executors: a model's comparisons are split into parts, which are read and measured on any machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow
from pyspark.sql.pandas.types import from_arrow_schema

from biasledger.measures.schema import Table
from biasledger.model_inputs.models import measured, states_by_key, with_states
from biasledger.model_inputs.relations import as_relation
from biasledger.spark.tables import for_spark
from collector.sql import identifier, literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

N_TASKS = 1_000
"""Tasks at most, and so files of a table; where there are more parts a task takes one after another."""


class PartError(Exception):
    """A part could not be measured; the message says which and why."""


def rows_by_part(
    spark: SparkSession,
    measure: Callable[[Iterable[Any]], Table],
    read: Callable[..., Iterable[Any]],
    relations: Sequence[duckdb.DuckDBPyRelation],
    by: Sequence[str],
    *,
    n_tasks: int = N_TASKS,
) -> DataFrame:
    """Return the measure's rows of all comparisons, computed lazily on the executors, one part after another.

    Args:
        spark: the session.
        measure, read, relations: as `rows_of_runs` takes them; the relations are read from files, which every machine has.
        by: text columns whose values define a part. A relation with all of them is filtered by the part's values. Of the others,
            one that shares a key (`…_key`) with these is filtered by the part's keys, and any other is read as a whole.
        n_tasks: how many tasks there are at most.
    """
    names = ", ".join(map(identifier, by))
    conditions = [
        " and ".join(f"{identifier(name)} = {literal(value)}" for name, value in zip(by, part, strict=True))
        for part in relations[0].select(names).distinct().order(names).fetchall()
    ]
    # A relation is a query, which any DuckDB answers.
    queries = [rows.sql_query() for rows in relations]
    with duckdb.connect() as connection:
        schema = _as_spark(connection, with_states(measure(()), {})).schema

    def rows_of(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                rows = _rows_of_part(measure, read, queries, by, conditions[number])
                yield from rows.cast(schema).to_batches()

    n_parts = len(conditions)
    numbers = spark.range(0, n_parts, 1, max(min(n_parts, n_tasks), 1))
    return numbers.mapInArrow(rows_of, from_arrow_schema(schema))


def _rows_of_part(
    measure: Callable[[Iterable[Any]], Table],
    read: Callable[..., Iterable[Any]],
    queries: Sequence[str],
    by: Sequence[str],
    condition: str,
) -> pyarrow.Table:
    """Return a part's rows, measured here. queries: each relation's; condition: of rows that have the columns `by`, which are
    its.
    """
    # A task has one core.
    with duckdb.connect(config={"threads": 1}) as connection:
        try:
            relations = _of_part([connection.sql(query) for query in queries], by, condition)
            table = measured(measure, read(*relations))
            states = states_by_key(relations[0], next(iter(table.columns)))
            return _as_spark(connection, with_states(table, states))
        except Exception as error:  # noqa: BLE001 (any error is reported with its part)
            message = " ".join(str(error).split())
            raise PartError(f"On an executor, where {condition}: {type(error).__name__}: {message}") from None


def _of_part(
    relations: Sequence[duckdb.DuckDBPyRelation], by: Sequence[str], condition: str
) -> list[duckdb.DuckDBPyRelation]:
    """Return the rows of each relation that a part's comparisons need."""
    by_part = {
        place: rows.filter(condition) for place, rows in enumerate(relations) if set(by) <= set(rows.columns)
    }
    return [
        by_part[place] if place in by_part else _of_keys(rows, by_part.values())
        for place, rows in enumerate(relations)
    ]


def _of_keys(
    rows: duckdb.DuckDBPyRelation, of_part: Iterable[duckdb.DuckDBPyRelation]
) -> duckdb.DuckDBPyRelation:
    """Return the rows whose keys are among those of a part's relations; all where these have no such key."""
    for key in (column for column in rows.columns if column.endswith("_key")):
        if found := [one.select(key) for one in of_part if key in one.columns]:
            rows = rows.join(reduce(duckdb.DuckDBPyRelation.union, found), key, how="semi")
    return rows


def _as_spark(connection: duckdb.DuckDBPyConnection, rows: Table) -> pyarrow.Table:
    found = as_relation(connection, rows)
    return found.select(for_spark(found)).to_arrow_table()
