"""Measures of decisions about people, and of whatever else two groups are compared in."""
