"""The ledger: what was asked and answered, in DuckDB, and what erases, forgets and proves it."""
