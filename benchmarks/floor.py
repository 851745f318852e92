"""What features are measured against: one DuckDB statement that cuts texts and writes a row a word into a table of a file.

    python -m benchmarks.floor ledger.duckdb floor.duckdb

Prints one JSON document: its seconds. It counts, groups and removes nothing.
"""

from __future__ import annotations

import json
import sys

import duckdb

from benchmarks.processes import StepClock

STATEMENT = r"""
create table words as
select
    run_id,
    seq,
    unnest(regexp_extract_all(lower(response_text), '[\p{L}\p{M}\p{N}]+')) as word
from ledger.raw.responses
"""


def main(ledger: str, file: str) -> None:
    """Cut all texts of a ledger."""
    clock = StepClock()
    with duckdb.connect(file) as connection:
        connection.execute(f"attach '{ledger}' as ledger (read_only)")
        with clock.step("floor"):
            connection.execute(STATEMENT)
    print(json.dumps({"wall": clock.wall, "cpu": clock.cpu}))


if __name__ == "__main__":
    main(*sys.argv[1:])
