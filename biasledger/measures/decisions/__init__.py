"""Measures of decisions about people."""
