"""Test when a run stops early, and when it does not."""

from __future__ import annotations

from typing import Any

import pytest

from collector.answers.replies import Status
from collector.asking.breaker import (
    MAX_FAILURES_IN_A_ROW,
    MAX_FIRST_FAILURES,
    MAX_UNUSABLE,
    Breaker,
    Usability,
)
from collector.errors import TargetError
from collector.rows import ResponseRow


def test_an_error_that_meets_every_question_stops_at_once() -> None:
    error = TargetError("wrong key", status=401, stops_run=True)
    assert Breaker(8).failed(error) is error


def test_the_first_questions_all_fail_alike() -> None:
    breaker = Breaker(64)
    error = TargetError("mine answered 400: no such parameter", status=400)
    stops = [breaker.failed(error) for _ in range(MAX_FIRST_FAILURES)]
    assert stops[:-1] == [None] * (MAX_FIRST_FAILURES - 1)
    stop = stops[-1]
    assert stop is not None
    assert stop.stops_run
    sentence = (
        "None of the first 10 questions was answered, so the run stops: mine answered 400: no such parameter"
    )
    assert str(stop) == sentence


def test_different_failures_at_the_beginning_go_on_longer() -> None:
    breaker = Breaker(1)
    errors = [TargetError("x", status=400 + i % 2) for i in range(MAX_FAILURES_IN_A_ROW)]
    assert [breaker.failed(error) for error in errors[:-1]] == [None] * (MAX_FAILURES_IN_A_ROW - 1)
    stop = breaker.failed(errors[-1])
    assert stop is not None
    assert str(stop).startswith("20 questions in a row failed")


def test_one_rejected_prompt_in_ten_stops_nothing() -> None:
    breaker = Breaker(8)
    rejected = TargetError("forbidden", status=403)
    for _ in range(200):
        assert breaker.failed(rejected) is None
        for _ in range(9):
            breaker.answered()


@pytest.mark.parametrize(("concurrency", "most"), [(1, 20), (64, 128)])
def test_as_many_in_a_row_as_one_mishap_may_bring(concurrency: int, most: int) -> None:
    breaker = Breaker(concurrency)
    breaker.answered()
    error = TargetError("no connection")
    assert [breaker.failed(error) for _ in range(most - 1)] == [None] * (most - 1)
    assert breaker.failed(error) is not None


def reply(
    status: Status, text: str | None = "{oops", error: str | None = "It is no JSON.", trial: int = 1
) -> ResponseRow:
    return ResponseRow("p", trial, 1, seq=0, status=status, content_hash="", response_text=text, error=error)


def replied(usability: Usability, *rows: ResponseRow) -> list[TargetError | None]:
    return [usability.replied(row) for row in rows]


HUNDRED = range(1, 101)


def test_replies_of_which_none_can_be_used_stop_a_run() -> None:
    first = reply("truncated", "\x1b[2J one\nword", "It was cut off.")
    more = [reply("malformed", trial=trial) for trial in range(2, MAX_UNUSABLE + 1)]
    # A question that is asked three times counts once.
    stops = replied(Usability(), first, *[row for row in more[:-1] for _ in range(3)], more[-1])
    assert stops[:-1] == [None] * (1 + 3 * (MAX_UNUSABLE - 2))
    assert stops[-1] is not None
    assert stops[-1].stops_run
    assert str(stops[-1]) == (
        "No reply to the first 30 questions could be used, so the run stops (--max-unusable). The first: It was cut off. "
        "\N{REPLACEMENT CHARACTER}[2J one word"
    )
    errors = replied(Usability(), *[reply("error", "Error 500", trial=one) for one in range(MAX_UNUSABLE)])
    assert [one is not None for one in errors] == [False] * (MAX_UNUSABLE - 1) + [True]


@pytest.mark.parametrize(
    ("settings", "statuses"),
    [
        ({"most": 0}, []),
        ({"has_usable": True}, []),
        ({}, ["malformed", "ok"]),
        ({}, ["malformed", "refused"]),
    ],
    ids=["unlimited", "resumed", "answered", "refused"],
)
def test_one_usable_reply_or_no_limit_lets_a_run_go_on(
    settings: dict[str, Any], statuses: list[Status]
) -> None:
    rows = [*map(reply, statuses), *[reply("malformed", trial=trial) for trial in HUNDRED]]
    assert replied(Usability(**settings), *rows) == [None] * len(rows)


def test_what_brought_no_reply_is_not_counted_among_them() -> None:
    assert replied(Usability(), *[reply("error", None, trial=one) for one in HUNDRED]) == [None] * 100
