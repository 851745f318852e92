"""The table of all findings: its first rows as HTML that reads without scripts, all of them for the page's filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

from biasledger.numbers import probability
from biasledger.reporting.picture import clip, interval, number, prose, readable
from biasledger.reporting.source import Row
from biasledger.reporting.verdicts import about
from biasledger.verdicts import PLAIN

ROWS_WITHOUT_SCRIPTS = 100
COLUMNS = {
    "status": "Status",
    "sentence": "Finding",
    "value": "Value",
    "threshold": "Threshold",
    "interval": "95 % interval",
    "p": "Adjusted p",
}
"""Columns that are shown: field -> its heading."""
FILTERS = {
    "status": "Status",
    "audit": "Audit",
    "attribute": "Attribute",
    "group": "Group",
    "measure": "Measure",
    "severity": "Severity",
    "mitigation": "Asked",
}
"""The filters of the table: field -> its label."""
ID_CHARACTERS = 12
"""Characters of a finding's id that the page shows, and that a search finds."""
_SEVERITIES = {"error": "can fail", "warn": "warning", "none": "described"}


class Line(NamedTuple):
    """A row of the table as texts; `id` is the beginning of the finding's id, which `explain` takes."""

    status: str
    audit: str
    attribute: str
    group: str
    measure: str
    severity: str
    mitigation: str
    id: str
    about: str
    sentence: str
    value: str
    threshold: str
    interval: str
    p: str


@dataclass(frozen=True)
class FindingsTable:
    """The first rows, all of them packed for the page's script (each different text once), and how many there are."""

    rows: Sequence[Line]
    packed: dict[str, Any]
    n: int


def findings_table(findings: Sequence[Row]) -> FindingsTable:
    """The table of these findings, in their order."""
    rows = [_line(finding) for finding in findings]
    return FindingsTable(rows[:ROWS_WITHOUT_SCRIPTS], _pack(rows), len(rows))


def finding_address(finding_id: str) -> str:
    """Where the page shows a finding: its row alone, and without scripts where the table has it."""
    return f"#findings?text={quote(finding_id[:ID_CHARACTERS])}"


def audit_name(row: Row) -> str:
    """Name audit and target as the table does."""
    return clip(f"{row['audit']}, {row['target']}", 120)


def _line(finding: Row) -> Line:
    notes = [
        note
        for note, holds in (
            ("warning", finding["status"] == "alarm" and finding["severity"] != "error"),
            ("accepted", finding["is_excepted"]),
            ("not the current run", not finding["is_current"]),
        )
        if holds
    ]
    return Line(
        status=finding["status"],
        audit=audit_name(finding),
        attribute=readable(finding["attribute"].strip("()")),
        group=readable(finding["group_name"].replace("(all)", "all groups")),
        measure=readable(finding["measure"]),
        severity=_SEVERITIES.get(finding["severity"], ""),
        mitigation="plainly" if finding["mitigation"] == PLAIN else f"with {readable(finding['mitigation'])}",
        id=finding["finding_id"][:ID_CHARACTERS],
        about=about(finding) + (f" ({', '.join(notes)})" if notes else ""),
        sentence=prose(finding["explanation"] or ""),
        value=number(finding["value"]),
        threshold=number(finding["threshold"]),
        interval=interval(finding["value_low"], finding["value_high"]),
        p=probability(finding["p_value_adjusted"]),
    )


def _pack(rows: Sequence[Line]) -> dict[str, Any]:
    """Rows as numbers of texts: most texts of a table come many times."""
    texts: dict[str, int] = {}
    packed = [[texts.setdefault(text, len(texts)) for text in row] for row in rows]
    return {"fields": Line._fields, "texts": list(texts), "rows": packed}
