"""Test charts as they are drawn: thresholds, harmless colours, labels, plots, names, files."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any

import pytest

from biasledger.notebook.charts import Chart
from biasledger.reporting import drawing
from biasledger.reporting.captions import headline, headline_of_bars, headline_of_parts
from biasledger.reporting.charts import (
    Dot,
    Pair,
    Point,
    dumbbells,
    interval_dots,
    linked,
    scatter,
    signed_bars,
    stacked_shares,
    threshold_rules,
    unjudged,
)
from biasledger.reporting.drawing import (
    DENSE,
    HALF,
    NARROW,
    WHOLE,
    as_csv,
    drawings,
    fitted,
    label_space,
    standalone,
    svg,
)
from biasledger.reporting.methods.lists import similarity_dots
from biasledger.reporting.picture import Panel, split_panels
from biasledger.reporting.shared_panels import rates_panel
from collector.errors import InputError
from tests.python.report.warehouses import HOSTILE

LONG = [
    f"products: {group} vs White, how well a classifier guesses the group from the words of answers"
    for group in ("Black", "Asian", "Middle-Eastern")
]


class Drawing(HTMLParser):
    """The texts and titles of an SVG, as a browser reads it; `plot` is the width of the rule at the bottom."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.titles: list[str] = []
        self.tags: set[str] = set()
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self._open.append(tag)
        if tag in ("text", "title"):
            (self.texts if tag == "text" else self.titles).append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "title" in self._open:
            self.titles[-1] += data
        elif "text" in self._open:
            self.texts[-1] += data if not self.texts[-1] else f" {data}"


# --- what charts must not say


