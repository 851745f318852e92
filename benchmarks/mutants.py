"""How many small faults, put into the measures one at a time, their tests see.

A mutant is the code with one operator, number or condition changed, as Cosmic Ray changes it; it is killed where a test fails or
does not end. Each runs in a copy of the tree, against the tests of measures that import the changed module, slow ones left out:
the share says what a measure's own tests hold, not what the whole suite happens to notice.
"""

from __future__ import annotations

import ast
import multiprocessing
import os
import random
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import Any

import click

from benchmarks.processes import PACKAGE_PARENT, BenchmarkError

KILLED, SURVIVED, NO_MUTANT = "killed", "survived", "no mutant"
MEASURES = Path("biasledger/measures")
_TESTS = Path("tests/python/measures")
_COPIED = (
    "biasledger",
    "collector",
    "lmrec",
    "tests",
    "benchmarks",
    "pyproject.toml",
    "audits",
    "targets.yml",
)
# Imported once, before each mutant's tests start in a process made from this one.
_IMPORTED = ("pytest", "pandas", "scipy.stats", "sklearn.svm", "duckdb", "pydantic")
# Longer than any test of a measure takes, however busy the machine.
_SECONDS = 1_200
_QUIET = ("-p", "no:cacheprovider", "-p", "no:xdist")
# Exit codes that Python itself does not end with, by whether tests passed; with 2, pytest could not even import them.
_ENDED = 100
_ENDINGS = {_ENDED: True, _ENDED + 1: False, _ENDED + 2: False}


@dataclass(frozen=True)
class Mutant:
    """One change: the module, Cosmic Ray's operator, which of its places in the module, and the line."""

    module: str
    operator: str
    occurrence: int
    line: int


def mutants(root: Path, modules: Sequence[Path]) -> list[Mutant]:
    """Every change that Cosmic Ray's operators make to the modules, but for those to types, which nothing evaluates.

    Args:
        root: the tree's top folder.
        modules: files below it, as seen from there.

    Raises:
        BenchmarkError: Cosmic Ray is not installed.
    """
    plugins, trees = _cosmic_ray("cosmic_ray.plugins"), _cosmic_ray("cosmic_ray.ast")
    found = []
    for module in modules:
        text = (root / module).read_text(encoding="utf-8")
        nodes, types = list(trees.ast_nodes(trees.get_ast(text))), _lines_of_types(text)
        for name in plugins.operator_names():
            operator = plugins.get_operator(name)
            if operator.arguments():
                continue
            places = (place for node in nodes for place in operator().mutation_positions(node))
            found += [
                Mutant(str(module), name, occurrence, line)
                for occurrence, ((line, column), _) in enumerate(places)
                if not any(start <= (line, column) < end for start, end in types)
            ]
    return found


def tests_of(root: Path, module: Path) -> list[Path]:
    """The files of tests of measures that import a module."""
    name = ".".join(module.with_suffix("").parts)
    files = sorted((root / _TESTS).glob("test_*.py"))
    return [file.relative_to(root) for file in files if name in _imports(file)]


def run(*, n_sampled: int, seed: int, only: str | None) -> None:
    """Try mutants, drawn at random without replacement, and print what share was killed, by module, and those that survived.

    Raises:
        BenchmarkError: Cosmic Ray is not installed, no module has such a name, or tests fail without any change.
    """
    modules = [
        path.relative_to(PACKAGE_PARENT)
        for path in sorted((PACKAGE_PARENT / MEASURES).rglob("*.py"))
        if path.name != "__init__.py" and (only is None or only in str(path.relative_to(PACKAGE_PARENT)))
    ]
    untested = [module for module in modules if not tests_of(PACKAGE_PARENT, module)]
    every = mutants(PACKAGE_PARENT, [module for module in modules if module not in untested])
    if not every:
        raise BenchmarkError(f"no measure has {only!r} in its path and tests that import it")
    sample = random.Random(seed).sample(every, min(n_sampled, len(every)))
    outcomes = defaultdict(list)
    n_workers = os.cpu_count() or 1
    fresh = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        copies = fresh.SimpleQueue()
        for index in range(n_workers):
            copies.put(_copied(Path(folder) / str(index)))
        with ProcessPoolExecutor(n_workers, fresh, _settle, (copies,)) as workers:
            tried = sorted({Path(mutant.module) for mutant in sample})
            for module, passes in zip(tried, workers.map(_passes, tried), strict=True):
                if not passes:
                    raise BenchmarkError(f"tests of {module} fail without any change")
            for mutant, outcome in zip(sample, workers.map(_outcome, sample), strict=True):
                outcomes[mutant.module].append((mutant, outcome))
    _print(outcomes, n_all=len(every), untested=untested)


