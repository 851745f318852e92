"""Measures of recommended items: their prices and their categories."""
