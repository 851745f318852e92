"""How many small faults, put into the measures one at a time, their tests see.

A mutant is the code with one operator, number or condition changed, as Cosmic Ray changes it; it is killed where a test fails or
does not end. Each runs in a copy of the tree, against the tests that import the changed module or are named after it, slow ones
left out: the share says what a measure's own tests hold, not what the whole suite happens to notice.
"""

from __future__ import annotations

import ast
import compileall
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Any

import click

from benchmarks.processes import BenchmarkError

KILLED, SURVIVED, NO_MUTANT = "killed", "survived", "no mutant"
# What is changed, and the folders of tests that hold it.
_OURS = frozenset({"benchmarks", "biasledger", "collector", "lmrec"})
_MUTATED = {
    "biasledger/measures": ("tests/python/measures", "tests/python/lmrec"),
    "biasledger/findings.py": ("tests/python/cli",),
}
_COPIED = (
    "analyses",
    "audits",
    "benchmarks",
    "biasledger",
    "collector",
    "dbt_project.yml",
    "docs",
    "examples",
    "lmrec",
    "macros",
    "models",
    "profiles.yml",
    "pyproject.toml",
    "README.md",
    "seeds",
    "targets.yml",
    "tests",
)
# Imported once, before each mutant's tests start in a process made from this one.
_IMPORTED = ("pytest", "pandas", "scipy.stats", "sklearn.svm", "duckdb", "pydantic")
# A mutant that takes so many times the processor's time that its tests need, and some seconds, does not end.
_TIMES, _SECONDS = 2, 20
# What waits instead: longer than any tests take, however busy the machine.
_WAITED_SECONDS = 3_600
# Added to exit codes of pytest, so that Python itself ends with none of them.
_ENDED = 100
_QUIET = ("-p", "no:cacheprovider", "--basetemp", "../gw0")
_PASSED = 0
# A test failed; with the others, pytest could not import the tests, or what they share.
_FAILED = (1, 2, 3, 4)


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
    """The files of tests that import a module, and those named after it or its package; as seen from `root`.

    Where there are none, those that import a module that imports it.
    """
    of, folders = next((of, folders) for of, folders in _MUTATED.items() if module.is_relative_to(of))
    tests = [file for folder in folders for file in sorted((root / folder).glob("test_*.py"))]
    stems = tuple(f"test_{part}" for part in module.relative_to(Path(of).parent).with_suffix("").parts[1:])
    named = [file for file in tests if file.stem.startswith(stems)]
    direct = _importing(tests, {module})
    above = _importing([root / other for other in _modules(root, of)], {module})
    found = {*named, *direct} or _importing(tests, {path.relative_to(root) for path in above})
    return [file.relative_to(root) for file in sorted(found)]


def _importing(files: Sequence[Path], modules: Collection[Path]) -> list[Path]:
    names = {".".join(module.with_suffix("").parts) for module in modules}
    return [file for file in files if names & _imports(file)]


def run(*, tree: Path, n_sampled: int, seed: int, only: str | None, n_workers: int) -> None:
    """Try mutants, drawn at random without replacement, and print what share was killed, by module, and those that survived.

    Args:
        tree: the top folder of the code and its tests; that of another commit, too.

    Raises:
        BenchmarkError: Cosmic Ray is not installed, no module has such a name, or tests fail without any change.
    """
    modules = [
        module for of in _MUTATED for module in _modules(tree, of) if only is None or only in str(module)
    ]
    untested = [module for module in modules if not tests_of(tree, module)]
    every = mutants(tree, [module for module in modules if module not in untested])
    if not every:
        raise BenchmarkError(f"nothing that is changed has {only!r} in its path and tests that import it")
    sample = random.Random(seed).sample(every, min(n_sampled, len(every)))
    outcomes = defaultdict(list)
    fresh = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        copies = fresh.SimpleQueue()
        for index in range(n_workers):
            copies.put(_copied(tree, Path(folder) / str(index) / "tree"))
        with ProcessPoolExecutor(n_workers, fresh, _settle, (copies,)) as workers:
            tests = [tests_of(tree, Path(mutant.module)) for mutant in sample]
            every_test = sorted({file for files in tests for file in files})
            seconds = dict(zip(every_test, workers.map(_seconds, every_test), strict=True))
            limited = [{file: seconds[file] for file in files} for files in tests]
            for mutant, outcome in zip(sample, workers.map(_outcome, sample, limited), strict=True):
                outcomes[mutant.module].append((mutant, outcome))
                click.echo(f"{outcome}: {mutant}", err=True)
    _print(outcomes, n_all=len(every), untested=untested)


