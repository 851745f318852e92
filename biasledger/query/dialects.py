"""A query for DuckDB in another warehouse's SQL, with a warning for all that may mean something else there.

sqlglot translates; the warnings come from what the query really uses, in `differences`.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from biasledger.query.differences import DIALECTS, differences
from collector.errors import InputError
from collector.hints import did_you_mean, quoted


@dataclass(frozen=True)
class Translation:
    """A query in another dialect, and what to look at before its results are relied on, one sentence each."""

    sql: str
    warnings: tuple[str, ...]


def translate(sql: str, dialect: str) -> Translation:
    """Translate one statement from DuckDB's dialect.

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
    # What it cannot translate it would also log; the messages are taken from the generator instead.
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
    translated = generator.generate(statement.copy())
    unsupported = [
        f"sqlglot says: {message.rstrip('.')}." for message in dict.fromkeys(generator.unsupported_messages)
    ]
    return Translation(translated, (*differences(statement, translated, name), *unsupported))


def _reason(error: Exception) -> str:
    """The first error, without the excerpt that sqlglot underlines with escape sequences."""
    errors = getattr(error, "errors", None)
    if errors:
        first = errors[0]
        return f"{str(first['description']).rstrip('.')} (line {first['line']}, column {first['col']})"
    return " ".join(str(error).split()).rstrip(".")
