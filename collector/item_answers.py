"""Recommended items in replies: names, price levels and categories, and how such an answer is kept.

A JSON value is read for objects that describe items or strings that name them; any other list is one of names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from collector.hashing import canonical_json
from collector.json_answers import JsonNumber, JsonObject, json_values
from collector.lists import MAX_DEPTH, find_list, is_counted

Form = Literal["json", "list", "none"]

# What an object's keys are called, the first that is there counts; case, _, - and spaces do not matter.
NAME_KEYS = ("name", "item", "restaurant", "title", "business", "restaurantname", "businessname", "itemname")
PRICE_KEYS = ("pricelevel", "price", "pricerange", "pricetier", "cost")
CATEGORY_KEYS = ("categories", "category", "cuisines", "cuisine", "type", "tags")

_BETWEEN_WORDS = re.compile(r"[\s_-]+")
_SEPARATOR = re.compile(r"[,;/]")
_SIGNS = "$€£¥"
# A level by number or by signs, with what it is called before it and a remark behind it; a second number or sign makes it a
# range or an amount.
_PRICE = re.compile(
    rf"(?:price)?\s*(?:level|range|tier|category)?\s*[:=]?\s*(?:(?P<number>\d{{1,2}})(?:\.0+)?|(?P<signs>[{_SIGNS}]+))"
    rf"(?:\s*(?:/|out of|of)\s*(?P<levels>\d{{1,2}}))?(?:[^\w{_SIGNS}+.][^\d{_SIGNS}+]*)?",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[*_`\\\"“”]+")
# A name with its price in brackets.
_PRICED_NAME = re.compile(rf"(?P<name>.*\S)\s*[(\[](?P<signs>[{_SIGNS}]+)[)\]]")


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


def read_price(written: object, levels: int) -> int | None:
    """Return the price level that a value states.

    Args:
        written: 2, "2", "$$", "$$ (moderate)", "price level 2", "2 out of 4"; anything else states none.
        levels: the number of levels.

    Returns:
        A level from 1 (the cheapest) to `levels`, or None where the value is no such level: a range, an amount, a word.
    """
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        return None
    found = _PRICE.fullmatch(" ".join(_MARKUP.sub("", str(written)).split()))
    if found is None or (found["levels"] is not None and int(found["levels"]) != levels):
        return None
    signs = found["signs"]
    if signs is not None and len(set(signs)) > 1:
        return None
    level = int(found["number"]) if signs is None else len(signs)
    return level if 1 <= level <= levels else None


def split_categories(written: str) -> tuple[str, ...]:
    """Return the categories of a text, separated by comma, semicolon or slash: lower-case, each once, in order."""
    return _categories(_SEPARATOR.split(written))


def find_items(text: str, levels: int) -> FoundItems:
    """Return the items of a reply.

    Args:
        text: the reply: JSON (a list of objects or names, perhaps inside an object), or a numbered, bulleted or other list of
            names.
        levels: the number of price levels.

    Returns:
        The items in order, repeats kept; form 'none' where the reply holds no list.
    """
    in_json = _from_json(text, levels)
    if in_json.items:
        return in_json
    found = find_list(text)
    if found.form in ("json", "none"):
        return in_json
    return FoundItems(tuple(_named(one, levels) for one in found.items), "list", found.is_certain)


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
        return [item for one in value if (item := _item(one, levels)) is not None]
    if not isinstance(value, JsonObject):
        return []
    item = _item(value, levels)
    lists = [
        items
        for key, one in value
        # What an item lists are its categories or remarks; what lists items holds objects.
        if isinstance(one, list)
        and (item is None or item.name is None or any(isinstance(inner, JsonObject) for inner in one))
        if _plain_key(key) not in CATEGORY_KEYS and (items := _items(one, levels, depth - 1))
    ]
    if lists:
        return [one for items in lists for one in items]
    if item is not None:
        return [item]
    return _by_key(value, levels, depth)


def _by_key(value: JsonObject, levels: int, depth: int) -> list[Item]:
    """Return the items of an object whose keys name or number them, or else those of the first object in it that has any."""
    if is_counted([key for key, _ in value]):
        return _items([one for _, one in value], levels, depth)
    named = [(key, _priced(one, levels) or _described_in(one, levels)) for key, one in value]
    items = [_with_name(one, key) for key, one in named if one is not None]
    if items and len(items) == len(value):
        return items
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
        return item if item is None or _plain_key(key) in NAME_KEYS else _with_name(item, key)
    return _described(value, levels)


def _described(value: JsonObject, levels: int) -> Item | None:
    by_key = {_plain_key(key): one for key, one in reversed(value)}
    names = (by_key[key] for key in NAME_KEYS if key in by_key)
    name = next((_text(one) for one in names if isinstance(one, str) and _text(one) is not None), None)
    prices = (read_price(by_key[key], levels) for key in PRICE_KEYS if key in by_key)
    price = next((one for one in prices if one is not None), None)
    categories = next((_of_value(by_key[key]) for key in CATEGORY_KEYS if by_key.get(key)), ())
    return None if name is None and price is None and not categories else Item(name, price, categories)


def _priced(value: Any, levels: int) -> Item | None:
    level = read_price(value, levels)
    return None if level is None else Item(price_level=level)


def _with_name(item: Item, name: str) -> Item:
    """Return the item, called by the name if it has none of its own."""
    return item if item.name is not None else Item(_text(name), item.price_level, item.categories)


def _named(written: str, levels: int) -> Item:
    """Return the item of a name, behind which its price may stand in brackets."""
    name = _text(written)
    priced = _PRICED_NAME.fullmatch(name or "")
    level = read_price(priced["signs"], levels) if priced else None
    return Item(name) if priced is None or level is None else Item(priced["name"], level)


def _of_value(value: Any) -> tuple[str, ...]:
    if isinstance(value, list):
        return _categories(name for one in value if (name := _category(one)) is not None)
    return split_categories(value) if isinstance(value, str) else ()


def _category(value: Any) -> str | None:
    """Return a category that stands in a list: a string, or an object with a title or name."""
    if isinstance(value, JsonObject):
        value = next((one for key, one in value if _plain_key(key) in NAME_KEYS), None)
    return value if isinstance(value, str) else None


def _categories(written: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(folded for one in written if (folded := _text(one.lower())) is not None))


def _text(written: str) -> str | None:
    """Return a text with single spaces, or None; NUL, which JSON can state and databases cannot hold, is replaced."""
    return " ".join(written.replace("\x00", "\N{REPLACEMENT CHARACTER}").split()) or None


def _plain_key(key: str) -> str:
    return _BETWEEN_WORDS.sub("", key.casefold())


def _count(n: float) -> float:
    """Return a whole number as int, so that JSON writes it without a point."""
    return int(n) if float(n).is_integer() else n
