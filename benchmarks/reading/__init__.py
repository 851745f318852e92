"""Shapes of answers, and how many of them are read right."""
