"""Python models on executors: what a model measures falls into parts, and each is read and measured by itself, on any machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import pyarrow
from pyspark.sql.pandas.types import from_arrow_schema

from biasledger.model_inputs.models import measured
from biasledger.model_inputs.relations import quoted
from biasledger.publishing.quoting import quote_name
from biasledger.spark.tables import for_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

N_TASKS = 1_000
"""Tasks at most, and so files of a table; where there are more parts a task takes one after another."""


class PartError(Exception):
    """A part could not be measured; the message says which and why."""


def rows_by_part(
    spark: SparkSession,
    measure: Callable[[Iterable[Any]], pd.DataFrame],
    read: Callable[..., Iterable[Any]],
    relations: Sequence[duckdb.DuckDBPyRelation],
    by: Sequence[str],
    *,
    n_tasks: int = N_TASKS,
) -> DataFrame:
    """What the measure says of all comparisons, of one part of them after another on the executors, when it is asked for.

    Args:
        spark: the session.
        measure, read, relations: as `new_rows` takes them; the relations are read from files, which every machine has.
        by: the columns of text whose values are a part's. Relations that have them are read of the part alone, others as a whole.
        n_tasks: how many tasks there are at most.
    """
    names = ", ".join(map(quote_name, by))
    conditions = [
        " and ".join(f"{quote_name(name)} = {quoted(value)}" for name, value in zip(by, part, strict=True))
        for part in relations[0].select(names).distinct().order(names).fetchall()
    ]
    # A relation is a query, which any DuckDB answers.
    queries = [(rows.sql_query(), set(by) <= set(rows.columns)) for rows in relations]
    with duckdb.connect() as connection:
        schema = _as_spark(connection, measure(())).schema

    def rows_of(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                rows = _rows_of_part(measure, read, queries, conditions[number])
                yield from rows.cast(schema).to_batches()

    n_parts = len(conditions)
    numbers = spark.range(0, n_parts, 1, max(min(n_parts, n_tasks), 1))
    return numbers.mapInArrow(rows_of, from_arrow_schema(schema))


def _rows_of_part(
    measure: Callable[[Iterable[Any]], pd.DataFrame],
    read: Callable[..., Iterable[Any]],
    queries: Sequence[tuple[str, bool]],
    condition: str,
) -> pyarrow.Table:
    """A part's rows, measured here. queries: each relation's, and whether the condition applies to it."""
    # A task has one core.
    with duckdb.connect(config={"threads": 1}) as connection:
        try:
            relations = [
                connection.sql(query).filter(condition) if is_by_part else connection.sql(query)
                for query, is_by_part in queries
            ]
            return _as_spark(connection, measured(measure, read(*relations, done=frozenset())))
        except Exception as error:  # noqa: BLE001 (whatever it is, it is told as one of this part)
            told = " ".join(str(error).split())
            raise PartError(f"On an executor, where {condition}: {type(error).__name__}: {told}") from None


def _as_spark(connection: duckdb.DuckDBPyConnection, rows: pd.DataFrame) -> pyarrow.Table:
    found = connection.from_df(rows)
    return found.select(for_spark(found)).to_arrow_table()
