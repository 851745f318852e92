"""Collecting from a slow service: the collector, which keeps every answer, against a bare thread pool, which keeps none."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.collector_alone import INSTANT, N_PROMPTS, SHORT
from benchmarks.processes import PACKAGE_PARENT, BenchmarkError, Measured, run_measured
from benchmarks.records import Record

GOAL_SHARE, GOAL_CPU_MS = 0.95, 2.0
GOAL_KEPT = 5_000
# Memory is flat where so many times as many answers take no more than this many times as much.
TIMES_AS_MANY = 30
GOAL_MEMORY = 1.1
# It is slower by an order of magnitude.
MAX_INSPECT = 1_200
# What is run on the answers that were kept, few and many.
AFTER = {
    "verify": ("verify",),
    "export": ("export", "--to", "exported"),
    "verify --export": ("verify", "--export", "exported"),
}
_INSPECT = Path(__file__).with_name("inspect_alone.py")


@dataclass(frozen=True)
class Asked:
    """One program that asked n questions.

    Attributes:
        n: questions, all answered.
        seconds: wall time of all it does.
        asking_seconds: from the first question to the last answer.
        cpu: seconds of processor time of all it does.
        peak_bytes: its largest resident memory.
    """

    n: int
    seconds: float
    asking_seconds: float
    cpu: float
    peak_bytes: int

    @property
    def per_second(self) -> float:
        """Answers a second while it asks."""
        return self.n / self.asking_seconds

    @property
    def per_second_overall(self) -> float:
        """Answers a second of all its time."""
        return self.n / self.seconds

    @property
    def cpu_ms(self) -> float:
        """Processor time a question, in milliseconds."""
        return 1000 * self.cpu / self.n


@dataclass
class Comparison:
    """What was measured: pools and collectors in turn, Inspect AI, the collector with an instant target, and
    commands on what that kept; then the same of short answers, and `verify` of all these.
    """

    pools: list[Asked] = field(default_factory=list)
    collectors: list[Asked] = field(default_factory=list)
    inspect: Asked | None = None
    many: list[Asked] = field(default_factory=list)
    after: dict[str, list[Measured]] = field(default_factory=dict)
    short: Asked | None = None
    verified: Measured | None = None

    @property
    def share(self) -> float:
        """The collector's throughput over the pool's while they ask, the median of the pairs."""
        pairs = zip(self.collectors, self.pools, strict=True)
        return statistics.median(ours.per_second / theirs.per_second for ours, theirs in pairs)


def run(
    *,
    n_responses: int,
    concurrency: int,
    latency_ms: float,
    repeats: int,
    n_many: int,
    n_verified: int,
    inspect_python: Path | None,
) -> Comparison:
    """Measure and print.

    Args:
        n_responses: questions of each program.
        concurrency: questions under way at once.
        latency_ms: how long the server takes to answer.
        repeats: how often pool and collector are measured, one after the other.
        n_many: answers that are kept and loaded with no server, and a thirtieth of them, to see what memory takes; 0 leaves it
            out.
        n_verified: short answers that are kept, loaded and verified; 0 leaves it out.
        inspect_python: a Python that has inspect_ai and openai; None leaves Inspect AI out.

    Raises:
        BenchmarkError: a process failed, or answers are missing from the ledger.
    """
    console = Console(width=110, highlight=False)
    done = Comparison()
    n = max(1, round(n_responses / N_PROMPTS)) * N_PROMPTS
    with (
        tempfile.TemporaryDirectory(prefix="biasledger-collect-") as scratch,
        _server(latency_ms) as base_url,
    ):
        folder = Path(scratch)
        for number in range(repeats):
            done.pools.append(_measure("benchmarks.bare_pool", base_url, n, concurrency, folder))
            done.collectors.append(_collect(base_url, n, concurrency, folder / f"run-{number}"))
        if inspect_python is not None:
            done.inspect = _inspect(inspect_python, base_url, min(n, MAX_INSPECT), concurrency, folder)
        if n_many:
            few = max(1, round(n_many / TIMES_AS_MANY / N_PROMPTS)) * N_PROMPTS
            done.many = [
                _collect(INSTANT, size, concurrency, folder / f"many-{size}")
                for size in (few, TIMES_AS_MANY * few)
            ]
            done.after = {
                name: [_command(words, folder / f"many-{one.n}") for one in done.many]
                for name, words in AFTER.items()
            }
        if n_verified:
            size = max(1, round(n_verified / N_PROMPTS)) * N_PROMPTS
            done.short = _collect(SHORT, size, concurrency, folder / "short")
            done.verified = _command(AFTER["verify"], folder / "short")
    _print(console, done, n, concurrency, latency_ms)
    return done


@contextmanager
def _server(latency_ms: float) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.chat_server", str(latency_ms / 1000)]
    process = subprocess.Popen(
        command, cwd=PACKAGE_PARENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="ascii"
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        port = process.stdout.readline().strip()
        if not port:
            raise BenchmarkError("The benchmark's server did not start.")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()


def _measure(module: str, base_url: str, n: int, concurrency: int, folder: Path) -> Asked:
    command = [sys.executable, "-m", module, base_url, str(n), str(concurrency)]
    measured = run_measured(command, folder=folder)
    return _asked(n, measured, _document(measured))


def _collect(base_url: str, n: int, concurrency: int, folder: Path) -> Asked:
    folder.mkdir()
    command = [sys.executable, "-m", "benchmarks.collector_alone", base_url, str(n), str(concurrency)]
    measured = run_measured(command, folder=folder)
    document = _document(measured)
    if document["in_ledger"] != n:
        raise BenchmarkError(f"The ledger holds {document['in_ledger']:,} answers and should hold {n:,}.")
    return _asked(n, measured, document)


def _command(words: Sequence[str], folder: Path) -> Measured:
    return run_measured([sys.executable, "-m", "biasledger", *words], folder=folder)


def _inspect(python: Path, base_url: str, n: int, concurrency: int, folder: Path) -> Asked:
    command = [str(python), str(_INSPECT), base_url, str(n), str(concurrency)]
    measured = run_measured(command, folder=folder)
    document = _document(measured)
    if document["asked"] != n:
        raise BenchmarkError(f"Inspect AI had {document['asked']:,} of {n:,} questions answered.")
    return _asked(n, measured, document)


def _asked(n: int, measured: Measured, document: dict[str, Any]) -> Asked:
    asking = document.get("asking_seconds", document["seconds"])
    return Asked(n, document["seconds"], asking, document["cpu"], measured.peak_bytes)


def _document(measured: Measured) -> dict[str, Any]:
    # Warnings of libraries may come before it.
    document: dict[str, Any] = json.loads(measured.output.strip().splitlines()[-1])
    return document


def records_of(done: Comparison) -> list[Record]:
    """What was measured, for `compare`: next to a server the plain script is the pool."""
    n = done.collectors[0].n
    ours, its = (statistics.median(one.cpu_ms for one in asked) for asked in (done.collectors, done.pools))
    records = [Record("collect: from a server", n, "processor ms an answer", ours, its)]
    for one in done.many:
        records.append(Record("collect: no server", one.n, "processor s", one.cpu))
        records.append(Record("collect: no server, peak memory", one.n, "bytes", one.peak_bytes))
    for name, measured in done.after.items():
        for asked, after in zip(done.many, measured, strict=True):
            records.append(Record(f"collect: {name}", asked.n, "processor s", after.cpu))
            records.append(Record(f"collect: {name}, peak memory", asked.n, "bytes", after.peak_bytes))
    if done.short is not None and done.verified is not None:
        short, verified = done.short, done.verified
        records.append(Record("collect: short answers", short.n, "processor s", short.cpu))
        records.append(Record("collect: short answers, peak memory", short.n, "bytes", short.peak_bytes))
        records.append(Record("collect: verify short", short.n, "processor s", verified.cpu))
        records.append(Record("collect: verify short, peak memory", short.n, "bytes", verified.peak_bytes))
    return records


def _print(console: Console, done: Comparison, n: int, concurrency: int, latency_ms: float) -> None:
    table = Table("", "answers / s", "share of pool", "overall / s", "CPU ms / question", "peak MiB")

    def add(name: str, asked: Sequence[Asked], share: str) -> None:
        table.add_row(
            name,
            f"{statistics.median(one.per_second for one in asked):.0f}",
            share,
            f"{statistics.median(one.per_second_overall for one in asked):.0f}",
            f"{statistics.median(one.cpu_ms for one in asked):.2f}",
            f"{statistics.median(one.peak_bytes for one in asked) / 2**20:.0f}",
        )

    add("bare thread pool", done.pools, "")
    add("collector", done.collectors, f"{done.share:.3f}")
    if done.inspect is not None:
        share = done.inspect.per_second / statistics.median(one.per_second for one in done.pools)
        add(f"Inspect AI, {done.inspect.n:,}", [done.inspect], f"{share:.3f}")
    for one in done.many:
        add(f"collector, no server, {one.n:,}", [one], "")
    if done.short is not None:
        add(f"the same, short answers, {done.short.n:,}", [done.short], "")
    console.print(table)
    if done.many or done.short:
        _print_after(console, done)
    console.print(
        f"{n:,} answers at {concurrency} at once from a server that takes {latency_ms:g} ms, at most "
        f"{1000 * concurrency / latency_ms:.0f} a second, median of {len(done.pools)}; {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f}. Overall counts what comes before the first question and after the last answer, too."
    )
    goals = [f"share of the pool {done.share:.3f} (goal >= {GOAL_SHARE})"]
    goals.append(
        f"processor time {statistics.median(one.cpu_ms for one in done.collectors):.2f} ms (goal < {GOAL_CPU_MS:g})"
    )
    if done.many:
        few, many = done.many
        goals.append(
            f"{many.n:,} kept and loaded at {many.per_second_overall:.0f} a second (goal >= {GOAL_KEPT})"
        )
        goals.append(
            f"memory of {many.n:,} answers over {few.n:,}: {many.peak_bytes / few.peak_bytes:.2f} (goal <= {GOAL_MEMORY:g})"
        )
    console.print("; ".join(goals) + ".")


def _print_after(console: Console, done: Comparison) -> None:
    table = Table("on the answers kept", "answers", "wall s", "CPU s", "CPU ms / answer", "peak MiB")
    rows = [
        (name, asked.n, one)
        for name, measured in done.after.items()
        for asked, one in zip(done.many, measured, strict=True)
    ]
    if done.short is not None and done.verified is not None:
        rows.append(("verify, short answers", done.short.n, done.verified))
    for name, n, one in rows:
        cpu_ms = f"{1000 * one.cpu / n:.3f}"
        table.add_row(
            name, f"{n:,}", f"{one.wall:.1f}", f"{one.cpu:.1f}", cpu_ms, f"{one.peak_bytes / 2**20:.0f}"
        )
    console.print(table)
