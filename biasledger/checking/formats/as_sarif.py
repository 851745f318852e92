"""A check as SARIF 2.1.0 (OASIS 2020), as GitHub's code scanning and others read it."""

from __future__ import annotations

import hashlib
import json
from typing import Any
from urllib.parse import quote

from biasledger import __version__
from biasledger.checking.cases import ACCEPTED, FAILED, WARNED, Case, Check
from biasledger.checking.formats.places import Places

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {FAILED: "error", WARNED: "warning", ACCEPTED: "note"}


def write(check: Check) -> str:
    """A rule a measure, a result for each case that failed, warns or was accepted; accepted ones are suppressed.

    Cases that passed or could not be judged are left out, because readers would show them as alarms; the notification counts
    them.
    """
    places = Places()
    cases = [case for case in check.cases if case.status in _LEVELS]
    measures = sorted({case.measure for case in cases})
    driver = {
        "name": "biasledger",
        "version": __version__,
        "rules": [
            {"id": measure, "shortDescription": {"text": check.measures.get(measure) or measure}}
            for measure in measures
        ],
    }
    said = [
        check.headline,
        *check.notes,
        *([check.simulated] if check.simulated else []),
    ]
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": "biasledger/"},
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {"level": "note", "message": {"text": sentence}} for sentence in said
                ],
            }
        ],
        "properties": {"verdict": check.verdict, "runs": list(check.runs)},
        "results": [_result(case, measures.index(case.measure), places) for case in cases],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _result(case: Case, rule: int, places: Places) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": case.measure,
        "ruleIndex": rule,
        "level": _LEVELS[case.status],
        "message": {"text": "\n".join([case.sentence, case.reason, case.explained_by])},
        "partialFingerprints": {"case/v1": _fingerprint(case)},
        "properties": {
            "finding_id": case.finding_id,
            "run": case.run_id,
            "audit": case.audit,
            "target": case.target,
            "mitigation": case.mitigation,
            "kind": case.kind,
        },
    }
    place = places.of(case)
    if place is not None:
        location = {"artifactLocation": {"uri": quote(place.file)}, "region": {"startLine": place.line}}
        result["locations"] = [{"physicalLocation": location}]
    if case.status == ACCEPTED:
        result["suppressions"] = [{"kind": "external", "justification": "Accepted in seeds/exceptions.csv."}]
    return result


def _fingerprint(case: Case) -> str:
    """The same for the same question of every run, so that a reader knows an alarm again."""
    name = case.name.removesuffix(f" since {case.since}")
    question = [case.audit, case.target, case.kind, case.measure, name]
    return hashlib.sha256(json.dumps(question).encode()).hexdigest()
