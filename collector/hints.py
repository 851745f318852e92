"""Suggestions for error sentences: the known name that is nearest to an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" for the nearest known name, "; known: 'a', 'b'" if none is near, or "" if none exist."""
    names = list(known)
    by_lower = {name.lower(): name for name in names}
    near = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {by_lower[near[0]]!r}?"
    return f"; known: {quoted(names)}" if names else ""


def quoted(names: Iterable[str]) -> str:
    """Return "'a', 'b', 'c'"; more than 20 names are cut with a count of the rest."""
    listed = list(names)
    shown = ", ".join(repr(name) for name in listed[:20])
    return shown if len(listed) <= 20 else f"{shown} and {len(listed) - 20} more"
