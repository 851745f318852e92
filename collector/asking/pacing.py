"""Control the rate of questions: as fast as the target answers well, never faster than it or the user allows.

Four things hold a question back, and the slowest of them decides:

- the number of questions under way, which grows while answers come fast and is halved when the target refuses (additive
  increase, multiplicative decrease);
- the user's caps: questions and tokens a minute;
- a rate learned from refusals, for services that say nothing about their limits: it comes back along a cubic curve, so
  that it stays near the limit for long and steps over it seldom;
- what the service says: pauses (Retry-After) and how much of a limit is left.

A runner asks like this, in as many threads as it likes:

    with pace.slot() as slot:  # blocks until the question may be asked
        try:
            reply = target.ask(request)
        except TargetError as error:
            slot.failed(error)
            raise
        slot.done(tokens_of(reply), reply.latency_ms, reply.hints)

The wait for a slot belongs to no question's timeout. A question that was refused (`error.asks_to_slow_down`) needs no pause
of its own before it asks for a slot again: everybody pauses.
"""

from __future__ import annotations

import logging
import random as random_module
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from collector.errors import TargetError
from collector.rates import RateHints

START_CONCURRENCY = 4
# Answers that make up a window at least; the means of fewer say little about latency.
MIN_WINDOW = 10
# Above this multiple of the lowest latency lately, more questions at once would only queue at the service.
LATENCY_FACTOR = 2.0
# How long the lowest latency is remembered; a service that has become slower for good is taken as it is after that.
FLOOR_SECONDS = 600.0
# A longer pause is asked again after this time: a service that says "tomorrow" may be wrong.
MAX_PAUSE_SECONDS = 3600.0
# A reset is when a limit is whole again, which may be a day; how much there is before that is found by trying one question.
PROBE_SECONDS = 60.0
FIRST_PAUSE_SECONDS = 1.0
MAX_GUESSED_PAUSE_SECONDS = 60.0
# The number of consecutive refusals that may ask for an immediate retry, with Retry-After: 0.
MEANT_AT_ONCE = 4
MAX_PAUSE_AT_ONCE_SECONDS = 2.0
# One question that is refused so often for the rate, after as many pauses, will not be answered today: where no other one was
# answered meanwhile, the run stops; where others were, and are refused less often at their first try, it is given up.
MAX_REFUSALS = 10
# The learned rate falls to this share of what was achieved, is back there after RECOVERY_SECONDS, and is given up, as no limit
# any more, after GIVEN_UP times as long.
RATE_CUT = 0.85
RECOVERY_SECONDS = 10.0
GIVEN_UP = 4.0
# The rate lately is measured over so long, or over so many questions where they are rare.
RATE_SPAN_SECONDS = 5.0
RATE_STARTS = 10
SHORTEST_SPAN_SECONDS = 1.0
# A thread that wakes late may catch up this much, or else a cap would never quite be reached.
CATCH_UP_SECONDS = 0.1
TOKEN_BURST_SECONDS = 1.0
MAX_BACKOFF_SECONDS = 60.0
_MEAN_WEIGHT = 0.1

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pause:
    """The seconds that a pause still takes, and the refusal that caused it."""

    seconds: float
    reason: str


class PaceClosedError(Exception):
    """Raised to a thread that waits for a slot when the pace is closed: there will be none."""


def backoff_seconds(
    attempt: int, base: float, cap: float, random: Callable[[], float] = random_module.random
) -> float:
    """Return the pause after a failed attempt: base × 2^(attempt − 1), at most cap, of which the second half is by chance.

    Args:
        attempt: the attempt that failed, from 1.
        base: seconds after the first, before chance.
        cap: most seconds.
        random: a number from 0 to 1, so that threads do not come back all at once.
    """
    longest = min(cap, base * 2.0 ** min(attempt - 1, 64))
    return longest * (0.5 + 0.5 * random())


def retry_seconds(error: TargetError, attempt: int, base: float) -> float:
    """Return the pause before a question is asked again after a failure: what the target asks for, or `backoff_seconds`.

    Args:
        error: the failure.
        attempt, base: as in `backoff_seconds`.
    """
    if error.retry_after_seconds is not None:
        return min(error.retry_after_seconds, MAX_BACKOFF_SECONDS)
    return backoff_seconds(attempt, base, MAX_BACKOFF_SECONDS)


