"""Threads that ask: each takes the next trial, asks until it is done, and hands on every attempt."""

from __future__ import annotations

import itertools
import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from collector.attempts import (
    MAX_ATTEMPTS,
    charge,
    estimated_tokens,
    fill_error,
    fill_reply,
    is_to_be_asked_again,
    new_row,
    request_seed,
)
from collector.errors import TargetError
from collector.pacing import MAX_REFUSALS, Pace, PaceClosedError, backoff_seconds
from collector.rows import ResponseRow, utc_now
from collector.targets.base import Request, Target

if TYPE_CHECKING:
    from collector.costs import CostMeter
    from collector.pacing import Pause
    from collector.prompts import Prompt
    from collector.spec_parts import Answer as AnswerForm

MAX_BACKOFF_SECONDS = 60.0
BUDGET_POLL_SECONDS = 0.05
# A question is given up where this is the probability, or less, that one like all others would be refused so often.
SINGLED_OUT = 1e-9

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Task:
    """A trial that is not done; `attempts` of it are kept already."""

    prompt: Prompt
    trial: int
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class Attempted:
    """One attempt's row, and why no answer came, if none did."""

    row: ResponseRow
    error: TargetError | None = None


@dataclass(frozen=True, slots=True)
class Manner:
    """How trials are asked.

    Attributes:
        answer: the form of answer expected.
        seed: the run's, from which each request gets its own.
        backoff_seconds: pause after a failed attempt; it doubles.
        meter: adds up costs, and may end the run.
    """

    answer: AnswerForm
    seed: int
    backoff_seconds: float
    meter: CostMeter


@dataclass(frozen=True, slots=True)
class _Tried:
    """How one try went: how long it took, whether asking again may help, and why no answer came, if none did."""

    seconds: float
    may_help: bool
    error: TargetError | None = None


