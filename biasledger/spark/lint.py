"""Check that compiled models can be translated: each statement has a counterpart, and no alias is used too early.

DuckDB accepts the alias of a select's own column in its conditions, aggregates and windows; Spark does not. Errors that depend on
types, such as an index into a text or `len` of one, show only when Spark runs the statement.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import duckdb
import sqlglot
from sqlglot import exp

from biasledger.spark.selects import Columns, columns_of_sources
from biasledger.spark.translate import TranslationError, to_spark
from collector.terminal import say

_PLACES = {exp.Where: "a condition", exp.Window: "a window"}


def broken_rules(sql: str, columns: Columns) -> Iterator[tuple[int, str]]:
    """Yield line and sentence for each part of a compiled query without a counterpart on Spark; columns: as in `to_spark`."""
    try:
        to_spark(sql, columns)
    except TranslationError as error:
        yield 1, str(error)
        return
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    for select, given in columns_of_sources(tree, columns):
        made = {one.alias for one in select.expressions if isinstance(one, exp.Alias)} - given
        for column in select.find_all(exp.Column):
            if column.table or column.name not in made or column.parent_select is not select:
                continue
            place = column.find_ancestor(exp.Where, exp.Window, exp.AggFunc, exp.Select)
            if not isinstance(place, exp.Select):
                where = next(
                    (name for kind, name in _PLACES.items() if isinstance(place, kind)), "an aggregate"
                )
                yield (
                    int(column.this.meta.get("line", 1)),
                    f"{column.name} is made by this select and read in {where} of it: make it in a CTE before",
                )


def main(arguments: Sequence[str]) -> int:
    """Check the models below a folder; arguments: that folder of compiled SQL, and the DuckDB file that was built of them."""
    folder, built = Path(arguments[0]), Path(arguments[1])
    columns = columns_in(built)
    n_broken = 0
    for file, sql in compiled_models(folder):
        for line, sentence in broken_rules(sql, columns):
            n_broken += 1
            say(f"{file}:{line}: {sentence}", err=True)
    return int(n_broken > 0)


def compiled_models(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the models that dbt compiled below a folder: file and SQL."""
    for file in sorted(folder.rglob("*.sql")):
        sql = file.read_text(encoding="utf-8")
        # Tests of a yml file lie below a folder of its name; dbt makes them.
        if sql.strip() and all(above.suffix != ".yml" for above in file.parents):
            yield file, sql


def columns_in(built: Path) -> Columns:
    """Return the columns of the tables in a DuckDB file that was built."""
    with duckdb.connect(str(built), read_only=True) as connection:
        found = connection.execute(
            "select schema_name, table_name, column_name from duckdb_columns() order by column_index"
        ).fetchall()
    known: Mapping[tuple[str, str], list[str]] = defaultdict(list)
    for schema, table, column in found:
        known[schema, table].append(column)
    return lambda table: known[table.db, table.name]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
