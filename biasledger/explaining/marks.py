"""Words, items and markers found again in an answer, so that they can be shown marked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

# The side that a marked text belongs to: the finding's group (or the stereotype, or what was counted), or the other one.
Role = Literal["first", "second"]
Kind = Literal["word", "stem", "exact"]


@dataclass(frozen=True)
class Mark:
    """A text to look for. `kind`: a whole word or phrase, a stem with any ending, or exactly these characters anywhere."""

    text: str
    role: Role = "first"
    kind: Kind = "word"


@dataclass(frozen=True)
class Span:
    """A place in a text, from `start` up to before `end` in characters."""

    start: int
    end: int
    role: Role


def find_marks(text: str, marks: Iterable[Mark]) -> list[Span]:
    """Where marks stand in a text, in order and without overlaps; of two at one place the longer one counts.

    Capitals, kinds of apostrophe and amounts of white space make no difference.
    """
    pattern, roles = _pattern(tuple(dict.fromkeys(marks)))
    if pattern is None:
        return []
    spans = []
    for match in pattern.finditer(text):
        assert match.lastgroup is not None
        spans.append(Span(match.start(), match.end(), roles[match.lastgroup]))
    return spans


def _pattern(marks: tuple[Mark, ...]) -> tuple[re.Pattern[str] | None, dict[str, Role]]:
    parts, roles = [], {}
    for number, mark in enumerate(sorted(marks, key=lambda mark: (-len(mark.text), mark.text))):
        if not mark.text.strip():
            continue
        name = f"m{number}"
        parts.append(f"(?P<{name}>{_expression(mark)})")
        roles[name] = mark.role
    return (re.compile("|".join(parts), re.IGNORECASE) if parts else None), roles


def _expression(mark: Mark) -> str:
    words = mark.text.split()
    text = r"\s+".join(re.escape(word).replace("'", "['’]") for word in words)
    if mark.kind == "exact":
        return text
    # Hyphens and apostrophes belong to words: "self" does not stand in "self-made".
    before = r"(?<![\w])(?<![\w]['’-])"
    after = r"\w*" if mark.kind == "stem" else r"(?![\w])(?!['’-]\w)"
    return f"{before}{text}{after}"
