"""Make text storable in a database and a journal."""

from __future__ import annotations

import re

# Characters that DuckDB's readers, other databases or UTF-8 cannot store: NUL and half a surrogate pair.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def storable(text: str) -> str:
    """Return the text with every NUL and lone surrogate replaced by U+FFFD; all other text is returned unchanged."""
    try:
        # Nearly every text passes these two checks, which are much quicker than a search by pattern.
        text.encode("utf-8")
        if "\x00" not in text:
            return text
    except UnicodeEncodeError:
        pass
    return _UNSTORABLE.sub(_REPLACEMENT, text)
