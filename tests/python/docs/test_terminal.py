"""Test the commands of docs/terminal.md, and the shell's completion."""

from __future__ import annotations

import csv
import json
import subprocess
import sys

import pytest

from tests.python.conftest import FirstAudit
from tests.python.docs.shell import ROOT, blocks, run

BLOCKS = blocks("docs/terminal.md")


@pytest.mark.parametrize("script", BLOCKS, ids=[block.splitlines()[0][:60] for block in BLOCKS])
def test_every_command_runs(first_audit: FirstAudit, script: str) -> None:
    finished = run(script, first_audit.folder)
    assert finished.returncode == 0, finished.stderr
    assert "Traceback" not in finished.stderr


def test_what_is_written_for_programs_can_be_read(first_audit: FirstAudit) -> None:
    (script,) = [block for block in BLOCKS if "--json" in block]
    assert run(script, first_audit.folder).returncode == 0
    findings = json.loads((first_audit.folder / "findings.json").read_text(encoding="utf-8"))
    with (first_audit.folder / "findings.csv").open(encoding="utf-8", newline="") as file:
        assert [row["finding_id"] for row in csv.DictReader(file)] == [row["finding_id"] for row in findings]


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("biasledger query top_", "plain,top_marked_words"),
        ("biasledger fin", "plain,findings"),
        ("biasledger findings --w", "plain,--why"),
        ("biasledger findings --status in", "plain,inconclusive"),
    ],
)
def test_the_shell_completes(typed: str, completed: str) -> None:
    words = typed.split()
    done = subprocess.run(
        [sys.executable, "-m", "biasledger"],
        env={
            "PYTHONPATH": str(ROOT),
            "COMP_WORDS": typed,
            "COMP_CWORD": str(len(words) - 1),
            "_BIASLEDGER_COMPLETE": "bash_complete",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert completed in done.stdout.splitlines()


def test_the_shell_completes_what_was_built(first_audit: FirstAudit) -> None:
    """An id of a run, and of a finding by its beginning."""
    listed = run("biasledger findings --csv | sed -n 2p | cut -c 1-10", first_audit.folder).stdout.strip()
    for words, expected in (
        ("verify products-sim", "plain,products-simulator-"),
        (f"explain {listed[:4]}", f"plain,{listed}"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "biasledger"],
            cwd=first_audit.folder,
            env={
                "PYTHONPATH": str(ROOT),
                "COMP_WORDS": f"biasledger {words}",
                "COMP_CWORD": "2",
                "_BIASLEDGER_COMPLETE": "bash_complete",
            },
            capture_output=True,
            text=True,
            check=True,
        )
        assert [line for line in done.stdout.splitlines() if line.startswith(expected)], words
