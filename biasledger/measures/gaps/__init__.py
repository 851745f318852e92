"""Gaps of two groups in any outcome, for all methods: units, clusters, tests and intervals."""
