"""Test counts of lines, statements and branches on small pieces of code."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.counts import circles, conditions_of_joins, counts, lists_methods, n_casts


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select 1 from a join b on a.x = b.x", [1]),
        ("from a left join b on (a.x = b.x and a.y = b.y) and a.z between 1 and 2 and a.w = b.w where a.q and a.r", [3]),
        ("from a inner join b using (run_id, scheme, term, attribute) join c on c.x = b.x and c.y = b.y", [4, 2]),
        ("from a join (select * from c where x and y and z and w) as b on a.x = b.x and case when p and q then r end", [2]),
        ("select x from (select 1 from a join b on a.x = b.x and a.y = b.y) where y and z", [2]),
        ("from a cross join b", [0]),
    ],
)  # fmt: skip
def test_conditions_of_joins(sql: str, expected: list[int]) -> None:
    assert conditions_of_joins(sql) == expected


def test_casts_are_counted_however_written() -> None:
    assert (
        n_casts("select cast(a as bigint), b::double, '::', -- cast(c)\n try_cast(d as int), recast(e)") == 3
    )


def test_circles_are_counted_once() -> None:
    imported = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "e"}, "e": set(), "f": {"g"}, "g": {"f"}}
    assert circles(imported) == [{"a", "b", "c"}, {"f", "g"}]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.py", 'METHODS = ("words", "lists")', True),
        ("a.py", 'PARTS = {"words": 1, "prices": 2}', True),
        ("a.py", "from a import words_pages, lists_pages", True),
        ("a.py", 'def f(method):\n    if method == "words":\n        return 1\n    return method != "prices"', True),
        ("a.py", 'def f(words, lists):\n    return [words, 1] + [lists, "markers of words"]', False),
        ("biasledger/explaining/methods/words.py", 'a = ("words", "lists")', True),
        ("models/findings/a.sql", "{% for method in ('words', 'lists') %}", True),
        ("models/findings/a.sql", 'from {{ ref("int_words_findings") }} join {{ ref("int_lists_findings") }}', True),
        ("models/marts/words/a.sql", "where part in ('words', 'markers')", False),
        ("models/findings/a.sql", "where method = 'words' -- and lists", False),
        ("dbt_project.yml", "words:\n  a: 1\nlists:\n", True),
        ("dbt_project.yml", "words:\n  a: the lists:\n", False),
    ],
)  # fmt: skip
def test_files_that_list_methods(name: str, text: str, expected: bool) -> None:
    assert lists_methods(name, text) is expected


def test_a_tree_is_counted(tmp_path: Path) -> None:
    files = {
        "collector/a.py": "from collector import b\n",
        "collector/b.py": "import collector.a\n",
        "collector/__init__.py": "",
        "tests/python/test_a.py": "\n\n\n",
        "models/marts/words/fct_a.sql": "{# a::note #}\nselect a::int from b join c using (d, e, f, {{ g }})\n",
        "models/marts/words/_a.yml": "models:\n",
        "docs/a.md": "words\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert counts(tmp_path, files, with_nodes=False) == {
        "lines of Python": 2,
        "lines of SQL": 2,
        "lines of yml": 1,
        "lines of tests": 3,
        "casts in marts": 1,
        "joins with 4 or more conditions": 1,
        "import circles": 1,
        "modules in the largest folder": 2,
        "files that list methods": 0,
    }
