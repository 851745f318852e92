"""Ordered aggregates, which Spark lacks: the values are collected and then sorted.

Sums in an order are folded over the sorted list, one after the other as DuckDB does, so that they never depend on how rows are
spread over machines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sqlglot
from sqlglot import exp
from sqlglot.errors import UnsupportedError

from biasledger.spark.nodes import Spark4, call, template

Finish = Callable[[exp.Expr], exp.Expr]


def around(aggregate: exp.Expr, inner: exp.Expr, finish: Finish) -> exp.Expr | None:
    """Aggregate `inner` instead, with the same filter and window; `finish` converts the result."""
    top = aggregate
    while isinstance(top.parent, (exp.Filter, exp.Window, exp.IgnoreNulls)) and top.arg_key == "this":
        top = top.parent
    if top is aggregate:
        return finish(inner)
    place = exp.Null()
    top.replace(place)
    aggregate.replace(inner)
    place.replace(finish(top))
    return None


def _array_agg(node: exp.ArrayAgg) -> exp.Expr | None:
    def listed(rows: exp.Expr) -> exp.Expr:
        # A list of nothing is null.
        return template("nullif(_rows, array())", _rows=rows)

    if isinstance(node.this, exp.Order):
        return _in_order(node, node.this, listed)
    if isinstance(node.this, exp.Distinct):
        return around(node, call("collect_set", *node.this.expressions), listed)
    # Spark gathers no nulls, but what holds one.
    row = exp.Struct(expressions=[exp.PropertyEQ(this=exp.to_identifier("v"), expression=node.this)])
    return around(
        node,
        call("collect_list", row),
        lambda rows: listed(call("transform", rows, _lambda("_row -> _row.v"))),
    )


def _first(node: exp.First | exp.Last) -> exp.Expr | None:
    if not isinstance(node.this, exp.Order):
        return None
    place = 1 if isinstance(node, exp.First) else -1
    return _in_order(node, node.this, lambda rows: call("try_element_at", rows, exp.Literal.number(place)))


def _sum(node: exp.Sum | exp.Avg) -> exp.Expr | None:
    if not isinstance(node.this, exp.Order):
        return None
    folded = "aggregate(_rows, cast(null as double), (_sum, _one) -> coalesce(_sum + _one, _one, _sum))"
    if isinstance(node, exp.Avg):
        folded = f"{folded} / nullif(size(filter(_rows, _one -> _one is not null)), 0)"
    return _in_order(node, node.this, lambda rows: exp.paren(template(folded, _rows=rows)), as_double=True)


def _joined(node: exp.GroupConcat) -> exp.Expr | None:
    separator = node.args.get("separator") or exp.Literal.string("")

    def join(rows: exp.Expr) -> exp.Expr:
        return template(
            "if(size(_rows) > 0, array_join(_rows, _separator), null)", _rows=rows, _separator=separator
        )

    order = node.this
    if isinstance(order, exp.Order):
        return _in_order(node, order, lambda rows: join(call("array_compact", rows)))
    raise UnsupportedError("string_agg without an order")


def _in_order(
    node: exp.Expr, order: exp.Order, finish: Finish, *, as_double: bool = False
) -> exp.Expr | None:
    value, keys = order.this, order.expressions
    if isinstance(value, exp.Distinct):
        [value] = value.expressions
        if len(keys) != 1 or keys[0].this != value or keys[0].args.get("desc"):
            raise UnsupportedError("distinct values in an order of something else")
        return around(node, call("collect_set", value), lambda rows: finish(call("array_sort", rows)))
    if as_double:
        value = exp.cast(value, "double")
    fields = [
        exp.PropertyEQ(this=exp.to_identifier(f"k{number}"), expression=key.this)
        for number, key in enumerate(keys)
    ]
    fields.append(exp.PropertyEQ(this=exp.to_identifier("v"), expression=value))
    compared = _lambda(f"(_l, _r) -> case {' '.join(map(_compared, range(len(keys)), keys))} else 0 end")
    return around(
        node,
        call("collect_list", exp.Struct(expressions=fields)),
        lambda rows: finish(call("transform", call("array_sort", rows, compared), _lambda("_row -> _row.v"))),
    )


def _compared(number: int, key: exp.Ordered) -> str:
    """Return the condition for one row to sort before another by one key: nulls last unless NULLS FIRST is given."""
    before, after = ("1", "-1") if key.args.get("desc") else ("-1", "1")
    null, other = ("-1", "1") if key.args.get("nulls_first") else ("1", "-1")
    one, two = f"_l.k{number}", f"_r.k{number}"
    return (
        f"when {one} is null and {two} is not null then {null} when {two} is null and {one} is not null then {other} "
        f"when {one} < {two} then {before} when {one} > {two} then {after}"
    )


def _lambda(sql: str) -> exp.Expr:
    [found] = sqlglot.parse_one(f"f({sql})", dialect=Spark4).expressions
    assert isinstance(found, exp.Expr)
    return found


def _deviation(node: exp.StddevSamp) -> exp.Expr | None:
    """Return a standard deviation, whose last digits depend on how rows are distributed; no verdict depends on them."""
    return exp.StddevSamp(this=node.this.this) if isinstance(node.this, exp.Order) else None


def _counted(node: exp.Count) -> exp.Expr | None:
    """Spark counts no distinct values in a window."""
    is_in_window = isinstance(node.find_ancestor(exp.Window, exp.Select), exp.Window)
    if not is_in_window or not isinstance(node.this, exp.Distinct):
        return None
    return around(node, call("collect_set", *node.this.expressions), lambda values: call("size", values))


def _ignoring_nulls(node: exp.IgnoreNulls) -> exp.Expr | None:
    return call("any_value", node.this.this, exp.true()) if isinstance(node.this, exp.AnyValue) else None


AGGREGATES: Mapping[type[exp.Expr], Callable[..., exp.Expr | None]] = {
    exp.ArrayAgg: _array_agg,
    exp.First: _first,
    exp.Last: _first,
    exp.Count: _counted,
    exp.StddevSamp: _deviation,
    exp.Sum: _sum,
    exp.Avg: _sum,
    exp.GroupConcat: _joined,
    exp.IgnoreNulls: _ignoring_nulls,
}
