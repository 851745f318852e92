"""Shares of groups next to those of their references, as every method draws them: what the rows of a query have to hold."""

from __future__ import annotations

from collections.abc import Sequence

from biasledger.reporting.charts import Pair, describe_pairs, dumbbells, headline
from biasledger.reporting.picture import Key, Panel, contrast, group_labels, interval, number
from biasledger.reporting.source import Row

_FOUR_FIFTHS = 0.8
RATE_KEYS = (
    Key("reference", "reference group"),
    Key("band", "what chance alone gives, 95 %"),
)


def rates_panel(rows: Sequence[Row], title: str, what: str) -> Panel:
    """The dumbbells of rows with `share`, `share_reference`, `chance_low` and `chance_high` (0 to 1), and a contrast.

    Args:
        rows: with `adjusted_gap`, `gap_low` and `gap_high`, too, and `category` where one group has several rows.
        title: of the panel.
        what: what the shares are of.
    """
    known = [
        (row, label) for row, label in zip(rows, group_labels(rows), strict=True) if row["share"] is not None
    ]
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
        for row, label in known
        if row["share_reference"] is not None
    ]
    return Panel(title, describe_pairs(pairs, title), dumbbells(pairs, what), finding=headline(pairs))


def _unjudged(row: Row) -> str:
    """How to draw shares without a verdict: below four fifths of the reference they are never drawn as harmless."""
    share, reference, low = row["share"], row["share_reference"], row["chance_low"]
    if not reference or share >= _FOUR_FIFTHS * reference:
        return "plain"
    return "past" if low is not None and share < low else "uncertain"
