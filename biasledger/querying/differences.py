"""Where a query that sqlglot translated may mean something else than in DuckDB.

Each rule looks for one thing in the parsed query and says what differs where. Nulls' place in an order is no rule: sqlglot writes
it out wherever a warehouse's own differs.
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
_ALL = frozenset(DIALECTS)
_ANSI_SPARK = frozenset({"spark", "databricks"})
_SHOWN_CHARACTERS = 50
# Regular expressions are Google's RE2 in DuckDB, BigQuery and ClickHouse.
_REGEXPS: Mapping[str, str] = {
    "postgres": "POSIX expressions, whose longest match wins",
    "redshift": "POSIX expressions without \\p{…} and lazy quantifiers",
    "snowflake": "POSIX expressions that must match the whole text in REGEXP_LIKE",
    "spark": "Java's expressions",
    "databricks": "Java's expressions",
    "trino": "Java's expressions",
    "mysql": "ICU's expressions, without regard to capitals by default",
    "sqlite": "none unless an extension is loaded",
    "tsql": "none before 2025",
}
_IGNORES_CAPITALS = frozenset({"mysql", "tsql"})
# Order of text by the database's collation rather than by code point.
_COLLATES = frozenset({"postgres", "mysql", "tsql"})
# Aggregates of two columns, such as a correlation.
_WITHOUT_PAIRS = frozenset({"mysql", "redshift", "sqlite", "tsql"})
# What a cast of a floating number to a whole one does; DuckDB rounds, halves to the even number.
_CUTS_OFF = frozenset({"clickhouse", "databricks", "redshift", "spark", "sqlite", "tsql"})
_ROUNDS_HALVES_UP = frozenset({"bigquery", "mysql", "snowflake", "trino"})
_WHOLE = (exp.Round, exp.Floor, exp.Ceil, exp.Trunc)
# What sqlglot prints as it stands, though these have nothing of the kind.
_ABSENT: Mapping[type[Expr], tuple[str, frozenset[str]]] = {
    exp.ArgMax: ("arg_max", frozenset({"postgres", "redshift", "mysql", "sqlite", "tsql"})),
    exp.ArgMin: ("arg_min", frozenset({"postgres", "redshift", "mysql", "sqlite", "tsql"})),
    exp.First: ("first as an aggregate", _ALL - _ANSI_SPARK),
    exp.Last: ("last as an aggregate", _ALL - _ANSI_SPARK),
    exp.IsNan: ("isnan", frozenset({"postgres", "redshift", "mysql", "sqlite", "tsql", "snowflake"})),
    exp.Median: ("median", frozenset({"bigquery", "sqlite", "mysql", "tsql", "trino"})),
    exp.Quantile: ("quantile", _ALL - {"clickhouse"}),
    exp.TryCast: (
        "try_cast (a wrong value is an error, not null)",
        frozenset({"postgres", "redshift", "mysql", "sqlite"}),
    ),
    exp.LogicalAnd: ("bool_and", frozenset({"clickhouse", "tsql"})),
    exp.LogicalOr: ("bool_or", frozenset({"clickhouse", "tsql"})),
    exp.CountIf: ("count_if", frozenset({"mysql"})),
    exp.Mode: (
        "mode(x)",
        frozenset({"bigquery", "clickhouse", "mysql", "postgres", "redshift", "sqlite", "trino", "tsql"}),
    ),
    exp.Corr: ("corr", _WITHOUT_PAIRS),
    exp.CovarSamp: ("covar_samp", _WITHOUT_PAIRS),
    exp.CovarPop: ("covar_pop", _WITHOUT_PAIRS),
    exp.RegrSlope: ("regr_slope", _WITHOUT_PAIRS | {"bigquery", "clickhouse"}),
    exp.RegrIntercept: ("regr_intercept", _WITHOUT_PAIRS | {"bigquery", "clickhouse"}),
    exp.RegrR2: ("regr_r2", _WITHOUT_PAIRS | {"bigquery", "clickhouse", "trino"}),
    exp.Stddev: ("stddev", frozenset({"sqlite"})),
    exp.StddevPop: ("stddev_pop", frozenset({"sqlite"})),
    exp.Variance: ("variance", frozenset({"sqlite"})),
    exp.VariancePop: ("var_pop", frozenset({"sqlite"})),
    exp.Pivot: ("DuckDB's pivot", _ALL),
    exp.Columns: ("columns(…)", _ALL - {"clickhouse"}),
}


@dataclass(frozen=True)
class _Rule:
    """What to look for, and the sentence on it for a dialect; an empty sentence means that nothing differs there."""

    find: Callable[[Expr], Iterator[Expr]]
    say: Callable[[str], str]


def differences(query: Expr, translated: str, dialect: str) -> tuple[str, ...]:
    """Sentences on what may mean something else in `dialect`, each with the place in the query that it is about.

    Args:
        query: the query as parsed from DuckDB's dialect.
        translated: the query as sqlglot printed it for `dialect`.
    """
    found: list[str] = []
    typed = _with_types(query)
    for rule in _RULES:
        if sentence := rule.say(dialect):
            found += _about(rule.find(query), sentence)
    for rule in _TYPED_RULES:
        if sentence := rule.say(dialect):
            found += _about(rule.find(typed), sentence)
    found += _absent(query, dialect)
    found += _left_over(translated, dialect)
    if dialect == "snowflake":
        found.append(
            "Snowflake writes names without quotes in capitals: columns come back as AUDIT, and tables made with quoted "
            "small letters are not found."
        )
    return tuple(dict.fromkeys(found))


def _about(nodes: Iterable[Expr], sentence: str) -> list[str]:
    shown = list(dict.fromkeys(_shown(node) for node in nodes))
    if not shown:
        return []
    more = f" and {len(shown) - 2} more" if len(shown) > 2 else ""
    return [f"{', '.join(shown[:2])}{more}: {sentence}"]


def _shown(node: Expr) -> str:
    text = " ".join(node.sql(dialect="duckdb", comments=False).split())
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"


def _every(*kinds: type[Expr]) -> Callable[[Expr], Iterator[Expr]]:
    return lambda query: iter(list(query.find_all(*kinds)))


def _division(dialect: str) -> str:
    zero = {"mysql": "null", "sqlite": "null", "clickhouse": "infinity"}.get(dialect, "an error")
    return (
        f"division by zero is {zero} in {DIALECTS[dialect]}, and infinity in DuckDB."
        if zero != "infinity"
        else ""
    )


def _whole_division(dialect: str) -> str:
    return (
        f"// is printed as another function for {DIALECTS[dialect]}, or by floating point: a divisor of zero and "
        "numbers beyond 2 to the 53rd may give something else."
    )


def _decimal_division(dialect: str) -> str:
    return "Snowflake keeps six decimals of a division of whole numbers." if dialect == "snowflake" else ""


def _lists(dialect: str) -> str:
    particular = {
        "bigquery": "arrays hold no nulls and are counted from 0",
        "snowflake": "arrays are counted from 0 and array_agg drops nulls",
        "spark": "arrays are counted from 0 and collect_list drops nulls and has no order",
        "databricks": "arrays are counted from 0 and collect_list drops nulls and has no order",
        "postgres": "a place outside an array is null and slices keep their shape; structs are rows",
        "redshift": "there are no arrays but SUPER, counted from 0",
        "trino": "a place outside an array is an error",
        "clickhouse": "arrays hold no nulls unless their type says so",
    }.get(dialect, "there are no lists or structs")
    return f"lists, structs and maps differ: in {DIALECTS[dialect]} {particular}."


def _regexp(dialect: str) -> str:
    kind = _REGEXPS.get(dialect)
    return f"DuckDB's regular expressions are RE2; {DIALECTS[dialect]} has {kind}." if kind else ""


def _dates(dialect: str) -> str:
    return (
        f"dates and times are counted and written by {DIALECTS[dialect]}'s own rules (boundaries crossed or whole units, "
        "time zone of the session, patterns of formats)."
    )


def _text_equal(dialect: str) -> str:
    if dialect not in _IGNORES_CAPITALS:
        return ""
    return f"{DIALECTS[dialect]} takes capital and small letters for equal by default; DuckDB does not."


def _like(dialect: str) -> str:
    if dialect not in _IGNORES_CAPITALS | {"sqlite"}:
        return ""
    return f"LIKE disregards capitals in {DIALECTS[dialect]} by default; in DuckDB it does not."


def _text_order(dialect: str) -> str:
    if dialect not in _COLLATES:
        return ""
    return f"text is ordered by the database's collation in {DIALECTS[dialect]} and by code point in DuckDB."


def _random(dialect: str) -> str:
    return f"a sample, a random or an approximate number: {DIALECTS[dialect]} gives other ones."


def _unknown(dialect: str) -> str:
    return (
        f"sqlglot does not know this function and prints it as it stands; look it up for {DIALECTS[dialect]}."
    )


def _extremes(dialect: str) -> str:
    if dialect not in {"bigquery", "mysql", "trino", "sqlite"}:
        return ""
    return f"null wherever one of them is null in {DIALECTS[dialect]}; DuckDB leaves nulls out."


def _sum_of_booleans(dialect: str) -> str:
    if dialect in {"mysql", "sqlite", "clickhouse"}:
        return ""
    return f"{DIALECTS[dialect]} adds up no booleans: cast them to integers first."


def _rounding(dialect: str) -> str:
    if dialect not in {"postgres", "redshift"}:
        return ""
    return f"{DIALECTS[dialect]} rounds to places only numeric, not double precision: cast it."


def _whole_numbers(dialect: str) -> str:
    name = DIALECTS[dialect]
    if dialect in _CUTS_OFF:
        return f"{name} may cut off the decimals where DuckDB rounds to a whole number: round first."
    if dialect in _ROUNDS_HALVES_UP:
        return f"{name} rounds halves away from zero, DuckDB to the even number."
    return ""


def _log_of_base(dialect: str) -> str:
    if dialect != "postgres":
        return ""
    return "PostgreSQL has log(base, x) for numeric only, not for double precision: cast both."


def _parts_with_separator(dialect: str) -> str:
    if dialect not in {"bigquery", "clickhouse", "redshift", "snowflake"}:
        return ""
    told = "the whole text is null" if dialect == "redshift" else "its separator stays"
    return f"where a part is null {told} in {DIALECTS[dialect]}; DuckDB leaves both out."


def _any_with_nulls(dialect: str) -> str:
    if dialect not in {"mysql", "snowflake"}:
        return ""
    return f"{DIALECTS[dialect]} may give a null where DuckDB gives another value."


def _ordered_texts(dialect: str) -> str:
    if dialect != "clickhouse":
        return ""
    return "ClickHouse joins texts in no order: sort an array of them first."


def _alias(dialect: str) -> str:
    if dialect in {"snowflake", "redshift", "databricks", "spark", "clickhouse"}:
        return ""
    return f"{DIALECTS[dialect]} does not know a column's new name inside the select that gives it."


def _by_name(dialect: str) -> str:
    if dialect in {"snowflake", "databricks", "spark", "bigquery"}:
        return ""
    return f"{DIALECTS[dialect]} has no union by name: put the columns of both sides in one order."


def _all_of_group(dialect: str) -> str:
    if dialect in {"snowflake", "bigquery", "databricks", "spark", "clickhouse"}:
        return ""
    return f"{DIALECTS[dialect]} has no group by all: name the columns."


def _all_of_order(dialect: str) -> str:
    if dialect in _ANSI_SPARK | {"clickhouse", "snowflake"}:
        return ""
    return f"{DIALECTS[dialect]} has no order by all: name the columns."


def _star_without(dialect: str) -> str:
    if dialect in {"snowflake", "bigquery", "databricks", "clickhouse", "spark"}:
        return ""
    return f"{DIALECTS[dialect]} knows no star without some columns: name those that you want."


def _joins(dialect: str) -> str:
    return f"look up whether {DIALECTS[dialect]} has this kind of join, and what it does there with ties."


def _divisions(query: Expr) -> Iterator[Expr]:
    """Those whose divisor may be zero."""
    for division in query.find_all(exp.Div):
        divisor = division.expression.unnest()
        if not (isinstance(divisor, exp.Nullif) or (divisor.is_number and divisor.to_py())):
            yield division


def _decimal_divisions(query: Expr) -> Iterator[Expr]:
    for division in query.find_all(exp.Div):
        kinds = [side.type for side in (division.this.unnest(), division.expression.unnest())]
        if all(kind is not None and kind.is_type(*exp.DataType.INTEGER_TYPES) for kind in kinds):
            yield division


def _group_all(query: Expr) -> Iterator[Expr]:
    return (group for group in query.find_all(exp.Group) if group.args.get("all"))


def _order_all(query: Expr) -> Iterator[Expr]:
    return (
        one
        for one in query.find_all(exp.Ordered)
        if one.this.name.lower() == "all" and not one.this.args.get("table")
    )


def _stars_without(query: Expr) -> Iterator[Expr]:
    changes = ("except_", "except", "replace", "rename")
    return (star for star in query.find_all(exp.Star) if any(star.args.get(change) for change in changes))


def _unions_by_name(query: Expr) -> Iterator[Expr]:
    return (union for union in query.find_all(exp.SetOperation) if union.args.get("by_name"))


def _odd_joins(query: Expr) -> Iterator[Expr]:
    return (
        join
        for join in query.find_all(exp.Join)
        if str(join.args.get("method", "")).upper() in {"ASOF", "POSITIONAL"}
    )


def _reused_names(query: Expr) -> Iterator[Expr]:
    """A new name used by the same select's columns, conditions or groups, or inside an expression of its order."""
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
    """Names that a select's tables have anyway, where they are public ones or a select of their own."""
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


