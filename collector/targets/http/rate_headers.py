"""Read rate limits from the headers of an HTTP response, in the forms of OpenAI and Anthropic.

OpenAI, and services that follow it, state durations (6m0s, 12ms); Anthropic states times (RFC 3339). Times are compared
with the response's own Date header, so that a wrong local clock does no harm.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from collector.rates import RateHints

_NUMBER = r"\d+(?:\.\d+)?"
_DURATION = re.compile(rf"(?:{_NUMBER}(?:h|ms|m|s|us|µs|ns))+")
_DURATION_PART = re.compile(rf"({_NUMBER})(h|ms|m|s|us|µs|ns)")
_UNIT_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


def rate_hints(headers: Mapping[str, str], *, now: datetime | None = None) -> RateHints | None:
    """Return what a response's headers say about rate limits, None where they say nothing.

    Args:
        headers: names in any case, and values.
        now: the present moment, with its time zone; None takes the response's Date header, or else this machine's clock.

    Unreadable values, such as a count of -1, are left out; no header raises an error.
    """
    found = {name.lower(): value.strip() for name, value in headers.items()}
    moment = now or _http_date(found.get("date")) or datetime.now(UTC)
    hints = RateHints(
        remaining_requests=_first_count(
            found, "x-ratelimit-remaining-requests", "anthropic-ratelimit-requests-remaining"
        ),
        remaining_tokens=_first_count(
            found, "x-ratelimit-remaining-tokens", "anthropic-ratelimit-tokens-remaining"
        ),
        reset_requests_seconds=_first_reset(
            found, moment, "x-ratelimit-reset-requests", "anthropic-ratelimit-requests-reset"
        ),
        reset_tokens_seconds=_first_reset(
            found, moment, "x-ratelimit-reset-tokens", "anthropic-ratelimit-tokens-reset"
        ),
        retry_after_seconds=_retry_after(found, moment),
    )
    return None if hints == RateHints() else hints


def _first_count(headers: Mapping[str, str], *names: str) -> int | None:
    for name in names:
        text = headers.get(name, "")
        # Some services write -1 where they do not count.
        if re.fullmatch(r"[0-9]{1,15}", text):
            return int(text)
    return None


def _first_reset(headers: Mapping[str, str], now: datetime, *names: str) -> float | None:
    for name in names:
        text = headers.get(name)
        if text:
            seconds = _duration(text)
            return seconds if seconds is not None else _until(_rfc3339(text), now)
    return None


def _retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds of retry-after-ms or, less exact, of Retry-After: a number or an HTTP date."""
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _seconds(text)
    return seconds if seconds is not None else _until(_http_date(text), now)


def _duration(text: str) -> float | None:
    """Return the seconds of 6m0s, 12ms, 1h2m3.5s, or of a plain number."""
    if _DURATION.fullmatch(text):
        return sum(float(number) * _UNIT_SECONDS[unit] for number, unit in _DURATION_PART.findall(text))
    return _seconds(text)


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return seconds if 0 <= seconds < math.inf else None


def _until(moment: datetime | None, now: datetime) -> float | None:
    return None if moment is None else max(0.0, (moment - now).total_seconds())


def _rfc3339(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _http_date(text: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text) if text else None
    except ValueError:
        return None
    if moment is None:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
