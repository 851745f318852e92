"""From a ledger to a warehouse: the project folder, its settings, and one run of dbt."""

from pathlib import Path

SAID = "\x1e"
"""Begins each line that dbt's process says itself, as in JSON text sequences (RFC 7464); models print the rest."""

BUILT = Path("target/built.json")
"""The results of dbt's process, in the project's folder: see `dbt_command.built`."""

PARSED = Path("target/partial_parse.msgpack")
"""dbt's parsed manifest."""

CODE = Path("target/code.marshal")
"""The code compiled for dbt's process: see `kept_code`."""

READINGS = Path("target/analysis_settings.json")
"""The analysis settings of the audit files, by hash: see `described`."""

STANDS = "BIASLEDGER_STANDS"
"""Set in the environment of dbt's process where existing seeds and views are up to date."""

KEPT = "BIASLEDGER_KEPT"
"""Set there to the methods whose rows of an earlier build may be kept on (macros/engine/by_run.sql), where there are any."""

STOOD = "stands as it was"
"""The message of a node that was not rebuilt."""
