"""Parts of Spark's SQL as sqlglot's trees, and how they are printed."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import sqlglot
from sqlglot import exp, transforms
from sqlglot.dialects.spark import Spark


class Spark4(Spark):
    """Spark 4, which knows `qualify`; a number with a point is a double, since Spark rounds quotients of decimals."""

    class Generator(Spark.Generator):  # type: ignore[misc, valid-type]  # made by its metaclass
        """Prints trees."""

        TRANSFORMS: ClassVar = {
            **Spark.Generator.TRANSFORMS,
            exp.Select: transforms.preprocess([transforms.unnest_to_explode, transforms.any_to_exists]),
        }

        def literal_sql(self, expression: exp.Literal) -> str:
            """Return a constant."""
            text = super().literal_sql(expression)
            return f"{text}D" if not expression.is_string and re.search(r"[.eE]", text) else text

        def nullsafeneq_sql(self, expression: exp.NullSafeNEQ) -> str:
            """`is distinct from`."""
            return f"NOT ({self.sql(expression, 'this')} <=> {self.sql(expression, 'expression')})"


def call(name: str, *arguments: exp.Expr | str | int | None) -> exp.Anonymous:
    """Return a call of one of Spark's functions; numbers and texts among the arguments are constants."""
    return exp.Anonymous(
        this=name,
        expressions=[
            constant(one) if one is None or isinstance(one, (str, int)) else one for one in arguments
        ],
    )


def constant(value: str | int | None) -> exp.Expr:
    """Return a number, a text or null."""
    if value is None:
        return exp.Null()
    return exp.Literal.string(value) if isinstance(value, str) else exp.Literal.number(value)


def template(sql: str, **parts: exp.Expr) -> exp.Expr:
    """Return an expression of Spark's SQL with `parts` in place of the columns of these names; each may come more than once."""
    tree = exp.Paren(this=sqlglot.parse_one(sql, dialect=Spark))
    for column in list(tree.find_all(exp.Column)):
        if column.name in parts and not column.table:
            column.replace(parts[column.name].copy())
    found: exp.Expr = tree.this
    return found


def is_call(node: Any, *names: str) -> bool:
    """Return whether a node calls a function of one of these names, in lower case, that sqlglot does not know."""
    return isinstance(node, exp.Anonymous) and node.name.lower() in names
