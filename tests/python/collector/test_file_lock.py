"""Test the file locks of the journal, and the message on systems without them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from collector.files.lock import is_locked, lock

HOLDER = """
import os, sys
from collector.files.lock import lock
descriptor = os.open(sys.argv[1], os.O_RDWR)
print(lock(descriptor), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_text("a line\n")
    return path


@contextmanager
def opened(path: Path, flags: int = os.O_RDWR) -> Iterator[int]:
    descriptor = os.open(path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def test_one_opening_holds_it_and_others_get_an_error(path: Path) -> None:
    with opened(path) as first, opened(path) as second, opened(path, os.O_RDONLY) as asking:
        assert not is_locked(asking)
        os.close(os.open(path, os.O_RDONLY))
        assert lock(first)
        assert not lock(second)
        with opened(path, os.O_RDONLY) as reader:
            assert is_locked(reader)
            assert os.read(reader, 100) == b"a line\n"
    with opened(path) as third:
        assert lock(third)


def test_a_folder_can_be_locked_and_closing_another_opening_leaves_a_lock(path: Path) -> None:
    for locked, flags in ((path, os.O_RDWR), (path.parent, os.O_RDONLY)):
        with opened(locked, flags) as mine:
            assert lock(mine)
            # The locks of fcntl(2) would be lost here.
            os.close(os.open(locked, flags))
            with opened(locked, flags) as other:
                assert not lock(other)


@pytest.mark.parametrize("end", ["kill", "close its input"])
def test_the_system_frees_it_when_the_process_ends(path: Path, end: str) -> None:
    command = [sys.executable, "-c", HOLDER, str(path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "True\n"
        with opened(path) as mine:
            assert not lock(mine)
            assert is_locked(mine)
        if end == "kill":
            holder.kill()
        else:
            holder.stdin.close()
        holder.wait()
    with opened(path) as mine:
        assert lock(mine)


def test_a_system_without_locks_is_reported_and_still_reads(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text(
        "audit: a\ntemplates: [{id: one, text: 'A {a race} person.'}]\ntrials: 1\n"
        "attributes: {race: {reference: White, groups: [White, Asian]}}\n"
    )
    (tmp_path / "targets.yml").write_text("targets: {x: {kind: simulator}}\n")
    without = "import sys; sys.modules['fcntl'] = None\nfrom biasledger.cli import main\nmain()"
    command = [sys.executable, "-c", without, "collect", "a.yml", "--target", "x"]
    collected = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert collected.returncode == 3
    assert collected.stderr.startswith("Error: This system has no locks as a journal needs them: ")
    assert "Traceback" not in collected.stderr
    dry = subprocess.run([*command, "--dry-run"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert dry.returncode == 0
