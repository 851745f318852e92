"""What tests of collecting share: the type of the fixture `run`, and the error of a service that is asked too often."""

from __future__ import annotations

from collections.abc import Callable

from collector.errors import TargetError
from collector.ledger.summary import RunSummary

Run = Callable[..., RunSummary]


def too_many(message: str = "Too many.", seconds: float = 0.0) -> TargetError:
    """Return the error of a service that refuses a question for its rate."""
    return TargetError(message, retryable=True, status=429, retry_after_seconds=seconds)
