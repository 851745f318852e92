"""Test that a program is measured with all processes that it starts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.family import run_family
from benchmarks.processes import BenchmarkError

pytestmark = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs /proc")
SECONDS, MEBIBYTES = 1.5, 200
BUSY = f"""
import time
held = b"x" * ({MEBIBYTES} * 2**20)
while time.process_time() < {SECONDS}: pass
"""
# Java is ended, but not waited for.
LEAVE = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {BUSY!r}], stdout=subprocess.PIPE)
child.stdout.read()
"""


def test_children_count(tmp_path: Path) -> None:
    took = run_family([sys.executable, "-c", LEAVE], folder=tmp_path, environment={}, expected=(0,))
    assert took.wall >= SECONDS
    assert SECONDS * 0.5 < sum(took.cpu.values()) <= 2 * took.wall + 1
    assert took.peak_bytes > MEBIBYTES * 2**20


def test_a_failure_ends_with_what_was_printed(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match="failed: no use"):
        run_family([sys.executable, "-c", "exit('no use')"], folder=tmp_path, environment={}, expected=(0,))
