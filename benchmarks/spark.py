"""The same generated ledger built on DuckDB and on Apache Spark: what either takes, by size, and whether they say the same."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.corpus import write_corpus
from benchmarks.processes import PACKAGE_PARENT, BenchmarkError
from benchmarks.records import Record
from benchmarks.same import differences
from benchmarks.speed import AUDIT, SEED
from biasledger.building import BUILT
from biasledger.project import init_project
from collector.importers.tabular import import_file
from collector.spec.loading import load_audit

ENGINES = {"DuckDB": "warehouse", "Spark": "spark"}
DONE = (0, 1)  # alarms are no failure
_EVERY_SECONDS = 0.2
_TICKS = os.sysconf("SC_CLK_TCK")
_SHOWN_CHARACTERS = 2_000


@dataclass
class Family:
    """A program with all that it started.

    Attributes:
        wall: seconds on the wall.
        cpu: seconds of processor time, of Java, of Python on executors, and of what was started and its other helpers.
        peak_bytes: the most memory they had at once; what they share counts once.
        parts: seconds on the wall of nodes of dbt, by kind; two of them run at a time.
    """

    wall: float = 0.0
    cpu: Mapping[str, float] = field(default_factory=dict)
    peak_bytes: int = 0
    parts: Mapping[str, float] = field(default_factory=dict)


def run(*, n_responses: int, n_words: int, run_size: int, master: str) -> list[Record]:
    """Measure one size and print it. Runs have `run_size` responses at most: a ledger grows by runs.

    Raises:
        BenchmarkError: a build failed, or both say something else.
    """
    with tempfile.TemporaryDirectory(prefix="biasledger-spark-") as scratch:
        folder = Path(scratch)
        ledger = folder / "ledger.duckdb"
        for number, first in enumerate(range(0, n_responses, run_size)):
            corpus = folder / "corpus.parquet"
            size = min(run_size, n_responses - first)
            write_corpus(corpus, n_responses=size, n_words=n_words, seed=SEED + number)
            import_file(load_audit(AUDIT), AUDIT, corpus, ledger, simulated=True, show_progress=False)
        took, published = {}, []
        for engine, target in ENGINES.items():
            project = folder / engine
            init_project(project)
            shutil.copyfile(ledger, project / "ledger.duckdb")
            took[engine] = _build(project, target, master)
            published.append(project / "warehouse.duckdb")
        told = differences(published[0], published[1], digits=9)
    if told:
        raise BenchmarkError(f"DuckDB and Spark do not say the same: {' '.join(told)}")
    _print(took, n_responses, n_words, run_size, master)
    return [
        Record(f"spark: {engine}: {name}", n_responses, unit, value)
        for engine, one in took.items()
        for name, unit, value in (
            ("build", "wall s", one.wall),
            ("build", "processor s", sum(one.cpu.values())),
            ("build", "peak bytes", float(one.peak_bytes)),
            *((name, "processor s", value) for name, value in one.cpu.items()),
            *((name, "wall s", value) for name, value in one.parts.items()),
        )
    ]


def _build(project: Path, target: str, master: str) -> Family:
    """Build a project by a process of its own, and measure it with all its children.

    Raises:
        BenchmarkError: it failed, or this system has no /proc.
    """
    if not Path("/proc/self/smaps_rollup").exists():
        raise BenchmarkError("A build with all that it starts can be measured on Linux alone.")
    command = [sys.executable, "-m", "biasledger", "build", "--target", target]
    settings = {**os.environ, "BIASLEDGER_SPARK": master, "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"}
    settings["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(PACKAGE_PARENT), os.environ.get("PYTHONPATH")])
    )
    with tempfile.TemporaryFile() as printed:
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=project,
            env=settings,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
        )
        members: dict[int, tuple[str, float]] = {}
        peak = 0
        while process.poll() is None:
            _look(process.pid, members)
            peak = max(peak, sum(map(_memory, members)))
            time.sleep(_EVERY_SECONDS)
        wall, ended = time.perf_counter() - started, time.time()
        printed.seek(0)
        output = printed.read().decode("utf-8", errors="replace").strip()
    if process.returncode not in DONE:
        raise BenchmarkError(f"The build on {target} failed: {output[-_SHOWN_CHARACTERS:]}")
    cpu: dict[str, float] = {}
    for kind, seconds in members.values():
        cpu[kind] = cpu.get(kind, 0.0) + seconds
    parts = _parts(project / BUILT)
    parts["publishing"] = ended - (project / BUILT).stat().st_mtime
    return Family(wall, cpu, peak, parts)


def _look(root: int, members: dict[int, tuple[str, float]]) -> None:
    """Note of a process and all that it or its children started: what kind it is, and its processor time so far.

    Who was seen once stays a member, whoever adopts it. Of one that ends, the last tenths of a second are not seen.
    """
    found: dict[int, tuple[int, str, float]] = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                name, _, rest = (place / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")
                command = (place / "cmdline").read_bytes()
            except OSError:
                continue
            columns = rest.split()
            kind = "Java" if name.endswith("(java") else "driver"
            kind = "Python on executors" if b"pyspark.daemon" in command else kind
            found[int(place.name)] = int(columns[1]), kind, (int(columns[11]) + int(columns[12])) / _TICKS
    family = {root, *members}
    while more := {pid for pid, (parent, _, _) in found.items() if parent in family} - family:
        family |= more
    members.update({pid: found[pid][1:] for pid in family & found.keys()})


def _memory(pid: int) -> int:
    """Bytes of memory that a process has, of shared ones its share; 0 of one that has ended."""
    try:
        rows = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(row.split()[1]) * 1024 for row in rows if row.startswith("Pss:")), 0)


def _parts(built: Path) -> dict[str, float]:
    """Seconds of a build's nodes by kind."""
    document = json.loads(built.read_text(encoding="utf-8"))
    python = {place.stem for place in (PACKAGE_PARENT / "models").rglob("*.py")}
    seconds = {"SQL models": 0.0, "Python models": 0.0, "tests": 0.0, "seeds": 0.0}
    for one in document["results"]:
        node = document["nodes"].get(one["unique_id"], {})
        if node.get("resource_type") == "model":
            seconds["Python models" if node["name"] in python else "SQL models"] += one["seconds"]
        elif one["unique_id"].startswith("seed."):
            seconds["seeds"] += one["seconds"]
        else:
            seconds["tests"] += one["seconds"]
    return seconds


def _print(took: Mapping[str, Family], n_responses: int, n_words: int, run_size: int, master: str) -> None:
    table = Table("", *took)

    def add(name: str, value: str, of: Mapping[str, Mapping[str, float]]) -> None:
        table.add_row(f"{name}, {value}", *(f"{of[engine].get(name, 0.0):.1f}" for engine in took))

    table.add_row("wall s", *(f"{one.wall:.1f}" for one in took.values()))
    table.add_row("processor s", *(f"{sum(one.cpu.values()):.1f}" for one in took.values()))
    table.add_row("peak memory, GiB", *(f"{one.peak_bytes / 2**30:.2f}" for one in took.values()))
    for name in dict.fromkeys(name for one in took.values() for name in one.cpu):
        add(name, "processor s", {engine: one.cpu for engine, one in took.items()})
    for name in took["DuckDB"].parts:
        add(name, "wall s", {engine: one.parts for engine, one in took.items()})
    console = Console(width=110, highlight=False)
    console.print(
        f"{n_responses:,} responses of {n_words} words in runs of {run_size:,}, Spark on {master}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f} at the end. Both published the same to nine decimals."
    )
    console.print(table)
