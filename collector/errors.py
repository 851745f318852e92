"""The exceptions of this project: one tree, so that a caller can catch all of it or one branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collector.rates import RateHints

# 429: too many requests; 503: overloaded; 529: Anthropic's overloaded.
_SLOW_DOWN = frozenset({429, 503, 529})


class BiasledgerError(Exception):
    """Base of every error raised on purpose; its message is one sentence for the person at the keyboard."""


class InputError(BiasledgerError):
    """The user's input is wrong: a spec, a data file, an argument. The message says what would be right."""


class LedgerError(BiasledgerError):
    """The ledger cannot be used: missing, locked, not a ledger, or written by a newer version."""


class TargetError(BiasledgerError):
    """A target could not be asked, or did not answer in the form it promised.

    Attributes:
        retryable: asking again may help (a rate limit, a timeout, a server error).
        stops_run: every further question would fail in the same way (a wrong key or address).
        retry_after_seconds: how long the target asks to wait, if stated.
        raw_body: what the target did answer, if anything.
        status: the HTTP status, where there was one.
        hints: what the target said of its rate limits, where it did.
    """

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        stops_run: bool = False,
        retry_after_seconds: float | None = None,
        raw_body: str | None = None,
        status: int | None = None,
        hints: RateHints | None = None,
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.stops_run = stops_run
        self.retry_after_seconds = retry_after_seconds
        self.raw_body = raw_body
        self.status = status
        self.hints = hints

    @property
    def asks_to_slow_down(self) -> bool:
        """Return whether the target only refuses because it is asked too much: nothing is wrong with the question."""
        return self.status in _SLOW_DOWN and not self.stops_run


class UnusableError(TargetError):
    """No reply can be used, or none can come: the spec or the target's settings do not fit the target."""


class RateLimitTimeoutError(TargetError):
    """A target refused every request for longer than the limit; the run can be resumed later."""
