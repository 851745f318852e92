"""Test tables that are built by run: rows of unchanged runs are neither made nor tested again, the others are."""

from __future__ import annotations

import json
import re
import shutil
import textwrap
from pathlib import Path

import duckdb
import pytest

from biasledger.building import INCREMENTAL, MEASURED_BY, RESULTS
from biasledger.building.running import Dbt

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.slow
FILES = {
    "dbt_project.yml": """
        name: biasledger
        profile: small
        test-paths: [tests/dbt]
        models: {+materialized: rebuilt}
        flags:
          send_anonymous_usage_stats: false
          warn_error_options: {silence: [UnsupportedConstraintMaterialization]}
        vars: {methods: {words: []}, engine_version: "1"}
        """,
    "profiles.yml": "small: {target: file, outputs: {file: {type: duckdb, path: made.duckdb, threads: 2}}}",
    "models/stg_ledger__runs.sql": """
        select run_id, run_state as spec, '' as parameters
        from read_csv('states.csv', types={run_id: 'varchar', run_state: 'varchar'})
        """,
    "models/given.sql": """
        select * from read_csv('rows.csv', types={run_id: 'varchar', n: 'integer'})
        """,
    "models/held.sql": """
        {{ config(materialized="by_run") }}
        select run_id, n, '{{ invocation_id }}' as made_by
        from {{ run_rows("given") }}
        """,
    "models/joined.sql": """
        {{ config(materialized="by_run") }}
        select held.run_id, held.n, '{{ invocation_id }}' as made_by
        from {{ ref("held") }} as held
        left join (select distinct run_id from {{ run_rows("given") }}) as given on held.run_id = given.run_id
        """,
    "models/measured.py": """
        import numpy as np
        from dbt_common.invocation import get_invocation_id

        from biasledger.measures.schema import table_of
        from biasledger.model_inputs.models import rows_of_runs


        def read(rows):
            return rows.aggregate("run_id, list(n order by n)").fetchall()


        def measure(comparisons):
            types = {"run_id": "str", "n": "int64", "made_by": "str"}
            rows = [(run_id, n) for run_id, numbers in comparisons for n in numbers]
            return table_of(types, [dict(run_id=run, n=n, made_by=get_invocation_id()) for run, n in rows])


        def model(dbt, session):
            dbt.config(materialized="incremental", incremental_strategy="by_state")
            return rows_of_runs(dbt, session, measure, read, dbt.ref("int_build_runs"), dbt.ref("held"))
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
          - name: measured
            columns: [{name: n, data_tests: [{in_range: {name: small, arguments: {below: 10}}}]}]
        """,
}
# The other parents of int_build_runs, without rows.
EMPTY = {
    "int_run_analysis_settings": "run_id analysis_hash analysis",
    "stg_ledger__prompts": "run_id prompt_id prompt_hash template language perturbation mitigation domain subject",
    "stg_ledger__prompt_attributes": "run_id prompt_id slot attribute group_name descriptor",
    "stg_ledger__responses": "run_id prompt_id trial attempt seq response_hash status weight",
    "stg_ledger__erasures": "run_id prompt_id trial attempt",
    "stg_ledger__response_scores": "run_id prompt_id trial attempt scorer label score is_short scored_at",
    "int_answers_labels": "run_id prompt_id trial labelled_by rubric label is_drawn",
    "stg_ledger__run_events": "run_id event_number event detail",
    "stg_ledger__items": "catalogue catalogue_hash",
}
PASSED = {"in_range_held_10__n": "pass", "of_runs": "pass", "small": "pass"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(textwrap.dedent(text).lstrip(), encoding="utf-8")
    for name, columns in EMPTY.items():
        nulls = ", ".join(f"cast(null as json) as {column}" for column in columns.split())
        (folder / f"models/{name}.sql").write_text(f"select {nulls} where false", encoding="utf-8")
    shutil.copytree(ROOT / "tests/dbt/generic", folder / "tests/dbt/generic")
    shutil.copytree(ROOT / "macros/engine", folder / "macros/engine")
    shutil.copy(ROOT / "macros/findings/methods.sql", folder / "macros/methods.sql")
    shutil.copy(ROOT / "models/intermediate/runs/int_build_runs.sql", folder / "models")
    return folder


def given(project: Path, states: dict[str, str], rows: list[tuple[str, int]]) -> None:
    (project / "states.csv").write_text(
        "\n".join(["run_id,run_state", *map(",".join, states.items())]) + "\n"
    )
    (project / "rows.csv").write_text("\n".join(["run_id,n", *(f"{run},{n}" for run, n in rows)]) + "\n")


def build(project: Path, **environment: str) -> dict[str, str]:
    """Status of each test."""
    with Dbt(project) as dbt:
        dbt.run(
            ["build"],
            {MEASURED_BY: "as given", **environment},
            lambda *_: None,
            methods=["words"],
            is_closed=True,
        )
    results = json.loads((project / RESULTS).read_text(encoding="utf-8"))["results"]
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


def test_only_the_runs_that_changed_are_built_again(project: Path) -> None:
    given(project, {"a": "1", "b": "2", "c": "3"}, [("a", 1), ("a", 2), ("b", 3)])
    assert build(project) == PASSED
    # One grew, one is gone, one came; c has no rows still, and those of b that would be made now are not asked for.
    given(project, {"a": "11", "b": "2", "c": "3", "d": "4"}, [("a", 5), ("b", 7), ("c", 6), ("d", 8)])
    assert build(project, **{INCREMENTAL: "yes"}) == PASSED
    assert held(project) == {"a": ([5], 0), "b": ([3], 1), "d": ([8], 0)}
    # A model that reads a whole table replaces the rows of the same runs alone.
    assert held(project, "joined") == held(project)
    assert held(project, "measured") == held(project)
    given(project, {"b": "2", "c": "3"}, [])
    build(project, **{INCREMENTAL: "yes"})
    build(project, **{INCREMENTAL: "yes"})
    assert held(project) == {"b": ([3], 0)}
    # Rows of removed runs are deleted.
    assert held(project, "measured") == {"b": ([3], 0)}
    # A run that comes back, as it was, is built again.
    given(project, {"a": "11", "b": "2", "c": "3"}, [("a", 5), ("b", 7)])
    build(project, **{INCREMENTAL: "yes"})
    assert held(project) == {"a": ([5], 0), "b": ([3], 1)}
    # After a build that failed, everything is made again.
    given(project, {"b": "2", "c": "3"}, [("b", 1), ("c", 2)])
    build(project)
    assert held(project) == {"b": ([1], 0), "c": ([2], 0)}
    # A run is measured once for each state.
    assert held(project, "measured") == {"b": ([3], 0), "c": ([2], 1)}
    build(project, **{MEASURED_BY: "others"})
    assert held(project, "measured") == {"b": ([1], 0), "c": ([2], 0)}
    # By hand, dbt measures everything.
    given(project, {"b": "2", "c": "3"}, [("b", 4), ("c", 5)])
    build(project, **{MEASURED_BY: ""})
    assert held(project, "measured") == {"b": ([4], 0), "c": ([5], 0)}


def test_new_rows_are_tested_and_old_ones_are_not_again(project: Path) -> None:
    given(project, {"a": "1"}, [("a", 1)])
    build(project)
    with duckdb.connect(project / "made.duckdb") as connection:
        # As no build would leave it.
        connection.execute("insert into held values ('a', 99, 'nobody'), ('a', 99, 'nobody')")
    given(project, {"a": "1", "b": "2"}, [("b", 2)])
    assert build(project, **{INCREMENTAL: "yes"}) == PASSED
    given(project, {"a": "1", "b": "2", "c": "3"}, [("c", 12), ("c", 12)])
    failed = {"in_range_held_10__n": "fail", "of_runs": "fail", "small": "skipped"}
    assert build(project, **{INCREMENTAL: "yes"}) == failed
    # After a build that failed, every row is made and tested.
    given(project, {"a": "1"}, [("a", 1)])
    assert build(project) == PASSED


def test_a_model_that_a_project_makes_in_another_way_is_read_as_a_whole(project: Path) -> None:
    given(project, {"a": "1"}, [("a", 1)])
    build(project)
    held_sql = project / "models/held.sql"
    held_sql.write_text(held_sql.read_text().replace('"by_run"', '"table"'))
    given(project, {"a": "1", "b": "2"}, [("a", 1), ("b", 2)])
    build(project, **{INCREMENTAL: "yes"})
    assert held(project) == {"a": ([1], 0), "b": ([2], 0)}
    assert held(project, "joined") == {"a": ([1], 0), "b": ([2], 1)}


def test_where_there_is_a_hook_all_rows_are_made_anew(project: Path) -> None:
    held_sql = project / "models/held.sql"
    hook = 'post_hook="update {{ this }} set n = n + 1", '
    held_sql.write_text(held_sql.read_text().replace("config(", f"config({hook}", 1))
    given(project, {"a": "1"}, [("a", 1)])
    build(project)
    given(project, {"a": "1", "b": "2"}, [("a", 1), ("b", 2)])
    build(project, **{INCREMENTAL: "yes"})
    assert held(project) == {"a": ([2], 0), "b": ([3], 0)}


def test_models_read_runs_where_they_are_built_by_run() -> None:
    """Elsewhere `run_rows` would leave rows out."""
    n_models = 0
    for path in sorted((ROOT / "models").rglob("*.sql")):
        text = path.read_text(encoding="utf-8")
        config = re.search(r'materialized="(\w+)"', text)
        materialized = config[1] if config else "of its folder"
        n_models += materialized == "by_run"
        # Only by `run_rows` does dbt learn that such a model comes after int_build_runs.
        assert ("run_rows(" in text) == (materialized == "by_run"), path
    assert n_models > 60
