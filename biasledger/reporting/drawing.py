"""Charts as SVG: drawn when a page is made, so that they show without scripts, on paper and in mail."""

from __future__ import annotations

import copy
import csv
import io
import json
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from biasledger.numbers import AXES
from biasledger.reporting.charts import VEGA_LITE, Spec
from biasledger.reporting.picture import Panel

WHOLE, HALF, NARROW = 700, 460, 300
"""Pixels: a chart as wide as the text, one of two next to each other, and one on a phone or in a column of a print."""
DENSE = 770
"""Pixels: a chart of many rows with long labels; so wide prints with 8 points."""

_CHARACTER = 6.6  # about as many pixels is one wide
_LINE = 14  # pixels
_LABELS_AT_MOST, _LABELS_AT_MOST_DENSE = 0.5, 0.67  # of the width
_DENSE_ROW = 20  # pixels
_NARROW_HEIGHT = 250  # pixels, about as high as wide
_RATIO = 52  # pixels right of a plot for the ratios of its rows
_FRAME = 62  # pixels left of a plot that has numbers there
_CONFIG = {
    "background": "transparent",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--ink-2)", "titleColor": "var(--ink-2)", "gridColor": "var(--grid)",
        "domainColor": "var(--line)", "tickColor": "var(--line)", "labelFontSize": 12, "titleFontSize": 12,
        "titleFontWeight": "normal", "titlePadding": 8, "labelPadding": 5, "labelLimit": 0, "titleLimit": 0,
    },
    "axisX": {"labelOverlap": True, "labelSeparation": 8, "tickCount": 6, "ticks": False},
    "axisY": {"ticks": False},
}  # fmt: skip
_EMPTY = re.compile(r'<path class="(?:background|foreground)"[^>]*/>|<text[^>]*/>')
_TAG = re.compile(r"<[^>]*>")
_UNUSED = re.compile(
    r' (?:role|aria-roledescription|aria-hidden|class|pointer-events|font-family|font-weight|xmlns:xlink|version)="[^"]*"'
    r'| (?:opacity|stroke-width)="1"| [xy]2="0"| font-size="12px"| stroke-dasharray="1,0"| transform="translate\(0,0\)"'
    r'| stroke-miterlimit="10"'
)
_NAMED_GROUP = re.compile(r'(?<=<g) aria-label="[^"]*"')
_LINK = re.compile(r'<a xlink:href="https://vega\.github\.io/vega-datasets/([^"]*)">')
_LINKED_MARK = re.compile(r'(<a tabindex="-1" href="[^"]*">)(?=<path transform="([^"]*)")')
_DESCRIBED = re.compile(r'<(\w+) aria-label="([^"]*)"([^>]*?)/>')
_LINES = re.compile(r'translate\(([-\d.]+),([-\d.]+)\)" (fill="[^"]*">(?:<tspan[^>]*>[^<]*</tspan>){2,})')
_PLACES = re.compile(r'(?<= )(?:transform|d|x|y|x2|y2|width|height)="[^"]*"')
_LONG_NUMBER = re.compile(r"(-?\d+\.\d)\d+")
_CLIP = re.compile(r'\bclip\d+(?="|\))')
_VARIABLE = re.compile(r"var\((--[\w-]+)\)")
_CSV_LEFT_OUT = {
    "written",
    "interval",
    "shown_reference",
    "shown_x",
    "shown_y",
    "place",
    "order",
    "name",
    "side",
    "address",
}


def drawings(
    panel: Panel,
    key: str,
    panels: Sequence[Panel] = (),
    *,
    has_narrow: bool = True,
    address: Callable[[str], str] | None = None,
) -> str:
    """Draw a panel for wide and for narrow screens; the plots of panels next to each other are equally wide.

    Texts in it are escaped by Vega. A mark leads to the address of its finding.
    """
    panels = panels or [panel]
    whole = panel.is_tall or len(panels) == 1
    widths = {"wide": DENSE if _is_dense(panel.spec) else WHOLE if whole else HALF} | (
        {"narrow": NARROW} if has_narrow else {}
    )
    drawn = []
    for name, width in widths.items():
        alike = panels if width == NARROW else [one for one in panels if one.is_tall == panel.is_tall]
        space = max(label_space(one.spec, width) for one in alike)
        text = svg(panel.spec, width, f"{key}-{name}", space, address)
        drawn.append(text.replace("<svg ", f'<svg class="{name}" ', 1) if has_narrow else text)
    return "".join(drawn)


