"""Test imports between packages: no circles, and only from rows above in the table of CONTRIBUTING.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
_ROW = re.compile(r"^\| (`(?:collector|lmrec|biasledger)[^|]*) \|", re.MULTILINE)


def modules() -> dict[str, Path]:
    """Each module of the packages -> its file."""
    found = {}
    for package in ("collector", "lmrec", "biasledger"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path, files: Mapping[str, Path]) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in files else node.module)
    return found & files.keys()


def in_circles(imported: Mapping[str, set[str]]) -> set[str]:
    """Modules that import each other, directly or through others."""
    left = {module: set(others) for module, others in imported.items()}
    # A module that imports none of the others that are left is in no circle, and neither is one that none of them imports.
    while True:
        used = {other for others in left.values() for other in others}
        done = {module for module, others in left.items() if not others or module not in used}
        if not done:
            return set(left)
        left = {module: others - done for module, others in left.items() if module not in done}


@pytest.fixture(scope="module")
def files() -> Mapping[str, Path]:
    """Module -> its file."""
    return modules()


@pytest.fixture(scope="module")
def imported(files: Mapping[str, Path]) -> Mapping[str, set[str]]:
    """Module -> the modules that it imports, anywhere in it and for types alone, too."""
    return {module: imports(path, files) - {module} for module, path in files.items()}


@pytest.fixture(scope="module")
def rows() -> Mapping[str, int]:
    """Package or module -> its row in the table."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page.partition("| package |")[2].partition("\n\n")[0]
    return {
        name.removesuffix(".py").replace("/", "."): number
        for number, cell in enumerate(_ROW.findall(table))
        for name in re.findall(r"`([^`]+)`", cell)
    }


def test_nothing_is_imported_in_a_circle(imported: Mapping[str, set[str]]) -> None:
    assert in_circles(imported) == set()


def test_circles_are_seen() -> None:
    imported = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "e"}, "e": set(), "f": {"g"}, "g": {"f"}}
    assert in_circles(imported) == {"a", "b", "c", "f", "g"}


def test_every_package_is_in_the_table(files: Mapping[str, Path], rows: Mapping[str, int]) -> None:
    packages = {module for module, path in files.items() if path.name == "__init__.py"}
    assert packages <= rows.keys()
    assert rows.keys() <= files.keys()


def test_arrows_point_up_the_table(imported: Mapping[str, set[str]], rows: Mapping[str, int]) -> None:
    wrong = [
        f"{module} imports {other}"
        for module, others in imported.items()
        for other in sorted(others)
        if _row(other, rows) > _row(module, rows)
    ]
    assert not wrong


def test_measures_import_measures_alone(imported: Mapping[str, set[str]]) -> None:
    others = {
        other
        for module, found in imported.items()
        if module.startswith("biasledger.measures")
        for other in found
    }
    assert not {other for other in others if not other.startswith("biasledger.measures")}


def test_models_import_what_their_hash_covers(imported: Mapping[str, set[str]]) -> None:
    """An incremental table is rebuilt where any of this has changed; where an encoder's files are is in no number, and their
    hash is in the key.
    """
    models_own = ("biasledger.measures", "biasledger.model_inputs")
    covered = (*models_own, "collector.answers", "collector.sql")
    of_encoders = {"collector.errors", "collector.files.encoders", "collector.files.plain", "collector.hints"}
    models = {
        found
        for path in (ROOT / "models").rglob("*.py")
        for found in re.findall(r"^(?:from|import) (\S+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    others = {
        other
        for module, found in imported.items()
        if module.startswith(models_own)
        for other in found - (of_encoders if module == "biasledger.model_inputs.encoders" else set())
    }
    assert models
    assert not {other for other in models | others if not other.startswith(covered)}


def test_the_recommender_is_known_to_its_target_and_its_commands_alone(
    imported: Mapping[str, set[str]],
) -> None:
    users = {
        module
        for module, others in imported.items()
        if not module.startswith("lmrec") and any(other.startswith("lmrec") for other in others)
    }
    assert users == {"collector.targets.lmrec", "biasledger.commands.lmrec"}


def test_no_folder_holds_more_than_fifteen_modules(files: Mapping[str, Path]) -> None:
    """More cannot be taken in at a glance."""
    held: dict[Path, int] = {}
    for path in files.values():
        held[path.parent] = held.get(path.parent, 0) + (path.name != "__init__.py")
    assert {str(folder.relative_to(ROOT)): n for folder, n in held.items() if n > 15} == {}


def _row(module: str, rows: Mapping[str, int]) -> int:
    while module not in rows:
        module = module.rpartition(".")[0]
    return rows[module]
