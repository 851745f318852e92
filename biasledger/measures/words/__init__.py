"""Measures of words."""