def _is_text(node: Expr) -> bool:
    return bool(node.type and node.type.is_type(*exp.DataType.TEXT_TYPES))


def _text_comparisons(query: Expr) -> Iterator[Expr]:
    for node in query.find_all(exp.EQ, exp.NEQ, exp.In):
        if _is_text(node.this):
            yield node


def _text_orders(query: Expr) -> Iterator[Expr]:
    return (one.this for one in query.find_all(exp.Ordered) if _is_text(one.this))


def _boolean_sums(query: Expr) -> Iterator[Expr]:
    return (
        one
        for one in query.find_all(exp.Sum, exp.Avg)
        if one.this.type and one.this.type.is_type(exp.DataType.Type.BOOLEAN)
    )


def _whole_casts(query: Expr) -> Iterator[Expr]:
    for one in query.find_all(exp.Cast):
        of = None if isinstance(one.this, _WHOLE) else one.this.unnest().type
        if one.to.is_type(*exp.DataType.INTEGER_TYPES) and of and of.is_type(*exp.DataType.FLOAT_TYPES):
            yield one


def _logs_of_base(query: Expr) -> Iterator[Expr]:
    return (one for one in query.find_all(exp.Log) if one.expression and one.this.name != "10")


def _ordered_lists(query: Expr) -> Iterator[Expr]:
    return (one for one in query.find_all(exp.GroupConcat) if isinstance(one.this, exp.Order))


