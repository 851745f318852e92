"""Test which methods a build may skip: those whose inputs have not changed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import duckdb
import pytest

from biasledger.methods import method_names
from biasledger.project import init_project
from biasledger.publishing import freshness
from collector.ledger.database import Ledger
from collector.ledger.erasure import erase
from collector.rows import ScoreRow
from tests.python.project import Project
from tests.python.running import rows_in

METHODS = ("words", "decisions")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Two audits of two methods, asked once each; nothing is built."""
    made = Project(tmp_path_factory.mktemp("asked") / "project")
    init_project(made.folder)
    made.collect("simulator", "audits/rankings.yml", n_subjects=1, trials=1)
    _ask_products(made)
    return made


@pytest.fixture
def project(asked: Project, tmp_path: Path) -> Project:
    return Project(shutil.copytree(asked.folder, tmp_path / "project", symlinks=True))


def _ask_products(project: Project) -> None:
    project.collect("simulator", trials=1)


def _inputs(project: Project) -> dict[str, str]:
    return freshness.methods_inputs(_settings(project), Ledger(project.ledger), METHODS)


def _settings(project: Project, target: str | None = None) -> str:
    return freshness.settings_of(project.folder, project.ledger, target)


def _write(name: str) -> Callable[[Project], None]:
    def change(project: Project) -> None:
        path = project.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as stream:
            stream.write("\n")

    return change


def _execute(statement: str) -> Callable[[Project], None]:
    def change(project: Project) -> None:
        with duckdb.connect(str(project.ledger)) as connection:
            connection.execute(statement)

    return change


def _erase_one(project: Project) -> None:
    [(run_id, prompt_id)] = _rows(
        project, "select run_id, min(prompt_id) from raw.responses where run_id like 'products%' group by all"
    )
    erase(project.ledger, run_id, prompt_id, 1, reason="a private person")


def _score_one(project: Project) -> None:
    [(run_id, prompt_id)] = _rows(
        project, "select run_id, min(prompt_id) from raw.responses where run_id like 'products%' group by all"
    )
    with Ledger(project.ledger).append() as append:
        append.scores(
            run_id, [ScoreRow(prompt_id, 1, 1, "tiny", "negative", 0.5, False, datetime(2026, 1, 1))]
        )


def _rows(project: Project, sql: str) -> list[tuple[str, str]]:
    return rows_in(project.ledger, sql)


OTHER_ANALYSIS = """
    insert into raw.analysis_settings
    select audit, analysis, 'sha256:other', registered_at + interval 1 day from raw.analysis_settings where audit = 'products'
"""
BASELINE = "insert into raw.baselines select 'products', 'robot', 'run', 'sha256:f', json('{}'), '2026-01-01'"


@pytest.mark.parametrize(
    ("change", "standing_methods"),
    [
        pytest.param(_ask_products, {"decisions"}, id="another run"),
        pytest.param(_erase_one, {"decisions"}, id="an answer erased"),
        pytest.param(_execute(OTHER_ANALYSIS), {"decisions"}, id="another analysis"),
        pytest.param(_execute(BASELINE), set(), id="a baseline"),
        pytest.param(_write("models/mine.sql"), set(), id="a model of the project's own"),
        pytest.param(_write("seeds/address_forms.csv"), set(), id="a setting that methods read"),
        pytest.param(_write("dbt_project.yml"), set(), id="the project's file"),
        pytest.param(_write("seeds/thresholds.csv"), set(METHODS), id="a threshold"),
        pytest.param(_write("audits/products.yml"), set(METHODS), id="an audit that is not registered yet"),
        pytest.param(_write("targets.yml"), set(METHODS), id="a target"),
        pytest.param(_write("my_model.py"), set(METHODS), id="a target in Python"),
        pytest.param(_write("answers/march.csv"), set(METHODS), id="a file that may be imported"),
        pytest.param(_write("models/mine.py"), set(), id="a model of the project's own in Python"),
        pytest.param(_write("models/mine.SQL"), set(), id="a model that dbt finds, too"),
        pytest.param(_write("models/sources.yml"), set(), id="what a project says of our models"),
        pytest.param(_write("packages.yml"), set(), id="packages of models"),
        pytest.param(
            _execute("insert into raw.unchained_runs select run_id from raw.runs where audit = 'products'"),
            {"decisions"},
            id="a run of before chains",
        ),
    ],
)
def test_a_method_stands_as_long_as_nothing_that_it_reads_has_changed(
    project: Project, change: Callable[[Project], None], standing_methods: set[str]
) -> None:
    before = _inputs(project)
    assert set(before) == set(METHODS)
    assert _inputs(project) == before
    change(project)
    after = _inputs(project)
    assert {method for method in METHODS if after.get(method) == before[method]} == standing_methods


