"""The logs of Delta Lake next to an export's files: each table is a Delta table whose version names the files that count."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from collector.errors import InputError
from collector.exports.folder import OF_RUNS, SHARED, ExportedFile, Manifest

if TYPE_CHECKING:
    from deltalake import DeltaTable, Schema

# DuckDB's types in the ledger -> Delta's. Moments are UTC without a zone, as they are in the ledger.
_TYPES = {
    "VARCHAR": "string",
    "JSON": "string",
    "BOOLEAN": "boolean",
    "INTEGER": "integer",
    "BIGINT": "long",
    "DOUBLE": "double",
    "TIMESTAMP": "timestamp_ntz",
}


def require_extra() -> None:
    """Check that the extra `delta` is installed.

    Raises:
        InputError: it is not.
    """
    if find_spec("deltalake") is None:
        raise InputError("Delta tables need deltalake: pip install 'biasledger[delta]'.")


def commit(folder: Path, manifest: Manifest, columns: Mapping[str, Mapping[str, str]]) -> None:
    """Bring each table's log up to date in one version: files that the manifest has come in, others go out.

    Args:
        folder, manifest: the export; its files are in place.
        columns: table -> its columns in the files and their types in DuckDB.

    Raises:
        OSError: a log cannot be written.
    """
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError
    from deltalake.transaction import AddAction, RemoveAction

    now = int(time.time() * 1000)
    for table in (*OF_RUNS, *SHARED):
        of_runs = ["run_id"] if table in OF_RUNS else []
        names = {**dict.fromkeys(of_runs, "VARCHAR"), **columns[table]}
        wanted = {_in_log(table, file): (run_id, file) for run_id, file in manifest.of_table(table).items()}
        place = str((folder / table).absolute())
        try:
            log = DeltaTable.create(place, _schema(names), mode="ignore", partition_by=of_runs or None)
            found = active_files(log)
            added = [
                AddAction(
                    path, file.bytes, _partition(run_id), now, True, json.dumps({"numRecords": file.rows})
                )
                for path, (run_id, file) in wanted.items()
                if path not in found
            ]
            removed = [
                RemoveAction(path, True, now, partition_values=_partition(_run_of(path)))
                for path in sorted(found - wanted.keys())
            ]
            if added or removed:
                log.create_write_transaction([*added, *removed], "append", log.schema(), of_runs or None)
        except DeltaError as error:
            raise OSError(f"{folder / table} cannot be written: {error}") from None


def log_faults(folder: Path, manifest: Manifest) -> list[str]:
    """Return a sentence for each table whose log has other files than the manifest.

    Raises:
        InputError: the extra `delta` is not installed.
    """
    require_extra()
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    faults = []
    for table in (*OF_RUNS, *SHARED):
        wanted = {_in_log(table, file) for file in manifest.of_table(table).values()}
        try:
            found = active_files(DeltaTable(str((folder / table).absolute())))
        except DeltaError as error:
            faults.append(f"The log of {table} cannot be read: {str(error).splitlines()[0].rstrip('.')}.")
            continue
        if other := sorted(found ^ wanted):
            whose = "the manifest" if other[0] in wanted else "its log"
            faults.append(f"The log of {table} and the manifest differ: {other[0]} is in {whose} alone.")
    return faults


def active_files(log: DeltaTable) -> set[str]:
    """Return the files that count in a log's latest version, by their places in its folder."""
    return {str(path) for path in log.get_add_actions().column("path").to_pylist()}


def _schema(columns: Mapping[str, str]) -> Schema:
    from deltalake import Schema

    fields = [
        {"name": name, "type": _TYPES[type_], "nullable": True, "metadata": {}}
        for name, type_ in columns.items()
    ]
    return Schema.from_json(json.dumps({"type": "struct", "fields": fields}))


def _in_log(table: str, file: ExportedFile) -> str:
    return file.path.removeprefix(f"{table}/")


def _partition(run_id: str) -> dict[str, str | None]:
    return {"run_id": run_id} if run_id else {}


def _run_of(path: str) -> str:
    folder, _, _ = path.rpartition("/")
    return folder.removeprefix("run_id=")
