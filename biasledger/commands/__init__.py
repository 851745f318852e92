"""The commands of `biasledger`, one module for each part of `biasledger --help`.

A module imports what is heavy (DuckDB, pandas, pydantic, rich) inside its commands, so that `--help` answers at once.
"""
