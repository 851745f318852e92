"""dbt-duckdb plugin: attaches the ledger read-only as database `ledger`, waiting while a collector writes to it.

dbt-duckdb's own `retries` do not cover an attached file, so the waiting is done here.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import duckdb
from dbt.adapters.duckdb.plugins import BasePlugin
from dbt_common.exceptions import DbtRuntimeError

WAIT_SECONDS = 30.0


class Plugin(BasePlugin):
    """Configured in profiles.yml with `ledger`, the path of the ledger file."""

    def initialize(self, plugin_config: dict[str, Any]) -> None:
        """Take the ledger's path from profiles.yml."""
        self.ledger = Path(plugin_config["ledger"])

    def configure_connection(self, conn: duckdb.DuckDBPyConnection) -> None:
        """Attach the ledger; raises DbtRuntimeError with one sentence where it is missing or stays locked."""
        if not self.ledger.exists():
            raise DbtRuntimeError(
                f"There is no ledger at {self.ledger}: collect or import responses first "
                "(biasledger collect, biasledger import), or name another file in BIASLEDGER_LEDGER."
            )
        quoted = str(self.ledger).replace("'", "''")
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                conn.execute(f"attach '{quoted}' as ledger (read_only)")
                return
            except duckdb.IOException as error:
                if "lock" not in str(error).lower():
                    raise DbtRuntimeError(f"The ledger {self.ledger} cannot be read: {error}") from error
                if time.monotonic() > deadline:
                    raise DbtRuntimeError(
                        f"The ledger {self.ledger} is held by another program for more than "
                        f"{WAIT_SECONDS:.0f} seconds: close it there and build again."
                    ) from error
                time.sleep(0.2)
