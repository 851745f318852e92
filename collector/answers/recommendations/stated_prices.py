"""Find a price in a line, with its bracket, its emphasis and the separators around it."""

from __future__ import annotations

from dataclasses import dataclass

SEPARATORS = " \t-–—:|,;•·：，；、"
_MARKS = ("**", "__", "*", "_", "`")
_MAX_BRACKET = 80


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of money; the currency is a code, or a sign that several currencies have, None where it is not stated."""

    value: float
    currency: str | None = None


# A price level, or an amount of money.
Price = int | Amount


@dataclass(frozen=True, slots=True)
class StatedPrice:
    """A price in a line: where it and the bracket around it begin and end; None where it is a range or no such level."""

    start: int
    end: int
    price: Price | None


def with_surroundings(line: str, price: StatedPrice) -> tuple[int, int]:
    """Return where a price begins and ends with the separators, and the emphasis of its own, around it."""
    start, end = _between_separators(line, price.start, price.end)
    for mark in _MARKS:
        inner = start - len(mark)
        if (
            line.endswith(mark, 0, start)
            and line.startswith(mark, end)
            and (inner <= 0 or line[inner - 1] in SEPARATORS)
        ):
            return _between_separators(line, inner, end + len(mark))
    return start, end


def _between_separators(line: str, start: int, end: int) -> tuple[int, int]:
    while start > 0 and line[start - 1] in SEPARATORS:
        start -= 1
    while end < len(line) and line[end] in SEPARATORS:
        end += 1
    return start, end


def with_bracket(line: str, start: int, end: int) -> tuple[int, int]:
    """Return start and end of the bracket around a price, with its other content, or start and end of the price."""
    for opening, closing in (("(", ")"), ("[", "]")):
        left = line.rfind(opening, max(0, start - _MAX_BRACKET), start)
        right = line.find(closing, end, end + _MAX_BRACKET)
        if (
            left >= 0
            and right >= 0
            and not {opening, closing} & set(line[left + 1 : start] + line[end:right])
        ):
            return left, right + 1
    return start, end
