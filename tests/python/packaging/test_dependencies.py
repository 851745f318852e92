"""Test that every import is a declared dependency and every dependency is pinned."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RUNTIME = [Requirement(line) for line in PROJECT["dependencies"]]
EXTRAS = {
    extra: [Requirement(line) for line in needed]
    for extra, needed in PROJECT["optional-dependencies"].items()
}
DEVELOPMENT = EXTRAS["dev"]
OWN = {"biasledger", "collector", "lmrec", "benchmarks", "tests"}
LATER = {"compression"}  # in the standard library from Python 3.14 on


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


def locked() -> dict[str, tuple[str, int]]:
    """Package -> the locked version and how many hashes of its files there are."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    parts = re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]
    found = {}
    for part in parts:
        name, _, rest = part.partition("==")
        found[canonicalize_name(name)] = (rest.split()[0], part.count("--hash=sha256:"))
    return found


def imported(*folders: str) -> set[str]:
    """Top-level names imported in the Python files of these folders, but our own and the standard library's."""
    names = set()
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names.add(node.module.split(".")[0])
    return names - OWN - LATER - set(sys.stdlib_module_names)


def undeclared(names: set[str], declared: list[Requirement]) -> set[str]:
    known = {canonicalize_name(requirement.name) for requirement in declared}
    providers = packages_distributions()
    # A package that is not installed, such as an extra, counts under its own name.
    return {
        name for name in names if not known & {canonicalize_name(one) for one in providers.get(name, [name])}
    }


def test_every_import_of_the_package_is_a_declared_dependency() -> None:
    declared = RUNTIME + [one for extra, needed in EXTRAS.items() if extra != "dev" for one in needed]
    assert undeclared(imported("biasledger", "collector", "lmrec", "models"), declared) == set()


def test_the_large_extras_are_imported_where_models_are_loaded_and_nowhere_else() -> None:
    large = {requirement.name for requirement in EXTRAS["regard"] + EXTRAS["bert"]}
    users = {
        path.relative_to(ROOT).as_posix()
        for folder in ("biasledger", "collector", "lmrec", "models", "benchmarks")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(
            rf"^\s*(?:import|from) (?:{'|'.join(large)})\b", path.read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    assert users == {
        "biasledger/model_inputs/encoders.py",
        "biasledger/scoring/classifiers.py",
        "lmrec/encoders/bert.py",
        "lmrec/encoders/finetuning.py",
    }
    assert not large & {requirement.name for requirement in RUNTIME + DEVELOPMENT}
    assert all(
        {one.operator for one in requirement.specifier} == {">=", "<"} for requirement in EXTRAS["regard"]
    )


def test_every_import_of_tests_and_benchmarks_is_declared() -> None:
    extras = [requirement for extra in ("regard", "entities", "spark") for requirement in EXTRAS[extra]]
    assert undeclared(imported("tests", "benchmarks"), RUNTIME + DEVELOPMENT + extras) == set()


def test_an_undeclared_import_is_noticed() -> None:
    assert undeclared({"yaml", "sqruff", "not_installed_anywhere"}, RUNTIME) == {
        "sqruff",
        "not_installed_anywhere",
    }


def test_constraints_are_names_and_versions_only() -> None:
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        assert line.startswith("#") or re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.+!]*", line), line


@pytest.mark.parametrize(
    "requirement",
    RUNTIME
    + [one for extra in ("dev", "postgres", "serve", "excel", "datasets", "delta") for one in EXTRAS[extra]],
    ids=str,
)
def test_every_dependency_is_bounded_and_pinned_within_its_bounds(requirement: Requirement) -> None:
    assert {specifier.operator for specifier in requirement.specifier} == {">=", "<"}
    versions = {canonicalize_name(name): version for name, version in pins().items()}
    assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)])


def test_dbt_stays_below_the_release_that_needs_a_download() -> None:
    dbt = next(requirement for requirement in RUNTIME if requirement.name == "dbt-core")
    assert not dbt.specifier.contains("1.12.0")
    assert "dbt-core-experimental-parser" not in pins()


def test_what_is_pinned_is_locked_with_hashes() -> None:
    lock = locked()
    assert {name: lock[canonicalize_name(name)][0] for name in pins()} == pins()
    assert [name for name, (_, n_hashes) in lock.items() if not n_hashes] == []
