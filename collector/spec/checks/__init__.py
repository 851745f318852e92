"""Checks of a spec beyond the types of its keys."""
