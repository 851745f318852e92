"""Two texts side by side, with what only one of them says."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

# Words, runs of white space, and every other character by itself.
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
# In each text; finding the changes takes time by the product of both.
TOKENS_AT_MOST = 3_000
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"(\s*:)?')
_ENTRY = re.compile(r"^[ \t]*(?:\d{1,3}[.):]|[-*•])[ \t]+(\S.*?)[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"```(?:json)?|```")
_ITEMS_AT_LEAST = 2


@dataclass(frozen=True)
class Part:
    """A part of a text, and whether the other one lacks it."""

    text: str
    is_changed: bool


@dataclass(frozen=True)
class _Item:
    """An entry of a list, or a string of JSON: its place in the text, what it is compared by, and the key that it belongs to."""

    start: int
    end: int
    name: str
    key: str | None = None


def changed(one: str, other: str, *, as_lists: bool = True) -> tuple[Sequence[Part], Sequence[Part]] | None:
    """Both texts in parts, those apart that the other text lacks; None where they are too long.

    Two lists, as JSON or line by line, are compared item by item, in any order: an item that the other list lacks is changed, and
    words are where both describe the same item. Other texts are compared word by word, and all are unless `as_lists`.
    """
    if max(len(_TOKEN.findall(text)) for text in (one, other)) > TOKENS_AT_MOST:
        return None
    items, others = (_items(text) if as_lists else [] for text in (one, other))
    if min(len(items), len(others)) >= _ITEMS_AT_LEAST:
        return _of_items(one, items, others, other), _of_items(other, others, items, one)
    return _by_words(one, other)


def _items(text: str) -> list[_Item]:
    """The strings of a JSON text, or else the entries of a list; none where it is neither."""
    try:
        json.loads(_FENCE.sub("", text))
    except ValueError:
        entries = list(_ENTRY.finditer(text))
        # A few points in a longer text are no list.
        is_list = 2 * sum(len(found[0]) for found in entries) > len(text.strip())
        return [_Item(*found.span(1), _name(found[1])) for found in entries] if is_list else []
    return list(_strings(text))


def _strings(text: str) -> Iterator[_Item]:
    key = None
    for found in _STRING.finditer(text):
        if found[2]:
            key = _name(found[1])
            yield _Item(*found.span(1), key)
        else:
            yield _Item(*found.span(1), _name(found[1]), key)


def _name(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _of_items(text: str, items: Sequence[_Item], others: Sequence[_Item], other: str) -> list[Part]:
    """A text by its items: those that the other text lacks, and different words under a key that each has once."""
    known = {item.name for item in others}
    keys = Counter(item.key for item in items)
    described = {item.key: item for item in others if item.key is not None}
    n_described = Counter(item.key for item in others)
    parts: list[Part] = []
    end = 0
    for item in items:
        parts.append(Part(text[end : item.start], False))
        shown = text[item.start : item.end]
        twin = described.get(item.key or "") if keys[item.key] == 1 == n_described[item.key] else None
        if item.name in known:
            parts.append(Part(shown, False))
        elif twin is not None:
            parts += _by_words(shown, other[twin.start : twin.end])[0]
        else:
            # The description of an item that the other lacks adds nothing to its name.
            parts.append(Part(shown, item.key is None or item.key in known))
        end = item.end
    parts.append(Part(text[end:], False))
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
