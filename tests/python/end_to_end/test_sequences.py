"""Test that a build after any sequence of builds gives the tables of one build of everything.

Audits are small: what is tried is what one build leaves for the next, in parse cache, work file, ledger and warehouse.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import pytest
import yaml

from benchmarks.same import differences
from biasledger.publishing.work import hash_models
from biasledger.verify import verify_ledger
from collector.ledger.erasure import erase
from collector.ledger.retraction import retract
from tests.python.project import Project, import_spec

from .planting import menu, texts

pytestmark = pytest.mark.slow
NewProject = Callable[[], Project]
# Two orders, of which one is the other turned round: each method comes before and after each other one.
ORDER = ("words", "lists", "decisions", "prices", "markers")


@pytest.fixture(scope="module")
def everything(new_project: NewProject) -> Project:
    """An audit of each method in one ledger, built once. To be read only."""
    project = new_project()
    texts.plant(project)
    project.collect("simulator", "audits/recommendations.yml", n_subjects=2, domains=("music",))
    project.collect("simulator", "audits/rankings.yml", n_subjects=1, trials=1)
    menu.plant(project)
    project.collect("simulator", "audits/stereotypes.yml", n_subjects=2, trials=1)
    project.build()
    return project


def _runs(project: Project) -> dict[str, str]:
    """Method -> its run."""
    audits = ("texts", "recommendations", "rankings", "menu", "stereotypes")
    found = dict(project.rows("select audit, run_id from marts.dim_runs"))
    return {method: found[audit] for method, audit in zip(ORDER, audits, strict=True)}


def _like(project: Project, new_project: NewProject) -> Project:
    """A new project with the audits and settings of another one, and no ledger."""
    made = new_project()
    for folder in ("audits", "seeds"):
        shutil.copytree(project.folder / folder, made.folder / folder, dirs_exist_ok=True)
    return made


def _keep(project: Project, everything: Project, runs: Sequence[str]) -> None:
    """Give a project the ledger as it was when these runs alone were there."""
    shutil.copyfile(everything.ledger, project.ledger)
    with duckdb.connect(str(project.ledger)) as connection:
        tables = connection.execute(
            "select table_name from duckdb_columns() inner join duckdb_tables() using (schema_name, table_name) "
            "where schema_name = 'raw' and column_name = 'run_id'"
        ).fetchall()
        for (table,) in tables:
            connection.execute(f"delete from raw.{table} where not list_contains(?, run_id)", [list(runs)])
        connection.execute(
            "delete from raw.analysis_settings where audit not in (select audit from raw.runs)"
        )


def _built_at_once(project: Project, new_project: NewProject) -> Project:
    """One build of all that a project's ledger holds, by its audits and settings."""
    made = _like(project, new_project)
    shutil.copyfile(project.ledger, made.ledger)
    made.build()
    return made


@pytest.fixture(scope="module")
def grown(everything: Project, new_project: NewProject) -> Project:
    """The same runs, one method more at each of five builds."""
    project, runs = _like(everything, new_project), _runs(everything)
    for n in range(1, len(ORDER) + 1):
        _keep(project, everything, [runs[method] for method in ORDER[:n]])
        project.build()
    return project


def test_methods_are_added_one_at_a_time(grown: Project, everything: Project) -> None:
    assert differences(grown.warehouse, everything.warehouse) == []
    with duckdb.connect(str(grown.warehouse), read_only=True) as connection:
        assert connection.execute("select count(*) from marts.fct_builds").fetchall() == [(5,)]


@pytest.mark.long
def test_methods_are_added_the_other_way_round_and_settings_change(
    everything: Project, new_project: NewProject
) -> None:
    """With a build by hand's parse in between, which has every method, and a threshold that is set and taken back."""
    from biasledger.building.running import Dbt

    project, runs = _like(everything, new_project), _runs(everything)
    methods = ORDER[::-1]
    thresholds = project.folder / "seeds" / "thresholds.csv"
    before = thresholds.read_bytes()
    notes: list[str] = []
    for n in (1, 3, 5):
        _keep(project, everything, [runs[method] for method in methods[:n]])
        if n == 3:
            with Dbt(project.folder) as dbt:
                dbt.run(["parse"], {}, lambda _done, _total, _name: None, methods=ORDER)
            row = "position_bias,rankings,*,0.9,0.9,,0.05,2,warn,a test of judging anew,none\n"
            thresholds.write_bytes(before + row.encode())
        else:
            thresholds.write_bytes(before)
        project.build(on_note=notes.append)
    assert differences(project.warehouse, everything.warehouse) == []
    # A new method is built, and what is judged by another threshold; what was measured before is not measured again.
    message = "the last results are up to date."
    assert notes == [
        f"Nothing is new in markers: {message}",
        f"Nothing is new in decisions, prices, markers: {message}",
    ]


