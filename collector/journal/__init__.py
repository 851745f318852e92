"""The journal: every answer as a line of a file, chained to the one before, before the ledger has it."""
