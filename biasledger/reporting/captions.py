"""Charts in words: the finding of a chart, which is its title, and a description for readers who cannot see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

from biasledger.numbers import percent
from biasledger.reporting.charts import Dot, Pair
from biasledger.reporting.picture import clip, interval, number, readable

_NAMED = 2  # in a finding
# Statuses that a title names before all others, the gravest first, and what it calls them.
_NAMED_FIRST = {"alarm": "Alarm", "past": "Past the threshold", "certain": "More than chance"}


def headline(marks: Sequence[Dot | Pair], band: str = "what chance alone gives") -> str:
    """The finding of a chart in one sentence: its alarms, or what is open; else what leaves its band, or both ends."""
    known = [(mark, mark.value) for mark in marks if mark.value is not None]
    by_status: dict[str | None, list[Dot | Pair]] = {}
    for mark, _ in known:
        by_status.setdefault(mark.status, []).append(mark)
    for status, text in _NAMED_FIRST.items():
        if status in by_status:
            return f"{text}: {_listed(sorted(by_status[status], key=lambda one: one.distance, reverse=True))}"
    if "inconclusive" in by_status:
        return f"No alarm; inconclusive: {_listed(by_status['inconclusive'])}"
    if set(by_status) == {"clear"}:
        return "Clear for all" if len(known) > 1 else "Clear"
    if "insufficient_data" in by_status:
        return "Too few answers to judge"
    bands = [(mark.band_low, mark.band_high) for mark, _ in known]
    if known and all(low is not None and high is not None for low, high in bands):
        outside = [
            mark
            for (mark, value), (low, high) in zip(known, bands, strict=True)
            if not (low or 0.0) <= value <= (high or 0.0)
        ]
        if not outside:
            return f"{'All lie' if len(known) > 1 else f'{_said(known[0][0])} lies'} within {band}"
        if isinstance(outside[0], Dot):
            return f"Outside {band}: {_listed(outside)}"
    if len(known) < 2:
        return _listed([mark for mark, _ in known])
    ordered = sorted(known, key=lambda one: one[1])
    (lowest, low), (highest, high) = ordered[0], ordered[-1]
    if number(low) == number(high):
        return f"The same for all: {number(low)}"
    return f"Highest: {_said(highest)}; lowest: {_said(lowest)}"


def _listed(marks: Sequence[Dot | Pair]) -> str:
    more = f" and {len(marks) - _NAMED} more" if len(marks) > _NAMED else ""
    separator = "; " if any(isinstance(mark, Pair) for mark in marks) else ", "
    return separator.join(map(_said, marks[:_NAMED])) + more


def _said(mark: Dot | Pair) -> str:
    return f"{clip(mark.label, 60)} {mark.written}"


def headline_of_parts(mixes: Mapping[str, Mapping[str, float]]) -> str:
    """Name the part whose share differs most between the groups of stacked bars."""
    if len(mixes) < 2:
        return "; ".join(
            f"{readable(part)}: {percent(share)}"
            for mix in mixes.values()
            for part, share in mix.items()
            if share
        )
    ends = []
    for part in next(iter(mixes.values())):
        shares = sorted((mix[part], group) for group, mix in mixes.items())
        ends.append((shares[-1][0] - shares[0][0], part, shares[-1], shares[0]))
    difference, part, (most, highest), (least, lowest) = max(ends)
    if not difference:
        return "The same shares for all"
    return f"{readable(part)}: {readable(highest)} {percent(most)}, {readable(lowest)} {percent(least)}"


def headline_of_bars(rows: Sequence[tuple[str, float, str]], who: tuple[str, str], text: str) -> str:
    """The finding of signed bars: the largest difference to each side, said in `text` by label, size or points, and who."""
    if not any(value for _, value, _ in rows):
        return "No difference"
    difference = itemgetter(1)
    ends = [(max(rows, key=difference), who[0], 1), (min(rows, key=difference), who[1], -1)]
    return "; ".join(
        text.format(label=label, size=percent(abs(value), 1), points=100 * abs(value), who=name)
        for (label, value, _), name, side in ends
        if value * side > 0
    )


def describe_dots(dots: Sequence[Dot], what: str) -> str:
    """A chart of dots in words: how many there are, the highest, the lowest, and which are alarms."""
    known = sorted(((dot.value, dot) for dot in dots if dot.value is not None), key=lambda valued: valued[0])
    if not known:
        return f"{what}: no value could be computed."

    def described(dot: Dot) -> str:
        ends = "" if dot.low is None or dot.high is None else f" ({interval(dot.low, dot.high)})"
        return f"{_said(dot)}{ends}"

    lowest, highest = described(known[0][1]), described(known[-1][1])
    sentence = (
        f"{what}: {lowest}."
        if len(known) == 1
        else f"{what}, {len(known)} rows. Highest: {highest}. Lowest: {lowest}."
    )
    return sentence + _alarms(dots, " and others")


def describe_pairs(pairs: Sequence[Pair], what: str) -> str:
    """Dumbbells in words: every pair, and which are alarms."""
    return f"{what}: {'; '.join(map(_said, pairs[:12]))}." + _alarms(pairs)


def _alarms(marks: Sequence[Dot | Pair], others: str = "") -> str:
    named = [clip(mark.label, 60) for mark in marks if mark.status == "alarm"]
    return f" Alarm: {', '.join(named[:8])}{others if len(named) > 8 else ''}." if named else ""
