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
from biasledger.reporting.picture import STATUS_TEXTS, Key, clip, interval, number, signed, unique_labels
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
_ORDER = tuple((f"var(--order-{place})", "square") for place in range(1, SERIES_AT_MOST + 1))
_RULES = {
    "threshold": ("var(--alarm)", [6, 4]),
    "even": ("var(--ink-2)", [1, 0]),
    "noise": ("var(--series-1)", [2, 3]),
}
_BETWEEN = {"type": "rule", "strokeWidth": 2, "opacity": 0.75}

LEGEND = (
    *(Key(status, text) for status, text in STATUS_TEXTS.items()),
    Key("past", "past the threshold, not judged by itself"),
    Key("uncertain", "past the threshold perhaps by chance, not judged by itself"),
    Key("certain", "more than chance gives, not judged by itself"),
    Key("plain", "not judged"),
    Key("rule-threshold", "threshold"),
    Key("rule-even", "no difference"),
    Key("band", "what chance alone gives, 95 %"),
    Key("reference", "reference group"),
)
"""The legend of the page; pictures and panels have keys of their own only for what is not in it."""


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

    @property
    def written(self) -> str:
        """The value as a sentence has it."""
        return number(self.value)

    @property
    def distance(self) -> float:
        """How far it lies from no difference."""
        return abs(self.value or 0.0)


@dataclass(frozen=True)
class Pair:
    """A group's share next to that of its reference, both 0 to 1; the band is where the group's share would lie by chance."""

    label: str
    value: float
    reference: float
    status: str | None = "plain"
    band_low: float | None = None
    band_high: float | None = None
    more: Mapping[str, str] = field(default_factory=dict)
    finding: str | None = None

    @property
    def written(self) -> str:
        """Both shares as a sentence has them."""
        return f"{percent(self.value)} against {percent(self.reference)}"

    @property
    def distance(self) -> float:
        """How far the shares lie from each other."""
        return abs(self.value - self.reference)

    @property
    def ratio(self) -> str:
        """How many times the reference's share the group's is; – where the reference has none."""
        return f"{number(self.value / self.reference)} ×" if self.reference else "–"


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


NO_DIFFERENCE = Rule(0.0, "even")


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
    ends = [end for dot in dots for end in (dot.value, dot.low, dot.high, dot.band_low, dot.band_high)]
    x = _axis(title, [*ends, *shown, *(rule.value for rule in rules)], limits)
    rows = [
        {
            "low": dot.low,
            "high": dot.high,
            "band_low": dot.band_low,
            "band_high": dot.band_high,
            "kind": dot.status or "plain",
            "written": dot.written,
            "interval": interval(dot.low, dot.high),
        }
        for dot in dots
    ]
    between = {"x": {"field": "low", **x}, "x2": {"field": "high"}, "color": _colour("kind", _KINDS)}
    return _in_rows(
        dots,
        rows,
        x,
        {"written": "value", "interval": "95 % interval"},
        behind=[_rules(rules, "x", x)] if rules else [],
        between=[layer({**_BETWEEN, "clip": True}, **between)],
    )


def dumbbells(pairs: Sequence[Pair], title: str) -> Spec:
    """A row for each pair on an axis from 0 to 100 %: reference and group with a line between them, their ratio at the right.

    Args:
        pairs: from top to bottom.
        title: what the shares are of.
    """
    x = {
        "type": "quantitative",
        "title": title,
        "scale": {"domain": [0.0, _RATIOS_AT], "nice": False},
        "axis": {"format": ".0~%", "values": [0, 0.25, 0.5, 0.75, 1]},
    }
    rows = [
        {
            "reference": pair.reference,
            "band_low": None if pair.band_low is None else max(pair.band_low, 0.0),
            "band_high": None if pair.band_high is None else min(pair.band_high, 1.0),
            "kind": pair.status or "plain",
            "ratio": pair.ratio,
            "written": percent(pair.value, 1),
            "shown_reference": percent(pair.reference, 1),
        }
        for pair in pairs
    ]
    reference = {"x": {"field": "reference", **x}}
    circle = {
        "type": "point", "shape": "circle", "filled": False, "size": 70, "strokeWidth": 1.8, "opacity": 1,
        "stroke": "var(--ink-2)", "fill": "var(--card)",
    }  # fmt: skip
    ratio = {"type": "text", "align": "right", "color": "var(--ink)", "fontSize": 12}
    spec = _in_rows(
        pairs,
        rows,
        x,
        {"written": "of the group", "shown_reference": "of the reference", "ratio": "ratio"},
        between=[
            layer(_BETWEEN, **reference, x2={"field": "value"}, color=_colour("kind", _KINDS)),
            layer(circle, **reference),
        ],
        above=[layer(ratio, x={"datum": _RATIOS_AT, **x}, text={"field": "ratio"})],
    )
    return {**spec, "usermeta": {"has_ratios": True}}