class Pace:
    """Decides when the next question may be asked; safe to use from many threads.

    Args:
        max_concurrency: most questions under way, 1 or more.
        requests_per_minute: cap on questions started, retries included; None for none.
        tokens_per_minute: cap on tokens, of questions and answers together; None for none.
        clock: seconds that never go back.
        sleep: replaces waiting in tests with a clock of their own; None waits, and wakes early when a slot comes free.
        random: a number from 0 to 1, for pauses that are guessed.

    Attributes:
        concurrency: how many questions may be under way at present.
    """

    def __init__(
        self,
        max_concurrency: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] | None = None,
        random: Callable[[], float] = random_module.random,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._random = random
        # One thread at a time waits for its turn, the others for the gate, so that no thread is woken in vain.
        self._gate = threading.Lock()
        self._changed = threading.Condition()
        self._is_closed = False
        self._in_flight = 0
        self._n_started = 0
        self._last_reported = 0
        self._limit = _Limit(max_concurrency)
        self._turns = _Turns(requests_per_minute, clock())
        self._allowance = _Allowance(tokens_per_minute, clock())
        self._requests_left = _Remainder()
        self._tokens_left = _Remainder()
        self._mean_tokens = 0.0
        self._paused_until = clock()
        self._paused_for = ""
        self._refusals_in_a_row = 0
        self._has_answered = False

    @property
    def concurrency(self) -> int:
        """Return how many questions may be under way at present."""
        return self._limit.limit

    def slot(self) -> Slot:
        """Return a slot; entering it blocks until a question may be asked."""
        return Slot(self)

    def delay(self) -> float:
        """Return the seconds until a question may be asked; infinity where one of those under way has to end first."""
        with self._changed:
            return self._delay(self._clock())

    def pause(self) -> Pause | None:
        """Return the pause that everybody makes after a refusal, None where there is none."""
        with self._changed:
            seconds = self._paused_until - self._clock()
            return Pause(seconds, self._paused_for) if seconds > 0 else None

    def close(self) -> None:
        """Stop asking: every thread that waits for a slot, now or later, gets PaceClosedError."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _delay(self, now: float) -> float:
        if self._in_flight >= self._limit.limit:
            return float("inf")
        return max(
            self._paused_until - now,
            self._turns.delay(now),
            self._allowance.delay(now),
            self._requests_left.delay(now, 1.0),
            self._tokens_left.delay(now, max(1.0, self._mean_tokens)),
            0.0,
        )

    def _start(self, slot: Slot) -> None:
        with self._gate:
            while True:
                with self._changed:
                    if self._is_closed:
                        raise PaceClosedError
                    now = self._clock()
                    seconds = self._delay(now)
                    if seconds <= 0:
                        self._take(slot, now)
                        return
                    if self._sleep is None:
                        self._changed.wait(None if seconds == float("inf") else seconds)
                        continue
                self._sleep(seconds)

    def _take(self, slot: Slot, now: float) -> None:
        self._n_started += 1
        slot.number = self._n_started
        slot.started_at = now
        slot.expected_tokens = self._mean_tokens
        self._in_flight += 1
        self._limit.took(self._in_flight)
        self._turns.take(now)
        self._allowance.spend(now, slot.expected_tokens)
        self._requests_left.take(now, 1.0)
        self._tokens_left.take(now, slot.expected_tokens)

    def _done(
        self, slot: Slot, tokens: int | None, latency_ms: float | None, hints: RateHints | None
    ) -> None:
        with self._changed:
            now = self._clock()
            self._release()
            self._refusals_in_a_row = 0
            self._has_answered = True
            if tokens is not None:
                self._allowance.spend(now, tokens - slot.expected_tokens)
                weight = _MEAN_WEIGHT if self._mean_tokens else 1.0
                self._mean_tokens += weight * (tokens - self._mean_tokens)
            seconds = now - slot.started_at if latency_ms is None else latency_ms / 1000
            self._limit.answered(now, seconds)
            self._listen(slot, hints)

    def _failed(self, slot: Slot, error: TargetError) -> None:
        with self._changed:
            now = self._clock()
            self._release()
            self._allowance.spend(now, -slot.expected_tokens)
            self._listen(slot, error.hints)
            if not error.asks_to_slow_down:
                return
            # Questions asked before the last cut say nothing about the rate since then.
            if slot.started_at > self._limit.cut_at:
                self._refusals_in_a_row += 1
                self._limit.cut(now)
                pause = self._pause_seconds(error)
                # A service that asks for an immediate retry did not refuse because of the rate, and what was asked before the
                # first answer is too little to learn a rate from.
                if asked_pause(error) != 0.0 and self._has_answered:
                    self._turns.refused(now, now + pause)
            else:
                pause = asked_pause(error) or 0.0
            if now + pause > self._paused_until:
                self._paused_until, self._paused_for = now + pause, str(error)
            if pause:
                logger.info("%s Pausing %.1f s, then %d at once.", error, pause, self._limit.limit)

    def _pause_seconds(self, error: TargetError) -> float:
        asked = asked_pause(error)
        # After several immediate retries without an answer, the service's "at once" is ignored.
        n_guesses = self._refusals_in_a_row - (0 if asked is None else MEANT_AT_ONCE)
        if asked or n_guesses < 1:
            return asked or 0.0
        most = MAX_GUESSED_PAUSE_SECONDS if asked is None else MAX_PAUSE_AT_ONCE_SECONDS
        return backoff_seconds(n_guesses, FIRST_PAUSE_SECONDS, most, self._random)

    def _listen(self, slot: Slot, hints: RateHints | None) -> None:
        """Take in how much of the service's limits is left: counted when it took the question, so without those asked since."""
        # A question asked earlier, and answered later, knows less.
        if hints is None or slot.number < self._last_reported:
            return
        self._last_reported = slot.number
        since = self._n_started - slot.number
        self._requests_left.message(
            slot.started_at, hints.remaining_requests, hints.reset_requests_seconds, float(since)
        )
        self._tokens_left.message(
            slot.started_at, hints.remaining_tokens, hints.reset_tokens_seconds, since * self._mean_tokens
        )

    def _release(self) -> None:
        self._in_flight -= 1
        self._changed.notify()

    def _dropped(self, slot: Slot) -> None:
        with self._changed:
            self._release()
            self._allowance.spend(self._clock(), -slot.expected_tokens)


