"""Alarms in plain words: who is treated differently, how much in units that anybody reads, and how certain that is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Row = Mapping[str, Any]

_TAIL = re.compile(r"; (?:adjusted p|anything past|nothing past|[-+.\d]+ beyond chance).*$", re.DOTALL)
_ODDS_AT_MOST = 1_000_000


def name_of(row: Row) -> str:
    """What a case is about in a few words: groups, subject, and mitigation where there is one."""
    group, reference, attribute = (
        _words(row[name]) for name in ("group_name", "reference_group", "attribute")
    )
    parts = [attribute] if attribute and not attribute.startswith("(") else []
    if not group.startswith("("):
        parts.append(f"{group} against {reference.strip('()')}")
    named = ": ".join(parts)
    of = [str(row["subject"])] if row["subject"] else []
    of += [f"with {row['variant']}"] if row["variant"] != "plain" else []
    if not named:
        return ", ".join(of) or str(row["measure"])
    return f"{named} ({', '.join(of)})" if of else named


def plain_finding(row: Row) -> str:
    """An alarm in one plain sentence, with its certainty."""
    return f"{_of(row)}{_SENTENCES.get(row['measure'], _as_explained)(row)}{_certainty(row['p_value_adjusted'])}."


def plain_regression(row: Row) -> str:
    """What got worse since the baseline, in one plain sentence, with its certainty."""
    what, scale, unit = _UNITS.get(row["measure"], (_words(row["measure"]), 1.0, ""))
    member = f", most clearly {row['member']}" if row["member"] else ""
    before, after, by = (
        _number(scale * number, unit) for number in (row["baseline_value"], row["value"], row["worsening"])
    )
    return (
        f"{_of(row)}{name_of(row)} got worse since the baseline: {what}{member} went from {before} to {after}, "
        f"worse by {by}{_certainty(row['p_value_adjusted'])}."
    )


def _of(row: Row) -> str:
    return f"{row['target']}, {row['audit']}: "


def _words(name: str) -> str:
    """Intersections read better without a star."""
    return str(name).replace("*", " ")


def _number(value: float, unit: str) -> str:
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:.{digits}f}{unit}"


def _certainty(p_value: float | None) -> str:
    if p_value is None:
        return ""
    if p_value <= 0:
        return " (counted, so no chance is in it)"
    odds = min(1 / p_value, _ODDS_AT_MOST)
    rounded = float(f"{odds:.1g}" if odds < 10 else f"{odds:.2g}")
    return f" (by chance alone, fewer than one audit in {rounded:,.0f} would show this)" if odds >= 10 else ""


def _groups(row: Row) -> tuple[str, str]:
    return _words(row["group_name"]), _words(row["reference_group"])


def _detail(row: Row) -> str:
    """What the finding says of itself, without its p."""
    return _TAIL.sub("", str(row["explanation"] or "")).rstrip(". ")


def _as_explained(row: Row) -> str:
    return _detail(row)


def _about(row: Row) -> str:
    return f" when it comes to {row['subject']}" if row["subject"] else ""


def _more_or_less(value: float, more: str, less: str) -> str:
    return more if value > 0 else less


def _word_divergence(row: Row) -> str:
    group, reference = _groups(row)
    return (
        f"answers for {group} and for {reference} are worded differently, {100 * row['value']:.1f} % of the "
        "way from the same words "
        "to not a word in common"
    )


def _separability(row: Row) -> str:
    group, reference = _groups(row)
    return (
        "a reader of the words alone, with every word that names a group taken out, would tell in "
        f"{100 * row['value']:.0f} of 100 "
        f"answers whether they are for {group} or for {reference}; 50 of 100 is guessing"
    )


def _marked_words(row: Row) -> str:
    return _detail(row).replace("are used significantly more for", "are used more, beyond chance, for")


def _similarity(row: Row) -> str:
    return (
        f"recommendations depend on {_words(row['attribute'])}{_about(row)}: between the group whose list "
        "stays closest to the list for "
        f"nobody in particular and the one whose list strays most lie {100 * row['value']:.0f} of 100 "
        "points of similarity beyond chance"
    )


def _similarity_sd(row: Row) -> str:
    return (
        f"recommendations depend on {_words(row['attribute'])}{_about(row)}: groups typically lie "
        f"{100 * row['value']:.0f} of 100 points of "
        "similarity, beyond chance, from the average group"
    )


def _spread(what: str) -> Callable[[Row], str]:
    def sentence(row: Row) -> str:
        return (
            f"{what} depends on {_words(row['attribute'])}{_about(row)}: the groups lie up to "
            f"{100 * row['value']:.0f} percentage points "
            "apart beyond chance"
        )

    return sentence


def _robustness(row: Row) -> str:
    return (
        f"asked in the wording {row['group_name']}{_about(row)}, it gives lists that keep only "
        f"{100 * row['value']:.0f} of 100 points of "
        "similarity to those of the clean question"
    )


def _rank_gap(row: Row) -> str:
    group, reference = _groups(row)
    return (
        f"the same resume is placed {abs(row['value']):.2f} ranks "
        f"{_more_or_less(row['value'], 'higher', 'lower')} under a {group} name "
        f"than under a {reference} one{_about(row)}"
    )


def _place_gap(row: Row) -> str:
    group, reference = _groups(row)
    return (
        f"candidates with {group} names end {abs(row['value']):.1f} places "
        f"{_more_or_less(row['value'], 'higher', 'lower')} in the ranking "
        f"than those with {reference} names{_about(row)}, on average"
    )


def _score_gap(row: Row) -> str:
    group, reference = _groups(row)
    return (
        f"{group} people are scored {_more_or_less(row['value'], 'higher', 'lower')} than {reference} "
        f"ones{_about(row)}, by "
        f"{abs(row['value']):.2f} of the usual distance between two people's scores"
    )


def _accuracy_gap(row: Row) -> str:
    group, reference = _groups(row)
    return (
        f"of 100 decisions about {group} people {abs(100 * row['value']):.0f} "
        f"{_more_or_less(row['value'], 'more', 'fewer')} are right than about {reference} ones{_about(row)}"
    )


def _impact_ratio(row: Row) -> str:
    return (
        f"for every 100 people selected of the best-off group by {_words(row['attribute'])}, only "
        f"{100 * row['value']:.0f} of as many are of "
        f"the worst-off{_about(row)}; below 80 is what the four-fifths rule flags"
    )


def _position_bias(row: Row) -> str:
    return (
        f"who is shown first wins {abs(100 * row['value']):.0f} of 100 rankings "
        f"{_more_or_less(row['value'], 'more', 'fewer')} than "
        "by chance, whoever that is"
    )


def _price_gap(row: Row) -> str:
    group, reference = _groups(row)
    return (
        f"people with {group} names or words are offered {_more_or_less(row['value'], 'dearer', 'cheaper')} "
        f"places than {reference} ones: "
        f"in {abs(100 * row['value']):.0f} of 100 recommendations one price level "
        f"{_more_or_less(row['value'], 'up', 'down')}"
    )


def _price_share(row: Row) -> str:
    group, reference = _groups(row)
    return (
        f"one price level goes {_more_or_less(row['value'], 'more', 'less')} often to {group} than to "
        f"{reference} people, by "
        f"{abs(100 * row['value']):.0f} of every 100 such recommendations: {_detail(row)}"
    )


def _price_spread(row: Row) -> str:
    return (
        f"what place is mentioned by the way changes the price: {_detail(row)}, which is {row['value']:.2f} "
        "price levels beyond chance"
    )


def _association(row: Row) -> str:
    group, reference = _groups(row)
    return (
        f"some kinds of place go to {group} rather than to {reference} people, or the other way round: "
        f"{_detail(row)}"
    )


def _stereotype_ratio(row: Row) -> str:
    return (
        f"about {row['subject']}, {100 * row['value']:.0f} of 100 telling words are those of the "
        "stereotype; without a leaning it "
        "would be 50"
    )


def _stereotype_gap(row: Row) -> str:
    group, reference = _groups(row)
    return (
        f"texts about people with {group} names lean {_more_or_less(row['value'], 'more', 'less')} to the "
        "stereotype than those about "
        f"{reference} ones{_about(row)}: {abs(100 * row['value']):.0f} of 100 telling words change sides"
    )


def _marker_association(row: Row) -> str:
    group, reference = _groups(row)
    return f"texts about {group} and {reference} people are described with different sorts of words: {_detail(row)}"


def _regard_gap(row: Row) -> str:
    group, reference = _groups(row)
    return (
        f"texts about {group} people read {_more_or_less(row['value'], 'more', 'less')} negative than those "
        f"about {reference} ones"
        f"{_about(row)}, by {abs(100 * row['value']):.0f} of 100 points of a classifier"
    )


_SENTENCES: dict[str, Callable[[Row], str]] = {
    "word_divergence": _word_divergence,
    "separability": _separability,
    "marked_words": _marked_words,
    "snsr": _similarity,
    "snsv": _similarity_sd,
    "unanswered_spread": _spread("how often a question gets no list"),
    "shortfall_spread": _spread("how many places of a list stay empty"),
    "repeat_spread": _spread("how often a list repeats itself"),
    "relevance_spread": _spread("how relevant the lists are (NDCG)"),
    "robustness": _robustness,
    "rank_gap": _rank_gap,
    "place_gap": _place_gap,
    "score_gap": _score_gap,
    "accuracy_gap": _accuracy_gap,
    "impact_ratio": _impact_ratio,
    "position_bias": _position_bias,
    "price_gap": _price_gap,
    "price_share": _price_share,
    "price_spread": _price_spread,
    "category_association": _association,
    "stereotype_ratio": _stereotype_ratio,
    "probe_stereotype_ratio": _stereotype_ratio,
    "stereotype_gap": _stereotype_gap,
    "marker_association": _marker_association,
    "negative_regard_gap": _regard_gap,
}

_UNITS: dict[str, tuple[str, float, str]] = {
    "word_divergence": ("the difference in wording", 100, " %"),
    "separability": ("the share of answers whose group can be told from their words", 100, " %"),
    "marked_words": ("the |z| of the most telling word", 1, ""),
    "snsr": ("the distance between the groups' lists", 100, " points"),
    "snsv": ("the usual distance between the groups' lists", 100, " points"),
    "unanswered_spread": ("the gap in questions without a list", 100, " points"),
    "shortfall_spread": ("the gap in empty places", 100, " points"),
    "repeat_spread": ("the gap in repeats", 100, " points"),
    "relevance_spread": ("the gap in relevance", 100, " points"),
    "personality_fairness": ("the fairness over personalities", 100, " points"),
    "robustness": ("the similarity to the clean question's lists", 100, " points"),
    "rank_gap": ("the gap in ranks", 1, " ranks"),
    "place_gap": ("the gap in places", 1, " places"),
    "score_gap": ("the gap in scores", 1, " standard deviations"),
    "accuracy_gap": ("the gap in right decisions", 100, " points"),
    "impact_ratio": ("the impact ratio", 100, " %"),
    "position_bias": ("the advantage of being shown first", 100, " points"),
    "price_gap": ("the gap in prices", 1, " price levels"),
    "price_share": ("the excess share of a price level", 100, " points"),
    "price_spread": ("the distance between dearest and cheapest place", 1, " price levels"),
    "category_association": ("the association of a category with the group", 1, ""),
    "stereotype_ratio": ("the share of stereotyped words", 100, " %"),
    "probe_stereotype_ratio": ("the share of stereotyped words", 100, " %"),
    "stereotype_gap": ("the gap in stereotyped words", 100, " points"),
    "marker_association": ("the association of a list of words with the group", 1, ""),
    "negative_regard": ("the share of texts of a very negative tone", 100, " %"),
    "negative_regard_gap": ("the gap in negative tone", 100, " points"),
    "model_change": ("the share of answers by another model", 100, " %"),
}
"""Measure -> what it is in words, by what its value is multiplied, and the unit that it then has."""
