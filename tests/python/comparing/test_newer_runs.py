"""Runs newer than the current one are named, and `latest` does not mean them."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from biasledger.comparing.changes import Tables, open_tables
from biasledger.comparing.newer_runs import known_runs, newer_runs
from biasledger.comparing.run_names import find_run

STILL = "so that products of model still goes by the findings of"


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    """Of the first target two runs are newer than the finished one, of the second the newest counts."""
    warehouse = tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("create schema marts")
        connection.execute(
            """
            create table marts.dim_runs as
            select *, 'products' as audit, timestamp '2026-02-01 08:00:00' + to_hours(hour) as started_at
            from (
                values
                ('older', 'model', 1, 'finished', false), ('whole', 'model', 2, 'finished', true),
                ('killed', 'model', 3, 'started', false), ('empty', 'model', 4, 'finished', false),
                ('first', 'other', 5, 'finished', false), ('second', 'other', 6, 'stopped', true)
            ) as runs (run_id, target, hour, last_event, is_current)
            """
        )
    return open_tables(warehouse)


def test_what_newer_runs_lack_is_said(tables: Tables) -> None:
    with tables:
        assert newer_runs(tables) == [
            f"The run killed is not finished, {STILL} whole; go on with: biasledger collect --resume killed",
            f"The run empty has no answers, {STILL} whole.",
        ]


def test_latest_is_the_current_run(tables: Tables) -> None:
    with tables:
        runs = known_runs(tables)
    assert find_run("latest", runs, [], target="model").run_id == "whole"
    assert find_run("previous", runs, [], target="model").run_id == "older"
    assert find_run("latest", runs, [], target="other").run_id == "second"
    assert {run for run, _, _ in runs} == {"older", "whole", "killed", "empty", "first", "second"}
