"""Test the rate limit headers of OpenAI, Anthropic and other services."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from requests.structures import CaseInsensitiveDict

from collector.rates import RateHints
from collector.targets.http.rate_headers import rate_hints

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


def test_openai() -> None:
    headers = CaseInsensitiveDict(
        {
            "X-RateLimit-Limit-Requests": "60",
            "x-ratelimit-remaining-requests": "59",
            "x-ratelimit-remaining-tokens": "149984",
            "x-ratelimit-reset-requests": "1s",
            "x-ratelimit-reset-tokens": "6m0s",
        }
    )
    assert rate_hints(headers) == RateHints(59, 149984, 1.0, 360.0)


def test_anthropic() -> None:
    headers = {
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "2026-01-01T12:00:07Z",
        "anthropic-ratelimit-tokens-remaining": "39000",
        "anthropic-ratelimit-tokens-reset": "2026-01-01T13:00:30+01:00",
        "retry-after": "7",
    }
    assert rate_hints(headers, now=NOW) == RateHints(0, 39000, 7.0, 30.0, 7.0)


@pytest.mark.parametrize(("text", "seconds"), [
    ("12ms", 0.012),
    ("1h2m3.5s", 3723.5),
    ("7.66s", 7.66),
    ("6m0s", 360.0),
    ("250µs", 0.00025),
    ("30", 30.0),
    ("0", 0.0),
    ("soon", None),
    ("-1", None),
    ("5m whatever", None),
    ("nan", None),
])  # fmt: skip
def test_durations(text: str, seconds: float | None) -> None:
    hints = rate_hints({"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": text})
    assert hints is not None
    assert hints.reset_requests_seconds == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(("headers", "seconds"), [
    ({"Retry-After": "2"}, 2.0),
    ({"Retry-After": "2.5"}, 2.5),
    ({"Retry-After": "2", "retry-after-ms": "1234"}, 1.234),
    ({"Retry-After": "Thu, 01 Jan 2026 12:01:30 GMT"}, 90.0),
    ({"Retry-After": "Thu, 01 Jan 2026 11:59:00 GMT"}, 0.0),
])  # fmt: skip
def test_retry_after(headers: dict[str, str], seconds: float) -> None:
    hints = rate_hints(headers, now=NOW)
    assert hints == RateHints(retry_after_seconds=pytest.approx(seconds))


def test_moments_are_read_against_the_services_own_clock() -> None:
    headers = {
        "Date": "Thu, 01 Jan 2026 12:00:00 GMT",
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "2026-01-01T12:00:20Z",
    }
    hints = rate_hints(headers)
    assert hints is not None
    assert hints.reset_requests_seconds == 20.0


@pytest.mark.parametrize("headers", [
    {},
    {"Content-Type": "application/json"},
    {"Retry-After": "later"},
    {"Retry-After": "inf"},
    {"Retry-After": "-1"},
    {"x-ratelimit-remaining-tokens": "-1"},
    {"x-ratelimit-remaining-requests": "1, 1"},
    {"x-ratelimit-remaining-requests": "٣"},
    {"anthropic-ratelimit-tokens-reset": "2026-13-45T00:00:00Z"},
    {"Date": "nonsense", "Retry-After": "Thu, 99 Jan 2026 12:00:00 GMT"},
])  # fmt: skip
def test_what_says_nothing_or_nonsense_gives_no_hints(headers: dict[str, str]) -> None:
    assert rate_hints(headers) is None
