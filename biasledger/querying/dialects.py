"""A query for DuckDB in another warehouse's SQL, with a warning for all that may mean something else there.

sqlglot translates; the warnings come from what the query really uses, in `differences`.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from biasledger.querying.connection import SCHEMAS
from biasledger.querying.differences import DIALECTS, differences
from biasledger.querying.rewrites import rewritten
from collector.errors import InputError
from collector.hints import did_you_mean, quoted

if TYPE_CHECKING:
    from sqlglot.expressions import Query


@dataclass(frozen=True)
class Translation:
    """A query in another dialect, and what to look at before its results are relied on, one sentence each."""

    sql: str
    warnings: tuple[str, ...]


def translate(sql: str, dialect: str, schema: str | None = None) -> Translation:
    """Translate one statement from DuckDB's dialect.

    Args:
        schema: where the published tables are in the other warehouse, as `biasledger` or `database.schema`; None leaves the names
            as they are in the query.

    Raises:
        InputError: an unknown dialect, no statement or several, or SQL that sqlglot cannot read.
    """
    import sqlglot
    from sqlglot.errors import ErrorLevel, SqlglotError

    name = dialect.strip().lower()
    if name not in DIALECTS:
        hint = did_you_mean(name, DIALECTS)
        raise InputError(
            f"There is no dialect {dialect!r}{hint if hint.startswith('; did') else f'; known: {quoted(DIALECTS)}'}"
        )
    # sqlglot would also log what it cannot translate; the messages are taken from the generator instead.
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    try:
        statements = [one for one in sqlglot.parse(sql, dialect="duckdb") if one is not None]
    except SqlglotError as error:
        raise InputError(f"sqlglot, which translates, cannot read this query: {_reason(error)}.") from error
    if len(statements) != 1:
        raise InputError(f"The query has {len(statements) or 'no'} statements and should have one.")
    (statement,) = statements
    if not isinstance(statement, sqlglot.exp.Query):
        raise InputError(
            "Only queries are translated: the statement should begin with select, with, from or values."
        )
    generator = sqlglot.Dialect.get_or_raise(name).generator(pretty=True, unsupported_level=ErrorLevel.IGNORE)
    translated = generator.generate(rewritten(_in_schema(statement, schema), name))
    unsupported = [
        f"sqlglot says: {message.rstrip('.')}." for message in dict.fromkeys(generator.unsupported_messages)
    ]
    return Translation(translated, (*differences(statement, translated, name), *unsupported))


def _in_schema(statement: Query, schema: str | None) -> Query:
    """Return a copy whose published tables are named in another schema; names that the query itself gives stay."""
    from sqlglot import exp

    moved = statement.copy()
    if schema is None:
        return moved
    *catalog, db = schema.split(".")
    given = {cte.alias for cte in moved.find_all(exp.CTE)}
    for table in moved.find_all(exp.Table):
        if table.db in SCHEMAS or (not table.db and table.name not in given and table.name):
            table.set("db", exp.to_identifier(db))
            table.set("catalog", exp.to_identifier(".".join(catalog)) if catalog else None)
    return moved


def _reason(error: Exception) -> str:
    """Return the first error, without the excerpt that sqlglot underlines with escape sequences."""
    errors = getattr(error, "errors", None)
    if errors:
        first = errors[0]
        # Its descriptions of what is missing name classes of its own.
        what = "" if "<class" in first["description"] else f"{first['description'].rstrip('.')}, "
        return f"{what}line {first['line']}, column {first['col']}"
    return " ".join(str(error).split()).rstrip(".")
