"""A check as text, as JSON of a stable shape, and as the XML that JUnit's readers (GitLab, Jenkins) take."""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Callable
from itertools import groupby
from xml.etree import ElementTree

from biasledger.checking.cases import ACCEPTED, FAILED, STATUSES, UNDECIDED, WARNED, Case, Check
from biasledger.checking.outputs import sentences
from collector.terminal import on_one_line

JSON_VERSION = 1
_WIDTH = 118
_ILLEGAL_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HEADINGS = {FAILED: "Failed", WARNED: "Only warn", ACCEPTED: "Accepted until their exception expires"}


def as_text(check: Check) -> str:
    """For people: the headline, counts by category and measure, a sentence for each alarm, what may be tried."""
    lines = [check.headline]
    if check.is_simulated:
        lines.append("Some of the answers are simulated.")
    if check.n_compared:
        counts = ", ".join(
            f"{count} {verdict.replace('_', ' ')}" for verdict, count in sorted(check.n_compared.items())
        )
        lines.append(f"Against the baseline: {counts}.")
    lines += [*check.notes, *sentences(check.outputs)]
    if check.cases:
        lines += ["", *_summary_table(check)]
    for status, heading in _HEADINGS.items():
        cases = [case for case in check.cases if case.status == status]
        if cases:
            lines += ["", f"{heading}:"]
        for case in cases:
            lines += _paragraph(case.sentence, "  - ")
    lines += _suggestions(check)
    return "\n".join(on_one_line(line) for line in lines) + "\n"


def _paragraph(text: str, first: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=first, subsequent_indent=" " * len(first)) or [first]


def _summary_table(check: Check) -> list[str]:
    rows: list[tuple[str, ...]] = [("audit", "target", "category", "measure", *STATUSES)]
    rows += [
        (audit, target, category, measure, *(str(counts[status] or "") for status in STATUSES))
        for audit, target, category, measure, counts in check.summary()
    ]
    widths = [max(len(on_one_line(row[column])) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            on_one_line(cell).ljust(width) if column < 4 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _suggestions(check: Check) -> list[str]:
    lines: list[str] = []
    said: set[str] = set()
    for case in check.cases:
        if case.status not in {FAILED, WARNED}:
            continue
        for one in case.suggestions:
            if one.suggestion not in said:
                said.add(one.suggestion)
                lines += _paragraph(f"{one.kind}, for {case.room}: {one.suggestion} [{one.source}].", "  - ")
    return ["", "What may be tried:", *lines] if lines else []


def as_json(check: Check) -> str:
    """For programs; docs/ci.md says what every key means. The version rises when one changes or goes."""
    document = {
        "format": "biasledger-check",
        "version": JSON_VERSION,
        "verdict": check.verdict,
        "headline": check.headline,
        "is_simulated": check.is_simulated,
        "runs": list(check.runs),
        "unjudged": [{"audit": audit, "target": target} for audit, target in check.unjudged],
        "silent": [
            {
                "run": one.run_id,
                "audit": one.audit,
                "target": one.target,
                "variant": one.variant,
                "attribute": one.attribute,
                "group": one.group_name,
                "why": one.why,
            }
            for one in check.silent
        ],
        "pass_rate": check.pass_rate,
        "counts": {status: check.count(status) for status in STATUSES},
        "compared_with_baseline": check.n_compared,
        "notes": list(check.notes),
        "summary": [
            {
                "audit": audit,
                "target": target,
                "category": category,
                "measure": measure,
                **{status: counts[status] for status in STATUSES},
            }
            for audit, target, category, measure, counts in check.summary()
        ],
        "outputs": [
            {
                "run": one.run_id,
                "audit": one.audit,
                "target": one.target,
                "category": one.category,
                "total": one.n_outputs,
                "passed": one.n_outputs - one.n_failed,
                "failed": one.n_failed,
                "skipped": one.n_skipped,
                "mean_stereotype_ratio": one.mean_stereotype_ratio,
            }
            for one in check.outputs
        ],
        "cases": [_as_object(case) for case in check.cases],
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _as_object(case: Case) -> dict[str, object]:
    return {
        "run": case.run_id,
        "audit": case.audit,
        "target": case.target,
        "kind": case.kind,
        "room": case.room,
        "category": case.category,
        "measure": case.measure,
        "name": case.name,
        "status": case.status,
        "reason": case.reason,
        "sentence": case.sentence,
        "value": _finite(case.value),
        "threshold": _finite(case.threshold),
        "p_value_adjusted": _finite(case.p_value_adjusted),
        "scope": case.scope,
        "suggestions": [
            {"kind": one.kind, "suggestion": one.suggestion, "source": one.source} for one in case.suggestions
        ],
    }


def _finite(value: float | None) -> float | None:
    """None for infinity, which JSON has no number for."""
    return value if value is not None and math.isfinite(value) else None


def as_junit(check: Check) -> str:
    """For pipelines: a suite a run; what could not be judged is skipped, what only warns or was accepted passes and says so."""
    root = ElementTree.Element("testsuites", _counts("biasledger", check.cases))
    cases = sorted(check.cases, key=lambda case: (case.run_id, case.room, case.measure, case.name))
    for run_id, group in groupby(cases, key=lambda case: case.run_id):
        members = tuple(group)
        suite = ElementTree.SubElement(root, "testsuite", _counts(run_id, members))
        properties = ElementTree.SubElement(suite, "properties")
        for name, value in (("audit", members[0].audit), ("target", members[0].target)):
            ElementTree.SubElement(properties, "property", {"name": name, "value": _legal(value)})
        for case in members:
            _add_case(suite, case)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _counts(name: str, cases: tuple[Case, ...]) -> dict[str, str]:
    return {
        "name": _legal(name),
        "tests": str(len(cases)),
        "failures": str(sum(case.status == FAILED for case in cases)),
        "errors": "0",
        "skipped": str(sum(case.status == UNDECIDED for case in cases)),
        "time": "0",
    }


def _add_case(suite: ElementTree.Element, case: Case) -> None:
    element = ElementTree.SubElement(
        suite,
        "testcase",
        {
            "classname": _legal(f"{case.audit}.{case.target}.{case.room}.{case.measure}"),
            # Readers tell cases apart by class and name alone.
            "name": _legal(f"{case.name} [{case.kind}]" if case.kind != "finding" else case.name),
            "time": "0",
        },
    )
    if case.status == FAILED:
        failure = ElementTree.SubElement(
            element,
            "failure",
            {"message": _legal(case.sentence), "type": "alarm" if case.kind == "finding" else "regression"},
        )
        tried = [f"{one.kind}: {one.suggestion} [{one.source}]" for one in case.suggestions]
        failure.text = _legal("\n".join([case.reason, *tried]))
    elif case.status == UNDECIDED:
        ElementTree.SubElement(element, "skipped", {"message": _legal(case.reason)})
    elif case.status in {WARNED, ACCEPTED}:
        ElementTree.SubElement(element, "system-out").text = _legal(f"{case.status}: {case.sentence}")


def _legal(text: str) -> str:
    """Without characters that XML has no way to say."""
    return _ILLEGAL_IN_XML.sub("\ufffd", text)


FORMATS: dict[str, Callable[[Check], str]] = {"text": as_text, "json": as_json, "junit": as_junit}
"""Name of a format -> how a check is written in it."""
