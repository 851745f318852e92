"""Pure functions on arrays; they know nothing of dbt, DuckDB or files."""
