"""Pure functions on arrays, without dbt, DuckDB or files."""
