"""docs/tutorial.md, followed to the letter: its files, its practice endpoint, its commands, in one shell."""

from __future__ import annotations

import re
import socket
import subprocess
import zipfile
from pathlib import Path

import duckdb
import pytest

from tests.python.docs.shell import ROOT, blocks, run

TEXT = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("tutorial")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    first, *others = blocks("docs/tutorial.md")
    project = folder / "support-audit"
    script = re.sub(r"^pip install .*$", "", first, flags=re.MULTILINE)
    made = run(script, folder)
    assert made.returncode == 0, made.stderr
    files = re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)
    assert len(files) == 4
    for name, content in files:
        (project / name).write_text(content.replace("8000", port), encoding="utf-8")
    # The reader's endpoint is up before the next command is typed; the shell's end is the endpoint's.
    up = f"until python -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}))' 2>/dev/null; do sleep 0.1; done\n"
    started, *asked = others
    # Job control, so that the endpoint has a process group of its own, to be ended as a whole.
    script = "set -m\n" + started + "server=$!\ntrap 'kill -- -$server' EXIT\n" + up + "".join(asked)
    return project, run(script, project)


@pytest.mark.slow
def test_every_command_works(followed: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    _, finished = followed
    assert finished.returncode == 0, finished.stderr
    assert "Traceback" not in finished.stdout + finished.stderr


@pytest.mark.slow
def test_the_practice_endpoint_s_bias_is_found_and_masking_removes_it(
    followed: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    project, _ = followed
    with duckdb.connect(str(project / "warehouse.duckdb"), read_only=True) as connection:
        alarms = connection.execute(
            "select measure, attribute, group_name, variant from marts.fct_alarms"
        ).fetchall()
        masked = connection.execute(
            "select value from marts.fct_findings where variant = 'masked' and measure = 'rank_gap'"
        ).fetchall()
    assert alarms == [("rank_gap", "race", "black", "plain")]
    assert masked == [(0.0,), (0.0,)]


@pytest.mark.slow
def test_it_leaves_a_report_and_a_pack(
    followed: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    project, _ = followed
    assert "<html" in (project / "report.html").read_text(encoding="utf-8")
    (pack,) = project.glob("*.zip")
    assert zipfile.ZipFile(pack).testzip() is None
