"""Test the paths of four people with an installed wheel, by the commands of the documents: from nothing to a right verdict.

An engineer (docs/tutorial.md) audits an endpoint; an auditor gets her pack and ledger (docs/evidence.md); a data engineer reads
her ledger with dbt (docs/dbt-package.md). An analyst has a file (docs/own-data.md). Every path says how many commands it took.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import duckdb
import pytest

from tests.python.conftest import NOTE
from tests.python.docs.shell import ROOT, blocks, commands, files, run

pytestmark = pytest.mark.slow

Note = Callable[[str, object], None]


class Followed(NamedTuple):
    """The project, what its commands printed, and how many there were in how many seconds."""

    project: Path
    finished: list[subprocess.CompletedProcess[str]]
    took: str


def _took(who: str, n: int, begun: float) -> str:
    return f"{who}: {n} commands, {time.monotonic() - begun:.0f} seconds."


def _without_install(block: str) -> str:
    return re.sub(r"^pip install .*$", "", block, flags=re.MULTILINE)


def _worked(*finished: subprocess.CompletedProcess[str]) -> None:
    for one in finished:
        assert one.returncode == 0, one.stdout + one.stderr
        assert "Traceback" not in one.stdout + one.stderr


@pytest.fixture(scope="module")
def engineer(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Followed:
    folder = tmp_path_factory.mktemp("tutorial")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    first, *others = blocks("docs/tutorial.md")
    project = folder / "support-audit"
    made = run(_without_install(first), folder, installed)
    assert made.returncode == 0, made.stderr
    saved = files("docs/tutorial.md")
    assert len(saved) == 4
    for name, content in saved.items():
        (project / name).write_text(content.replace("8000", port), encoding="utf-8")
    # The reader's endpoint is up before the next command is typed; the shell's end is the endpoint's.
    up = f"until python -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}))' 2>/dev/null; do sleep 0.1; done\n"
    started, *asked = others
    # Job control, so that the endpoint has a process group of its own, to be ended as a whole.
    script = "set -m\n" + started + "server=$!\ntrap 'kill -- -$server' EXIT\n" + up + "".join(asked)
    begun = time.monotonic()
    finished = run(script, project, installed)
    script = "".join([first, *others])
    after = commands(script.partition("biasledger check")[2])
    n = commands(script)
    took = _took(f"Engineer, own endpoint to a verdict in {n - after} commands, and what follows", n, begun)
    return Followed(project, [made, finished], took)


def test_an_engineer_finds_her_endpoint_s_bias_and_that_masking_removes_it(
    engineer: Followed, record_property: Note
) -> None:
    record_property(NOTE, engineer.took)
    _worked(*engineer.finished)
    with duckdb.connect(str(engineer.project / "warehouse.duckdb"), read_only=True) as connection:
        alarms = connection.execute(
            "select measure, attribute, group_name, mitigation from marts.fct_alarms"
        ).fetchall()
        masked = connection.execute(
            "select value from marts.fct_findings where mitigation = 'masked' and measure = 'rank_gap'"
        ).fetchall()
    assert alarms == [("rank_gap", "race", "black", "plain")]
    assert masked == [(0.0,), (0.0,)]
    assert "<html" in (engineer.project / "report.html").read_text(encoding="utf-8")


def test_an_auditor_who_gets_pack_and_ledger_comes_to_the_same_figures(
    engineer: Followed, installed: Path, tmp_path: Path, record_property: Note
) -> None:
    (pack,) = engineer.project.glob("evidence-*.zip")
    assert zipfile.ZipFile(pack).testzip() is None
    for sent in (pack, engineer.project / "ledger.duckdb"):
        shutil.copy(sent, tmp_path)
    page = (ROOT / "docs/evidence.md").read_text(encoding="utf-8")
    [command] = re.findall(r"^biasledger verify --pack .* --rebuild$", page, re.MULTILINE)
    begun = time.monotonic()
    script = command.replace("evidence-RUN.zip", pack.name) + "\nbiasledger verify --without-journals\n"
    checked = run(script, tmp_path, installed)
    record_property(NOTE, _took("Auditor, pack and ledger to a verdict", commands(script), begun))
    _worked(checked)
    assert "broken" not in checked.stdout
    with zipfile.ZipFile(pack) as archive:
        name = next(name for name in archive.namelist() if name.endswith("findings.csv"))
        assert b",alarm," in archive.read(name)


def test_a_data_engineer_counts_alarms_with_the_installed_package(
    engineer: Followed, installed: Path, tmp_path: Path, record_property: Note
) -> None:
    shop = Path(shutil.copytree(ROOT / "examples/dbt", tmp_path / "shop"))
    with (shop / "seeds/countries.csv").open("a", encoding="utf-8") as file:
        file.write("assistant,Italy\n")
    [script] = blocks("docs/dbt-package.md")
    begun = time.monotonic()
    ledger = str(engineer.project / "ledger.duckdb")
    # The page says how to leave out methods that nobody asked.
    done = run(
        "export BIASLEDGER_METHODS=decisions\n" + script.replace("/path/to/ledger.duckdb", ledger),
        shop,
        installed,
    )
    n = len(re.findall(r"^(?:export|dbt) ", script, re.MULTILINE))
    record_property(NOTE, _took("Data engineer, a ledger to alarms in a model of one's own", n, begun))
    _worked(done)
    assert "WARN" not in done.stdout.replace("WARN=0", "")
    with duckdb.connect(shop / "shop.duckdb", read_only=True) as connection:
        assert connection.execute("select country, n_alarms from dev.alarms_by_country").fetchall() == [
            ("Italy", 1)
        ]
        schemas = connection.execute("select distinct schema_name from duckdb_tables() order by 1").fetchall()
    assert schemas == [("dev",), ("dev_intermediate",), ("dev_marts",), ("dev_settings",)]
    # The alarm is accepted in the project's own settings; the same command again counts it no more.
    with (shop / "seeds/exceptions.csv").open("a", encoding="utf-8") as file:
        file.write("refunds,*,rank_gap,race,black,,lead,2999-12-31,known\n")
    accepted = run(
        "export BIASLEDGER_METHODS=decisions\n" + script.replace("/path/to/ledger.duckdb", ledger),
        shop,
        installed,
    )
    _worked(accepted)
    with duckdb.connect(shop / "shop.duckdb", read_only=True) as connection:
        assert connection.execute("select count(*) from dev.alarms_by_country").fetchall() == [(0,)]
        assert connection.execute(
            "select measure, group_name from dev_marts.fct_findings where is_excepted"
        ).fetchall() == [("rank_gap", "black")]


@pytest.fixture(scope="module")
def analyst(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Followed:
    folder = tmp_path_factory.mktemp("own-data")
    first, *others = blocks("docs/own-data.md")
    saved = files("docs/own-data.md")
    (folder / "practice.py").write_text(saved["practice.py"], encoding="utf-8")
    begun, took = time.monotonic(), ""
    finished = [run(_without_install(first), folder, installed)]
    project = folder / "loan-audit"
    (project / "others.py").write_text(saved["others.py"], encoding="utf-8")
    for number, block in enumerate(others, start=2):
        finished.append(run(block, project, installed))
        if "biasledger findings" in block:
            took = _took(
                "Analyst, own CSV to a verdict", sum(map(commands, [first, *others][:number])), begun
            )
    return Followed(project, finished, took)


def test_an_analyst_comes_from_a_file_to_a_verdict(analyst: Followed, record_property: Note) -> None:
    record_property(NOTE, analyst.took)
    _worked(*analyst.finished)
    (printed,) = [one.stdout for one in analyst.finished if "biasledger explain" in one.stdout]
    assert re.search(r"^loans, target loan-model, run loans-loan-model-", printed, re.MULTILINE)
    assert re.search(r"^  sex: alarm", printed, re.MULTILINE)


def test_every_form_of_the_analyst_s_file_is_read_alike(analyst: Followed) -> None:
    message = [
        re.findall(r"200 rows, .*|    [fm]: .*|  200 answers: .*|: no problems found", one.stdout)
        for one in analyst.finished
    ]
    # new and validate show the CSV once each, three other files are shown together.
    (first, second, others) = [sorted(map(_without_order, one)) for one in message if len(one) > 2]
    assert set(first) | set(second) == set(others)
    assert others.count(": no problems found") == 3


def _without_order(line: str) -> str:
    rows, _, columns = line.partition(" columns: ")
    return f"{rows} {sorted(columns.split(', '))}" if columns else line
