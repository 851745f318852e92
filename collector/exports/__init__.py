"""The ledger as files for other engines: Parquet or Delta Lake, a folder a table, and back."""
