"""The kinds of chart as Vega-Lite: dots with intervals, dumbbells, signed bars, scatter, levels, lines, stacked shares.

Colours are names of CSS variables, so that dark mode and print change them without redrawing. A series always differs in
shape or direction, too. Legends are part of the page, where they wrap and can be read aloud. Texts of a warehouse stand in data
and in domains of scales only, which Vega never reads as expressions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from biasledger.numbers import percent
from biasledger.reporting.picture import (
    STATUS_TEXTS,
    Key,
    clip,
    interval,
    number,
    readable,
    signed,
    unique_labels,
)
from biasledger.reporting.source import Row

# The version of Vega-Lite, among those of vl-convert, that these charts are written for.
VEGA_LITE = "6.4"
SERIES_AT_MOST = 5

Spec = dict[str, Any]

_RATIOS_AT = 1.24  # right of 100 %
_ROW = 24  # pixels a category takes
_HEIGHT = 260  # pixels of a chart without categories
# Alarms and what is clear are filled, what is open is hollow: they differ where no colour is seen.
_KINDS = {
    "alarm": ("var(--alarm)", "triangle-up"),
    "inconclusive": ("var(--undecided)", "diamond"),
    "clear": ("var(--clear)", "circle"),
    "insufficient_data": ("var(--unjudged)", "square"),
    # Not judged by itself, but past the threshold and further from no difference than chance would put it.
    "past": ("var(--alarm)", "cross"),
    # Past the threshold, but that may be chance.
    "uncertain": ("var(--undecided)", "triangle-down"),
    # More than chance gives, in a chart whose marks are not judged one by one.
    "certain": ("var(--accent)", "cross"),
    "worse": ("var(--ink)", "triangle-right"),
    "better": ("var(--ink)", "triangle-left"),
    "plain": ("var(--accent)", "circle"),
    "quiet": ("var(--unjudged)", "circle"),
}
_HOLLOW = {"inconclusive", "insufficient_data", "past", "uncertain"}
_SERIES = tuple(
    (f"var(--series-{place})", shape)
    for place, shape in enumerate(("circle", "diamond", "square", "triangle-up", "triangle-down"), start=1)
)
_RULES = {
    "threshold": ("var(--alarm)", [6, 4]),
    "even": ("var(--ink-2)", [1, 0]),
    "noise": ("var(--series-1)", [2, 3]),
}

_ORDER = tuple((f"var(--order-{place})", "square") for place in range(1, SERIES_AT_MOST + 1))
_NAMED = 2  # in a finding

THRESHOLD_KEY = Key("rule-threshold", "threshold")
EVEN_KEY = Key("rule-even", "no difference")
LEGEND = (
    *(Key(status, text) for status, text in STATUS_TEXTS.items()),
    Key("past", "past the threshold, not judged by itself"),
    Key("uncertain", "past the threshold perhaps by chance, not judged by itself"),
    Key("certain", "more than chance gives, not judged by itself"),
    Key("plain", "not judged"),
    THRESHOLD_KEY,
    EVEN_KEY,
    Key("band", "what chance alone gives, 95 %"),
    Key("reference", "reference group"),
)
"""The legend of the page; charts have keys of their own only for what is not in it."""


@dataclass(frozen=True)
class Dot:
    """A value with its interval and, behind it, a band. `status` is one of fct_findings, or another of _KINDS, such as `plain`.

    `finding` is the id of the finding that it belongs to, to which the mark leads.
    """

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    status: str | None = "plain"
    band_low: float | None = None
    band_high: float | None = None
    more: Mapping[str, str] = field(default_factory=dict)
    finding: str | None = None


@dataclass(frozen=True)
class Pair:
    """A group's share next to that of its reference, both 0 to 1; the band is where the group's share would lie by chance."""

    label: str
    share: float
    reference: float
    status: str | None = "plain"
    band_low: float | None = None
    band_high: float | None = None
    more: Mapping[str, str] = field(default_factory=dict)
    finding: str | None = None

    @property
    def ratio(self) -> str:
        """How many times the reference's share the group's is; – where the reference has none."""
        return f"{number(self.share / self.reference)} ×" if self.reference else "–"


@dataclass(frozen=True)
class Rule:
    """A line across a chart; kind is threshold, even (no difference) or noise."""

    value: float
    kind: str


@dataclass(frozen=True)
class Point:
    """A point of a scatter plot; `is_named` asks for its name, which is drawn if there is space."""

    label: str
    x: float
    y: float
    status: str
    is_named: bool
    finding: str | None = None


def interval_dots(
    dots: Sequence[Dot],
    title: str,
    rules: Sequence[Rule] = (),
    *,
    limits: tuple[float, float] | None = None,
    shown: Sequence[float] = (),
) -> Spec:
    """A row for each dot: its value, its interval as a line, and its band in grey behind.

    Args:
        dots: from top to bottom.
        title: what the horizontal axis measures.
        rules: lines across all rows.
        limits: values outside are cut off; None fits the data.
        shown: what the axis shows in any case.
    """
    labels = unique_labels([dot.label for dot in dots])
    rows = [
        {
            "label": label,
            "value": dot.value,
            "low": dot.low,
            "high": dot.high,
            "band_low": dot.band_low,
            "band_high": dot.band_high,
            "kind": dot.status or "plain",
            "written": number(dot.value),
            "interval": interval(dot.low, dot.high),
            **{key: clip(text) for key, text in dot.more.items()},
        }
        for dot, label in zip(dots, labels, strict=True)
    ]
    ends = [end for dot in dots for end in (dot.value, dot.low, dot.high, dot.band_low, dot.band_high)]
    x = {
        "type": "quantitative",
        "title": title,
        "scale": {"domain": _domain([*ends, *shown, *(rule.value for rule in rules)], limits), "nice": False},
    }
    y = {"field": "label", **_categories(labels, 0.3)}
    fields = {
        "written": "value",
        "interval": "95 % interval",
        **{key: key for dot in dots for key in dot.more},
    }
    layers = [_vertical_rules(rules, x)] if rules else []
    if any(dot.band_low is not None for dot in dots):
        layers.append(_band(x, y))
    layers.append(
        {
            "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.75, "clip": True},
            "encoding": {
                "y": y,
                "x": {"field": "low", **x},
                "x2": {"field": "high"},
                "color": _colour("kind", _KINDS),
            },
        }
    )
    layers.append(_marks({"y": y, "x": {"field": "value", **x}}, fields))
    return linked(_spec(rows, layers, _ROW * len(labels)), [dot.finding for dot in dots])


def dumbbells(pairs: Sequence[Pair], title: str) -> Spec:
    """A row for each pair on an axis from 0 to 100 %: reference and group with a line between them, their ratio at the right.

    Args:
        pairs: from top to bottom.
        title: what the shares are of.
    """
    labels = unique_labels([pair.label for pair in pairs])
    rows = [
        {
            "label": label,
            "value": pair.share,
            "reference": pair.reference,
            "band_low": None if pair.band_low is None else max(pair.band_low, 0.0),
            "band_high": None if pair.band_high is None else min(pair.band_high, 1.0),
            "kind": pair.status or "plain",
            "ratio": pair.ratio,
            "written": percent(pair.share, 1),
            "shown_reference": percent(pair.reference, 1),
            **{key: clip(text) for key, text in pair.more.items()},
        }
        for pair, label in zip(pairs, labels, strict=True)
    ]
    x = {
        "type": "quantitative",
        "title": title,
        "scale": {"domain": [0.0, _RATIOS_AT], "nice": False},
        "axis": {"format": ".0~%", "values": [0, 0.25, 0.5, 0.75, 1]},
    }
    y = {"field": "label", **_categories(labels, 0.3)}
    fields = {"written": "of the group", "shown_reference": "of the reference", "ratio": "ratio"}
    fields |= {key: key for pair in pairs for key in pair.more}
    layers: list[Spec] = []
    if any(pair.band_low is not None for pair in pairs):
        layers.append(_band(x, y))
    layers += [
        {
            "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.75},
            "encoding": {
                "y": y,
                "x": {"field": "reference", **x},
                "x2": {"field": "value"},
                "color": _colour("kind", _KINDS),
            },
        },
        {
            "mark": {
                "type": "point", "shape": "circle", "filled": False, "size": 70, "strokeWidth": 1.8,
                "opacity": 1, "stroke": "var(--ink-2)", "fill": "var(--card)",
            },
            "encoding": {"y": y, "x": {"field": "reference", **x}},
        },
        _marks({"y": y, "x": {"field": "value", **x}}, fields),
        {
            "mark": {"type": "text", "align": "right", "color": "var(--ink)", "fontSize": 12},
            "encoding": {"y": y, "x": {"datum": _RATIOS_AT, **x}, "text": {"field": "ratio"}},
        },
    ]  # fmt: skip
    spec = {**_spec(rows, layers, _ROW * len(labels)), "usermeta": {"has_ratios": True}}
    return linked(spec, [pair.finding for pair in pairs])


def describe_pairs(pairs: Sequence[Pair], what: str) -> str:
    """Dumbbells in words: every pair, and which are alarms."""
    listed = "; ".join(
        f"{clip(pair.label, 60)} {percent(pair.share)} against {percent(pair.reference)}"
        for pair in pairs[:12]
    )
    alarms = [clip(pair.label, 60) for pair in pairs if pair.status == "alarm"]
    return f"{what}: {listed}." + (f" Alarm: {', '.join(alarms[:8])}." if alarms else "")


def _band(x: Spec, y: Spec) -> Spec:
    return {
        "mark": {
            "type": "bar", "fill": "var(--band)", "stroke": "var(--band-edge)", "height": {"band": 0.9}, "clip": True,
        },
        "encoding": {"y": y, "x": {"field": "band_low", **x}, "x2": {"field": "band_high"}},
    }  # fmt: skip


def _marks(places: Mapping[str, Spec], fields: Mapping[str, str]) -> Spec:
    """Draw one mark a row by its status; open marks are undecided."""
    return {
        "mark": {
            "type": "point",
            "filled": False,
            "size": 85,
            "strokeWidth": 1.8,
            "opacity": 1,
            "clip": True,
        },
        "encoding": {
            **places,
            "color": _colour("kind", _KINDS),
            "fill": _fill(),
            "shape": _shape("kind", _KINDS),
            "tooltip": _tooltip("label", fields),
        },
    }


def of_its_own(keys: Sequence[Key]) -> list[Key]:
    """Those keys of a chart that the legend of the page lacks."""
    return [key for key in keys if key not in LEGEND]


def threshold_rules(
    rows: Sequence[Row], even: float | None = None, *, is_two_sided: bool = False
) -> list[Rule]:
    """The line of no difference, and the thresholds of these rows: on both sides of it where a measure has two."""
    thresholds = sorted({row["threshold"] for row in rows if row["threshold"] is not None})
    other = [2 * (even or 0.0) - value for value in thresholds] if is_two_sided else []
    rules = [Rule(value, "threshold") for value in (*other, *thresholds)]
    return rules if even is None else [Rule(even, "even"), *rules]


def unjudged(
    value: float | None, low: float | None, high: float | None, threshold: float | None, even: float
) -> str:
    """How to draw a value without a verdict: `past` the threshold, `uncertain` if that may be chance, else `plain`."""
    if value is None or threshold is None or (value - threshold) * (threshold - even) < 0:
        return "plain"
    is_certain = low is not None and high is not None and not low <= even <= high
    return "past" if is_certain else "uncertain"


def headline(dots: Sequence[Dot | Pair], band: str = "what chance alone gives") -> str:
    """The finding of a chart in one sentence: its alarms, or what is open; else what leaves its band, or both ends."""
    known = [dot for dot in dots if not isinstance(dot, Dot) or dot.value is not None]
    alarms = [dot for dot in known if dot.status == "alarm"]
    if alarms:
        return f"Alarm: {_listed(sorted(alarms, key=_distance, reverse=True))}"
    past = [dot for dot in known if dot.status == "past"]
    if past:
        return f"Past the threshold: {_listed(sorted(past, key=_distance, reverse=True))}"
    certain = [dot for dot in known if dot.status == "certain"]
    if certain:
        return f"More than chance: {_listed(sorted(certain, key=_distance, reverse=True))}"
    undecided = [dot for dot in known if dot.status == "inconclusive"]
    if undecided:
        return f"No alarm; inconclusive: {_listed(undecided)}"
    if known and all(dot.status == "clear" for dot in known):
        return "Clear for all" if len(known) > 1 else "Clear"
    if known and any(dot.status == "insufficient_data" for dot in known):
        return "Too few answers to judge"
    banded = [dot for dot in known if dot.band_low is not None and dot.band_high is not None]
    if banded and len(banded) == len(known):
        outside = [dot for dot in banded if not _is_within(dot)]
        if not outside:
            return f"{'All lie' if len(known) > 1 else f'{_said(known[0])} lies'} within {band}"
        if isinstance(outside[0], Dot):
            return f"Outside {band}: {_listed(outside)}"
    if len(known) < 2:
        return _listed(known)
    ordered = sorted(known, key=_value)
    low, high = (number(_value(dot)) for dot in (ordered[0], ordered[-1]))
    if low == high:
        return f"The same for all: {low}"
    return f"Highest: {_said(ordered[-1])}; lowest: {_said(ordered[0])}"


def _listed(dots: Sequence[Dot | Pair]) -> str:
    more = f" and {len(dots) - _NAMED} more" if len(dots) > _NAMED else ""
    return ("; " if any(isinstance(dot, Pair) for dot in dots) else ", ").join(
        map(_said, dots[:_NAMED])
    ) + more


def _said(dot: Dot | Pair) -> str:
    if isinstance(dot, Pair):
        return f"{clip(dot.label, 60)} {percent(dot.share)} against {percent(dot.reference)}"
    return f"{clip(dot.label, 60)} {number(dot.value)}"


def _value(dot: Dot | Pair) -> float:
    return dot.share if isinstance(dot, Pair) else dot.value or 0.0


def _is_within(dot: Dot | Pair) -> bool:
    return (dot.band_low or 0.0) <= _value(dot) <= (dot.band_high or 0.0)


def _distance(dot: Dot | Pair) -> float:
    return abs(dot.share - dot.reference) if isinstance(dot, Pair) else abs(dot.value or 0.0)


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


def status_keys(rows: Sequence[Row]) -> tuple[Key, ...]:
    """The legend of the statuses that occur in these rows."""
    present = {row["status"] for row in rows}
    return tuple(Key(status, text) for status, text in STATUS_TEXTS.items() if status in present)


def describe_dots(dots: Sequence[Dot], what: str) -> str:
    """A chart of dots in words: how many there are, the highest, the lowest, and which are alarms."""
    known = sorted(((dot.value, dot) for dot in dots if dot.value is not None), key=lambda valued: valued[0])
    if not known:
        return f"{what}: no value could be computed."

    def described(dot: Dot) -> str:
        ends = "" if dot.low is None or dot.high is None else f" ({interval(dot.low, dot.high)})"
        return f"{clip(dot.label, 60)} {number(dot.value)}{ends}"

    lowest, highest = known[0][1], known[-1][1]
    if len(known) == 1:
        sentences = [f"{what}: {described(lowest)}."]
    else:
        sentences = [
            f"{what}, {len(known)} rows. Highest: {described(highest)}. Lowest: {described(lowest)}."
        ]
    alarms = [clip(dot.label, 60) for dot in dots if dot.status == "alarm"]
    if alarms:
        sentences.append(f"Alarm: {', '.join(alarms[:8])}{' and others' if len(alarms) > 8 else ''}.")
    return " ".join(sentences)


def signed_bars(rows: Sequence[tuple[str, float, str]], title: str) -> Spec:
    """A row for each label with a bar to the right or to the left of zero.

    Args:
        rows: label, difference, and what it is the difference of, for the tooltip.
        title: what the horizontal axis measures, a share.
    """
    labels = unique_labels([label for label, *_ in rows])
    values = [
        {
            "label": label,
            "value": value,
            "written": signed(percent(value, 1, has_sign=True)),
            "of": clip(text),
        }
        for label, (_, value, text) in zip(labels, rows, strict=True)
    ]
    x = {
        "type": "quantitative",
        "title": title,
        "scale": {"domain": _domain([0.0, *(value for _, value, _ in rows)]), "nice": False},
    }
    bars = {
        "mark": {"type": "bar", "color": "var(--accent)"},
        "encoding": {
            "y": {"field": "label", **_categories(labels, 0.35)},
            "x": {"field": "value", **x, "stack": None, "axis": {"format": "+.2~%", "tickCount": 5}},
            "tooltip": _tooltip("label", {"written": "difference", "of": "of"}),
        },
    }
    return _spec(values, [bars, _vertical_rules([Rule(0.0, "even")], x)], (_ROW - 3) * len(labels))


def headline_of_bars(rows: Sequence[tuple[str, float, str]], who: tuple[str, str], text: str) -> str:
    """The finding of signed bars: the largest difference to each side, said in `text` by label, size or points, and who."""
    if not any(value for _, value, _ in rows):
        return "No difference"
    ends = [(max(rows, key=_difference), who[0], 1), (min(rows, key=_difference), who[1], -1)]
    return "; ".join(
        text.format(label=label, size=percent(abs(value), 1), points=100 * abs(value), who=name)
        for (label, value, _), name, side in ends
        if value * side > 0
    )


def _difference(row: tuple[str, float, str]) -> float:
    return row[1]


def scatter(
    points: Sequence[Point], titles: tuple[str, str], *, log_x: bool = False, rules: Sequence[float] = ()
) -> Spec:
    """Points with names that never overlap: the first points' names are placed first.

    Args:
        points: in the order in which names get their place.
        titles: of the horizontal and the vertical axis.
        log_x: whether the horizontal axis is logarithmic; all x are then above 0.
        rules: heights of thresholds, drawn dashed; zero is drawn anyway.
    """
    rows = [
        {
            "label": clip(point.label, 60),
            "name": clip(point.label, 40) if point.is_named else "",
            "x": point.x,
            "y": point.y,
            "kind": point.status,
            "shown_x": number(point.x),
            "shown_y": number(point.y),
        }
        for point in points
    ]
    x: Spec = {
        "type": "quantitative",
        "title": titles[0],
        "axis": {"tickCount": 5, "grid": False, "format": "~s" if log_x else "~g"},
    }
    if log_x:
        ends = [point.x for point in points]
        x["scale"] = {
            "type": "log",
            "nice": False,
            "domain": [0.8 * min(ends, default=1.0), 1.25 * max(ends, default=1.0)],
        }
    else:
        x["scale"] = {"domain": _domain([0.0, *(point.x for point in points)]), "nice": False}
    y = {
        "type": "quantitative",
        "title": titles[1],
        "axis": {"tickCount": 6},
        "scale": {"domain": _domain([0.0, *rules, *(point.y for point in points)]), "nice": False},
    }
    marks = {
        "mark": {"type": "point", "filled": True, "size": 46},
        "encoding": {
            "x": {"field": "x", **x},
            "y": {"field": "y", **y},
            "color": _colour("kind", _KINDS),
            "shape": _shape("kind", _KINDS),
            "opacity": {"condition": {"test": "datum.kind == 'quiet'", "value": 0.45}, "value": 1},
            "tooltip": _tooltip("label", {"shown_x": titles[0], "shown_y": titles[1]}),
        },
    }
    layers = [marks, _horizontal_rules([Rule(0.0, "even"), *(Rule(at, "threshold") for at in rules)], y)]
    if not log_x:
        layers.append(_vertical_rules([Rule(0.0, "even")], x))
    spec = {**_spec(rows, layers, 340), "usermeta": {"has_names": True, "has_equal_axes": not log_x}}
    return linked(spec, [point.finding for point in points])


def linked(spec: Spec, findings: Sequence[str | None]) -> Spec:
    """Let each mark of a chart lead to a finding, by its id, in the order of the rows; the page knows its address."""
    if any(findings):
        for row, finding in zip(spec["data"]["values"], findings, strict=True):
            row["finding_id"] = finding
    return spec


def level_dots(
    rows: Sequence[tuple[str, str, float, float | None, float | None]],
    levels: Sequence[str],
    titles: tuple[str, str],
    even: float,
) -> tuple[Spec, tuple[Key, ...]]:
    """Shares with intervals side by side at each level; up to five series.

    Args:
        rows: level, series, value, low, high.
        levels: from left to right.
        titles: of the horizontal and the vertical axis.
        even: the share without any difference, drawn as a line.

    Returns:
        The chart and the legend of its series.
    """
    series, kinds, legend = _series([name for _, name, *_ in rows])
    values = [
        {
            "level": level,
            "series": clip(name, 80),
            "place": series.index(clip(name, 80)),
            "value": value,
            "low": low,
            "high": high,
            "written": percent(value, 1),
            "interval": "–" if low is None or high is None else f"{percent(low, 1)} to {percent(high, 1)}",
        }
        for level, name, value, low, high in rows
        if clip(name, 80) in kinds
    ]
    x = {
        "field": "level",
        "type": "nominal",
        "title": titles[0],
        "scale": {"domain": list(levels)},
        "axis": {"labelAngle": 0, "grid": False},
    }
    # By number: Vega-Lite makes an expression of what the domain of a colour names where marks stand side by side.
    places = dict(enumerate(kinds.values()))
    offset = {"field": "place", "type": "ordinal", "scale": {"domain": list(range(len(series)))}}
    y = {
        "type": "quantitative",
        "title": titles[1],
        "axis": {"format": ".0~%", "tickCount": 6},
        "scale": {"domain": _domain([even, *(end for _, _, *ends in rows for end in ends)]), "nice": False},
    }
    intervals = {
        "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.75, "clip": True},
        "encoding": {
            "x": x,
            "xOffset": offset,
            "y": {"field": "low", **y},
            "y2": {"field": "high"},
            "color": _colour("place", places),
        },
    }
    marks = {
        "mark": {"type": "point", "filled": True, "size": 85, "opacity": 1},
        "encoding": {
            "x": x,
            "xOffset": offset,
            "y": {"field": "value", **y},
            "color": _colour("place", places),
            "shape": _shape("place", places),
            "tooltip": _tooltip(
                "series", {"level": titles[0], "written": "value", "interval": "95 % interval"}
            ),
        },
    }
    return _spec(values, [_horizontal_rules([Rule(even, "even")], y), intervals, marks], _HEIGHT), legend


def grouped_bars(
    rows: Sequence[tuple[str, str, float]], title: str, axis: str = ".0~%"
) -> tuple[Spec, tuple[Key, ...]]:
    """A bar for each label and series, those of a label together; up to five series.

    Args:
        rows: label, series, value.
        title: what the horizontal axis measures.
        axis: how it writes a number (d3).

    Returns:
        The chart and the legend of its series.
    """
    series, kinds, _ = _series([name for _, name, _ in rows])
    labels = list(dict.fromkeys(clip(label, 60) for label, _, _ in rows))
    values = [
        {
            "label": clip(label, 60),
            "series": clip(name, 80),
            "place": series.index(clip(name, 80)),
            "value": value,
            "written": percent(value, 1) if "%" in axis else number(value),
        }
        for label, name, value in rows
        if clip(name, 80) in kinds
    ]
    x = {
        "type": "quantitative",
        "title": title,
        "scale": {"domain": _domain([0.0, *(value for _, _, value in rows)]), "nice": False},
        "axis": {"format": axis, "tickCount": 5},
    }
    bars = {
        "mark": {"type": "bar", "cornerRadiusEnd": 2},
        "encoding": {
            "y": {"field": "label", **_categories(labels, 0.3)},
            "yOffset": {"field": "place", "type": "ordinal", "scale": {"domain": list(range(len(series)))}},
            "x": {"field": "value", **x},
            # By number, as in level_dots.
            "color": _colour("place", dict(enumerate(kinds.values()))),
            "tooltip": _tooltip("label", {"series": "of", "written": title}),
        },
    }
    legend = tuple(Key(f"bar-{place}", name) for place, name in enumerate(series, start=1))
    height = len(labels) * (12 * len(series) + 10)
    return _spec(values, [bars, _vertical_rules([Rule(0.0, "even")], x)], height), legend


def lines(
    rows: Sequence[tuple[str, str, float, str]],
    titles: tuple[str, str],
    threshold: float | None = None,
    *,
    statuses: Mapping[str, str] | None = None,
) -> tuple[Spec, tuple[Key, ...]]:
    """Up to five series over dated runs or builds.

    Args:
        rows: date and time of the run, series, value, text of the tooltip; in the order of time.
        titles: of the horizontal and the vertical axis.
        threshold: drawn dashed, where there is one.
        statuses: series -> the status whose colour and shape it has; without it series have colours of their own.

    Returns:
        The chart and the legend of its series.
    """
    _, kinds, legend = _series([name for _, name, *_ in rows])
    if statuses is not None:
        kinds = {name: _KINDS[status] for name, status in statuses.items()}
        legend = tuple(Key(status, name) for name, status in statuses.items())
    values = [
        {"run": run, "series": clip(name, 80), "value": value, "written": clip(text)}
        for run, name, value, text in rows
        if clip(name, 80) in kinds
    ]
    x = {
        "field": "run",
        "type": "ordinal",
        "title": titles[0],
        "scale": {"domain": sorted({run for run, *_ in rows})},
        # Date and time of day in two lines.
        "axis": {
            "labelAngle": 0,
            "labelOverlap": True,
            "grid": False,
            "labelExpr": "split(datum.label, ' ')",
        },
    }
    ends = [0.0, *(value for _, _, value, _ in rows), *([] if threshold is None else [threshold])]
    y = {
        "type": "quantitative",
        "title": titles[1],
        "scale": {"domain": _domain(ends), "nice": False},
    }
    strokes = {
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {"x": x, "y": {"field": "value", **y}, "color": _colour("series", kinds)},
    }
    marks = {
        "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
        "encoding": {
            "x": x,
            "y": {"field": "value", **y},
            "color": _colour("series", kinds),
            "shape": _shape("series", kinds),
            "tooltip": _tooltip("series", {"written": "run"}),
        },
    }
    rules = [] if threshold is None else [_horizontal_rules([Rule(threshold, "threshold")], y)]
    return _spec(values, [*rules, strokes, marks], _HEIGHT), legend


def stacked_shares(
    rows: Sequence[tuple[str, Sequence[float]]], parts: Sequence[str], title: str, *, is_ordered: bool = False
) -> Spec:
    """A bar for each label, made of the shares of up to five parts; the rest up to 1 stays empty. Ordered parts get darker."""
    labels = unique_labels([label for label, _ in rows])
    values = [
        {"label": label, "part": part, "order": place, "value": share, "written": percent(share, 1)}
        for label, (_, shares) in zip(labels, rows, strict=True)
        for place, (part, share) in enumerate(zip(parts, shares, strict=True))
        if share
    ]
    bars = {
        "mark": {"type": "bar", "stroke": "var(--card)", "strokeWidth": 1.5},
        "encoding": {
            "y": {"field": "label", **_categories(labels, 0.35)},
            "x": {
                "field": "value",
                "type": "quantitative",
                "title": title,
                "stack": "zero",
                "scale": {"domain": [0.0, max((sum(shares) for _, shares in rows), default=0.0) or 1.0]},
                "axis": {"format": ".0~%", "tickCount": 5},
            },
            "order": {"field": "order", "type": "quantitative"},
            "color": _colour("part", dict(zip(parts, _ORDER if is_ordered else _SERIES, strict=False))),
            "tooltip": _tooltip("label", {"part": "answer", "written": "share"}),
        },
    }
    return _spec(values, [bars], (_ROW - 3) * len(labels))


def _series(names: Sequence[str]) -> tuple[list[str], dict[str, tuple[str, str]], tuple[Key, ...]]:
    """The first five different names, their colours and shapes, and their legend."""
    series = list(dict.fromkeys(clip(name, 80) for name in names))[:SERIES_AT_MOST]
    legend = tuple(Key(f"series-{place}", name) for place, name in enumerate(series, start=1))
    return series, dict(zip(series, _SERIES, strict=False)), legend


def _categories(labels: Sequence[str], padding: float) -> Spec:
    # A domain keeps the order; a list to sort by would become an expression with the warehouse's texts in it.
    return {"type": "nominal", "title": None, "scale": {"domain": list(labels), "paddingInner": padding}}


def _colour(name: str, kinds: Mapping[Any, tuple[str, Any]]) -> Spec:
    return _by_kind(name, kinds, [colour for colour, _ in kinds.values()])


def _fill() -> Spec:
    """The page's ground inside of what is hollow, so that an interval does not shine through."""
    return _by_kind(
        "kind", _KINDS, ["var(--card)" if kind in _HOLLOW else colour for kind, (colour, _) in _KINDS.items()]
    )


