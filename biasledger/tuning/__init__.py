"""Thresholds of single outputs, found from labels and written into a project."""
