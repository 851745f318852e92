"""Test that a build skips parts of dbt and still gives dbt's results."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest
from dbt.compilation import Linker
from dbt.context.configured import ConfiguredContext
from dbt.context.macros import MacroNamespace
from dbt.context.manifest import ManifestContext
from dbt_common.behavior_flags import BehaviorFlagRendered
from dbt_common.events import functions
from dbt_common.exceptions import base as exceptions

from biasledger.building import BUILT, CODE, STANDS, STOOD, lean_dbt
from biasledger.building.running import Dbt

ROOT = Path(__file__).parents[3]
FILES = {
    "dbt_project.yml": """
        name: biasledger
        profile: small
        test-paths: [tests/dbt]
        flags: {send_anonymous_usage_stats: false}
        """,
    "profiles.yml": "small: {target: file, outputs: {file: {type: duckdb, path: made.duckdb, threads: 2}}}",
    "models/people.sql": """
        {{ config(materialized='table') }}
        select * from (values (1, 'a', 0.5), (2, 'a', 0.5), (2, null, 1.5), (3, 'b', 0.1)) as people (id, name, share)
        """,
    "models/places.sql": "select 1 as id",
    "models/_models.yml": """
        models:
          - name: people
            data_tests:
              - unique_combination: {arguments: {columns: [id, name]}}
              - unique_combination: {name: shares_are_told_apart, arguments: {columns: [name, share]}}
              - filled: {arguments: {columns: [id, name]}}
            columns:
              - name: id
                data_tests: [key, not_null, {key: {name: key_of_some, config: {where: id > 2}}}]
              - name: share
                data_tests:
                  - in_range: {arguments: {above: 0, below: 1}}
                  - in_range: {name: at_most_two, arguments: {below: 2}}
                  - in_range: {name: only_told, arguments: {below: 1}, config: {severity: warn}}
          - name: places
            columns:
              - {name: no_such_column, data_tests: [key]}
              - {name: id, data_tests: [key]}
        """,
}
FAILED = "Got 1 result, configured to fail if != 0"
WARNED = "Got 1 result, configured to warn if != 0"
EXPECTED = {
    "unique_combination_people_id__name": ("pass", None),
    "shares_are_told_apart": ("fail", FAILED),
    "filled_people_id__name": ("fail", FAILED),
    "key_people_id": ("fail", FAILED),
    "key_of_some": ("pass", None),
    "not_null_people_id": ("pass", None),
    "in_range_people_0__1__share": ("fail", FAILED),
    "at_most_two": ("pass", None),
    "only_told": ("warn", WARNED),
    "key_places_id": ("pass", None),
}
BROKEN = "key_places_no_such_column"
TOGETHER = {"shares_are_told_apart", "filled_people_id__name", "key_people_id", "at_most_two"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = _write(tmp_path_factory.mktemp("lean"), FILES)
    shutil.copytree(ROOT / "tests/dbt/generic", folder / "tests/dbt/generic")
    return folder


def _tests(results: list[dict[str, str]]) -> dict[str, tuple[str, str | None]]:
    """Name -> status and message of each test."""
    return {
        row["unique_id"].split(".")[2]: (row["status"], row["message"])
        for row in results
        if row["unique_id"].startswith("test.")
    }


def test_a_node_is_handed_each_macro_of_the_package_that_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    own, root, package, other = (
        {"mine": 1},
        {"mine": 2, "ours": 2},
        {"a_package": {"ours": 3}},
        {"ours": 4, "dbt_s": 4},
    )
    namespace = MacroNamespace(root, own, other, package)
    context = SimpleNamespace(namespace=namespace)
    monkeypatch.setattr(ConfiguredContext, "to_dict", lambda _context: {"mine": 0, "var": 0})
    for place, name in (
        (ManifestContext, "to_dict"),
        (exceptions, "env_secrets"),
        (functions, "env_secrets"),
        (BehaviorFlagRendered, "_default_source"),
        (Linker, "get_graph_summary"),
    ):
        monkeypatch.setattr(place, name, place.__dict__[name])
    lean_dbt._look_at_less()
    expected = {"var": 0, **namespace}
    assert expected["mine"] == 1
    assert ManifestContext.to_dict(context) == expected
    assert expected["dbt"] is other

    monkeypatch.setenv("DBT_ENV_SECRET_KEY", "hush")
    assert functions.env_scrubber("told: hush") == "told: *****"


MADE = {
    "dbt_project.yml": """
        name: biasledger
        profile: small
        flags: {send_anonymous_usage_stats: false, warn_error_options: {silence: [UnsupportedConstraintMaterialization]}}
        models: {biasledger: {+materialized: rebuilt}}
        """,
    "profiles.yml": FILES["profiles.yml"],
    "seeds/colours.csv": "name,hex\nred,f00\n",
    "models/described.sql": """
        select 'b' as name, 2::bigint as "group", 0.5::double as share union all select 'a', 1, null
        """,
    "models/plain.sql": "select name, count(*) as n from {{ ref('described') }} group by name",
    "models/shown.sql": "{{ config(materialized='view') }} select * from {{ ref('plain') }} join {{ ref('colours') }} on true",
    "models/heard.sql": """
        {{ config(materialized='view', post_hook='create or replace table main.hook as select 2 as two') }} select 1 as id
        """,
    "models/hooked.sql": "{{ config(post_hook='create or replace table main.hooks as select 1 as one') }} select 1 as id",
    "models/_models.yml": """
        models:
          - name: described
            description: It's described; twice.
            constraints: [{type: check, expression: name <> 'c'}]
            config: {contract: {enforced: true}, persist_docs: {relation: true, columns: true}}
            columns:
              - {name: share, data_type: double, description: "It's a share; of one."}
              - {name: name, data_type: varchar, constraints: [{type: not_null}], description: Whose.}
              - {name: group, data_type: bigint, quote: true}
        """,
}
# The content of a database: its tables and views with their statements, columns and comments.
CATALOGUE = """
    select 'relation', schema_name, table_name, sql, comment from duckdb_tables()
    union all select 'relation', schema_name, view_name, sql, comment from duckdb_views() where not internal
    union all
    select 'column', schema_name, table_name || '.' || column_name, data_type || is_nullable || column_index, comment
    from duckdb_columns() where not internal
    order by all
