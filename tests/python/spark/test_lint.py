"""Test that the linter names the line of a model that breaks a rule of the translation."""

from __future__ import annotations

import pytest

from biasledger.spark.lint import broken_rules


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("select\n  a + 1 as x\nfrom t\nwhere x > 1", (4, "x is made by this select and read in a condition")),
        ("select a as x,\n  max(x) as y from t group by a", (2, "x is made by this select and read in an aggregate")),
        ("select a as x,\n  row_number() over (order by x) as y from t", (2, "x is made by this select")),
        ("select regexp_replace(a, 'b', 'c') from t", (1, "This has no counterpart in Spark's SQL")),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_named(sql: str, message: tuple[int, str]) -> None:
    [(line, sentence)] = broken_rules(sql, lambda _table: ["a", "b"])
    assert line == message[0]
    assert sentence.startswith(message[1])


@pytest.mark.parametrize(
    "sql",
    [
        "select max(a) as a from t where a > 1",
        "select a as x, x + 1 as y from t order by x",
        "with u as (select a as x from t) select max(x) as y, x from u where x > 1 group by x",
    ],
)
def test_what_keeps_them_is_not(sql: str) -> None:
    assert list(broken_rules(sql, lambda _table: ["a", "b"])) == []
