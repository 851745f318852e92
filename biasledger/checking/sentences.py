"""Alarms in plain words: who is treated differently, how much in units that anybody reads, and how certain that is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Row = Mapping[str, Any]

_SCOPES = {
    "names": "; it speaks of these names alone",
    "wording": "; it speaks of this wording alone",
}
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
    scope = _SCOPES.get(row["scope"], "")
    return f"{_of(row)}{_sentence(row)}{_certainty(row['p_value_adjusted'])}{scope}."


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
    odds = int(min(1 / p_value, _ODDS_AT_MOST))
    if odds < 10:
        return ""
    # Two digits, and never more than there are: chance must not look rarer than it is.
    step = 10 ** (len(str(odds)) - 2)
    return f" (by chance alone, at most one audit in {odds // step * step:,} would show this)"


def _sentence(row: Row) -> str:
    """The measure's sentence about this row; what the finding states where a measure has none."""
    value = row["value"] or 0.0
    directions = {up: up if value > 0 else down for up, down in _OPPOSITES.items()}
    return _SENTENCES.get(row["measure"], "{statement}").format(
        group=_words(row["group_name"]),
        reference=_words(row["reference_group"]),
        attribute=_words(row["attribute"]),
        subject=row["subject"],
        wording=row["group_name"],
        about=f", in the category {row['subject']}" if row["subject"] else "",
        statement=row["statement"],
        size=abs(value),
        percent=100 * abs(value),
        # All that a reader of words has to bear in mind.
        removed="left in" if row["caution"] else "taken out",
        **directions,
    )


_OPPOSITES = {"more": "less", "higher": "lower", "larger": "smaller", "dearer": "cheaper", "up": "down"}
"""What stands for a positive value -> what stands for a negative one."""

_SPREAD = (
    "{what} depends on {{attribute}}{{about}}: the groups lie up to {{percent:.0f}} percentage points apart "
    "beyond chance"
)

_SENTENCES = {
    "word_divergence": (
        "answers for {group} and for {reference} are worded differently, {percent:.1f} % of the way from the same words "
        "to not a word in common"
    ),
    "separability": (
        "a reader of the words alone, with the words that name a group {removed}, would tell in {percent:.0f} of 100 "
        "answers whether they are for {group} or for {reference}; 50 of 100 is guessing"
    ),
    "snsr": (
        "recommendations depend on {attribute}{about}: between the group whose list stays closest to the list for nobody "
        "in particular and the one whose list strays most lie {percent:.0f} of 100 points of similarity beyond chance"
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
    "accuracy_gap": (
        "decisions about {group} people are right {more} often than about {reference} ones{about}, by {percent:.0f} of "
        "every 100"
    ),
    "impact_ratio": (
        "for every 100 people selected of the best-off group by {attribute}, an equally large worst-off group has only "
        "{percent:.0f}{about}; below 80 is what the four-fifths rule flags"
    ),
    "answer_gap": (
        "questions about {group} get no usable answer {more} often than those about {reference}, by {percent:.0f} of every "
        "100: {statement}"
    ),
    "position_bias": (
        "who is shown first wins {more} often than by chance, by {percent:.0f} of every 100 rankings, whoever that is"
    ),
    "price_gap": (
        "people with {group} names or words are offered {dearer} places than {reference} ones: in {percent:.0f} of 100 "
        "recommendations one price level {up}"
    ),
    "price_share": (
        "of the items at one price level {group} people get a {larger} share than of all items, by {percent:.0f} "
        "percentage points: {statement}"
    ),
    "price_spread": (
        "what place is mentioned by the way changes the price: {statement}, which is {size:.2f} price levels beyond chance"
    ),
    "category_association": (
        "some kinds of place go to {group} rather than to {reference} people, or the other way round: {statement}"
    ),
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
}
"""Measure -> its sentence, of what `_sentence` fills in."""

_UNITS: dict[str, tuple[str, float, str]] = {
    "word_divergence": ("the difference in wording", 100, " %"),
    "separability": ("the share of answers whose group can be told from their words", 100, " %"),
    "length_gap": ("the gap in the logarithm of lengths", 1, ""),
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
    "answer_gap": ("the gap in questions without a usable answer", 100, " points"),
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
