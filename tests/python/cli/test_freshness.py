"""Test that a build runs only if one of its inputs changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from biasledger.building.build import up_to_date_build
from biasledger.publishing import freshness, work
from tests.python.running import biasledger

from .conftest import add_run

LEDGER, WAREHOUSE = Path("ledger.duckdb"), Path("warehouse.duckdb")
WORK = work.work_file(Path(), WAREHOUSE)


def _is_up_to_date() -> bool:
    return up_to_date_build(Path(), LEDGER, WAREHOUSE) is not None


@pytest.mark.slow
@pytest.mark.usefixtures("small_project")
def test_nothing_new_is_said_with_the_findings_and_the_same_end() -> None:
    first = biasledger("build")
    published = WAREHOUSE.stat()
    again = biasledger("build")
    assert again.exit_code == first.exit_code == 1
    assert "warehouse.duckdb: Nothing is new since the build of 20" in again.stdout
    assert "(--force builds all the same)" in again.stdout
    shown = first.stdout[first.stdout.index("products, target") :]
    assert again.stdout.endswith(shown), "the findings are those of the build"
    assert WAREHOUSE.stat() == published
    assert "models and settings built" in biasledger("build", "--force").stdout
    assert _is_up_to_date()
    # A build that fails leaves no earlier one in its place.
    _write("seeds/thresholds.csv", "group_name,value,status,is_simulated\nBlack,,alarm,true\n")()
    assert biasledger("build").exit_code == 3
    assert not _is_up_to_date()


def _write(path: str, text: str) -> Callable[[], None]:
    def change() -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")

    return change


def _note_again() -> None:
    """As if all had been built as it is now."""
    _remember()
    assert _is_up_to_date()


def _remember() -> None:
    inputs = freshness.inputs_of(Path(), LEDGER)
    freshness.remember(WORK, WAREHOUSE, inputs, freshness.LastBuild(datetime(2026, 1, 1), (), 1), {})


@pytest.mark.slow
def test_whatever_may_change_a_table_makes_a_build(
    small_project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert biasledger("build").exit_code == 1
    for name, other in (("hash_models", lambda: "others"), ("_version", lambda name: f"another {name}")):
        with monkeypatch.context() as patch:
            patch.setattr(freshness, name, other)
            assert not _is_up_to_date(), name
        assert _is_up_to_date()
    with monkeypatch.context() as patch:
        patch.setenv("DBT_THREADS", "3")
        assert not _is_up_to_date()
    with monkeypatch.context() as patch:
        patch.setattr(freshness, "_today", lambda: "2030-01-01")
        assert _is_up_to_date(), "nothing expires where nothing is accepted"
        _write("seeds/exceptions.csv", "measure,reason\nword_divergence,known\n")()
        _note_again()
        patch.setattr(freshness, "_today", lambda: "2030-01-02")
        assert not _is_up_to_date(), "an exception may expire"
    shared = small_project / "audits" / "shared"
    shared.symlink_to(tmp_path, target_is_directory=True)
    _remember()
    assert not _is_up_to_date(), "what a linked folder holds may have changed"
    shared.unlink()
    project = Path("dbt_project.yml").read_text(encoding="utf-8")
    changes = {
        "a setting": _write("seeds/tolerances.csv", "measure,tolerance\nword_divergence,0.01\n"),
        "an audit": _write("audits/mine.yml", "audit: mine\n"),
        "a list that audits read": _write("audits/names/mine.csv", "name\nMia\n"),
        "a model of the project": _write("models/mine.sql", "select 1 as one"),
        "a model in a folder called as one of dbt's": _write("models/logs/mine.sql", "select 2 as two"),
        "the project's file": _write("dbt_project.yml", f"{project}# changed\n"),
        "a journal": _write("journal/run-9.jsonl", "{}\n"),
        "a run": lambda: add_run(LEDGER, "products", "run-3"),
        "another warehouse": lambda: os.utime(WAREHOUSE, ns=(1, 1)),
        "no warehouse": WAREHOUSE.unlink,
        "no work file": WORK.unlink,
    }
    for path in ("build.log", "report.html"):
        _note_again()
        _write(path, "what a user keeps of a build")()
        assert _is_up_to_date(), path
    for what, change in changes.items():
        _note_again()
        change()
        assert not _is_up_to_date(), what
