"""Test the rate limit headers of OpenAI, Anthropic and other services."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from collector.rates import RateHints
from collector.targets.http.rate_headers import rate_hints

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


REQUESTS = "anthropic-ratelimit-requests-"
TOKENS = "anthropic-ratelimit-tokens-"


@pytest.mark.parametrize(("headers", "now", "hints"), [
    (
        {"X-RateLimit-Limit-Requests": "60", "x-ratelimit-remaining-requests": "59",
         "x-ratelimit-remaining-tokens": "149984", "x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"},
        None, RateHints(59, 149984, 1.0, 360.0),
    ),
    (
        {f"{REQUESTS}remaining": "0", f"{REQUESTS}reset": "2026-01-01T12:00:07Z", f"{TOKENS}remaining": "39000",
         f"{TOKENS}reset": "2026-01-01T13:00:30+01:00", "retry-after": "7"},
        NOW, RateHints(0, 39000, 7.0, 30.0, 7.0),
    ),
    # Moments are read against the service's own clock.
    (
        {"Date": "Thu, 01 Jan 2026 12:00:00 GMT", f"{REQUESTS}remaining": "0", f"{REQUESTS}reset": "2026-01-01T12:00:20Z"},
        None, RateHints(0, reset_requests_seconds=20.0),
    ),
    ({"Retry-After": "2"}, NOW, RateHints(retry_after_seconds=2.0)),
    ({"Retry-After": "2.5"}, NOW, RateHints(retry_after_seconds=2.5)),
    ({"Retry-After": "2", "retry-after-ms": "1234"}, NOW, RateHints(retry_after_seconds=pytest.approx(1.234))),
    ({"Retry-After": "Thu, 01 Jan 2026 12:01:30 GMT"}, NOW, RateHints(retry_after_seconds=90.0)),
    ({"Retry-After": "Thu, 01 Jan 2026 11:59:00 GMT"}, NOW, RateHints(retry_after_seconds=0.0)),
])  # fmt: skip
def test_the_limits_in_headers(headers: dict[str, str], now: datetime | None, hints: RateHints) -> None:
    assert rate_hints(headers, now=now) == hints


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
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
    ],
)
def test_durations(text: str, seconds: float | None) -> None:
    hints = rate_hints({"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": text})
    assert hints is not None
    assert hints.reset_requests_seconds == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    "headers",
    [
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
    ],
)
def test_what_says_nothing_or_nonsense_gives_no_hints(headers: dict[str, str]) -> None:
    assert rate_hints(headers) is None
