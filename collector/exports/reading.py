"""Reads an export as the ledger that it is of: its tables in a database in memory, as views of the files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from collector.exports.folder import (
    MANIFEST,
    OF_RUNS,
    SHARED,
    ExportedFile,
    Manifest,
    require_manifest,
)
from collector.ledger.schema import migrate, migrations, refuse_newer
from collector.sql import literal

if TYPE_CHECKING:
    import duckdb


class ExportedLedger:
    """An export behind a connection whose schema `raw` is a ledger's, one run at a time or all; see `open_export`."""

    def __init__(self, folder: Path, manifest: Manifest, connection: duckdb.DuckDBPyConnection) -> None:
        import duckdb

        self.connection = connection
        self._folder = folder
        self._manifest = manifest
        for table in (*OF_RUNS, *SHARED):
            # A table without a file keeps the ledger's columns, and has no rows.
            connection.execute(f"alter table raw.{table} rename to empty_{table}")
            try:
                shared = manifest.shared.get(table)
                self._show(table, [shared] if shared else [])
            except duckdb.Error:
                # An unreadable file counts as empty; `file_faults` reports it.
                self._show(table, [])

    def show(self, run_id: str) -> None:
        """Let the tables hold what there is of a run, and of no other.

        Raises:
            duckdb.Error: a file of its cannot be read.
        """
        run = self._manifest.runs[run_id]
        for table in OF_RUNS:
            self._show(table, [run.files[table]], run_id)
        self.connection.execute("delete from raw.unchained_runs")
        if run.seal is None:
            self.connection.execute("insert into raw.unchained_runs values (?)", [run_id])

    def show_all(self) -> None:
        """Let the tables hold every run.

        Raises:
            duckdb.Error: a file cannot be read.
        """
        for table in OF_RUNS:
            self._show(table, list(self._manifest.of_table(table).values()))
        unchained = [(run.run_id,) for run in self._manifest.runs.values() if run.seal is None]
        if unchained:
            self.connection.executemany("insert into raw.unchained_runs values (?)", unchained)

    def _show(self, table: str, files: Sequence[ExportedFile], run_id: str = "") -> None:
        self.connection.execute(f"create or replace view raw.{table} as {self._query(table, files, run_id)}")

    def _query(self, table: str, files: Sequence[ExportedFile], run_id: str) -> str:
        """Return the query of files' rows as the ledger's table has them; `rowid` is their order in a file."""
        if not files:
            return f"select *, 0::bigint as rowid from raw.empty_{table}"
        listed = ", ".join(literal(self._folder / file.path) for file in files)
        # Only the folder's name contains the run.
        by_folder = (
            "hive_partitioning = true, hive_types_autocast = false"
            if table in OF_RUNS
            else "hive_partitioning = false"
        )
        source = f"read_parquet([{listed}], file_row_number = true, union_by_name = true, {by_folder})"
        present = {name for name, *_ in self.connection.execute(f"describe from {source}").fetchall()}
        known = {name: name for name in present} | ({"run_id": literal(run_id)} if run_id else {})
        columns = [
            f"cast({known.get(name, 'null')} as {type_}) as {name}"
            for name, type_, *_ in self.connection.execute(f"describe raw.empty_{table}").fetchall()
        ]
        return f"select {', '.join(columns)}, file_row_number as rowid from {source}"


def attach_export(connection: duckdb.DuckDBPyConnection, folder: Path, name: str) -> None:
    """Attach an export with all its runs as a database in memory, whose schema `raw` is a ledger's.

    Raises:
        InputError: the folder holds no export.
        LedgerError: a newer version of biasledger wrote it.
        duckdb.Error: a file cannot be read.
    """
    manifest = require_manifest(folder)
    refuse_newer({version for version, _, _ in manifest.migrations}, migrations(), folder / MANIFEST)
    ((before,),) = connection.execute("select current_database()").fetchall()
    connection.execute(f"attach ':memory:' as {name}")
    connection.execute(f"use {name}")
    try:
        migrate(connection, folder / MANIFEST)
        ExportedLedger(folder.resolve(), manifest, connection).show_all()
    finally:
        connection.execute(f'use "{before}"')


@contextmanager
def open_export(folder: Path, manifest: Manifest) -> Iterator[ExportedLedger]:
    """Open an export.

    Raises:
        LedgerError: a newer version of biasledger wrote it.
    """
    import duckdb

    refuse_newer({version for version, _, _ in manifest.migrations}, migrations(), folder / MANIFEST)
    with duckdb.connect(":memory:") as connection:
        connection.execute("set enable_progress_bar = false")
        migrate(connection, folder / MANIFEST)
        for version, _, moment in manifest.migrations:
            connection.execute(
                "update raw.schema_migrations set applied_at = ? where version = ?",
                [datetime.fromisoformat(moment), version],
            )
        yield ExportedLedger(folder, manifest, connection)
