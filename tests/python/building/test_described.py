"""Test the cache of parsed audit files: which changes make a build read a file again."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from biasledger.building import ANALYSIS_SETTINGS, described
from biasledger.building.analysis_settings import register_analysis_settings
from biasledger.building.described import Described, Descriptions
from biasledger.project import init_project
from collector.errors import InputError
from collector.ledger.database import Ledger
from collector.spec import loading
from tests.python.cli.conftest import add_run

SPEC = Path("audits/small.yml")
PEOPLE = Path("audits/people.csv")
SCHEMES = "schemes: [words]"
TEXT = f"""
audit: small
trials: 1
people: {{file: people.csv, name: name}}
attributes:
  race: {{reference: White, groups: [White, Black]}}
templates: [{{id: one, text: "Write about {{name}}."}}]
analysis: {{words: {{{SCHEMES}}}}}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one audit."""
    folder = tmp_path / "project"
    init_project(folder)
    shutil.rmtree(folder / "audits")
    (folder / "audits").mkdir()
    write(folder / SPEC, TEXT)
    write(folder / PEOPLE, "name,race\nAda,White\nBea,Black\n")
    return folder


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of this minute are taken for old ones."""
    monkeypatch.setattr(described, "_SETTLED_SECONDS", -60.0)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The audit files that were read, in order."""
    paths: list[Path] = []
    load = loading.load_audit

    def noted(path: Path, **options: Any) -> Any:
        paths.append(path)
        return load(path, **options)

    monkeypatch.setattr(loading, "load_audit", noted)
    return paths


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    written = path.stat().st_mtime - 3600
    os.utime(path, (written, written))


def said(project: Path, *, allow_outside: bool = False) -> Described:
    descriptions = Descriptions(project, allow_outside=allow_outside)
    (found,) = descriptions.of(project / SPEC)
    descriptions.keep()
    return found


def test_what_did_not_change_is_not_read_again(project: Path, read: list[Path]) -> None:
    first = said(project)
    assert first.names == ("small.yml", "people.csv")
    assert read == [project / SPEC]
    assert said(project) == first
    # A copy of a file is the same file; another time is no other file.
    write(project / PEOPLE, (project / PEOPLE).read_text(encoding="utf-8"))
    assert said(project) == first
    assert read == [project / SPEC]


def other_analysis(project: Path) -> None:
    write(project / SPEC, TEXT.replace(SCHEMES, "schemes: [seed]"))


def other_people(project: Path) -> None:
    write(project / PEOPLE, "name,race\nAda,White\nCora,Black\n")


def no_people(project: Path) -> None:
    (project / PEOPLE).unlink()


def people_outside(project: Path) -> None:
    outside = project.parent / "people.csv"
    (project / PEOPLE).rename(outside)
    (project / PEOPLE).symlink_to(outside)


def people_hidden(project: Path) -> None:
    hidden = project / ".people.csv"
    (project / PEOPLE).rename(hidden)
    (project / PEOPLE).symlink_to(hidden)


def a_pipe(project: Path) -> None:
    (project / PEOPLE).unlink()
    os.mkfifo(project / PEOPLE)


def a_project_within(project: Path) -> None:
    """Now the people lie outside of the audit's project."""
    write(project / "audits" / "people.csv", "name,race\nAda,White\nBea,Black\n")
    write(project / SPEC, TEXT.replace("people.csv", "../people.csv"))
    shutil.move(project / PEOPLE, project / "people.csv")
    said(project)
    write(project / "audits" / "dbt_project.yml", "name: within\n")


@pytest.mark.parametrize("change", [other_analysis, other_people])
def test_another_file_is_read(project: Path, read: list[Path], change: Callable[[Path], None]) -> None:
    first = said(project)
    change(project)
    second = said(project)
    assert second.files != first.files
    assert (second.analysis != first.analysis) == (change is other_analysis)
    assert read == [project / SPEC] * 2
    assert said(project) == second
    assert len(read) == 2


@pytest.mark.parametrize("change", [no_people, people_outside, people_hidden, a_pipe, a_project_within])
def test_a_file_that_may_no_longer_be_read_is_refused(project: Path, change: Callable[[Path], None]) -> None:
    said(project)
    change(project)
    with pytest.raises(InputError, match=r"people\.csv"):
        said(project)


def test_what_was_just_written_is_read_again(
    project: Path, read: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file may be written again while it is read, even with an older time of change."""
    monkeypatch.setattr(described, "_SETTLED_SECONDS", 3600.0)
    write(project / PEOPLE, "name,race\nAda,White\nBea,Black\n")
    assert said(project).files is None
    said(project)
    assert len(read) == 2


def test_other_code_reads_again(project: Path, read: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    said(project)
    monkeypatch.setattr(described, "__version__", "another")
    said(project)
    said(project)
    assert len(read) == 2


def test_what_may_lie_outside_is_neither_kept_nor_taken_from_what_was(
    project: Path, read: list[Path]
) -> None:
    said(project, allow_outside=True)
    assert not (project / ANALYSIS_SETTINGS).exists()
    said(project)
    said(project, allow_outside=True)
    assert len(read) == 3


def test_an_encoder_is_looked_at_each_time(project: Path) -> None:
    """Its folder holds what is too large to be read twice, and reading the audit hashes it anyway."""
    assert described._hash_of_files(project / SPEC, ("small.yml", ".")) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"code": 1}',
        '{"code": "CODE"}',
        '{"code": "CODE", "audits": 3}',
        '{"code": "CODE", "audits": {"audits/small.yml": []}}',
        '{"code": "CODE", "audits": {"audits/small.yml": {}}}',
    ],
)
def test_what_cannot_be_read_of_it_is_read_anew(project: Path, read: list[Path], text: str) -> None:
    found = said(project)
    kept = json.loads((project / ANALYSIS_SETTINGS).read_text(encoding="utf-8"))
    (project / ANALYSIS_SETTINGS).write_text(text.replace("CODE", kept["code"]), encoding="utf-8")
    assert said(project) == found
    assert len(read) == 2
    assert json.loads((project / ANALYSIS_SETTINGS).read_text(encoding="utf-8")) == kept
    assert kept["audits"] == {SPEC.as_posix(): [json.loads(json.dumps(asdict(found)))]}


def test_a_project_that_cannot_be_written_is_read(project: Path, read: list[Path]) -> None:
    (project / ANALYSIS_SETTINGS.parent).write_text("no folder", encoding="utf-8")
    assert said(project) == said(project)
    assert len(read) == 2


def test_what_the_ledger_lost_is_registered_again(project: Path, read: list[Path]) -> None:
    """The cache holds the content of audit files, not of the ledger."""
    ledger = project / "ledger.duckdb"
    add_run(ledger, "small")
    assert register_analysis_settings(project, ledger) == ["small"]
    assert register_analysis_settings(project, ledger) == ["small"]
    n_read = len(read)
    ledger.unlink()
    add_run(ledger, "small")
    assert Ledger(ledger).held_analysis_settings().latest == {}
    assert register_analysis_settings(project, ledger) == ["small"]
    assert len(read) == n_read + 1
    with Ledger(ledger).append() as append:
        append.analysis("small", {"words": {"schemes": ["other"]}})
    other = Ledger(ledger).held_analysis_settings().latest
    register_analysis_settings(project, ledger)
    assert Ledger(ledger).held_analysis_settings().latest != other
