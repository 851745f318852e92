"""Test the translation of DuckDB's SQL to Spark's, where sqlglot alone would change the meaning or fail."""

from __future__ import annotations

import pytest
from sqlglot import exp

from biasledger.spark.patterns import java_pattern
from biasledger.spark.translate import TranslationError, to_spark

COLUMNS = {"t": ["a", "b", "c"], "u": ["c", "a", "d"]}


def translated(sql: str) -> str:
    def columns(table: exp.Table) -> list[str]:
        return COLUMNS[table.name]

    return to_spark(sql, columns)


@pytest.mark.parametrize(
    ("duckdb", "spark"),
    [
        # A quotient of decimals would be rounded.
        ("select 0.05 / 3 as x from t", "SELECT 0.05D / 3 AS x FROM t"),
        # By zero it is an infinity or NaN; the logarithm of zero is one.
        ("select a / b as x from t", "SELECT COALESCE(TRY_DIVIDE(a, b), a * POWER(b, -1)) AS x FROM t"),
        ("select a / nullif(b, 0) as x from t", "SELECT a / NULLIF(b, 0) AS x FROM t"),
        ("select a / greatest(b, 1) as x from t", "SELECT a / GREATEST(b, 1) AS x FROM t"),
        (
            "select ln(a) as x from t",
            (
                "SELECT COALESCE(LN(a), CASE WHEN a = 0 THEN CAST('-infinity' AS DOUBLE) "
                "WHEN a < 0 THEN CAST('nan' AS DOUBLE) END) AS x FROM t"
            ),
        ),
        # Places count from 0, and are null outside.
        ("select a[1] as x from t", "SELECT GET(a, 0) AS x FROM t"),
        ("select a[-1] as x from t", "SELECT TRY_ELEMENT_AT(a, -1) AS x FROM t"),
        ("select a[b] as x from t", "SELECT GET(a, CAST((b) - 1 AS INT)) AS x FROM t"),
        ("select a[2:] as x from t", "SELECT SLICE(a, 2, 2147483647) AS x FROM t"),
        ("select a[2:4] as x from t", "SELECT SLICE(a, (2), GREATEST((4) - (2) + 1, 0)) AS x FROM t"),
        ("select list_slice(a, 1, b) as x from t", "SELECT SLICE(a, 1, b) AS x FROM t"),
        # Both lists are walked in step.
        (
            "select unnest(a) as x, unnest(b) as y from t",
            (
                "SELECT _walked_0 AS x, _walked_1 AS y FROM t LATERAL VIEW "
                "INLINE(ARRAYS_ZIP(COALESCE(a, ARRAY()), COALESCE(b, ARRAY()))) _walked AS _walked_0, _walked_1"
            ),
        ),
        (
            "select a from t qualify row_number() over (order by b) = 1",
            "SELECT a FROM t QUALIFY ROW_NUMBER() OVER (ORDER BY b NULLS LAST) = 1",
        ),
        # A name that occurs twice counts once, the first time.
        (
            "select t.*, u.* from t inner join u on t.c = u.c",
            "SELECT t.*, `u`.`d` FROM t INNER JOIN u ON t.c = u.c",
        ),
        ("select * replace (1 as b) from t", "SELECT `t`.`a`, 1 AS b, `t`.`c` FROM t"),
        (
            "select a, b from t union all by name select d, a from u",
            (
                "SELECT `a`, `b`, NULL AS `d` FROM (SELECT a, b FROM t) AS _named UNION ALL "
                "SELECT `a`, NULL AS `b`, `d` FROM (SELECT d, a FROM u) AS _named"
            ),
        ),
        ("select list(distinct a) as x from t", "SELECT NULLIF(COLLECT_SET(a), ARRAY()) AS x FROM t"),
        (
            "select count(distinct a) over (partition by b) as x from t",
            "SELECT SIZE(COLLECT_SET(a) OVER (PARTITION BY b)) AS x FROM t",
        ),
        (
            "select sum(a) over (w rows unbounded preceding) as x from t window w as (partition by b order by c)",
            (
                "SELECT SUM(a) OVER (PARTITION BY b ORDER BY c NULLS LAST rows BETWEEN UNBOUNDED preceding AND CURRENT ROW) "
                "AS x FROM t"
            ),
        ),
        ("select md5(a -> 'k') as x from t", "SELECT MD5(GET_JSON_OBJECT(a, '$.k')) AS x FROM t"),
        (
            """select from_json(a, '[{"n": "DOUBLE"}]') as x from t""",
            "SELECT FROM_JSON(a, 'array<struct<`n`: DOUBLE>>') AS x FROM t",
        ),
        (
            "select coalesce(list_aggregate(a, 'string_agg', '  '), '') as x from t",
            "SELECT COALESCE(ARRAY_JOIN(a, '  '), '') AS x FROM t",
        ),
        ("select len(a) as x, length(b) as y from t", "SELECT SIZE(a) AS x, LENGTH(b) AS y FROM t"),
        (
            "select a from t where (a, b) in (select (c, d) from u)",
            "SELECT a FROM t WHERE (a, b) IN (SELECT c, d FROM u)",
        ),
        (
            r"select regexp_replace(a, ' (x|y) (z) ', ' \1>\2 ', 'g') as x from t",
            "SELECT REGEXP_REPLACE(a, ' (x|y) (z) ', ' $1>$2 ') AS x FROM t",
        ),
        ("select cast(a as ubigint) as x from t", "SELECT CAST(a AS DECIMAL(20, 0)) AS x FROM t"),
    ],
)
def test_what_is_meant_stays(duckdb: str, spark: str) -> None:
    assert translated(duckdb) == spark


