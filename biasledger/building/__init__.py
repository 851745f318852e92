"""From a ledger to a warehouse: the project folder, its settings, and one run of dbt."""

SAID = "\x1e"
"""Begins each line that dbt's process says itself, as in JSON text sequences (RFC 7464); models print the rest."""
