"""Find parts of a translated query that may differ in meaning from DuckDB.

PostgreSQL and Spark are known: each rule looks for one thing in the parsed query and says what differs there. For any other
warehouse one sentence says what to look at. Nulls' place in an order is no rule: sqlglot writes it out wherever a warehouse's own
differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp

from biasledger.querying.tables import described_tables

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

DIALECTS: Mapping[str, str] = {
    "bigquery": "BigQuery",
    "clickhouse": "ClickHouse",
    "databricks": "Databricks",
    "mysql": "MySQL",
    "postgres": "PostgreSQL",
    "redshift": "Redshift",
    "snowflake": "Snowflake",
    "spark": "Spark",
    "sqlite": "SQLite",
    "trino": "Trino",
    "tsql": "SQL Server",
}
_KNOWN = ("postgres", "spark")
_GENERAL = (
    "Differences in {0} are not checked, as they are for PostgreSQL and Spark: before you rely on it, look at division by zero "
    "and of whole numbers, casts to whole numbers, text compared or ordered, regular expressions, dates, lists, nulls in "
    "functions, and what {0} may not have (group by all, filter, arg_max, quantile, union by name)."
)
_SHOWN_CHARACTERS = 50
_WHOLE = (exp.Round, exp.Floor, exp.Ceil, exp.Trunc)
_CHANGES_OF_STARS = ("except_", "except", "replace", "rename")


@dataclass(frozen=True)
class _Rule:
    """A pattern and the sentences on it; {0} is the warehouse, and an empty sentence means that nothing differs there."""

    find: Callable[[Expr], Iterator[Expr]]
    postgres: str = ""
    spark: str = ""


def differences(query: Expr, translated: str, dialect: str) -> tuple[str, ...]:
    """Sentences on what may mean something else in `dialect`, each with the place in the query that it is about.

    Args:
        query: the query as parsed from DuckDB's dialect.
        translated: the query as sqlglot printed it for `dialect`.
    """
    found = _about(query.find_all(exp.Anonymous, exp.AnonymousAggFunc), _UNKNOWN.format(DIALECTS[dialect]))
    if dialect in _KNOWN:
        for tree, rules in ((query, _RULES), (_with_types(query), _TYPED_RULES)):
            for rule in rules:
                if sentence := getattr(rule, dialect).format(DIALECTS[dialect]):
                    found += _about(rule.find(tree), sentence)
    else:
        found.append(_GENERAL.format(DIALECTS[dialect]))
    try:
        sqlglot.parse_one(translated, dialect=dialect)
    except sqlglot.errors.SqlglotError:
        found.append(
            f"sqlglot cannot read its own output back as SQL of {DIALECTS[dialect]}: correct it by hand."
        )
    return tuple(dict.fromkeys(found))


def _about(nodes: Iterable[Expr], sentence: str) -> list[str]:
    shown = list(dict.fromkeys(_shortened_sql(node) for node in nodes))
    if not shown:
        return []
    more = f" and {len(shown) - 2} more" if len(shown) > 2 else ""
    return [f"{', '.join(shown[:2])}{more}: {sentence}"]


def _shortened_sql(node: Expr) -> str:
    text = " ".join(node.sql(dialect="duckdb", comments=False).split())
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"


def _nodes(
    *kinds: type[Expr], when: Callable[[Expr], object] = lambda _: True
) -> Callable[[Expr], Iterator[Expr]]:
    """Return a function that yields the parts of a query of these kinds; `when` leaves out others."""
    return lambda query: (one for one in query.find_all(*kinds) if when(one))


def _may_be_by_zero(division: Expr) -> bool:
    divisor = division.expression.unnest()
    return not (isinstance(divisor, exp.Nullif) or (divisor.is_number and divisor.to_py()))


def _reused_names(query: Expr) -> Iterator[Expr]:
    """Yield a new name used by the same select's columns, conditions or groups, or inside an expression of its order."""
    for select in query.find_all(exp.Select):
        given = {one.alias for one in select.expressions if isinstance(one, exp.Alias)}
        taken = _columns_of_sources(select)
        places = [
            *select.expressions,
            *(select.args[part] for part in ("where", "having") if select.args.get(part)),
        ]
        order = select.args.get("order")
        places += (
            [one.this for one in order.expressions if not isinstance(one.this, exp.Column)] if order else []
        )
        for place in places:
            for column in place.find_all(exp.Column):
                if not column.table and column.name in given - taken and column.parent_select is select:
                    yield column


