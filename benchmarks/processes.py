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
# A small program between this one and the one that is measured: on Linux a process has had as much memory as the one that started
# it. wait4 gives this one child's use; getrusage would give the largest of all children so far.
_STARTER = """
import os, signal, sys, time
said, *command = sys.argv[1:]
os.set_inheritable(int(said), False)
began = time.perf_counter()
child = os.posix_spawnp(command[0], command, os.environ, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])
try:
    _, status, use = os.wait4(child, 0)
except BaseException:
    os.kill(child, signal.SIGTERM)
    raise
wall = time.perf_counter() - began
with open(int(said), "w", encoding="ascii") as written:
    print(os.waitstatus_to_exitcode(status), wall, use.ru_utime + use.ru_stime, use.ru_maxrss, file=written)
"""


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
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile("w+", encoding="ascii") as said:
        starter = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _STARTER, str(said.fileno()), *command],
            cwd=folder,
            env=settings,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            pass_fds=(said.fileno(),),
            check=False,
        )
        printed.seek(0)
        output = printed.read().decode("utf-8", errors="replace")
        said.seek(0)
        numbers = said.read().split()
    code = int(numbers[0]) if numbers else starter.returncode
    if not numbers or code not in expected:
        ending = output.strip()[-_SHOWN_CHARACTERS:]
        raise BenchmarkError(f"{' '.join(command[:4])} … failed with {code}: {ending}")
    wall, cpu, most = map(float, numbers[1:])
    # Linux counts kibibytes here, macOS bytes.
    return Measured(wall, cpu, int(most) if sys.platform == "darwin" else int(most) * 1024, output)