def test_what_is_listed_in_an_order_is_sorted_with_nulls_last_under_its_filter() -> None:
    sql = translated("select list(a order by b desc) filter (where c > 0) as x from t")
    assert "COLLECT_LIST(STRUCT(b AS k0, a AS v)) FILTER(WHERE c > 0)" in sql
    assert "ARRAY_SORT(" in sql
    assert "_l.k0 IS NULL AND NOT _r.k0 IS NULL THEN 1" in sql
    assert "_l.k0 < _r.k0 THEN 1" in sql


def test_a_sum_in_an_order_is_folded_over_the_sorted_list() -> None:
    sql = translated("select sum(a order by b) over (partition by c) as x from t")
    assert (
        "AGGREGATE(TRANSFORM(ARRAY_SORT(COLLECT_LIST(STRUCT(b AS k0, CAST(a AS DOUBLE) AS v)) OVER (PARTITION BY c)"
        in sql
    )


@pytest.mark.parametrize(
    ("re2", "java"),
    [
        (r"a\s+$", r"a[\t\n\f\r ]+\z"),
        (r"[^a-z\s]", r"[^a-z\t\n\f\r ]"),
        ("a.b", r"a[^\n]b"),
        ("[a[&&b]", r"[a\[\&\&b]"),
        (r"\p{L}\d", r"\p{L}\d"),
    ],
)
def test_a_pattern_matches_the_same_in_java(re2: str, java: str) -> None:
    assert java_pattern(re2) == java


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("select regexp_replace(a, 'x', 'y') from t", "regexp_replace of the first match alone"),
        ("select regexp_matches(a, b) from t", "a pattern that is no constant, b"),
        ("select unnest(a), count(*) from t group by a", "unnest next to group by"),
        ("select string_agg(a) from t", "string_agg without an order"),
        ("select list_aggregate(a, 'sum') from t", "list_aggregate of sum"),
        ("select json_keys(a, '$.b') from t", "json_keys with 2 arguments"),
        ("select list(distinct a order by b) from t", "distinct values in an order of something else"),
    ],
)
def test_what_has_no_counterpart_is_an_error(sql: str, reason: str) -> None:
    with pytest.raises(TranslationError, match=f"^This has no counterpart in Spark's SQL: {reason}\\.$"):
        translated(sql)
