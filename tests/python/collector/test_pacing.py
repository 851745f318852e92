"""Test the pace of questions, on a simulated clock and over an HTTP server on loopback that refuses."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from collector.asking.pacing import (
    FIRST_PAUSE_SECONDS,
    FLOOR_SECONDS,
    MAX_PAUSE_SECONDS,
    PROBE_SECONDS,
    START_CONCURRENCY,
    Pace,
    PaceClosedError,
    Slot,
    backoff_seconds,
)
from collector.errors import TargetError
from collector.rates import RateHints
from collector.targets.base import Request
from tests.python.answering import answering, chat
from tests.python.collector.chat_targets import chat_target
from tests.python.collector.simulated_service import Clock, FixedWindow, TokenBucket, ask_all

INFINITE = float("inf")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def paced(clock: Clock) -> Pace:
    return pace(clock)


def pace(clock: Clock, most: int = 64, **settings: Any) -> Pace:
    return Pace(most, clock=clock, sleep=clock.sleep, random=lambda: 0.5, **settings)


def start(paced: Pace) -> Slot:
    return paced.slot().__enter__()


def refusal(seconds: float | None = None, hints: RateHints | None = None, status: int = 429) -> TargetError:
    return TargetError("full", retryable=True, status=status, retry_after_seconds=seconds, hints=hints)


def fill(paced: Pace) -> list[Slot]:
    slots = []
    while paced.delay() == 0:
        slots.append(start(paced))
    return slots


def window(paced: Pace, clock: Clock, latency: float = 0.1) -> None:
    """Let as many questions be answered as make up a window, with as many under way as may be."""
    n = 0
    size = max(10, paced.concurrency)
    while n < size:
        slots = fill(paced)
        clock.sleep(latency)
        for slot in slots:
            if n < size:
                slot.done(None, latency * 1000)
            slot.__exit__(None, None, None)
            n += 1


def growth(paced: Pace, clock: Clock, n_windows: int) -> list[int]:
    """Return how many questions may be under way after each window."""
    seen = []
    for _ in range(n_windows):
        window(paced, clock)
        seen.append(paced.concurrency)
    return seen


# Concurrency


def test_starts_with_few_and_waits_for_a_free_slot(paced: Pace) -> None:
    assert len(fill(paced)) == START_CONCURRENCY == paced.concurrency
    assert paced.delay() == INFINITE


@pytest.mark.parametrize("most", [1, 2, 3])
def test_never_more_than_the_most(clock: Clock, most: int) -> None:
    assert growth(pace(clock, most), clock, 5) == [most] * 5


def test_doubles_up_to_the_most_while_all_is_well(clock: Clock) -> None:
    assert growth(pace(clock, 40), clock, 5) == [8, 16, 32, 40, 40]


@pytest.mark.parametrize("status", [429, 503, 529])
def test_a_refusal_halves_once_a_window_and_growth_is_slow_beyond_what_was_refused(
    clock: Clock, paced: Pace, status: int
) -> None:
    assert growth(paced, clock, 2) == [8, 16]
    slots = fill(paced)
    clock.sleep(0.1)
    for slot in slots:
        slot.failed(refusal(0.0, status=status))
    assert paced.concurrency == 8
    clock.sleep(60)
    assert growth(paced, clock, 4) == [16, 17, 18, 19]


def test_other_failures_do_not_slow(paced: Pace) -> None:
    for slot in fill(paced):
        slot.failed(TargetError("server error", retryable=True, status=500))
    assert paced.concurrency == START_CONCURRENCY
    assert paced.delay() == 0


def test_does_not_grow_while_answers_are_slow_until_that_is_how_they_are(clock: Clock, paced: Pace) -> None:
    window(paced, clock, 0.1)
    assert paced.concurrency == 8
    for _ in range(10):
        window(paced, clock, 0.25)
    assert paced.concurrency == 8
    clock.sleep(FLOOR_SECONDS)
    window(paced, clock, 0.25)
    assert paced.concurrency == 9


def test_does_not_grow_where_the_limit_was_not_reached(clock: Clock, paced: Pace) -> None:
    for _ in range(200):
        slot = start(paced)
        clock.sleep(0.1)
        slot.done(None, 100.0)
    assert paced.concurrency == START_CONCURRENCY


# Pauses


def test_everybody_pauses_for_as_long_as_asked(clock: Clock, paced: Pace) -> None:
    start(paced).failed(refusal(7.5))
    assert paced.delay() == 7.5
    clock.sleep(7.4)
    assert paced.delay() == pytest.approx(0.1)
    start(paced)
    assert clock() == pytest.approx(7.5)


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (refusal(None, RateHints(0, 500, 12.0, 40.0)), 12.0),
        # Endless pauses are cut, and a spent budget is no request to slow down.
        (refusal(1e9), MAX_PAUSE_SECONDS),
        (TargetError("no credit", status=429, stops_run=True), 0.0),
    ],
)
def test_the_pause_after_a_refusal(paced: Pace, error: TargetError, seconds: float) -> None:
    start(paced).failed(error)
    assert paced.delay() == seconds


def test_the_longest_pause_asked_for_counts(paced: Pace) -> None:
    slots = fill(paced)
    for slot, seconds in zip(slots, (1.0, 5.0, 2.0, 0.0), strict=True):
        slot.failed(refusal(seconds))
    assert paced.delay() == 5.0


def test_without_a_number_pauses_double_and_start_anew_after_an_answer(clock: Clock, paced: Pace) -> None:
    pauses = []
    for _ in range(3):
        slot = start(paced)
        clock.sleep(0.01)
        slot.failed(refusal())
        pauses.append(paced.delay())
    assert pauses == pytest.approx([0.75, 1.5, 3.0])
    slot = start(paced)
    clock.sleep(0.01)
    slot.done(None, None)
    slot = start(paced)
    clock.sleep(0.01)
    slot.failed(refusal())
    assert paced.delay() == pytest.approx(0.75 * FIRST_PAUSE_SECONDS)


def test_who_says_at_once_again_and_again_does_not_mean_it(clock: Clock, paced: Pace) -> None:
    pauses = []
    for _ in range(7):
        clock.sleep(60)
        start(paced).failed(refusal(0.0))
        pauses.append(paced.delay())
    assert pauses == [0.0, 0.0, 0.0, 0.0, 0.75, 1.5, 1.5]
    clock.sleep(60)
    start(paced).done(None, 100)
    start(paced).failed(refusal(0.0))
    assert paced.delay() == 0.0


# The limits that a service says are left


def test_holds_when_nothing_is_left_until_the_reset(clock: Clock, paced: Pace) -> None:
    start(paced).done(None, None, RateHints(remaining_requests=2, reset_requests_seconds=20.0))
    assert len(fill(paced)) == 2
    assert paced.delay() == pytest.approx(20.0)
    clock.sleep(20.0)
    assert paced.delay() == 0


def test_what_was_asked_since_counts_as_used(paced: Pace) -> None:
    first, *others = fill(paced)
    first.done(None, None, RateHints(remaining_requests=5, reset_requests_seconds=20.0))
    assert len(fill(paced)) == 1
    for slot in others:
        slot.done(None, None)
    assert len(fill(paced)) == 5 - len(others) - 1


def test_an_older_question_does_not_overrule_a_newer_one(paced: Pace) -> None:
    first, second, *_ = fill(paced)
    second.done(None, None, RateHints(remaining_requests=100, reset_requests_seconds=20.0))
    first.done(None, None, RateHints(remaining_requests=0, reset_requests_seconds=20.0))
    assert paced.delay() == 0


def test_a_reset_that_is_far_away_is_tried_with_one_question(clock: Clock, paced: Pace) -> None:
    start(paced).done(None, None, RateHints(remaining_requests=0, reset_requests_seconds=86_400.0))
    assert paced.delay() == PROBE_SECONDS
    clock.sleep(PROBE_SECONDS)
    assert len(fill(paced)) == 1
    assert paced.delay() == PROBE_SECONDS


def test_tokens_left_hold_too(paced: Pace) -> None:
    start(paced).done(1000, None, RateHints(remaining_tokens=2500, reset_tokens_seconds=30.0))
    assert len(fill(paced)) == 2
    assert paced.delay() == pytest.approx(30.0)


# The user's caps


@pytest.mark.parametrize("per_minute", [30, 600, 12_000])
def test_requests_per_minute_are_kept_and_used(clock: Clock, per_minute: int) -> None:
    paced = pace(clock, requests_per_minute=per_minute)
    outcome = ask_all(paced, clock, None, seconds=120.0)
    assert 0.97 * per_minute / 60 <= outcome.per_second <= 1.01 * per_minute / 60 + 1 / 120


def test_tokens_per_minute_are_kept_and_used(clock: Clock) -> None:
    paced = pace(clock, tokens_per_minute=60_000)
    outcome = ask_all(paced, clock, None, seconds=120.0, tokens=lambda: 500)
    assert 0.95 * 2 <= outcome.per_second <= 1.05 * 2 + START_CONCURRENCY / 120


def test_tokens_of_failed_questions_are_given_back(clock: Clock) -> None:
    paced = pace(clock, tokens_per_minute=60)
    paced.slot().__enter__().done(100, 1.0)
    clock.sleep(paced.delay())
    # The next one is expected to take as many.
    slot = paced.slot().__enter__()
    assert paced.delay() == pytest.approx(100.0)
    slot.failed(TargetError("no connection"))
    assert paced.delay() == 0


# Finding a limit that the service does not state


@pytest.mark.parametrize("tells", [True, False], ids=["headers", "silent"])
@pytest.mark.parametrize("retry_after", [1.0, None], ids=["retry-after", "no retry-after"])
@pytest.mark.parametrize(("per_second", "burst"), [(5.0, 5.0), (50.0, 10.0), (50.0, 50.0), (300.0, 60.0)])
def test_throughput_finds_the_limit_of_a_bucket(
    clock: Clock, paced: Pace, per_second: float, burst: float, retry_after: float | None, tells: bool
) -> None:
    limit = TokenBucket(per_second, burst, clock)
    outcome = ask_all(paced, clock, limit, seconds=120.0, tells=tells, retry_after=retry_after)
    assert outcome.per_second >= 0.8 * (per_second + burst / 120)
    assert outcome.refused <= 0.02 * outcome.answered + 10


@pytest.mark.parametrize("tells", [True, False], ids=["headers", "silent"])
def test_throughput_finds_the_limit_of_a_fixed_window(clock: Clock, tells: bool) -> None:
    limit = FixedWindow(600, 60.0, clock)
    outcome = ask_all(pace(clock), clock, limit, seconds=300.0, tells=tells)
    assert outcome.answered >= 0.8 * 3000
    assert outcome.refused <= 0.1 * outcome.answered


def test_refusals_before_the_first_answer_teach_no_rate() -> None:
    class AtFirst(TokenBucket):
        def accept(self) -> bool:
            self.level -= 1
            return self.level < 0

    answered = {}
    for n_refused in (0, 3):
        clock = Clock()
        answered[n_refused] = ask_all(
            pace(clock), clock, AtFirst(0, n_refused, clock), seconds=30, latency=lambda _: 0.1
        ).answered
    assert answered[3] > 0.5 * answered[0]


def test_slow_answers_are_asked_for_side_by_side(clock: Clock) -> None:
    limit = TokenBucket(10.0, 600.0, clock)
    outcome = ask_all(pace(clock), clock, limit, seconds=600.0, latency=lambda _: 3.0, tells=True)
    assert outcome.per_second >= 0.8 * 11
    assert outcome.refused <= 20


def test_a_service_that_gets_slower_under_load_is_not_flooded(clock: Clock) -> None:
    # Eight at once are answered as fast as one; what comes on top only waits.
    outcome = ask_all(pace(clock), clock, None, seconds=60.0, latency=lambda n: 0.1 * max(1.0, n / 8))
    assert outcome.per_second >= 0.8 * 80
    assert outcome.most_at_once <= 40


# Threads


def test_slots_are_given_back_and_nobody_hangs() -> None:
    paced = Pace(3)
    at_once, most, n_asked = 0, 0, 0
    lock, first_three = threading.Lock(), threading.Barrier(3, timeout=600)

    def ask(number: int) -> None:
        nonlocal at_once, most, n_asked
        with paced.slot() as slot:
            with lock:
                at_once += 1
                most = max(most, at_once)
                n_asked += 1
                is_early = n_asked <= 3
            if is_early:
                first_three.wait()
            with lock:
                at_once -= 1
            if number % 3 == 0:
                slot.done(10, 1.0)
            elif number % 3 == 1:
                slot.failed(TargetError("no"))

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(ask, range(600)))
    assert most == 3
    assert paced.delay() == 0


def test_an_exception_gives_the_slot_back() -> None:
    paced = Pace(1)
    with pytest.raises(RuntimeError), paced.slot():
        raise RuntimeError
    assert paced.delay() == 0


def test_closing_ends_the_wait_of_everybody() -> None:
    paced = Pace(1)
    ended = []

    def wait() -> None:
        try:
            with paced.slot():
                pass
        except PaceClosedError:
            ended.append(threading.current_thread().name)

    with paced.slot():
        threads = [threading.Thread(target=wait) for _ in range(5)]
        for thread in threads:
            thread.start()
        # One waits for its turn, and the others for the gate.
        while not paced._gate.locked():
            time.sleep(0.001)
        paced.close()
        for thread in threads:
            thread.join(5)
    assert len(ended) == 5
    with pytest.raises(PaceClosedError), paced.slot():
        pass


def test_a_pace_that_asks_nobody_is_no_pace() -> None:
    with pytest.raises(ValueError, match="should be 1 or more"):
        Pace(0)


@pytest.mark.parametrize(
    ("attempt", "shortest", "longest"), [(1, 0.25, 0.5), (2, 0.5, 1.0), (5, 4.0, 8.0), (500, 15.0, 30.0)]
)
def test_backoff_doubles_up_to_its_cap_and_half_of_it_is_chance(
    attempt: int, shortest: float, longest: float
) -> None:
    assert backoff_seconds(attempt, 0.5, 30.0, lambda: 0.0) == shortest
    assert backoff_seconds(attempt, 0.5, 30.0, lambda: 1.0) == longest


# A real server


@contextmanager
def limited_server(
    limit: TokenBucket, headers: Callable[[float], dict[str, str]], status: int
) -> Iterator[str]:
    """Serve chat completions from a bucket; what a refusal's headers say comes from the seconds until a question fits."""

    def answer(*_: object) -> tuple[int, dict[str, str], bytes]:
        is_accepted = limit.accept()
        extra = headers(max(0.0, 1 - limit.level) / limit.per_second)
        if "tells" in extra:
            hints = limit.hints()
            extra["x-ratelimit-remaining-requests"] = str(hints.remaining_requests)
            extra["x-ratelimit-reset-requests"] = f"{int(1000 * (hints.reset_requests_seconds or 0))}ms"
        if is_accepted:
            extra.pop("Retry-After", None)
            return 200, extra, chat("yes")
        return status, extra, b'{"error": {"message": "too many", "type": "requests"}}'

    with answering(answer) as root:
        yield f"{root}/v1"