"""


def _write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(textwrap.dedent(text).lstrip(), encoding="utf-8")
    return folder


def _holds(project: Path) -> list[list[tuple[object, ...]]]:
    with duckdb.connect(project / "made.duckdb") as connection:
        tables = ("described", "plain", "shown", "hooked", "heard", "hook", "hooks", "colours")
        return [
            connection.execute(statement).fetchall()
            for statement in (CATALOGUE, *(f"from main.{table} order by all" for table in tables))
        ]


def _build_made(project: Path, *options: str, environment: dict[str, str] | None = None) -> dict[str, str]:
    """Name -> message of each node."""
    with Dbt(project) as dbt:
        dbt.run(["build", *options], environment or {}, lambda *_: None, methods=["words"], is_closed=True)
    document = json.loads((project / BUILT).read_text(encoding="utf-8"))
    return {row["unique_id"].split(".")[2]: row["message"] for row in document["results"]}


@pytest.mark.slow
def test_tables_and_views_are_made_by_their_statement_as_dbt_makes_them(tmp_path: Path) -> None:
    lean, whole = (_write(tmp_path / name, MADE) for name in ("lean", "whole"))
    for project in (lean, whole):
        shutil.copytree(ROOT / "macros/engine", project / "macros", ignore=shutil.ignore_patterns("[!r]*"))
    assert set(_build_made(lean).values()) == {"OK", "INSERT 1"}
    command = [sys.executable, "-c", "from dbt.cli.main import cli; cli()", "build", "--profiles-dir", "."]
    subprocess.run(command, cwd=whole, env=os.environ, capture_output=True, check=True)
    made = _holds(whole)
    assert ("relation", "main", "described") in {row[:3] for row in made[0]}
    assert _holds(lean) == made
    # dbt runs a model with hooks, and writes what it ran.
    run = {path.stem for path in (lean / "target/run").rglob("*.sql")}
    assert run == {"hooked", "heard"}

    # A table in place of a view, a view in place of a table, and each in its own place again.
    (lean / "models/plain.sql").write_text("{{ config(materialized='view') }}" + MADE["models/plain.sql"])
    (lean / "models/shown.sql").write_text(MADE["models/shown.sql"].replace("'view'", "'rebuilt'"))
    assert set(_build_made(lean).values()) == {"OK", "INSERT 1"}
    kinds = {row[2]: str(row[3]).split()[1] for row in _holds(lean)[0] if row[0] == "relation"}
    assert (kinds["plain"], kinds["shown"]) == ("VIEW", "TABLE")

    # Seeds and views that are up to date are kept, and made if they are missing.
    with duckdb.connect(lean / "made.duckdb") as connection:
        connection.execute("insert into main.colours values ('green', '0f0')")
    stood = _build_made(lean, environment={STANDS: "yes"})
    assert {name for name, message in stood.items() if message == STOOD} == {"colours", "plain"}
    assert len(_holds(lean)[3]) == 4, "a table of what stands is made anew"
    with duckdb.connect(lean / "made.duckdb") as connection:
        connection.execute("drop view main.plain; drop table main.colours")
    assert STOOD not in _build_made(lean, environment={STANDS: "yes"}).values()
    assert len(_holds(lean)[3]) == 2

    # One that cannot be made leaves what was there.
    before = _holds(lean)
    (lean / "models/described.sql").write_text('select null as name, 2 as "group", 0.5 as share')
    failed = _build_made(lean)
    assert "NOT NULL constraint failed" in failed["described"]
    assert _holds(lean) == before


@pytest.mark.slow
def test_a_seed_that_stands_is_not_tested_again(project: Path, tmp_path: Path) -> None:
    files = {name: FILES[name] for name in ("dbt_project.yml", "profiles.yml")}
    files["seeds/colours.csv"] = MADE["seeds/colours.csv"]
    files["seeds/_seeds.yml"] = """
        seeds:
          - name: colours
            columns:
              - {name: name, data_tests: [key, {key: {name: told_only, config: {severity: warn}}}]}
        """
    seeds = _write(tmp_path / "seeds", files)
    shutil.copytree(project / "tests/dbt/generic", seeds / "tests/dbt/generic")

    def results(*options: str, **environment: str) -> dict[str, tuple[str, str | None]]:
        _build_made(seeds, *options, environment=environment)
        return _tests(json.loads((seeds / BUILT).read_text(encoding="utf-8"))["results"])

    assert results() == {"key_colours_name": ("pass", None), "told_only": ("pass", None)}
    with duckdb.connect(seeds / "made.duckdb") as connection:
        connection.execute("insert into main.colours from main.colours")
    # One that warns would say it in each build.
    assert results(**{STANDS: "yes"}) == {"key_colours_name": ("pass", STOOD), "told_only": ("warn", WARNED)}
    assert results("--select", "key_colours_name") == {"key_colours_name": ("fail", FAILED)}
    assert results() == {"key_colours_name": ("pass", None), "told_only": ("pass", None)}


GROWN = {
    "dbt_project.yml": "{name: biasledger, profile: small, flags: {send_anonymous_usage_stats: false}}",
    "profiles.yml": FILES["profiles.yml"],
    "models/given.sql": "{{ config(materialized='table') }} select * from read_csv('given.csv')",
    "models/counted.sql": """
        {{ config(materialized='incremental', incremental_strategy='append') }}
        select name, length(name) as n from {{ ref('given') }}
        {% if is_incremental() %} where name not in (select name from {{ this }}) {% endif %}
        """,
    "models/measured.py": """
        import numpy as np

        from biasledger.measures.schema import Table
        from biasledger.model_inputs.relations import as_relation


        def model(dbt, session):
            dbt.config(materialized="incremental", incremental_strategy="append")
            names = [name for (name,) in dbt.ref("counted").select("name").order("name").fetchall()]
            if dbt.is_incremental:
                known = session.execute(f"select name from {dbt.this}").fetchall()
                names = [name for name in names if (name,) not in known]
            columns = {"share": np.full(len(names), 0.5), "name": np.array(names, dtype=np.object_)}
            return as_relation(session, Table(columns))
        """,
}
ALL_GROWN = """
    -- dbt leaves temporary tables of models in Python behind.
    select 'relation', table_name, sql from duckdb_tables() where not contains(table_name, '__dbt_tmp') union all
    select 'counted', name, cast(n as varchar) from counted union all
    select 'measured', name, cast(share as varchar) from measured
    order by all
