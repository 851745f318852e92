"""Translate DuckDB's SQL, in which the models are written, into Spark's with the same meaning.

sqlglot reads and prints SQL; what it would print with another meaning, or not at all, is rewritten between the two, innermost
first. SQL without an exact counterpart is an error. New releases of sqlglot change their output without notice, so
the extra `spark` pins one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import ClassVar

import sqlglot
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ErrorLevel, SqlglotError

from biasledger.spark.aggregates import AGGREGATES
from biasledger.spark.functions import FUNCTIONS
from biasledger.spark.nodes import Spark4
from biasledger.spark.selects import SELECTS, Columns, expand_stars
from collector.errors import BiasledgerError


class TranslationError(BiasledgerError):
    """A statement that has no counterpart in Spark's SQL, or that sqlglot cannot read."""


class _DuckDB(DuckDB):
    """The SQL that dbt passes: DuckDB's, with names in backticks where dbt itself quotes them for the target."""

    class Tokenizer(DuckDB.Tokenizer):
        IDENTIFIERS: ClassVar = ['"', "`"]

    class Parser(DuckDB.Parser):  # type: ignore[misc, valid-type]  # made by its metaclass
        # DuckDB's len is of lists and texts, Spark has two functions: by this project's rule len is of lists, length of texts.
        FUNCTIONS: ClassVar = {
            name: build
            for name, build in DuckDB.Parser.FUNCTIONS.items()
            if name not in {"LEN", "FROM_JSON", "JSON_KEYS", "PRINTF"}
        }


def spark_name(schema: str, name: str) -> str:
    """Return a table's name in Spark: a view of one session has no schema."""
    return f"{schema}__{name}"


def to_spark(
    sql: str,
    columns: Columns,
    meet: Callable[[exp.Table], None] = lambda _table: None,
    dialect: type[Spark] = Spark4,
) -> str:
    """Return a query of DuckDB as one of Spark.

    Args:
        sql: the query.
        columns: the names of a table's columns, for `union by name` and `* replace`, which Spark lacks.
        meet: called with each table that the query names, before its columns are asked for.
        dialect: prints what was rewritten.

    Raises:
        TranslationError: it has no counterpart; one sentence.
    """
    try:
        tree = sqlglot.parse_one(sql, dialect=_DuckDB)
        for table in tree.find_all(exp.Table):
            table.set("catalog", None)
            meet(table)
        expand_stars(tree, columns)
        for table in tree.find_all(exp.Table):
            if table.db:
                _name_for_spark(table)
        holder = exp.Paren(this=tree)
        # Innermost first: what replaces a node may hold others that were replaced.
        for node in reversed(list(tree.walk())):
            for rule in _RULES.get(type(node), ()):
                new = rule(node)
                if new is not None:
                    node.replace(new)
                    break
        printed: str = holder.this.sql(dialect=dialect, unsupported_level=ErrorLevel.RAISE, comments=False)
        return printed
    except SqlglotError as error:
        reason = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip().splitlines()[0]
        raise TranslationError(f"This has no counterpart in Spark's SQL: {reason}.") from error


def _name_for_spark(table: exp.Table) -> None:
    known = spark_name(table.db, table.name)
    if not table.alias:
        table.set("alias", exp.TableAlias(this=table.this.copy()))
    table.set("this", exp.to_identifier(known, quoted=True))
    table.set("db", None)


_RULES: dict[type[exp.Expr], list[Callable[[exp.Expr], exp.Expr | None]]] = {}
for rules in (AGGREGATES, FUNCTIONS, SELECTS):
    for kind, found in rules.items():
        _RULES.setdefault(kind, []).append(found)
