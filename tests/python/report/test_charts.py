"""Test chart specifications: they compile, keep their data as data, and describe themselves."""

from __future__ import annotations

import json
from typing import Any

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from biasledger.reporting.captions import describe_dots, describe_pairs
from biasledger.reporting.charts import (
    VEGA_LITE,
    Dot,
    Pair,
    Point,
    Rule,
    dumbbells,
    grouped_bars,
    interval_dots,
    level_dots,
    lines,
    scatter,
    signed_bars,
    stacked_shares,
)
from biasledger.reporting.page import _json
from biasledger.reporting.picture import (
    Panel,
    Picture,
    breadth,
    cell,
    clip,
    contrast,
    heading,
    number,
    prose,
    readable,
    split_panels,
    unique_labels,
)
from biasledger.reporting.source import Result
from tests.python.report.warehouses import HOSTILE

DOTS = [
    Dot(text, place / 10, place / 10 - 0.1, place / 10 + 0.1, "alarm", 0.0, 0.2)
    for place, text in enumerate(HOSTILE)
]
POINTS = [Point(text, 1 + place, place - 5, "quiet", True) for place, text in enumerate(HOSTILE)]
CHARTS = {
    "interval_dots": interval_dots(DOTS, "value", [Rule(0.5, "threshold"), Rule(0, "even")]),
    "signed_bars": signed_bars([(text, 0.2, text) for text in HOSTILE], "share"),
    "scatter": scatter(POINTS, ("x", "y"), log_x=True, rules=(1.96,)),
    "level_dots": level_dots([("$", text, 0.1, 0.0, 0.2) for text in HOSTILE], ["$"], ("level", "share"), 0.5)[0],
    "grouped_bars": grouped_bars([(text, text, 0.1) for text in HOSTILE], "share")[0],
    "lines": lines([(text, text, 0.1, text) for text in HOSTILE], ("run", "value"), 1.0)[0],
    "dumbbells": dumbbells([Pair(text, 0.1, 0.3, "inconclusive", 0.2, 0.4, {"compared": text}) for text in HOSTILE], "share"),
    "stacked_shares": stacked_shares([(text, [0.1, 0.2]) for text in HOSTILE], ["refused", "failed"], "share"),
}  # fmt: skip


def expressions(value: Any) -> list[str]:
    """Return every text that Vega would read as an expression, anywhere in a compiled chart."""
    if isinstance(value, dict):
        own = [
            str(value[name])
            for name in ("signal", "expr", "test", "update", "init")
            if isinstance(value.get(name), str)
        ]
        return own + [one for part in value.values() for one in expressions(part)]
    if isinstance(value, list):
        return [one for part in value for one in expressions(part)]
    return []


@pytest.mark.parametrize("name", CHARTS)
def test_charts_compile_and_no_text_of_a_warehouse_becomes_an_expression(name: str) -> None:
    vega = vl_convert.vegalite_to_vega(CHARTS[name], vl_version=VEGA_LITE)
    found = expressions({key: part for key, part in vega.items() if key != "data"}) + expressions(
        [data.get("transform", []) for data in vega["data"]]
    )
    assert found
    assert [one for one in found if any(text[:20] in one for text in HOSTILE if len(text) < 100)] == []