# The headers of a refusal, and its status.
SERVICES: dict[str, tuple[Callable[[float], dict[str, str]], int]] = {
    "remaining and reset": (lambda _: {"tells": "1"}, 429),
    "Retry-After": (lambda _: {"Retry-After": "1"}, 429),
    "503 with retry-after-ms": (lambda seconds: {"retry-after-ms": str(int(1000 * seconds) + 1)}, 503),
}
PER_SECOND, BURST, SECONDS = 60.0, 60.0, 6.0


@pytest.mark.parametrize("name", SERVICES)
def test_real_servers_are_asked_at_their_limits(name: str) -> None:
    """A service's own headers over HTTP, on the simulated clock, so that it does not matter how fast this machine is."""
    clock = Clock()
    headers, status = SERVICES[name]
    with limited_server(TokenBucket(PER_SECOND, BURST, clock), headers, status) as base_url:
        target = chat_target(base_url=base_url, timeout_seconds=60.0, concurrency=32)
        outcome = ask_all(
            pace(clock, 32),
            clock,
            None,
            seconds=SECONDS,
            latency=lambda _: 0.05,
            ask=lambda: target.ask(Request("Hello")).hints,
        )
    assert outcome.answered >= 0.8 * (PER_SECOND * SECONDS + BURST)
    assert outcome.refused <= 0.15 * outcome.answered
