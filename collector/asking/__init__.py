"""Ask a target at its pace, within the budget, in threads or batches, and keep every paid answer."""
