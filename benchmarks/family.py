"""Runs a program and measures it with all that it starts, whoever waits for these: Java, workers of Spark."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.processes import PACKAGE_PARENT, BenchmarkError

_EVERY_SECONDS = 0.2
# Looking at the memory of processes that hold gigabytes takes a tenth of a second: it gets a twentieth of one core at most.
_BETWEEN_LOOKS = 19
_TICKS = os.sysconf("SC_CLK_TCK")
_SHOWN_CHARACTERS = 2_000


@dataclass(frozen=True)
class Family:
    """What a program and its descendants took.

    Attributes:
        wall: seconds on the wall.
        cpu: seconds of processor time by kind: of Java, of Python on Spark's executors, and of the program and other helpers.
        peak_bytes: the most memory that they had at once; what they share counts once.
        ended: when the program ended, in seconds since 1970.
    """

    wall: float
    cpu: Mapping[str, float]
    peak_bytes: int
    ended: float


def run_family(
    command: Sequence[str], *, folder: Path, environment: Mapping[str, str], expected: Collection[int]
) -> Family:
    """Run a program to its end, one thread of linear algebra.

    Raises:
        BenchmarkError: it failed, with another exit code than those expected, or this system has no /proc.
    """
    if not Path("/proc/self/smaps_rollup").exists():
        raise BenchmarkError("A program is measured with all that it starts on Linux alone.")
    path = os.pathsep.join(filter(None, [str(PACKAGE_PARENT), os.environ.get("PYTHONPATH")]))
    settings = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1", **environment}
    members: dict[int, tuple[str, float]] = {}
    peak = 0
    with tempfile.TemporaryFile() as printed:
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=settings,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
        )
        while process.poll() is None:
            looked = time.perf_counter()
            _look(process.pid, members)
            peak = max(peak, sum(map(_memory, members)))
            time.sleep(max(_EVERY_SECONDS, _BETWEEN_LOOKS * (time.perf_counter() - looked)))
        wall, ended = time.perf_counter() - started, time.time()
        printed.seek(0)
        output = printed.read().decode("utf-8", errors="replace").strip()
    if process.returncode not in expected:
        raise BenchmarkError(f"{' '.join(command[:6])} … failed: {output[-_SHOWN_CHARACTERS:]}")
    cpu: dict[str, float] = {}
    for kind, seconds in members.values():
        cpu[kind] = cpu.get(kind, 0.0) + seconds
    return Family(wall, cpu, peak, ended)


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
