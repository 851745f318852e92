"""Test docs/tutorial.md in an empty folder and one shell: its files, its practice endpoint and its commands."""

from __future__ import annotations

import re
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
from tests.python.docs.shell import blocks, commands, files, run


class Followed(NamedTuple):
    """The project, what its commands printed, and how many there were in how many seconds."""

    project: Path
    finished: subprocess.CompletedProcess[str]
    took: str


@pytest.fixture(scope="module")
def followed(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Followed:
    folder = tmp_path_factory.mktemp("tutorial")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    first, *others = blocks("docs/tutorial.md")
    project = folder / "support-audit"
    script = re.sub(r"^pip install .*$", "", first, flags=re.MULTILINE)
    made = run(script, folder, installed)
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
    n = sum(map(commands, [first, *others]))
    took = (
        f"Own endpoint to a verdict, and what follows: {n} commands, {time.monotonic() - begun:.0f} seconds."
    )
    return Followed(project, finished, took)


@pytest.mark.slow
def test_every_command_works(followed: Followed, record_property: Callable[[str, object], None]) -> None:
    _, finished, took = followed
    record_property(NOTE, took)
    assert finished.returncode == 0, finished.stderr
    assert "Traceback" not in finished.stdout + finished.stderr


@pytest.mark.slow
def test_the_practice_endpoint_s_bias_is_found_and_masking_removes_it(
    followed: Followed,
) -> None:
    project, _, _ = followed
    with duckdb.connect(str(project / "warehouse.duckdb"), read_only=True) as connection:
        alarms = connection.execute(
            "select measure, attribute, group_name, mitigation from marts.fct_alarms"
        ).fetchall()
        masked = connection.execute(
            "select value from marts.fct_findings where mitigation = 'masked' and measure = 'rank_gap'"
        ).fetchall()
    assert alarms == [("rank_gap", "race", "black", "plain")]
    assert masked == [(0.0,), (0.0,)]


@pytest.mark.slow
def test_it_leaves_a_report_and_a_pack(
    followed: Followed,
) -> None:
    project, _, _ = followed
    assert "<html" in (project / "report.html").read_text(encoding="utf-8")
    (pack,) = project.glob("*.zip")
    assert zipfile.ZipFile(pack).testzip() is None
