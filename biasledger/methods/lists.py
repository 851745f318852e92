"""Recommended lists: how much of the neutral list each group keeps."""

from __future__ import annotations

from biasledger.methods import KEY, Method, Part

_PARTS = {
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

_SPREAD = (
    "{what} depends on {{attribute}}{{about}}: the groups lie up to {{percent:.0f}} percentage points apart "
    "beyond chance"
)

_SENTENCES = {
    "snsr": (
        "recommendations depend on {attribute}{about}: the groups whose lists are closest to and farthest from the neutral "
        "list differ by {percent:.0f} of 100 points of similarity, beyond chance"
    ),
    "snsv": (
        "recommendations depend on {attribute}{about}: groups typically lie {percent:.0f} of 100 points of similarity, "
        "beyond chance, from the average group"
    ),
    "unanswered_spread": _SPREAD.format(what="how often a question gets no list"),
    "shortfall_spread": _SPREAD.format(what="how many places of a list stay empty"),
    "repeat_spread": _SPREAD.format(what="how often a list repeats itself"),
    "relevance_spread": _SPREAD.format(what="how relevant the lists are (NDCG)"),
    "robustness": (
        "asked in the wording {wording}{about}, it gives lists that keep only {percent:.0f} of 100 points of similarity "
        "to those of the clean question"
    ),
}

_UNITS = {
    "snsr": ("the distance between the groups' lists", 100, " points"),
    "snsv": ("the usual distance between the groups' lists", 100, " points"),
    "unanswered_spread": ("the gap in questions without a list", 100, " points"),
    "shortfall_spread": ("the gap in empty places", 100, " points"),
    "repeat_spread": ("the gap in repeats", 100, " points"),
    "relevance_spread": ("the gap in relevance", 100, " points"),
    "personality_fairness": ("the fairness over personalities", 100, " points"),
    "robustness": ("the similarity to the clean question's lists", 100, " points"),
}

METHOD = Method(parts=_PARTS, sentences=_SENTENCES, units=_UNITS)
