"""Reads the published tables: an analyst's own SQL, the shipped analyses, and both in other warehouses' dialects."""
