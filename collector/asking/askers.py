"""Threads that ask: each takes the next trial, asks until it is done, and reports every attempt."""

from __future__ import annotations

import heapq
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from collector.asking.attempts import (
    MAX_ATTEMPTS,
    AttemptResult,
    charge,
    estimated_tokens,
    fill_error,
    fill_reply,
    fill_unasked,
    is_to_be_asked_again,
    new_row,
    request_seed,
    spoken,
)
from collector.asking.pacing import MAX_REFUSALS, Pace, PaceClosedError, asked_pause, retry_seconds
from collector.errors import TargetError
from collector.rows import ResponseRow, utc_now
from collector.targets.base import Message, Request, Target

if TYPE_CHECKING:
    from collector.asking.costs import CostMeter
    from collector.asking.journal_queue import JournalQueue
    from collector.asking.pacing import Pause
    from collector.spec.parts import Answer as AnswerForm
    from collector.spec.prompts import Prompt

BUDGET_POLL_SECONDS = 0.05
# Give a question up if a typical question would be refused this often with probability at most SINGLED_OUT, or after
# MOST_REFUSALS.
SINGLED_OUT = 1e-9
MOST_REFUSALS = 30
# After an answer without a text that has one of these statuses, later turns get the same status.
NO_ANSWER = frozenset({"refused", "malformed", "error"})
# A refused question is postponed while others are asked; with this many postponed, no new one is begun.
MOST_POSTPONED = 1000

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Task:
    """A trial that is not done; `attempts` of it are kept already.

    Of a conversation, `earlier` are the messages so far, `later` the attempts kept of each later answer, and `ended` the status
    of an answer after which nothing more can be asked. `n_begun`: how often it was begun before, where the target remembers it.
    """

    prompt: Prompt
    trial: int
    attempts: int = 0
    earlier: tuple[Message, ...] = ()
    later: tuple[int, ...] = ()
    ended: str | None = None
    n_begun: int = 0

    @property
    def messages(self) -> tuple[Message, ...]:
        """Return the messages up to and including the one that is answered."""
        turn = self.prompt.turn(self.trial)
        asked = () if turn is None else tuple(Message(role, text) for role, text in turn.messages)
        return (*self.earlier, *asked)

    def next_turn(self, status: str, text: str | None, raw_body: str | None) -> Task | None:
        """Return the conversation's next task after an answer, None at its end."""
        if self.trial % self.prompt.n_turns == 0:
            return None
        answer = spoken(text) if status != "error" else ""
        ended = self.ended or (None if answer else status if status in NO_ANSWER else "error")
        return Task(
            self.prompt,
            self.trial + 1,
            attempts=self.later[0] if self.later else 0,
            earlier=(*self.messages, Message("assistant", answer, raw_body, is_answer=True)),
            later=self.later[1:],
            ended=ended,
            n_begun=self.n_begun,
        )


@dataclass(frozen=True, slots=True)
class AskSettings:
    """Settings for asking trials.

    Attributes:
        answer: the form of answer expected.
        seed: the run's; each request's seed is computed from it.
        backoff_seconds: pause after a failed attempt; it doubles.
        meter: adds up costs, and may end the run.
        run_id: the run, which names its conversations.
    """

    answer: AnswerForm
    seed: int
    backoff_seconds: float
    meter: CostMeter
    run_id: str


@dataclass(slots=True)
class _TrialState:
    """The progress of a trial that this process asks, also while it is postponed.

    Attributes:
        number: the place among the trials of this process.
        n_answered_before: how many questions had been answered when it was asked first.
        attempts: all attempts; n_tries: those that were not refused because of the rate.
        is_refused_first: its first try was refused.
    """

    task: Task
    number: int
    n_answered_before: int
    attempts: int
    n_tries: int
    n_refusals: int = 0
    is_refused_first: bool = False
    spent_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _TryResult:
    """The outcome of one try: its duration, whether asking again may help, and the error if there is no answer."""

    seconds: float
    may_help: bool
    error: TargetError | None = None