def test_readings_change_answers_are_erased_and_runs_retracted(
    grown: Project, new_project: NewProject, tmp_path: Path
) -> None:
    runs = _runs(grown)
    project = Project(shutil.copytree(grown.folder, tmp_path / "project", symlinks=True))
    # Another reading of the texts, which are read by no other method; a text goes; the only lists were imported by mistake.
    spec = import_spec("texts")
    spec["analysis"]["words"]["remove"]["more"] = ["word3"]
    project.write_audit("texts", spec)
    with duckdb.connect(str(project.ledger), read_only=True) as connection:
        (prompt_id, trial) = connection.execute(
            "select prompt_id, trial from raw.responses where run_id = ? and response_text is not null "
            "order by seq limit 1",
            [runs["markers"]],
        ).fetchall()[0]
    erase(project.ledger, runs["markers"], prompt_id, trial, reason="names a private person")
    retract(project.ledger, runs["lists"], reason="asked with the wrong spec")
    notes: list[str] = []
    project.build(on_note=notes.append)
    assert notes == [
        "Runs were retracted or taken out of the ledger since the last build: all tables are rebuilt."
    ]
    assert differences(project.warehouse, _built_at_once(project, new_project).warehouse) == []
    # Nothing of the retracted run is left, in what was built before neither; nor is its method.
    for path in (project.warehouse, project.work):
        assert _tables_with_run(path, runs["lists"]) == []
        assert _tables_with_run(path, runs["words"]) != []
    assert "fct_list_similarity" not in {
        name for (name,) in project.rows("select table_name from duckdb_tables()")
    }
    # The ledger was cut from another one, whose journals stay there.
    verdicts = verify_ledger(project.ledger, needs_journals=False)
    states = {verdict.name: verdict for verdict in verdicts}
    assert {verdict.state for verdict in states.values()} == {"intact"}
    assert "asked with the wrong spec" in " ".join(states[runs["lists"]].notes)


@pytest.mark.long
def test_each_method_gets_a_second_run_and_what_runs_are_read_by_changes(
    grown: Project, new_project: NewProject, tmp_path: Path
) -> None:
    """Runs next to those of a method that are kept; then a catalogue with other prices, and lists that are read otherwise."""
    project = Project(shutil.copytree(grown.folder, tmp_path / "project", symlinks=True))
    _collect_once_more(project)
    project.build()
    assert project.rows("select count(*) from marts.fct_recommended_items where price_level = 3") == [(4,)]
    assert differences(project.warehouse, _built_at_once(project, new_project).warehouse) == []

    menu.raise_prices(project)
    recommendations = project.folder / "audits" / "recommendations.yml"
    spec = yaml.safe_load(recommendations.read_text(encoding="utf-8"))
    spec["analysis"]["lists"]["fuzzy"] = {"distance": 2, "overlap": 0.3}
    recommendations.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    project.build()
    assert project.rows("select count(*) from marts.fct_recommended_items where price_level = 3") == [(0,)]
    assert project.rows("select count(distinct run_id) from marts.fct_merged_items") == [(2,)]
    assert differences(project.warehouse, _built_at_once(project, new_project).warehouse) == []


def test_of_unchanged_runs_no_method_builds_anything_again(grown: Project, tmp_path: Path) -> None:
    """Rows that are marked are there, marked, when each method has another run; a table that is made anew has no marks."""
    project = Project(shutil.copytree(grown.folder, tmp_path / "project", symlinks=True))
    tables = project.tables_by_run()
    with duckdb.connect(str(project.work)) as connection:
        n_marked = {}
        for table in tables:
            connection.execute(f"alter table {table} add column was_there boolean")
            connection.execute(f"update {table} set was_there = true")
            [(n_marked[table],)] = connection.execute(f"select count(*) from {table}").fetchall()
    project.pass_as_built()
    _collect_once_more(project)
    project.build()
    rows = {
        table: project.work_rows(
            f"select count(*) filter (was_there), count(*) filter (was_there is null) from {table}"
        )[0]
        for table in n_marked
    }
    assert {table: n for table, (n, _) in rows.items()} == n_marked
    have_both = {table for table, (n_before, n_new) in rows.items() if n_before and n_new}
    assert {name.split("_")[1] for name in have_both} >= {"answers", *ORDER}
    assert {"marts.dim_prompt_groups", "marts.fct_list_items", "marts.fct_predictions"} <= have_both
    assert {"marts.fct_stereotype_scores", "marts.fct_recommended_items"} <= have_both


def _collect_once_more(project: Project) -> None:
    texts.plant_shuffled(project)
    project.collect("simulator", "audits/recommendations.yml", n_subjects=3, domains=("music",))
    project.collect("simulator", "audits/rankings.yml", n_subjects=1, trials=2)
    project.collect("simulator", "audits/stereotypes.yml", n_subjects=2, trials=2)
    menu.plant_more(project)


def test_it_goes_on_with_the_files_of_the_release_before(
    grown: Project, everything: Project, tmp_path: Path
) -> None:
    """The ledger lacks the views, incremental tables have other columns, the parse cache is of another version."""
    project = Project(shutil.copytree(grown.folder, tmp_path / "project", symlinks=True))
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
