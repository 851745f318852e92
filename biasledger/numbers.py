"""How counts, values, intervals and p are written wherever people read them: report, explorer, terminal and notebook."""

from __future__ import annotations

import math

NOTHING = 1e-12  # what is left where equal numbers were subtracted
_SMALLEST_P = 1e-6
AXES = {"decimal": ".", "thousands": ",", "grouping": [3], "currency": ["", ""], "percent": " %"}
"""How the axes of charts write numbers (a locale of d3-format): a share as `percent` does."""


def number(value: float | None) -> str:
    """Three significant digits; – where there is none."""
    if value is None:
        return "–"
    value = float(value)
    if abs(value) < NOTHING:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}".replace("e-0", "e-")


def count(n: int, noun: str, plural: str = "") -> str:
    """`1 alarm`, `1,200 alarms`; `plural` where it does not end in s."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def interval(low: float | None, high: float | None) -> str:
    """`0.1 to 0.3`; – where an end is missing."""
    return "–" if low is None or high is None else f"{number(low)} to {number(high)}"


def bounds(lowest: float | None, highest: float | None) -> str:
    """The bounds of a scale, to be written after its name: ` (0 to 1)`; empty where there are none."""
    if lowest is None and highest is None:
        return ""
    if lowest is None or highest is None:
        return f" (at most {number(highest)})" if lowest is None else f" (at least {number(lowest)})"
    return f" ({interval(lowest, highest)})"


def percent(share: float, digits: int = 0, *, has_sign: bool = False) -> str:
    """A share as `12 %`, with so many digits behind the point, as the report's numbers and axes are written."""
    return f"{100 * share:{'+' if has_sign else ''}.{digits}f} %"


def probability(p_value: float | None) -> str:
    """Two significant digits, rounded up, of 1e-06 at least: chance must not look rarer than it is.

    The macro `rounded_p` does the same.
    """
    if p_value is None:
        return "–"
    p_value = max(float(p_value), _SMALLEST_P)
    step = 10.0 ** (math.floor(math.log10(p_value)) - 1)
    return f"{math.ceil(p_value / step * (1 - 1e-12)) * step:.2g}"
