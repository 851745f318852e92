"""Test what a build leaves as it was and what it removes; test_sequences.py compares its tables with those of a full build."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from benchmarks.same import differences
from biasledger.publishing.work import hash_models
from biasledger.verify import verify_ledger
from collector.ledger.erasure import erase
from collector.ledger.retraction import retract
from tests.python.project import Project, import_spec

from .planting import menu, texts

pytestmark = pytest.mark.slow
METHODS = ("words", "lists", "decisions", "prices", "markers")
AUDITS = ("texts", "recommendations", "rankings", "menu", "stereotypes")


@pytest.fixture(scope="module")
def everything(new_project: Callable[[], Project]) -> Project:
    """An audit of each method in one ledger, built once. To be read only."""
    project = new_project()
    texts.plant(project)
    project.collect("simulator", "audits/recommendations.yml", n_subjects=2, domains=("music",))
    project.collect("simulator", "audits/rankings.yml", n_subjects=1, trials=1)
    menu.plant(project)
    project.collect("simulator", "audits/stereotypes.yml", n_subjects=2, trials=1)
    project.build()
    return project


@pytest.fixture
def project(everything: Project, tmp_path: Path) -> Project:
    return Project(Path(shutil.copytree(everything.folder, tmp_path / "project", symlinks=True)))


def _runs(project: Project) -> dict[str, str]:
    """Method -> its run."""
    found = dict(project.rows("select audit, run_id from marts.dim_runs"))
    return {method: found[audit] for method, audit in zip(METHODS, AUDITS, strict=True)}


def _tables_with_run(path: Path, run_id: str) -> list[str]:
    with duckdb.connect(str(path), read_only=True) as connection:
        tables = connection.execute(
            "select schema_name || '.' || table_name from duckdb_columns() inner join duckdb_tables() "
            "using (schema_name, table_name) where column_name = 'run_id' order by all"
        ).fetchall()
        return [
            table
            for (table,) in tables
            if connection.execute(f"select 1 from {table} where run_id = ? limit 1", [run_id]).fetchone()
        ]


def test_only_new_and_changed_runs_are_built(project: Project) -> None:
    """Every row is marked; after the build the rows of unchanged runs have their marks, and the others are new rows."""
    changed, tables = _runs(project)["words"], project.tables_by_run()
    with duckdb.connect(str(project.work)) as connection:
        n_marked = {}
        for table in tables:
            connection.execute(f"alter table {table} add column was_there boolean")
            connection.execute(f"update {table} set was_there = true")
            [(n_marked[table],)] = connection.execute(
                f"select count(*) from {table} where run_id <> '{changed}'"
            ).fetchall()
    project.pass_as_built()
    with duckdb.connect(str(project.ledger)) as connection:
        connection.execute("update raw.responses set weight = 2 where run_id = ? and seq = 5", [changed])
    texts.plant_shuffled(project)
    project.collect("simulator", "audits/recommendations.yml", n_subjects=3, domains=("music",))
    project.collect("simulator", "audits/rankings.yml", n_subjects=1, trials=2)
    project.collect("simulator", "audits/stereotypes.yml", n_subjects=2, trials=2)
    menu.plant_more(project)
    project.build(is_forced=True)
    reasons = project.work_rows(
        "select why, count(*) from intermediate.int_build_runs group by why order by why"
    )
    assert reasons == [("changed", 1), ("new", 5), ("same", 4)]
    rows = {
        table: project.work_rows(
            f"select count(*) filter (was_there), count(*) filter (was_there is null) from {table}"
        )[0]
        for table in n_marked
    }
    assert {table: n for table, (n, _) in rows.items()} == n_marked
    have_both = {table for table, (n_before, n_new) in rows.items() if n_before and n_new}
    assert {name.split("_")[1] for name in have_both} >= {"answers", *METHODS[1:]}
    assert {"marts.dim_prompt_groups", "marts.fct_list_items", "marts.fct_predictions"} <= have_both
    assert {"marts.fct_stereotype_scores", "marts.fct_recommended_items"} <= have_both
    assert project.rows("select count(*) from marts.fct_builds") == [(2,)]


def test_nothing_of_a_retracted_run_is_left(project: Project) -> None:
    """At the same time a text is erased, and another analysis of the texts reads fewer words."""
    runs = _runs(project)
    spec = import_spec("texts")
    spec["analysis"]["words"]["remove"]["more"] = ["word3"]
    project.write_audit("texts", spec)
    with duckdb.connect(str(project.ledger), read_only=True) as connection:
        (prompt_id, trial) = connection.execute(
            "select prompt_id, trial from raw.responses where run_id = ? and response_text is not null "
            "order by seq limit 1",
            [runs["markers"]],
        ).fetchall()[0]
    assert ("word3",) in project.rows("select distinct word from marts.fct_marked_words")
    hashes = project.rows("select distinct analysis_hash from marts.fct_findings where audit = 'texts'")
    erase(project.ledger, runs["markers"], prompt_id, trial, reason="names a private person")
    retract(project.ledger, runs["lists"], reason="asked with the wrong spec")
    notes: list[str] = []
    project.build(on_note=notes.append)
    assert notes == [
        "Runs were retracted or taken out of the ledger since the last build: all tables are rebuilt."
    ]
    for path in (project.warehouse, project.work):
        assert _tables_with_run(path, runs["lists"]) == []
        assert _tables_with_run(path, runs["words"]) != []
    assert "fct_list_similarity" not in {
        name for (name,) in project.rows("select table_name from duckdb_tables()")
    }
    assert ("word3",) not in project.rows("select distinct word from marts.fct_marked_words")
    assert (
        project.rows("select distinct analysis_hash from marts.fct_findings where audit = 'texts'") != hashes
    )
    states = {verdict.name: verdict for verdict in verify_ledger(project.ledger)}
    assert {verdict.state for verdict in states.values()} == {"intact"}
    assert "asked with the wrong spec" in " ".join(states[runs["lists"]].notes)


def test_it_goes_on_with_the_files_of_the_release_before(everything: Project, project: Project) -> None:
    """The ledger lacks the views, incremental tables have other columns, the parse cache is of another version."""
    with duckdb.connect(str(project.ledger)) as connection:
        views = connection.execute(
            "select view_name from duckdb_views() where schema_name = 'raw' order by view_name != 'retracted_runs' desc"
        ).fetchall()
        for (view,) in views:
            connection.execute(f"drop view raw.{view}")
        connection.execute("delete from raw.schema_migrations where version in (7, 9)")
    with duckdb.connect(str(project.work)) as connection:
        for table in ("int_words_counts", "int_words_statistics", "int_markers_tokens", "int_decisions_gaps"):
            connection.execute(f"alter table intermediate.{table} add column of_old integer")
        connection.execute("update intermediate.int_words_counts set n_occurrences = n_occurrences + 1")
    with duckdb.connect(str(project.warehouse)) as connection:
        connection.execute("alter table marts.dim_runs drop column hides_models")
    seen = project.work.with_name(f"{project.work.name}.seen.json")
    written = json.loads(seen.read_text(encoding="utf-8"))
    assert written.pop("models") == hash_models()
    seen.write_text(json.dumps(written), encoding="utf-8")
    (project.folder / "target" / "partial_parse.msgpack").write_bytes(b"of another version")
    project.build()
    assert differences(project.warehouse, everything.warehouse) == []


def test_by_hand_a_published_warehouse_is_not_written_into(everything: Project) -> None:
    before = everything.warehouse.stat().st_mtime_ns
    command = [sys.executable, "-c", "from dbt.cli.main import cli; cli()", "show", "--inline", "select 1"]
    shown = subprocess.run(command, cwd=everything.folder, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stdout
    assert everything.warehouse.stat().st_mtime_ns == before
    with duckdb.connect(str(everything.warehouse), read_only=True) as connection:
        tables = connection.execute("select table_name from duckdb_tables()").fetchall()
    assert ("int_build_runs",) not in tables
