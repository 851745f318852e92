"""Test that the command of docs/explorer.md serves the views that the page describes."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from tests.python.docs.shell import ROOT, blocks, run

DOCUMENT = "docs/explorer.md"


def test_its_options_are_those_of_the_command() -> None:
    text = (ROOT / DOCUMENT).read_text(encoding="utf-8")
    [command] = [block.strip() for block in blocks(DOCUMENT) if block.startswith("biasledger")]
    helped = run(f"{command} --help", ROOT)
    assert helped.returncode == 0, helped.stderr
    assert set(re.findall(r"`(--\w+)`", text)) <= set(re.findall(r"--\w+", helped.stdout))
    assert "default: 8350" in " ".join(helped.stdout.split())
    assert "http://127.0.0.1:8350/" in text


def test_its_pictures_are_there_and_small() -> None:
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", (ROOT / DOCUMENT).read_text(encoding="utf-8"))
    assert len(pictures) == 5
    assert all((ROOT / "docs" / name).stat().st_size < 150_000 for name in pictures)


@pytest.mark.slow
def test_its_command_serves_every_view(audited: Path) -> None:
    [command] = [block.split() for block in blocks(DOCUMENT) if block.startswith("biasledger")]
    started = [sys.executable, "-u", "-m", *command, "--port", "0"]
    with subprocess.Popen(started, cwd=audited, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = re.findall(r"http://127\.0\.0\.1:\d+", process.stdout.readline())[0]
        views = re.findall(
            r"^\| \*\*(\w+)\*\* \|", (ROOT / DOCUMENT).read_text(encoding="utf-8"), re.MULTILINE
        )
        assert views == ["Findings", "Finding", "Pairs", "Compare", "SQL"]
        shown = requests.get(f"{address}/findings", timeout=600).text
        finding = re.findall(r'href="(/finding/\w+)"', shown)[0]
        for path in (finding, "/pairs", "/compare", "/sql"):
            assert requests.get(address + path, timeout=600).status_code == 200
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=600)
    assert process.returncode == 130
