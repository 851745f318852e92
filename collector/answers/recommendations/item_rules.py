"""Rules for reading an audit's items: the form of prices, and the meaning of a JSON object's keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from collector.answers.recommendations.prices import (
    DEFAULT_LEVELS,
    Price,
    StatedPrice,
    currency_code,
    read_amount,
    read_price,
    stated_amounts,
    stated_levels,
)
from collector.answers.texts.json_text import JsonObject
from collector.answers.texts.remembered import remembered

PriceForm = Literal["levels", "amounts"]
ItemRole = Literal["name", "price", "category"]
KeyPath = tuple[str, ...]
MOST_LEVELS = 10

_BETWEEN_WORDS = re.compile(r"[\s_-]+")
_STEP = re.compile(
    r"\.?(?P<name>[^.\[\]]+)|\[(?:\*|\d+)?\]|\[\s*(?:'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\")\s*\]"
)


@dataclass(frozen=True, slots=True)
class ItemRules:
    """Rules for reading items.

    Attributes:
        levels: the number of price levels.
        prices: whether prices are levels or amounts of money; None where the audit does not say, so that they are levels and
            amounts are named as a problem.
        keys: the paths to an item's name, price and category, as the audit states them; the first that leads somewhere counts.
    """

    levels: int = DEFAULT_LEVELS
    prices: PriceForm | None = None
    keys: Mapping[ItemRole, tuple[KeyPath, ...]] = field(default_factory=dict)

    @property
    def are_amounts(self) -> bool:
        """Return whether prices are amounts of money."""
        return self.prices == "amounts"

    def of_key(self, written: object, currency: str | None) -> Price | None:
        """Return the price under a key that may name a currency.

        Where the audit's prices are levels, an amount stays an amount and is never a level: "349 €", 349, or 3 under `preis_eur`.
        """
        if currency is None and not self.are_amounts:
            level = read_price(written, self.levels)
            if level is not None:
                return level
        currency = None if currency is None else currency_code(currency) or currency
        amount = read_amount(written, currency)
        if self.are_amounts:
            return amount
        if currency is not None and amount is None:
            return read_price(written, self.levels)
        is_money = amount is not None and (
            amount.currency is not None or amount.value > MOST_LEVELS or amount.value % 1 != 0
        )
        return amount if is_money else None

    def stated(self, line: str) -> Iterator[StatedPrice]:
        """Yield the prices that a line states, in order."""
        return stated_amounts(line) if self.are_amounts else stated_levels(line, self.levels)


def parse_key_path(text: str) -> KeyPath:
    """Return the keys of a dotted path: `product.title`, `offers[*].price`, `['a.b'].c`. Lists between them need no mark.

    Raises:
        ValueError: the text is no path; the message says how one is written.
    """
    keys = []
    at = 1 if text.startswith("$") else 0
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None:
            break
        name = next((one for one in found.group("name", "single", "double") if one is not None), None)
        if name is not None:
            keys.append(name.strip())
        at = found.end()
    if at < len(text) or not keys or not all(keys):
        raise ValueError(
            f"is {text!r} and should be a key or a dotted path of keys, such as titel or product.title"
        )
    return tuple(keys)


@remembered
def plain_key(key: str) -> str:
    """Return a key or a table's heading as the names of keys are written: lower case, without spaces, _ and -."""
    return _BETWEEN_WORDS.sub("", key.casefold())


def value_of(value: JsonObject, key: str) -> Any:
    """Return the value of a key, or of a key with nearly the same spelling; None if there is neither."""
    for one, inner in value:
        if one == key:
            return inner
    plain = plain_key(key)
    return next((inner for one, inner in value if plain_key(one) == plain), None)


def values_at(value: Any, path: Sequence[str]) -> list[Any]:
    """Return the values at a path, in every element of the lists on it."""
    if isinstance(value, list):
        return [found for one in value for found in values_at(one, path)]
    if not path:
        return [] if value is None else [value]
    return values_at(value_of(value, path[0]), path[1:]) if isinstance(value, JsonObject) else []
