"""Reads an export as the ledger that it is of: its tables in a database in memory, as views of the files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from collector.exports.folder import MANIFEST, OF_RUNS, SHARED, ExportedFile, Manifest, quoted
from collector.ledger.schema import migrate, migrations, refuse_newer

if TYPE_CHECKING:
    import duckdb


class ExportedLedger:
    """An export behind a connection whose schema `raw` is a ledger's, one run at a time; get it from `open_export`."""

    def __init__(self, folder: Path, manifest: Manifest, connection: duckdb.DuckDBPyConnection) -> None:
        import duckdb

        self.connection = connection
        self._folder = folder
        self._manifest = manifest
        for table in (*OF_RUNS, *SHARED):
            # What has no file has the columns that the ledger gives it, and no rows.
            connection.execute(f"alter table raw.{table} rename to empty_{table}")
            try:
                self._show(table, manifest.shared.get(table))
            except duckdb.Error:
                # What cannot be read counts as nothing; `file_faults` tells of it.
                self._show(table, None)

    def show(self, run_id: str) -> None:
        """Let the tables hold what there is of a run, and of no other.

        Raises:
            duckdb.Error: a file of its cannot be read.
        """
        run = self._manifest.runs[run_id]
        for table in OF_RUNS:
            self._show(table, run.files[table], run_id)
        self.connection.execute("delete from raw.unchained_runs")
        if run.seal is None:
            self.connection.execute("insert into raw.unchained_runs values (?)", [run_id])

    def _show(self, table: str, file: ExportedFile | None, run_id: str = "") -> None:
        self.connection.execute(f"create or replace view raw.{table} as {self._rows(table, file, run_id)}")

    def _rows(self, table: str, file: ExportedFile | None, run_id: str) -> str:
        """Return the query of a file's rows as the ledger's table has them; `rowid` is their order."""
        if file is None:
            return f"select *, 0::bigint as rowid from raw.empty_{table}"
        source = f"read_parquet({quoted(self._folder / file.path)}, file_row_number = true, hive_partitioning = false)"
        present = {name for name, *_ in self.connection.execute(f"describe from {source}").fetchall()}
        columns = [
            f"cast({quoted(run_id) if run_id and name == 'run_id' else name if name in present else 'null'} as {type_}) as {name}"
            for name, type_, *_ in self.connection.execute(f"describe raw.empty_{table}").fetchall()
        ]
        return f"select {', '.join(columns)}, file_row_number as rowid from {source}"


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
