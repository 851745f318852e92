"""What a service says of its rate limits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RateHints:
    """What a service says about its rate limits next to an answer or a refusal; None is what it does not say.

    Attributes:
        remaining_requests: questions that may still be asked before the reset.
        remaining_tokens: tokens, of questions and answers together, that may still be used before the reset.
        reset_requests_seconds: seconds from now until the limit of requests is whole again.
        reset_tokens_seconds: seconds from now until the limit of tokens is whole again.
        retry_after_seconds: how long the service asks to be left alone.
    """

    remaining_requests: int | None = None
    remaining_tokens: int | None = None
    reset_requests_seconds: float | None = None
    reset_tokens_seconds: float | None = None
    retry_after_seconds: float | None = None
