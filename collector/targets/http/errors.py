"""The consequence of an HTTP status other than success for a run: ask again, give this question up, or stop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from collector.answers.failures import read_failure
from collector.answers.texts.json_text import json_value
from collector.errors import TargetError
from collector.rates import RateHints
from collector.targets.base import Reply
from collector.targets.http.session import excerpt

# Too early, too many, in the way of another: the same question may be answered a little later.
_RETRYABLE = frozenset({408, 409, 425, 429})
# No key, no credit, no such address, method or model: every further question would fail alike. Not 403, which is also how a
# service rejects one prompt; each target decides which 403 this is.
_STOPS_RUN = frozenset({401, 402, 404, 405, 410})
# Status of an answer that an error states -> its finish reason.
_FINISH_REASONS = {"refused": "content_filter", "truncated": "length"}


@dataclass(frozen=True, slots=True)
class Problem:
    """A target's interpretation of a service's error.

    Attributes:
        message: the service's own words.
        is_hopeless: every further question would fail alike; False leaves it to the status.
        retry_after_seconds: the time to wait that the body states.
    """

    message: str | None = None
    is_hopeless: bool = False
    retry_after_seconds: float | None = None


def reply_or_raise(
    name: str,
    status: int,
    text: str,
    problem: Problem,
    *,
    latency_ms: float | None,
    hints: RateHints | None,
    key: str,
    advice: str,
) -> Reply:
    """Return a reply if a filter rejected the question or the answer was cut off; raise TargetError for any other failure.

    Args:
        name: the target's name.
        status: the HTTP status.
        text: the body, without secrets.
        problem: what the target reads from it.
        latency_ms, hints: as in the reply.
        key: what a 401 refuses, such as "the key in MY_KEY".
        advice: what to check after a 404, such as "check base_url".

    Raises:
        TargetError: the request failed for any other reason.
    """
    if (reply := reply_of_error(text, status)) is not None:
        return replace(reply, latency_ms=latency_ms, hints=hints)
    wish = problem.retry_after_seconds
    if wish is None and hints is not None:
        wish = hints.retry_after_seconds
    # A service that says when to come back expects the lack of credit to pass.
    is_passing = status == 402 and wish is not None
    stops_run = problem.is_hopeless or (status in _STOPS_RUN and not is_passing)
    what = problem.message or excerpt(text) or "nothing more"
    if status == 401:
        what = f"it refuses {key}."
    elif status == 404:
        what = f"{what}; {advice}"
    raise TargetError(
        f"{name} answered {status}: {what}",
        retryable=not stops_run and (status in _RETRYABLE or status >= 500 or status == 402),
        stops_run=stops_run,
        retry_after_seconds=wish,
        raw_body=text,
        status=status,
        hints=hints,
    )


def reply_of_error(message: str, status: int | None = None) -> Reply | None:
    """Return the reply that an error amounts to where a filter rejected this very question, or the answer was cut off.

    Args:
        message: the body of an HTTP error, or what an exception says; without secrets. It is kept as the reply's raw body.
        status: the HTTP status, if there is one. Some speak for themselves: no key, no credit, no address, asked too often.

    Returns:
        None where the call failed for any other reason.
    """
    if status in _STOPS_RUN or status in _RETRYABLE:
        return None
    finish_reason = _FINISH_REASONS.get(read_failure(message).status)
    return None if finish_reason is None else Reply(None, message, finish_reason)


def is_success(status: int) -> bool:
    """Say whether a status is in the range 200 to 299."""
    return 200 <= status < 300


def json_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object that a text is, None where it is anything else."""
    document = json_value(text)
    return document if isinstance(document, dict) else None


def error_of(document: dict[str, Any] | None) -> dict[str, Any]:
    """Return the object `error` of a reply, or an empty one."""
    error = (document or {}).get("error")
    return error if isinstance(error, dict) else {}


def error_message(document: dict[str, Any] | None) -> str | None:
    """Return a service's own words: error.message, error, message or detail, whichever is there; on one line, cut."""
    document = document or {}
    for words in (
        error_of(document).get("message"),
        document.get("error"),
        document.get("message"),
        document.get("detail"),
    ):
        if isinstance(words, str) and words.strip():
            return excerpt(words)
    return None


def count(value: object) -> int | None:
    """Return a number of tokens, None for anything that can be none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None


def text_or_none(value: object) -> str | None:
    """Return a text, None for anything else."""
    return value if isinstance(value, str) else None
