"""Recommended items in replies: names, price levels and categories, and how such an answer is kept.

A JSON value is read for objects that describe items or strings that name them; any other list is one of names.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, TypeVar

from collector.answers.recommendations.item_rules import (
    ItemRole,
    ItemRules,
    KeyPath,
    plain_key,
    value_of,
    values_at,
)
from collector.answers.recommendations.item_texts import read_items, split_name, without_descriptions
from collector.answers.recommendations.key_words import Role, first_keys, meaning_of
from collector.answers.recommendations.lists import MAX_DEPTH, find_list, is_counted
from collector.answers.recommendations.prices import Amount, Price, currency_code
from collector.answers.texts.json_text import JsonNumber, JsonObject, json_values
from collector.answers.texts.remembered import remembered
from collector.hashing import canonical_json
from collector.hints import quoted

Form = Literal["json", "list", "none"]
Found = TypeVar("Found")
_SHOWN = 3
_MOST_KEYS = 8
_LONGEST_KEY = 40
_MOST_REMEMBERED = 20
# An object's keys that hold the answer, and those that hold remarks about it.
_ITEM_LIST = re.compile(
    r"restaurant|recommend|items|results|venues|places|business|options|suggest|eater(?:y|ies)|spots|list"
)
_REMARKS = re.compile(
    r"note|remark|comment|warning|caveat|disclaimer|source|reference|tip|criteri|filter|assum|limitation|reason|step|thought"
    r"|message|explanation|question|error|^cit(?:y|ies)$|neighbou?rhood|location"
)

_SEPARATOR = re.compile(r"[,;/|•·]")
# Characters around a category that are no part of it.
_AROUND = " \t*`\"“”'‘’.:[]{}#"


@dataclass(frozen=True, slots=True)
class Item:
    """A recommended item; `n` is its number of recommendations, above 1 or fractional only if a file counts.

    `amount` is its price in money. Where the audit's prices are levels, an amount has no level and is not kept.
    """

    name: str | None = None
    price_level: int | None = None
    categories: tuple[str, ...] = ()
    n: float = 1
    amount: Amount | None = None


@dataclass(frozen=True, slots=True)
class FoundItems:
    """The items of a reply in order, the form they came in, and whether the JSON was left open.

    `problem` is one sentence that says why the items cannot be used as they are, and what to write into the spec.
    """

    items: tuple[Item, ...] = ()
    form: Form = "none"
    is_certain: bool = False
    is_unclosed: bool = False
    problem: str | None = None


def items_text(items: Iterable[Item], *, with_amounts: bool = False) -> str:
    """Return recommended items as they are kept: JSON, an object with the list `items` in the order of the answer."""
    return canonical_json({"items": [_item_document(one, with_amounts=with_amounts) for one in items]})


def _item_document(item: Item, *, with_amounts: bool) -> dict[str, Any]:
    kept: dict[str, Any] = {
        "name": item.name,
        "price_level": item.price_level,
        "categories": list(item.categories),
        "n": _count(item.n),
    }
    if with_amounts:
        kept["price"] = None if item.amount is None else _count(item.amount.value)
        kept["currency"] = None if item.amount is None else item.amount.currency
    return kept


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


def find_items(text: str, levels: int, rules: ItemRules | None = None) -> FoundItems:
    """Return the items of a reply.

    Args:
        text: the reply: JSON (a list of objects or names, perhaps inside an object), a table, or a numbered, bulleted or other
            list of names, with prices behind them or in the lines below.
        levels: the number of price levels.
        rules: how the audit's items are read; prices are levels and keys are known by their words if absent.

    Returns:
        The items in order, repeats kept; form 'none' if the reply holds no list. If a JSON object has several lists, these are:
        the one whose key says so (`restaurants`, `items`, …), else all that hold objects (groups of one answer), else all lists
        of names but those whose key says that they are remarks (`note`, `sources`, …). A `problem` if the objects of a
        list have no known keys, or if all prices are amounts and the audit's are levels.
    """
    rules = rules or ItemRules(levels)
    in_json = _from_json(text, rules)
    if in_json.items:
        return replace(in_json, problem=_problem_of_prices(in_json.items, rules))
    listed, is_certain = read_items(text, rules)
    if not listed:
        if in_json.form == "json":
            return replace(in_json, problem=_problem_of_keys(text, rules))
        return in_json if find_list(text).form == "none" else FoundItems(form="list")
    items = tuple(
        _priced_item(_text(one.name), one.price, split_categories(one.categories)) for one in listed
    )
    return FoundItems(items, "list", is_certain, problem=_problem_of_prices(items, rules))


def _priced_item(name: str | None, price: Price | None, categories: tuple[str, ...] = ()) -> Item:
    if isinstance(price, Amount):
        return Item(name, None, categories, amount=price)
    return Item(name, price, categories)


def _problem_of_prices(items: Sequence[Item], rules: ItemRules) -> str | None:
    """Return a note if all prices are amounts, but the audit does not state this and so takes them for levels."""
    amounts = [one.amount for one in items if one.amount is not None]
    if rules.prices is not None or not amounts or any(one.price_level is not None for one in items):
        return None
    shown = ", ".join(
        f"{one.value:g}{f' {one.currency}' if one.currency else ''}" for one in amounts[:_SHOWN]
    )
    return (
        f"The prices ({shown}{', …' if len(amounts) > _SHOWN else ''}) are amounts and no levels from 1 to {rules.levels}; write "
        f"answer: {{prices: amounts}} into the spec, or {{prices: levels}} to do without the prices."
    )


def _problem_of_keys(text: str, rules: ItemRules) -> str | None:
    """Name the keys of a list's objects none of which is known, and what to write into the spec."""
    objects: list[JsonObject] = []
    for value, _ in json_values(text):
        _gather_objects(value, objects, MAX_DEPTH)
    if not objects:
        return None
    keys = list(dict.fromkeys(key for one in objects for key, _ in one))
    texts = [key for key in keys if any(_is_text(value_of(one, key)) for one in objects)]
    numbers = [key for key in keys if key not in texts]
    name = texts[0] if texts else keys[0]
    mapped = [
        ("name", name),
        *(("price", key) for key in numbers[:1]),
        *(("category", key) for key in texts[1:2]),
    ]
    example = ", ".join(f"{role}: {key}" for role, key in mapped)
    shown = quoted(keys[:_MOST_KEYS])
    if rules.keys:
        stated = ", ".join(f"{role}: {'.'.join(paths[0])}" for role, paths in rules.keys.items())
        problem = f"answer.keys says {stated}, which leads nowhere in them"
    else:
        problem = "none of them is known as a name, a price or a category"
    return (
        f"The answer lists {len(objects)} object{'s' if len(objects) > 1 else ''} with the keys {shown}, and {problem}; say "
        f"which key is which, for example answer: {{keys: {{{example}}}}}."
    )


