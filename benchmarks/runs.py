"""What a nightly audit costs as its runs grow in number: the same audit is asked again and again, and each run is built."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import duckdb
from rich.console import Console
from rich.table import Table

from benchmarks.records import Record
from benchmarks.warehouses import UsersProject, listed, slowest_models

# How much is asked of each shipped audit: some hundreds or thousands of answers, as a first user would ask.
ASKED: dict[str, tuple[str, ...]] = {
    "products": (),
    "recommendations": ("--domain", "music", "--subjects", "50"),
    "resumes": (),
    "rankings": (),
    "restaurants": ("--domain", "Boston", "--domain", "Toronto", "--with", "locations"),
    "stereotypes": (),
}


def run(*, audits: Sequence[str], n_runs: int) -> list[Record]:
    """Measure builds of one run more of each audit, in a project of its own, and print them.

    Args:
        audits: some of ASKED.
        n_runs: how many runs there are in the end; every one is of the shipped simulator.

    Raises:
        BenchmarkError: a process failed.
    """
    table = Table("audit", *(f"run {n}" for n in range(1, n_runs + 1)), "last / second")
    records, slowest = [], {}
    for audit in audits:
        with tempfile.TemporaryDirectory(prefix="biasledger-runs-") as scratch:
            project = UsersProject(Path(scratch) / "project", permutations=True)
            cost = []
            for n in range(1, n_runs + 1):
                asked = ("collect", f"audits/{audit}.yml", "--target", "simulator", *ASKED[audit])
                project.run(f"collect {n}", *asked)
                took = project.run(f"build {n}", "build")
                cost.append(took)
                answers = _answers(project.ledger)
                records += [
                    Record(f"runs of {audit}: build", answers, "processor s", took.cpu),
                    Record(f"runs of {audit}: build", answers, "wall s", took.wall),
                ]
            slowest[audit] = slowest_models(project.folder)
        cells = [f"{one.cpu:.1f} ({one.wall:.1f})" for one in cost]
        growth = f"{cost[-1].cpu / cost[1].cpu:.2f}" if n_runs > 1 else ""
        table.add_row(audit, *cells, growth)
    console = Console(width=130, highlight=False)
    console.print(f"Builds of one run more: processor s (s by the clock), {os.cpu_count()} cores.")
    console.print(table)
    for audit, models in slowest.items():
        console.print(f"Slowest models of the last build of {audit}, wall s: {listed(models)}.")
    return records


def _answers(ledger: Path) -> int:
    with duckdb.connect(str(ledger), read_only=True) as connection:
        ((n,),) = connection.execute("select count(*) from raw.responses").fetchall()
    return int(n)
