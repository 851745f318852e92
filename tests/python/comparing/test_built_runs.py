"""Test which run counts: `latest` is a finished run, and unfinished ones are named."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from biasledger.comparing.built_runs import known_runs, standing_notes, unjudged_runs
from biasledger.comparing.built_tables import Tables, open_tables
from biasledger.comparing.run_names import find_run
from collector.errors import InputError

OF_SO_MANY = "not finished: findings on products, target other, are of"
HIDES = "and other runs under the target name other asked"
NOTHING = "of which nothing shows here: models that are both in use need a target name each."
STILL = "so that products of model still goes by the findings of"


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    """The first target has two runs after the finished one, and a stopped run before it; the other has no finished run."""
    warehouse = tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("create schema marts")
        connection.execute(
            """
            create table marts.dim_runs as
            select
                *, 'products' as audit, n_ok as n_responses, 'new' as model_asked,
                case run_id when 'second' then 'big, old' end as hides_models,
                timestamp '2026-02-01 08:00:00' + to_hours(hour) as started_at
            from (
                values
                ('older', 'model', 1, 90, true, false, 2), ('stopped', 'model', 2, 5, false, false, 3),
                ('whole', 'model', 3, 90, true, true, 1), ('killed', 'model', 4, 5, false, false, 4),
                ('empty', 'model', 5, 0, true, false, 5), ('first', 'other', 6, 7, false, false, 2),
                ('second', 'other', 7, 1234, false, true, 1)
            ) as runs (run_id, target, hour, n_ok, is_finished, is_current, run_rank)
            """
        )
    return open_tables(warehouse)


def test_what_unfinished_and_newer_runs_lack_is_said(tables: Tables) -> None:
    with tables:
        assert standing_notes(tables) == [
            f"The run second is {OF_SO_MANY} the 1,234 answers so far; go on with: biasledger collect --resume second",
            f"The run killed is not finished, {STILL} whole; go on with: biasledger collect --resume killed",
            f"The run empty has no answers, {STILL} whole.",
            f"The run second of products asked new, {HIDES} big, old, {NOTHING}",
        ]


def test_current_runs_without_a_finding_are_said(tables: Tables, tmp_path: Path) -> None:
    tables.connection.close()
    with duckdb.connect(str(tmp_path / "warehouse.duckdb")) as connection:
        connection.execute("create table marts.fct_findings as select 'whole' as run_id")
    with open_tables(tmp_path / "warehouse.duckdb") as tables:
        assert unjudged_runs(tables) == [
            "Nothing could be judged of products, target other: its run second has no finding."
        ]


def test_a_warehouse_of_an_older_version_is_said_to_be_one(tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("create schema marts; create table marts.dim_runs as select 'run-1' as run_id")
    with (
        open_tables(warehouse) as tables,
        pytest.raises(InputError, match="lacks columns that are read here: it was built by an older version"),
    ):
        standing_notes(tables)


def test_latest_is_the_current_run(tables: Tables) -> None:
    with tables:
        runs = known_runs(tables)
    assert find_run("latest", runs, [], target="model").run_id == "whole"
    assert find_run("previous", runs, [], target="model").run_id == "older"
    assert find_run("latest", runs, [], target="other").run_id == "second"
    assert {run.run_id for run in runs} == {"older", "stopped", "whole", "killed", "empty", "first", "second"}