def svg(
    spec: Mapping[str, Any],
    width: int,
    key: str,
    space: float | None = None,
    address: Callable[[str], str] | None = None,
) -> str:
    """Draw a chart; colours stay names of CSS variables, and a mark's numbers are its title.

    Args:
        spec: as the functions of `charts` return it.
        width: in pixels.
        key: no other chart of the page has it.
        space: pixels for labels, see `label_space`.
        address: where a finding is shown, by its id.
    """
    text = _drawn(json.dumps(_addressed(spec, address)), width, space)
    ids: dict[str, str] = {}
    return _CLIP.sub(lambda found: ids.setdefault(found[0], f"{key}-{len(ids)}"), text)


def _addressed(spec: Mapping[str, Any], address: Callable[[str], str] | None) -> Mapping[str, Any]:
    """Return a chart whose marks lead to their addresses, or to those of their findings."""
    rows = [
        {
            **row,
            "address": row.get("address")
            or (address(row["finding_id"]) if address and row.get("finding_id") else None),
        }
        for row in spec["data"]["values"]
    ]
    if not any(row["address"] for row in rows):
        return spec
    layers = [
        {**layer, "encoding": {**layer["encoding"], "href": {"field": "address"}}}
        if "tooltip" in layer["encoding"]
        else layer
        for layer in spec["layer"]
    ]
    return {**spec, "data": {"values": rows}, "layer": layers}


@lru_cache(maxsize=500)
def _drawn(spec: str, width: int, space: float | None) -> str:
    # Cached, as a page of the explorer is often shown again.
    import vl_convert

    text = vl_convert.vegalite_to_svg(
        fitted(json.loads(spec), width, space), vl_version=VEGA_LITE, format_locale=AXES
    )
    text = _TAG.sub(_shortened, _EMPTY.sub("", text)).replace("<g></g>", "")
    text = _DESCRIBED.sub(r"<\1\3><title>\2</title></\1>", _LINES.sub(_centred, text))
    text = _LINK.sub(_own_link, text)
    if '"has_names": true' not in spec:  # rows have space for a finger, points have not
        text = _LINKED_MARK.sub(r'\1<circle transform="\2" r="13" fill="none" pointer-events="all"/>', text)
    return text.replace("<svg ", '<svg aria-hidden="true" font-family="sans-serif" font-size="12" ', 1)


def _own_link(found: re.Match[str]) -> str:
    """Return a link to a page of the explorer: Vega puts an address before it. Keyboards reach the same links in the tables."""
    return "<a>" if found[1] == "null" else f'<a tabindex="-1" href="{found[1]}">'


def fitted(spec: Mapping[str, Any], width: int, space: float | None = None) -> Spec:
    """Return a chart for a width: labels are wrapped, on narrow charts above their rows; names of points have their places."""
    chart: Spec = copy.deepcopy(dict(spec))
    meta = chart.pop("usermeta", {})
    chart["width"] = width
    band: Spec = {"domain": False, "grid": False, "labelColor": "var(--ink)"}
    labels = _labels(chart)
    plot = width - (space or _FRAME)
    if labels:
        at_most = width * _labels_at_most(spec)
        is_above = width <= NARROW and (space or label_space(spec, width)) > at_most * 0.8
        wrapped = {label: _wrapped(label, width if is_above else at_most) for label in labels}
        _rename(chart, wrapped)
        n_lines = max(label.count("\n") + 1 for label in wrapped.values())
        step = chart["height"] / len(labels)
        if is_above:
            band |= {"labelAlign": "left", "labelBaseline": "bottom", "labelOffset": -6, "labelPadding": 0}
            band["zindex"] = 1  # rules do not cross the labels
            plot = width
            step = 15 + _LINE * n_lines
            for layer in chart["layer"]:
                if layer["mark"]["type"] == "bar":
                    layer["mark"]["height"] = 12  # below the label
        else:
            space = min(space or label_space(spec, width), at_most) + 8
            band |= {"minExtent": space, "maxExtent": space}
            step = max(
                _DENSE_ROW if meta.get("is_dense") else step, _LINE * n_lines + 8 if n_lines > 1 else 0
            )
        chart["height"] = round(step * len(labels))
    chart["config"] = _CONFIG | {"axisYBand": band | {"labelExpr": "split(datum.label, '\\n')"}}
    for layer in chart["layer"]:
        for channel, length in (("x", plot), ("y", chart["height"])):
            axis = layer["encoding"].get(channel, {})
            if isinstance(axis.get("title"), str):
                axis["title"] = _wrapped(axis["title"], length).split("\n")
    if meta.get("has_ratios"):
        _end_before_ratios(chart, width - (space or width * 0.1))
    if meta.get("has_names"):
        if width <= NARROW:
            chart["height"] = _NARROW_HEIGHT
        _place_names(chart, width - _FRAME)
    _describe(chart)
    return chart


