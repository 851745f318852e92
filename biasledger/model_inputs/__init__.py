"""The inputs of the Python dbt models: relations become arrays, and cached results are left out."""
