"""Test that files are written as a whole or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from collector.files.replacing import write_whole, written_whole


def test_what_was_there_stays_until_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("old")
    path.chmod(0o640)
    with written_whole(path) as new:
        new.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [one.name for one in tmp_path.iterdir()] == ["a.csv"]


def test_a_block_that_fails_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"

    def fail() -> None:
        with written_whole(path) as new:
            new.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    write_whole(path, b"whole")
    reader.join(600)
    assert read == [b"whole"]
    assert path.is_fifo()


def test_what_a_link_leads_to_is_written(tmp_path: Path) -> None:
    path, link = tmp_path / "of today.xml", tmp_path / "latest.xml"
    path.write_text("old")
    link.symlink_to(path)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert path.read_text() == "new"
