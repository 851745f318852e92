"""What the Python dbt models read: relations become arrays, and cached results are left out."""
