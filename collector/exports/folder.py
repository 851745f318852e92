"""An exported ledger's folder: which file holds which rows, and its manifest.

The rows of a run are in `TABLE/run_id=RUN/….parquet`, a file a table; rows that runs share are in `TABLE/….parquet`. A file is
named after the SHA-256 of its bytes, so that a rewritten file has another name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from collector.errors import InputError
from collector.files.plain import MAX_DOCUMENT_BYTES, read_plain
from collector.hashing import hash_of_file
from collector.sql import literal

Format = Literal["parquet", "delta"]
MANIFEST = "manifest.json"
UNFINISHED = "_unfinished"  # readers of folders leave out what begins so
MADE_BY = "biasledger export"
# Tables of what the ledger holds of each run.
OF_RUNS = (
    *("runs", "run_events", "prompts", "prompt_attributes", "responses", "response_scores"),
    *("chain", "seals", "erasures"),
)
# Tables that runs share -> the columns that identify a part of them; rows that were stored together have the same values.
SHARED: Mapping[str, tuple[str, ...]] = {
    "analysis_settings": ("audit", "analysis_hash", "registered_at"),
    "relevance": ("relevance_hash",),
    "items": ("catalogue", "catalogue_hash", "imported_at"),
    "predictions": ("recommender", "predictions_hash", "imported_at"),
    "probes": ("markers_hash",),
    "markers": ("markers_hash",),
    "baselines": ("audit", "target", "set_at"),
    "baseline_rows": ("file_hash",),
}
# The ledger's notes of itself, which the manifest has.
IN_MANIFEST = ("schema_migrations", "unchained_runs")
_SHORT = 16
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SHA256 = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file: its place in the folder, its numbers of rows and bytes, and its hash 'sha256:…'."""

    path: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ExportedRun:
    """An exported run.

    Attributes:
        run_id: the run.
        state: a text that is another whenever anything kept of the run is.
        seal: its chain's; None in a run of before chains were kept.
        files: table -> its file.
    """

    run_id: str
    state: str
    seal: str | None
    files: Mapping[str, ExportedFile]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of a folder.

    Attributes:
        format: parquet, or delta, where each table's folder has a log as well.
        migrations: the ledger's schema: version, name and moment of each migration.
        runs: run -> what there is of it.
        shared: table of what runs share -> its file.
    """

    format: Format
    migrations: tuple[tuple[int, str, str], ...]
    runs: Mapping[str, ExportedRun] = field(default_factory=dict)
    shared: Mapping[str, ExportedFile] = field(default_factory=dict)

    def files(self) -> Iterator[ExportedFile]:
        """Yield every file of the folder but the manifest and logs."""
        for run in self.runs.values():
            yield from run.files.values()
        yield from self.shared.values()

    def of_table(self, table: str) -> dict[str, ExportedFile]:
        """Run -> a table's file of it; of what runs share '' -> the file."""
        if table in self.shared:
            return {"": self.shared[table]}
        return {run.run_id: run.files[table] for run in self.runs.values() if table in run.files}

    def written(self) -> bytes:
        """Return the manifest as it is in the folder."""
        document = {
            "made_by": MADE_BY,
            "format": self.format,
            "migrations": self.migrations,
            "runs": [asdict(run) for run in self.runs.values()],
            "shared": {table: asdict(file) for table, file in self.shared.items()},
        }
        return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()


