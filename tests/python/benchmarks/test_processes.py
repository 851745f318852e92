"""Test that a program's time and memory do not include those of the program that measures it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.processes import BenchmarkError, run_measured


def python(script: str, tmp_path: Path, **settings: object):
    return run_measured([sys.executable, "-S", "-c", script], folder=tmp_path, **settings)


def test_memory_is_that_of_the_program_alone(tmp_path):
    held = np.ones(2**25)
    small = python("print('done')", tmp_path)
    assert small.output == "done\n"
    assert small.peak_bytes < 2**26 < held.nbytes
    # Memory that was held only for a moment counts too.
    large = python("held = b'x' * 2**28; del held", tmp_path)
    assert 2**28 < large.peak_bytes < 2**28 + 2**26


def test_time_is_that_of_the_program_and_what_it_waits_for(tmp_path):
    script = "import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', 'sum(range(10**8))'], check=True)"
    found = python(script, tmp_path)
    alone = python("pass", tmp_path)
    assert alone.cpu < found.cpu
    assert alone.wall < found.wall


def test_a_program_that_fails_or_is_not_there_is_said(tmp_path):
    assert python("raise SystemExit(3)", tmp_path, expected=(0, 3)).output == ""
    with pytest.raises(BenchmarkError, match=r"failed with 3: no such thing$"):
        python("print('no such thing'); raise SystemExit(3)", tmp_path)
    with pytest.raises(BenchmarkError, match="failed with -9"):
        python("import os; os.kill(os.getpid(), 9)", tmp_path)
    with pytest.raises(BenchmarkError, match="FileNotFoundError"):
        run_measured(["no-such-program"], folder=tmp_path)


def test_a_program_is_given_what_it_would_have_by_itself(tmp_path):
    shell = run_measured(["sh", "-c", "yes | head -1; ls /proc/self/fd 2>/dev/null | wc -l"], folder=tmp_path)
    # No "Broken pipe"; the three standard files and the one that ls looks through.
    assert shell.output.split() == ["y", "4"]
