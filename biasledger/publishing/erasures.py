"""Check that a warehouse was built after all erasures and retractions: a build notes a hash of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from biasledger.opening import connect_read_only
from collector.errors import LedgerError
from collector.hashing import canonical_json, tagged_hash
from collector.ledger.database import Ledger

if TYPE_CHECKING:
    import duckdb

# A warning is not worth waiting for.
_WAIT_SECONDS = 0.0


def hash_erasures(connection: duckdb.DuckDBPyConnection) -> str:
    """Return a hash of which texts were erased from the open ledger, and which runs were retracted."""
    erased = connection.execute(
        "select run_id, prompt_id, trial, attempt from raw.erasures order by all"
    ).fetchall()
    retracted = connection.execute("select run_id from raw.retracted_runs order by all").fetchall()
    return tagged_hash(canonical_json([list(row) for row in [*erased, *retracted]]))


def erased_since_build(warehouse: Path, ledger: Path) -> bool:
    """Return whether texts were erased from the ledger, or runs retracted, that the warehouse may still hold words of.

    Raises:
        LedgerError: the ledger cannot be read.
        BiasledgerError: the warehouse cannot be read.
    """
    with Ledger(ledger).read() as connection:
        return _differs(warehouse, connection)


def erasure_warning(warehouse: Path, ledger: Path) -> str | None:
    """Return a sentence where a warehouse may hold words of erased texts; None where not, or where the ledger is not at hand."""
    try:
        with Ledger(ledger).read(wait_seconds=_WAIT_SECONDS) as connection:
            differs = _differs(warehouse, connection)
    except LedgerError:
        return None
    if not differs:
        return None
    return (
        f"answers were erased from {ledger}, or runs retracted, since {warehouse} was built, which may still hold their words: "
        "run `biasledger build`, then this again."
    )


def _differs(warehouse: Path, ledger: duckdb.DuckDBPyConnection) -> bool:
    (has_any,) = ledger.execute(
        "select exists (from raw.erasures) or exists (from raw.retracted_runs)"
    ).fetchall()[0]
    built = _built_without(warehouse)
    return hash_erasures(ledger) != built if built is not None else bool(has_any)


def _built_without(warehouse: Path) -> str | None:
    """Return the hash of what was erased before the build; None where it was not written down."""
    with connect_read_only(warehouse) as connection:
        written = connection.execute(
            "select 1 from duckdb_columns() where not internal and schema_name = 'publication' and table_name = 'build' "
            "and column_name = 'erasures_hash'"
        ).fetchall()
        if not written:
            return None
        ((found,),) = connection.execute("select erasures_hash from publication.build").fetchall()
    return None if found is None else str(found)