def _end_before_ratios(chart: Spec, plot: float) -> None:
    """Let the axis end where the ratios of the rows begin."""
    for layer in chart["layer"]:
        end = layer["encoding"]["x"]["scale"]["domain"][1] = plot / (plot - _RATIO)
        if "datum" in layer["encoding"]["x"]:
            layer["encoding"]["x"]["datum"] = end


def standalone(spec: Mapping[str, Any], width: int = WHOLE) -> Spec:
    """Return a chart for outside of the page: with the colours of light mode, and tooltips."""

    def coloured(value: Any) -> Any:
        if isinstance(value, str):
            return _VARIABLE.sub(lambda found: _colours()[found[1]], value)
        if isinstance(value, Mapping):
            return {key: part if key == "values" else coloured(part) for key, part in value.items()}
        return [coloured(part) for part in value] if isinstance(value, list) else value

    chart: Spec = coloured(fitted(spec, width))
    for layer, drawn in zip(chart["layer"], spec["layer"], strict=False):
        if "tooltip" in drawn["encoding"]:
            layer["encoding"]["tooltip"] = drawn["encoding"]["tooltip"]
        for channel in ("color", "shape"):
            mark = layer["encoding"].get(channel, {})
            if mark.get("field") in ("kind", "part"):
                present = dict.fromkeys(row[mark["field"]] for row in spec["data"]["values"])
                mark["legend"] = {"title": None, "orient": "bottom", "values": list(present)}
    return chart


def label_space(spec: Mapping[str, Any], width: int) -> float:
    """Return the pixels that the labels of a chart's rows need, wrapped to a part of its width."""
    at_most = width * _labels_at_most(spec)
    lines = [line for label in _labels(spec) for line in _wrapped(label, at_most).split("\n")]
    return max(map(len, lines), default=0) * _CHARACTER


def _is_dense(spec: Mapping[str, Any]) -> bool:
    return bool(spec.get("usermeta", {}).get("is_dense"))


def _labels_at_most(spec: Mapping[str, Any]) -> float:
    return _LABELS_AT_MOST_DENSE if _is_dense(spec) else _LABELS_AT_MOST


def as_csv(spec: Mapping[str, Any]) -> str:
    """Return the numbers that a chart draws."""
    rows = spec["data"]["values"]
    names = [
        name for name in dict.fromkeys(name for row in rows for name in row) if name not in _CSV_LEFT_OUT
    ]
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow("status" if name == "kind" else name for name in names)
    writer.writerows([_cell(row.get(name)) for name in names] for row in rows)
    return file.getvalue()


def _shortened(tag: re.Match[str]) -> str:
    """Leave out of a tag what changes nothing, and digits beyond a tenth of a pixel."""
    text = _NAMED_GROUP.sub("", _UNUSED.sub("", tag[0]))
    return _PLACES.sub(lambda place: _LONG_NUMBER.sub(r"\1", place[0]), text)


def _centred(found: re.Match[str]) -> str:
    """Move the lines of a row's label up, as Vega begins with the first in the middle."""
    x, y, lines = found.groups()
    if "end" not in found.string[found.start() - 40 : found.start()]:
        return found[0]
    return f'translate({x},{float(y) - _LINE / 2 * (lines.count("<tspan") - 1):g})" {lines}'


def _cell(value: Any) -> Any:
    # A spreadsheet takes what begins so for a formula.
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r＝＋－＠") else value


def _labels(chart: Mapping[str, Any]) -> list[str]:
    """Return the labels of a chart's rows, from top to bottom; none where its vertical axis has numbers."""
    for layer in chart["layer"]:
        axis = layer["encoding"].get("y", {})
        if axis.get("type") == "nominal":
            return list(axis["scale"]["domain"])
    return []


def _rename(chart: Spec, names: Mapping[str, str]) -> None:
    for row in chart["data"]["values"]:
        row["label"] = names.get(row.get("label"), row.get("label"))
    for layer in chart["layer"]:
        axis = layer["encoding"].get("y", {})
        if axis.get("type") == "nominal":
            axis["scale"] = {**axis["scale"], "domain": list(names.values())}


def _wrapped(text: str, width: float) -> str:
    return "\n".join(textwrap.wrap(text, max(12, int(width / _CHARACTER)))) or text


