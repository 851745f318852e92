"""Labels, scores and rankings of people."""

from __future__ import annotations

from biasledger.methods import UNIT, Method, Part

_PARTS = {
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

_SENTENCES = {
    "rank_gap": (
        "a case is labelled {size:.2f} ranks {higher} for {group} than for {reference}{about}, on average"
    ),
    "place_gap": (
        "candidates with {group} names end {size:.1f} places {higher} in the ranking than those with {reference} "
        "names{about}, on average"
    ),
    "score_gap": (
        "{group} people are scored {higher} than {reference} ones{about}, by {size:.2f} of the usual distance between "
        "two people's scores"
    ),
    "relative_gap": "{group} people are scored {percent:.0f} % {higher} than {reference} ones{about}, on average",
    "accuracy_gap": (
        "decisions about {group} people are right {more} often than about {reference} ones{about}, by {percent:.0f} of "
        "every 100"
    ),
    "impact_ratio": (
        "for every 100 people selected of the best-off group by {attribute}, an equally large worst-off group has only "
        "{percent:.0f}{about}; below 80 is what the four-fifths rule flags"
    ),
    "position_bias": (
        "candidates shown first win {more} often than by chance, by {percent:.0f} of every 100 rankings"
    ),
}

_UNITS = {
    "rank_gap": ("the gap in ranks", 1, " ranks"),
    "place_gap": ("the gap in places", 1, " places"),
    "score_gap": ("the gap in scores", 1, " standard deviations"),
    "relative_gap": ("the gap in scores", 100, " %"),
    "accuracy_gap": ("the gap in right decisions", 100, " points"),
    "impact_ratio": ("the impact ratio", 100, " %"),
    "position_bias": ("the advantage of being shown first", 100, " points"),
}

# In an impact ratio the member is who is worse off.
_HARMS = dict.fromkeys(("rank_gap", "place_gap", "score_gap", "relative_gap", "accuracy_gap"), -1)

METHOD = Method(parts=_PARTS, sentences=_SENTENCES, units=_UNITS, harms=_HARMS)
