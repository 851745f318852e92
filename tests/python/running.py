"""Running commands of biasledger in this process and Python in one of its own, and reading a DuckDB file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
from click.testing import CliRunner, Result

from biasledger.cli import cli

ROOT = Path(__file__).parents[2]


def biasledger(*arguments: object, input: str | None = None) -> Result:  # noqa: A002  # click's name for it
    """Run a command line, as `biasledger("init", "audits")`; `input` is typed when it asks."""
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], input=input)


def run_python(
    *arguments: object, cwd: Path = ROOT, path: str = str(ROOT), **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run this Python with these arguments and additions to the environment; `path`: where it finds packages."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": path} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def rows(database: Path, sql: str) -> list[tuple[Any, ...]]:
    """Return what a query of a DuckDB file gives."""
    with duckdb.connect(str(database), read_only=True) as connection:
        return connection.execute(sql).fetchall()
