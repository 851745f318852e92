"""A check as the XML that JUnit's readers (GitLab, Jenkins) take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree

from biasledger.checking.cases import ACCEPTED, FAILED, UNDECIDED, WARNED, Case, Check
from biasledger.checking.formats.places import Places

_ILLEGAL_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(check: Check) -> str:
    """Write a suite a run; undecided cases are skipped, warnings and accepted cases pass with a note.

    A suite's time is that of its run, from its start to its last event. A case has none: all are judged in one build.
    """
    places = Places()
    root = ElementTree.Element("testsuites", _counts("biasledger", check.cases))
    _add_seconds(root, check, list(check.times))
    cases = sorted(check.cases, key=lambda case: (case.run_id, case.method, case.measure, case.name))
    for run_id, group in groupby(cases, key=lambda case: case.run_id):
        members = tuple(group)
        suite = ElementTree.SubElement(root, "testsuite", _counts(run_id, members))
        _add_seconds(suite, check, [run_id])
        time = check.times.get(run_id)
        if time is not None and time.started_at is not None:
            suite.set("timestamp", f"{time.started_at:%Y-%m-%dT%H:%M:%S}")
        _add_properties(suite, {"audit": members[0].audit, "target": members[0].target})
        for case in members:
            _add_case(suite, case, places)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _counts(name: str, cases: Sequence[Case]) -> dict[str, str]:
    return {
        "name": _legal(name),
        "tests": str(len(cases)),
        "failures": str(sum(case.status == FAILED for case in cases)),
        "errors": "0",
        "skipped": str(sum(case.status == UNDECIDED for case in cases)),
    }


def _add_seconds(element: ElementTree.Element, check: Check, runs: Sequence[str]) -> None:
    seconds = [check.times[run].seconds for run in runs if run in check.times]
    known = [one for one in seconds if one is not None]
    if known:
        element.set("time", f"{sum(known):.3f}")


def _add_properties(element: ElementTree.Element, values: dict[str, str]) -> None:
    properties = ElementTree.SubElement(element, "properties")
    for name, value in values.items():
        ElementTree.SubElement(properties, "property", {"name": name, "value": _legal(value)})


def _add_case(suite: ElementTree.Element, case: Case, places: Places) -> None:
    element = ElementTree.SubElement(
        suite,
        "testcase",
        {
            "classname": _legal(f"{case.audit}.{case.target}.{case.method}.{case.measure}"),
            # Readers tell cases apart by class and name alone.
            "name": _legal(f"{case.name} [{case.kind}]" if case.kind != "finding" else case.name),
        },
    )
    place = places.of(case)
    if place is not None:
        element.set("file", _legal(place.file))
    properties = {"mitigation": case.mitigation, "finding_id": case.finding_id}
    _add_properties(element, {name: value for name, value in properties.items() if value})
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