def _double_rounds(query: Expr) -> Iterator[Expr]:
    return (
        one
        for one in query.find_all(exp.Round)
        if one.args.get("decimals") and one.this.type and one.this.type.is_type(*exp.DataType.FLOAT_TYPES)
    )


def _with_types(query: Expr) -> Expr:
    """The query with types where the public tables' descriptions give them; as it is where sqlglot cannot tell."""
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


def _absent(query: Expr, dialect: str) -> list[str]:
    return [
        f"{name}: {DIALECTS[dialect]} has nothing of that name."
        for kind, (name, dialects) in _ABSENT.items()
        if dialect in dialects and query.find(kind)
    ]


def _left_over(translated: str, dialect: str) -> list[str]:
    """What sqlglot translated for some warehouses and left for others."""
    try:
        parsed = sqlglot.parse_one(translated, dialect=dialect)
    except sqlglot.errors.SqlglotError:
        return [
            f"What sqlglot printed is no SQL that it can read back as {DIALECTS[dialect]}'s: mend it by hand."
        ]
    sentences = []
    if dialect in {"mysql", "redshift", "tsql", "bigquery", "snowflake"} and parsed.find(exp.Filter):
        sentences.append(
            f"filter (where …) of an aggregate: {DIALECTS[dialect]} has none; write sum(case when … end)."
        )
    if dialect in {"postgres", "sqlite", "tsql"} and parsed.find(exp.AnyValue):
        sentences.append(f"any_value: {DIALECTS[dialect]} has none, PostgreSQL from version 16 on.")
    return sentences


