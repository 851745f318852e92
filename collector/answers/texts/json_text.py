"""JSON inside replies: fenced, after prose, with trailing commas or raw line breaks, or cut off.

Nothing is evaluated and nothing inside a string is touched. Every scan is linear in the reply's length.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, TypeVar

# How a JSON answer opens; other brackets belong to the prose around it.
_OPENING = re.compile(r'\{\s*["},]|\[\s*[{\]]')
# The same, with lists of strings.
_OPENING_OF_ITEMS = re.compile(r'\{\s*["}]|\[\s*["{\[\]]')
# A string that is never closed is one token that runs to the end, so that scanning stays linear.
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)'
_STRUCTURE = re.compile(_STRING + r"|[\[\]{},]", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*[\]}}])", re.DOTALL)
TOO_DEEP = "The JSON is nested too deeply."
CLOSING = {"[": "]", "{": "}"}
Keys = TypeVar("Keys")


class JsonObject(tuple[tuple[str, Any], ...]):
    """A JSON object as its (key, value) pairs: a key given twice keeps both values."""

    __slots__ = ()


class JsonNumber(str):
    """A JSON number as it was written."""

    __slots__ = ()


def json_leaves(
    value: JsonObject | list[Any], top: Keys, under: Callable[[Keys, str], Keys]
) -> Iterator[tuple[Keys, Any]]:
    """Yield the values of JSON that are neither object nor list, in order, each with what the caller keeps of its keys.

    Args:
        value: the JSON.
        top: what is kept for a value under no key.
        under: returns what is kept for the value of a key, from what is kept for the object that has the key, and the key. It is
            called once for each key, however many values are nested under it.
    """
    stack: list[tuple[Keys, Any]] = [(top, value)]
    while stack:
        keys, one = stack.pop()
        if isinstance(one, JsonObject):
            stack += [(under(keys, key), inner) for key, inner in reversed(one)]
        elif isinstance(one, list):
            stack += [(keys, inner) for inner in reversed(one)]
        else:
            yield keys, one


def json_value(text: str) -> Any:
    """Return the value of a text that is JSON as a whole, None if it is not."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def extract_json(text: str) -> tuple[JsonObject | list[Any] | None, str, bool]:
    """Find the JSON answer in a reply: an object, or a list of objects, that is not empty.

    Args:
        text: the reply, with or without fences, prose around the JSON, trailing commas and raw line breaks in strings.

    Returns:
        The value, or None with a sentence that says what was found instead; and whether a bracket was left open, of which there
        may be no sentence.
        Numbers stay as they were written.
    """
    value, problem = _answer(text.strip())
    if value is not None:
        return value, "", False
    opening = _OPENING.search(text)
    while opening is not None:
        end, _ = _matching_end(text, opening.start())
        if end is None:
            return None, problem, True
        value, why = _answer(text[opening.start() : end])
        if value is not None:
            return value, "", False
        problem = problem or why
        # A value inside a broken object is a part of the answer, not the answer, so the search continues after it.
        opening = _OPENING.search(text, end)
    return None, problem or "The answer holds no JSON object.", False


def json_values(text: str) -> tuple[tuple[JsonObject | list[Any], bool], ...]:
    """Return every JSON object and list of a reply, in order, and whether it was left open.

    If a value is left open, its complete parts are kept; nothing follows it. The result is cached: callers read the values
    and never change them.
    """
    return tuple((value, is_open) for value, is_open, _, _ in _places(text))


def json_places(text: str) -> Iterator[tuple[JsonObject | list[Any], int, int]]:
    """Yield the JSON objects of a reply, and its lists of them, with where they start and end."""
    for value, _, start, end in _places(text):
        if isinstance(value, JsonObject) or any(isinstance(one, JsonObject) for one in value):
            yield value, start, end


# An answer is asked for its JSON more than once: whether it refuses, and what it holds.
@lru_cache(maxsize=1)
def _places(text: str) -> tuple[tuple[JsonObject | list[Any], bool, int, int], ...]:
    values: list[tuple[JsonObject | list[Any], bool, int, int]] = []
    opening = _OPENING_OF_ITEMS.search(text)
    while opening is not None:
        start = opening.start()
        end, kept = _matching_end(text, start)
        value, _ = _load(text[start:end] if end is not None else kept)
        if isinstance(value, JsonObject | list):
            values.append((value, end is None, start, len(text) if end is None else end))
        if end is None:
            break
        opening = _OPENING_OF_ITEMS.search(text, end)
    return tuple(values)


def _matching_end(text: str, start: int) -> tuple[int | None, str]:
    """Return the index after the bracket that closes the one at `start`.

    If nothing closes it, None and what is complete before its last comma, with the open brackets closed.
    """
    open_brackets: list[str] = []
    last_comma, open_at_comma = start, 0
    for token in _STRUCTURE.finditer(text, start):
        mark = token[0]
        if mark in ("[", "{"):
            open_brackets.append(mark)
        elif mark == ",":
            last_comma, open_at_comma = token.start(), len(open_brackets)
        elif mark in ("]", "}"):
            open_brackets.pop()
            if not open_brackets:
                return token.end(), ""
            # A bracket that was open at the last comma is closed now, so the value up to here is complete.
            last_comma, open_at_comma = token.end(), len(open_brackets)
    closing = "".join(CLOSING[mark] for mark in reversed(open_brackets[:open_at_comma]))
    return None, text[start:last_comma] + closing


def _answer(candidate: str) -> tuple[JsonObject | list[Any] | None, str]:
    """Return the candidate's value if it is an answer; otherwise None and the reason, if there is one."""
    if not candidate.startswith(("{", "[")):
        return None, ""
    value, problem = _load(candidate)
    if isinstance(value, JsonObject):
        return (value, "") if value else (None, "The JSON object is empty.")
    if isinstance(value, list):
        if value and all(isinstance(one, JsonObject) and one for one in value):
            return value, ""
        return None, "The JSON is a list, but not one of objects." if value else "The JSON list is empty."
    return None, problem


def _load(candidate: str) -> tuple[Any, str]:
    """Return the value of JSON text, with or without trailing commas, or None and the reason why it has none."""
    reason = ""
    for attempt in (candidate, _TRAILING_COMMA.sub(lambda found: found[1] or "", candidate)):
        try:
            return json.loads(
                attempt,
                strict=False,
                object_pairs_hook=JsonObject,
                parse_int=JsonNumber,
                parse_float=JsonNumber,
                parse_constant=JsonNumber,
            ), ""
        except json.JSONDecodeError as error:
            reason = reason or f"The JSON is not valid: {error.msg} at character {error.pos + 1}."
        except RecursionError:
            return None, TOO_DEEP
    return None, reason
