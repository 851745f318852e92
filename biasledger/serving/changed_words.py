"""Two texts side by side, with what only one of them says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

# Words, runs of white space, and every other character by itself.
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
# In each text; finding the changes takes time by the product of both.
TOKENS_AT_MOST = 3_000


@dataclass(frozen=True)
class Part:
    """A part of a text, and whether the other one lacks it."""

    text: str
    is_changed: bool


def changed(one: str, other: str) -> tuple[Sequence[Part], Sequence[Part]] | None:
    """Both texts in parts, changed words apart from those that both have in the same order; None where they are too long."""
    tokens, others = _TOKEN.findall(one), _TOKEN.findall(other)
    if max(len(tokens), len(others)) > TOKENS_AT_MOST:
        return None
    codes = SequenceMatcher(None, tokens, others, autojunk=False).get_opcodes()
    return (
        _parts(tokens, [(kind, start, end) for kind, start, end, _, _ in codes]),
        _parts(others, [(kind, start, end) for kind, _, _, start, end in codes]),
    )


def _parts(tokens: Sequence[str], codes: Sequence[tuple[str, int, int]]) -> list[Part]:
    """A text by what was found of each stretch of it; the space between two changed words is changed, too."""
    parts: list[Part] = []
    for kind, start, end in codes:
        text = "".join(tokens[start:end])
        if not text:
            continue
        is_changed = kind != "equal" and not text.isspace()
        if is_changed and len(parts) > 1 and parts[-1].text == " " and parts[-2].is_changed:
            text = parts.pop(-2).text + parts.pop().text + text
        parts.append(Part(text, is_changed))
    return parts
