"""The inputs of the Python dbt models: relations become arrays."""
