"""Publishes the public tables as files in a folder: Parquet, CSV and one DuckDB file, with a manifest.

All files are written in a folder of their own first, then renamed into place, the manifest last: it holds the SHA-256 of each
file, so that a reader can tell whether all of them are of one build.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from biasledger.publishing.public import PublicTable
from biasledger.publishing.published import DATABASE, Published, Table
from biasledger.publishing.warehouse import Column, PublishError, reason_of, write_tables
from collector.errors import InputError
from collector.files.csv import FORMULA_STARTS, inert
from collector.files.lock import lock
from collector.files.replacing import sync_file, sync_folder
from collector.sql import identifier, literal

MANIFEST = "manifest.json"
FORMATS = ("parquet", "csv", "duckdb")
DUCKDB_FILE = "warehouse.duckdb"
_UNFINISHED = ".publishing"
_MADE_BY = "biasledger publish"
_SAFE_NAME = re.compile(r"\w[\w .-]*")


def publish_files(published: Published, folder: Path, formats: Collection[str] = FORMATS) -> dict[str, Any]:
    """Write all tables into `folder` and return the manifest.

    Each file is replaced as a whole; between the first and the last renaming some are new and some old, which the manifest shows.

    Files of an earlier publication that are not written again are removed; files of others are left alone.

    Args:
        published: the tables.
        folder: made if absent.
        formats: of parquet, csv and duckdb.

    Raises:
        InputError: the folder is a file or holds files of others by these names, another publication into it is under way, or
            a table's name cannot be a file's.
        PublishError: a file cannot be written; what was published before is as it was, or, if it was stopped while renaming,
            differs from its manifest.
    """
    import duckdb

    for table in published.tables:
        if not _SAFE_NAME.fullmatch(table.name):
            raise InputError(f"The table {table.name!r} cannot be a file's name: rename the model (alias).")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            unfinished = folder / _UNFINISHED
            before = _listed_files(folder / MANIFEST) | _left_files(unfinished / MANIFEST)
            shutil.rmtree(unfinished, ignore_errors=True)
            try:
                manifest = _write(published, unfinished, formats)
                files = _files(manifest)
                _require_free(folder, files - before)
            except BaseException:
                shutil.rmtree(unfinished, ignore_errors=True)
                raise
            _sync_all(unfinished, files)
            _move(unfinished, folder, files - {PurePosixPath(MANIFEST)})
            _remove(folder, before - files)
            # Last, so that one manifest or the other lists each of our files, even if publishing stops earlier.
            _move(unfinished, folder, {PurePosixPath(MANIFEST)})
            shutil.rmtree(unfinished)
    except (duckdb.Error, OSError) as error:
        raise PublishError(f"{folder} cannot be written: {reason_of(error)}.") from error
    return manifest


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if not lock(descriptor):
            raise InputError(f"Another `biasledger publish` writes into {folder}: wait until it ends.")
        yield
    finally:
        os.close(descriptor)


def _listed_files(path: Path) -> frozenset[PurePosixPath]:
    """Return the files of an earlier publication, by its manifest; only these are ours to replace or to remove."""
    if not path.exists():
        return frozenset()
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if manifest["made_by"] != _MADE_BY:
            raise ValueError
        files = _files(manifest)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path} is not of `biasledger publish`: name another folder.") from None
    # A manifest may be edited, so files outside of the folder are never taken for ours.
    return frozenset(file for file in files if _is_ours(file))


def _left_files(path: Path) -> frozenset[PurePosixPath]:
    """Return the files of a publication that was stopped while renaming, some of which have their names already."""
    try:
        return _listed_files(path)
    except InputError:
        # Stopped while its manifest was written, and thus before anything was renamed.
        return frozenset()


def _is_ours(file: PurePosixPath) -> bool:
    if len(file.parts) == 1:
        return file.name in (MANIFEST, DUCKDB_FILE)
    return len(file.parts) == 2 and file.parts[0] in FORMATS and file.suffix == f".{file.parts[0]}"


def _files(manifest: dict[str, Any]) -> frozenset[PurePosixPath]:
    of_tables = [file["path"] for table in manifest["tables"] for file in table["files"].values()]
    return frozenset(
        PurePosixPath(path)
        for path in (MANIFEST, *of_tables, *(file["path"] for file in manifest["files"].values()))
    )


def _require_free(folder: Path, new: Collection[PurePosixPath]) -> None:
    taken = sorted(str(file) for file in new if (folder / file).exists())
    if taken:
        raise InputError(
            f"{folder} holds {taken[0]}, which no earlier publication wrote: name another folder, or move it away."
        )


def _write(published: Published, folder: Path, formats: Collection[str]) -> dict[str, Any]:
    folder.mkdir()
    tables = [_describe(table) for table in published.tables]
    for table, described in zip(published.tables, tables, strict=True):
        for kind in (kind for kind in ("parquet", "csv") if kind in formats):
            (folder / kind).mkdir(exist_ok=True)
            path = f"{kind}/{table.name}.{kind}"
            statement = _parquet if kind == "parquet" else _csv
            published.connection.execute(statement(published, table, folder / path))
            described["files"][kind] = _fingerprint(folder, path)
    files = {}
    if "duckdb" in formats:
        tables_of_file = [PublicTable(table.schema, table.name, table.key) for table in published.tables]
        write_tables(published.connection, DATABASE, folder / DUCKDB_FILE, tables_of_file, published.build)
        files["duckdb"] = _fingerprint(folder, DUCKDB_FILE)
    build = published.build
    manifest = {
        "made_by": _MADE_BY,
        "build": {
            "build_id": build.build_id,
            "built_at": build.built_at.isoformat(),
            "biasledger_version": build.biasledger_version,
            "engine_version": build.engine_version,
        },
        "published_at": datetime.now(UTC).replace(tzinfo=None).isoformat(),
        "csv_formula_starts_escaped": list(FORMULA_STARTS),
        "files": files,
        "tables": tables,
    }
    text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    return manifest


def _describe(table: Table) -> dict[str, Any]:
    return {
        "table": table.name,
        "schema": table.schema,
        "rows": table.n_rows,
        "key": list(table.key),
        "description": table.comment,
        "columns": [
            {
                "name": column.name,
                "type": column.type,
                "nullable": column.is_nullable,
                "description": column.comment,
            }
            for column in table.columns
        ],
        "files": {},
    }


def _parquet(published: Published, table: Table, path: Path) -> str:
    metadata = {
        "description": table.comment or "",
        "build_id": published.build.build_id,
        "key": ", ".join(table.key),
    }
    pairs = ", ".join(f"{name}: {literal(value)}" for name, value in metadata.items())
    return (
        f"copy {table.source} to {literal(path)} (format parquet, compression zstd, kv_metadata {{{pairs}}})"
    )


def _csv(_: Published, table: Table, path: Path) -> str:
    """Text in quotes, so that an empty one is no null; nulls are empty."""
    columns = ", ".join(_csv_column(column) for column in table.columns)
    texts = [identifier(inert(column.name)) for column in table.columns if _is_text(column)]
    quoted = f", force_quote ({', '.join(texts)})" if texts else ""
    return (
        f"copy (select {columns} from {table.source}) to {literal(path)} "
        f"(format csv, header, delimiter ',', quote '\"', escape '\"', nullstr ''{quoted})"
    )


def _csv_column(column: Column) -> str:
    name = identifier(column.name)
    value = name
    if _is_nested(column):
        value = f"cast(to_json({name}) as varchar)"
    elif _is_text(column):
        value = f"cast({name} as varchar)"
    if _is_text(column):
        starts = literal(FORMULA_STARTS)
        value = f"case when {value} <> '' and contains({starts}, left({value}, 1)) then '''' || {value} else {value} end"
    return f"{value} as {identifier(inert(column.name))}"


_PLAIN = re.compile(
    r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(.*\)|BIGNUM|BOOLEAN|DATE|TIME.*|INTERVAL|UUID"
)


def _is_text(column: Column) -> bool:
    """Return whether its cells may start with any character, unlike numbers, moments and Boolean values."""
    return _PLAIN.fullmatch(column.type) is None


def _is_nested(column: Column) -> bool:
    return column.type.endswith("]") or column.type.startswith(("STRUCT(", "MAP(", "UNION("))


def _fingerprint(folder: Path, path: str) -> dict[str, Any]:
    with (folder / path).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return {"path": path, "bytes": file.tell(), "sha256": digest.hexdigest()}


def _sync_all(unfinished: Path, files: Collection[PurePosixPath]) -> None:
    for file in files:
        sync_file(unfinished / file)
    for parent in {unfinished / file.parent for file in files}:
        sync_folder(parent)


def _move(unfinished: Path, folder: Path, files: Collection[PurePosixPath]) -> None:
    """Put new files in place of old ones."""
    for parent in {folder / file.parent for file in files}:
        parent.mkdir(exist_ok=True)
    for file in sorted(files):
        (unfinished / file).replace(folder / file)
    for parent in {folder, *(folder / file.parent for file in files)}:
        sync_folder(parent)


def _remove(folder: Path, files: Collection[PurePosixPath]) -> None:
    for file in files:
        (folder / file).unlink(missing_ok=True)
    for kind in FORMATS:
        if (folder / kind).is_dir() and not any((folder / kind).iterdir()):
            (folder / kind).rmdir()