def _modules(root: Path, of: str) -> list[Path]:
    if of.endswith(".py"):
        return [Path(of)]
    files = sorted((root / of).rglob("*.py"))
    return [file.relative_to(root) for file in files if file.name != "__init__.py"]


def _print(outcomes: dict[str, list[tuple[Mutant, str]]], *, n_all: int, untested: Sequence[Path]) -> None:
    from benchmarks.calibration import share

    click.echo("| module | mutants tried | killed |\n| --- | ---: | ---: |")
    for module, tried in sorted(outcomes.items()):
        kills = [outcome == KILLED for _, outcome in tried]
        click.echo(f"| `{module}` | {len(kills)} | {sum(kills)} |")
    every = [pair for tried in outcomes.values() for pair in tried]
    killed = sum(outcome == KILLED for _, outcome in every)
    click.echo(f"| all | {len(every)} of {n_all:,} | {killed}: {share(killed, len(every))} |\n")
    for mutant, outcome in every:
        if outcome != KILLED:
            click.echo(f"{outcome}: {mutant}")
    for path in untested:
        click.echo(f"left out: {path}, which no such test imports")


def _settle(copies: SimpleQueue[Path]) -> None:
    # What is compiled is known by its content, and tests stay as they are.
    sys.dont_write_bytecode = False
    os.chdir(copies.get())
    # Projects that tests share are built once, without any change, as workers of pytest-xdist share them.
    os.environ["PYTEST_XDIST_WORKER"] = "gw0"
    # Whatever else is installed, tests run in their order.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for imported in _IMPORTED:
        import_module(imported)
    # How long an example takes says something about the machine alone.
    hypothesis = import_module("hypothesis")
    calm = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
    hypothesis.settings.register_profile("calm", calm)
    hypothesis.settings.load_profile("calm")


def _outcome(mutant: Mutant, tests: Mapping[Path, float]) -> str:
    """Change the module in this folder, run its tests, and change it back.

    Args:
        tests: the files of tests, by the seconds of the processor's time that each needs without any change.
    """
    mutating, plugins = _cosmic_ray("cosmic_ray.mutating"), _cosmic_ray("cosmic_ray.plugins")
    change = mutating.use_mutation(
        Path(mutant.module), plugins.get_operator(mutant.operator)(), mutant.occurrence
    )
    # What is quick tells sooner.
    files = sorted(tests, key=lambda file: tests[file])
    with change as (_, changed):
        if changed is None:
            return NO_MUTANT
        return SURVIVED if _pass(files, _TIMES * sum(tests.values()) + _SECONDS) else KILLED


def _seconds(file: Path) -> float:
    """Seconds of the processor's time that a file of tests in this folder needs where nothing is changed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not _pass([file], resource.RLIM_INFINITY):
        raise BenchmarkError(f"{file} fails without any change")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _pass(files: Sequence[Path], seconds: float) -> bool:
    """Whether files of tests in this folder pass, within so many seconds of the processor's time."""
    # Imported in a process made from this one, so that what is changed is read anew and all else is there.
    tests = multiprocessing.get_context("fork").Process(target=_test, args=(files, int(seconds)))
    tests.start()
    tests.join(_WAITED_SECONDS)
    if tests.is_alive() or tests.exitcode == -signal.SIGXCPU:
        tests.kill()
        tests.join()
        return False
    ended = (tests.exitcode or 0) - _ENDED
    if ended not in (_PASSED, *_FAILED):
        raise BenchmarkError(f"{', '.join(map(str, files))} did not run: pytest ended with {tests.exitcode}")
    return ended == _PASSED


def _test(files: Sequence[Path], seconds: int) -> None:
    # Tests take the code of this folder, not what runs here.
    for name in [name for name in sys.modules if name.partition(".")[0] in _OURS]:
        del sys.modules[name]
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        ended = import_module("pytest").main(["-qx", "-m", "not slow", *_QUIET, *map(str, files)])
        os._exit(_ENDED + int(ended))


def _copied(tree: Path, folder: Path) -> Path:
    """Copy what code and tests need of a tree, compiled so that a change is seen by its content.

    Of two mutants of one size within one second the times are the same.
    """
    folder.mkdir(parents=True)
    for source in (tree / name for name in _COPIED):
        if source.is_dir():
            shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy2(source, folder)
    compileall.compile_dir(folder, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
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
