"""Counts that say how large the code is and how far one change to it spreads, of the working tree or of any commit."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import sqlglot
from sqlglot.errors import SqlglotError
from sqlglot.tokens import Token, TokenType

from benchmarks.processes import PACKAGE_PARENT, BenchmarkError

METHODS = frozenset({"words", "lists", "decisions", "prices", "markers", "texts"})
MANY_CONDITIONS = 4
_PACKAGES = ("collector", "lmrec", "biasledger")
_SQL_FOLDERS = ("models/", "macros/", "analyses/", "tests/dbt/", "biasledger/reporting/queries/")
_JINJA = re.compile(r"\{#.*?#\}|\{%.*?%\}", re.DOTALL)
_JINJA_VALUE = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_OPENS = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE})
_CLOSES = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END})
# What ends the condition of a join; `left` and `right` may be functions, but not at the depth of the join.
_AFTER_JOIN = frozenset(
    getattr(TokenType, name)
    for name in "JOIN INNER LEFT RIGHT FULL CROSS ASOF SEMI ANTI NATURAL WHERE GROUP_BY ORDER_BY HAVING QUALIFY WINDOW "
    "LIMIT UNION EXCEPT INTERSECT SEMICOLON".split()
)
_ANY_METHOD = "|".join(sorted(METHODS))
_METHOD_IN_SQL = re.compile(rf"""['"]({_ANY_METHOD})['"]|['"]int_({_ANY_METHOD})_""")
_METHOD_IN_YML = re.compile(rf"^\s*(?:-\s*)?(?:name:\s*)?({_ANY_METHOD}):?(?:\s|$)", re.MULTILINE)


def counts(root: Path, files: Iterable[str], *, with_nodes: bool = True) -> dict[str, int]:
    """What a tree of this repository counts, by name.

    Args:
        root: its top folder.
        files: which files are in it, as seen from there.
        with_nodes: parse the dbt project as well, which takes half a minute.

    Raises:
        BenchmarkError: dbt cannot parse the project.
    """
    texts = {name: text for name in sorted(files) if (text := _text(root / name)) is not None}
    modules = {name: text for name, text in texts.items() if name.endswith(".py")}
    sql = {
        name: _JINJA_VALUE.sub(" jinja ", _JINJA.sub(" ", text))
        for name, text in texts.items()
        if is_sql(name)
    }
    held = Counter(
        name.rpartition("/")[0] for name in modules if name.startswith(_PACKAGES) and "/__init__" not in name
    )
    found = {
        "lines of Python": _lines(text for name, text in modules.items() if not name.startswith("tests/")),
        "lines of SQL": _lines(text for name, text in texts.items() if is_sql(name)),
        "lines of yml": _lines(
            text for name, text in texts.items() if name.endswith(".yml") and name.startswith("models/")
        ),
        "lines of tests": _lines(text for name, text in modules.items() if name.startswith("tests/")),
        "casts in marts": sum(
            n_casts(text)
            for name, text in sql.items()
            if name.startswith(("models/marts/", "models/findings/"))
        ),
        f"joins with {MANY_CONDITIONS} or more conditions": sum(
            n >= MANY_CONDITIONS for text in sql.values() for n in conditions_of_joins(text)
        ),
        "import circles": len(circles(imports(root))),
        "modules in the largest folder": max(held.values(), default=0),
        "files that list methods": sum(
            lists_methods(name, text)
            for name, text in texts.items()
            if not name.startswith(("tests/", "benchmarks/"))
        ),
    }
    if with_nodes:
        found |= _nodes(root)
    return found


def print_counts(against: str | None = None, *, with_nodes: bool = True) -> None:
    """Print the working tree's counts, and next to them those of a commit.

    Raises:
        BenchmarkError: there is no such commit, or dbt cannot parse a tree.
    """
    listed = _git("ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    columns = {"working tree": counts(PACKAGE_PARENT, listed, with_nodes=with_nodes)}
    if against is not None:
        with _archived(against) as root:
            files = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
            columns = {against: counts(root, files, with_nodes=with_nodes), **columns}
    print("| | " + " | ".join(columns) + " |")
    print("|---|" + "---:|" * len(columns))
    for name in columns["working tree"]:
        print(f"| {name} | " + " | ".join(f"{column[name]:,}" for column in columns.values()) + " |")


def is_sql(name: str) -> bool:
    """Whether a file is SQL that is shipped or tested."""
    return name.endswith(".sql") and name.startswith(_SQL_FOLDERS)


def n_casts(sql: str) -> int:
    """How many casts a statement without Jinja writes, as `::` or `cast(`."""
    tokens = _tokens(sql)
    return sum(
        token.token_type == TokenType.DCOLON
        or (token.text.lower() in {"cast", "try_cast"} and after.token_type == TokenType.L_PAREN)
        for token, after in zip(tokens, [*tokens[1:], *tokens[-1:]], strict=True)
    )


def conditions_of_joins(sql: str) -> list[int]:
    """How many conditions each join of a statement without Jinja has: parts between `and`, or columns of `using`."""
    tokens = _tokens(sql)
    return [
        _conditions(tokens[place + 1 :])
        for place, token in enumerate(tokens)
        if token.token_type == TokenType.JOIN
    ]


def _conditions(tokens: Iterable[Token]) -> int:
    """How many conditions a join has, whose table is the first of these tokens."""
    depth = n = 0
    is_using = is_between = False
    for token in tokens:
        kind = token.token_type
        depth += (kind in _OPENS) - (kind in _CLOSES)
        if depth < 0 or (depth == 0 and kind in _AFTER_JOIN and not is_using):
            break
        if depth == 0 and kind in (TokenType.ON, TokenType.USING):
            n, is_using = 1, kind == TokenType.USING
        elif is_using:
            n += depth == 1 and kind == TokenType.COMMA
            if depth == 0:
                break
        elif n and kind == TokenType.BETWEEN:
            is_between = True
        elif n and depth == 0 and kind == TokenType.AND:
            n, is_between = n + (not is_between), False
    return n


def _tokens(sql: str) -> list[Token]:
    try:
        return sqlglot.tokenize(sql, dialect="duckdb")
    except SqlglotError as error:
        raise BenchmarkError(f"A file of SQL cannot be read: {error}") from error


def lists_methods(name: str, text: str) -> bool:
    """Whether a file names two or more methods together, so that another method would be written there, too.

    A file in a method's own folder belongs to that method and lists none.
    """
    if METHODS & set(name.split("/")[:-1]):
        return False
    if name.endswith(".py"):
        return any(len(METHODS & named) > 1 for named in _named_together(ast.parse(text)))
    if name.endswith(".sql"):
        return len({word for found in _METHOD_IN_SQL.findall(text) for word in found if word}) > 1
    if name.endswith((".yml", ".yaml")):
        return name.startswith(("dbt_project", "models/")) and len(set(_METHOD_IN_YML.findall(text))) > 1
    return False


def _named_together(tree: ast.AST) -> Iterator[set[str]]:
    """Words that stand in one collection, one import, one call, one class's fields, or that one function compares with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Set | ast.Tuple):
            yield set(_words(node.elts))
        elif isinstance(node, ast.Dict):
            yield set(_words(filter(None, node.keys)))
        elif isinstance(node, ast.Call):
            yield {keyword.arg for keyword in node.keywords if keyword.arg}
        elif isinstance(node, ast.ImportFrom):
            yield {part for alias in node.names for part in (alias.name, alias.name.partition("_")[0])}
        elif isinstance(node, ast.ClassDef):
            yield {
                one.target.id
                for one in node.body
                if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
            }
        elif isinstance(node, ast.FunctionDef):
            compared = (one for one in ast.walk(node) if isinstance(one, ast.Compare))
            yield {word for one in compared for word in _words([one.left, *one.comparators])}