def _gather_objects(value: Any, objects: list[JsonObject], depth: int) -> None:
    """Add the objects in lists, with their keys."""
    if depth == 0:
        return
    if isinstance(value, list):
        objects += [one for one in value if isinstance(one, JsonObject) and one]
    elif isinstance(value, JsonObject):
        for _, inner in value:
            _gather_objects(inner, objects, depth - 1)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not isinstance(value, JsonNumber)


def _from_json(text: str, rules: ItemRules) -> FoundItems:
    gathered: list[Item] = []
    form: Form = "none"
    is_unclosed = False
    items_of, item_of = (_by_stated_keys, _described) if "name" in rules.keys else (_items, _item)
    for value, left_open in json_values(text):
        form, is_unclosed = "json", is_unclosed or left_open
        items = items_of(value, rules, MAX_DEPTH)
        # One object a line is one list; otherwise the first value that holds items is the answer.
        is_line = isinstance(value, JsonObject) and len(items) == 1 and item_of(value, rules) == items[0]
        if items and not (is_line or gathered):
            return FoundItems(tuple(items), "json", True, left_open)
        if is_line:
            gathered += items
    return FoundItems(tuple(gathered), form, bool(gathered), is_unclosed)


# Keys that the audit states


def _by_stated_keys(value: Any, rules: ItemRules, depth: int) -> list[Item]:
    """Return the items of a value whose keys the audit states; a path may begin at an item or above the list of items."""
    if depth == 0:
        return []
    if isinstance(value, list):
        return [item for one in value for item in _by_stated_keys(one, rules, depth - 1)]
    if not isinstance(value, JsonObject):
        return []
    for path in rules.keys["name"]:
        end, found = _follow(value, path)
        if isinstance(found, list):
            shorter = {
                role: tuple(_behind(one, path[:end]) for one in paths) for role, paths in rules.keys.items()
            }
            inner = replace(rules, keys=shorter | {"name": (path[end:],)})
            items = [
                item for one in _flat(found) if (item := _of_element(one, value, inner, rules)) is not None
            ]
            if items:
                return items
        elif _name_in(found) is not None:
            item = _described(value, rules)
            return [] if item is None else [item]
    return [item for _, one in value for item in _by_stated_keys(one, rules, depth - 1)]


