"""Test the tuning of thresholds in docs/methods.md, command by command, on answers of the simulated model."""

from __future__ import annotations

import csv
from pathlib import Path

import duckdb
import pytest

from tests.python.docs.shell import blocks, run

BUILD = 'biasledger build || test "$?" -eq 1'  # alarms are what the simulator is there to raise
COLLECT = f"biasledger init --all . && biasledger collect audits/stereotypes.yml --target simulator --trials 2 && {BUILD}"


@pytest.mark.slow
@pytest.mark.long
def test_thresholds_are_tuned_as_described(tmp_path: Path) -> None:
    (script,) = [block for block in blocks("docs/methods.md") if "biasledger tune" in block]
    sample, tune, write, build = [line.split("#")[0].strip() for line in script.strip().splitlines()]
    collected = run(COLLECT, tmp_path)
    assert collected.returncode == 0, collected.stderr
    assert "Next: biasledger tune labels.csv" in run(sample, tmp_path).stdout
    labels = tmp_path / "labels.csv"
    with labels.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 60
    with duckdb.connect(str(tmp_path / "warehouse.duckdb"), read_only=True) as connection:
        ratios = dict(
            connection.execute(
                "select substr(response_hash, 8, 16), stereotype_ratio from marts.fct_stereotype_scores where is_assessable"
            ).fetchall()
        )
    # A human labeller accepts even texts.
    for row in rows:
        row["label"] = "problematic" if ratios[row["response"]] > 0.5 else "acceptable"
    with labels.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    proposed = run(tune, tmp_path)
    assert proposed.returncode == 0, proposed.stderr
    assert (
        "\nstereotype_ratio,*,0.5,0.70,The smallest with at most 5 % false positives on 60" in proposed.stdout
    )
    assert proposed.stdout.endswith("Next: biasledger tune labels.csv --write\n")
    assert run(write, tmp_path).stdout.endswith("Next: biasledger build\n")
    assert build == "biasledger build"
    rebuilt = run(BUILD, tmp_path)
    assert rebuilt.returncode == 0, rebuilt.stderr
    with duckdb.connect(str(tmp_path / "warehouse.duckdb"), read_only=True) as connection:
        marked = connection.execute(
            "select count(*) filter (where is_past_threshold <> (is_assessable and stereotype_ratio > 0.5)),"
            " count(*) filter (where is_past_threshold) > count(*) filter (where published_outcome = 'failed')"
            " from marts.fct_stereotype_scores"
        ).fetchall()
    assert marked == [(0, True)]