def _in_rows(
    marks: Sequence[Dot | Pair],
    rows: Sequence[Spec],
    x: Spec,
    fields: Mapping[str, str],
    *,
    behind: Sequence[Spec] = (),
    between: Sequence[Spec],
    above: Sequence[Spec] = (),
) -> Spec:
    """A row for each mark: its band, layers between that and the mark, and the mark by its status, hollow where undecided.

    Args:
        marks: from top to bottom.
        rows: their data next to label, value and what `more` says of them.
        x: the horizontal axis.
        fields: of the tooltip, with their titles.
        behind, between, above: layers below the bands, below the marks, and above them; all but the first lie in the rows.
    """
    labels = unique_labels([mark.label for mark in marks])
    values = [
        {"label": label, "value": mark.value, **row, **{key: clip(text) for key, text in mark.more.items()}}
        for mark, label, row in zip(marks, labels, rows, strict=True)
    ]
    band = {
        "type": "bar", "fill": "var(--band)", "stroke": "var(--band-edge)", "height": {"band": 0.9}, "clip": True,
    }  # fmt: skip
    point = {"type": "point", "filled": False, "size": 85, "strokeWidth": 1.8, "opacity": 1, "clip": True}
    # The page's ground inside of what is hollow, so that an interval does not shine through.
    fills = ["var(--card)" if kind in _HOLLOW else colour for kind, (colour, _) in _KINDS.items()]
    has_band = any(mark.band_low is not None for mark in marks)
    layers = [
        *([layer(band, x={"field": "band_low", **x}, x2={"field": "band_high"})] if has_band else ()),
        *between,
        layer(
            point,
            x={"field": "value", **x},
            color=_colour("kind", _KINDS),
            fill=_by_kind("kind", _KINDS, fills),
            shape=_shape("kind", _KINDS),
            tooltip=_tooltip("label", {**fields, **{key: key for mark in marks for key in mark.more}}),
        ),
        *above,
    ]
    y = {"field": "label", **_categories(labels, 0.3)}
    in_rows = [{**one, "encoding": {"y": y, **one["encoding"]}} for one in layers]
    spec = spec_of(values, [*behind, *in_rows], _ROW * len(labels))
    return linked(spec, [mark.finding for mark in marks])


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
    x = _axis(title, [0.0, *(value for _, value, _ in rows)])
    bars = layer(
        {"type": "bar", "color": "var(--accent)"},
        y={"field": "label", **_categories(labels, 0.35)},
        x={"field": "value", **x, "stack": None, "axis": {"format": "+.2~%", "tickCount": 5}},
        tooltip=_tooltip("label", {"written": "difference", "of": "of"}),
    )
    return spec_of(values, [bars, _rules([NO_DIFFERENCE], "x", x)], (_ROW - 3) * len(labels))


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
    ends = [point.x for point in points]
    x = _axis(titles[0], [0.0, *ends])
    x["axis"] = {"tickCount": 5, "grid": False, "format": "~s" if log_x else "~g"}
    if log_x:
        domain = [0.8 * min(ends, default=1.0), 1.25 * max(ends, default=1.0)]
        x["scale"] = {"type": "log", "nice": False, "domain": domain}
    y = _axis(titles[1], [0.0, *rules, *(point.y for point in points)])
    y["axis"] = {"tickCount": 6}
    marks = layer(
        {"type": "point", "filled": True, "size": 46},
        x={"field": "x", **x},
        y={"field": "y", **y},
        color=_colour("kind", _KINDS),
        shape=_shape("kind", _KINDS),
        opacity={"condition": {"test": "datum.kind == 'quiet'", "value": 0.45}, "value": 1},
        tooltip=_tooltip("label", {"shown_x": titles[0], "shown_y": titles[1]}),
    )
    layers = [marks, _rules([NO_DIFFERENCE, *(Rule(at, "threshold") for at in rules)], "y", y)]
    if not log_x:
        layers.append(_rules([NO_DIFFERENCE], "x", x))
    spec = {**spec_of(rows, layers, 340), "usermeta": {"has_names": True, "has_equal_axes": not log_x}}
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
    y = _axis(titles[1], [even, *(end for _, _, *ends in rows for end in ends)])
    y["axis"] = {"format": ".0~%", "tickCount": 6}
    at = {"x": x, "xOffset": offset, "color": _colour("place", places)}
    intervals = layer({**_BETWEEN, "clip": True}, **at, y={"field": "low", **y}, y2={"field": "high"})
    marks = layer(
        {"type": "point", "filled": True, "size": 85, "opacity": 1},
        **at,
        y={"field": "value", **y},
        shape=_shape("place", places),
        tooltip=_tooltip("series", {"level": titles[0], "written": "value", "interval": "95 % interval"}),
    )
    return spec_of(values, [_rules([Rule(even, "even")], "y", y), intervals, marks], _HEIGHT), legend


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
    x = _axis(title, [0.0, *(value for _, _, value in rows)])
    x["axis"] = {"format": axis, "tickCount": 5}
    bars = layer(
        {"type": "bar", "cornerRadiusEnd": 2},
        y={"field": "label", **_categories(labels, 0.3)},
        yOffset={"field": "place", "type": "ordinal", "scale": {"domain": list(range(len(series)))}},
        x={"field": "value", **x},
        # By number, as in level_dots.
        color=_colour("place", dict(enumerate(kinds.values()))),
        tooltip=_tooltip("label", {"series": "of", "written": title}),
    )
    height = len(labels) * (12 * len(series) + 10)
    return spec_of(values, [bars, _rules([NO_DIFFERENCE], "x", x)], height), bar_keys(series)