def _columns_of_sources(select: exp.Select) -> set[str]:
    """Return names that a select's tables have anyway, where they are public ones or a select of their own."""
    known = {table.name: {column.name for column in table.columns} for table in described_tables()}
    for with_ in (node.args.get("with_") or node.args.get("with") for node in _with_ancestors(select)):
        for cte in with_.expressions if with_ else ():
            known[cte.alias] = set(cte.this.named_selects)
    sources = [select.args.get("from_") or select.args.get("from"), *select.args.get("joins", ())]
    names: set[str] = set()
    for source in filter(None, sources):
        table = source.this
        if isinstance(table, exp.Table):
            names |= known.get(table.name, set())
        elif isinstance(table, exp.Subquery):
            names |= set(table.this.named_selects)
    if "*" in names:
        names |= {column for columns in known.values() for column in columns}
    return names


def _with_ancestors(node: Expr) -> Iterator[Expr]:
    current: Expr | None = node
    while current is not None:
        yield current
        current = current.parent


def _has_type(node: Expr, *types: exp.DType) -> bool:
    return bool(node.type and node.type.is_type(*types))


def _text_orders(query: Expr) -> Iterator[Expr]:
    return (one.this for one in query.find_all(exp.Ordered) if _has_type(one.this, *exp.DataType.TEXT_TYPES))


def _is_cut_off(cast: Expr) -> bool:
    """Whether a number with decimals is cast to a whole one, without being rounded before."""
    if isinstance(cast.this, _WHOLE) or not cast.args["to"].is_type(*exp.DataType.INTEGER_TYPES):
        return False
    return _has_type(cast.this.unnest(), *exp.DataType.FLOAT_TYPES)


def _with_types(query: Expr) -> Expr:
    """Return the query with the types of public tables; unchanged if sqlglot cannot infer them."""
    from sqlglot.errors import SqlglotError
    from sqlglot.optimizer.annotate_types import annotate_types
    from sqlglot.optimizer.qualify import qualify

    # One depth for all: a name without a schema is looked for as if it were in `marts`, where it is found.
    columns = {table.name: {one.name: one.data_type for one in table.columns} for table in described_tables()}
    schema: dict[str, object] = {"marts": columns}
    try:
        qualified = qualify(
            query.copy(),
            dialect="duckdb",
            db="marts",
            schema=schema,
            validate_qualify_columns=False,
            quote_identifiers=False,
            identify=False,
        )
        return annotate_types(qualified, schema=schema, dialect="duckdb")
    except SqlglotError:
        return query


_UNKNOWN = "sqlglot does not know this function and prints it unchanged; look it up for {0}."
_INT_DIVISION = (
    "// is printed as another function for {0}, or by floating point: a divisor of zero and numbers beyond 2 to the 53rd may "
    "give something else."
)
_DATES = (
    "dates and times are counted and written by {0}'s own rules (boundaries crossed or whole units, time zone of the session, "
    "patterns of formats)."
)
_ZERO = "division by zero is an error in {0}, and infinity in DuckDB."
_RANDOM = "a sample, a random or an approximate number: {0} gives other ones."
_JOIN = "look up whether {0} has this kind of join, and what it does there with ties."
_NO_SUM = "{0} adds up no booleans: cast them to integers first."
_ABSENT = "{0} has nothing of that name."