def _print(outcomes: dict[str, list[tuple[Mutant, str]]], *, n_all: int, untested: Sequence[Path]) -> None:
    click.echo("| module | mutants tried | killed |\n| --- | ---: | ---: |")
    for module, tried in sorted(outcomes.items()):
        kills = [outcome == KILLED for _, outcome in tried]
        click.echo(f"| `{module}` | {len(kills)} | {sum(kills)} |")
    every = [pair for tried in outcomes.values() for pair in tried]
    killed = sum(outcome == KILLED for _, outcome in every)
    click.echo(f"| all | {len(every)} of {n_all} | {killed} ({killed / len(every):.0%}) |\n")
    for mutant, outcome in every:
        if outcome != KILLED:
            click.echo(f"{outcome}: {mutant.module}:{mutant.line} {mutant.operator} ({mutant.occurrence})")
    for path in untested:
        click.echo(f"left out: {path}, which no test of measures imports")


def _settle(copies: SimpleQueue[Path]) -> None:
    os.chdir(copies.get())
    for imported in _IMPORTED:
        import_module(imported)


def _outcome(mutant: Mutant) -> str:
    """Change the module in this folder, run its tests, and change it back."""
    mutating, plugins = _cosmic_ray("cosmic_ray.mutating"), _cosmic_ray("cosmic_ray.plugins")
    change = mutating.use_mutation(
        Path(mutant.module), plugins.get_operator(mutant.operator)(), mutant.occurrence
    )
    with change as (_, changed):
        if changed is None:
            return NO_MUTANT
        return SURVIVED if _passes(Path(mutant.module)) else KILLED


def _passes(module: Path) -> bool:
    """Whether the tests of a module in this folder pass."""
    files = [str(file) for file in tests_of(Path.cwd(), module)]
    # Imported in a process made from this one, so that what is changed is read anew and all else is there.
    tests = multiprocessing.get_context("fork").Process(target=_test, args=(files,))
    tests.start()
    tests.join(_SECONDS)
    if tests.is_alive():
        tests.kill()
        tests.join()
        return False
    if tests.exitcode not in _ENDINGS:
        raise BenchmarkError(f"tests of {module} did not run: pytest ended with {tests.exitcode}")
    return _ENDINGS[tests.exitcode]


def _test(files: list[str]) -> None:
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        ended = import_module("pytest").main(["-qx", "-m", "not slow", *_QUIET, *files])
        os._exit(_ENDED + int(ended))


def _copied(folder: Path) -> Path:
    for name in _COPIED:
        source = PACKAGE_PARENT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, folder / name)
    return folder


@cache
def _imports(file: Path) -> frozenset[str]:
    """Modules that a file imports, by name; what it takes from a package may be a module or a name in one."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def _lines_of_types(text: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where annotations begin and end, as (line, column)."""

    def annotations(node: ast.AST) -> Iterator[ast.expr | None]:
        yield getattr(node, "annotation", None)
        yield getattr(node, "returns", None)

    return [
        ((found.lineno, found.col_offset), (found.end_lineno or 0, found.end_col_offset or 0))
        for node in ast.walk(ast.parse(text))
        for found in annotations(node)
        if found is not None
    ]


def _cosmic_ray(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise BenchmarkError(
            "Mutants are made by Cosmic Ray, which is not installed: pip install cosmic-ray"
        ) from None