def test_models_of_a_project_may_read_any_file_of_it(project: Project) -> None:
    _write("macros/mine.sql")(project)
    before = _inputs(project)
    _write("answers/march.csv")(project)
    assert not set(_inputs(project).items()) & set(before.items())


def test_versions_models_the_environment_and_the_target_count(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _settings(project)
    assert _settings(project) == before != _settings(project, "other")
    for name, other in (("hash_models", lambda: "others"), ("_version", lambda _: "another")):
        with monkeypatch.context() as patch:
            patch.setattr(freshness, name, other)
            assert _settings(project) != before
    monkeypatch.setenv("BIASLEDGER_SOMETHING", "else")
    assert _settings(project) != before


def test_where_there_are_scores_the_methods_that_read_them_are_built(project: Project) -> None:
    project.collect("simulator", "audits/stereotypes.yml", n_subjects=1, trials=1)
    assert set(Ledger(project.ledger).heads_by_part()) >= {"words", "decisions", "markers"}
    _score_one(project)
    assert set(Ledger(project.ledger).heads_by_part()) & set(method_names()) == {"words", "decisions"}


def test_methods_stand_in_a_work_file_that_is_there_and_that_nothing_else_wrote_into(tmp_path: Path) -> None:
    work = tmp_path / "work.duckdb"
    inputs = {"words": "a", "lists": "b"}
    said = freshness.LastBuild(datetime(2026, 1, 1), (), 1)
    settings = "of models"

    def remember() -> None:
        warehouse = tmp_path / "warehouse.duckdb"
        freshness.remember(work, warehouse, "inputs", said, inputs, settings, ["words", "lists"])

    remember()
    assert freshness.up_to_date_methods(work, inputs) == []
    work.touch()
    assert freshness.methods_last_built(work, settings) == [], "it was written since"
    remember()
    assert freshness.methods_last_built(work, settings) == ["words", "lists"]
    assert freshness.methods_last_built(work, "of others") == []
    assert freshness.up_to_date_methods(work, inputs) == ["words", "lists"]
    assert freshness.up_to_date_methods(work, {"words": "a", "lists": "c", "prices": "d"}) == ["words"]
    freshness.discard_methods(work)
    assert freshness.up_to_date_methods(work, inputs) == []
    assert freshness.methods_last_built(work, settings) == []


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("dbt_project.yml", "on-run-start: select 1"),
        ("dbt_project.yml", "models: {+post-hook: select 1}"),
        ("profiles.yml", "# module_paths: [plugins]"),
    ],
)
def test_hooks_and_plugins_may_read_any_file(project: Project, file: str, line: str) -> None:
    with (project.folder / file).open("a", encoding="utf-8") as stream:
        stream.write(f"\n{line}\n")
    before = _settings(project)
    _write("answers/march.csv")(project)
    assert _settings(project) != before


def test_measures_depend_on_models_sql_and_seeds_that_no_finding_is_judged_by(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hashes(*names: str) -> set[str]:
        """Change these files one after the other; return the hash after each."""
        found = set()
        for name in names:
            _write(name)(project)
            found.add(freshness.measured_by(project.folder))
        return found

    first = freshness.measured_by(project.folder)
    monkeypatch.setenv("DBT_THREADS", "3")
    judged = [f"seeds/{name}" for name in sorted(freshness.JUDGED_BY)]
    assert hashes(*judged, "seeds/model_prices.csv", "audits/mine.yml", "findings.csv") == {first}
    changed = hashes("seeds/hedges.csv", "models/mine.sql", "macros/mine.sql", "dbt_project.yml")
    assert len(changed | {first}) == 5
    monkeypatch.setattr(freshness, "hash_models", lambda: "of another version")
    assert freshness.measured_by(project.folder) not in changed
