"""The same models on Apache Spark: their SQL is translated, and what they make is handed back to DuckDB."""