class Slot:
    """The right to ask one question, once entered; `done` or `failed` says how it went, leaving without either nothing."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._is_open = False
        self.number = 0
        self.started_at = 0.0
        self.expected_tokens = 0.0

    def __enter__(self) -> Self:
        """Wait until the question may be asked.

        Raises:
            PaceClosedError: the pace was closed.
        """
        self._pace._start(self)
        self._is_open = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """Give the slot back, if neither `done` nor `failed` has."""
        if self._is_open:
            self._is_open = False
            self._pace._dropped(self)

    def done(
        self, reply_tokens: int | None, latency_ms: float | None, hints: RateHints | None = None
    ) -> None:
        """Report an answer of any kind.

        Args:
            reply_tokens: of question and answer together; None where the service does not count them.
            latency_ms: None takes the time since the slot was entered.
            hints: what the service says about its limits.
        """
        if self._is_open:
            self._is_open = False
            self._pace._done(self, reply_tokens, latency_ms, hints)

    def failed(self, error: TargetError) -> None:
        """Report that no answer came; only a refusal for the rate (`asks_to_slow_down`) slows the pace."""
        if self._is_open:
            self._is_open = False
            self._pace._failed(self, error)


def asked_pause(error: TargetError) -> float | None:
    """Return how long a refusal asks for, in seconds: by Retry-After, or until the limit that is used up is whole again."""
    hints = error.hints or RateHints()
    asked = error.retry_after_seconds if error.retry_after_seconds is not None else hints.retry_after_seconds
    if asked is not None:
        return min(asked, MAX_PAUSE_SECONDS)
    resets = [
        reset
        for left, reset in (
            (hints.remaining_requests, hints.reset_requests_seconds),
            (hints.remaining_tokens, hints.reset_tokens_seconds),
        )
        if left == 0 and reset is not None
    ]
    return min(max(resets), PROBE_SECONDS) if resets else None


class _Limit:
    """The allowed number of questions in flight. Refusals halve it; good windows double it up to its last failure, then add
    one.
    """

    def __init__(self, most: int) -> None:
        if most < 1:
            raise ValueError(f"max_concurrency is {most} and should be 1 or more")
        self.limit = min(START_CONCURRENCY, most)
        self.cut_at = float("-inf")
        self._most = most
        # Up to here it is doubled: the limit of the last refusal, which was about right.
        self._known = most
        # Time and mean latency of windows, both rising: the first is the lowest lately, the next the lowest since.
        self._floors: deque[tuple[float, float]] = deque()
        self._n = 0
        self._sum = 0.0
        self._was_full = False

    def took(self, in_flight: int) -> None:
        self._was_full = self._was_full or in_flight >= self.limit

    def answered(self, now: float, seconds: float) -> None:
        self._n += 1
        self._sum += seconds
        if self._n < max(self.limit, MIN_WINDOW):
            return
        mean = self._sum / self._n
        is_fast = mean <= LATENCY_FACTOR * self._floor(now, mean)
        if not is_fast:
            self._known = self.limit
        # A limit that was not reached has not been tried.
        elif self._was_full:
            grown = min(2 * self.limit, self._known) if self.limit < self._known else self.limit + 1
            self.limit = min(self._most, grown)
        self._begin_window()

    def _floor(self, now: float, mean: float) -> float:
        """Return the lowest mean latency lately, with a new one."""
        while self._floors and self._floors[-1][1] >= mean:
            self._floors.pop()
        self._floors.append((now, mean))
        while self._floors[0][0] < now - FLOOR_SECONDS:
            self._floors.popleft()
        return self._floors[0][1]

    def cut(self, now: float) -> None:
        self._known = self.limit
        self.limit = max(1, self.limit // 2)
        self.cut_at = now
        self._begin_window()

    def _begin_window(self) -> None:
        self._n = 0
        self._sum = 0.0
        self._was_full = False


class _Turns:
    """Spaces questions evenly: by the user's cap, and by the rate at which the service refused."""

    def __init__(self, per_minute: float | None, now: float) -> None:
        self._cap_seconds = 0.0 if per_minute is None else 60.0 / per_minute
        self._next = now
        self._learned: float | None = None
        self._since = now
        self._starts: deque[float] = deque()

    def delay(self, now: float) -> float:
        return self._next - now

    def take(self, now: float) -> None:
        self._next = max(self._next, now - CATCH_UP_SECONDS) + self._seconds_between(now)
        self._starts.append(now)
        self._drop_old_starts(now)

    def refused(self, now: float, resumes_at: float) -> None:
        """Learn from a refusal: the rate is the one asked at lately, or the one allowed where that is lower."""
        self._drop_old_starts(now)
        allowed = self._rate(now)
        rates = [] if allowed is None else [allowed]
        # Right after a pause there is no data yet.
        if len(self._starts) > 1 and (now - self._since >= SHORTEST_SPAN_SECONDS or allowed is None):
            span = max(now - max(self._starts[0], self._since), SHORTEST_SPAN_SECONDS)
            rates.append((len(self._starts) - 1) / span)
        self._learned = min(rates, default=None)
        self._since = self._next = resumes_at
        self._starts.clear()

    def _seconds_between(self, now: float) -> float:
        rate = self._rate(now)
        return max(self._cap_seconds, 0.0 if rate is None else 1.0 / rate)

    def _rate(self, now: float) -> float | None:
        """Return the learned rate in questions a second; None if there is none, or it is too old."""
        age = max(0.0, now - self._since) / RECOVERY_SECONDS
        if self._learned is None or age >= GIVEN_UP:
            return None
        return self._learned * (1.0 + (1.0 - RATE_CUT) * (age - 1.0) ** 3)

    def _drop_old_starts(self, now: float) -> None:
        while len(self._starts) > RATE_STARTS and self._starts[0] < now - RATE_SPAN_SECONDS:
            self._starts.popleft()


