"""Files of rows, one reader for each format: tables (CSV, TSV, JSON Lines, Parquet) and logs of other tools."""
