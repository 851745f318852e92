"""The exceptions of this project: one tree, so that a caller can catch all of it or one branch."""

from __future__ import annotations


class BiasledgerError(Exception):
    """Base of every error raised on purpose; its message is one sentence for the person at the keyboard."""


class InputError(BiasledgerError):
    """What the user gave is wrong: a spec, a data file, an argument. The message says what would be right."""


class LedgerError(BiasledgerError):
    """The ledger cannot be used: missing, locked, not a ledger, or written by a newer version."""


class TargetError(BiasledgerError):
    """A target could not be asked, or did not answer in the form it promised.

    Attributes:
        retryable: asking again may help (a rate limit, a timeout, a server error).
        stops_run: every further question would fail in the same way (a wrong key or address).
        retry_after_seconds: how long the target asks to be left alone, where it says so.
        raw_body: what the target did answer, if anything.
    """

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        stops_run: bool = False,
        retry_after_seconds: float | None = None,
        raw_body: str | None = None,
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.stops_run = stops_run
        self.retry_after_seconds = retry_after_seconds
        self.raw_body = raw_body
