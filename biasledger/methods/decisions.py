"""Labels, scores and rankings of people."""

from __future__ import annotations

from biasledger.methods import UNIT, Part

PARTS = {
    "selection": Part(
        table="int_decisions_comparable_units",
        columns={
            **UNIT,
            "subject": "varchar",
            "n_candidates": "integer",
            **dict.fromkeys(("n", "total"), "double"),
        },
    ),
}
