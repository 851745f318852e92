"""Test incremental tables: rows of unchanged states are neither made nor tested again, the others are."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import duckdb
import pytest

from biasledger.building import BUILT, KEPT
from biasledger.building.running import Dbt
from tests.python.building.test_lean_dbt import ROOT, _write

pytestmark = pytest.mark.slow
FILES = {
    "dbt_project.yml": """
        name: biasledger
        profile: small
        test-paths: [tests/dbt]
        flags:
          send_anonymous_usage_stats: false
          warn_error_options: {silence: [UnsupportedConstraintMaterialization]}
        vars: {methods: {words: []}}
        """,
    "profiles.yml": "small: {target: file, outputs: {file: {type: duckdb, path: made.duckdb, threads: 2}}}",
    "models/states.sql": """
        {{ config(materialized='table') }}
        select * from read_csv('states.csv', types={run_id: 'varchar', state: 'varchar'})
        """,
    "models/held.sql": """
        {%- set runs = new_runs(ref("states"), key="state") -%}
        {{ config(materialized="kept", kept_by="state", kept_in="states", told_by="run_id") }}
        select run_id, n, '{{ invocation_id }}' as made_by
        from read_csv('rows.csv', types={run_id: 'varchar', n: 'integer'})
        where {{ is_of_runs("run_id", runs) }}
        """,
    "models/judged.sql": """
        {%- set runs = new_runs(ref("states"), key="state") -%}
        {{ config(materialized="kept", kept_by="state", kept_in="states", told_by="run_id", with_settings=true) }}
        select run_id, n, '{{ invocation_id }}' as made_by from {{ ref("held") }} where {{ is_of_runs("run_id", runs) }}
        """,
    "models/appended.sql": """
        {{ config(materialized='incremental', incremental_strategy='append') }}
        {%- set runs = runs_made_now("held", ref("states")) %}
        select run_id, n from {{ ref("held") }} where {{ is_of_runs("run_id", runs) }}
        {% if is_incremental() %} and run_id not in (select run_id from {{ this }}) {% endif %}
        """,
    "models/_models.yml": """
        models:
          - name: held
            config: {contract: {enforced: true}}
            columns:
              - {name: run_id, data_type: varchar, constraints: [{type: not_null}]}
              - {name: n, data_type: integer, data_tests: [{in_range: {arguments: {below: 10}}}]}
              - {name: made_by, data_type: varchar}
            data_tests: [{unique_combination: {name: of_runs, arguments: {columns: [run_id, n]}}}]
          - name: appended
            columns: [{name: n, data_tests: [{in_range: {name: small, arguments: {below: 10}}}]}]
        """,
}
PASSED = {"in_range_held_10__n": "pass", "of_runs": "pass", "small": "pass"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = _write(tmp_path / "small", FILES)
    shutil.copytree(ROOT / "tests/dbt/generic", folder / "tests/dbt/generic")
    shutil.copytree(ROOT / "macros/engine", folder / "macros/engine")
    shutil.copy(ROOT / "macros/findings/methods.sql", folder / "macros/methods.sql")
    with duckdb.connect(folder / "made.duckdb") as connection:
        # As the plugin does, which needs a ledger.
        connection.execute(
            "create table kept_states (model varchar, state varchar, told varchar, build varchar)"
        )
    return folder


def given(project: Path, states: dict[str, str], rows: list[tuple[str, int]]) -> None:
    (project / "states.csv").write_text("\n".join(["run_id,state", *map(",".join, states.items())]) + "\n")
    (project / "rows.csv").write_text("\n".join(["run_id,n", *(f"{run},{n}" for run, n in rows)]) + "\n")


def build(project: Path, **environment: str) -> dict[str, str]:
    """Status of each test."""
    with Dbt(project) as dbt:
        given = {"BIASLEDGER_PUBLISHED": "published.duckdb", **environment}
        dbt.run(["build"], given, lambda *_: None, methods=["words"], is_closed=True)
    results = json.loads((project / BUILT).read_text(encoding="utf-8"))["results"]
    errors = [row["message"] for row in results if row["status"] == "error"]
    assert not errors
    return {
        row["unique_id"].split(".")[2]: row["status"]
        for row in results
        if row["unique_id"].startswith("test.")
    }


def held(project: Path, table: str = "held") -> dict[str, tuple[list[int], int]]:
    """Run -> its rows, and the number of the build that made them."""
    with duckdb.connect(project / "made.duckdb") as connection:
        rows = connection.execute(
            f"select run_id, list(n order by n), any_value(made_by) from {table} group by run_id order by run_id"
        ).fetchall()
    builds = list(dict.fromkeys(build for _, _, build in rows))
    return {run: (numbers, builds.index(build)) for run, numbers, build in rows}


def test_only_what_became_another_is_made_again(project: Path) -> None:
    given(project, {"a": "1", "b": "2", "c": "3"}, [("a", 1), ("a", 2), ("b", 3)])
    assert build(project) == PASSED
    # One grew, one is gone, one came; c has no rows still, and those of b that would be made now are not asked for.
    given(project, {"a": "11", "b": "2", "c": "3", "d": "4"}, [("a", 5), ("b", 7), ("c", 6), ("d", 8)])
    assert build(project, **{KEPT: "words"}) == PASSED
    assert held(project) == {"a": ([5], 0), "b": ([3], 1), "d": ([8], 0)}
    given(project, {"b": "2", "c": "3"}, [])
    build(project, **{KEPT: "words"})
    assert held(project) == {"b": ([3], 0)}
    # After a build that failed, everything is made again.
    given(project, {"b": "2", "c": "3"}, [("b", 1), ("c", 2)])
    build(project)
    assert held(project) == {"b": ([1], 0), "c": ([2], 0)}


def test_what_depends_on_settings_is_made_again_with_them(project: Path) -> None:
    given(project, {"a": "1", "b": "2"}, [("a", 1), ("b", 2)])
    build(project)
    given(project, {"a": "1", "b": "22"}, [("a", 1), ("b", 2)])
    build(project, **{KEPT: "words", "BIASLEDGER_STANDS": "yes"})
    assert held(project, "judged") == {"a": ([1], 0), "b": ([2], 1)}
    build(project, **{KEPT: "words"})
    assert held(project, "judged") == {"a": ([1], 0), "b": ([2], 0)}
    assert held(project) == {"a": ([1], 0), "b": ([2], 1)}


def test_new_rows_are_tested_and_old_ones_are_not_again(project: Path) -> None:
    given(project, {"a": "1"}, [("a", 1)])
    build(project)
    with duckdb.connect(project / "made.duckdb") as connection:
        # As no build would leave it.
        connection.execute("insert into held values ('a', 99, 'nobody'), ('a', 99, 'nobody')")
        connection.execute("insert into appended values ('a', 99)")
    given(project, {"a": "1", "b": "2"}, [("b", 2)])
    assert build(project, **{KEPT: "words"}) == PASSED
    given(project, {"a": "1", "b": "2", "c": "3"}, [("c", 12), ("c", 12)])
    failed = {"in_range_held_10__n": "fail", "of_runs": "fail", "small": "skipped"}
    assert build(project, **{KEPT: "words"}) == failed
    # After a build that failed, every row is tested.
    given(project, {"a": "1"}, [("a", 1)])
    assert build(project) == PASSED | {"small": "fail"}


def test_a_key_that_names_no_run_is_looked_for_among_all_rows(project: Path) -> None:
    models = project / "models/_models.yml"
    models.write_text(models.read_text().replace("{below: 10}}}]}", "{below: 10}}}, key]}", 1))
    given(project, {"a": "1"}, [("a", 1)])
    build(project)
    given(project, {"a": "1", "b": "2"}, [("b", 1)])
    assert build(project, **{KEPT: "words"})["key_held_n"] == "fail"


def test_what_is_appended_to_asks_a_model_that_is_not_kept_for_all(project: Path) -> None:
    """A project may have it made in another way."""
    given(project, {"a": "1"}, [("a", 1)])
    build(project)
    held_sql = project / "models/held.sql"
    held_sql.write_text(held_sql.read_text().replace('"kept"', '"rebuilt"'))
    given(project, {"a": "1", "b": "2"}, [("a", 1), ("b", 2)])
    build(project, **{KEPT: "words"})
    assert held(project) == {"a": ([1], 0), "b": ([2], 0)}
    with duckdb.connect(project / "made.duckdb") as connection:
        assert connection.execute("select * from appended order by all").fetchall() == [("a", 1), ("b", 2)]


def test_where_there_is_a_hook_rows_are_not_kept(project: Path) -> None:
    held_sql = project / "models/held.sql"
    hook = 'post_hook="update {{ this }} set n = n + 1", '
    held_sql.write_text(held_sql.read_text().replace("config(", f"config({hook}", 1))
    given(project, {"a": "1"}, [("a", 1)])
    build(project)
    given(project, {"a": "1", "b": "2"}, [("a", 1), ("b", 2)])
    build(project, **{KEPT: "words"})
    assert held(project) == {"a": ([2], 0), "b": ([3], 0)}


def test_by_hand_nothing_is_kept_or_written_down(project: Path) -> None:
    with duckdb.connect(project / "made.duckdb") as connection:
        connection.execute("drop table kept_states")
    given(project, {"a": "1"}, [("a", 1)])
    assert build(project, BIASLEDGER_PUBLISHED="") == PASSED
    assert held(project) == {"a": ([1], 0)}


def test_each_kept_model_asks_for_the_states_that_it_is_kept_by() -> None:
    """A model that asks for other states than its config names would record rows that it did not make."""
    n_asking = 0
    for path in sorted((ROOT / "models").rglob("*.sql")):
        text = path.read_text(encoding="utf-8")
        kept = re.search(r'kept_by="(\w+)", kept_in="(\w+)"', text)
        assert (kept is None) == ('materialized="kept"' not in text), path
        if kept is None:
            continue
        by, states = kept.groups()
        asked = re.search(r'new_runs\((ref\("(\w+)"\)|of_lists)(?:, key="(\w+)")?\)', text)
        assert asked is not None, path
        n_asking += 1
        assert asked[3] == (None if by == "run_state" else by), path
        # Runs that are not read as lists have no rows.
        assert asked[2] == states or (path.stem, asked[1]) == ("int_lists_runs", "of_lists"), path
        assert all(one == by for one in re.findall(r'is_lacking\("(\w+)"', text)), path
    assert n_asking > 80
