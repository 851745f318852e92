"""Tools for reading texts: their plain form, JSON in them, and the words of each language."""
