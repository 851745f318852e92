"""Recommended items with price levels and categories."""

from __future__ import annotations

from biasledger.methods import UNIT, Part

PARTS = {
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