def _follow(value: Any, path: KeyPath) -> tuple[int, Any]:
    """Return what a path leads to, or the first list on its way, and how many of its keys lead there."""
    for at, key in enumerate(path):
        if isinstance(value, list):
            return at, value
        value = value_of(value, key) if isinstance(value, JsonObject) else None
    return len(path), value


def _behind(path: KeyPath, prefix: KeyPath) -> KeyPath:
    """Return what a path has behind the keys above the list of items; one that begins at an item has none of these."""
    return path[len(prefix) :] if path[: len(prefix)] == prefix else path


def _flat(value: list[Any]) -> list[Any]:
    return [inner for one in value for inner in (_flat(one) if isinstance(one, list) else [one])]


def _of_element(element: Any, above: JsonObject, rules: ItemRules, outer: ItemRules) -> Item | None:
    if isinstance(element, JsonObject):
        item = _described(element, rules)
        if item is None or item.name is None:
            return None
        categories = item.categories or _categories_at(above, outer)
        return replace(item, categories=categories)
    return _named(element, rules) if _is_text(element) and not rules.keys["name"][0] else None


def _categories_at(value: JsonObject, rules: ItemRules) -> tuple[str, ...]:
    """Return the categories next to a list that apply to each of its items."""
    found = (_of_value(values_at(value, path)) for path in rules.keys.get("category", ()))
    return next((one for one in found if one), ())


# Keys that are known by their words


def _items(value: Any, rules: ItemRules, depth: int) -> list[Item]:
    if depth == 0:
        return []
    if isinstance(value, list):
        return _of_list(value, rules)
    if not isinstance(value, JsonObject):
        return []
    item = _item(value, rules)
    lists = _lists(value, is_named=_is_named(value, item))
    listed = [one for inner in lists for one in _items(inner, rules, depth - 1)]
    if listed:
        return listed
    if item is None:
        return _by_key(value, rules, depth)
    # An object without a name may state the place and cuisine of the items in it.
    return (_inside(value, rules, depth) if item.name is None else []) or [item]


def _is_named(value: JsonObject, item: Item | None) -> bool:
    """Return whether an object is an item and no wrapper of a list: "product" may also say what was asked for."""
    if item is None or item.name is None:
        return False
    has_price = item.price_level is not None or item.amount is not None
    return has_price or any(plain_key(key) in first_keys("name") for key, _ in value) or len(value) == 1


def _of_list(value: list[Any], rules: ItemRules) -> list[Item]:
    strings = [one for one in value if isinstance(one, str) and not isinstance(one, JsonNumber)]
    if len(strings) < len(value):
        return [item for one in value if (item := _item(one, rules)) is not None]
    priced = [split_name(text, rules) for one in strings if (text := _text(one)) is not None]
    names = without_descriptions([name for name, _ in priced])
    return [_priced_item(name, price) for name, (_, price) in zip(names, priced, strict=True)]


def _lists(value: JsonObject, *, is_named: bool) -> list[list[Any]]:
    """Return the lists of an object that are the answer; what a named item lists are its categories or remarks."""
    lists = [(plain_key(key), one) for key, one in value if isinstance(one, list) and one]
    lists = [
        (key, one)
        for key, one in lists
        if key not in first_keys("category") and meaning_of(key).role != "category"
    ]
    by_key = dict(reversed(lists))
    if (exact := next((by_key[key] for key in first_keys("list") if key in by_key), None)) is not None:
        return [exact]
    saying = [one for key, one in lists if _says_items(key)]
    if saying and not is_named:
        return saying
    holding = [one for _, one in lists if any(isinstance(inner, JsonObject) for inner in one)]
    if holding:
        return holding
    return [] if is_named else [one for key, one in lists if not _REMARKS.search(key)]


