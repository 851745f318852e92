"""The same models on Apache Spark: their SQL is translated, and the results are written back to DuckDB."""
