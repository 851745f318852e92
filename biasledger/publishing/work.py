"""The work file: dbt's own database, private and incremental, of which only the public tables are published.

It may be deleted at any time: the next build is slower, and gives the same.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasledger.project import dbt_source
from biasledger.publishing.erasures import hash_erasures
from collector.errors import InputError
from collector.files.lock import lock

if TYPE_CHECKING:
    from collector.ledger.database import Ledger

_FOLDER = Path(".biasledger/work")
_DIGITS = 8
_CODE = {".sql", ".py", ".yml"}


def work_file(project: Path, warehouse: Path) -> Path:
    """Return where the tables of `warehouse` are built: in the project, since it holds answers that readers have no business
    with.

    The file goes by the warehouse's name; the name of one outside the project's own folder carries a hash of its place.
    """
    place = os.path.relpath(warehouse.resolve(), project.resolve())
    digits = hashlib.sha256(place.encode()).hexdigest()[:_DIGITS]
    name = warehouse.name if place == warehouse.name else f"{warehouse.stem}-{digits}{warehouse.suffix}"
    return project / _FOLDER / name


def spark_file(work: Path) -> Path:
    """Return where a build on Spark hands back the public tables that go into the same warehouse as those of a work file."""
    return work.with_name(f"{work.stem}.spark{work.suffix}")


@contextmanager
def locked(project: Path) -> Iterator[None]:
    """Keep other builds in the same project out for the block, whatever their warehouse: they share dbt's target folder.

    Raises:
        InputError: another build is under way there.
    """
    folder = project / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    # The system frees the lock when the process ends, however it ends.
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        if not lock(descriptor):
            raise InputError(
                "Another `biasledger build` or `biasledger compare` is under way in this project: wait until it ends."
            )
        yield
    finally:
        os.close(descriptor)


def delete_outdated_work_file(work: Path, ledger: Ledger) -> list[str]:
    """Delete the work file if it may hold what the ledger no longer does (erased texts, retracted or removed runs), or what
    another version of the models made.

    Its tables may hold texts of removed runs, and rows made by older code.

    Returns:
        A sentence on the reason; none if nothing was deleted.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    with ledger.read() as connection:
        rows = connection.execute("select distinct run_id from raw.kept_runs order by all").fetchall()
        seen = {
            "runs": [run for (run,) in rows],
            "erasures": hash_erasures(connection),
            "models": hash_models(),
        }
    before = read_notes(work, "seen.json")
    reason = None
    if work.exists():
        is_known = "runs" in before and before.get("erasures")
        if not is_known or not set(before["runs"]) <= set(seen["runs"]):
            reason = "Runs were retracted or taken out of the ledger since the last build"
        elif before["erasures"] != seen["erasures"]:
            reason = "Answers were erased since the last build"
        elif before.get("models") != seen["models"]:
            reason = "The last build was made by another version of biasledger"
    if reason is not None:
        for path in (work, work.with_name(f"{work.name}.wal")):
            path.unlink(missing_ok=True)
    work.parent.mkdir(parents=True, exist_ok=True)
    side_file(work, "seen.json").write_text(json.dumps(seen), encoding="utf-8")
    return [] if reason is None else [f"{reason}: all tables are rebuilt."]


def hash_models() -> str:
    """Return a hash of the installed models, macros, measures and readers: of all that decides what incremental tables hold."""
    source, package = dbt_source(), Path(__file__).resolve().parents[1]
    folders = [(source, name) for name in ("models", "macros")]
    folders += [(package, name) for name in ("measures", "model_inputs")]
    folders.append((package.parent / "collector", "answers"))
    files = [(source, source / "dbt_project.yml"), (package.parent, package.parent / "collector" / "sql.py")]
    files += [
        (base, path)
        for base, name in folders
        for path in sorted((base / name).rglob("*"))
        if path.suffix in _CODE and path.is_file()
    ]
    return hash_parts(
        part
        for base, path in files
        for part in (path.relative_to(base).as_posix().encode(), path.read_bytes())
    )


def hash_parts(parts: Iterable[bytes]) -> str:
    """Return the tagged hash of parts with their lengths, so that no two lists of parts have the same."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8) + part)
    return f"sha256:{digest.hexdigest()}"


def side_file(work: Path, ending: str) -> Path:
    """Return the path of a file of notes next to a work file."""
    return work.with_name(f"{work.name}.{ending}")


def read_notes(work: Path, ending: str) -> dict[str, Any]:
    """Return the notes in a file next to a work file; empty if there are none."""
    try:
        content = json.loads(side_file(work, ending).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
