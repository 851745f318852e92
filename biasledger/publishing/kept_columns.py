"""The columns that imports keep: from JSON to columns of the published tables, under their own names and with types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from collector.sql import literal

if TYPE_CHECKING:
    import duckdb

KEPT = "kept"
_DAYS = ("%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y")
_TIMES = ("%H:%M:%S", "%H:%M", "%H:%M:%S.%f")
# Type -> what all cells are, and how they are cast. A number with a zero in front is an id, and versions such as 2.9 and 2.10 are
# no numbers.
_NUMBERS = {
    "bigint": ("regexp_full_match({cell}, '-?(0|[1-9][0-9]{{0,17}})')", "{cell}"),
    "double": ("regexp_full_match({cell}, '-?(0|[1-9][0-9]{{0,14}})([.][0-9]{{1,15}})?')", "{cell}"),
    "double,": (
        "regexp_full_match({cell}, '-?(0|[1-9][0-9]{{0,14}}|[1-9][0-9]{{0,2}}([.][0-9]{{3}}){{1,4}})(,[0-9]{{1,15}})?')",
        "replace(replace({cell}, '.', ''), ',', '.')",
    ),
    "boolean": ("lower({cell}) in ('true', 'false')", "{cell}"),
}


@dataclass(frozen=True, slots=True)
class KeptColumn:
    """A column that an import kept: its name in the table and in the file, its type, and its value as SQL."""

    name: str
    column: str
    data_type: str
    value: str


def kept_columns(
    connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str]
) -> list[KeptColumn]:
    """Return the kept columns of a table's rows, in the order of their names.

    A column is of a type if all of its cells are; empty ones are null.

    Args:
        table: where the rows are, as SQL.
        columns: the table's own, whose names are taken.
    """
    if KEPT not in columns:
        return []
    names = connection.execute(
        f"select distinct unnest(json_keys({KEPT})) as name from {table} where {KEPT} is not null order by name"
    ).fetchall()
    taken = {column.casefold() for column in columns}
    found = []
    for (name,) in names:
        own = name
        while own.casefold() in taken:
            own = f"{KEPT}_{own}"
        taken.add(own.casefold())
        cell = f"json_extract_string({KEPT}, {literal(_path(name))})"
        data_type, value = _typed(connection, table, cell)
        found.append(KeptColumn(own, name, data_type, value))
    return found


def _path(name: str) -> str:
    """Return the JSON pointer of a key."""
    return "/" + name.replace("~", "~0").replace("/", "~1")


def _typed(connection: duckdb.DuckDBPyConnection, table: str, cell: str) -> tuple[str, str]:
    """Return the type of all cells, and the value of one as SQL."""
    tests = {
        kind: (is_one.format(cell="cell"), kind.strip(","), value.format(cell=cell))
        for kind, (is_one, value) in _NUMBERS.items()
    }
    for day in _DAYS:
        tests[day] = (f"try_strptime(cell, '{day}') is not null", "date", f"strptime({cell}, '{day}')")
        for time in _TIMES:
            for between in (" ", "T"):
                form = f"{day}{between}{time}"
                tests[form] = (
                    f"try_strptime(cell, '{form}') is not null",
                    "timestamp",
                    f"strptime({cell}, '{form}')",
                )
    decimals = "length(regexp_extract(cell, '[.,]([0-9]+)$', 1))"
    ((n, n_decimals, ends_in_zero, *is_all),) = connection.execute(
        f"select count(*), count(distinct {decimals}), coalesce(bool_or(regexp_matches(cell, '[.,][0-9]*0$')), false), "
        f"{', '.join(f'bool_and({is_one})' for is_one, _, _ in tests.values())} "
        f"from (select {cell} as cell from {table} where {KEPT} is not null) where cell is not null"
    ).fetchall()
    fitting = [key for key, is_one in zip(tests, is_all, strict=True) if n and is_one]
    if n_decimals > 1 and ends_in_zero:
        fitting = [key for key in fitting if not key.startswith("double")]
    # 03/04/2026 is a day of March or of April.
    slashes = {key[:2] for key in fitting if key.startswith(("%d/", "%m/"))}
    if not fitting or len(slashes) > 1:
        return "varchar", cell
    _, data_type, value = tests[fitting[0]]
    return data_type, f"cast({value} as {data_type})"