def _says_items(key: str) -> bool:
    is_known = _ITEM_LIST.search(key) is not None or meaning_of(key).role == "list"
    return is_known and not _REMARKS.search(key)


def _by_key(value: JsonObject, rules: ItemRules, depth: int) -> list[Item]:
    """Return the items of an object whose keys name or number them, or else those of the first object in it that has any."""
    if is_counted([key for key, _ in value]):
        return _items([one for _, one in value], rules, depth)
    named = [(key, _priced(one, rules) or _described_in(one, rules)) for key, one in value]
    items = [_with_name(one, key) for key, one in named if one is not None]
    if items and len(items) == len(value):
        return items
    return _inside(value, rules, depth)


def _inside(value: JsonObject, rules: ItemRules, depth: int) -> list[Item]:
    inside = (_items(one, rules, depth - 1) for _, one in value if isinstance(one, JsonObject))
    return next((several for several in inside if several), [])


def _item(value: Any, rules: ItemRules) -> Item | None:
    """Return the item that a string names or an object describes, or None."""
    if isinstance(value, str):
        return None if isinstance(value, JsonNumber) or _text(value) is None else _named(value, rules)
    return _described_in(value, rules)


def _described_in(value: Any, rules: ItemRules) -> Item | None:
    """Return the item that an object describes, perhaps under a key of its own, or None."""
    if not isinstance(value, JsonObject):
        return None
    if len(value) == 1 and isinstance(value[0][1], JsonObject):
        (key, inner), *_ = value
        item = _described(inner, rules)
        return item if item is None or plain_key(key) in first_keys("name") else _with_name(item, key)
    return _described(value, rules)


@dataclass(frozen=True, slots=True)
class _Layout:
    """The places of an object's names, of its prices with the currency that their keys name, and of its categories."""

    names: tuple[int, ...]
    prices: tuple[tuple[int, str | None], ...]
    categories: tuple[int, ...]
    currency: int | None


def _layout_of(value: JsonObject, rules: ItemRules) -> _Layout:
    """Return the layout of an object; those of a list mostly share one, which is made once."""
    keys = tuple(key for key, _ in value)
    is_short = len(keys) <= _MOST_REMEMBERED and all(len(key) <= _LONGEST_KEY for key in keys)
    return (_known_layout if is_short else _layout)(keys, rules.are_amounts)


def _layout(keys: tuple[str, ...], are_amounts: bool) -> _Layout:
    places: dict[str, int] = {}
    for at, key in enumerate(keys):
        places.setdefault(plain_key(key), at)
    meanings = {at: meaning_of(keys[at]) for at in places.values()}

    def places_of(names: Sequence[str], roles: Sequence[Role]) -> list[int]:
        """Return the places of the keys that are called so, then those that mean it, the best first."""
        named = [places[name] for name in names if name in places]
        meant = [
            (roles.index(one.role), one.rank, at)
            for at, one in meanings.items()
            if one.role in roles and at not in named
        ]
        return named + [at for *_, at in sorted(meant)]

    prices = places_of(
        () if are_amounts else first_keys("price"), ("price",) if are_amounts else ("level", "price")
    )
    return _Layout(
        names=tuple(places_of(first_keys("name"), ("name",))),
        prices=tuple((at, _currency_of(keys[at])) for at in prices),
        categories=tuple(places_of(first_keys("category"), ("category",))),
        currency=next((at for at, one in meanings.items() if one.role == "currency"), None),
    )


_known_layout = lru_cache(maxsize=1_024)(_layout)


def _described(value: JsonObject, rules: ItemRules) -> Item | None:
    """Return the item that an object describes: by the keys that the audit states, else by those that are known."""
    layout = _layout_of(value, rules)
    names = _stated(value, "name", rules) if "name" in rules.keys else (value[at][1] for at in layout.names)
    name = _first(map(_name_in, names))
    price = _price(value, layout, rules)
    listed = (
        _stated(value, "category", rules)
        if "category" in rules.keys
        else (value[at][1] for at in layout.categories)
    )
    categories = next((found for one in listed if (found := _of_value(one))), ())
    if name is not None:
        name, behind = split_name(name, rules)
        price = behind if price is None or (isinstance(price, Amount) and isinstance(behind, int)) else price
    if name is None and price is None and not categories:
        return None
    return _priced_item(name, price, categories)


