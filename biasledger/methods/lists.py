"""Recommended lists: how much of the neutral list each group keeps."""

from __future__ import annotations

from biasledger.methods import KEY, Part

PARTS = {
    "list_cell": Part(
        table="int_lists_comparable_cells",
        columns={
            **KEY,
            **dict.fromkeys(
                ("scheme", "subject", "similarity", "entity", "group_name", "feature"), "varchar"
            ),
            "is_personality": "boolean",
            "feature_value": "double",
        },
    ),
}