def test_a_dot_is_drawn_with_its_own_numbers() -> None:
    spec = interval_dots([Dot("a", 0.5, 0.25, 1.0, "clear"), Dot("b", None)], "value", [Rule(2.0, "even")])
    first, second = spec["data"]["values"]
    assert (first["value"], first["low"], first["high"], first["kind"]) == (0.5, 0.25, 1.0, "clear")
    assert second["value"] is None
    low, high = spec["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert low < 0.25
    assert high > 2.0


def test_charts_next_to_each_other_share_the_ends_of_axes_of_one_title() -> None:
    def domain(panel: Panel) -> list[float]:
        return panel.spec["layer"][0]["encoding"]["x"]["scale"]["domain"]

    small, large, other = (
        Panel("", "", interval_dots([Dot("a", 0.0, -size, size)], title, [Rule(0.0, "even")]))
        for size, title in ((0.1, "gap"), (2.0, "gap"), (9.0, "another gap"))
    )
    bars = [Panel("", "", signed_bars([("a", size, ""), ("b", -size, "")], "share")) for size in (0.1, 0.5)]
    own = domain(other)
    Picture("key", "", "", Result(("a",), (), ""), (small, large, other, *bars))
    assert domain(small) == domain(large)
    assert domain(small)[0] <= -2.0
    assert domain(other) == own
    assert domain(bars[0]) == domain(bars[1])
    rules = [layer["encoding"]["x"]["scale"]["domain"] for layer in small.spec["layer"]]
    assert all(one == rules[0] for one in rules)


def test_one_wide_interval_does_not_flatten_the_others_and_says_that_it_is_cut() -> None:
    def picture(*halves: float) -> tuple[Picture, list[float]]:
        dots = [Dot(str(half), 0.1, 0.1 - half, 0.1 + half) for half in halves]
        panels = [
            Panel("", "", interval_dots(part, "gap", [Rule(0.5, "threshold")]))
            for part in (dots[:3], dots[3:])
        ]
        made = Picture("key", "", "", Result(("a",), (), ""), tuple(panels), note="Drawn are two.")
        domains = [panel.spec["layer"][0]["encoding"]["x"]["scale"]["domain"] for panel in panels]
        assert domains[0] == domains[1]
        return made, domains[0]

    cut, (low, high) = picture(0.05, 0.05, 0.05, 9.0)
    assert -0.5 < low < 0.0
    assert 0.5 <= high < 0.7
    assert cut.note.startswith("Drawn are two. Intervals that reach an edge go on beyond it")
    whole, (low, high) = picture(0.5, 0.6, 0.5, 0.7)
    assert low < -0.6
    assert whole.note == "Drawn are two."


def test_a_quadrant_has_one_scale() -> None:
    panels = [
        Panel("", "", scatter([Point("a", 0.1 * size, 0.4 * size, "plain", True)], ("to a", "to b")))
        for size in (1, -2)
    ]
    Picture("key", "", "", Result(("a",), (), ""), tuple(panels))
    ends = [
        layer["encoding"][channel]["scale"]["domain"]
        for panel in panels
        for layer in panel.spec["layer"]
        for channel in ("x", "y")
        if channel in layer["encoding"]
    ]
    assert all(one == ends[0] for one in ends)
    assert ends[0][0] < -0.8 < 0.4 < ends[0][1]


def test_a_dumbbell_holds_both_shares_their_ratio_and_the_band_of_chance() -> None:
    pairs = [Pair("black", 0.13, 0.37, "alarm", -0.1, 0.44), Pair("none", 0.1, 0.0)]
    first, second = dumbbells(pairs, "share selected")["data"]["values"]
    assert (first["value"], first["reference"], first["ratio"], first["kind"]) == (
        0.13,
        0.37,
        "0.351 ×",
        "alarm",
    )
    assert (first["band_low"], first["band_high"]) == (0.0, 0.44)
    assert second["ratio"] == "–"
    assert describe_pairs(pairs, "Selected") == (
        "Selected: black 13 % against 37 %; none 10 % against 0 %. Alarm: black."
    )


def test_limits_cut_off_what_would_squeeze_the_rest() -> None:
    spec = interval_dots([Dot("a", 0.5, 0.2, 900.0)], "ratio", limits=(0.0, 2.0))
    assert spec["layer"][-1]["encoding"]["x"]["scale"]["domain"][1] < 3


def test_descriptions_name_the_extremes_and_the_alarms() -> None:
    text = describe_dots([Dot("a", 0.1), Dot("b", 0.9, 0.8, 1.0, "alarm"), Dot("c", None)], "Ratio by group")
    assert text == "Ratio by group, 2 rows. Highest: b 0.9 (0.8 to 1). Lowest: a 0.1. Alarm: b."
    assert describe_dots([Dot("a", None)], "Ratio") == "Ratio: no value could be computed."
    assert describe_dots([Dot("a", 0.1)], "Ratio") == "Ratio: a 0.1."


def test_many_panels_and_rows_are_cut_and_said() -> None:
    rows = [
        {
            "attribute": f"a{place % 8}",
            "group_name": str(place),
            "status": "alarm" if place == 799 else "clear",
        }
        for place in range(800)
    ]
    drawn: list[Any] = []
    panels, note = split_panels(rows, ("attribute",), drawn.append, "attributes")
    assert len(panels) == len(drawn) == 6
    assert all(len(part) == 40 for part in drawn)
    assert (
        note
        == "Showing 6 of 8 attributes. Each chart shows at most 40 of up to 100 rows, alarms before others."
    )
    only = [row for row in rows if row["attribute"] == "a7"]
    split_panels(only, ("attribute",), drawn.append, "attributes")
    assert drawn[-1][-1]["group_name"] == "799"


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=80) | st.sampled_from(["a", "a (2)", "a (3)"])))
def test_labels_stay_apart(texts: list[str]) -> None:
    labels = unique_labels(texts)
    assert len(set(labels)) == len(texts)
    for first, second in zip(labels, texts, strict=True):
        assert first.startswith(clip(" ".join(second.split()), 120)[:10])


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@settings(max_examples=50, deadline=None)
@given(_JSON)
def test_json_in_a_page_is_the_same_json_and_cannot_end_its_element(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a surrogate pair, which no database returns
        return
    text = _json(value)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.12345, "0.123"),
        (-0.5, "−0.5"),
        (0, "0"),
        (1234567.0, "1,234,567"),
        (-1234.4, "−1,234"),
        (None, "–"),
        (1e-5, "1e-5"),
        (-1e-5, "−1e-5"),
        # A rounding error of a difference.
        (-1.11e-17, "0"),
    ],
)
def test_numbers(value: float | None, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("finding", "shown"),
    [
        ("black × female 0.5", "Black × female 0.5"),
        ("gpt-4o 0.5", "gpt-4o 0.5"),
        ("llama3: 2", "llama3: 2"),
        ("", ""),
    ],
)
def test_the_title_of_a_chart_begins_as_a_sentence(finding: str, shown: str) -> None:
    assert Panel("", "", {"height": 1}, finding=finding).finding == shown


