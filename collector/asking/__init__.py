"""Asking a target: at its pace, within the budget, in threads or batches, and so that what was paid for is kept."""
