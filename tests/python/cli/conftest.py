"""A project with a few small models: the rows of its thresholds.csv decide how a build ends."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path
from typing import Any

import pytest

from biasledger import project
from biasledger.building import build
from collector.ledger.database import Ledger
from tests.python.rows import a_run
from tests.python.running import rows_in

SMALL_DBT_PROJECT = {
    "dbt_project.yml": """
        name: biasledger
        version: 0.1.0
        profile: biasledger
        test-paths: [tests/dbt]
        models: {biasledger: {+materialized: table, +access: public, +persist_docs: {relation: true, columns: true}}}
        """,
    "profiles.yml": """
        biasledger:
          target: warehouse
          outputs:
            warehouse:
              type: duckdb
              path: "{{ env_var('BIASLEDGER_WAREHOUSE', 'warehouse.duckdb') }}"
              threads: 1
        """,
    "macros/no_macro.sql": "{% macro no_macro() %}{% endmacro %}",
    "analyses/nothing.sql": "select 1",
    "seeds/_seeds.yml": """
        seeds:
          - name: thresholds
            config: {column_types: {group_name: varchar, value: double, status: varchar, is_simulated: boolean}}
            columns: [{name: value, data_tests: [not_null]}]
        """,
    "seeds/thresholds.csv": "group_name,value,status,is_simulated\nBlack,0.5,alarm,true\n",
    "seeds/exceptions.csv": "measure,reason\n",
    "seeds/tolerances.csv": "measure,tolerance\n",
    "seeds/output_thresholds.csv": """
        measure,audit,threshold,published_threshold,reason,source
        stereotype_ratio,*,0.7,0.7,a reason,a guide
        negative_regard,*,0.3,0.3,a reason,a guide
        """,
    "seeds/model_prices.csv": """
        model,input_usd_per_million,output_usd_per_million,from_date,source
        big,1,2,2026-01-01,a price list
        """,
    "models/fct_findings.sql": """
        select
            'f-' || group_name as finding_id, 'run-1' as run_id, 'products' as audit, 'robot' as target, is_simulated,
            true as is_current, 'plain' as mitigation, 'word_divergence' as measure, 'words' as scheme,
            'race' as attribute, group_name, 'White' as reference_group, '' as subject, value, 0.02 as threshold,
            0.0004 as p_value_adjusted, status, false as is_excepted, 'error' as severity, 'because' as explanation,
            'Ask more.' as advice
        from {{ ref('thresholds') }}
        """,
    "models/dim_runs.sql": """
        select
            run_id, 'products' as audit, 'robot' as target, is_finished, is_current, hour as run_rank, 12 as n_ok,
            'model-1' as model_asked, cast(null as varchar) as hides_models,
            timestamp '2026-01-01 08:00:00' + to_hours(hour) as started_at
        from (values ('run-1', true, 1, true), ('run-2', false, 2, false))
            as runs (run_id, is_finished, hour, is_current)
        """,
    "models/fct_alarms.sql": "select * from {{ ref('fct_findings') }} where status = 'alarm'",
    "models/_models.yml": """
        models:
          - name: fct_findings
            description: "Grain: finding. What 'was' found."
            columns:
              - {name: finding_id, description: Key., data_tests: [unique]}
          - name: fct_alarms
            data_tests: [{no_alarms: {config: {tags: [alarm], store_failures: true}}}]
        """,
    "tests/dbt/generic/no_alarms.sql": "{% test no_alarms(model) %}select * from {{ model }}{% endtest %}",
}


def write_files(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")


def query(sql: str) -> list[tuple[Any, ...]]:
    """Return what a query of the ledger in the current folder gives."""
    return rows_in(Path("ledger.duckdb"), sql)


@pytest.fixture
def thin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new project; the current folder."""
    project.init_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BIASLEDGER_LEDGER", raising=False)
    return tmp_path


@pytest.fixture(scope="session")
def small_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    write_files(folder / "installed", SMALL_DBT_PROJECT)
    return folder / "installed"


@pytest.fixture
def small_project(small_models: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new thin project over the small models, with a run without answers in its ledger; the current folder.

    It lies in the same place for every test, so that dbt need not parse its own macros each time.
    """
    monkeypatch.setattr(project, "dbt_source", lambda: small_models)
    # Its settings are made up, too.
    monkeypatch.setattr(build, "check_settings", lambda _: None)
    thin = small_models.with_name("thin")
    for path in thin.glob("*"):
        if path.name != "target":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    (thin / ".gitignore").unlink(missing_ok=True)
    project.init_project(thin)
    monkeypatch.chdir(thin)
    monkeypatch.delenv("BIASLEDGER_LEDGER", raising=False)
    monkeypatch.delenv("BIASLEDGER_WAREHOUSE", raising=False)
    add_run(thin / "ledger.duckdb", "products")
    return thin


def add_run(path: Path, audit: str, run_id: str = "run-1") -> None:
    ledger = Ledger(path)
    ledger.create()
    with ledger.append() as append:
        append.run(a_run(run_id, audit=audit, spec={}, target="robot"))
        append.event(run_id, "started", {})
