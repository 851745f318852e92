"""The regular expression with which an audit finds decisions."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=64)
def compiled_pattern(pattern: str) -> re.Pattern[str]:
    """Return an audit's pattern, which ignores case.

    Raises:
        ValueError: it is no regular expression, or has not exactly one capture group.
    """
    try:
        compiled = re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}.") from None
    if compiled.groups != 1:
        raise ValueError(
            f"{pattern!r} has {compiled.groups} capture groups; put what is to be read, and nothing else, in one pair of "
            f"parentheses, and write (?:…) for others."
        )
    return compiled


def pattern_matches(text: str, pattern: str) -> list[re.Match[str]]:
    """Return the matches of an audit's pattern in which its group takes part."""
    return [found for found in compiled_pattern(pattern).finditer(text) if found[1] is not None]
