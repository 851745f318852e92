"""The regular expression with which an audit finds decisions."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from collector.answers.decisions.decision import Decision

_MOST_SHOWN = 5


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


def by_pattern(text: str, pattern: str, read: Callable[[str], Decision]) -> Decision | None:
    """Return the decision that an audit's pattern finds, or the problem; None without a match.

    Args:
        text: the reply.
        pattern: the audit's pattern.
        read: reads what the pattern finds; its problem is a sentence.
    """
    matches = [found for found in compiled_pattern(pattern).finditer(text) if found[1] is not None]
    if not matches:
        return None
    decisions = [read(found[1]) for found in matches]
    if len({decision.value for decision in decisions}) > 1:
        said = ", ".join(repr(found[1]) for found in matches[:_MOST_SHOWN])
        return Decision(problem=f"The audit's pattern finds different decisions: {said}.")
    if decisions[0].value is None:
        return Decision(problem=f"The audit's pattern finds {matches[0][1]!r}. {decisions[0].problem}")
    return Decision(decisions[0].value, is_certain=True, read_by="pattern", read_text=matches[0][0])
