"""Stereotype markers in texts, and scores of texts, such as their regard."""

from __future__ import annotations

from biasledger.methods import Method

_SENTENCES = {
    "stereotype_ratio": (
        "in the category {subject}, {percent:.0f} of 100 telling words are those of the stereotype; without a leaning "
        "it would be 50"
    ),
    "probe_stereotype_ratio": (
        "in answers to the probe {subject}, {percent:.0f} of 100 telling words are those of the stereotype; without a "
        "leaning it would be 50"
    ),
    "stereotype_gap": (
        "texts about people with {group} names lean {more} to the stereotype than those about {reference} ones{about}: "
        "{percent:.0f} of 100 telling words change sides"
    ),
    "marker_association": (
        "texts about {group} and {reference} people are described with different sorts of words: {statement}"
    ),
    "negative_regard_gap": (
        "texts about {group} people read {more} negative than those about {reference} ones{about}, by {percent:.0f} of "
        "100 points of a classifier"
    ),
    "text_score_gap": (
        "texts about {group} people come off {worse} than those about {reference} ones{about}, by {percent:.0f} of 100 points "
        "of a score's range: {statement}"
    ),
}

_UNITS = {
    "stereotype_ratio": ("the share of stereotyped words", 100, " %"),
    "probe_stereotype_ratio": ("the share of stereotyped words", 100, " %"),
    "stereotype_gap": ("the gap in stereotyped words", 100, " points"),
    "marker_association": ("the association of a list of words with the group", 1, ""),
    "negative_regard": ("the share of texts of a very negative tone", 100, " %"),
    "negative_regard_gap": ("the gap in negative tone", 100, " points"),
    "text_score_gap": ("the gap towards a score's worse end", 100, " % of its range"),
}

_HARMS = dict.fromkeys(("stereotype_gap", "negative_regard_gap", "text_score_gap"), 1)

METHOD = Method(sentences=_SENTENCES, units=_UNITS, harms=_HARMS)
