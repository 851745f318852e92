"""Cells of CSV files that spreadsheets open."""

from __future__ import annotations

# A spreadsheet takes a cell that begins with one of these for a formula, in full width, too.
FORMULA_STARTS = "=+-@\t\r\n＝＋－＠"


def inert(text: str) -> str:
    """Return the text as a cell, with a ' before what a spreadsheet would take for a formula."""
    return f"'{text}" if text.startswith(tuple(FORMULA_STARTS)) else text
