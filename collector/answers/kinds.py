"""What kind of answers texts look like, for whoever does not say it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

# So many of the answers have to look alike; the others may be refusals, or cut off.
MOST = 0.8
MAX_LABELS = 12
MAX_LABEL_CHARACTERS = 40
MAX_LABEL_WORDS = 3


def kind_of_answers(texts: Sequence[str]) -> str:
    """Return the kind that answers look like: json_object, list, score, label, or text where they look like nothing else.

    Args:
        texts: answers as they were written; empty ones say nothing.
    """
    filled = [text.strip() for text in texts if text.strip()]
    if not filled:
        return "text"
    looks = Counter(map(_look, filled))
    for kind in ("json_object", "list", "score"):
        if looks[kind] >= MOST * len(filled):
            return kind
    labels = {text.casefold() for text in filled}
    is_short = all(len(one) <= MAX_LABEL_CHARACTERS and len(one.split()) <= MAX_LABEL_WORDS for one in labels)
    if is_short and 2 <= len(labels) <= MAX_LABELS and len(filled) >= 2 * len(labels):
        return "label"
    return "text"


def _look(text: str) -> str | None:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        return "json_object"
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return "list"
    return "score" if isinstance(value, int | float) and not isinstance(value, bool) else None
