"""Brings responses that already exist into the ledger."""
