"""The table of all findings: its first rows as HTML that reads without scripts, all of them for the page's filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from biasledger.reporting.picture import clip, number, prose, readable
from biasledger.reporting.source import Row
from biasledger.reporting.verdicts import about

ROWS_WITHOUT_SCRIPTS = 100
COLUMNS = ("Status", "Finding", "Value", "Threshold", "95 % interval", "Adjusted p")


@dataclass(frozen=True)
class FindingsTable:
    """`rows` hold status, audit, measure, whom it is about, sentence, value, threshold, interval and adjusted p.

    `packed` is all of them for the page's script, each different text once.
    """

    rows: Sequence[Sequence[str]]
    packed: dict[str, Any]
    n: int


def findings_table(findings: Sequence[Row]) -> FindingsTable:
    """The table of these findings, in their order."""
    rows = [_texts(finding) for finding in findings]
    return FindingsTable(rows[:ROWS_WITHOUT_SCRIPTS], _pack(rows), len(rows))


def _texts(finding: Row) -> tuple[str, ...]:
    notes = [
        note
        for note, holds in (
            ("only warns", finding["status"] == "alarm" and finding["severity"] != "error"),
            ("accepted", finding["is_excepted"]),
            ("not the current run", not finding["is_current"]),
        )
        if holds
    ]
    return (
        finding["status"],
        clip(f"{finding['audit']}, {finding['target']}", 120),
        readable(finding["measure"]),
        about(finding) + (f" ({', '.join(notes)})" if notes else ""),
        prose(finding["explanation"] or ""),
        number(finding["value"]),
        number(finding["threshold"]),
        _interval(finding["interval_low"], finding["interval_high"]),
        _probability(finding["p_value_adjusted"]),
    )


def _pack(rows: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Rows as numbers of texts: most texts of a table come many times."""
    texts: dict[str, int] = {}
    packed = [[texts.setdefault(text, len(texts)) for text in row] for row in rows]
    return {"texts": list(texts), "rows": packed}


def _interval(low: float | None, high: float | None) -> str:
    # A bound that is not of the value itself: of words it is in log-odds, of families the farthest of all bands.
    if low is None or high is None or low == -high:
        return "–"
    return f"{number(low)} to {number(high)}"


def _probability(value: float | None) -> str:
    if value is None:
        return "–"
    return "<0.001" if value < 0.001 else f"{value:.3f}"
