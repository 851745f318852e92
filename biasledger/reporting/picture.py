"""The parts of a chart of the report, and how its words and numbers are written."""

from __future__ import annotations

import itertools
import re
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from biasledger import numbers
from biasledger.reporting.source import Result, Row

STATUS_TEXTS = {
    "alarm": "alarm",
    "inconclusive": "inconclusive",
    "clear": "clear",
    "insufficient_data": "insufficient data",
}
PANELS_AT_MOST = 6
ROWS_AT_MOST = 40
POINTS_AT_MOST = 400
TABLE_ROWS_AT_MOST = 40
_LONGEST_NAME, _LONGEST_LABEL = 60, 120
_TALL = 400  # pixels
_REFERENCES_TOLD = 3
_LONGEST_CELL = 300
_INTERVALS_AT_LEAST = 4
_WIDER = 3.0  # times as wide as half of the intervals
_CUT = "Intervals that reach an edge go on beyond it; the table has their ends."
_CROSSED = re.compile(r"(?<=\w)\*(?=\w)")
# A hyphen before a digit that no word or number ends at.
_MINUS = re.compile(r"(?<![\w.,)-])-(?=\d)")
_ACRONYMS = {"jsd", "snsr", "snsv", "sd", "ndcg", "pafs", "usd"}
_BREAKS = re.compile(r"[\s-]+")
_PORTRAIT, _LANDSCAPE = 100, 140  # characters of 8 points between the margins of A4 and Letter
_AXES = {"_x": " (horizontal)", "_y": " (vertical)"}
_INTERVAL = "95 % interval"
# Column of the audit's own word -> the word in names of columns, and in values of `outcome`, that it replaces.
_NOUNS = {
    "noun_outcome": "selected",
    "noun_case": "case",
    "noun_cases": "cases",
    "noun_item": "item",
    "noun_items": "items",
}
# Columns whose values are our own names, not texts of the audit.
_NAMED_BY_US = {
    "asked_about",
    "comparison",
    "measure",
    "measures",
    "mitigation",
    "outcome",
    "scheme",
    "verdict",
}
# Such a name -> how people read it, if not word by word.
_VALUES = {
    "against_reference": "with the reference group",
    "correct": "right decisions",
    "false_negative": "false negative rate",
    "false_positive": "false positive rate",
    "neutral_by": "nobody in particular, by someone",
    "plain": "none",  # a mitigation
    "rank_value": "rank, place or score",
}
# The same of names of columns.
_HEADINGS = {
    "adjusted_gap": "adjusted difference",
    "answers_per_100": "of 100 answers",
    "beyond_chance": "balanced accuracy",
    "best_off_group": "best-off group",
    "chance": "by chance, 95 %",
    "chi_square_p_value": "p of all places",
    "contribution_bits": "contribution in bits",
    "excess": "difference",
    "excess_entropy": "bits beyond a list that never changes",
    "fisher_p_value": "Fisher’s exact p",
    "gap": "difference",
    "group_name": "group",
    "guessing": "by guessing",
    "impact_ratio_of_asked": "impact ratio of all that were asked",
    "is_reference": "the reference itself",
    "mean_marked": "mean of the group",
    "mean_reference": "mean of the reference group",
    "n_absent": "without a list",
    "n_alarms": "alarms",
    "n_answers_using": "answers that use it",
    "n_assessable": "assessed",
    "n_clear": "clear",
    "n_clusters": "independent cases",
    "n_inconclusive": "inconclusive",
    "n_inconsistent": "number changed",
    "n_marked": "number for the group",
    "n_marked_units": "units of the group",
    "n_more_to_four_fifths": "more to reach four fifths",
    "n_not_judged": "not judged",
    "n_occurrences": "times used",
    "n_ok": "usable",
    "n_reference": "number for the reference group",
    "n_reference_units": "units of the reference group",
    "n_refused": "number refused",
    "n_selected": "number selected",
    "n_without_a_list": "without a list",
    "noise_floor_high": "noise at most",
    "null": "by chance, 95 %",
    "one_descriptor": "one of its names or words",
    "p_value": "p",
    "p_value_adjusted": "adjusted p",
    "rank_from_dearest": "place, dearest first",
    "reference_answers_per_100": "of 100 answers about the reference group",
    "reference_share": "share of the reference group",
    "rerun_similarity": "similarity when asked again",
    "share_inconsistent": "share changed",
    "share_reference": "share of the reference group",
    "share_top": "share put first",
    "signed_share": "share of the divergence",
    "similarity_name": "kind of similarity",
    "snsr_debiased": "SNSR beyond chance",
    "snsr_noise_floor_high": "SNSR when asked again, at most",
    "z_score": "z",
}
_FIRST_WORD = re.compile(r"^[a-z]+(?![\w.-])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Key:
    """One entry of a legend: a symbol that the templates can draw, and its meaning."""

    symbol: str
    text: str


@dataclass(frozen=True)
class Panel:
    """One chart: a Vega-Lite specification, what it measures, what it shows in a sentence, and the same in more words."""

    title: str
    description: str
    spec: Mapping[str, Any]
    legend: tuple[Key, ...] = ()
    finding: str = ""

    def __post_init__(self) -> None:
        # It is a sentence, which may begin with a group's name; names such as gpt-4 stay as they are.
        object.__setattr__(self, "finding", _FIRST_WORD.sub(lambda word: word[0].capitalize(), self.finding))

    @property
    def is_tall(self) -> bool:
        """Whether it needs the page's whole width, as a list of many rows next to a short chart leaves a hole."""
        return int(self.spec["height"]) > _TALL


@dataclass(frozen=True)
class Picture:
    """Charts that answer one question, the rows behind them and the SQL that made these.

    `reading` explains the chart; `note` names rows that are left out of the charts, which the table may still hold.
    """

    key: str
    title: str
    reading: str
    result: Result
    panels: tuple[Panel, ...] = ()
    legend: tuple[Key, ...] = ()
    note: str = ""
    table_rows: Sequence[Row] = field(init=False)

    def __post_init__(self) -> None:
        if _share_axes(self.panels):
            object.__setattr__(self, "note", f"{self.note} {_CUT}".strip())
        # A picture without a chart shows more rows.
        n_rows = TABLE_ROWS_AT_MOST * (1 if self.panels else 3)
        object.__setattr__(self, "table_rows", self.result.rows[:n_rows])


def _share_axes(panels: Sequence[Panel]) -> bool:
    """Give axes of one title the same ends in all panels, as unlike axes make small differences look large.

    An interval much wider than the others ends at the edge, as it would flatten them all.

    Returns:
        Whether any does.
    """
    alike: dict[tuple[str, str], list[tuple[Panel, dict[str, Any]]]] = {}
    for panel in panels:
        for layer in panel.spec.get("layer", ()):
            for channel in ("x", "y"):
                axis = layer["encoding"].get(channel, {})
                if axis.get("type") == "quantitative" and "domain" in axis.get("scale", {}):
                    # Both axes of such a chart measure the same.
                    has_equal_axes = panel.spec.get("usermeta", {}).get("has_equal_axes", False)
                    name = ("x", "y") if has_equal_axes else (channel, axis["title"])
                    alike.setdefault(name, []).append((panel, axis["scale"]))
    is_cut = False
    for charts in alike.values():
        ends = [scale["domain"] for _, scale in charts]
        low, high = min(end[0] for end in ends), max(end[1] for end in ends)
        kept = _kept(list({id(panel): panel for panel, _ in charts}.values()), low, high)
        is_cut |= kept != [low, high]
        for _, scale in charts:
            scale["domain"] = kept
    return is_cut


def _kept(panels: Sequence[Panel], low: float, high: float) -> list[float]:
    """Return the ends of an axis that shows every value and line, and intervals unless they are far wider than usual."""
    rows = [row for panel in panels for row in panel.spec["data"]["values"]]
    known = [row for row in rows if None not in (row.get("low"), row.get("value"), row.get("high"))]
    if len(known) < _INTERVALS_AT_LEAST:
        return [low, high]
    usual = _WIDER * statistics.median(row["high"] - row["low"] for row in known)
    if not any(row["high"] - row["low"] > usual for row in known):
        return [low, high]
    ends = [
        row[name] for row in rows for name in ("value", "band_low", "band_high") if row.get(name) is not None
    ]
    ends += [
        rule["at"]
        for panel in panels
        for layer in panel.spec["layer"]
        if "data" in layer
        for rule in layer["data"]["values"]
    ]
    ends += [max(row["low"], row["value"] - usual) for row in known]
    ends += [min(row["high"], row["value"] + usual) for row in known]
    space = 0.04 * (max(ends) - min(ends))
    return [max(low, min(ends) - space), min(high, max(ends) + space)]


def split_panels(
    rows: Iterable[Row],
    by: Sequence[str],
    draw: Callable[[Sequence[Row]], Panel],
    noun: str,
    rows_at_most: int = ROWS_AT_MOST,
    panels_at_most: int = PANELS_AT_MOST,
) -> tuple[tuple[Panel, ...], str]:
    """One panel for each combination of `by`, in the order of the rows, at most six or as many as stated.

    Returns:
        Return the panels, and sentences on rows that are left out, or "".
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in by), []).append(row)
    drawn = list(groups.values())[:panels_at_most]
    left_out = len(groups) - len(drawn)
    notes = [f"Showing {len(drawn)} of {len(groups)} {noun}."] if left_out else []
    longest = max(map(len, drawn), default=0)
    if longest > rows_at_most:
        notes.append(
            f"Each chart shows at most {rows_at_most:,} of up to {longest:,} rows, alarms before others."
        )
    kept = [_gravest(group, rows_at_most) for group in drawn]
    return tuple(_linked(draw(shown), shown) for shown in kept), " ".join(notes)


def _linked(panel: Panel, rows: Sequence[Row]) -> Panel:
    """Let all marks of a chart lead to the finding that all of its rows belong to."""
    findings = {row.get("finding_id") for row in rows}
    if len(findings) == 1 and findings != {None}:
        for row in panel.spec["data"]["values"]:
            row.setdefault("finding_id", rows[0].get("finding_id"))
    return panel


def paneled(
    result: Result | None,
    by: Sequence[str],
    draw: Callable[[Sequence[Row]], Panel],
    noun: str,
    *,
    title: str,
    reading: str,
    key: str = "",
    legend: tuple[Key, ...] = (),
    keep: Callable[[Row], bool] = lambda _: True,
    note: str = "",
    rows_at_most: int = ROWS_AT_MOST,
    panels_at_most: int = PANELS_AT_MOST,
) -> Picture | None:
    """The picture of a query's rows, see `split_panels`; None where there are none to draw, or no such tables.

    Args:
        key: the query's name if not given.
        keep: whether a row is drawn; the table has all.
        note: what is said after the sentences on rows that are left out.
    """
    rows = [row for row in result.rows if keep(row)] if result else []
    if result is None or not rows:
        return None
    panels, cut = split_panels(rows, by, draw, noun, rows_at_most, panels_at_most)
    return Picture(key or result.key, title, reading, result, panels, legend, f"{cut} {note}".strip())


def tabled(
    result: Result | None, title: str, reading: str, *, key: str = "", note: str = ""
) -> Picture | None:
    """A table without a chart; None without rows."""
    if result is None or not result.rows:
        return None
    return Picture(key or result.key, title, reading, result, note=note)


def drawn(*pictures: Picture | None) -> list[Picture]:
    """The pictures that there is something to draw in."""
    return [picture for picture in pictures if picture is not None]


def _gravest(rows: Sequence[Row], n: int) -> Sequence[Row]:
    """At most n of the rows, in their order; where some must go, alarms stay."""
    if len(rows) <= n:
        return rows
    kept = sorted(range(len(rows)), key=lambda place: (rows[place].get("status") != "alarm", place))[:n]
    return [rows[place] for place in sorted(kept)]


def readable(name: str) -> str:
    """A group, attribute or measure as people write it: black*female is black × female, snsr is SNSR."""
    if name in _ACRONYMS:
        return name.upper()
    return clip(name.replace("*", " × ").replace("_", " "), _LONGEST_NAME)


def contrast(row: Row) -> str:
    """Name the two groups that a row compares."""
    if not _has_group(row):
        return "all groups"
    group, reference = readable(row["group_name"]), row["reference_group"] or ""
    return group if not reference or reference.startswith("(") else f"{group} vs {readable(reference)}"


def groups_of(row: Row) -> tuple[str, str]:
    """The names of the two groups that a row compares."""
    return readable(row["group_name"]), readable(row["reference_group"])


def group_labels(rows: Sequence[Row]) -> list[str]:
    """Name the groups of the rows; the reference is named once, by `against`."""
    return [readable(row["group_name"]) if _has_group(row) else "all groups at once" for row in rows]


def against(rows: Sequence[Row]) -> str:
    """The groups that these rows compare with, as in "against White"; "" where there are none."""
    names = dict.fromkeys(
        readable(row["reference_group"])
        for row in rows
        if _has_group(row) and row["reference_group"] and not row["reference_group"].startswith("(")
    )
    listed = ", ".join(list(names)[:_REFERENCES_TOLD]) + (
        " and others" if len(names) > _REFERENCES_TOLD else ""
    )
    return f"against {listed}" if names else ""


def _has_group(row: Row) -> bool:
    return bool(row["group_name"]) and row["group_name"] != "(all)"


def prose(text: str, longest: int = 2 * _LONGEST_CELL) -> str:
    """A sentence of the warehouse, with intersections and negative numbers as people write them."""
    return clip(signed(_CROSSED.sub(" × ", text)), longest)


def signed(text: str) -> str:
    """A text whose negative numbers have the minus sign that all numbers of the page have."""
    return _MINUS.sub("−", text)


def unique_labels(labels: Sequence[str]) -> list[str]:
    """The labels, clipped; a repeated one gets a number, as a chart would draw both in one place."""
    unique: dict[str, None] = {}
    for label in (clip(" ".join(label.split()), _LONGEST_LABEL) for label in labels):
        numbered = (f"{label} ({number})" for number in itertools.count(2))
        unique[next(name for name in itertools.chain([label], numbered) if name not in unique)] = None
    return list(unique)


def clip(text: str, longest: int = _LONGEST_CELL) -> str:
    """Text of at most that many characters; control characters, which no browser shows, become a replacement character."""
    text = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def number(value: float | None) -> str:
    """A number as all of biasledger writes it, with the minus sign of the page."""
    return signed(numbers.number(value))


def interval(low: float | None, high: float | None) -> str:
    """`−0.1 to 0.3`; – where an end is missing."""
    return signed(numbers.interval(low, high))


def cell(value: object, name: str = "") -> str:
    """A value as a table shows it: numbers in four digits, p as everywhere, yes and no, names in words, – for none."""
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return signed(f"{value:,}")
    if isinstance(value, float):
        if "p_value" in name:
            return numbers.probability(value)
        if abs(value) < numbers.NOTHING:
            return "0"
        return signed(f"{value:,.0f}" if value.is_integer() and abs(value) >= 1 else f"{value:,.4g}")
    text = str(value)
    if name in _NAMED_BY_US or name.endswith("status"):
        text = _VALUES.get(text, text).replace("_", " ")
    return clip(_CROSSED.sub(" × ", "all" if text == "(all)" else text))


def heading(name: str) -> str:
    """The name of a column as people write it: n_cases is number of cases, snsr_beyond_chance is SNSR beyond chance."""
    if name in _HEADINGS:
        return _HEADINGS[name]
    if name[-2:] in _AXES:
        return heading(name[:-2]) + _AXES[name[-2:]]
    if name.endswith(_INTERVAL):
        of = heading(name.removesuffix(_INTERVAL).rstrip())
        return _INTERVAL if of == "interval" else f"{of}, {_INTERVAL}"
    first, *rest = name.split("_")
    if first == "is" and rest:
        return heading("_".join(rest))
    words = ["number of" if first == "n" and rest else first, *rest]
    return " ".join(word.upper() if word in _ACRONYMS else word for word in words)


def compact(names: Sequence[str], rows: Sequence[Row]) -> tuple[dict[str, str], list[Row], str]:
    """Return a table with one column for each interval and without columns of one value, which a sentence states.

    Columns that begin with noun_ hold the audit's words, which take the place of ours; finding_id leads to the finding.

    Returns:
        Columns with their headings, the rows, and the sentence.
    """
    nouns = {_NOUNS[name]: row[name] for row in rows[:1] for name in _NOUNS if row.get(name)}
    rows = [
        {**row, "outcome": nouns.get(row["outcome"], row["outcome"])} if "outcome" in row else row
        for row in rows
    ]
    names = [name for name in names if not name.startswith("noun_") and name != "finding_id"]
    varying = [name for name in names if len(rows) < 2 or len({str(row[name]) for row in rows}) > 1]
    varying = varying or list(names)
    same = ", ".join(
        f"{_with_nouns(heading(name), nouns)} {cell(rows[0][name], name)}"
        for name in names
        if name not in varying and rows[0][name] not in (None, "")
    )
    highs = {f"{name[:-5]}_low": name for name in varying if name.endswith("_high")}
    paired = {low: high for low, high in highs.items() if low in varying}
    # Bands and ranges of chance say their kind in their names.
    merged = {
        low: low[:-4] if low[:-4].endswith(("band", "chance", "null")) else f"{low[:-4]} {_INTERVAL}"
        for low in paired
    }
    kept = [merged.get(name, name) for name in varying if name not in paired.values()]
    shown: list[Row] = [
        {**row, **{merged[low]: interval(row[low], row[high]) for low, high in paired.items()}}
        for row in rows
    ]
    headings = {name: _with_nouns(heading(name), nouns) for name in kept}
    return headings, shown, f"In all rows: {same}." if same else ""


def _with_nouns(text: str, nouns: Mapping[str, str]) -> str:
    return " ".join(nouns.get(word, word) for word in text.split(" "))


def breadth(headings: Mapping[str, str], rows: Sequence[Row]) -> str:
    """Return how wide a table prints: "broad" needs landscape paper for its words, and "broken" more, so that words break."""
    n_characters = 0
    for name, head in headings.items():
        texts = [head, *(cell(row[name], name) for row in rows)]
        n_characters += 1 + max(len(word) for text in texts for word in _BREAKS.split(text))
    if n_characters <= _PORTRAIT:
        return ""
    return "broad" if n_characters <= _LANDSCAPE else "broad broken"


def is_number(value: object) -> bool:
    """Whether a cell is set as a number, to the right."""
    return isinstance(value, int | float) and not isinstance(value, bool)
