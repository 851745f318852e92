"""Check whether the published tables are up to date: hash all inputs of a build, and compare the notes of the last one.

When in doubt, build: everything that may change a table counts as an input, and much that does not. Only files that models
added by a project read from elsewhere are not seen.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasledger.project import dbt_source, settings_file
from biasledger.publishing.work import hash_models, hash_parts, read_notes, side_file
from collector.journal.reader import journal_folder

if TYPE_CHECKING:
    from collector.ledger.database import Ledger

_NOTES = "built.json"
# Folders that a build writes, and folders that none reads.
_NOT_READ = {"target", "logs", "dbt_packages", "node_modules", "__pycache__"}
_READ_WHOLE_BYTES = 1 << 20
_PACKAGES = (
    "biasledger",
    "dbt-core",
    "dbt-duckdb",
    "duckdb",
    "numpy",
    "scipy",
    "scikit-learn",
    "pyphen",
    "rapidfuzz",
)
_VARIABLES = ("BIASLEDGER_", "DBT_")
# The path of the cache of parsed projects does not affect results.
_NO_INPUT = {"BIASLEDGER_CACHE"}
# No method's models read these files; findings are judged by them.
JUDGED_BY = frozenset({"thresholds.csv", "exceptions.csv", "tolerances.csv"})
_NOT_MEASURED_BY = JUDGED_BY | {"model_prices.csv"}
_READ_BY_NO_MODEL = ("audits", "targets.yml")
_SEEDS = "seeds/"
# A file with one of these words may read any project file, as a user's own model may.
_MAY_READ = {"dbt_project.yml": (b"hook", b"on-run-"), "profiles.yml": (b"module_paths",)}
_PACKAGES_NAMED_IN = {"packages.yml", "dependencies.yml"}


@dataclass(frozen=True)
class LastBuild:
    """The notes of the last build, whose tables are up to date.

    built_at: when it ended, UTC; alarm_tests: those that failed; n_published: tables.
    """

    built_at: datetime
    alarm_tests: tuple[str, ...]
    n_published: int

    @property
    def sentence(self) -> str:
        """The message instead of a build."""
        return (
            f"Nothing is new since the build of {self.built_at:%Y-%m-%d %H:%M} UTC: its {self.n_published} tables are up to date "
            f"(--force builds all the same)."
        )


def inputs_of(project: Path, ledger: Path) -> str:
    """Return a hash of all inputs of a build.

    The ledger and its journals count by size and time of change. All files of the project but those that builds write, and the
    installed seeds, count by content. So do the models, the versions of the packages that compute, the environment and, where
    there are exceptions, the day.
    """
    named = [(path.as_posix(), _content(project / path)) for path in _project_files(project)]
    named += _installed()
    return hash_parts(
        [
            *_ledger_state(ledger),
            *(part for name, content in named for part in (name.encode(), content)),
            *_day(settings_file("exceptions.csv", project)),
        ]
    )


def settings_of(project: Path, ledger: Path, target: str | None = None) -> str:
    """Return a hash of what this project's models read in addition to this ledger, for a target of profiles.yml.

    The seeds that findings are judged by are left out.
    """
    named = [one for one in _model_settings(project, ledger) if Path(one[0]).name not in JUDGED_BY]
    named.append(("target", (target or "").encode()))
    return hash_parts(part for name, content in named for part in (name.encode(), content))


def measured_by(project: Path) -> str:
    """Return a hash of all that a run's measures depend on besides the run: models, packages, and some of the project's files.

    These files are its dbt_project.yml, its SQL, and its seeds except those that findings are judged by and the prices of models.
    """
    named = [
        (path.as_posix(), _content(project / path))
        for path in _project_files(project)
        if (path.suffix == ".sql" or path.as_posix() == "dbt_project.yml" or path.parts[0] == "seeds")
        and path.name not in _NOT_MEASURED_BY
        and (project / path).is_file()
    ]
    named += [(path.name, _content(path)) for path in _shipped_seeds() if path.name not in _NOT_MEASURED_BY]
    return hash_parts(part for name, content in [*named, *_code()] for part in (name.encode(), content))


def methods_inputs(settings: str, ledger: Ledger, methods: Sequence[str]) -> dict[str, str]:
    """Return for each method a hash of all inputs of its own models: the head of the chain of each of its runs, and the settings.

    A method with a run without a chain is left out, because changes in that run could go unnoticed.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    heads = ledger.heads_by_part()
    return {
        method: hash_parts([settings.encode(), heads[method].encode()])
        for method in methods
        if method in heads
    }


