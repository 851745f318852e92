"""Test pins in the ledger and the names of runs, without a build."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result

from biasledger.cli import cli
from biasledger.comparing.baselines import list_baselines
from biasledger.comparing.built_tables import open_tables
from biasledger.comparing.changes import _both
from biasledger.comparing.run_names import NamedRun, find_run
from collector.errors import InputError
from collector.ledger.database import Ledger
from collector.rows import ResponseRow
from tests.python.cli.conftest import add_run

RUNS = [
    NamedRun("products-robot-3", "products", "robot"),
    NamedRun("resumes-robot-1", "resumes", "robot"),
    NamedRun("products-robot-2", "products", "robot"),
    NamedRun("products-robot-1", "products", "robot"),
    NamedRun("products-person-1", "products", "person"),
]


@pytest.mark.parametrize(
    ("name", "narrow", "expected"),
    [
        ("products-robot-2", {}, "products-robot-2"),
        ("resumes", {}, "resumes-robot-1"),
        ("products-p", {}, "products-person-1"),
        ("latest", {"audit": "products", "target": "robot"}, "products-robot-3"),
        ("previous", {"audit": "products"}, "products-robot-2"),
        ("latest", {"audit": "resumes"}, "resumes-robot-1"),
    ],
)
def test_a_run_is_found_by_what_it_is_called(name: str, narrow: dict[str, str], expected: str) -> None:
    assert find_run(name, RUNS, [], **narrow).run_id == expected


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("products-robot", "may mean products-robot-3, products-robot-2, products-robot-1: write more"),
        (
            "latest",
            "may mean products-robot-3, resumes-robot-1, products-person-1: name one with --audit and --target",
        ),
        ("baseline", "No baseline is pinned"),
        ("prodcts-robot-3", "did you mean 'products-robot-3'"),
    ],
)
def test_a_name_that_means_none_or_several_is_refused(name: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        find_run(name, RUNS, [])


@pytest.fixture
def biasledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BIASLEDGER_LEDGER", raising=False)
    for run_id, audit in (("products-1", "products"), ("products-2", "products"), ("resumes-1", "resumes")):
        add_run(tmp_path / "ledger.duckdb", audit, run_id)
    return lambda *arguments: CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_the_latest_run_of_one_of_several_audits_is_pinned(biasledger: Callable[..., Result]) -> None:
    assert "name one with --audit and --target" in biasledger("baseline", "set", "latest").output
    said = biasledger("baseline", "set", "latest", "--audit", "products")
    assert said.exit_code == 0, said.output
    assert ": products-2." in said.output


def test_an_unfinished_run_is_not_the_latest(biasledger: Callable[..., Result]) -> None:
    with Ledger(Path("ledger.duckdb")).append() as append:
        append.responses("products-1", [ResponseRow("p", 1, 1, 1, "ok", "h")])
        append.event("products-1", "finished", {})
    said = biasledger("baseline", "set", "latest", "--audit", "products")
    assert said.exit_code == 0, said.output
    assert ": products-1." in said.output
    # Asked again what had failed, it is still the one that has all.
    with Ledger(Path("ledger.duckdb")).append() as append:
        append.event("products-1", "resumed", {})
    assert ": products-1." in biasledger("baseline", "set", "latest", "--audit", "products").output


def test_published_tables_go_before_others_of_their_name(tmp_path: Path) -> None:
    path = tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(path)) as connection:
        for schema in ("aaa", "marts", "settings", "zzz"):
            connection.execute(f"create schema {schema}; create table {schema}.t as select '{schema}' as s")
        connection.execute("drop table settings.t; create table zzz.own as select 1 as a")
    with open_tables(path) as tables:
        assert tables.execute("select s from {t}") == [("marts",)]
        assert tables.has("own")


def test_runs_to_compare_are_those_of_the_audit_that_is_named() -> None:
    first, second = _both("latest", "previous", RUNS, [], "products", "robot")
    assert (first.run_id, second.run_id) == ("products-robot-3", "products-robot-2")


def test_pins_are_rows_that_are_only_added(biasledger: Callable[..., Result], tmp_path: Path) -> None:
    assert "No baseline is pinned" in biasledger("baseline", "show").output
    for run in ("products-1", "products-2", "resumes"):
        assert biasledger("baseline", "set", run).exit_code == 0
    ledger = tmp_path / "ledger.duckdb"
    assert [one.run_id for one in list_baselines(ledger)] == ["products-2", "resumes-1"]
    shown = biasledger("baseline", "show").output
    assert "products of robot: products-2, set " in shown
    cleared = biasledger("baseline", "clear", "--audit", "products")
    assert "products of robot has no baseline any more; it was products-2." in cleared.output
    assert [one.run_id for one in list_baselines(ledger)] == ["resumes-1"]
    assert biasledger("baseline", "set", "products-1").exit_code == 0
    assert [one.run_id for one in list_baselines(ledger)] == ["products-1", "resumes-1"]
    with duckdb.connect(str(ledger), read_only=True) as connection:
        rows = connection.execute("select run_id from raw.baselines order by set_at").fetchall()
    assert rows == [("products-1",), ("products-2",), ("resumes-1",), (None,), ("products-1",)]


def test_wrong_use_is_said_in_a_sentence(biasledger: Callable[..., Result], tmp_path: Path) -> None:
    for arguments, sentence in (
        (("baseline", "set", "nobody"), "There is no run 'nobody'"),
        (("baseline", "export", "file"), "No baseline is pinned"),
        (("baseline", "import", "file"), "There is no file file"),
        (("compare", "products-1"), "Give two runs, or one run and --mitigation NAME."),
        (("compare", "products-1", "products-2"), "There is no warehouse at warehouse.duckdb"),
        (("check",), "There is no warehouse at warehouse.duckdb"),
    ):
        finished = biasledger(*arguments)
        assert finished.exit_code == 3, arguments
        assert sentence in finished.output, finished.output
    (tmp_path / "other").write_text("nothing")
    assert "other is no baseline, or is damaged" in biasledger("baseline", "import", "other").output