class Askers:
    """As many threads as the target may be asked at once; they take tasks one by one, so that none pile up.

    Args:
        target: whom to ask.
        manner: how.
        tasks: what; taken from by one thread at a time.
        keep: called with every attempt, from the threads.
        ended: called once, when the last thread has ended; with the error that ended a thread, or None.

    Attributes:
        is_out_of_budget: asking has stopped because another question might cost too much.
    """

    def __init__(
        self,
        target: Target,
        manner: Manner,
        tasks: Iterator[Task],
        keep: Callable[[Attempted], None],
        ended: Callable[[BaseException | None], None],
    ) -> None:
        self.is_out_of_budget = False
        self._target = target
        self._manner = manner
        self._tasks = tasks
        self._keep = keep
        self._ended = ended
        self._pace = Pace(target.concurrency, target.requests_per_minute, target.tokens_per_minute)
        self._total_seconds = (
            math.inf if target.total_timeout_seconds is None else target.total_timeout_seconds
        )
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._n_threads = target.concurrency
        self._n_in_flight = 0
        self._n_answered = 0
        self._n_refused = 0
        self._refused_since: float | None = None
        self._n_reserved = 0
        self._have_ended = threading.Event()
        self._failure: BaseException | None = None

    @property
    def n_in_flight(self) -> int:
        """How many questions have been asked and not answered yet."""
        return self._n_in_flight

    def refused_seconds(self) -> float:
        """Return for how long the target has refused everything that it was asked."""
        since = self._refused_since
        return 0.0 if since is None else time.monotonic() - since

    def pause(self) -> Pause | None:
        """Return the pause that the target asked for, None where there is none."""
        return self._pace.pause()

    def start(self) -> None:
        """Start to ask."""
        for number in range(self._target.concurrency):
            # Daemons: an interrupted run does not wait for answers that may take a minute.
            threading.Thread(target=self._work, name=f"ask-{number + 1}", daemon=True).start()

    def stop(self) -> None:
        """Ask nothing more; what has been asked may still be answered."""
        self._stopping.set()
        self._pace.close()

    def wait(self, seconds: float) -> None:
        """Wait until all threads have ended, but no longer than this."""
        self._have_ended.wait(seconds)

    def _work(self) -> None:
        try:
            while (task := self._next()) is not None:
                self._ask(task)
        except PaceClosedError:
            pass
        except BaseException as error:  # noqa: BLE001 (a thread's error has to reach the caller, whatever it is)
            self._failure = error
            self.stop()
        with self._lock:
            self._n_threads -= 1
            is_last = self._n_threads == 0
        if is_last:
            self._ended(self._failure)
            self._have_ended.set()

    def _next(self) -> Task | None:
        with self._lock:
            return None if self._stopping.is_set() else next(self._tasks, None)

    def _ask(self, task: Task) -> None:
        """Ask up to three times: again after a malformed answer, a failure that may pass, or a short list where the audit
        says so; never after any other. Refusals for the rate do not count, for they say nothing about the question; one that is
        refused again and again, more than others are, is given up, since services also say so of what is too large.
        """
        # What was kept before the run was resumed counts, but one more try is always made.
        n_tries = min(task.attempts, MAX_ATTEMPTS - 1)
        n_refusals, n_answered_before = 0, self._n_answered
        spent_seconds = 0.0
        estimated = estimated_tokens(task.prompt)
        for attempt in itertools.count(task.attempts + 1):
            if not self._reserve(estimated):
                return
            row = new_row(task.prompt, task.trial, attempt)
            tried = self._try(task.prompt, row, spent_seconds, estimated)
            error = tried.error
            spent_seconds += tried.seconds
            if error is not None and error.asks_to_slow_down:
                n_refusals += 1
                is_alone = self._n_answered == n_answered_before
                has_more = n_refusals < MAX_REFUSALS or not (is_alone or self._is_singled_out(n_refusals))
                pause = 0.0
                if not has_more and is_alone:
                    error = _gives_up(error, n_refusals)
            else:
                n_tries += 1
                pause = 0.0 if error is None else self._pause_seconds(n_tries, error)
                spent_seconds += pause
                has_more = tried.may_help and n_tries < MAX_ATTEMPTS and spent_seconds < self._total_seconds
            # A trial that only ends because the run does is not done: a resumed run asks again.
            row.is_last = not has_more and not (error is not None and error.stops_run)
            if error is not None and error.stops_run:
                # At once: whoever takes the attempts gets to know it later, and every question until then may cost.
                self.stop()
            self._keep(Attempted(row, error))
            if not has_more or self._stopping.is_set():
                return
            if pause:
                logger.info("%s Asking again in %.1f s.", error, pause)
                self._stopping.wait(pause)

    def _note_refusal(self, *, refused: bool) -> None:
        with self._lock:
            self._n_refused += refused
            if not refused:
                self._refused_since = None
            elif self._refused_since is None:
                self._refused_since = time.monotonic()

    def _is_singled_out(self, n_refusals: int) -> bool:
        """Whether a question is refused so often that it is not for chance, as often as others are refused."""
        n_others = self._n_refused - n_refusals
        return bool(((n_others + 1) / (n_others + self._n_answered + 2)) ** n_refusals < SINGLED_OUT)

    def _try(self, prompt: Prompt, row: ResponseRow, spent_seconds: float, estimated: int) -> _Tried:
        """Ask once, when it is this question's turn, and fill the row."""
        left = self._total_seconds - spent_seconds
        request = Request(
            prompt_text=prompt.prompt_text or "",
            system_prompt=prompt.system_prompt,
            trial=row.trial,
            seed=request_seed(self._manner.seed, prompt.content_hash, row.trial, row.attempt),
            prompt_id=prompt.prompt_id,
            timeout_seconds=None if math.isinf(left) else left,
        )
        try:
            with self._pace.slot() as slot:
                row.requested_at = utc_now()
                started = time.monotonic()
                self._count_in_flight(1)
                try:
                    reply = self._target.ask(request)
                except TargetError as error:
                    slot.failed(error)
                    self._note_refusal(refused=error.asks_to_slow_down)
                    fill_error(row, prompt, error)
                    return _Tried(time.monotonic() - started, error.retryable, error)
                finally:
                    self._count_in_flight(-1)
                seconds = time.monotonic() - started
                answer = fill_reply(row, prompt, reply, self._manner.answer)
                slot.done(_tokens_of(row), reply.latency_ms, reply.hints)
            self._note_refusal(refused=False)
            with self._lock:
                self._n_answered += 1
            charge(self._manner.meter, row, estimated)
            return _Tried(seconds, is_to_be_asked_again(answer, self._manner.answer))
        finally:
            self._release(estimated)

    def _reserve(self, estimated: int) -> bool:
        """Take a question out of the budget. What is under way may turn out cheaper than feared, so it is waited for."""
        while True:
            # Together, or else a thread that is refused might see nothing under way although there is.
            with self._lock:
                if self._manner.meter.reserve(estimated):
                    self._n_reserved += 1
                    return True
                is_hopeless = self._n_reserved == 0
            if is_hopeless:
                self.is_out_of_budget = True
                self.stop()
            if self._stopping.wait(BUDGET_POLL_SECONDS):
                return False

    def _release(self, estimated: int) -> None:
        with self._lock:
            self._manner.meter.release(estimated)
            self._n_reserved -= 1

    def _count_in_flight(self, change: int) -> None:
        with self._lock:
            self._n_in_flight += change

    def _pause_seconds(self, n_tries: int, error: TargetError) -> float:
        if error.retry_after_seconds is not None:
            return min(error.retry_after_seconds, MAX_BACKOFF_SECONDS)
        return backoff_seconds(n_tries, self._manner.backoff_seconds, MAX_BACKOFF_SECONDS)


def _tokens_of(row: ResponseRow) -> int | None:
    known = [count for count in (row.prompt_tokens, row.completion_tokens) if count is not None]
    return sum(known) if known else None


def _gives_up(error: TargetError, n_refusals: int) -> TargetError:
    return TargetError(
        f"One question was refused {n_refusals} times for the rate, and no other was answered meanwhile, so the run stops: "
        f"{error}",
        stops_run=True,
        status=error.status,
        raw_body=error.raw_body,
    )
