"""The small audit, collected with any target and options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collector.asking.runner import collect
from collector.errors import TargetError
from collector.ledger.summary import RunSummary
from collector.spec.loading import load_audit

Run = Callable[..., RunSummary]


@pytest.fixture(name="run")
def run_fixture(small_spec: Path, ledger_path: Path) -> Run:
    """Collect the small audit: run(target, CollectOptions(…), trials=…)."""

    def collect_small(target: Any, *options: Any, **choices: Any) -> RunSummary:
        return collect(load_audit(small_spec), target, ledger_path, *options, **choices)

    return collect_small


def too_many(message: str = "Too many.", seconds: float = 0.0) -> TargetError:
    """Return the error of a service that refuses a question for its rate."""
    return TargetError(message, retryable=True, status=429, retry_after_seconds=seconds)