class _Allowance:
    """The user's cap on tokens: the expected number is spent when a question starts, and corrected when it ends; may be
    overdrawn.
    """

    def __init__(self, per_minute: float | None, now: float) -> None:
        self._per_second = None if per_minute is None else per_minute / 60.0
        self._level = (self._per_second or 0.0) * TOKEN_BURST_SECONDS
        self._at = now

    def delay(self, now: float) -> float:
        if self._per_second is None:
            return 0.0
        self._refill(now)
        return max(0.0, -self._level / self._per_second)

    def spend(self, now: float, tokens: float) -> None:
        """Spend tokens, or give them back where negative."""
        if self._per_second is not None:
            self._refill(now)
            self._level -= tokens

    def _refill(self, now: float) -> None:
        if self._per_second is not None:
            most = self._per_second * TOKEN_BURST_SECONDS
            self._level = min(most, self._level + (now - self._at) * self._per_second)
            self._at = now


class _Remainder:
    """The rest of a limit that the service reported, until it is reset."""

    def __init__(self) -> None:
        self._rest: float | None = None
        self._whole_at = 0.0
        self._try_at = 0.0

    def message(self, at: float, left: int | None, reset_seconds: float | None, used_since: float) -> None:
        if left is None or reset_seconds is None:
            return
        self._rest = left - used_since
        self._whole_at = at + reset_seconds
        self._try_at = min(self._whole_at, at + PROBE_SECONDS)

    def delay(self, now: float, need: float) -> float:
        if self._rest is None or now >= self._whole_at or self._rest >= need:
            return 0.0
        return max(0.0, self._try_at - now)

    def take(self, now: float, amount: float) -> None:
        if self._rest is None:
            return
        if now >= self._whole_at:
            self._rest = None
            return
        self._rest -= amount
        if self._rest < 0:
            # One question tries whether there is something before the limit is whole.
            self._try_at = min(self._whole_at, now + PROBE_SECONDS)
