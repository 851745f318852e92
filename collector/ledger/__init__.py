"""The ledger: what was asked and answered, in DuckDB, and what erases, retracts and proves it."""