def test_cells_and_names() -> None:
    columns = {
        "n_cases": "number of cases",
        "snsr_beyond_chance": "SNSR beyond chance",
        "n": "n",
        "p_value_adjusted_x": "adjusted p (horizontal)",
        "is_marked": "marked",
        "interval 95 % interval": "95 % interval",
        "adjusted_gap 95 % interval": "adjusted difference, 95 % interval",
    }
    assert {name: heading(name) for name in columns} == columns
    assert (cell("insufficient_data", "status"), cell("rank_gap, place_gap", "measures")) == (
        "insufficient data",
        "rank gap, place gap",
    )
    # Other people's words stay as they are.
    assert (cell("correct", "outcome"), cell("correct", "word")) == ("right decisions", "correct")
    assert (cell("white*female", "group_name"), cell(4.6e-12, "fisher_p_value")) == (
        "white × female",
        "1e-06",
    )
    word = [{"b": "v " * 90, **dict.fromkeys("acde", "w" * 40)}]
    assert [breadth({"b": "b", **dict(zip("acde"[:n], "acde", strict=False))}, word) for n in range(1, 5)] == [
        "", "", "broad", "broad broken",
    ]  # fmt: skip
    assert [cell(value) for value in (None, "", True, False, 1234, 12.0, 0.123456, "a\u0000b")] == [
        "–", "–", "yes", "no", "1,234", "12", "0.1235", "a\N{REPLACEMENT CHARACTER}b",
    ]  # fmt: skip
    assert readable("black*female") == "black × female"
    assert prose("black*female gets 2 * 3") == "black × female gets 2 * 3"
    assert prose("stands -0.27 (-0.3 to -1) since 2026-11-22, run-1, A-1") == (
        "stands −0.27 (−0.3 to −1) since 2026-11-22, run-1, A-1"
    )
    assert cell(-0.5) == "−0.5"
    assert contrast({"group_name": "Black", "reference_group": "White"}) == "Black vs White"
    assert contrast({"group_name": "(all)", "reference_group": "(even)"}) == "all groups"
    assert contrast({"group_name": "first", "reference_group": "(chance)"}) == "first"
