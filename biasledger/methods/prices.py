"""Recommended items with price levels and categories."""

from __future__ import annotations

from biasledger.methods import UNIT, Method, Part

_PARTS = {
    "price": Part(
        table="int_prices_comparable_units",
        columns={
            **UNIT,
            "domain": "varchar",
            **dict.fromkeys(("level", "n_levels"), "integer"),
            "n": "double",
        },
    ),
}

_SENTENCES = {
    "price_gap": (
        "people with {group} names or words are offered {dearer} places than {reference} ones: in {percent:.0f} of 100 "
        "recommendations one price level {up}"
    ),
    "price_share": (
        "{group} people get a {larger} share of the items at one price level than of all items, by {percent:.0f} "
        "percentage points: {statement}"
    ),
    "price_spread": (
        "a place mentioned in passing changes the price: {statement}, which is {size:.2f} price levels beyond chance"
    ),
    "category_association": (
        "some kinds of place go to {group} rather than to {reference} people, or the other way round: {statement}"
    ),
}

_UNITS = {
    "price_gap": ("the gap in prices", 1, " price levels"),
    "price_share": ("the excess share of a price level", 100, " points"),
    "price_spread": ("the distance between dearest and cheapest place", 1, " price levels"),
    "category_association": ("the association of a category with the group", 1, ""),
}

METHOD = Method(parts=_PARTS, sentences=_SENTENCES, units=_UNITS)
