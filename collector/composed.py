"""Text in one Unicode form, so that "türkisch" typed on a Mac and on Windows is the same word."""

from __future__ import annotations

import unicodedata
from typing import Any


def composed(text: str) -> str:
    """Return a text in the composed form (NFC): "ü" as one character, and not as "u" with a combining mark."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def composed_document(value: Any) -> Any:
    """Return plain data, such as a YAML document, with all of its keys and texts composed.

    Raises:
        ValueError: two keys of a mapping are one once they are composed; the message names them.
    """
    if isinstance(value, str):
        return composed(value)
    if isinstance(value, dict):
        found = {composed_document(key): composed_document(inner) for key, inner in value.items()}
        if len(found) < len(value):
            keys = [composed_document(key) for key in value]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise ValueError(f"the key {twice!r} is given twice, in two forms of Unicode")
        return found
    if isinstance(value, list):
        return [composed_document(inner) for inner in value]
    return value