def test_a_measure_with_two_sides_has_both_thresholds_and_the_line_between_them() -> None:
    rows = [{"threshold": 0.05}, {"threshold": None}]
    both = threshold_rules(rows, 0.0, is_two_sided=True)
    assert [(rule.value, rule.kind) for rule in both] == [
        (0.0, "even"),
        (-0.05, "threshold"),
        (0.05, "threshold"),
    ]
    assert [rule.value for rule in threshold_rules([{"threshold": 0.8}], 1.0)] == [1.0, 0.8]
    drawn = interval_dots([Dot("black", -0.27, -0.4, -0.1, "alarm")], "rank gap", both)
    assert {row["at"] for row in drawn["layer"][0]["data"]["values"]} == {-0.05, 0.0, 0.05}
    low, high = drawn["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert low < -0.4
    assert high > 0.05


def test_a_ratio_far_below_four_fifths_is_never_harmless_and_one_that_may_be_chance_no_alarm() -> None:
    row: dict[str, Any] = {
        "group_name": "black", "reference_group": "white", "status": None, "share": 0.128, "share_reference": 0.371,
        "chance_low": 0.3, "chance_high": 0.44, "adjusted_gap": -0.24, "gap_low": -0.3, "gap_high": -0.2, "finding_id": None,
    }  # fmt: skip
    open_ = row | {"group_name": "green", "chance_low": 0.1}
    equal = row | {"group_name": "blue", "share": 0.36}
    drawn = rates_panel([row, open_, equal], "Selected", "share selected").spec["data"]["values"]
    assert [(one["ratio"], one["kind"]) for one in drawn][:2] == [
        ("0.345 ×", "past"),
        ("0.345 ×", "uncertain"),
    ]
    assert drawn[2]["kind"] == "plain"
    assert unjudged(0.345, 0.3, 0.4, 0.8, 1.0) == "past"
    assert unjudged(0.345, 0.1, 1.2, 0.8, 1.0) == unjudged(1.0, None, None, 0.7, 0.5) == "uncertain"
    assert unjudged(0.9, 0.85, 0.95, 0.8, 1.0) == unjudged(None, None, None, 0.8, 1.0) == "plain"


def test_a_group_inside_the_noise_is_no_alarm_of_its_attribute() -> None:
    row: dict[str, Any] = {
        "noise_floor_high": 0.02, "rerun_similarity": 0.65, "status": "alarm", "is_farthest": True, "n_subjects": 9,
        "n_absent": 0, "group_name": "White", "similarity": 0.66, "interval_low": 0.65, "interval_high": 0.67,
        "finding_id": None,
    }  # fmt: skip
    other = row | {"group_name": "Black", "similarity": 0.39, "interval_low": 0.37, "interval_high": 0.41}
    third = other | {"is_farthest": False}
    assert [dot.status for dot in similarity_dots([row, other, third])] == ["plain", "alarm", "certain"]


def test_a_title_says_what_the_chart_shows() -> None:
    dots = [Dot("a", 0.1, status="alarm"), Dot("b", -0.3, status="alarm"), Dot("c", 0.2, status="alarm")]
    assert headline(dots) == "Alarm: b −0.3, c 0.2 and 1 more"
    assert headline([Dot("a", 0.1, status="certain"), Dot("b", 0.2)]) == "More than chance: a 0.1"
    assert headline([Pair("black", 0.12, 0.37, "past")]) == "Past the threshold: black 12 % against 37 %"
    assert (
        headline([Dot("a", 0.1, status="clear"), Dot("b", 0.1, status="inconclusive")])
        == "No alarm; inconclusive: b 0.1"
    )
    assert headline([Dot("a", 0.1, status="clear"), Dot("b", 0.0, status="clear")]) == "Clear for all"
    assert headline([Dot("a", 0.1), Dot("b", None), Dot("c", 0.9)]) == "Highest: c 0.9; lowest: a 0.1"
    assert headline([Dot("a", 0.1), Dot("b", 0.1)]) == "The same for all: 0.1"
    banded = [Dot("a", 0.5, band_low=0.4, band_high=0.6), Dot("b", 0.7, band_low=0.4, band_high=0.6)]
    assert headline(banded, "the noise") == "Outside the noise: b 0.7"
    assert headline([banded[0], banded[0]], "the noise") == "All lie within the noise"
    mixes = {"a": {"mid": 0.3, "senior": 0.7}, "b": {"mid": 0.5, "senior": 0.3}}
    assert headline_of_parts(mixes) == "senior: a 70 %, b 30 %"
    assert headline_of_bars([("a", 0.0, "")], ("up", "down"), "{label}") == "No difference"


# --- labels and plots


@pytest.mark.parametrize("width", [WHOLE, HALF, NARROW])
def test_labels_are_whole(width: int) -> None:
    drawn = Drawing(svg(interval_dots([Dot(label, 0.1) for label in LONG], "value"), width, "key"))
    assert set(LONG) <= set(drawn.texts)
    assert "…" not in "".join(drawn.texts)


def test_plots_next_to_each_other_are_equally_wide() -> None:
    panels = [
        Panel("", "", signed_bars([(label, 0.1, ""), ("b", -0.1, "")], "difference"))
        for label in ("a", "a much longer label of a row")
    ]
    for width, alone in ((HALF, False), (NARROW, False), (HALF, True)):
        space = None if alone else max(label_space(panel.spec, width) for panel in panels)
        drawn = [svg(panel.spec, width, "key", space) for panel in panels]
        # The line under a plot is as wide as the plot.
        plots = {re.findall(r'<line x2="(\d+)" stroke="var\(--line\)"', one)[0] for one in drawn}
        assert (len(plots) > 1) == alone, (width, plots)
    assert drawings(panels[0], "a", panels).count("<svg ") == 2
    assert drawings(panels[0], "a", panels, has_narrow=False).count("<svg ") == 1


def test_ratios_have_space_of_their_own() -> None:
    pairs = [Pair("simulator-fair, black × female", 0.9, 0.95, "clear", 0.8, 1.0)]
    for width in (WHOLE, HALF, NARROW):
        chart = fitted(dumbbells(pairs, "share"), width, 160)
        end = chart["layer"][-1]["encoding"]["x"]["datum"]
        assert {layer["encoding"]["x"]["scale"]["domain"][1] for layer in chart["layer"]} == {end}
        assert (width - 160) * (1 - 1 / end) == pytest.approx(52, abs=2)


def test_names_of_points_overlap_neither_each_other_nor_points() -> None:
    points = [
        Point(f"word number {place}", 10 + place % 5, 2 + place / 40, "alarm", True) for place in range(14)
    ]
    points += [Point("set", 900, -4, "quiet", True), Point("quiet", 500, 0.5, "quiet", False)]
    chart = fitted(scatter(points, ("times", "z"), log_x=True), HALF)
    placed = chart["layer"][-1]["data"]["values"]
    assert len(placed) >= 4
    assert {"word number 0", "set"} <= {one["name"] for one in placed}
    assert "quiet" not in {one["name"] for one in placed}
    encoding = chart["layer"][0]["encoding"]
    across, along = (
        drawing._scale(encoding[name]["scale"], size)[0] for name, size in (("x", HALF - 62), ("y", -340))
    )
    boxes = []
    for one in placed:
        x, y, half = across(one["at_x"]), along(one["at_y"]), len(one["name"]) * 3.3
        boxes.append((x - half, y - 7, x + half, y + 7))
    assert not any(drawing._overlap(one, other) for one, other in itertools.combinations(boxes, 2))
    marks = [(across(point.x), along(point.y)) for point in points]
    assert not any(drawing._overlap(box, (*mark, *mark)) for box in boxes for mark in marks)


def test_what_has_an_order_has_colours_in_an_order() -> None:
    bars = stacked_shares([("a", [0.2, 0.8])], ["junior", "senior"], "share", is_ordered=True)
    colours = bars["layer"][0]["encoding"]["color"]["scale"]
    assert colours == {"domain": ["junior", "senior"], "range": ["var(--order-1)", "var(--order-2)"]}


def test_many_rows_with_long_labels_are_close_to_each_other() -> None:
    labels = [
        label.replace(
            "how well a classifier guesses the group from the words of answers", "how well words tell"
        )
        for label in LONG
    ]
    dots = [Dot(label, 0.1) for label in labels]
    usual = interval_dots(dots, "value")
    dense = usual | {"usermeta": {"is_dense": True}}
    assert fitted(dense, DENSE)["height"] == 20 * len(LONG) < fitted(usual, WHOLE)["height"]
    assert set(labels) <= set(Drawing(drawings(Panel("", "", dense), "key", has_narrow=False)).texts)


# --- links


def test_a_mark_leads_to_its_finding_and_only_such_a_mark() -> None:
    found, none = "a&b", None
    specs = {
        "dots": interval_dots([Dot("a", 0.1, finding=found), Dot("b", 0.2, finding=none)], "value"),
        "pairs": dumbbells([Pair("a", 0.1, 0.2, finding=found), Pair("b", 0.2, 0.2)], "share"),
        "points": scatter(
            [Point("a", 1, 2, "plain", True, found), Point("b", 2, 3, "plain", True)], ("x", "y")
        ),
        "bars": linked(signed_bars([("a", 0.1, ""), ("b", -0.1, "")], "difference"), [found, none]),
    }
    for name, spec in specs.items():
        drawn = svg(spec, WHOLE, "key", address="#findings?{}".format)
        # Keyboards reach findings in the table: a chart adds no stops.
        assert re.findall(r"<a [^>]*>", drawn) == ['<a tabindex="-1" href="#findings?a&amp;b">'], name
        assert "href" not in svg(spec, WHOLE, "key"), name
        assert [row["finding_id"] for row in csv.DictReader(io.StringIO(as_csv(spec)))] == [found, ""], name


def test_all_marks_of_a_chart_about_one_finding_lead_to_it() -> None:
    def draw(rows: Sequence[Any]) -> Panel:
        return Panel("", "", signed_bars([(row["word"], 0.1, "") for row in rows], "difference"))

    rows = [
        {"group": group, "word": word, "finding_id": finding}
        for group, finding in (("a", "one"), ("b", None))
        for word in ("word", "other")
    ]
    one, other = split_panels(rows, ("group",), draw, "groups")[0]
    assert [row["finding_id"] for row in one.spec["data"]["values"]] == ["one", "one"]
    assert "finding_id" not in other.spec["data"]["values"][0]


# --- files


def test_a_drawing_holds_hostile_texts_as_texts_and_is_the_same_each_time() -> None:
    chart = interval_dots(
        [Dot(text, 0.1, 0.0, 0.2, "alarm", more={"said": text}) for text in HOSTILE], "value"
    )
    first = svg(chart, HALF, "key")
    drawn = Drawing(first)
    assert drawn.tags <= {"svg", "g", "path", "line", "text", "tspan", "title", "rect", "defs", "clippath"}
    assert any("<script>" in title for title in drawn.titles)
    drawing._drawn.cache_clear()
    assert svg(chart, HALF, "key") == first
    assert 'id="key-0"' in first
    assert 'id="other-0"' in svg(chart, HALF, "other")


def test_the_numbers_of_a_chart_are_a_table_that_no_spreadsheet_runs() -> None:
    chart = interval_dots([Dot("=1+1", 0.25, 0.125, 0.5, "alarm")], "value")
    [row] = csv.DictReader(io.StringIO(as_csv(chart)))
    assert (row["label"], row["value"], row["low"], row["high"], row["status"]) == (
        "'=1+1",
        "0.25",
        "0.125",
        "0.5",
        "alarm",
    )


def test_a_chart_for_a_notebook_has_colours_a_legend_and_files(tmp_path: Any) -> None:
    spec = standalone(interval_dots([Dot("var(--alarm)", 0.1, 0.0, 0.2, "alarm")], "value"))
    chart = Chart(spec, "A title")
    assert chart.spec["data"]["values"][0]["label"] == "var(--alarm)"
    assert "var(--" not in str({**chart.spec, "data": None})
    bundle = chart._repr_mimebundle_(include=None, exclude=None)
    assert bundle["application/vnd.vegalite.v6+json"] is chart.spec
    assert "A title" in bundle["image/svg+xml"]
    assert chart.save(tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(
        InputError, match=r"A chart is written as \.svg, \.png, \.json, and not as chart\.gif\."
    ):
        chart.save(tmp_path / "chart.gif")
