"""Rewrites of SQL that sqlglot would print with another meaning or not at all, so that the result is the same as on DuckDB."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from sqlglot.expressions import Expr, Query

# A single log(x) is of base 10 there, as in DuckDB, and log(10, x) takes other types or is missing.
_LOG_IS_DECIMAL = frozenset({"redshift"})
_LOG_WITH_BASE_ALONE = frozenset({"snowflake"})
# Elsewhere nulls are left out anyway, or nothing could be said of them.
_KEEPS_IGNORE_NULLS = frozenset({"spark", "databricks", "clickhouse"})
_SQL_SERVER_NAMES: dict[type[Expr], str] = {
    exp.Variance: "VAR",
    exp.VariancePop: "VARP",
    exp.StddevPop: "STDEVP",
}
_CONDITIONS = (exp.Predicate, exp.Connector, exp.Not)


def rewritten(query: Query, dialect: str) -> Query:
    """Return a copy of the query, as DuckDB's dialect parsed it, that sqlglot prints rightly for `dialect`."""
    tree = query.copy()
    for rewrite in (*_REWRITES, *_REWRITES_OF.get(dialect, ())):
        # Innermost first, as an outer node is put in its new place as a copy.
        for node in reversed(list(tree.walk())):
            # None leaves a node as it is. The whole query is never one that is rewritten.
            if node.parent is not None and (new := rewrite(node, dialect)) is not None:
                node.replace(new)
    return tree


def _decimal_logarithm(node: Expr, dialect: str) -> Expr | None:
    """log(x) is of base 10 in DuckDB and natural in most others."""
    if not isinstance(node, exp.Log):
        return None
    base, number = (node.this, node.expression) if node.expression else (None, node.this)
    if base is not None and base.name != "10":
        return None
    if dialect in _LOG_WITH_BASE_ALONE:
        return exp.Anonymous(this="LOG", expressions=[exp.Literal.number(10), number.copy()])
    name = "LOG" if dialect in _LOG_IS_DECIMAL else "LOG10"
    return exp.Anonymous(this=name, expressions=[number.copy()])


def _any_value(node: Expr, dialect: str) -> Expr | None:
    """`IGNORE NULLS`, which sqlglot adds, is no SQL where nothing can be said of nulls."""
    if dialect in _KEEPS_IGNORE_NULLS or not isinstance(node, exp.IgnoreNulls):
        return None
    return node.this.copy() if isinstance(node.this, exp.AnyValue) else None


def _concat(node: Expr, _: str) -> Expr | None:
    """Redshift puts || in place of concat, which makes a null of a null part; DuckDB leaves it out."""
    if not isinstance(node, exp.Concat) or isinstance(node, exp.ConcatWs):
        return None
    parts: list[Expr] = [
        part.copy()
        if isinstance(part, exp.Literal) and part.is_string
        else exp.Coalesce(
            this=exp.cast(part.copy(), exp.DataType.Type.VARCHAR), expressions=[exp.Literal.string("")]
        )
        for part in node.expressions
    ]
    joined = parts[0]
    for part in parts[1:]:
        joined = exp.DPipe(this=joined, expression=part)
    return exp.paren(joined, copy=False)


def _ordered_list(node: Expr, _: str) -> Expr | None:
    """Redshift orders the parts of LISTAGG in a clause of its own."""
    if not isinstance(node, exp.GroupConcat) or not isinstance(node.this, exp.Order):
        return None
    order = node.this.copy()
    listed = exp.GroupConcat(this=order.this, separator=node.args.get("separator"))
    return exp.WithinGroup(this=listed, expression=exp.Order(expressions=order.expressions))


def _like_without_capitals(node: Expr, _: str) -> Expr | None:
    if not isinstance(node, exp.ILike):
        return None
    return exp.Like(this=exp.Lower(this=node.this.copy()), expression=exp.Lower(this=node.expression.copy()))


def _name_in_sql_server(node: Expr, _: str) -> Expr | None:
    name = _SQL_SERVER_NAMES.get(type(node))
    return exp.Anonymous(this=name, expressions=[node.this.copy()]) if name else None


def _truth_as_number(node: Expr, _: str) -> Expr | None:
    """SQL Server has no truth values: a condition that is selected or passed on becomes 1, 0 or null."""
    is_truth = isinstance(node, (*_CONDITIONS, exp.Boolean))
    if not is_truth or _is_condition(node):
        return None
    if isinstance(node, exp.Boolean):
        return exp.Literal.number(int(node.this))
    return exp.Case(
        ifs=[
            exp.If(this=node.copy(), true=exp.Literal.number(1)),
            exp.If(this=exp.Not(this=exp.paren(node.copy())), true=exp.Literal.number(0)),
        ]
    )


def _number_as_condition(node: Expr, _: str) -> Expr | None:
    """Return the other way round: what `coalesce` gives is a number there, and no condition."""
    if not isinstance(node, exp.Coalesce) or not _is_condition(node):
        return None
    return exp.EQ(this=node.copy(), expression=exp.Literal.number(1))


def _is_condition(node: Expr) -> bool:
    """Return whether a Boolean value is used where SQL Server requires a condition."""
    parent = node.parent
    if isinstance(parent, exp.Paren):
        return _is_condition(parent)
    if isinstance(parent, exp.If):
        # `case x when y` compares x with y; without an x, y is a condition.
        return node.arg_key == "this" and not (isinstance(parent.parent, exp.Case) and parent.parent.this)
    if isinstance(parent, exp.Join):
        return node.arg_key == "on"
    return isinstance(parent, (exp.Connector, exp.Not, exp.Where, exp.Having))


_Rewrite = Callable[["Expr", str], "Expr | None"]
_REWRITES: tuple[_Rewrite, ...] = (_decimal_logarithm, _any_value)
_REWRITES_OF: dict[str, tuple[_Rewrite, ...]] = {
    "redshift": (_concat, _ordered_list),
    "tsql": (_like_without_capitals, _name_in_sql_server, _truth_as_number, _number_as_condition),
}
