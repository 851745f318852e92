"""The declaration of a measure: what its value means, from which threshold it is an alarm, and how it is put in words.

Each module of this package declares its measures in `MEASURES`, next to the functions that compute them.
`biasledger/measure_seeds.py` writes the seeds from these.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import Literal

Side = Literal["upper", "lower", "two-sided"]


@dataclass(frozen=True)
class Threshold:
    """From which value a significant finding is an alarm.

    Args:
        value: on the measure's scale.
        reason: why this value; source: where it comes from.
        min_units: units that each group needs.
        severity: error can fail the audit, warn gives a warning, none is shown only.
        clear: value that the interval must not reach for a clear finding; `value` by default.
        published: threshold of the published rule, if there is one.
        crossed: why intersections of attributes have the same threshold and only warn; empty where they have no row of their own.
    """

    value: float
    reason: str
    source: str
    min_units: int
    severity: Literal["error", "warn", "none"]
    clear: float | None = None
    published: float | None = None
    crossed: str = ""


@dataclass(frozen=True)
class Tolerance:
    """How much worse than the baseline a value may get, on the measure's scale, with the reason."""

    value: float
    reason: str


@dataclass(frozen=True, kw_only=True)
class Measure:
    """The description of a measure.

    Args:
        name: its key in all tables.
        description: its meaning in one sentence.
        scale: scale of the value and the threshold; bounds: its least and its greatest value, None for an end that it lacks.
        side: the worse side of the threshold. A finding is cleared by the end of its interval on that side: for two-sided, by the
            end farther from 0.
        unit: the permuted unit, which a finding counts.
        threshold: from which value a finding is an alarm.
        label: what the value is, for sentences: "the gap in prices".
        past: a difference past the threshold, in words, with {limit} for the threshold as people read it.
        statement: what a finding of a text measure states (`biasledger.measures.texts.outcomes`).
        display: the factor and the unit that people read a value in, as (100, " %").
        no_difference: the value of no difference; None where there is none, or no interval.
        clear_scale: scale of the interval and of the threshold that clear a finding, if not the value's own.
        is_at_equal_sizes: whether runs are compared at equal sizes, as the value depends on the number of answers.
        harmful_sign: the sign of a value with which the group comes off worse than its reference; 0 for a measure that shows a
            difference and not who is worse off.
        tolerance: how much worse than the baseline it may get, if not as much as any other measure.
        is_read_as_percent: whether people read the value, a difference of natural logarithms, as so many per cent more or less.
        only_where_found: whether two groups get no finding unless most answers about each have what it measures.
        restates: measures of the same answers that it says again in another form: it is tested only once one of them, of the same
            groups, is rejected.
    """

    name: str
    description: str
    scale: str
    side: Side
    unit: str
    threshold: Threshold
    label: str
    bounds: tuple[float | None, float | None] = (None, None)
    past: str = "a difference of {limit} or more"
    statement: str = ""
    display: tuple[float, str] = (1, "")
    no_difference: float | None = 0
    clear_scale: str = ""
    is_at_equal_sizes: bool = False
    harmful_sign: Literal[-1, 0, 1] = 0
    tolerance: Tolerance | None = None
    is_read_as_percent: bool = False
    only_where_found: bool = False
    restates: tuple[str, ...] = ()


@cache
def declared(method: str) -> tuple[Measure, ...]:
    """Return a method's measures, in the order of their names: those of its module of this package, or of the modules of its
    package.

    Raises:
        ValueError: two measures have one name.
    """
    parent = importlib.import_module(f"{__package__}.{method}")
    names = [info.name for info in pkgutil.iter_modules(getattr(parent, "__path__", ()))]
    modules = [parent, *(importlib.import_module(f"{parent.__name__}.{name}") for name in names)]
    found = {one.name: one for module in modules for one in getattr(module, "MEASURES", ())}
    if len(found) < sum(len(getattr(module, "MEASURES", ())) for module in modules):
        raise ValueError(f"Two measures of {method} have one name: rename one.")
    return tuple(found[name] for name in sorted(found))
