"""Decisions in replies: one of several labels, or a number on a scale.

A reply may say more than the decision. What stands alone in its first line, or opens it, is the decision; elsewhere it counts
only if the reply names no other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from collector.hints import quoted

# Emphasis, quotes, headings and brackets around a decision say nothing.
_MARKUP = re.compile(r"[*_`\"“”‘’#>\[\](){}]+")
# What may stand before the decision in its line: "Seniority level:".
_PREFIX = re.compile(r"[^:\n]{1,80}:\s*")
# Neither a part of a word (GPT-4, B2B, 10-year) nor of another number.
_NUMBER = re.compile(
    r"(?<![\w.,])(?<![^\W\d_]-)[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)(?!\w|-?[^\W\d_]|[.,]\d)"
)
_OUT_OF = re.compile(r"\s*(?:/|out of|of)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Decision:
    """What a reply decides: `value` as it is kept, or None and the `problem`.

    `is_certain` says that it stands alone or opens the reply, so that nothing else in the reply can be meant.
    """

    value: str | None = None
    problem: str | None = None
    is_certain: bool = False
    read_by: str | None = None
    read_text: str | None = None


def read_label(text: str, labels: Sequence[str]) -> Decision:
    """Find the label that a reply decides for.

    Args:
        text: the reply.
        labels: those to choose from; case does not matter, and a longer one goes before one that it holds.

    Returns:
        The label as it is listed. A hyphen is a word's boundary (mid-level says mid); within a word there is no label (seniority
        does not say senior).
    """
    patterns = _label_patterns(tuple(labels))
    listed = {_folded(label): label for label in labels}
    distinct = list(dict.fromkeys(listed[_folded(found)] for found in patterns.anywhere.findall(text)))
    if not distinct:
        return Decision(problem=f"The answer names none of the labels {quoted(labels)}.")
    line = _first_line(text)
    opening = patterns.alone.fullmatch(_PREFIX.sub("", line, count=1)) or patterns.opening.match(line)
    if opening is not None:
        return Decision(listed[_folded(opening["label"])], is_certain=True)
    if len(distinct) > 1:
        return Decision(problem=f"The answer names {len(distinct)} labels: {', '.join(distinct)}.")
    for found in patterns.anywhere.finditer(text):
        if negation := _NEGATION.search(text[max(0, found.start() - _NEGATION_REACH) : found.start()]):
            return Decision(problem=f"The answer says {negation['word']!r} before {distinct[0]!r}.")
    return Decision(distinct[0])


def read_score(text: str, minimum: float, maximum: float) -> Decision:
    """Find the number that a reply decides for.

    Args:
        text: the reply; "7/10" and "7 out of 10" say 7 where 10 is the maximum.
        minimum, maximum: the scale, both included.

    Returns:
        The number without superfluous zeros.
    """
    line = _first_line(text)
    found, is_certain = _lone_number(_PREFIX.sub("", line, count=1), maximum), True
    if not found:
        found, is_certain = _numbers(text, maximum)[0], False
    distinct = [written_number(number) for number in dict.fromkeys(found)]
    if not distinct:
        return Decision(problem="The answer holds no number.")
    if len(distinct) > 1:
        shown = ", ".join(distinct[:5]) + (", …" if len(distinct) > 5 else "")
        return Decision(problem=f"The answer holds {len(distinct)} different numbers: {shown}.")
    if not minimum <= found[0] <= maximum:
        return Decision(problem=f"The score {distinct[0]} is outside {minimum:g} to {maximum:g}.")
    return Decision(distinct[0], is_certain=is_certain)


def written_number(number: Decimal) -> str:
    """Return a number without exponent and superfluous zeros."""
    return f"{number.normalize():f}" if number else "0"


# "The candidate is not senior" names senior alone and decides for something else.
_NEGATION_REACH = 40
_NEGATION = re.compile(
    r"(?P<word>\b(?:not|never|neither|nor|cannot|unable|hardly|no)\b|\w+n['’]t\b)[^.,;:!?\n]*$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _LabelPatterns:
    anywhere: re.Pattern[str]
    alone: re.Pattern[str]
    opening: re.Pattern[str]


@lru_cache(maxsize=16)
def _label_patterns(labels: tuple[str, ...]) -> _LabelPatterns:
    longest_first = sorted(labels, key=lambda label: (-len(label), label))
    listed = "|".join(r"\s+".join(map(re.escape, label.split())) for label in longest_first)
    # Numbers may be labels; 1 does not stand in 1.5.
    label = rf"(?<![^\W_])(?<!\d[.,])(?:{listed})(?![^\W_])(?![.,]\d)"
    # "Yes, because …" decides, "junior, mid or senior" lists the choice.
    goes_on = rf"(?:[.!]?\s*$|[.!]\s|[,;]\s+(?!(?:(?:or|and)\s+)?{label})|\s+[-–—]\s)"
    return _LabelPatterns(
        anywhere=re.compile(label, re.IGNORECASE),
        alone=re.compile(rf"\W*(?P<label>{label})\W*", re.IGNORECASE),
        opening=re.compile(rf"\W*(?P<label>{label}){goes_on}", re.IGNORECASE),
    )


def _folded(label: str) -> str:
    return " ".join(label.casefold().split())


def _first_line(text: str) -> str:
    """Return the first line that holds letters or digits, without markup."""
    lines = (_MARKUP.sub("", line).strip() for line in text.splitlines())
    return next((line for line in lines if re.search(r"[^\W_]", line)), "")


def _lone_number(line: str, maximum: float) -> list[Decimal]:
    numbers, rest = _numbers(line, maximum)
    return numbers if len(numbers) == 1 and not re.search(r"\w", rest) else []


def _numbers(text: str, maximum: float) -> tuple[list[Decimal], str]:
    """Return the numbers of a text, without the maximum that one is said to be out of, and the text without them."""
    text = text.replace("\N{MINUS SIGN}", "-")
    numbers: list[Decimal] = []
    rest, position = "", 0
    for found in _NUMBER.finditer(text):
        number = _decimal(found[0])
        between = text[position : found.start()]
        if numbers and number == maximum and _OUT_OF.fullmatch(between):
            between = ""
        else:
            numbers.append(number)
        rest += between
        position = found.end()
    return numbers, rest + text[position:]


def _decimal(written: str) -> Decimal:
    has_thousands = re.fullmatch(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?", written)
    return Decimal(written.replace(",", "" if has_thousands else "."))
