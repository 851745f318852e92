"""Measures of decisions about people, and of other outcomes that two groups are compared in."""
