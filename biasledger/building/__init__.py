"""From a ledger to a warehouse: the project folder, its settings, and one run of dbt."""

from pathlib import Path

SAID = "\x1e"
"""Begins each line that dbt's process says itself, as in JSON text sequences (RFC 7464); models print the rest."""

BUILT = Path("target/built.json")
"""What dbt's process built and tested, in the project's folder: see `dbt_command.built`."""

PARSED = Path("target/partial_parse.msgpack")
"""What dbt parsed."""

CODE = Path("target/code.marshal")
"""What was compiled for dbt's process: see `kept_code`."""

READINGS = Path("target/analysis_settings.json")
"""What the audit files say of reading, by hash: see `analyses`."""

STANDS = "BIASLEDGER_STANDS"
"""Set in the environment of dbt's process where seeds and views that there are stand as a build would make them."""

KEPT = "BIASLEDGER_KEPT"
"""Set there to the methods whose rows of an earlier build may be kept on (macros/engine/kept.sql), where there are any."""

STOOD = "stands as it was"
"""What a node's result says that was not made anew."""
