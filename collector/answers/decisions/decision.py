"""What a reply decides, and how numbers of decisions are written."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Decision:
    """What a reply decides.

    Attributes:
        value: the label as it is listed, or the number as `written_number` writes it; None if no rule reads one.
        problem: one sentence that says why there is no value.
        is_certain: True if an explicit rule read it. Otherwise a refusal pattern that matches goes first.
        read_by: the name of the rule that read the value.
        read_text: the part of the reply that the rule read.
    """

    value: str | None = None
    problem: str | None = None
    is_certain: bool = False
    read_by: str | None = None
    read_text: str | None = None


def written_number(number: Decimal) -> str:
    """Return a number without exponent and superfluous zeros."""
    return f"{number.normalize():f}" if number else "0"
