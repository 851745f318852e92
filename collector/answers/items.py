"""Recommended items in replies: names, price levels and categories, and how such an answer is kept.

A JSON value is read for objects that describe items or strings that name them; any other list is one of names.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from collector.answers.item_texts import (
    CATEGORY_KEYS,
    NAME_KEYS,
    PRICE_KEYS,
    plain_key,
    read_items,
    split_name,
    without_descriptions,
)
from collector.answers.json_text import JsonNumber, JsonObject, json_values
from collector.answers.lists import MAX_DEPTH, find_list, is_counted
from collector.answers.price_levels import read_price
from collector.answers.remembered import remembered
from collector.hashing import canonical_json

__all__ = [
    "FoundItems",
    "Item",
    "category_counts_text",
    "find_items",
    "folded_categories",
    "items_text",
    "read_price",
    "split_categories",
]

Form = Literal["json", "list", "none"]

# An object's keys that hold the answer, and those that hold what is said about it.
ITEM_LISTS = (
    "restaurants",
    "items",
    "recommendations",
    "results",
    "venues",
    "places",
    "businesses",
    "options",
    "suggestions",
    "list",
    "names",
    "answer",
    "data",
)
_ITEM_LIST = re.compile(
    r"restaurant|recommend|items|results|venues|places|business|options|suggest|eater(?:y|ies)|spots|list"
)
_REMARKS = re.compile(
    r"note|remark|comment|warning|caveat|disclaimer|source|reference|tip|criteri|filter|assum|limitation|reason|step|thought"
    r"|message|explanation|question|error|^cit(?:y|ies)$|neighbou?rhood|location"
)

_SEPARATOR = re.compile(r"[,;/|•·]")
# What stands around a category and is no part of it.
_AROUND = " \t*`\"“”'‘’.:[]{}#"


@dataclass(frozen=True, slots=True)
class Item:
    """A recommended item; `n` is how many recommendations it stands for, above 1 or fractional only where a file counts."""

    name: str | None = None
    price_level: int | None = None
    categories: tuple[str, ...] = ()
    n: float = 1


@dataclass(frozen=True, slots=True)
class FoundItems:
    """What a reply holds: its items in order, the form they came in, and whether the JSON was left open."""

    items: tuple[Item, ...] = ()
    form: Form = "none"
    is_certain: bool = False
    is_unclosed: bool = False


def items_text(items: Iterable[Item]) -> str:
    """Return recommended items as they are kept: JSON, an object with the list `items` in the order of the answer."""
    return canonical_json(
        {
            "items": [
                {
                    "name": one.name,
                    "price_level": one.price_level,
                    "categories": list(one.categories),
                    "n": _count(one.n),
                }
                for one in items
            ]
        }
    )


def category_counts_text(counts: Mapping[str, float], n_items: int) -> str:
    """Return how many of an answer's items have each category, as it is kept: JSON, categories in alphabetical order."""
    listed = [{"category": name, "n": _count(n)} for name, n in sorted(counts.items())]
    return canonical_json({"categories": listed, "n_items": n_items})


def split_categories(written: str) -> tuple[str, ...]:
    """Return the categories of a text, separated by comma, semicolon, slash, pipe or dot: lower-case, each once, in order.

    An ampersand separates nothing ("wine & spirits").
    """
    return folded_categories(_SEPARATOR.split(written))


def folded_categories(written: Iterable[str]) -> tuple[str, ...]:
    """Return categories as they are compared: lower case, composed accents, spaces for _, no marks around them; each once."""
    return tuple(dict.fromkeys(one for one in map(_folded_category, written) if one is not None))


@remembered
def _folded_category(written: str) -> str | None:
    return _text(unicodedata.normalize("NFC", written.lower()).replace("_", " ").strip(_AROUND))


def find_items(text: str, levels: int) -> FoundItems:
    """Return the items of a reply.

    Args:
        text: the reply: JSON (a list of objects or names, perhaps inside an object), a table, or a numbered, bulleted or other
            list of names, with price levels behind them or in the lines below.
        levels: the number of price levels.

    Returns:
        The items in order, repeats kept; form 'none' where the reply holds no list. Of a JSON object with several lists that is:
        the one whose key says so (`restaurants`, `items`, …), else all that hold objects (groups of one answer), else all lists
        of names but those whose key says that they are remarks (`note`, `sources`, …).
    """
    in_json = _from_json(text, levels)
    if in_json.items:
        return in_json
    listed, is_certain = read_items(text, levels)
    if not listed:
        return (
            in_json if in_json.form == "json" or find_list(text).form == "none" else FoundItems(form="list")
        )
    items = (Item(_text(one.name), one.price_level, split_categories(one.categories)) for one in listed)
    return FoundItems(tuple(items), "list", is_certain)


def _from_json(text: str, levels: int) -> FoundItems:
    gathered: list[Item] = []
    form: Form = "none"
    is_unclosed = False
    for value, left_open in json_values(text):
        form, is_unclosed = "json", is_unclosed or left_open
        items = _items(value, levels, MAX_DEPTH)
        # One object a line is one list; otherwise the first value that holds items is the answer.
        is_line = isinstance(value, JsonObject) and len(items) == 1 and items == [_item(value, levels)]
        if items and not (is_line or gathered):
            return FoundItems(tuple(items), "json", True, left_open)
        if is_line:
            gathered += items
    return FoundItems(tuple(gathered), form, bool(gathered), is_unclosed)


