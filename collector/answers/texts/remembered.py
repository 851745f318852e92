"""A cache of results for short texts: keys and categories of items occur in answers again and again."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

Result = TypeVar("Result")

# Limits a function's cache to a few megabytes, whatever a target answers.
_MOST = 4_096
_LONGEST = 100


def remembered(function: Callable[[str], Result]) -> Callable[[str], Result]:
    """Return the function of a text, which is asked once for each of the short texts that came last."""
    known = lru_cache(maxsize=_MOST)(function)

    @wraps(function)
    def asked(text: str) -> Result:
        return known(text) if len(text) <= _LONGEST else function(text)

    return asked