def _shape(name: str, kinds: Mapping[Any, tuple[str, Any]]) -> Spec:
    return _by_kind(name, kinds, [shape for _, shape in kinds.values()])


def _by_kind(name: str, kinds: Mapping[Any, Any], values: Sequence[Any]) -> Spec:
    return {
        "field": name,
        "type": "nominal",
        "legend": None,
        "scale": {"domain": list(kinds), "range": values},
    }


def _tooltip(heading: str, fields: Mapping[str, str]) -> list[Spec]:
    return [
        {"field": heading, "type": "nominal", "title": " "},
        *({"field": name, "type": "nominal", "title": title} for name, title in fields.items()),
    ]


def _vertical_rules(rules: Sequence[Rule], x: Mapping[str, Any]) -> Spec:
    return _rules(rules, "x", x)


def _horizontal_rules(rules: Sequence[Rule], y: Mapping[str, Any]) -> Spec:
    return _rules(rules, "y", y)


def _rules(rules: Sequence[Rule], channel: str, axis: Mapping[str, Any]) -> Spec:
    dashes = _by_kind("kind", _RULES, [dash for _, dash in _RULES.values()])
    return {
        "data": {"values": [{"at": rule.value, "kind": rule.kind} for rule in rules]},
        "mark": {"type": "rule", "strokeWidth": 1.5, "clip": True},
        # Lines have kinds of their own, so they go by stroke and not by the colour of the dots.
        "encoding": {
            channel: {"field": "at", **axis},
            "stroke": _colour("kind", _RULES),
            "strokeDash": dashes,
        },
    }


def _domain(values: Sequence[float | None], limits: tuple[float, float] | None = None) -> list[float]:
    """From the least to the largest value with a little space on both sides."""
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    if limits is not None:
        low, high = max(low, limits[0]), min(high, limits[1])
    space = 0.04 * (high - low) or 0.5
    return [low - space, high + space]


def _spec(rows: Sequence[Mapping[str, Any]], layers: Sequence[Spec], height: int) -> Spec:
    """A chart that is as wide as its place in the page; fonts and the look of axes come with the page."""
    # A height in pixels, also of categories: Vega-Lite warns of steps next to a width that fits.
    return {
        "$schema": f"https://vega.github.io/schema/vega-lite/v{VEGA_LITE}.json",
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        # The data of all layers except the rules, which have rows of their own.
        "data": {"values": list(rows)},
        "layer": list(layers),
    }
