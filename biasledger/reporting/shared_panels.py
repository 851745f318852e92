"""Panels as every method draws them: dots with intervals, and shares next to those of the reference group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from biasledger.reporting.captions import describe_dots, describe_pairs, headline
from biasledger.reporting.charts import Dot, Pair, Rule, dumbbells, interval_dots
from biasledger.reporting.picture import Panel, contrast, group_labels, interval, number
from biasledger.reporting.source import Row

_FOUR_FIFTHS = 0.8


def dot_of(
    row: Row,
    label: str,
    value: str,
    ends: str = "interval",
    *,
    status: str | None = "plain",
    band: tuple[float | None, float | None] = (None, None),
    more: Mapping[str, str] | None = None,
) -> Dot:
    """A dot of a query's row: the column of its value, and the beginning of those of its interval's `_low` and `_high`."""
    low, high = row[f"{ends}_low"], row[f"{ends}_high"]
    return Dot(label, row[value], low, high, status, *band, more or {}, row.get("finding_id"))


def dots_panel(
    dots: Sequence[Dot],
    title: str,
    axis: str,
    rules: Sequence[Rule] = (),
    *,
    what: str,
    said: str = "",
    finding: str | None = None,
    limits: tuple[float, float] | None = None,
    shown: Sequence[float] = (),
) -> Panel:
    """A panel of dots with intervals, from top to bottom.

    Args:
        dots: from top to bottom.
        title: of the panel.
        axis: what the horizontal axis measures.
        rules: lines across all rows.
        what: what the chart shows, for its description.
        said: what the description says next to that.
        finding: its finding; None for the headline of the dots.
        limits: of the axis, as of `interval_dots`.
        shown: values that the axis includes, as of `interval_dots`.
    """
    return Panel(
        title,
        f"{describe_dots(dots, what)} {said}".rstrip(),
        interval_dots(dots, axis, rules, limits=limits, shown=shown),
        finding=headline(dots) if finding is None else finding,
    )


def rates_panel(rows: Sequence[Row], title: str, what: str) -> Panel:
    """The dumbbells of rows with `share`, `share_reference`, `chance_low` and `chance_high` (0 to 1), and a contrast.

    Args:
        rows: with `adjusted_gap`, `gap_low` and `gap_high`, too, and `category` where one group has several rows.
        title: of the panel.
        what: what the shares are of.
    """
    pairs = [
        Pair(
            f"{label}: {row['category']}" if row.get("category") else label,
            row["share"],
            row["share_reference"],
            row["status"] or _unjudged(row),
            row["chance_low"],
            row["chance_high"],
            {
                "compared": contrast(row),
                "gap": f"{number(row['adjusted_gap'])} ({interval(row['gap_low'], row['gap_high'])})",
            },
            row["finding_id"],
        )
        for row, label in zip(rows, group_labels(rows), strict=True)
        if row["share"] is not None and row["share_reference"] is not None
    ]
    return Panel(title, describe_pairs(pairs, title), dumbbells(pairs, what), finding=headline(pairs))


def _unjudged(row: Row) -> str:
    """How to draw shares without a verdict: below four fifths of the reference they are never drawn as harmless."""
    share, reference, low = row["share"], row["share_reference"], row["chance_low"]
    if not reference or share >= _FOUR_FIFTHS * reference:
        return "plain"
    return "past" if low is not None and share < low else "uncertain"