def _stated(value: JsonObject, role: ItemRole, rules: ItemRules) -> Iterator[Any]:
    """Yield an object's values at the paths that the audit states for a role."""
    for path in rules.keys[role]:
        found = values_at(value, path)
        yield found[0] if len(found) == 1 else found


def _price(value: JsonObject, layout: _Layout, rules: ItemRules) -> Price | None:
    """Return an object's price: the first level, or else the first amount, under a key for prices."""
    prices = (
        _stated_prices(value, rules)
        if "price" in rules.keys
        else ((value[at][1], currency) for at, currency in layout.prices)
    )
    column_currency = None if layout.currency is None else currency_code(str(value[layout.currency][1]))
    first: Price | None = None
    for written, currency in prices:
        price = rules.of_key(*_number_in(written, currency or column_currency))
        if isinstance(price, int):
            return price
        first = price if first is None else first
    return first


def _stated_prices(value: JsonObject, rules: ItemRules) -> Iterator[tuple[Any, str | None]]:
    """Yield an object's values at the stated paths of its price, with the currency that the last key names."""
    for path in rules.keys["price"]:
        found = dict.fromkeys(one for one in values_at(value, path) if isinstance(one, str | int | float))
        # Two prices count as none.
        if len(found) == 1:
            yield next(iter(found)), _currency_of(path[-1])


def _number_in(value: Any, currency: str | None) -> tuple[Any, str | None]:
    """Return the number and the currency of a price that is an object: {"value": 349, "currency": "EUR"}."""
    if not isinstance(value, JsonObject):
        return value, currency
    number = _first(value_of(value, key) for key in first_keys("amount"))
    stated = next((str(one) for key, one in value if meaning_of(key).role == "currency"), None)
    return number, currency if stated is None else currency_code(stated) or stated


def _currency_of(key: str) -> str | None:
    """Return the code of the currency that a key names, as `preis_eur` does."""
    written = meaning_of(key).currency
    return None if written is None else currency_code(written) or written


def _first(values: Iterable[Found | None]) -> Found | None:
    return next((one for one in values if one is not None), None)


def _name_in(value: Any) -> str | None:
    """Return the name that a value is, or that the object has which it is."""
    if isinstance(value, JsonObject):
        by_name = (one for key, one in value if plain_key(key) in first_keys("name"))
        by_word = (one for key, one in value if meaning_of(key).role == "name")
        value = next(by_name, None) or next(by_word, None)
    return _text(value) if isinstance(value, str) else None


def _priced(value: Any, rules: ItemRules) -> Item | None:
    """Return the item without a name that a price is, or None; a bare number under a key may count something else."""
    price = rules.of_key(value, None)
    if isinstance(price, Amount) and price.currency is None:
        return None
    return None if price is None else _priced_item(None, price)


def _with_name(item: Item, name: str) -> Item:
    """Return the item, called by the name if it has none of its own."""
    return item if item.name is not None else replace(item, name=_text(name))


def _named(written: str, rules: ItemRules) -> Item:
    """Return the item of a name, which a price may follow."""
    name = _text(written)
    return Item() if name is None else _priced_item(*split_name(name, rules))


def _of_value(value: Any) -> tuple[str, ...]:
    if isinstance(value, list):
        names = (str(one) if isinstance(one, JsonNumber) else _name_in(one) for one in _flat(value))
        return folded_categories(name for name in names if name is not None)
    return split_categories(value) if isinstance(value, str) else ()


def _text(written: str) -> str | None:
    """Return a text with single spaces, or None; NUL, which JSON can state and databases cannot hold, is replaced."""
    return " ".join(written.replace("\x00", "\N{REPLACEMENT CHARACTER}").split()) or None


def _count(n: float) -> float:
    """Return a whole number as int, so that JSON writes it without a point."""
    return int(n) if float(n).is_integer() else n