def _words(nodes: Iterable[ast.expr]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Tuple | ast.List):
            yield from _words(node.elts[:1])


def modules(root: Path) -> dict[str, Path]:
    """Each module of the collector's and the warehouse's packages -> its file."""
    found = {}
    for package in _PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(root: Path) -> dict[str, set[str]]:
    """Module -> the modules that it imports, anywhere in it and for types alone, too."""
    files = modules(root)
    return {module: _imports(path, files) - {module} for module, path in files.items()}


def _imports(path: Path, files: Mapping[str, Path]) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in files else node.module)
    return found & files.keys()


def circles(imported: Mapping[str, set[str]]) -> list[set[str]]:
    """Modules that import each other, directly or through others: the strongly connected sets of two or more."""

    @cache
    def reached(module: str) -> frozenset[str]:
        seen: set[str] = set()
        waiting = [module]
        while waiting:
            new = imported[waiting.pop()] - seen
            seen |= new
            waiting += new
        return frozenset(seen)

    rings = {
        frozenset(other for other in reached(module) if module in reached(other))
        for module in imported
        if module in reached(module)
    }
    return sorted(map(set, rings), key=min)


def _nodes(root: Path) -> dict[str, int]:
    """How many models and tests the dbt project has, from dbt's own parse of it."""
    with tempfile.TemporaryDirectory(prefix="biasledger-") as scratch:
        done = subprocess.run(
            [sys.executable, "-m", "dbt.cli.main", "parse", "--profiles-dir", ".", "--target-path", scratch],
            cwd=root,
            env={
                **os.environ,
                "DBT_LOG_PATH": scratch,
                "BIASLEDGER_WAREHOUSE": f"{scratch}/warehouse.duckdb",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise BenchmarkError(f"dbt cannot parse {root}: {done.stdout[-2000:]}")
        manifest = json.loads(Path(scratch, "manifest.json").read_text(encoding="utf-8"))
    kinds = Counter(node["resource_type"] for node in manifest["nodes"].values())
    return {
        "models": kinds["model"],
        "nodes of tests": kinds["test"],
        "unit tests": len(manifest["unit_tests"]),
    }


@contextmanager
def _archived(commit: str) -> Iterator[Path]:
    """The files of a commit in a folder that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="biasledger-") as scratch:
        packed = Path(scratch, "tree.tar")
        _git("archive", "--output", str(packed), commit)
        root = Path(scratch, "tree")
        with tarfile.open(packed) as archive:
            archive.extractall(root, filter="data")
        yield root


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=PACKAGE_PARENT, capture_output=True, text=True, check=True
        )
    except FileNotFoundError:
        raise BenchmarkError("Counting needs git, which is not installed.") from None
    except subprocess.CalledProcessError as error:
        raise BenchmarkError(f"git {arguments[0]} failed: {error.stderr.strip()}") from None
    return done.stdout


def _text(path: Path) -> str | None:
    if path.suffix not in {".py", ".sql", ".yml", ".yaml"} or not path.is_file():
        return None
    return path.read_text(encoding="utf-8")


def _lines(texts: Iterable[str]) -> int:
    return sum(len(text.splitlines()) for text in texts)
