"""A replication as docs/replications.md prints it: the commands of one data set, run in a project of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import duckdb

from biasledger.project import init_project
from tests.python.docs.shell import blocks, run


def replicate(folder: Path, audit: str, files: Iterable[Path]) -> duckdb.DuckDBPyConnection:
    """Lay out a project, copy the data into it, run the documented commands that name the audit, open the warehouse."""
    init_project(folder)
    for file in files:
        shutil.copy(file, folder)
    (commands,) = (block for block in blocks("docs/replications.md") if f"replications/{audit}.yml" in block)
    # Alarms are findings, not failures.
    finished = run(commands.replace("biasledger build", 'biasledger build || test "$?" -eq 1'), folder)
    assert finished.returncode == 0, finished.stderr
    return duckdb.connect(str(folder / "warehouse.duckdb"), read_only=True)
