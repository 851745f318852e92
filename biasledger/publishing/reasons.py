"""Short reasons why a file could not be written, taken out of DuckDB's messages, some of which are JSON."""

from __future__ import annotations

import errno
import os

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def reason_of(error: Exception) -> str:
    """Return why something could not be written: a full disk in the system's words, anything else in the error's first line."""
    text = (error.strerror or str(error)) if isinstance(error, OSError) else str(error).splitlines()[0]
    for code in _NO_ROOM:
        if os.strerror(code) in text:
            return f"{os.strerror(code)}; make space there and try again"
    return text