def _describe(chart: Spec) -> None:
    """Turn each tooltip into a description, which becomes the title of its mark; hide all other marks from screen readers."""
    for layer in chart["layer"]:
        fields = layer["encoding"].pop("tooltip", None)
        if fields is None:
            layer["mark"]["aria"] = False
            continue
        layer["encoding"]["description"] = {"field": "described", "type": "nominal"}
        heading, *others = fields
        for row in chart["data"]["values"]:
            lines = [
                f"{one['title']}: {row[one['field']]}" for one in others if row.get(one["field"]) is not None
            ]
            row["described"] = "\n".join([str(row[heading["field"]]).replace("\n", " "), *lines])


Box = tuple[float, float, float, float]


def _place_names(chart: Spec, width: float) -> None:
    """Write names next to their points, or farther off with a line to them, where they overlap nothing; the first come first."""
    encoding = chart["layer"][0]["encoding"]
    height = float(chart["height"])
    across, along = _scale(encoding["x"]["scale"], width), _scale(encoding["y"]["scale"], -height)
    rows = chart["data"]["values"]
    points = [(across[0](row["x"]), height + along[0](row["y"])) for row in rows]
    taken: list[Box] = [(x - 5, y - 5, x + 5, y + 5) for x, y in points]
    lines: list[list[tuple[float, float]]] = []
    placed = []
    for row, (x, y) in zip(rows, points, strict=True):
        half = len(row["name"]) * _CHARACTER / 2
        for dx, dy, is_far in _offsets(half) if row["name"] else ():
            box = (x + dx - half, y + dy - 7, x + dx + half, y + dy + 7)
            if box[0] < 0 or box[1] < 0 or box[2] > width or box[3] > height:
                continue
            # A line to a name far off, as points that no name may cover.
            line = [(x + dx * part / 8, y + dy * part / 8) for part in range(2, 7)] if is_far else []
            if any(_overlap(box, other) for other in taken) or any(
                _overlap(box, (*at, *at)) for one in lines for at in one
            ):
                continue
            if any(_overlap((*at, *at), other) for at in line for other in taken[len(points) :]):
                continue
            taken.append(box)
            lines.append(line)
            name = {"name": row["name"], "x": row["x"], "y": row["y"]}
            edge = dy - math.copysign(7, dy)
            name |= {
                "at_x": across[1](x + dx),
                "at_y": along[1](y + dy - height),
                "edge": along[1](y + edge - height),
            }
            placed.append(name | {"is_far": is_far})
            break
    on_x, on_y = (
        {key: part for key, part in encoding[channel].items() if key != "field"} for channel in "xy"
    )
    leaders = {
        "data": {"values": [one for one in placed if one["is_far"]]},
        "mark": {"type": "rule", "color": "var(--ink-3)", "strokeWidth": 0.8},
        "encoding": {
            "x": {"field": "x", **on_x}, "y": {"field": "y", **on_y}, "x2": {"field": "at_x"}, "y2": {"field": "edge"},
        },
    }  # fmt: skip
    names = {
        "data": {"values": placed},
        "mark": {"type": "text", "color": "var(--ink)", "fontSize": 12},
        "encoding": {
            "x": {"field": "at_x", **on_x},
            "y": {"field": "at_y", **on_y},
            "text": {"field": "name"},
        },
    }
    chart["layer"] += [leaders, names]


def _offsets(half: float) -> Iterator[tuple[float, float, bool]]:
    """Yield where the middle of a name may lie, next to its point and then farther off."""
    side = half + 8
    yield from ((side, 0, False), (-side, 0, False), (0, -14, False), (0, 14, False))
    yield from ((side, -9, False), (side, 9, False), (-side, -9, False), (-side, 9, False))
    for distance in range(24, 72, 8):
        for dx in (0, half, -half):
            yield from ((dx, -distance, True), (dx, distance, True))


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _scale(scale: Spec, length: float) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """Return what makes pixels of a value, and the value of pixels."""
    is_log = scale.get("type") == "log"
    low, high = (math.log10(end) if is_log else end for end in scale["domain"])
    factor = length / (high - low)

    def to_pixels(value: float) -> float:
        return ((math.log10(value) if is_log else value) - low) * factor

    def to_value(pixels: float) -> float:
        value = low + pixels / factor
        return 10**value if is_log else value

    return to_pixels, to_value


@cache
def _colours() -> Mapping[str, str]:
    """Return the page's colours in light mode."""
    css = (Path(__file__).parent / "templates" / "report.css").read_text(encoding="utf-8")
    return dict(re.findall(r"(--[\w-]+): (#\w+);", css[: css.index("@media")]))
