"""From a ledger to a warehouse: the project folder, its settings, and one run of dbt."""

from pathlib import Path

LINE_PREFIX = "\x1e"
"""Prefix of each line from dbt_process, as in JSON text sequences (RFC 7464); models print the other lines."""

RESULTS = Path("target/run_results.json")
"""dbt's artifact with the result of each node, in the project's folder."""

MANIFEST = Path("target/manifest.json")
"""dbt's artifact with all nodes."""

PARSED = Path("target/partial_parse.msgpack")
"""dbt's parsed manifest."""

INCREMENTAL = "BIASLEDGER_INCREMENTAL"
"""Environment variable of dbt's process, set if tables may be built by run (macros/engine/by_run.sql)."""

MEASURED_BY = "BIASLEDGER_SETTINGS"
"""Environment variable of dbt's process: `freshness.measured_by`. Without it, dbt measures every run."""