def _model_settings(project: Path, ledger: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file that models read in addition to the ledger."""
    journals = journal_folder(ledger).resolve()
    paths = [
        path
        for path in _project_files(project)
        if path.parts[0] not in _READ_BY_NO_MODEL and not (project / path).resolve().is_relative_to(journals)
    ]
    reads_any = any(map(_may_read, paths)) or any(
        word in _content(project / name) for name, words in _MAY_READ.items() for word in words
    )
    for path in paths:
        if reads_any or path.parts[0] == "seeds" or path.as_posix() in _MAY_READ:
            yield path.as_posix(), _content(project / path)
    yield from _installed()


def _may_read(path: Path) -> bool:
    """Return whether the user added this model, macro, test or property file. Such code may read any project file."""
    suffix = path.suffix.lower()
    # In the project's own folder only package files are dbt's; Python files there belong to targets.
    return suffix == ".sql" or (
        path.name in _PACKAGES_NAMED_IN
        if len(path.parts) == 1
        else suffix in {".py", ".yml", ".yaml"} and path.parts[0] != "seeds"
    )


def _ledger_state(ledger: Path) -> Iterator[bytes]:
    yield _state(ledger)
    yield _state(ledger.with_name(f"{ledger.name}.wal"))
    yield from (_state(path) for path in sorted(journal_folder(ledger).glob("*.jsonl")))


def _project_files(project: Path) -> Iterator[Path]:
    """Yield each file and folder of a project, as seen from there and in a fixed order, but for hidden ones and for what builds
    and people write next to it.
    """
    for parent, folders, names in os.walk(project):
        left_out = _NOT_READ if Path(parent) == project else {"__pycache__"}
        folders[:] = sorted(name for name in folders if name not in left_out and not name.startswith("."))
        for path in (Path(parent) / name for name in sorted([*names, *folders])):
            if path.suffix not in {".duckdb", ".wal", ".html", ".zip", ".log"}:
                yield path.relative_to(project)


def _installed() -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the installed seeds, generic tests, models and packages, and of the environment."""
    for path in _shipped_seeds():
        yield f"{_SEEDS}{path.name}", _content(path)
    # If these tests change, rows are tested again.
    for path in sorted((dbt_source() / "tests" / "dbt" / "generic").glob("*.sql")):
        yield path.name, _content(path)
    yield from _code()
    for name, value in sorted(os.environ.items()):
        if name.startswith(_VARIABLES) and name not in _NO_INPUT:
            yield name, value.encode()


def _shipped_seeds() -> list[Path]:
    return sorted((dbt_source() / "seeds").glob("*"))


def _code() -> Iterator[tuple[str, bytes]]:
    """Yield a hash of the installed models, and the versions of the packages that compute."""
    yield "models", hash_models().encode()
    for name in _PACKAGES:
        yield name, _version(name).encode()


def _state(path: Path) -> bytes:
    try:
        found = path.stat()
    except FileNotFoundError:
        return f"{path.name} is not there".encode()
    return f"{path.name} {found.st_size} {found.st_mtime_ns} {found.st_ino}".encode()


def _content(path: Path) -> bytes:
    if path.is_dir():
        # The target of a link may change unseen, so a build with links is never up to date.
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


def remember(
    work: Path,
    warehouse: Path,
    inputs: str,
    last: LastBuild,
    methods: Mapping[str, str],
    settings: str = "",
    built: Sequence[str] = (),
) -> None:
    """Write down the inputs of a build after it was published; methods: as `methods_inputs`, built: all built methods."""
    content = asdict(last) | {"built_at": last.built_at.isoformat(), "methods": dict(methods)}
    content |= {"inputs": inputs, "settings": settings, "built": list(built)}
    content |= {"warehouse": _state(warehouse).decode(), "work": _state(work).decode()}
    side_file(work, _NOTES).write_text(json.dumps(content), encoding="utf-8")


def up_to_date_methods(work: Path, methods: Mapping[str, str]) -> list[str]:
    """Return the methods whose tables in the work file are up to date; methods: as `methods_inputs`."""
    before = _notes_if_unchanged(work).get("methods")
    return [
        method
        for method, inputs in methods.items()
        if isinstance(before, dict) and before.get(method) == inputs
    ]


def methods_last_built(work: Path, settings: str) -> list[str]:
    """Return the methods of the last build if that was complete, and since then only the ledger and the seeds of judgement (such
    as thresholds) have changed.

    Tables of other methods may be from any earlier build.
    """
    notes = _notes_if_unchanged(work)
    return list(notes.get("built", ())) if notes.get("settings") == settings else []


def _notes_if_unchanged(work: Path) -> dict[str, Any]:
    """Return the notes of the last build if nothing else has written into the work file since."""
    content = read_notes(work, _NOTES)
    return content if work.exists() and content.get("work") == _state(work).decode() else {}


def discard_methods(work: Path) -> None:
    """Forget that methods are up to date, because something other than a build writes into their tables."""
    if content := read_notes(work, _NOTES):
        kept = content | {"methods": {}, "settings": ""}
        side_file(work, _NOTES).write_text(json.dumps(kept), encoding="utf-8")


def discard_last_build(work: Path) -> None:
    """Forget the last build, because the next one may not complete."""
    side_file(work, _NOTES).unlink(missing_ok=True)


def read_last_build(work: Path, warehouse: Path, inputs: str) -> LastBuild | None:
    """Return the last build if its inputs are the same and its published file is as it left it."""
    content = read_notes(work, _NOTES)
    try:
        if (
            content["inputs"] != inputs
            or content["warehouse"] != _state(warehouse).decode()
            or not work.exists()
        ):
            return None
        return LastBuild(
            datetime.fromisoformat(content["built_at"]),
            tuple(content["alarm_tests"]),
            content["n_published"],
        )
    except (ValueError, KeyError, TypeError):
        return None
