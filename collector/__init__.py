"""Asks a target, or reads answers that already exist, and writes prompts and responses into the ledger."""
