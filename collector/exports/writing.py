"""Write the ledger into a folder, run by run: files that are up to date stay.

New files are written in a folder of their own and renamed into place, the manifest last; only then old ones are removed. Whatever
stops this before leaves a whole export, and files that its manifest does not have until the next one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from collector.errors import InputError, LedgerError
from collector.exports.folder import (
    MANIFEST,
    OF_RUNS,
    SHARED,
    UNFINISHED,
    ExportedFile,
    ExportedRun,
    Format,
    Manifest,
    is_as_listed,
    place_of,
    read_manifest,
    unlisted,
)
from collector.exports.states import LedgerRun, ledger_runs
from collector.files.lock import lock
from collector.files.replacing import sync_file, sync_folder, write_whole
from collector.hashing import hash_of_file, tagged_hash
from collector.ledger.database import Ledger
from collector.sql import literal

if TYPE_CHECKING:
    import duckdb

# The memory for writing a file: rows are held until they fill a row group, which is limited by their bytes of text.
MEMORY = "768MB"
ROW_GROUP_BYTES = 1 << 25
ROW_GROUP_ROWS = (2_048, 122_880)
_ROW_BYTES = """
select coalesce(max(n_bytes / n_rows), 0)
from (
    select sum(stats.total_string_length::bigint) as n_bytes, sum(count) filter (column_id = 0) as n_rows
    from pragma_storage_info('raw.{table}')
    where segment_type = 'VARCHAR'
    group by row_group_id
)
"""


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export.

    Attributes:
        manifest: what the folder holds now.
        sha256: the manifest's own 'sha256:…', which covers every file.
        written, rewritten: runs that came in, and those that were there and had changed.
        left_out: runs whose chain goes on beyond its seal: they are being collected.
        n_bytes: of the files written now.
    """

    manifest: Manifest
    sha256: str
    written: tuple[str, ...]
    rewritten: tuple[str, ...]
    left_out: tuple[str, ...]
    n_bytes: int


def export_ledger(
    ledger_path: Path,
    folder: Path,
    format_: Format,
) -> Exported:
    """Bring a folder up to date with the ledger: runs that it lacks, and those that have changed since, such as by an erasure.

    Args:
        ledger_path: the ledger.
        folder: made if absent; one folder holds one ledger.
        format_: 'parquet', or 'delta', which gives each table a log of Delta Lake.

    Raises:
        InputError: the folder holds runs that the ledger lacks, is of the other format, or is being written; the extra `delta`
            is not installed.
        LedgerError: the ledger cannot be read, or a file not be written: earlier exports stay as they are.
    """
    import duckdb

    if format_ == "delta":
        from collector.exports.delta import require_extra

        require_extra()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder), Ledger(ledger_path).read() as connection:
            return _exported(connection, folder, format_)
    except (duckdb.Error, OSError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error).splitlines()[0].rstrip(".")
        raise LedgerError(
            f"{folder} cannot be written ({reason}); earlier exports stay as they are."
        ) from None


def _exported(connection: duckdb.DuckDBPyConnection, folder: Path, format_: Format) -> Exported:
    # With several threads, row groups that come too early are held until it is their turn.
    connection.execute(f"set memory_limit = '{MEMORY}'")
    connection.execute("set threads = 1")
    before = read_manifest(folder) or _claimed(folder, format_)
    runs = ledger_runs(connection)
    _require_same(folder, before, format_, {run.run_id for run in runs})
    changed = [run for run in runs if run.is_whole and not _is_current(folder, before, run)]
    unfinished = folder / UNFINISHED
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    try:
        written = {run.run_id: _written_run(connection, unfinished, run) for run in changed}
        exported = {**before.runs, **written}
        migrations = connection.execute(
            "select version, name, applied_at from raw.schema_migrations order by version"
        ).fetchall()
        manifest = Manifest(
            format_,
            tuple((version, name, applied_at.isoformat()) for version, name, applied_at in migrations),
            {run.run_id: exported[run.run_id] for run in runs if run.run_id in exported},
            {table: _written(connection, unfinished, table) for table in SHARED},
        )
        n_bytes = sum(path.stat().st_size for path in unfinished.rglob("*.parquet"))
        (unfinished / MANIFEST).write_bytes(manifest.written())
        _put_in_place(folder, manifest, _columns(connection))
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return Exported(
        manifest,
        tagged_hash(manifest.written().decode()),
        tuple(run_id for run_id in written if run_id not in before.runs),
        tuple(run_id for run_id in written if run_id in before.runs),
        tuple(run.run_id for run in runs if not run.is_whole),
        n_bytes,
    )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if not lock(descriptor):
            raise InputError(f"Another `biasledger export` writes into {folder}: wait until it ends.")
        yield
    finally:
        os.close(descriptor)


