"""Test that a build measures words in a worker process, which ends with the build."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from biasledger.building import running
from tests.python.project import Project

_NOTED = """
import os, sys
if "import serve" in " ".join(sys.orig_argv):
    open({began!r} + str(os.getpid()), "x").close()
"""
_NOBODYS = "raise SystemExit('A script of the project, which nobody asked for, was run.')\n"


def test_words_are_measured_next_to(
    new_project: Callable[[], Project], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not what tests start in its place.
    monkeypatch.setattr(running, "subprocess", subprocess)
    project = new_project()
    project.collect("simulator")
    for name in ("statistics", "numpy", "queue"):
        (project.folder / f"{name}.py").write_text(_NOBODYS, encoding="utf-8")
    noted = tmp_path / "sitecustomize.py"
    noted.write_text(_NOTED.format(began=f"{tmp_path}/began-"), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    assert project.build().has_alarms
    [began] = tmp_path.glob("began-*")
    with pytest.raises(ProcessLookupError):
        os.kill(int(began.name.removeprefix("began-")), 0)
