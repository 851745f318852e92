"""Test which tests run for a changed module: those named after it, those that import it, or those one step away."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import mutants

MEASURES, TESTS = Path("biasledger/measures"), Path("tests/python/measures")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    files = {
        MEASURES / "engine/draws.py": "",
        MEASURES / "gaps/errors.py": "from biasledger.measures.engine import draws",
        MEASURES / "gaps/tests.py": "import biasledger.measures.gaps.errors",
        TESTS / "test_gaps.py": "from biasledger.measures.gaps import tests",
        TESTS / "test_errors.py": "from biasledger.measures.gaps.errors import error",
        TESTS / "test_words.py": "",
    }
    for file, text in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(f"{text}\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("gaps/errors.py", ["test_errors.py", "test_gaps.py"]),
        ("gaps/tests.py", ["test_gaps.py"]),
        ("engine/draws.py", ["test_errors.py"]),
    ],
)
def test_a_module_is_held_by_its_own_tests(tree: Path, module: str, names: list[str]) -> None:
    assert mutants.tests_of(tree, MEASURES / module) == [TESTS / name for name in names]
