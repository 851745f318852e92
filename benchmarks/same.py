"""Compare every public table of two warehouses row by row, apart from build ids and times."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from benchmarks.processes import BenchmarkError
from collector.sql import literal

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMAS = ("marts", "settings")
# The build's id and time, and the number of builds; of tables with a row per build only the last build counts.
OF_A_BUILD = frozenset({"build_id", "built_at", "last_changed_at", "n_versions"})
# A verdict is recorded when it changes, with the settings of that build; the first one stays for ever.
OF_AN_EARLIER_BUILD: Mapping[str, frozenset[str]] = {
    "fct_finding_history": frozenset({"settings_hash"}),
    "fct_finding_verdicts": frozenset(
        {"first_build_id", "first_judged_at", "first_settings_hash", "first_status", "is_rejudged"}
    ),
}
LAST: Mapping[str, str] = {
    "fct_builds": "qualify row_number() over (order by built_at desc) = 1",
    "fct_finding_history": "qualify row_number() over (partition by finding_id order by built_at desc) = 1 and not is_removed",
}
_SHOWN = 3


def differences(one: Path, other: Path, *, digits: int | None = None) -> list[str]:
    """Return the differences between two warehouses, one sentence per table; empty where they are the same.

    A table with other columns gets a sentence on them, and its rows are compared in the columns that both have.

    Args:
        one, other: the files; neither is changed.
        digits: numbers count as equal that are so when rounded to this many decimals; None compares them to the last bit.

    Raises:
        BenchmarkError: a file is absent, or holds no published table.
    """
    for path in (one, other):
        if not path.is_file():
            raise BenchmarkError(f"There is no file {path}.")
    with duckdb.connect() as connection:
        for name, path in (("one", one), ("other", other)):
            connection.execute(f"attach {literal(path)} as {name} (read_only)")
        first, second = (_tables(connection, name) for name in ("one", "other"))
        if not first or not second:
            raise BenchmarkError(f"{other if first else one} holds no published table.")
        sentences = [f"{table} is in {one} alone" for table in sorted(first.keys() - second.keys())]
        sentences += [f"{table} is in {other} alone" for table in sorted(second.keys() - first.keys())]
        for table in sorted(first.keys() & second.keys()):
            if first[table] != second[table]:
                columns = sorted(set(first[table].items()) ^ set(second[table].items()))
                sentences.append(
                    f"{table} has other columns: {', '.join(f'{name} {kind}' for name, kind in columns)}"
                )
            shared = {name: kind for name, kind in first[table].items() if second[table].get(name) == kind}
            if shared and (sentence := _rows_that_differ(connection, table, shared, digits)):
                sentences.append(sentence)
    return sentences


def _tables(connection: duckdb.DuckDBPyConnection, database: str) -> dict[str, dict[str, str]]:
    """Schema and name of each published table -> its columns with their types."""
    rows = connection.execute(
        "select schema_name || '.' || table_name, column_name, data_type from duckdb_columns() "
        "where database_name = ? and list_contains(?, schema_name) order by all",
        [database, SCHEMAS],
    ).fetchall()
    tables: dict[str, dict[str, str]] = {}
    for table, column, kind in rows:
        tables.setdefault(table, {})[column] = kind
    return tables


def _rows_that_differ(
    connection: duckdb.DuckDBPyConnection, table: str, columns: Mapping[str, str], digits: int | None
) -> str | None:
    left_out = OF_A_BUILD | OF_AN_EARLIER_BUILD.get(table.partition(".")[2], frozenset())
    compared = {name: kind for name, kind in columns.items() if name not in left_out}
    listed = ", ".join(
        f'round("{name}", {digits}) as "{name}"' if digits is not None and kind == "DOUBLE" else f'"{name}"'
        for name, kind in compared.items()
    )
    last = LAST.get(table.partition(".")[2], "")
    one, other = (f"select {listed} from {database}.{table} {last}" for database in ("one", "other"))
    gone, new = (
        connection.execute(f"({first}) except all ({second}) order by all").fetchall()
        for first, second in ((one, other), (other, one))
    )
    if not gone and not new:
        return None
    names = list(compared)
    shown = "; ".join(
        ", ".join(
            f"{name} {before!r} and {after!r}"
            for name, before, after in zip(names, *pair, strict=True)
            if before != after
        )
        for pair in zip(gone[:_SHOWN], new[:_SHOWN], strict=False)
    )
    return f"{table}: {len(gone):,} rows of the first and {len(new):,} of the second differ" + (
        f": {shown}" if shown else ""
    )
