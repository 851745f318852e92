"""Compare figures computed twice, up to the last digits."""

from __future__ import annotations

import math
import re

# The same engine gives the same digits; another processor's linear algebra may round the last ones otherwise.
RELATIVE_ERROR = 1e-6
_ABSOLUTE_ERROR = 1e-12
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)")


def same_value(one: str, other: str) -> bool:
    """Return whether two cells hold the same text, or the same number."""
    if one == other:
        return True
    try:
        return math.isclose(float(one), float(other), rel_tol=RELATIVE_ERROR, abs_tol=_ABSOLUTE_ERROR)
    except ValueError:
        return False


def same_text(one: bytes, other: bytes) -> bool:
    """Return whether two texts in UTF-8 are the same but for the last digits of their numbers."""
    if one == other:
        return True
    try:
        first, second = (_NUMBER.split(content.decode()) for content in (one, other))
    except UnicodeDecodeError:
        return False
    return len(first) == len(second) and all(map(same_value, first, second))
