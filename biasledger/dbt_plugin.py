"""dbt-duckdb plugin: attaches the ledger read-only as database `ledger`, waiting while a collector writes to it.

In a `biasledger build` it also attaches what was published last as database `published`: what only a published table remembers is
taken from there when the work file is new. dbt-duckdb's own `retries` do not cover an attached file, so the waiting is done here.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Any

import duckdb
from dbt.adapters.duckdb.plugins import BasePlugin
from dbt_common.exceptions import DbtRuntimeError

from collector.errors import BiasledgerError, InputError, LedgerError
from collector.files.places import local_path
from collector.sql import literal

WAIT_SECONDS = 30.0
MEMORY_LIMIT = "30%"
"""The share of the machine's memory that DuckDB may use; its default is 80 %, and Python models need memory on top."""

PUBLISHED = "BIASLEDGER_PUBLISHED"
CLOSED = "BIASLEDGER_CLOSED"


class Plugin(BasePlugin):
    """Configured in profiles.yml with `ledger`, the path of the ledger file, or of a folder that `biasledger export` wrote.

    The published warehouse is named by BIASLEDGER_PUBLISHED alone, and BIASLEDGER_CLOSED names the folder of the only files that
    SQL may open: `biasledger` sets these; they are no settings for users.
    """

    def initialize(self, plugin_config: dict[str, Any]) -> None:
        """Take the ledger's path from profiles.yml, and what its `settings` say of memory."""
        try:
            self.ledger = local_path(str(plugin_config["ledger"]))
        except InputError as error:
            raise DbtRuntimeError(f"In profiles.yml, ledger: {error}") from error
        self.memory_limit = str(plugin_config.get("memory_limit", MEMORY_LIMIT))

    def configure_connection(self, conn: duckdb.DuckDBPyConnection) -> None:
        """Attach the ledger and, as far as there is one, the published warehouse.

        Raises:
            DbtRuntimeError: the ledger is missing, stays locked, or has another version's schema; one sentence.
        """
        conn.execute("set memory_limit = ?", [self.memory_limit])
        self._attach_ledger(conn)
        published = Path(os.environ.get(PUBLISHED, ""))
        if published.is_file():
            # A damaged file is ignored and will be replaced.
            with contextlib.suppress(duckdb.Error):
                conn.execute(f"attach {literal(published)} as published (read_only)")
        if seeds := os.environ.get(CLOSED):
            # The input is an evidence pack from somebody else: SQL that gets in through it must not reach any other file.
            # Attached databases stay open, and the setting cannot be taken back.
            files = ", ".join(literal(file) for file in sorted(Path(seeds).glob("*.csv")))
            conn.execute(f"set allowed_paths = [{files}]")
            conn.execute("set enable_external_access = false")

    def _attach_ledger(self, conn: duckdb.DuckDBPyConnection) -> None:
        if not self.ledger.exists():
            raise DbtRuntimeError(
                f"There is no ledger at {self.ledger}: collect or import responses first "
                "(biasledger collect, biasledger import), or name another file in BIASLEDGER_LEDGER."
            )
        if self.ledger.is_dir():
            self._attach_export(conn)
            return
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                conn.execute(f"attach {literal(self.ledger)} as ledger (read_only)")
                break
            except duckdb.IOException as error:
                if "lock" not in str(error).lower():
                    raise DbtRuntimeError(f"The ledger {self.ledger} cannot be read: {error}") from error
                if time.monotonic() > deadline:
                    raise DbtRuntimeError(
                        f"The ledger {self.ledger} is held by another program for more than "
                        f"{WAIT_SECONDS:.0f} seconds: close it there and build again."
                    ) from error
                time.sleep(0.2)
        from collector.ledger.schema import require_current

        with conn.cursor() as own:
            own.execute("use ledger")
            try:
                require_current(own, self.ledger)
            except LedgerError as error:
                raise DbtRuntimeError(str(error)) from error

    def _attach_export(self, conn: duckdb.DuckDBPyConnection) -> None:
        """Attach the files of `biasledger export` as the ledger that they were exported from."""
        from collector.exports.reading import attach_export

        try:
            attach_export(conn, self.ledger, "ledger")
        except (BiasledgerError, duckdb.Error) as error:
            raise DbtRuntimeError(f"The export {self.ledger} cannot be read: {error}") from error
