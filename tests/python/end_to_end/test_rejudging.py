"""Test that thresholds and exceptions of old runs can change while answers and measures stay."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from biasledger.building.running import BuildError
from tests.python.project import Project, import_spec

from .planting.texts import made_texts as _texts


@pytest.fixture(scope="module")
def once_built(new_project: Callable[[], Project]) -> Project:
    project = new_project()
    audit = project.write_audit("texts", import_spec("texts"))
    texts = _texts()
    texts.loc[texts.race == "Black", "text"] += " marker marker marker"
    texts.to_csv(project.folder / "texts.csv", index=False)
    project.import_file(audit, project.folder / "texts.csv")
    project.build()
    return project


@pytest.fixture
def built(once_built: Project, tmp_path: Path) -> Iterator[Project]:
    """The built project, whose settings each test may change; the next test finds them as they were."""
    settings = [once_built.folder / name for name in ("seeds", "audits")]
    for folder in settings:
        shutil.copytree(folder, tmp_path / folder.name)
    yield once_built
    for folder in settings:
        shutil.copytree(tmp_path / folder.name, folder, dirs_exist_ok=True)


def _measured_at(project: Project) -> list[tuple[object, ...]]:
    return project.work_rows(
        "select count(*), count(distinct comparison_key) from intermediate.int_words_statistics"
    )


def _accept(project: Project, until: date, group: str, *measures: str) -> None:
    with (project.folder / "seeds" / "exceptions.csv").open("a", encoding="utf-8", newline="") as file:
        for measure in measures:
            csv.writer(file, lineterminator="\n").writerow(
                [
                    "texts",
                    "*",
                    measure,
                    "race",
                    group,
                    "",
                    "head of audit",
                    until.isoformat(),
                    "known and being mended",
                ]
            )


def test_a_changed_threshold_judges_old_runs_anew_and_an_accepted_alarm_does_not_fail(built: Project) -> None:
    before = _measured_at(built)
    alarms = built.rows(
        "select distinct measure from marts.fct_alarms where attribute = 'race' and group_name = 'Black' order by 1"
    )
    assert alarms == [("classifier_accuracy",), ("marked_words",), ("word_divergence",)]
    with (built.folder / "seeds" / "thresholds.csv").open("a", encoding="utf-8") as file:
        file.write("word_divergence,texts,race,0.9,0.9,0.10,0.05,10,error,a test of judging anew,none\n")
    _accept(built, date.today() + timedelta(days=30), "Black", "marked_words", "classifier_accuracy")
    notes: list[str] = []
    assert not built.build(on_note=notes.append).has_alarms
    assert notes == ["Nothing is new in words: the last results are up to date."]
    assert built.rows(
        "select measure, is_excepted from marts.fct_alarms where attribute = 'race' order by 1"
    ) == [
        ("classifier_accuracy", True),
        ("marked_words", True),
    ]
    assert _measured_at(built) == before


def test_an_expired_and_an_unmatched_exception_fail_a_quality_test(built: Project) -> None:
    _accept(built, date(2020, 1, 1), "Black", "word_divergence")
    _accept(built, date.today() + timedelta(days=30), "Asian", "word_divergence")
    published = built.warehouse.read_bytes()
    with pytest.raises(BuildError, match="exceptions_match_live_alarms") as caught:
        built.build()
    assert "Got 2 results" in str(caught.value)
    assert built.warehouse.read_bytes() == published
    # The tables still show the reason, and the alarm is not hidden.
    alarms = built.work_rows(
        "select count(*) from marts.fct_alarms where group_name = 'Black' and not is_excepted"
    )
    assert alarms[0][0] >= 3
