"""Test the commands and the Python code of docs/bi.md in an environment like a reader's."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.python.conftest import FirstAudit
from tests.python.docs.shell import ROOT, blocks, run
from tests.python.publishing.postgres_server import postgres_server

PAGE = "docs/bi.md"
TEXT = (ROOT / PAGE).read_text(encoding="utf-8")
ADDRESS = "//publisher@db.example.com/audits"
READERS = ("duckdb==1.5.6", "duckdb-engine", "sqlalchemy<2.1", "pandas", "pyarrow", "psycopg[binary]")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def readers_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the readers that the page names, which this project does not need."""
    folder = tmp_path_factory.mktemp("readers")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, capture_output=True)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile"]
    installed = subprocess.run([*pip, *READERS], capture_output=True, text=True, check=False)
    if installed.returncode != 0:
        pytest.skip(f"the readers cannot be installed: {installed.stderr.strip().splitlines()[-1]}")
    return python


@pytest.fixture(scope="module")
def address(first_audit: FirstAudit) -> Iterator[str]:
    """The address to put in the printed one's place, once all that the page's shell blocks publish is there."""
    with postgres_server() as server:
        real = server.uri().removeprefix("postgresql:")
        for block in blocks(PAGE):
            if "psql" in block and shutil.which("psql") is None:
                continue
            finished = run(re.sub(r"postgresql:\S+", f"'postgresql:{real}'", block), first_audit.folder)
            assert finished.returncode == 0, finished.stderr
            if "psql" in block:
                assert re.search(r"word_divergence +\| alarm +\| +\d", finished.stdout)
            else:
                assert re.search(r"^\d+ tables, [\d,]+ rows published in ", finished.stdout)
        yield real


@pytest.mark.parametrize("number", range(len(re.findall(r"^```python$", TEXT, flags=re.MULTILINE))))
def test_the_python_runs_as_printed(
    number: int, readers_python: Path, address: str, first_audit: FirstAudit
) -> None:
    block = re.findall(r"^```python\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)[number]
    done = subprocess.run(
        [readers_python, "-c", block.replace(ADDRESS, address)],
        cwd=first_audit.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) >= 2
    assert "Empty DataFrame" not in done.stdout
    if "inspect(engine)" in block:
        assert "'run_id'" in done.stdout
    if "get_pk_constraint" in block:
        assert "['run_id', 'mitigation', 'measure'" in done.stdout
        assert "Grain: run × mitigation × measure" in done.stdout