class Askers:
    """The threads that ask, as many as the target accepts at once; each takes one task at a time.

    Args:
        target: the system to ask.
        settings: how to ask.
        tasks: the trials to ask; one thread at a time takes from them.
        journal_queue: takes every attempt from the threads, and the end of the last one with the error that ended a thread.

    Attributes:
        is_out_of_budget: asking has stopped because another question might cost too much.
    """

    def __init__(
        self,
        target: Target,
        settings: AskSettings,
        tasks: Iterator[Task],
        journal_queue: JournalQueue,
    ) -> None:
        self.is_out_of_budget = False
        self._target = target
        self._settings = settings
        self._tasks = tasks
        self._journal_queue = journal_queue
        self._pace = Pace(target.concurrency, target.requests_per_minute, target.tokens_per_minute)
        self._total_seconds = (
            math.inf if target.total_timeout_seconds is None else target.total_timeout_seconds
        )
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._n_threads = target.concurrency
        self._n_in_flight = 0
        self._n_answered = 0
        # Trials whose first try is over, and how many of these tries were refused.
        self._n_first = 0
        self._n_first_refused = 0
        self._n_taken = 0
        # Refused trials, to be asked again after the others, oldest first.
        self._postponed: list[tuple[int, _TrialState]] = []
        # Continue these before starting new ones.
        self._begun: deque[Task] = deque()
        self._is_turn_of_postponed = False
        self._refused_since: float | None = None
        self._first_refused_at = 0.0
        self._n_reserved = 0
        self._have_ended = threading.Event()
        self._failure: BaseException | None = None

    @property
    def n_in_flight(self) -> int:
        """Return how many questions have been asked and not answered yet."""
        return self._n_in_flight

    def refused_seconds(self) -> float:
        """Return for how long the target has refused everything that it was asked, beyond the first pause that it named."""
        since = self._refused_since
        return 0.0 if since is None else max(0.0, time.monotonic() - since)

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
            while (state := self._next()) is not None:
                self._ask(state)
        except PaceClosedError:
            pass
        except BaseException as error:  # noqa: BLE001 (a thread's error has to reach the caller, whatever it is)
            self._failure = error
            self.stop()
        with self._lock:
            self._n_threads -= 1
            is_last = self._n_threads == 0
        if is_last:
            self._journal_queue.end(self._failure)
            self._have_ended.set()

    def _next(self) -> _TrialState | None:
        """Take a new trial or, alternately, a postponed one."""
        with self._lock:
            if self._stopping.is_set():
                return None
            if self._begun:
                return self._new_state(self._begun.popleft())
            is_new = not self._postponed or not (
                self._is_turn_of_postponed or len(self._postponed) >= MOST_POSTPONED
            )
            task = next(self._tasks, None) if is_new else None
            self._is_turn_of_postponed = is_new
            if task is None:
                return heapq.heappop(self._postponed)[1] if self._postponed else None
            return self._new_state(task)

    def _new_state(self, task: Task) -> _TrialState:
        self._n_taken += 1
        # Attempts before the run was resumed count, but one more try is always made.
        n_tries = min(task.attempts, MAX_ATTEMPTS - 1)
        return _TrialState(task, self._n_taken, self._n_answered, task.attempts, n_tries)

    def _ask(self, state: _TrialState) -> None:
        """Ask up to three times: again after a malformed answer, a temporary failure, or, if the audit says so, a short
        list. Refusals because of the rate do not count, because they say nothing about the question. A question that is refused
        more often than others is given up, because services also refuse too large questions in this way.
        """
        prompt = state.task.prompt
        if state.task.ended is not None:
            row = new_row(prompt, state.task.trial, state.attempts + 1)
            fill_unasked(row, prompt, state.task.ended)
            self._journal_queue.keep(AttemptResult(row, is_asked=False))
            self._go_on(state.task, row)
            return
        estimated = estimated_tokens(prompt, (one.text for one in state.task.messages))
        while self._reserve(estimated):
            state.attempts += 1
            row = new_row(prompt, state.task.trial, state.attempts)
            tried = self._try(state.task, row, state.spent_seconds, estimated)
            error = tried.error
            is_refused = error is not None and error.asks_to_slow_down
            state.spent_seconds += tried.seconds
            pause = 0.0
            if error is not None and is_refused:
                self._note_try(state, is_refused=True)
                is_alone = self._n_answered == state.n_answered_before
                has_more = state.n_refusals < MAX_REFUSALS or not (is_alone or self._is_singled_out(state))
                if not has_more and is_alone:
                    error = _gives_up(error, state.n_refusals)
            else:
                self._note_try(state, is_refused=False)
                if error is not None:
                    pause = retry_seconds(error, state.n_tries, self._settings.backoff_seconds)
                state.spent_seconds += pause
                has_time = state.spent_seconds < self._total_seconds
                has_more = tried.may_help and state.n_tries < MAX_ATTEMPTS and has_time
            # A trial that only ends because the run does is not done: a resumed run asks again.
            row.is_last = not has_more and not (error is not None and error.stops_run)
            if error is not None and error.stops_run:
                # Stop now: the main thread sees the error later, and every question until then may cost.
                self.stop()
            self._journal_queue.keep(AttemptResult(row, error))
            if row.is_last:
                self._go_on(state.task, row)
            if not has_more or self._stopping.is_set():
                return
            if is_refused:
                with self._lock:
                    heapq.heappush(self._postponed, (state.number, state))
                return
            if pause:
                logger.info("%s Asking again in %.1f s.", error, pause)
                self._stopping.wait(pause)

    def _go_on(self, task: Task, row: ResponseRow) -> None:
        """Let a conversation go on after an answer."""
        following = task.next_turn(row.status, row.response_text, row.raw_body)
        if following is not None:
            with self._lock:
                self._begun.append(following)

    def _note_try(self, state: _TrialState, *, is_refused: bool) -> None:
        is_first = state.attempts == state.task.attempts + 1
        state.n_refusals += is_refused
        state.n_tries += not is_refused
        state.is_refused_first |= is_first and is_refused
        with self._lock:
            self._n_first += is_first
            self._n_first_refused += is_first and is_refused

    def _note_refusal(self, error: TargetError, asked_at: float) -> None:
        """Note since when everything is refused, without the first pause that the service asks for."""
        with self._lock:
            now = time.monotonic()
            if self._refused_since is None:
                self._first_refused_at = self._refused_since = now
            if asked_at <= self._first_refused_at:
                self._refused_since = max(self._refused_since, now + (asked_pause(error) or 0.0))

    def _note_no_refusal(self) -> None:
        with self._lock:
            self._refused_since = None

    def _is_singled_out(self, state: _TrialState) -> bool:
        """Return whether a question is refused more often than chance explains, given how often first tries of others are
        refused. First tries only: otherwise a few questions that are never answered would be most of the refusals.
        """
        n_refused = self._n_first_refused - state.is_refused_first
        share = (n_refused + 1) / (self._n_first - 1 + 2)
        return state.n_refusals >= MOST_REFUSALS or bool(share**state.n_refusals < SINGLED_OUT)

    def _try(self, task: Task, row: ResponseRow, spent_seconds: float, estimated: int) -> _TryResult:
        """Ask once, when it is this question's turn, and fill the row."""
        prompt = task.prompt
        left = self._total_seconds - spent_seconds
        messages = task.messages
        request = Request(
            prompt_text=messages[-1].text if messages else prompt.prompt_text or "",
            system_prompt=prompt.system_prompt,
            trial=row.trial,
            seed=request_seed(self._settings.seed, prompt.content_hash, row.trial, row.attempt),
            prompt_id=prompt.prompt_id,
            timeout_seconds=None if math.isinf(left) else left,
            conversation=self._conversation(task, row),
            turn=row.turn or 1,
            earlier=messages[:-1],
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
                    if error.asks_to_slow_down:
                        self._note_refusal(error, started)
                    else:
                        self._note_no_refusal()
                    fill_error(row, prompt, error)
                    return _TryResult(time.monotonic() - started, error.retryable, error)
                finally:
                    self._count_in_flight(-1)
                seconds = time.monotonic() - started
                answer = fill_reply(row, prompt, reply, self._settings.answer, messages)
                slot.done(_tokens_of(row), reply.latency_ms, reply.hints)
            self._note_no_refusal()
            with self._lock:
                self._n_answered += 1
            charge(self._settings.meter, row, estimated)
            return _TryResult(seconds, is_to_be_asked_again(answer, self._settings.answer))
        finally:
            self._release(estimated)

    def _conversation(self, task: Task, row: ResponseRow) -> str | None:
        if row.turn is None:
            return None
        number = (row.trial - 1) // task.prompt.n_turns + 1
        begun = f".{task.n_begun}" if task.n_begun else ""
        return f"{self._settings.run_id}.{task.prompt.prompt_id}.{number}{begun}"

    def _reserve(self, estimated: int) -> bool:
        """Reserve the cost of a question. Running questions may turn out cheaper than their reserve, so wait for them first."""
        while True:
            # Under one lock, because a thread that is refused must see every running question.
            with self._lock:
                if self._settings.meter.reserve(estimated):
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
            self._settings.meter.release(estimated)
            self._n_reserved -= 1

    def _count_in_flight(self, change: int) -> None:
        with self._lock:
            self._n_in_flight += change


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
