"""Runs programs as processes of their own and measures them whole: wall time, processor time, memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE_PARENT = Path(__file__).resolve().parents[1]
_SHOWN_CHARACTERS = 2_000


class BenchmarkError(Exception):
    """A benchmark cannot run; the message is one sentence for people."""


@dataclass
class StepClock:
    """Seconds of named steps inside one process, on the wall and of processor time, summed where a step is repeated.

    Other programs on the machine lengthen wall time far more than processor time.
    """

    wall: dict[str, float] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a block."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.wall[name] = self.wall.get(name, 0.0) + time.perf_counter() - wall
        self.cpu[name] = self.cpu.get(name, 0.0) + time.process_time() - cpu


@dataclass(frozen=True)
class Measured:
    """A finished process: seconds on the wall, seconds of processor time, largest resident memory in bytes, its output."""

    wall: float
    cpu: float
    peak_bytes: int
    output: str


def run_measured(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    expected: Collection[int] = (0,),
) -> Measured:
    """Run a program to its end, one thread of linear algebra, and measure it.

    Raises:
        BenchmarkError: it failed, with another exit code than those expected; the message ends with what it printed last.
    """
    path = os.pathsep.join(filter(None, [str(PACKAGE_PARENT), os.environ.get("PYTHONPATH")]))
    settings = {
        **os.environ,
        "PYTHONPATH": path,
        "OMP_NUM_THREADS": "1",
        "PYTHONUTF8": "1",
        **(environment or {}),
    }
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
        # wait4 gives this one child's use; getrusage would give the largest of all children so far.
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        output = printed.read().decode("utf-8", errors="replace")
    if process.returncode not in expected:
        ending = output.strip()[-_SHOWN_CHARACTERS:]
        raise BenchmarkError(f"{' '.join(command[:4])} … failed with {process.returncode}: {ending}")
    # Linux counts kibibytes here, macOS bytes. On Linux it is no less than the size this program had when it started the other.
    peak = usage.ru_maxrss if sys.platform == "darwin" else usage.ru_maxrss * 1024
    return Measured(wall, usage.ru_utime + usage.ru_stime, peak, output)
