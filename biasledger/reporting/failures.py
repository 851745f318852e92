"""The chart of the first screen: every failing finding by how many times its threshold it is."""

from __future__ import annotations

from collections.abc import Sequence

from biasledger.checking.sentences import in_units
from biasledger.measure_seeds import measure_rows
from biasledger.reporting.captions import describe_dots
from biasledger.reporting.charts import NO_DIFFERENCE, Dot, Rule, interval_dots
from biasledger.reporting.picture import Panel, contrast, number, readable, signed
from biasledger.reporting.source import Row
from biasledger.reporting.verdicts import RunVerdict

_AT_MOST = 25
_FARTHEST = 12.0


def failures(verdicts: Sequence[RunVerdict]) -> Panel | None:
    """Return a row for each alarm that fails an audit, the largest first in each audit; None where there is none.

    Audits follow each other by their largest. The axis is the value's distance from "no difference", divided by that of the
    threshold: past 1 or -1 the threshold is crossed; negative is less for the first group, a selection rate, too. A mark leads to
    the finding's row in the table of findings.
    """
    audits = {verdict.run["audit"] for verdict in verdicts}
    found = [
        (verdict, finding)
        for verdict in verdicts
        for finding in worst_first(verdict.failing_alarms)
        if _ratio(finding, finding["value"]) is not None
    ]
    if not found:
        return None
    shown = sorted(found, key=lambda one: -abs(_ratio(one[1], one[1]["value"]) or 0.0))[:_AT_MOST]
    order = list(dict.fromkeys(verdict.run["run_id"] for verdict, _ in shown))
    kept = sorted(shown, key=lambda one: order.index(one[0].run["run_id"]))
    dots = [_dot(finding, verdict.run["audit"] if len(audits) > 1 else "") for verdict, finding in kept]
    is_signed = any((_ratio(finding, finding["value"]) or 0.0) < 0 for _, finding in kept)
    rules = [NO_DIFFERENCE, Rule(1.0, "threshold"), *([Rule(-1.0, "threshold")] if is_signed else [])]
    title = "multiples of the allowed difference" + (
        " (negative: less for the first group)" if is_signed else ""
    )
    spec = interval_dots(dots, title, rules, limits=(-_FARTHEST, _FARTHEST)) | {
        "usermeta": {"is_dense": True}
    }
    left_out = f" Showing the {len(kept)} largest of {len(found)}." if len(found) > len(kept) else ""
    times = abs(dots[0].value or 0.0)
    fails = "One finding fails; it" if len(found) == 1 else f"{len(found)} findings fail; the largest"
    return Panel(
        "Solid line: no difference. Dashed: the allowed difference. A finding fails if its mark is past a dashed line and "
        "chance does not explain it.",
        describe_dots(dots, "Failing findings, in multiples of the allowed difference"),
        spec,
        finding=f"{fails} ({dots[0].label}) is {number(times)} times the allowed difference.{left_out}",
    )


def failure_rows(panel: Panel) -> list[Row]:
    """Return the numbers of the chart as rows of a table, for screen readers and touch."""
    return [
        {
            "finding_id": row["finding_id"],
            "finding": row["label"],
            "measured": row["measured"],
            "times_allowed": row["value"],
            "times_allowed_low": row["low"],
            "times_allowed_high": row["high"],
        }
        for row in panel.spec["data"]["values"]
    ]


def worst_first(findings: Sequence[Row]) -> list[Row]:
    """Sort findings by how many times the allowed difference they are."""
    return sorted(findings, key=lambda one: -abs(_ratio(one, one["value"]) or 0.0))


def named(finding: Row, audit: str = "") -> str:
    """Name a finding by its groups, subject, what was measured and a family's member: `resumes: black vs white, gap in ranks`."""
    label = measure_rows().get(finding["measure"], {}).get("label") or readable(finding["measure"])
    groups = contrast(finding)
    if groups == "all groups" and finding["member"] and finding["reference_member"]:
        groups = f"{readable(finding['member'])} vs {readable(finding['reference_member'])}"
    elif groups == "all groups":
        groups = "" if finding["attribute"].startswith("(") else readable(finding["attribute"])
    of_family = finding["member"] and not finding["reference_member"]
    member = f" ({readable(finding['member'])})" if of_family else ""
    parts = (groups, readable(finding["subject"]), label.removeprefix("the ") + member)
    listed = ", ".join(part for part in parts if part)
    return f"{readable(audit)}: {listed}" if audit else listed


def _dot(finding: Row, audit: str) -> Dot:
    ends = [_ratio(finding, finding[name]) for name in ("value_low", "value_high")]
    low, high = sorted(ends, key=lambda end: (end is None, end))
    return Dot(
        named(finding, audit),
        _ratio(finding, finding["value"]),
        low if None not in ends else None,
        high if None not in ends else None,
        "alarm",
        more={"measured": signed(in_units(finding)), "audit": finding["audit"]},
        finding=finding["finding_id"],
    )


def _ratio(finding: Row, value: float | None) -> float | None:
    """Return a value's signed distance from no difference, in multiples of the threshold's."""
    none, threshold = finding["no_difference"], finding["threshold"]
    if value is None or none is None or threshold is None or threshold == none:
        return None
    return float((value - none) / abs(threshold - none))