def read_manifest(folder: Path) -> Manifest | None:
    """Read a folder's manifest, None where there is none.

    Raises:
        InputError: it is no export's manifest, or names what is no place in the folder.
        OSError: it cannot be read.
    """
    path = folder / MANIFEST
    try:
        content = read_plain(path, MAX_DOCUMENT_BYTES)
    except FileNotFoundError:
        return None
    try:
        document = json.loads(content)
        if document["made_by"] != MADE_BY or document["format"] not in ("parquet", "delta"):
            raise ValueError
        return Manifest(
            document["format"],
            tuple((int(version), str(name), str(moment)) for version, name, moment in document["migrations"]),
            {run.run_id: run for run in map(_run, document["runs"])},
            {table: _file(file, table) for table, file in document["shared"].items() if table in SHARED},
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(f"{path} is no manifest of `{MADE_BY}`: name a folder that it wrote.") from None


def require_manifest(folder: Path) -> Manifest:
    """Read a folder's manifest.

    Raises:
        InputError: as in `read_manifest`, or there is none.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        raise InputError(
            f"{folder / MANIFEST} is not there: name a folder that `{MADE_BY}` wrote, or the export is not whole."
        )
    return manifest


def place_of(table: str, run_id: str, sha256: str) -> str:
    """Return the place of a table's file for a run, or with `run_id` '' for what runs share.

    Raises:
        InputError: the text cannot be a run's name.
    """
    if run_id and not _RUN_ID.fullmatch(run_id):
        raise InputError(f"{run_id!r} is no name that a run is ever given, so it cannot be a folder's.")
    name = f"{sha256.removeprefix('sha256:')[:_SHORT]}.parquet"
    return f"{table}/run_id={run_id}/{name}" if run_id else f"{table}/{name}"


def file_faults(folder: Path, files: Iterable[ExportedFile]) -> list[str]:
    """Return a sentence for each file that is not as the manifest says: gone, of other bytes, or of other rows."""
    faults = []
    for file in files:
        path = folder / file.path
        try:
            found = hash_of_file(path)
        except FileNotFoundError:
            faults.append(f"{file.path} is gone.")
            continue
        except (OSError, InputError) as error:
            faults.append(f"{file.path} cannot be read: {error}")
            continue
        if found != file.sha256:
            faults.append(f"{file.path} was changed: its bytes are not those of the manifest's SHA-256.")
        n_rows = _rows_of(path)
        if n_rows is None:
            faults.append(f"{file.path} is no Parquet file any more.")
        elif n_rows != file.rows:
            faults.append(f"{file.path} has {n_rows:,} rows, and the manifest says {file.rows:,}.")
    return faults


def unlisted(folder: Path, manifest: Manifest) -> list[str]:
    """Return the Parquet files in the tables' folders that the manifest does not list, in order."""
    listed = {file.path for file in manifest.files()}
    found = [
        path.relative_to(folder).as_posix()
        for table in (*OF_RUNS, *SHARED)
        for pattern in ("*.parquet", "run_id=*/*.parquet")
        for path in (folder / table).glob(pattern)
    ]
    return sorted(set(found) - listed)


def is_as_listed(folder: Path, file: ExportedFile) -> bool:
    """Return whether a file is there with its size, without reading it."""
    try:
        return (folder / file.path).stat().st_size == file.bytes
    except OSError:
        return False


def _rows_of(path: Path) -> int | None:
    import duckdb

    try:
        rows = duckdb.execute(f"select num_rows from parquet_file_metadata({literal(path)})").fetchall()
    except duckdb.Error:
        return None
    return int(rows[0][0])


def _run(document: Mapping[str, Any]) -> ExportedRun:
    run_id = str(document["run_id"])
    seal = document["seal"]
    files = {
        table: _file(file, table, run_id) for table, file in document["files"].items() if table in OF_RUNS
    }
    if files.keys() != set(OF_RUNS):
        raise ValueError
    return ExportedRun(run_id, str(document["state"]), None if seal is None else str(seal), files)


def _file(document: Mapping[str, Any], table: str, run_id: str = "") -> ExportedFile:
    """Return a file at the place that `place_of` gives: nothing outside of the folder is ever read or removed."""
    file = ExportedFile(
        str(document["path"]), int(document["rows"]), int(document["bytes"]), str(document["sha256"])
    )
    if not _SHA256.fullmatch(file.sha256) or file.path != place_of(table, run_id, file.sha256):
        raise ValueError
    return file