def bar_keys(names: Sequence[str], kind: str = "bar") -> tuple[Key, ...]:
    """The legend of bars; `kind` is order where they get darker."""
    return tuple(Key(f"{kind}-{place}", name) for place, name in enumerate(names, start=1))


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
        The chart and the legend of its series; that of the page has statuses.
    """
    _, kinds, legend = _series([name for _, name, *_ in rows])
    if statuses is not None:
        kinds, legend = {name: _KINDS[status] for name, status in statuses.items()}, ()
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
    y = _axis(titles[1], [0.0, *(value for _, _, value, _ in rows), threshold])
    at = {"x": x, "y": {"field": "value", **y}, "color": _colour("series", kinds)}
    marks = layer(
        {"type": "point", "filled": True, "size": 70, "opacity": 1},
        **at,
        shape=_shape("series", kinds),
        tooltip=_tooltip("series", {"written": "run"}),
    )
    rules = [] if threshold is None else [_rules([Rule(threshold, "threshold")], "y", y)]
    return spec_of(values, [*rules, layer({"type": "line", "strokeWidth": 2}, **at), marks], _HEIGHT), legend


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
    x = {
        "field": "value",
        "type": "quantitative",
        "title": title,
        "stack": "zero",
        "scale": {"domain": [0.0, max((sum(shares) for _, shares in rows), default=0.0) or 1.0]},
        "axis": {"format": ".0~%", "tickCount": 5},
    }
    bars = layer(
        {"type": "bar", "stroke": "var(--card)", "strokeWidth": 1.5},
        y={"field": "label", **_categories(labels, 0.35)},
        x=x,
        order={"field": "order", "type": "quantitative"},
        color=_colour("part", dict(zip(parts, _ORDER if is_ordered else _SERIES, strict=False))),
        tooltip=_tooltip("label", {"part": "answer", "written": "share"}),
    )
    return spec_of(values, [bars], (_ROW - 3) * len(labels))


def _series(names: Sequence[str]) -> tuple[list[str], dict[str, tuple[str, str]], tuple[Key, ...]]:
    """The first five different names, their colours and shapes, and their legend."""
    series = list(dict.fromkeys(clip(name, 80) for name in names))[:SERIES_AT_MOST]
    return series, dict(zip(series, _SERIES, strict=False)), bar_keys(series, "series")


def _axis(
    title: str, values: Sequence[float | None], limits: tuple[float, float] | None = None
) -> dict[str, Any]:
    """An axis from the least to the largest of the values, as far as within limits, with a little space on both sides."""
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    if limits is not None:
        low, high = max(low, limits[0]), min(high, limits[1])
    space = 0.04 * (high - low) or 0.5
    scale = {"domain": [low - space, high + space], "nice": False}
    return {"type": "quantitative", "title": title, "scale": scale}


def _categories(labels: Sequence[str], padding: float) -> Spec:
    # A domain keeps the order; a list to sort by would become an expression with the warehouse's texts in it.
    return {"type": "nominal", "title": None, "scale": {"domain": list(labels), "paddingInner": padding}}


def _colour(name: str, kinds: Mapping[Any, tuple[str, Any]]) -> Spec:
    return _by_kind(name, kinds, [colour for colour, _ in kinds.values()])


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
    titles = {heading: " ", **fields}
    return [{"field": name, "type": "nominal", "title": title} for name, title in titles.items()]


def _rules(rules: Sequence[Rule], channel: str, axis: Mapping[str, Any]) -> Spec:
    """Lines across a chart at places of its x or y axis."""
    encoding = {
        channel: {"field": "at", **axis},
        # Lines have kinds of their own, so they go by stroke and not by the colour of the dots.
        "stroke": _colour("kind", _RULES),
        "strokeDash": _by_kind("kind", _RULES, [dash for _, dash in _RULES.values()]),
    }
    places = {"values": [{"at": rule.value, "kind": rule.kind} for rule in rules]}
    return {"data": places, **layer({"type": "rule", "strokeWidth": 1.5, "clip": True}, **encoding)}


def layer(mark: Spec, **encoding: Any) -> Spec:
    """A layer of a chart: how it is drawn, and what each channel encodes."""
    return {"mark": mark, "encoding": encoding}


def spec_of(rows: Sequence[Mapping[str, Any]], layers: Sequence[Spec], height: int) -> Spec:
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
