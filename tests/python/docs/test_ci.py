"""Test the example of a pipeline step by step, the action, and the commands of docs/ci.md."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from biasledger.checking.formats import FORMATS
from biasledger.project import init_project
from tests.python.docs.shell import ROOT, blocks, run

EXAMPLE = ROOT / "examples" / "ci"
WORKFLOW = EXAMPLE / ".github" / "workflows" / "bias.yml"
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
_EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _steps() -> list[Mapping[str, Any]]:
    [job] = _read(WORKFLOW)["jobs"].values()
    return [step for step in job["steps"] if "run" in step]


def _run_step(script: str, folder: Path, values: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    exported = "".join(f"export {name}={_quoted(value)}\n" for name, value in values.items())
    return run(exported + script, folder)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


@pytest.fixture(scope="module")
def piped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[int]]:
    """The example after its workflow has run, with the exit code of each step; `gh` only notes what it was asked."""
    folder = tmp_path_factory.mktemp("example") / "checkout"
    shutil.copytree(EXAMPLE, folder)
    (folder / ".git").mkdir()
    install, *steps = _steps()
    assert install["run"] == "pip install biasledger"
    noted = 'gh() { printf "%s\\n" "$@" > gh.txt; }\n'
    codes = [_run_step(noted + step["run"], folder, {"PULL_REQUEST": "12"}).returncode for step in steps]
    return folder, codes


@pytest.mark.slow
def test_the_example_s_workflow_goes_red_at_its_check_and_nowhere_else(piped: tuple[Path, list[int]]) -> None:
    folder, codes = piped
    assert [step.get("name") for step in _steps()[1:]] == ["Ask", "Build", "Check", "Tell the pull request"]
    assert codes == [0, 0, 1, 0]
    asked = (folder / "gh.txt").read_text(encoding="utf-8").split()
    assert asked[:5] == ["pr", "comment", "12", "--body-file", "reports/bias.md"]
    failed = [
        one
        for one in ElementTree.parse(folder / "reports" / "bias.xml").iter("testcase")
        if len(one.findall("failure"))
    ]
    assert {one.get("file") for one in failed} == {"audits/refunds.yml"}
    # The check finds the planted bias and nothing else.
    assert {str(one.get("name")).split(":")[0] for one in failed} == {"race"}
    uploaded = [
        step["with"] for step in next(iter(_read(WORKFLOW)["jobs"].values()))["steps"] if "with" in step
    ][1:]
    assert all((folder / (one.get("sarif_file") or one["path"])).exists() for one in uploaded)


def _act(folder: Path, **inputs: str) -> tuple[list[int], str]:
    """Run the action's steps but what installs; return exit codes and the verdict that it gives."""
    action = _read(ROOT / "action.yml")
    given = {name: str(one["default"]) for name, one in action["inputs"].items()} | inputs
    message = {"GITHUB_OUTPUT": folder / "output.txt", "GITHUB_STEP_SUMMARY": folder / "summary.md"}
    for path in message.values():
        path.unlink(missing_ok=True)
    codes = []
    for step in action["runs"]["steps"]:
        if "uses" in step or step["name"] == "Install":
            continue
        if "if" in step:
            name = re.fullmatch(r"inputs\.(\S+) != ''", step["if"])
            assert name is not None
            if not given[name[1]]:
                continue
        values = {
            name: _EXPRESSION.sub(lambda match: given[match[1].removeprefix("inputs.")], value)
            for name, value in step.get("env", {}).items()
        }
        where = folder / _EXPRESSION.sub(
            lambda match: given[match[1].removeprefix("inputs.")], step["working-directory"]
        )
        codes.append(
            _run_step(
                step["run"], where, values | {name: str(path) for name, path in message.items()}
            ).returncode
        )
    return codes, message["GITHUB_OUTPUT"].read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_action_does_what_the_workflow_does(piped: tuple[Path, list[int]]) -> None:
    """Nothing new is asked, so that nothing is built."""
    folder = piped[0]
    for fail_on, code in (("undecided", 1), ("alarms", 1), ("never", 0)):
        codes, output = _act(folder, **{"fail-on": fail_on, "strict": "true"})
        assert (codes, output) == ([0, code], "verdict=alarms\n")
    assert (folder / "summary.md").read_text(encoding="utf-8").startswith("<!-- biasledger-check -->")
    names = {path.name for path in (folder / "bias-reports").iterdir()}
    assert names == {"bias.xml", "bias.sarif", "bias.json", "bias.md"}
    document = json.loads((folder / "bias-reports" / "bias.json").read_text(encoding="utf-8"))
    assert document["verdict"] == "alarms"


@pytest.mark.slow
def test_the_page_s_commands_run_in_the_example(piped: tuple[Path, list[int]]) -> None:
    folder = piped[0]
    first, *others = blocks("docs/ci.md")
    # The first are the workflow's, which have been run.
    assert first.splitlines()[:2] == [step["run"] for step in _steps()[1:3]]
    for block in others:
        finished = run(block, folder)
        assert finished.returncode == 0, f"{block}\n{finished.stdout}{finished.stderr}"
        assert "Traceback" not in finished.stderr
    assert "alarms: see reports/bias.xml" in finished.stdout


