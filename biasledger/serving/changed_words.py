"""Two texts side by side, with what only one of them says."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

# Words, runs of white space, and every other character by itself.
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
# In each text; finding the changes takes time by the product of both.
TOKENS_AT_MOST = 3_000
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
_OPENING = re.compile(r"(?:```(?:json)?\s*)?([\[{])")
_FENCE = re.compile(r"\s*```")
_ENTRY = re.compile(r"^[ \t]*(?:\d{1,3}[.):]|[-*•])[ \t]+(\S.*?)[ \t]*$", re.MULTILINE)
_ITEMS_AT_LEAST = 2


@dataclass(frozen=True)
class Part:
    """A part of a text, and whether the other one lacks it."""

    text: str
    is_changed: bool


@dataclass(frozen=True)
class _Value:
    """A value of an item: its place in the text, what it is compared by, and the keys that lead to it."""

    start: int
    end: int
    name: str
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class _List:
    """The items of a text, each with its values under its name and number, and where the list starts and ends."""

    items: Mapping[tuple[str, int], Sequence[_Value]]
    start: int
    end: int


def changed(one: str, other: str, *, as_lists: bool = True) -> tuple[Sequence[Part], Sequence[Part]] | None:
    """Both texts in parts, those apart that the other text lacks; None where they are too long.

    Two lists, as JSON or line by line, are compared item by item, in any order: an item that the other list lacks is changed with
    all that it holds, and of an item in both lists the values that differ are. JSON's punctuation and the keys inside an item
    never are. Other texts are compared word by word, and all are unless `as_lists`.
    """
    if max(len(_TOKEN.findall(text)) for text in (one, other)) > TOKENS_AT_MOST:
        return None
    first, second = (_list(text) if as_lists else None for text in (one, other))
    if first is None or second is None:
        return _by_words(one, other)
    before = _by_words(one[: first.start], other[: second.start])
    after = _by_words(one[first.end :], other[second.end :])
    return (
        [*before[0], *_of_items(one, first, second, other), *after[0]],
        [*before[1], *_of_items(other, second, first, one), *after[1]],
    )


def _list(text: str) -> _List | None:
    """The JSON that is most of a text, or else the entries of its list; None where it is neither."""
    for found in _OPENING.finditer(text):
        try:
            value, end = json.JSONDecoder(strict=False).raw_decode(text, found.start(1))
        except (ValueError, RecursionError):
            continue
        items = _named(_json_items(text, value, found.start(1), end))
        end = fence.end() if (fence := _FENCE.match(text, end)) else end
        if items and _is_most(text, end - found.start()):
            return _List(items, found.start(), end)
    entries = list(_ENTRY.finditer(text))
    # A few points in a longer text are no list.
    if len(entries) < _ITEMS_AT_LEAST or not _is_most(text, sum(len(found[0]) for found in entries)):
        return None
    return _List(_named([_Value(*found.span(1), _name(found[1]))] for found in entries), 0, len(text))


def _is_most(text: str, length: int) -> bool:
    return 2 * length > len(text.strip())


def _json_items(text: str, value: Any, start: int, end: int) -> Iterable[Sequence[_Value]]:
    """The members of a JSON object or the elements of a list, be it alone in an object; a member's first value is its key."""
    depth = 1
    while isinstance(value, dict) and len(value) == 1 and isinstance(next(iter(value.values())), dict | list):
        (value,) = value.values()
        depth += 1
    items: dict[tuple[object, ...], list[_Value]] = {}
    # The key or number in each bracket that is open; None where a key follows.
    path: list[str | int | None] = []
    for token in _JSON_TOKEN.finditer(text, start, end):
        mark = token[0]
        if mark in ("{", "["):
            path.append(None if mark == "{" else 0)
        elif mark in ("}", "]"):
            path.pop()
        elif mark == ",":
            path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
        elif mark != ":":
            is_text, is_key = mark.startswith('"'), path[-1] is None
            name = _name(json.loads(mark, strict=False) if is_text else mark)
            if is_key:
                path[-1] = name
            if len(path) >= depth and (not is_key or len(path) == depth):
                keys = () if is_key else tuple(key for key in path[depth - 1 :] if isinstance(key, str))
                place = _Value(token.start() + is_text, token.end() - is_text, name, keys)
                items.setdefault(tuple(path[:depth]), []).append(place)
    return items.values()


def _named(items: Iterable[Sequence[_Value]]) -> dict[tuple[str, int], Sequence[_Value]]:
    """Items by their first value that is no number; of several with one name, by their order, too."""
    counts: Counter[str] = Counter()
    named = {}
    for values in items:
        name = next((one.name for one in values if not one.name.replace(" ", "").isdigit()), values[0].name)
        counts[name] += 1
        named[name, counts[name]] = values
    return named


def _name(text: str) -> str:
    """What a value is compared by: its words, or all of it where it has none, such as $$."""
    return " ".join(re.findall(r"\w+", text.casefold())) or text


def _of_items(text: str, ours: _List, theirs: _List, other: str) -> list[Part]:
    """A list by its values: those that the other list lacks in the same item, by words where each has one under a key."""
    parts: list[Part] = []
    end = ours.start
    for value, own, twins in sorted(
        ((value, values, theirs.items.get(key)) for key, values in ours.items.items() for value in values),
        key=lambda found: found[0].start,
    ):
        parts.append(Part(text[end : value.start], False))
        shown = text[value.start : value.end]
        like = [one for one in twins or () if one.keys == value.keys]
        if value.name in {one.name for one in like}:
            parts.append(Part(shown, False))
        elif len(like) == 1 == sum(one.keys == value.keys for one in own):
            parts += _by_words(shown, other[like[0].start : like[0].end])[0]
        else:
            parts.append(Part(shown, True))
        end = value.end
    parts.append(Part(text[end : ours.end], False))
    return [part for part in parts if part.text]


def _by_words(one: str, other: str) -> tuple[list[Part], list[Part]]:
    tokens, others = _TOKEN.findall(one), _TOKEN.findall(other)
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
