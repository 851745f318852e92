"""Whether a build would give what is published already: everything that decides a build, and what the last one said.

Correct before fast: whatever may change a table, and much that does not, makes another build. Only what models that a project
adds read from elsewhere is not seen.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasledger.project import dbt_source, settings_file
from biasledger.publishing.work import beside, hash_models
from collector.journal.reader import journal_folder

if TYPE_CHECKING:
    from collector.ledger.database import Ledger

# What a build writes itself, and what none reads.
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
# Where what dbt parsed is kept decides nothing.
_NO_INPUT = {"BIASLEDGER_CACHE"}
# What no model of a room reads: by these a build judges what the rooms hand over. What audits say of reading is in the ledger.
JUDGED_BY = frozenset({"thresholds.csv", "exceptions.csv", "tolerances.csv"})
_READ_BY_NO_MODEL = ("audits", "targets.yml")
_READ_BY_DBT = {"dbt_project.yml", "profiles.yml"}
# Models that a project adds, by itself or by packages, may read any file of it: one of answers, say, that was imported.
_PACKAGES_NAMED_IN = {"packages.yml", "dependencies.yml"}


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
    return _hash(
        [*_ledger_state(ledger), *_settings(project), *_day(settings_file("exceptions.csv", project))]
    )


def rooms_inputs(project: Path, ledger: Ledger, rooms: Sequence[str]) -> dict[str, str]:
    """Room -> a hash of all that its own models read: of each of its runs the head of its chain, and the same settings.

    A room whose runs are not all chained is left out: of these nobody knows what became of them.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    settings = list(_model_settings(project, ledger.path, without=JUDGED_BY))
    heads = ledger.heads_by_part()
    return {room: _hash([*settings, heads[room].encode()]) for room in rooms if room in heads}


def settings_inputs(project: Path, ledger: Path) -> str:
    """A hash of all that decides what is the same in every build, whatever the ledger holds: seeds, and which rows views show."""
    return _hash(_model_settings(project, ledger))


def _model_settings(project: Path, ledger: Path, without: Collection[str] = ()) -> Iterator[bytes]:
    """What models read beside the ledger; `without` are seeds that are left out."""
    journals = journal_folder(ledger).resolve()
    files = [
        (path, content)
        for path, content in _project_files(project)
        if path.parts[0] not in _READ_BY_NO_MODEL and not (project / path).resolve().is_relative_to(journals)
    ]
    adds_models = any(
        path.suffix == ".sql"
        # Beside the project's file they are targets.
        or (path.suffix == ".py" and len(path.parts) > 1)
        or path.name in _PACKAGES_NAMED_IN
        for path, _ in files
    )
    for path, content in files:
        is_read = adds_models or path.parts[0] == "seeds" or path.name in _READ_BY_DBT
        if is_read and path.name not in without:
            yield from (path.as_posix().encode(), content)
    yield from _installed(without=without)


def _hash(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8) + part)
    return f"sha256:{digest.hexdigest()}"


def _ledger_state(ledger: Path) -> Iterator[bytes]:
    yield _state(ledger)
    yield _state(ledger.with_name(f"{ledger.name}.wal"))
    yield from (_state(path) for path in sorted(journal_folder(ledger).glob("*.jsonl")))


def _settings(project: Path) -> Iterator[bytes]:
    for path, content in _project_files(project):
        yield path.as_posix().encode()
        yield content
    yield from _installed()


def _project_files(project: Path) -> Iterator[tuple[Path, bytes]]:
    """Each file of a project, as seen from there, but for what builds and people write beside it; and its content."""
    for path in _files(project):
        if path.suffix not in {".duckdb", ".wal", ".html", ".zip", ".log"}:
            yield path.relative_to(project), _content(path)


def _installed(without: Collection[str] = ()) -> Iterator[bytes]:
    """The installed seeds, generic tests, models and packages, and the environment."""
    for path in sorted((dbt_source() / "seeds").glob("*")):
        if path.name not in without:
            yield _content(path)
    # Of a seed that stands the tests stand as well.
    for path in sorted((dbt_source() / "tests" / "dbt" / "generic").glob("*.sql")):
        yield _content(path)
    yield hash_models().encode()
    for name in _PACKAGES:
        yield f"{name} {_version(name)}".encode()
    for name, value in sorted(os.environ.items()):
        if name.startswith(_VARIABLES) and name not in _NO_INPUT:
            yield f"{name}={value}".encode()


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


def remember(
    work: Path,
    warehouse: Path,
    inputs: str,
    standing: Standing,
    rooms: Mapping[str, str],
    settings: str = "",
    built: Sequence[str] = (),
) -> None:
    """Write down what was built of what, after it was published; rooms: as `rooms_inputs`, settings: as `settings_inputs`, built:
    all rooms that were.
    """
    content = asdict(standing) | {"built_at": standing.built_at.isoformat(), "rooms": dict(rooms)}
    content |= {"inputs": inputs, "settings": settings, "built": list(built)}
    content |= {"warehouse": _state(warehouse).decode(), "work": _state(work).decode()}
    beside(work, "built.json").write_text(json.dumps(content), encoding="utf-8")


def rooms_standing(work: Path, rooms: Mapping[str, str]) -> list[str]:
    """Which rooms' tables the work file holds as a build would make them; rooms: as `rooms_inputs`."""
    before = _left(work).get("rooms")
    return [room for room, inputs in rooms.items() if isinstance(before, dict) and before.get(room) == inputs]


def settings_stand(work: Path, settings: str) -> bool:
    """Whether the work file holds seeds and views as a build would make them; settings: as `settings_inputs`."""
    return _left(work).get("settings") == settings


def rooms_left(work: Path) -> list[str]:
    """The rooms that the last build built, where it was a whole one that came to its end, and the work file is as it left it.

    Tables of other rooms may be of any build before.
    """
    return list(_left(work).get("built", ()))


def _left(work: Path) -> dict[str, Any]:
    """What the last build wrote down, where nothing else has written into the work file since."""
    content = _read(work)
    return content if work.exists() and content.get("work") == _state(work).decode() else {}


def forget_rooms(work: Path) -> None:
    """Of tables that something else than a build wrote into no room's stand."""
    if content := _read(work):
        left = content | {"rooms": {}, "settings": ""}
        beside(work, "built.json").write_text(json.dumps(left), encoding="utf-8")


def forget_standing(work: Path) -> None:
    """Of a build that does not come to its end nothing stands."""
    beside(work, "built.json").unlink(missing_ok=True)


def read_standing(work: Path, warehouse: Path, inputs: str) -> Standing | None:
    """What the last build said, where the same would be built again and what it published is as it left it."""
    content = _read(work)
    try:
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
    except (ValueError, KeyError, TypeError):
        return None


def _read(work: Path) -> dict[str, Any]:
    try:
        content = json.loads(beside(work, "built.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
