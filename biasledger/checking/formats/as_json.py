"""A check as JSON of a stable shape."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

from biasledger.checking.cases import STATUSES, Case, Check

JSON_VERSION = 1


def write(check: Check) -> str:
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
                "mitigation": one.mitigation,
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
                "passed": one.n_passed,
                "failed": one.n_failed,
                "skipped": one.n_skipped,
                "pass_rate": one.pass_rate,
                "mean_stereotype_ratio": one.mean_stereotype_ratio,
            }
            for one in check.outputs
        ],
        "failed_outputs": [asdict(one) for one in check.failed_outputs],
        "cases": [_as_object(case) for case in check.cases],
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _as_object(case: Case) -> dict[str, object]:
    return {
        "run": case.run_id,
        "audit": case.audit,
        "target": case.target,
        "mitigation": case.mitigation,
        "finding_id": case.finding_id or None,
        "kind": case.kind,
        "method": case.method,
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
