"""Whether a build would give what is published already: everything that decides a build, and what the last one said.

Correct before fast: whatever may change a table, and much that does not, makes another build. Only what models that a project
adds read from elsewhere is not seen.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from biasledger.project import dbt_source, settings_file
from biasledger.publishing.work import beside, hash_models
from collector.journal.reader import journal_folder

# What a build writes itself, and what none reads.
_NOT_READ = {"target", "logs", "dbt_packages", "node_modules", "__pycache__"}
_READ_WHOLE_BYTES = 1 << 20
_PACKAGES = ("biasledger", "dbt-core", "dbt-duckdb", "duckdb", "numpy", "scipy", "scikit-learn", "pandas")
_VARIABLES = ("BIASLEDGER_", "DBT_")
# Where what dbt parsed is kept decides nothing.
_NO_INPUT = {"BIASLEDGER_CACHE"}


@dataclass(frozen=True)
class Standing:
    """What the last build said of the tables that stand.

    built_at: when it ended, UTC; alarm_tests: those that failed; n_published: tables.
    """

    built_at: datetime
    alarm_tests: tuple[str, ...]
    n_published: int

    @property
    def sentence(self) -> str:
        """What is said in place of a build."""
        return (
            f"Nothing is new since the build of {self.built_at:%Y-%m-%d %H:%M} UTC, whose {self.n_published} tables stand "
            f"(--force builds all the same)."
        )


def inputs_of(project: Path, ledger: Path) -> str:
    """A hash of all that decides what a build publishes.

    The ledger and its journals by size and time of change; every file of the project, but for what builds write, and the
    installed seeds by content; the models, the versions of the packages that compute, the environment and, where there are
    exceptions, the day.
    """
    digest = hashlib.sha256()
    for part in _inputs(project, ledger):
        digest.update(len(part).to_bytes(8) + part)
    return f"sha256:{digest.hexdigest()}"


def _inputs(project: Path, ledger: Path) -> Iterator[bytes]:
    for path in (
        ledger,
        ledger.with_name(f"{ledger.name}.wal"),
        *sorted(journal_folder(ledger).glob("*.jsonl")),
    ):
        yield _state(path)
    for path in _files(project):
        if path.suffix not in {".duckdb", ".wal", ".html", ".zip"}:
            yield path.relative_to(project).as_posix().encode()
            yield _content(path)
    for path in sorted((dbt_source() / "seeds").glob("*")):
        yield _content(path)
    yield hash_models().encode()
    for name in _PACKAGES:
        yield f"{name} {_version(name)}".encode()
    for name, value in sorted(os.environ.items()):
        if name.startswith(_VARIABLES) and name not in _NO_INPUT:
            yield f"{name}={value}".encode()
    yield from _day(settings_file("exceptions.csv", project))


def _files(folder: Path) -> Iterator[Path]:
    """The files below a folder, in a fixed order; what builds write and hidden folders are left out."""
    for parent, folders, names in os.walk(folder):
        left_out = _NOT_READ if Path(parent) == folder else {"__pycache__"}
        folders[:] = sorted(name for name in folders if name not in left_out and not name.startswith("."))
        yield from (Path(parent) / name for name in sorted([*names, *folders]))


def _state(path: Path) -> bytes:
    try:
        found = path.stat()
    except FileNotFoundError:
        return f"{path.name} is not there".encode()
    return f"{path.name} {found.st_size} {found.st_mtime_ns} {found.st_ino}".encode()


def _content(path: Path) -> bytes:
    if path.is_dir():
        # What lies behind a link may change unseen: no two builds are taken for the same.
        return os.urandom(16) if path.is_symlink() else b""
    if not path.is_file() or path.stat().st_size > _READ_WHOLE_BYTES:
        return _state(path)
    return path.read_bytes()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


def _day(path: Path) -> Iterator[bytes]:
    """Today, where there are exceptions: one that expires changes what alarms, though no file has changed."""
    if len(path.read_bytes().split()) > 1:
        yield _today().encode()


def _today() -> str:
    return datetime.now().astimezone().date().isoformat()


def remember(work: Path, warehouse: Path, inputs: str, standing: Standing) -> None:
    """Write down what was built of what, after it was published."""
    content = asdict(standing) | {"built_at": standing.built_at.isoformat()}
    content |= {"inputs": inputs, "warehouse": _state(warehouse).decode()}
    beside(work, "built.json").write_text(json.dumps(content), encoding="utf-8")


def forget_standing(work: Path) -> None:
    """Of a build that does not come to its end nothing stands."""
    beside(work, "built.json").unlink(missing_ok=True)


def read_standing(work: Path, warehouse: Path, inputs: str) -> Standing | None:
    """What the last build said, where the same would be built again and what it published is as it left it."""
    try:
        content = json.loads(beside(work, "built.json").read_text(encoding="utf-8"))
        if (
            content["inputs"] != inputs
            or content["warehouse"] != _state(warehouse).decode()
            or not work.exists()
        ):
            return None
        return Standing(
            datetime.fromisoformat(content["built_at"]),
            tuple(content["alarm_tests"]),
            content["n_published"],
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
