"""What a user waits for, end to end, as answers grow in number: import, build, report, nothing new, and 1 % more."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.corpus import write_corpus
from benchmarks.processes import Measured, run_measured
from benchmarks.records import Record
from benchmarks.speed import AUDIT, SEED
from biasledger.project import init_project

# Of the answers that there were before.
NEW_SHARE = 0.01
WITHOUT_PERMUTATIONS = "\nvars: {biasledger: {permutations: false, all_groups: false}}\n"
ALARMS = 1


class _Project:
    """A project in a folder of its own that grows; each command is a process, and what it took is kept in order."""

    def __init__(self, folder: Path, *, permutations: bool) -> None:
        init_project(folder)
        self.folder = folder
        self.took: dict[str, Measured] = {}
        if not permutations:
            with (folder / "dbt_project.yml").open("a", encoding="utf-8") as file:
                file.write(WITHOUT_PERMUTATIONS)

    def run(self, name: str, *arguments: str | Path) -> None:
        """Run a command of biasledger, of which alarms are no failure."""
        command = [sys.executable, "-m", "biasledger", *map(str, arguments)]
        self.took[name] = run_measured(command, folder=self.folder, expected=(0, ALARMS))


def run(*, n_responses: int, n_words: int, permutations: bool) -> list[Record]:
    """Measure one size and print it.

    Raises:
        BenchmarkError: a process failed.
    """
    with tempfile.TemporaryDirectory(prefix="biasledger-sizes-") as scratch:
        folder = Path(scratch)
        many, few = folder / "many.parquet", folder / "few.parquet"
        write_corpus(many, n_responses=n_responses, n_words=n_words, seed=SEED)
        write_corpus(few, n_responses=max(int(NEW_SHARE * n_responses), 1), n_words=n_words, seed=SEED + 1)
        project = _Project(folder / "project", permutations=permutations)
        project.run("import", "import", AUDIT, many, "--simulated")
        project.run("first build", "build")
        project.run("report", "report")
        project.run("nothing new", "build")
        project.run("import of 1 % more", "import", AUDIT, few, "--simulated")
        project.run("build of 1 % more", "build")
    _print(project.took, n_responses, n_words)
    return [
        Record(f"sizes: {name}", n_responses, unit, value)
        for name, took in project.took.items()
        for unit, value in (
            ("processor s", took.cpu),
            ("wall s", took.wall),
            ("peak bytes", float(took.peak_bytes)),
        )
    ]


def _print(took: dict[str, Measured], n_responses: int, n_words: int) -> None:
    table = Table("", "wall s", "processor s", "peak memory, GiB")
    for name, one in took.items():
        table.add_row(name, f"{one.wall:.1f}", f"{one.cpu:.1f}", f"{one.peak_bytes / 2**30:.2f}")
    console = Console(width=110, highlight=False)
    console.print(f"{n_responses:,} responses of {n_words} words, seed {SEED}, {os.cpu_count()} cores.")
    console.print(table)
    share = took["build of 1 % more"].cpu / took["first build"].cpu
    console.print(f"A build of 1 % more takes {share:.1%} of the first one's processor time.")
