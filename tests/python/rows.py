"""Rows of a ledger, for tests that write some of their own."""

from __future__ import annotations

from typing import Any

from collector.rows import RunRow, utc_now


def a_run(run_id: str = "run-1", **changes: Any) -> RunRow:
    """A run that a simulator was collected for now; `changes` are other values of its fields."""
    usual: dict[str, Any] = {
        "audit": "small",
        "spec": {"version": 1},
        "target": "sim",
        "target_kind": "simulator",
        "is_simulated": True,
        "model_asked": None,
        "parameters": {},
        "answer_rules_version": "1",
        "versions": {},
        "origin": "collected",
        "started_at": utc_now(),
    }
    return RunRow(run_id, **{**usual, **changes})
