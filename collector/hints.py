"""Suggestions for error sentences: the known name that is nearest to an unknown one, and text from outside cut to a few words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

# Limits on the text that an error shows of one cell, and of a file's first line.
CELL_CHARACTERS = 60
FIRST_LINE_CHARACTERS = 120
# The form of a column's name. The first line of a file that is no table may be anything: a setting with its key, a token.
_COLUMN_NAME = re.compile(r"\w[\w .,?!'()\[\]/%&#+-]{0,59}")
_TOKEN = re.compile(r"(?=[A-Za-z_/+-]*[0-9])(?=[0-9_/+-]*[A-Za-z])[A-Za-z0-9_/+-]{20,}")


def did_you_mean(word: str, known: Iterable[str], most: int | None = None) -> str:
    """Return "; did you mean 'x'?" for the nearest known name, "; known: 'a', 'b'" if none is near, or "" if none exist.

    Args:
        word: the unknown name.
        known: the known ones.
        most: how many characters of them are listed; all of 20 names if not given.
    """
    names = list(known)
    by_lower = {name.lower(): name for name in names}
    near = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {shown(by_lower[near[0]])}?"
    return f"; known: {quoted(names, most)}" if names else ""


def ended(sentence: str) -> str:
    """Return a sentence with a stop at its end, unless it ends as a question does."""
    return sentence if sentence.endswith("?") else f"{sentence}."


def no_column(column: str, found: Iterable[str]) -> str:
    """Return the hint for a missing column: a column with a similar name, or the names that look like columns.

    The file may be no table. So what does not look like a column's name is not shown, and no more than a short excerpt is.
    """
    listed = list(found)
    names = [name for name in listed if is_column_name(name)]
    hint = did_you_mean(column, names, FIRST_LINE_CHARACTERS)
    n_others = len(listed) - len(names)
    if hint.endswith("?") or not n_others:
        return hint
    return f"{hint}; of {len(listed)} in its first line {n_others} {'looks' if n_others == 1 else 'look'} like no column's name"


def is_column_name(text: str) -> bool:
    """Return whether a text looks like a column's name, and not like a setting, an address, a path or a token."""
    return _COLUMN_NAME.fullmatch(text) is not None and _TOKEN.search(text) is None


def quoted(names: Iterable[str], most: int | None = None) -> str:
    """Return "'a', 'b', 'c'"; after 20 names, or `most` characters, it is cut with a count of the rest."""
    listed = list(names)
    parts: list[str] = []
    n_characters = 0
    for name in listed[:20]:
        part = shown(name)
        n_characters += len(part) + 2
        if parts and most is not None and n_characters > most:
            break
        parts.append(part)
    rest = len(listed) - len(parts)
    return f"{', '.join(parts)} and {rest} more" if rest else ", ".join(parts)


def shown(text: str) -> str:
    """Return a text in quotes, with unprintable characters escaped, cut after 60 characters."""
    if len(text) <= CELL_CHARACTERS:
        return repr(text)
    from collector.redaction import struck_out

    # Before the cut, which might leave half of a key.
    return repr(f"{struck_out(text)[: CELL_CHARACTERS - 1]}…")
