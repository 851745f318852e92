"""Read relations of DuckDB as records, and as columns sorted by key."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from biasledger.measures.engine.design import Floats, Integers
from biasledger.measures.schema import Table
from collector.sql import literal

Columns = Mapping[str, NDArray[Any]]
# By numpy's kind of a column.
_TYPES = {"b": "boolean", "i": "bigint", "f": "double", "O": "varchar"}


def records(relation: duckdb.DuckDBPyRelation) -> list[dict[str, Any]]:
    """Return every row as a dictionary by column name."""
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def as_relation(connection: duckdb.DuckDBPyConnection, table: Table) -> duckdb.DuckDBPyRelation:
    """Return a measure's table as a relation; NaN and masked values are null. It is kept until the connection ends.

    Types are stated, because DuckDB cannot infer them from a table without rows. The table is registered under a random name: a
    variable's name could be that of another table, and variables are not searched when files may not be read.
    """
    name = f"measured_{secrets.token_hex(8)}"
    connection.register(name, dict(table.columns))
    types = ", ".join(
        f'cast("{column}" as {_TYPES[values.dtype.kind]}) as "{column}"'
        for column, values in table.columns.items()
    )
    return connection.sql(f"select {types} from temp.{name}")


def in_order(comparisons: duckdb.DuckDBPyRelation, key: str = "comparison_key") -> list[dict[str, Any]]:
    """Return the comparisons in the order of their keys."""
    return records(comparisons.order(key))


def keys_of(rows: Iterable[Mapping[str, Any]], key: str = "comparison_key") -> frozenset[str]:
    """Return the keys that records have."""
    return frozenset(row[key] for row in rows if row[key] is not None)


def described(row: Mapping[str, Any], *name: str) -> dict[str, Any]:
    """Return the fields of a `Comparison` without its units: key, name (from these columns), permutations, alpha and seed.

    The name holds no names of attributes and groups: p-values do not depend on them.
    """
    return {
        "key": row["comparison_key"],
        "name": tuple(str(row[part]) for part in name),
        "n_permutations": int(row["n_permutations"]),
        "alpha": float(row["alpha"]),
        "seed": int(row["seed"]),
    }


class RowsByKey:
    """A relation's rows by key, as columns, read when the first are asked for.

    key, order: the columns to sort by. of: the keys that will be asked for, so that no other rows are read; None for all keys.
    """

    def __init__(
        self, relation: duckdb.DuckDBPyRelation, key: str, *order: str, of: Collection[str] | None
    ) -> None:
        asked = relation if of is None else relation.filter(f"{key} in ({_as_sql_list(of)})")
        self._sorted = asked.order(", ".join((key, *order)))
        self._key = key

    @cached_property
    def _columns(self) -> dict[str, NDArray[Any]]:
        return self._sorted.fetchnumpy()

    @cached_property
    def _keys(self) -> NDArray[np.str_]:
        return np.asarray(self._columns[self._key]).astype(np.str_)

    def __getitem__(self, key: str) -> Columns:
        """Return the rows of a key in their order; no rows for a key that has none."""
        inside = slice(np.searchsorted(self._keys, key, "left"), np.searchsorted(self._keys, key, "right"))
        return {name: column[inside] for name, column in self._columns.items()}

    def __iter__(self) -> Iterator[tuple[str, Columns]]:
        """Yield each key with its rows, in the order of keys."""
        for key in np.unique(self._keys):
            yield str(key), self[str(key)]


def with_rows(
    comparisons: duckdb.DuckDBPyRelation,
    *relations: duckdb.DuckDBPyRelation,
    key: str = "comparison_key",
    order: str = "unit_id",
) -> Iterator[tuple[dict[str, Any], list[Columns]]]:
    """Yield each comparison, in the order of its key, with its rows of each relation, sorted by `order`.

    key: the column that says which rows are a comparison's.
    """
    rows = in_order(comparisons)
    rows_of = [RowsByKey(relation, key, order, of=keys_of(rows, key)) for relation in relations]
    for row in rows:
        yield row, [of_key[row[key]] for of_key in rows_of]


def _as_sql_list(keys: Collection[str]) -> str:
    """Return keys as a list in SQL, which must not be empty."""
    return ", ".join(map(literal, sorted(keys))) or "null"


def integers(column: NDArray[Any], name: str) -> Integers:
    """Return a column of integers.

    Raises:
        ValueError: it holds a null; the message calls the column by the name.
    """
    if np.ma.is_masked(column):
        raise ValueError(f"{name} is null in some rows; each needs one")
    return np.asarray(np.ma.getdata(column), dtype=np.int64)


def floats(column: NDArray[Any]) -> Floats:
    """Return a column of numbers with NaN for null: DuckDB masks a column only where it holds a null."""
    return np.asarray(np.ma.filled(np.ma.asarray(column, dtype=np.float64), np.nan))
