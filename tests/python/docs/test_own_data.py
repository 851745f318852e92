"""Test docs/own-data.md in an empty folder with an installed wheel: its files and commands."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.python.conftest import NOTE
from tests.python.docs import wrong_inputs
from tests.python.docs.shell import ROOT, blocks, commands, files, run

DOCUMENT = "docs/own-data.md"


class Followed(NamedTuple):
    """The output of each block, and a sentence with the number of commands and seconds up to the verdict."""

    blocks: list[subprocess.CompletedProcess[str]]
    took: str


@pytest.fixture(scope="module")
def followed(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Followed:
    folder = tmp_path_factory.mktemp("own-data")
    first, *others = blocks(DOCUMENT)
    saved = files(DOCUMENT)
    (folder / "practice.py").write_text(saved["practice.py"], encoding="utf-8")
    begun, took = time.monotonic(), ""
    finished = [run(re.sub(r"^pip install .*$", "", first, flags=re.MULTILINE), folder, installed)]
    project = folder / "loan-audit"
    (project / "others.py").write_text(saved["others.py"], encoding="utf-8")
    for number, block in enumerate(others, start=2):
        finished.append(run(block, project, installed))
        if "biasledger findings" in block:
            n = sum(map(commands, [first, *others][:number]))
            took = f"Own CSV to a verdict: {n} commands, {time.monotonic() - begun:.0f} seconds."
    return Followed(finished, took)


@pytest.mark.slow
def test_every_command_works(followed: Followed, record_property: Callable[[str, object], None]) -> None:
    record_property(NOTE, followed.took)
    for one in followed.blocks:
        assert one.returncode == 0, one.stdout + one.stderr
        assert "Traceback" not in one.stdout + one.stderr


@pytest.mark.slow
def test_it_comes_to_a_verdict(followed: Followed) -> None:
    (printed,) = [one.stdout for one in followed.blocks if "biasledger explain" in one.stdout]
    assert re.search(r"^loans, target loan-model, run loans-loan-model-", printed, re.MULTILINE)
    assert re.search(r"^  sex: alarm", printed, re.MULTILINE)


@pytest.mark.slow
def test_every_form_of_the_file_is_read_alike(followed: Followed) -> None:
    message = [
        re.findall(r"200 rows, .*|    [fm]: .*|  200 answers: .*|: no problems found", one.stdout)
        for one in followed.blocks
    ]
    # new and validate show the CSV once each, three other files are shown together.
    (first, second, others) = [sorted(map(_without_order, one)) for one in message if len(one) > 2]
    assert set(first) | set(second) == set(others)
    assert others.count(": no problems found") == 3


def _without_order(line: str) -> str:
    rows, _, columns = line.partition(" columns: ")
    return f"{rows} {sorted(columns.split(', '))}" if columns else line


def test_the_readme_names_what_is_read() -> None:
    """The page has a row for each kind of file; README.md names them all in one."""
    [row] = [
        line
        for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| take answers in |")
    ]
    kinds = re.findall(
        r"^\| (`\..+?|a folder|logs) \|", (ROOT / DOCUMENT).read_text(encoding="utf-8"), re.MULTILINE
    )
    words = {
        "`.csv`, `.tsv`": "CSV",
        "`.xlsx`, `.xlsm`": "Excel",
        "`.json`": "JSON arrays",
        "`.jsonl`, `.ndjson`": "JSON Lines",
        "`.parquet`": "Parquet",
        "a folder": "folders of Hugging Face datasets",
        "logs": "logs of",
    }
    assert kinds == list(words)
    assert all(word in row for word in [*words.values(), "encoding", "(docs/own-data.md)"])


def test_thirty_wrong_inputs_are_answered_as_the_table_says() -> None:
    text = (ROOT / DOCUMENT).read_text(encoding="utf-8")
    message = text.partition(wrong_inputs.BEGIN)[2].partition(wrong_inputs.END)[0]
    assert len(wrong_inputs.CASES) >= 30
    assert message == wrong_inputs.table(), f"run: python -m tests.python.docs.wrong_inputs {DOCUMENT}"