def _claimed(folder: Path, format_: Format) -> Manifest:
    """Make a folder an export without runs, unless other files are in its tables' places."""
    empty = Manifest(format_, ())
    if taken := unlisted(folder, empty):
        raise InputError(
            f"{folder} holds {taken[0]}, which no export wrote: name another folder, or move it away."
        )
    write_whole(folder / MANIFEST, empty.written())
    return empty


def _require_same(folder: Path, before: Manifest, format_: Format, run_ids: set[str]) -> None:
    if before.format != format_:
        raise InputError(
            f"{folder} holds an export as {before.format}: say --format {before.format}, or name another folder."
        )
    gone = [run_id for run_id in before.runs if run_id not in run_ids]
    if gone:
        raise InputError(
            f"{folder} holds the run {gone[0]}, which this ledger does not: a ledger never loses a run, so it is another one's "
            f"export; name another folder."
        )


def _is_current(folder: Path, before: Manifest, run: LedgerRun) -> bool:
    """Return whether a run is in the folder as the ledger has it; files must exist but are not read, which is `verify`'s part."""
    found = before.runs.get(run.run_id)
    return (
        found is not None
        and found.state == run.state
        and all(is_as_listed(folder, file) for file in found.files.values())
    )


def rows_at_once(row_bytes: float) -> int:
    """Return how many rows of so many bytes of text each go into a row group of Parquet, which a reader holds as a whole."""
    least, most = ROW_GROUP_ROWS
    return max(least, min(most, int(ROW_GROUP_BYTES / max(1.0, float(row_bytes)))))


def _written_run(connection: duckdb.DuckDBPyConnection, unfinished: Path, run: LedgerRun) -> ExportedRun:
    files = {table: _written(connection, unfinished, table, run.run_id) for table in OF_RUNS}
    seal = None if run.seal is None else str(run.seal)
    return ExportedRun(run.run_id, run.state, seal, files)


def _written(
    connection: duckdb.DuckDBPyConnection, unfinished: Path, table: str, run_id: str = ""
) -> ExportedFile:
    """Write a table, of a run or whole, and return its file. The folder's name says the run, so that its rows need not."""
    new = unfinished / "new.parquet"
    rows = (
        f"(select * exclude run_id from raw.{table} where run_id = {literal(run_id)})"
        if run_id
        else f"raw.{table}"
    )
    ((row_bytes,),) = connection.execute(_ROW_BYTES.format(table=table)).fetchall()
    at_once = rows_at_once(row_bytes)
    ((n_rows,),) = connection.execute(
        f"copy {rows} to {literal(new)} (format parquet, compression zstd, row_group_size {at_once})"
    ).fetchall()
    sha256 = hash_of_file(new)
    file = ExportedFile(place_of(table, run_id, sha256), n_rows, new.stat().st_size, sha256)
    sync_file(new)
    (unfinished / file.path).parent.mkdir(parents=True, exist_ok=True)
    new.rename(unfinished / file.path)
    return file


def _columns(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    """Table -> its columns in a file and their types."""
    columns: dict[str, dict[str, str]] = {table: {} for table in (*OF_RUNS, *SHARED)}
    for table, name, type_ in connection.execute(
        "select table_name, column_name, data_type from duckdb_columns() where schema_name = 'raw' order by column_index"
    ).fetchall():
        if table in columns and not (table in OF_RUNS and name == "run_id"):
            columns[table][name] = type_
    return columns


def _put_in_place(folder: Path, manifest: Manifest, columns: Mapping[str, Mapping[str, str]]) -> None:
    """Rename new files, add them to Delta's logs, then replace the manifest and remove files that it no longer lists."""
    unfinished = folder / UNFINISHED
    for path in sorted(unfinished.rglob("*.parquet")):
        place = folder / path.relative_to(unfinished)
        place.parent.mkdir(parents=True, exist_ok=True)
        path.replace(place)
        sync_folder(place.parent)
    if manifest.format == "delta":
        from collector.exports.delta import commit

        commit(folder, manifest, columns)
    sync_file(unfinished / MANIFEST)
    (unfinished / MANIFEST).replace(folder / MANIFEST)
    sync_folder(folder)
    for old in unlisted(folder, manifest):
        (folder / old).unlink()
