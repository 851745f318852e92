"""The verdict on a run, or part of it, from the statuses of its findings."""

from __future__ import annotations

from collections.abc import Iterable

# A run is as its gravest finding: it is clear only where everything is.
GRAVEST_FIRST = ("alarm", "inconclusive", "insufficient_data", "clear")
PLAIN = "plain"


def gravest(statuses: Iterable[str]) -> str:
    """The gravest of some statuses; without any it is insufficient_data."""
    found = set(statuses)
    return next((status for status in GRAVEST_FIRST if status in found), "insufficient_data")