"""


@pytest.mark.slow
def test_new_rows_go_into_a_table_as_dbt_appends_them(tmp_path: Path) -> None:
    lean, whole = (_write(tmp_path / name, GROWN) for name in ("lean", "whole"))
    command = [sys.executable, "-c", "from dbt.cli.main import cli; cli()", "build", "--profiles-dir", "."]
    for names in ("a", "a bb", "a bb", "ccc bb"):
        for project in (lean, whole):
            (project / "given.csv").write_text("name\n" + names.replace(" ", "\n") + "\n")
        _build_made(lean)
        subprocess.run(command, cwd=whole, env=os.environ, capture_output=True, check=True)
        held = []
        for project in (lean, whole):
            with duckdb.connect(project / "made.duckdb") as connection:
                held.append(connection.execute(ALL_GROWN).fetchall())
        assert held[0] == held[1]
    assert [row[1:] for row in held[0] if row[0] == "counted"] == [("a", "1"), ("bb", "2"), ("ccc", "3")]
    with duckdb.connect(lean / "made.duckdb") as connection:
        tables = {name for (name,) in connection.execute("select table_name from duckdb_tables()").fetchall()}
    assert tables == {"given", "counted", "measured"}

    # Rows that cannot be made leave those that are there.
    (lean / "given.csv").write_text("name\na\nbb\nccc\nd\n")
    for name, part, broken, reason in (
        ("counted.sql", "length(name)", "name::integer", "Could not convert string"),
        ("measured.py", "0.5", "'no number'", "Python model failed"),
    ):
        text = GROWN[f"models/{name}"]
        assert part in text
        _write(lean, {f"models/{name}": text.replace(part, broken)})
        assert reason in _build_made(lean)[name.partition(".")[0]]
        _write(lean, {f"models/{name}": text})
        with duckdb.connect(lean / "made.duckdb") as connection:
            measured = connection.execute("select name from measured order by name").fetchall()
        assert measured == [("a",), ("bb",), ("ccc",)]

    (lean / "given.csv").write_text("name\nbb\nccc\n")
    with duckdb.connect(lean / "made.duckdb") as connection:
        connection.execute(
            "delete from given; delete from measured; insert into measured values (0.1, 'of before')"
        )
    _build_made(lean, "--full-refresh")
    with duckdb.connect(lean / "made.duckdb") as connection:
        assert connection.execute("select name from measured order by name").fetchall() == [("bb",), ("ccc",)]


IN_SMALL_TASKS = {
    "models/counted.sql": """
        {{ config(materialized='incremental', incremental_strategy='append') }}
        {%- set setting = small_tasks() %}
        select range as id, '{{ setting }}' as setting from range(3)
        {% if is_incremental() %} where range not in (select id from {{ this }}) {% endif %}
        """,
}


@pytest.mark.slow
def test_a_model_asks_for_small_tasks_and_its_rows_are_appended_all_the_same(tmp_path: Path) -> None:
    project = _write(tmp_path, {**GROWN, **IN_SMALL_TASKS})
    (project / "given.csv").write_text("name\na\n", encoding="utf-8")
    (project / "macros").mkdir(exist_ok=True)
    shutil.copy(ROOT / "macros/engine/tasks.sql", project / "macros")
    _build_made(project)
    with duckdb.connect(project / "made.duckdb") as connection:
        found = connection.execute(
            "select distinct setting, count(*) from counted group by setting"
        ).fetchall()
        assert found == [("verify_parallelism", 3)]
        # DuckDB knows the setting: without it, builds would only be slower, which no test would notice.
        connection.execute(f"pragma {found[0][0]}")
        connection.execute("delete from counted where id = 1")
    shutil.rmtree(project / "target/run")
    _build_made(project)
    with duckdb.connect(project / "made.duckdb") as connection:
        assert connection.execute("select id from counted").fetchall() == [(0,), (2,), (1,)]
    # dbt writes a file for a table that it appends by itself, through a temporary table.
    assert not list((project / "target").glob("run/**/counted.sql"))


def _build(project: Path) -> dict[str, tuple[str, str | None]]:
    with Dbt(project) as dbt:
        dbt.run(["build"], {}, lambda *_: None, methods=["words"], is_closed=True)
    document = json.loads((project / BUILT).read_text(encoding="utf-8"))
    assert document["nodes"]["model.biasledger.people"]["config"]["materialized"] == "table"
    return _tests(document["results"])


@pytest.mark.slow
def test_tests_of_a_table_run_together_and_fail_under_their_names_as_dbt_s_own(project: Path) -> None:
    found = _build(project)
    status, message = found.pop(BROKEN)
    assert status == "error"
    assert "no_such_column" in str(message)
    assert found == EXPECTED
    # dbt compiles into a file each test that it runs by itself.
    compiled = {path.stem for path in (project / "target/compiled").rglob("*.sql")}
    assert not TOGETHER & compiled
    assert {"people", "key_of_some"} <= compiled

    assert (project / CODE).stat().st_size > 0
    (project / CODE).write_bytes(b"of another version")
    assert _build(project) == {**EXPECTED, BROKEN: (status, message)}

    command = [sys.executable, "-c", "from dbt.cli.main import cli; cli()", "build", "--profiles-dir", "."]
    subprocess.run(command, cwd=project, env=os.environ, capture_output=True, check=False)
    of_dbt = json.loads((project / "target/run_results.json").read_text(encoding="utf-8"))["results"]
    assert _tests(of_dbt).items() >= EXPECTED.items()
    assert {path.stem for path in (project / "target/compiled").rglob("*.sql")} >= TOGETHER