_RULES = (
    _Rule(_nodes(exp.Div, when=_may_be_by_zero), _ZERO, _ZERO),
    _Rule(_nodes(exp.IntDiv), _INT_DIVISION, _INT_DIVISION),
    _Rule(
        _nodes(
            *(exp.Array, exp.ArrayAgg, exp.Bracket, exp.Unnest, exp.Explode, exp.Struct, exp.Map, exp.Lambda),
            *(exp.ArrayFilter, exp.ArrayContains, exp.ArraySize),
        ),
        "lists, structs and maps differ: in {0} a place outside an array is null and slices keep their shape; structs are rows.",
        "lists, structs and maps differ: in {0} arrays are counted from 0 and collect_list drops nulls and has no order.",
    ),
    _Rule(
        _nodes(exp.RegexpLike, exp.RegexpExtract, exp.RegexpReplace, exp.RegexpExtractAll, exp.SimilarTo),
        "DuckDB's regular expressions are RE2; {0} has POSIX expressions, whose longest match wins.",
        "DuckDB's regular expressions are RE2; {0} has Java's expressions.",
    ),
    _Rule(
        _nodes(
            *(
                exp.DateDiff,
                exp.DateAdd,
                exp.DateSub,
                exp.Interval,
                exp.CurrentDate,
                exp.CurrentTimestamp,
                exp.DateTrunc,
            ),
            *(exp.TimestampTrunc, exp.TimeToStr, exp.StrToTime, exp.TimeToUnix, exp.Extract),
        ),
        _DATES,
        _DATES,
    ),
    _Rule(_nodes(exp.ApproxDistinct, exp.ApproxQuantile, exp.TableSample, exp.Rand), _RANDOM, _RANDOM),
    _Rule(
        _nodes(exp.Join, when=lambda one: str(one.args.get("method", "")).upper() in {"ASOF", "POSITIONAL"}),
        _JOIN,
        _JOIN,
    ),
    _Rule(_nodes(exp.Quantile, exp.Pivot, exp.Columns), _ABSENT, _ABSENT),
    _Rule(_nodes(exp.ArgMax, exp.ArgMin, exp.First, exp.Last, exp.IsNan, exp.Mode), _ABSENT),
    _Rule(_nodes(exp.TryCast), "{0} has no try_cast: a wrong value is an error, not null."),
    _Rule(_nodes(exp.AnyValue), "{0} has any_value from version 16 on."),
    _Rule(
        _nodes(exp.Log, when=lambda one: one.expression and one.this.name != "10"),
        "{0} has log(base, x) for numeric only, not for double precision: cast both.",
    ),
    _Rule(_reused_names, "{0} does not know a column's new name inside the select that gives it."),
    _Rule(
        _nodes(exp.SetOperation, when=lambda one: one.args.get("by_name")),
        "{0} has no union by name: put the columns of both sides in one order.",
    ),
    _Rule(
        _nodes(exp.Group, when=lambda one: one.args.get("all")), "{0} has no group by all: name the columns."
    ),
    _Rule(
        _nodes(
            exp.Ordered, when=lambda one: one.this.name.lower() == "all" and not one.this.args.get("table")
        ),
        "{0} has no order by all: name the columns.",
    ),
    _Rule(
        _nodes(exp.Star, when=lambda one: any(map(one.args.get, _CHANGES_OF_STARS))),
        "{0} knows no star without some columns: name those that you want.",
    ),
)
_TYPED_RULES = (
    _Rule(_text_orders, "text is ordered by the database's collation in {0} and by code point in DuckDB."),
    _Rule(
        _nodes(exp.Sum, exp.Avg, when=lambda one: _has_type(one.this, exp.DataType.Type.BOOLEAN)),
        _NO_SUM,
        _NO_SUM,
    ),
    _Rule(
        _nodes(
            exp.Round,
            when=lambda one: one.args.get("decimals") and _has_type(one.this, *exp.DataType.FLOAT_TYPES),
        ),
        "{0} rounds to places only numeric, not double precision: cast it.",
    ),
    _Rule(
        _nodes(exp.Cast, when=_is_cut_off),
        spark="{0} may cut off the decimals where DuckDB rounds to a whole number: round first.",
    ),
)
