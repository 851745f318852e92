"""The rate limits that a service states."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RateHints:
    """The rate limits that a service states next to an answer or a refusal; None for those that it does not state.

    Attributes:
        remaining_requests: questions that may still be asked before the reset.
        remaining_tokens: tokens, of questions and answers together, that may still be used before the reset.
        reset_requests_seconds: seconds from now until the full limit of requests is available again.
        reset_tokens_seconds: seconds from now until the full limit of tokens is available again.
        retry_after_seconds: how long the service asks to wait.
    """

    remaining_requests: int | None = None
    remaining_tokens: int | None = None
    reset_requests_seconds: float | None = None
    reset_tokens_seconds: float | None = None
    retry_after_seconds: float | None = None
