"""A service with rate limits on a simulated clock, and a client that asks it as fast as a pace allows."""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from collector.asking.pacing import Pace
from collector.errors import TargetError
from collector.rates import RateHints


class Clock:
    """A clock that advances only when `sleep` is called."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass; never so little that none does."""
        self.now = max(self.now + seconds, math.nextafter(self.now, math.inf))


@dataclass
class TokenBucket:
    """Lets `burst` questions through at once and `per_second` for long."""

    per_second: float
    burst: float
    clock: Clock
    level: float = field(init=False)
    at: float = 0.0

    def __post_init__(self) -> None:
        self.level = self.burst

    def accept(self) -> bool:
        now = self.clock()
        self.level = min(self.burst, self.level + (now - self.at) * self.per_second)
        self.at = now
        if self.level < 1:
            return False
        self.level -= 1
        return True

    def hints(self) -> RateHints:
        return RateHints(
            remaining_requests=int(self.level),
            reset_requests_seconds=(self.burst - self.level) / self.per_second,
        )


@dataclass
class FixedWindow:
    """Lets `limit` questions through in each window of `seconds`."""

    limit: int
    seconds: float
    clock: Clock
    window: int = -1
    used: int = 0

    def accept(self) -> bool:
        window = int(self.clock() // self.seconds)
        if window != self.window:
            self.window, self.used = window, 0
        if self.used >= self.limit:
            return False
        self.used += 1
        return True

    def hints(self) -> RateHints:
        return RateHints(
            remaining_requests=self.limit - self.used,
            reset_requests_seconds=self.seconds - self.clock() % self.seconds,
        )


@dataclass
class Outcome:
    """The requests of a client and their results within a number of seconds."""

    seconds: float
    answered: int = 0
    refused: int = 0
    most_at_once: int = 0

    @property
    def per_second(self) -> float:
        return self.answered / self.seconds


def ask_all(
    pace: Pace,
    clock: Clock,
    limit: TokenBucket | FixedWindow | None,
    *,
    seconds: float,
    latency: Callable[[int], float] = lambda _: 0.1,
    tells: bool = False,
    retry_after: float | None = None,
    tokens: Callable[[], int | None] = lambda: None,
    status: int = 429,
    seed: int = 0,
    ask: Callable[[], RateHints | None] | None = None,
) -> Outcome:
    """Ask without end for a number of simulated seconds.

    Args:
        latency: seconds of an answer, from the number of questions under way.
        tells: the service sends the headers of its limits.
        retry_after: what it sends with a refusal.
        tokens: tokens of an answer.
        status: of a refusal.
        ask: asks a service in place of `limit`, which answers at once and on the same clock: returns its hints, or raises.
    """
    outcome = Outcome(seconds)
    chance = random.Random(seed)
    order = itertools.count()
    under_way: list[tuple[float, int, object, TargetError | None, RateHints | None]] = []
    while clock() < seconds:
        delay = pace.delay()
        until = clock() + delay
        if under_way and under_way[0][0] <= until:
            at, _, slot, refusal, hints = heapq.heappop(under_way)
            clock.now = max(clock.now, at)
            if refusal is None:
                outcome.answered += 1
                slot.done(tokens(), None, hints)
            else:
                outcome.refused += 1
                slot.failed(refusal)
            continue
        # A delay too short to move the clock would be waited for without end.
        clock.now = max(until, math.nextafter(clock(), math.inf)) if delay else until
        if clock() >= seconds:
            break
        slot = pace.slot().__enter__()
        refused: TargetError | None = None
        if ask is not None:
            try:
                hints = ask()
            except TargetError as error:
                refused, hints = error, error.hints
        else:
            is_accepted = limit is None or limit.accept()
            hints = limit.hints() if tells and limit is not None else None
            if not is_accepted:
                refused = TargetError(
                    "full", retryable=True, status=status, hints=hints, retry_after_seconds=retry_after
                )
        # A refusal comes at once, an answer takes its time.
        wait = latency(len(under_way) + 1) * chance.uniform(0.9, 1.1) if refused is None else 0.02
        heapq.heappush(under_way, (clock() + wait, next(order), slot, refused, hints))
        outcome.most_at_once = max(outcome.most_at_once, len(under_way))
    return outcome
