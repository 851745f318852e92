"""How answers are read and judged can change for old runs; what was asked and measured stays."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest

from biasledger.build import BuildError
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
def built(once_built: Project, tmp_path: Path) -> Project:
    """A copy of one built project, for each test to change."""
    copy = shutil.copytree(once_built.folder, tmp_path / "project", ignore=shutil.ignore_patterns("packages"))
    return Project(copy)


def _measured_at(project: Project) -> list[tuple[object, ...]]:
    return project.work_rows(
        "select count(*), count(distinct comparison_key) from intermediate.int_words_statistics"
    )


def test_a_changed_threshold_judges_old_runs_anew_without_measuring(built: Project) -> None:
    before = _measured_at(built)
    assert ("Black",) in built.rows(
        "select group_name from marts.fct_alarms where measure = 'word_divergence'"
    )
    thresholds = built.folder / "seeds" / "thresholds.csv"
    lines = thresholds.read_text(encoding="utf-8").splitlines()
    lines.append("word_divergence,texts,race,0.9,0.9,0.10,0.05,10,error,a test of judging anew,none")
    thresholds.write_text("\n".join(lines) + "\n", encoding="utf-8")
    built.build()
    assert built.rows("select count(*) from marts.fct_alarms where measure = 'word_divergence'") == [(0,)]
    assert _measured_at(built) == before


def test_a_new_term_reads_old_answers_anew(built: Project) -> None:
    hashes = built.rows("select distinct reading_hash from marts.fct_findings")
    assert ("marker",) in built.rows("select distinct word from marts.fct_marked_words")
    spec = import_spec("texts")
    spec["reading"]["words"]["remove"]["more"] = ["marker"]
    built.write_audit("texts", spec)
    built.build()
    assert ("marker",) not in built.rows("select distinct word from marts.fct_marked_words")
    assert built.rows("select distinct reading_hash from marts.fct_findings") != hashes


def _accept(project: Project, until: date, group: str) -> None:
    with (project.folder / "seeds" / "exceptions.csv").open("a", encoding="utf-8", newline="") as file:
        for measure in ("marked_words", "word_divergence", "separability"):
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


def test_an_accepted_alarm_stays_visible_and_does_not_fail(built: Project) -> None:
    alarms = built.rows(
        "select distinct measure from marts.fct_alarms where attribute = 'race' and group_name = 'Black'"
    )
    assert len(alarms) == 3
    _accept(built, date.today() + timedelta(days=30), "Black")
    assert not built.build().has_alarms
    excepted = built.rows("select count(*) from marts.fct_alarms where is_excepted")
    assert excepted == [(3,)]


@pytest.mark.parametrize(
    ("until", "group"),
    [(date(2020, 1, 1), "Black"), (date.today() + timedelta(days=30), "Asian")],
    ids=["expired", "unmatched"],
)
def test_an_expired_or_unmatched_exception_fails_a_quality_test(
    built: Project, until: date, group: str
) -> None:
    _accept(built, until, group)
    published = built.warehouse.read_bytes()
    with pytest.raises(BuildError, match="exceptions_match_live_alarms"):
        built.build()
    assert built.warehouse.read_bytes() == published
    # The tables are there all the same for whoever looks for the reason, and the alarm is not hidden.
    alarms = built.work_rows(
        "select count(*) from marts.fct_alarms where group_name = 'Black' and not is_excepted"
    )
    assert alarms[0][0] >= 3