def test_what_an_action_is_given_reaches_no_shell_as_code() -> None:
    """A name of an audit would otherwise run as a command, with the job's keys."""
    action = _read(ROOT / "action.yml")
    for step in [*action["runs"]["steps"], *_steps()]:
        assert "${{" not in step.get("run", "")
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text(encoding="utf-8")))
    assert used == set(action["inputs"])
    names = re.findall(r"`([a-z-]+)`", PAGE.partition("Other inputs: ")[2].partition("Its output")[0])
    assert set(names) - {"undecided", "alarms", "never"} | {"audit", "target", "baseline"} == used


def test_the_page_shows_the_example_s_own_files() -> None:
    shown = re.findall(r"^```yaml\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert WORKFLOW.read_text(encoding="utf-8") in shown
    hooks = _read(EXAMPLE / ".pre-commit-config.yaml")
    assert hooks in [yaml.safe_load(one) for one in shown]
    rows = {
        name: ending
        for name, ending in re.findall(r"^\| `(\w+)` \| `?(\.?\w*)`? ?\|", PAGE, re.MULTILINE)
        if name in FORMATS
    }
    assert rows == {name: one.ending or "" for name, one in FORMATS.items()}


def test_the_example_is_a_project_as_init_lays_it_out(tmp_path: Path) -> None:
    init_project(tmp_path, every_audit=True)
    for name in ("dbt_project.yml", "profiles.yml", "audits/names.csv"):
        assert (EXAMPLE / name).read_bytes() == (tmp_path / name).read_bytes()
    ignored = (EXAMPLE / ".gitignore").read_text(encoding="utf-8")
    assert ignored.startswith((tmp_path / ".gitignore").read_text(encoding="utf-8"))


def test_gitlab_runs_what_github_runs() -> None:
    [job] = _read(EXAMPLE / ".gitlab-ci.yml").values()
    _, ask, build, check, _ = (step["run"] for step in _steps())
    assert job["script"][:2] == [ask, build]
    assert set(job["script"][2].split()) <= set(check.split())
    assert job["artifacts"]["reports"]["junit"] in job["script"][2]


def test_hooks_are_valid_and_take_audits(tmp_path: Path) -> None:
    commands = {
        "validate-manifest": ROOT / ".pre-commit-hooks.yaml",
        "validate-config": EXAMPLE / ".pre-commit-config.yaml",
    }
    for command, file in commands.items():
        subprocess.run([sys.executable, "-m", "pre_commit", command, str(file)], check=True)
    [hook] = _read(ROOT / ".pre-commit-hooks.yaml")
    [local] = _read(EXAMPLE / ".pre-commit-config.yaml")["repos"][0]["hooks"]
    assert (hook["id"], hook["entry"]) == (local["id"], local["entry"])
    for pattern in (hook["files"], local["files"]):
        assert re.search(pattern, "audits/refunds.yml")
        assert not re.search(pattern, "audits/names.csv")
    checked = run(f"{hook['entry']} audits/*.yml", EXAMPLE)
    assert checked.returncode == 0, checked.stderr


def test_the_container_runs_as_whoever_owns_the_folder() -> None:
    """The image's account is another one than the folder's."""
    lines = (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines()
    assert "USER auditor" in lines
    as_you = '--user "$(id -u):$(id -g)"'
    message = re.findall(r"`((?:podman|docker) run [^`]+)`", PAGE)
    message += [line.removeprefix("#   ") for line in lines if line.startswith("#   podman run")]
    assert [one.split()[0] for one in message] == ["podman", "docker", "podman"]
    assert all(as_you in one for one in message)
    assert all(("--userns=keep-id" in one) == one.startswith("podman") for one in message)


def test_the_container_names_what_there_is() -> None:
    """No container runtime is needed for this, and none has built it here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    images = re.findall(r"^FROM docker\.io/library/python:(\d+\.\d+)-slim", "\n".join(lines), re.MULTILINE)
    assert len(images) == 2
    assert all(version in SpecifierSet(project["requires-python"]) for version in images)
    [extras] = re.findall(r"\[([\w,]+)\]", "\n".join(line for line in lines if line.startswith("RUN")))
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    assert 'ENTRYPOINT ["biasledger"]' in lines
    assert "biasledger" in project["scripts"]
    copied = [line.split()[1] for line in lines if line.startswith("COPY") and "--from" not in line]
    left_out = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert all((ROOT / one).exists() and one not in left_out for one in copied)
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    needed = {
        *build["targets"]["wheel"]["packages"],
        *build["targets"]["wheel"]["force-include"],
        "README.md",
        "LICENSE",
    }
    assert not needed & set(left_out)