def _items(value: Any, levels: int, depth: int) -> list[Item]:
    if depth == 0:
        return []
    if isinstance(value, list):
        return _of_list(value, levels)
    if not isinstance(value, JsonObject):
        return []
    item = _item(value, levels)
    lists = _lists(value, is_named=item is not None and item.name is not None)
    listed = [one for inner in lists for one in _items(inner, levels, depth - 1)]
    if listed:
        return listed
    if item is None:
        return _by_key(value, levels, depth)
    # What has no name may say for which place and cuisine the items in it are.
    return (_inside(value, levels, depth) if item.name is None else []) or [item]


def _of_list(value: list[Any], levels: int) -> list[Item]:
    strings = [one for one in value if isinstance(one, str) and not isinstance(one, JsonNumber)]
    if len(strings) < len(value):
        return [item for one in value if (item := _item(one, levels)) is not None]
    priced = [split_name(text, levels) for one in strings if (text := _text(one)) is not None]
    names = without_descriptions([name for name, _ in priced])
    return [Item(name, level) for name, (_, level) in zip(names, priced, strict=True)]


def _lists(value: JsonObject, *, is_named: bool) -> list[list[Any]]:
    """Return the lists of an object that are the answer; what a named item lists are its categories or remarks."""
    lists = [(plain_key(key), one) for key, one in value if isinstance(one, list) and one]
    lists = [(key, one) for key, one in lists if key not in CATEGORY_KEYS]
    by_key = dict(reversed(lists))
    if (exact := next((by_key[key] for key in ITEM_LISTS if key in by_key), None)) is not None:
        return [exact]
    saying = [one for key, one in lists if _ITEM_LIST.search(key) and not _REMARKS.search(key)]
    if saying and not is_named:
        return saying
    holding = [one for _, one in lists if any(isinstance(inner, JsonObject) for inner in one)]
    if holding:
        return holding
    return [] if is_named else [one for key, one in lists if not _REMARKS.search(key)]


def _by_key(value: JsonObject, levels: int, depth: int) -> list[Item]:
    """Return the items of an object whose keys name or number them, or else those of the first object in it that has any."""
    if is_counted([key for key, _ in value]):
        return _items([one for _, one in value], levels, depth)
    named = [(key, _priced(one, levels) or _described_in(one, levels)) for key, one in value]
    items = [_with_name(one, key) for key, one in named if one is not None]
    if items and len(items) == len(value):
        return items
    return _inside(value, levels, depth)


def _inside(value: JsonObject, levels: int, depth: int) -> list[Item]:
    inside = (_items(one, levels, depth - 1) for _, one in value if isinstance(one, JsonObject))
    return next((several for several in inside if several), [])


def _item(value: Any, levels: int) -> Item | None:
    """Return the item that a string names or an object describes, or None."""
    if isinstance(value, str):
        return None if isinstance(value, JsonNumber) or _text(value) is None else _named(value, levels)
    return _described_in(value, levels)


def _described_in(value: Any, levels: int) -> Item | None:
    """Return the item that an object describes, perhaps under a key of its own, or None."""
    if not isinstance(value, JsonObject):
        return None
    if len(value) == 1 and isinstance(value[0][1], JsonObject):
        (key, inner), *_ = value
        item = _described(inner, levels)
        return item if item is None or plain_key(key) in NAME_KEYS else _with_name(item, key)
    return _described(value, levels)


def _described(value: JsonObject, levels: int) -> Item | None:
    by_key = {plain_key(key): one for key, one in reversed(value)}
    named = (_name_in(by_key[key]) for key in NAME_KEYS if key in by_key)
    name = next((one for one in named if one is not None), None)
    prices = (read_price(by_key[key], levels) for key in PRICE_KEYS if key in by_key)
    price = next((one for one in prices if one is not None), None)
    categories = next((_of_value(by_key[key]) for key in CATEGORY_KEYS if by_key.get(key)), ())
    if name is not None:
        name, behind = split_name(name, levels)
        price = behind if price is None else price
    return None if name is None and price is None and not categories else Item(name, price, categories)


def _name_in(value: Any) -> str | None:
    """Return the name that a value is, or that the object has which it is."""
    if isinstance(value, JsonObject):
        value = next((one for key, one in value if plain_key(key) in NAME_KEYS), None)
    return _text(value) if isinstance(value, str) else None


def _priced(value: Any, levels: int) -> Item | None:
    level = read_price(value, levels)
    return None if level is None else Item(price_level=level)


def _with_name(item: Item, name: str) -> Item:
    """Return the item, called by the name if it has none of its own."""
    return item if item.name is not None else Item(_text(name), item.price_level, item.categories)


def _named(written: str, levels: int) -> Item:
    """Return the item of a name, behind which its price may stand."""
    name = _text(written)
    return Item() if name is None else Item(*split_name(name, levels))


def _of_value(value: Any) -> tuple[str, ...]:
    if isinstance(value, list):
        return folded_categories(name for one in value if (name := _category(one)) is not None)
    return split_categories(value) if isinstance(value, str) else ()


def _category(value: Any) -> str | None:
    """Return a category that stands in a list: a string, or an object with a title or name."""
    return str(value) if isinstance(value, JsonNumber) else _name_in(value)


def _text(written: str) -> str | None:
    """Return a text with single spaces, or None; NUL, which JSON can state and databases cannot hold, is replaced."""
    return " ".join(written.replace("\x00", "\N{REPLACEMENT CHARACTER}").split()) or None


def _count(n: float) -> float:
    """Return a whole number as int, so that JSON writes it without a point."""
    return int(n) if float(n).is_integer() else n
