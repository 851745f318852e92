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


def biasledger(*arguments: object, code: int | None = None, typed: str | None = None) -> Result:
    """Run a command line, as `biasledger("init", "audits")`.

    code: the exit code that it has to end with; any if None. typed: what is typed when it asks.
    """
    done = CliRunner().invoke(cli, [str(argument) for argument in arguments], input=typed)
    assert code in (None, done.exit_code), done.output
    return done


def run_python(
    *arguments: object,
    cwd: Path = ROOT,
    path: str = str(ROOT),
    code: int | None = None,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run this Python with these arguments and additions to the environment.

    path: where it finds packages. code: the exit code that it has to end with; any if None.
    """
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": path} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert code in (None, done.returncode), done.stdout + done.stderr
    return done


def rows_in(database: Path, sql: str) -> list[tuple[Any, ...]]:
    """Return what a query of a DuckDB file gives."""
    with duckdb.connect(str(database), read_only=True) as connection:
        return connection.execute(sql).fetchall()
