"""Test the Makefile, the CI script, the hooks and the dbt settings of the project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from biasledger import project

ROOT = Path(__file__).parents[3]
TARGETS = "demo test check lint types sql warehouse site smoke bench clean install help".split()
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    # A make that runs these tests would pass its own settings on.
    environment = {
        name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL", "VENV"}
    }
    command = ["make", "--no-print-directory", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@needs_make
@pytest.mark.parametrize("target", TARGETS)
def test_every_target_can_be_planned(target: str) -> None:
    done = make("--dry-run", target)
    assert done.returncode == 0, done.stderr


@needs_make
def test_demo_and_test_install_what_they_need_first(tmp_path: Path) -> None:
    for target, command in {"demo": "biasledger", "test": "pytest"}.items():
        plan = make("--dry-run", target, f"VENV={tmp_path}/venv").stdout
        assert plan.index("pip install") < plan.rindex(command)
        assert "--constraint constraints.txt" in plan


@needs_make
def test_installing_again_does_nothing(tmp_path: Path) -> None:
    (tmp_path / ".installed").touch()
    assert "pip install" not in make("--dry-run", "test", f"VENV={tmp_path}").stdout


@needs_make
def test_an_old_python_is_one_clear_sentence(tmp_path: Path) -> None:
    old = tmp_path / "python3.10"
    old.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    old.chmod(0o755)
    done = make("install", f"VENV={tmp_path}/venv", f"PYTHON={old}")
    assert done.returncode == 2
    assert done.stderr.startswith("biasledger needs Python 3.11 or newer")
    assert not (tmp_path / "venv").exists()


@needs_make
@pytest.mark.parametrize(("code", "expected"), [(0, 2), (1, 0), (2, 2), (3, 2)])
def test_only_alarms_are_the_expected_end_of_the_demo(tmp_path: Path, code: int, expected: int) -> None:
    (tmp_path / "Makefile").write_text(
        f"include {ROOT}/Makefile\nprobe:\n\t@$(call EXPECT_ALARMS,(exit {code}))\n", encoding="utf-8"
    )
    assert make("-C", str(tmp_path), "probe").returncode == expected


def test_ci_runs_make_test_and_the_rest_of_make_check() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", str(script)], check=True)
    lines = script.read_text(encoding="utf-8").splitlines()
    assert "set -euo pipefail" in lines
    words = {word for line in lines if line.startswith("make ") for word in line.split()[1:]}
    ran = {word for word in words if re.fullmatch("[a-z][a-z-]*", word)}
    check = next(
        line
        for line in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
        if line.startswith("check:")
    )
    # Building by hand is a test of its own (end_to_end/test_dbt_by_hand.py) and would only repeat it.
    assert ran == set(check.split()[1:]) - {"warehouse"} | {"spark-test"}
    # Only with CI does a machine without Java fail.
    assert "CI=true" in words


def test_hooks_are_local_and_valid() -> None:
    config = ROOT / ".pre-commit-config.yaml"
    subprocess.run([sys.executable, "-m", "pre_commit", "validate-config", str(config)], check=True)
    assert {
        repository["repo"] for repository in yaml.safe_load(config.read_text(encoding="utf-8"))["repos"]
    } == {"local"}


def test_everything_a_thin_project_links_is_in_the_wheel() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    shipped = set(build["targets"]["wheel"]["force-include"])
    assert shipped >= {*project.LINKED, "profiles.yml", "seeds"}
    assert all((ROOT / part).exists() for part in shipped)


def test_the_dbt_project_sends_nothing_and_has_the_packages_version() -> None:
    import biasledger

    settings = yaml.safe_load((ROOT / "dbt_project.yml").read_text(encoding="utf-8"))
    assert settings["flags"]["send_anonymous_usage_stats"] is False
    assert str(settings["version"]) == biasledger.__version__
    assert settings["name"] == "biasledger"


@pytest.mark.parametrize(
    "path", sorted((ROOT / "models" / "marts").glob("*/_*.yml")), ids=lambda path: path.stem
)
def test_a_column_that_two_marts_say_alike_is_said_once(path: Path) -> None:
    """An anchor is one and the same object wherever it is referred to."""
    models = yaml.safe_load(path.read_text(encoding="utf-8")).get("models", [])
    said: dict[str, set[int]] = {}
    for column in (column for model in models for column in model.get("columns", [])):
        said.setdefault(yaml.dump(column), set()).add(id(column))
    assert [text for text, places in said.items() if len(places) > 1] == []
