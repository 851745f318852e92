"""Answers that differ in the group alone: how alike they are, how they read, how much they hedge."""

from __future__ import annotations

from biasledger.methods import Method

_SENTENCES = {
    "similarity_gap": (
        "answers about {group} are less like those about {reference} than answers about either are among themselves, by "
        "{percent:.1f} of 100 points of similarity"
    ),
    "readability_gap": (
        "answers about {group} read {more} easily than those about {reference}, by {size:.0f} points of Flesch's scale of 100"
    ),
    "hedging_gap": (
        "answers about {group} hedge {more} often than those about {reference}, by {percent:.0f} of every 100 sentences: "
        "{statement}"
    ),
}

_UNITS = {
    "similarity_gap": ("what answers are less alike between groups than inside them", 100, " points"),
    "readability_gap": ("the gap in reading ease", 1, " points"),
    "hedging_gap": ("the gap in sentences that hedge", 100, " points"),
}

METHOD = Method(sentences=_SENTENCES, units=_UNITS)
