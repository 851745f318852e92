"""Read which number a reply decides for: a score on a scale, a named point of a scale, or an amount of money.

The rules are tried in the order of labels.py: JSON, the audit's own pattern, an announcement such as "Score: 8", the last line,
the first line, the number that opens the reply, the only number that can be the score.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Literal

from collector.answers.decisions.amounts import find_amounts
from collector.answers.decisions.decision import Decision, written_number
from collector.answers.decisions.json_decisions import (
    Leaf,
    json_decision,
    prose_around_json,
    prose_behind_json,
)
from collector.answers.decisions.json_units import JsonUnits
from collector.answers.decisions.mentions import compiled_labels, plain_key
from collector.answers.decisions.own_pattern import by_pattern
from collector.answers.decisions.prose_labels import read_in_prose
from collector.answers.decisions.prose_scores import number_in_prose
from collector.answers.decisions.score_candidates import Scale
from collector.answers.texts.amount_words import amount_words
from collector.answers.texts.announcements import is_revised
from collector.answers.texts.plain import Reply
from collector.answers.texts.separators import Separator

Period = Literal["month", "year"]
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
_NEAR = 12


def read_score(
    text: str,
    minimum: float,
    maximum: float,
    *,
    key: str | None = None,
    pattern: str | None = None,
    rescale: bool = False,
    points: Mapping[str, float] | None = None,
    decimal: Separator | None = None,
    currency: str | None = None,
    per: Period | None = None,
) -> Decision:
    """Read the number that a reply decides for.

    Args:
        text: the reply.
        minimum, maximum: the scale, both included.
        key: the key of a JSON object that holds the decision, dotted where objects are nested.
        pattern: a regular expression with exactly one capture group, which finds the decision.
        rescale: whether a number on another scale that the reply states ("10/10" where 100 is the maximum) is converted.
        points: the numbers of a scale's named points; a reply may name the point instead of its number, or both.
        decimal: the decimal separator of the whole column (`decimal_of`), if it is known.
        currency: the code of the currency that amounts are in; an amount in another one is unread.
        per: the period that amounts are for.

    Returns:
        The number as `written_number` writes it, or the problem. `read_by` is "range" for the middle of a range and "points" for
        a named point.

    Raises:
        ValueError: the pattern is no regular expression, or has not exactly one capture group.
    """
    scale = Scale(Decimal(str(minimum)), Decimal(str(maximum)), rescale, decimal, currency, per)
    units = JsonUnits(scale)
    found = json_decision(
        text,
        key,
        lambda leaf, is_key: _json_value(leaf, scale, points, units, is_key=is_key),
        f"no number from {scale.bounds}",
        units.is_other,
    )
    is_declared = found is not None and found.rule == "json_key"
    if (
        pattern is not None
        and not is_declared
        and (decision := by_pattern(text, pattern, lambda part: _read_prose(part, scale, points)))
    ):
        return decision
    if found is not None and found.decision.value is not None:
        return _uncontradicted(text, found.decision, scale, points)
    if found is not None:
        return Decision(problem=units.problems[0]) if units.problems else found.decision
    if not units.problems:
        return _read_prose(text, scale, points)
    decision = _read_prose(prose_around_json(text), scale, points)
    return decision if decision.value is not None else Decision(problem=units.problems[0])


# -- JSON and the audit's pattern -------------------------------------------------------------------------------------


def _json_value(
    leaf: Leaf, scale: Scale, points: Mapping[str, float] | None, units: JsonUnits, *, is_key: bool
) -> str | None:
    if leaf.text is None or leaf.is_boolean:
        return None
    if problem := units.problem_of(leaf):
        units.problems.append(problem)
        return None
    if _NUMBER.fullmatch(leaf.text) and (top := units.top_of(leaf)) is not None:
        decision = _read_prose(f"{leaf.text}/{written_number(top)}", scale, points)
        units.problems += [decision.problem] if decision.problem else []
        return decision.value
    if leaf.is_number:
        try:
            number = Decimal(leaf.text)
        except InvalidOperation:
            return None
        is_on_scale = number.is_finite() and scale.minimum <= number <= scale.maximum
        return written_number(number) if is_on_scale else None
    decision = _read_prose(leaf.text, scale, points)
    if is_key or decision.read_by in ("last_line", "first_line", "points", "range"):
        return decision.value
    return None


def _uncontradicted(text: str, found: Decision, scale: Scale, points: Mapping[str, float] | None) -> Decision:
    """Return the number of a reply's JSON, or the problem if the reply states another one behind it."""
    behind = prose_behind_json(text)
    stated = _read_prose(behind, scale, points) if re.search(r"\d", behind) else Decision()
    is_stated = stated.is_certain and stated.read_by in ("marker", "last_line", "first_line", "range")
    if is_stated and stated.value not in (None, found.value):
        return Decision(
            problem=f"The answer's JSON says {found.value}, and what follows says {stated.read_text!r}."
        )
    low = Reply(behind).low
    if is_revised(low, 0, len(low)) and any(
        written_number(value) != found.value
        for amount in find_amounts(low)
        if not amount.has_unit
        for value in amount.readings
    ):
        return Decision(problem=f"The answer's JSON says {found.value}, and what follows takes it back.")
    return found


# -- Numbers and named points ----------------------------------------------------------------------------------------


def _read_prose(text: str, scale: Scale, points: Mapping[str, float] | None) -> Decision:
    reply = Reply(text)
    number = number_in_prose(reply, scale)
    return number if not points else _with_points(reply, number, scale, points)


def _with_points(reply: Reply, number: Decision, scale: Scale, points: Mapping[str, float]) -> Decision:
    """Return the decision of a number and of a named point, which may contradict each other."""
    named = _named_point(reply, points)
    if named.value is None:
        return number
    value = Decimal(str(points[named.value]))
    if not scale.minimum <= value <= scale.maximum:
        return Decision(
            problem=f"The point {named.value!r} is {written_number(value)}, outside {scale.bounds}."
        )
    point = replace(named, value=written_number(value), read_by="points")
    if number.value is None:
        # A point is named in words, so another number in the reply may be anything.
        return point if named.is_certain or not find_amounts(reply.low) else number
    if Decimal(number.value) == value:
        return number if number.is_certain or not named.is_certain else point
    if number.is_certain and not named.is_certain and not _are_near(reply, number, named):
        return number
    return Decision(
        problem=f"The answer says {number.value} and {named.value!r}, which is {written_number(value)}."
    )


def _named_point(reply: Reply, points: Mapping[str, float]) -> Decision:
    """Return the point of a scale that a reply names."""
    labels = compiled_labels(tuple(points), ())
    low = re.sub(r"^\W*\d+(?:\.\d+)?\s*[-–—:=.)(]+\s*", "", reply.text)
    decision = read_in_prose(low, labels)
    if decision.value is None or decision.read_text is None:
        return decision
    start = plain_key(low).find(plain_key(decision.value))
    before = plain_key(low)[:start].rstrip()
    if amount_words().qualifiers.ending(before) is not None and start > 0:
        return Decision(problem=f"The answer qualifies {decision.value!r}.")
    return decision


def _are_near(reply: Reply, number: Decision, named: Decision) -> bool:
    text = reply.text
    at = text.find(number.read_text or "\0")
    place = plain_key(text).find(plain_key(named.value or ""))
    return at < 0 or place < 0 or abs(place - at - len(number.read_text or "")) <= _NEAR