_RULES = (
    _Rule(_divisions, _division),
    _Rule(_every(exp.IntDiv), _whole_division),
    _Rule(
        _every(
            exp.Array,
            exp.ArrayAgg,
            exp.Bracket,
            exp.Unnest,
            exp.Explode,
            exp.Struct,
            exp.Map,
            exp.Lambda,
            exp.ArrayFilter,
            exp.ArrayContains,
            exp.ArraySize,
        ),
        _lists,
    ),
    _Rule(
        _every(exp.RegexpLike, exp.RegexpExtract, exp.RegexpReplace, exp.RegexpExtractAll, exp.SimilarTo),
        _regexp,
    ),
    _Rule(
        _every(
            exp.DateDiff,
            exp.DateAdd,
            exp.DateSub,
            exp.Interval,
            exp.CurrentDate,
            exp.CurrentTimestamp,
            exp.DateTrunc,
            exp.TimestampTrunc,
            exp.TimeToStr,
            exp.StrToTime,
            exp.TimeToUnix,
            exp.Extract,
        ),
        _dates,
    ),
    _Rule(_every(exp.ApproxDistinct, exp.ApproxQuantile, exp.TableSample, exp.Rand), _random),
    _Rule(_every(exp.Anonymous, exp.AnonymousAggFunc), _unknown),
    _Rule(_every(exp.Greatest, exp.Least), _extremes),
    _Rule(_every(exp.Like), _like),
    _Rule(_logs_of_base, _log_of_base),
    _Rule(_every(exp.ConcatWs), _parts_with_separator),
    _Rule(_every(exp.AnyValue), _any_with_nulls),
    _Rule(_ordered_lists, _ordered_texts),
    _Rule(_reused_names, _alias),
    _Rule(_unions_by_name, _by_name),
    _Rule(_group_all, _all_of_group),
    _Rule(_order_all, _all_of_order),
    _Rule(_stars_without, _star_without),
    _Rule(_odd_joins, _joins),
)
_TYPED_RULES = (
    _Rule(_decimal_divisions, _decimal_division),
    _Rule(_text_comparisons, _text_equal),
    _Rule(_text_orders, _text_order),
    _Rule(_boolean_sums, _sum_of_booleans),
    _Rule(_double_rounds, _rounding),
    _Rule(_whole_casts, _whole_numbers),
)
