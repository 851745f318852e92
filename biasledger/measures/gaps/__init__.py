"""Gaps of two groups in any outcome: what moves, clusters, tests and intervals, for all methods."""
