"""Test temporary folders: those of killed processes go, and those in use stay."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from collector.files.scratch import remove_left_scratch, scratch_folder


def test_what_a_killed_process_left_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / "biasledger-scratch-left"
    left.mkdir()
    (left / ".lock").touch()
    (tmp_path / "biasledger-scratch-without-lock").mkdir()
    with scratch_folder() as used:
        assert remove_left_scratch() == 1
        assert used.is_dir()
    assert not left.exists()
    assert (tmp_path / "biasledger-scratch-without-lock").is_dir()
