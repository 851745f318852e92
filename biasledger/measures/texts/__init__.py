"""Measures of answers beyond their words, a file a measure."""
