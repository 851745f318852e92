"""Regular expressions as DuckDB reads them (RE2), written so that Java's give the same."""

from __future__ import annotations

_WORD = "[0-9A-Za-z_]"
_BORDER = f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))"
# Java's \s holds the vertical tab and its \S does not, its \b follows Unicode, its $ matches before a last line break, its . at
# none of six.
_OUTSIDE = {r"\s": r"[\t\n\f\r ]", r"\S": r"[^\t\n\f\r ]", r"\b": _BORDER}
_IN_CLASS = {r"\s": r"\t\n\f\r ", r"\S": r"\x00-\x08\x0b\x0e-\x1f!-\x{10ffff}"}
_PLAIN = {"$": r"\z", ".": r"[^\n]"}


def java_pattern(pattern: str) -> str:
    """Return the same pattern for Java; inside of a class, `[` and `&&` are letters in RE2 and operators in Java."""
    written, is_class, place = [], False, 0
    while place < len(pattern):
        one, two = pattern[place], pattern[place : place + 2]
        place += 1
        if one == "\\":
            written.append((_IN_CLASS if is_class else _OUTSIDE).get(two, two))
            place += 1
        elif is_class:
            is_class = one != "]"
            written.append({"[": r"\[", "&": r"\&"}.get(one, one))
        else:
            is_class = one == "["
            written.append(_PLAIN.get(one, one))
    return "".join(written)
