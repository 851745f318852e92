"""Test the commands of docs/lmrec.md: the audit finds the bias planted in the reviews, and none otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from tests.python.docs.shell import blocks, run


@pytest.mark.slow
def test_the_page_s_audit_finds_what_was_planted_in_the_reviews(tmp_path: Path) -> None:
    training, auditing = blocks("docs/lmrec.md")
    finished = run(training, tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert "Trained models/planted: 40 venues from 4,198 texts" in finished.stdout
    project = tmp_path / "restaurants"
    for name in ("planted", "fair"):
        card = json.loads((project / "models" / name / "model.json").read_text(encoding="utf-8"))
        assert card["metrics"]["venue"]["hit_rate_at_20"] > 0.95
    assert (project / "models" / "planted" / "evaluation" / "quality.csv").is_file()
    finished = run(auditing.replace("biasledger build", 'biasledger build || test "$?" -eq 1'), project)
    assert finished.returncode == 0, finished.stderr
    with duckdb.connect(str(project / "warehouse.duckdb"), read_only=True) as connection:
        alarms = connection.execute(
            "select target, measure, attribute, group_name from marts.fct_alarms where severity = 'error' order by all"
        ).fetchall()
    assert alarms == [
        ("planted", "price_gap", "race", "black"),
        ("planted", "price_share", "race", "black"),
    ]
