"""Ask a run's trials through a batch interface: submit the remaining ones, wait, keep results, and ask failed ones again.

Submissions are recorded in the journal, so that another process can wait for them: an event before each submission, one after
it, and one when its results are stored.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from collector.asking.askers import Task
from collector.asking.attempts import (
    MAX_ATTEMPTS,
    AttemptResult,
    charge,
    estimated_tokens,
    fill_error,
    fill_reply,
    is_to_be_asked_again,
    new_row,
    request_seed,
)
from collector.asking.batch_log import COLLECTED, FAILED, SUBMITTED, SUBMITTING, BatchLog, Submitted
from collector.asking.pacing import retry_seconds
from collector.errors import TargetError
from collector.rows import utc_now
from collector.targets.base import BatchRequest, Request, Submission

if TYPE_CHECKING:
    from datetime import datetime

    from collector.asking.askers import AskSettings
    from collector.asking.breaker import Usability
    from collector.asking.journal_queue import JournalQueue
    from collector.journal.writer import JournalWriter
    from collector.targets.base import BatchState, Reply
    from collector.targets.batching import ChatBatch

FIRST_POLL_SECONDS = 5.0
MAX_POLL_SECONDS = 60.0
# How often a service that does not answer is asked again, with pauses up to a minute, before the process gives up.
MAX_TRIES = 10
# After a submission without a reply, the service may take this long to make or list the batch.
SETTLE_SECONDS = 30.0
SETTLE_POLL_SECONDS = 2.0
_TAG_DIGITS = 8
_KEPT_SECONDS = 0.02
_GONE = (404, 410)
_TOO_MANY = 429

logger = logging.getLogger(__name__)
T = TypeVar("T")


class BatchAskers:
    """Asks by batch, in a thread of its own; to a runner it is what `Askers` is.

    Args:
        batches: the target's batch interface.
        settings: how to ask; the run's name gives batches their labels.
        tasks: the trials to ask; read at once.
        journal_queue: takes every attempt, and the end.
        log: the run's batches so far.
        writer: the run's journal, for events of batches.
        usability: counts replies that cannot be used; where none can, nothing is submitted again.
        poll_seconds: the longest pause between two looks at a batch.

    Attributes:
        is_out_of_budget: asking has stopped because another question might cost too much.
    """

    def __init__(
        self,
        batches: ChatBatch,
        settings: AskSettings,
        tasks: Iterator[Task],
        journal_queue: JournalQueue,
        *,
        log: BatchLog,
        writer: JournalWriter,
        usability: Usability,
        poll_seconds: float,
    ) -> None:
        self.is_out_of_budget = False
        self._batches = batches
        self._settings = settings
        self._tasks = tasks
        self._journal_queue = journal_queue
        self._log = log
        self._writer = writer
        self._usability = usability
        self._unusable: TargetError | None = None
        self._poll_seconds = poll_seconds
        self._stopping = threading.Event()
        # A process's tries; those of earlier processes count, but one more is always made.
        self._tries: dict[tuple[str, int], int] = {}
        self._todo: dict[tuple[str, int], Task] = {}
        # The reserved cost of this process's running questions.
        self._reserved: dict[tuple[str, int], int] = {}
        self._has_guessed = False
        self._n_handed_in = 0
        self._n_before = writer.n_responses
        self._tag = hashlib.sha256(settings.run_id.encode()).hexdigest()[:_TAG_DIGITS]
        self._has_ended = threading.Event()

    @property
    def n_in_flight(self) -> int:
        """Return how many questions the service has and no result is kept of; they can be collected later."""
        return sum(one.n_requests for one in list(self._log.pending.values()))

    def refused_seconds(self) -> float:
        """Return 0: the run waits for a batch as long as it takes."""
        return 0.0

    def pause(self) -> None:
        """Return None: nothing is asked that could be refused."""

    def start(self) -> None:
        """Start to ask."""
        threading.Thread(target=self._work, name="batch", daemon=True).start()

    def stop(self) -> None:
        """Submit and collect nothing more; batches go on at the service."""
        self._stopping.set()

    def wait(self, seconds: float) -> None:
        """Wait until the thread has ended, but no longer than this."""
        self._has_ended.wait(seconds)

    def _work(self) -> None:
        failure: BaseException | None = None
        try:
            self._ask_all()
        except _StoppedError:
            pass
        except BaseException as error:  # noqa: BLE001 (a thread's error has to reach the caller, whatever it is)
            failure = error
        self._journal_queue.end(failure)
        self._has_ended.set()

    def _ask_all(self) -> None:
        self._todo = {(task.prompt.prompt_id, task.trial): task for task in self._tasks}
        self._tries = {key: min(task.attempts, MAX_ATTEMPTS - 1) for key, task in self._todo.items()}
        for unsure in [one for one in self._log.pending.values() if one.batch_id is None]:
            self._settle(unsure)
        self._collect_all()
        while self._todo:
            if self._unusable is not None:
                raise self._unusable
            n_before, self._has_guessed = self._n_handed_in, False
            for requests in self._chunks():
                self._submit(requests)
            if self.is_out_of_budget and not self._log.pending:
                return
            self._collect_all()
            # A batch that was found may have been another one.
            if self._n_handed_in == n_before and not self._has_guessed:
                raise TargetError(
                    f"No result came for any of the {len(self._todo):,} questions left, although their batches ended.",
                    stops_run=True,
                )

    def _chunks(self) -> Iterator[list[BatchRequest]]:
        """Yield the questions left, as many at once as a batch may hold, and no more than the budget allows."""
        chunk: list[BatchRequest] = []
        n_bytes = 0
        # Questions may turn out cheaper than expected, so the next round starts with a fresh budget.
        self.is_out_of_budget = False
        for key, task in self._todo.items():
            estimated = estimated_tokens(task.prompt)
            if not self._settings.meter.reserve(estimated):
                self.is_out_of_budget = True
                break
            self._reserved[key] = estimated
            request = self._request(task)
            size = self._batches.size(request)
            if chunk and (
                len(chunk) >= self._batches.max_requests or n_bytes + size > self._batches.max_bytes
            ):
                yield chunk
                chunk, n_bytes = [], 0
            chunk.append(request)
            n_bytes += size
        if chunk:
            yield chunk

    def _request(self, task: Task) -> BatchRequest:
        prompt, attempt = task.prompt, task.attempts + 1
        return BatchRequest(
            f"{prompt.prompt_id}-{task.trial}-{attempt}-{self._tag}",
            Request(
                prompt_text=prompt.prompt_text or "",
                system_prompt=prompt.system_prompt,
                trial=task.trial,
                seed=request_seed(self._settings.seed, prompt.content_hash, task.trial, attempt),
                prompt_id=prompt.prompt_id,
            ),
        )

    def _submit(self, requests: list[BatchRequest]) -> None:
        """Submit a batch once: after a failure that leaves open whether it arrived, search for it."""
        self._log.n_labels += 1
        begun = Submitted(f"{self._settings.run_id}-{self._log.n_labels}", len(requests), utc_now())
        self._writer.event(SUBMITTING, {"label": begun.label, "requests": begun.n_requests})
        self._log.pending[begun.label] = begun
        submission = self._submission(begun)
        tries = 0
        while True:
            try:
                batch_id: str | None = self._batches.submit(submission, requests)
            except TargetError as error:
                tries += 1
                if not error.retryable or tries >= MAX_TRIES:
                    if not error.retryable:
                        self._fail(begun, error)
                    raise
                self._pause(tries, error)
                # The error may come from a proxy, while the service has the batch all the same.
                batch_id = self._look_for(submission, utc_now())
                self._has_guessed = self._has_guessed or batch_id is not None
                # After a 429 a batch that is not there was refused, and no person has to look.
                if batch_id is None and error.status != _TOO_MANY:
                    self._require_named(begun)
            if batch_id is not None:
                self._arrived(begun, batch_id)
                return

    def _settle(self, unsure: Submitted) -> None:
        """Find out whether a batch arrived whose submission a process did not survive."""
        try:
            batch_id = self._look_for(self._submission(unsure), unsure.since)
        except TargetError as error:
            self._lost(unsure, error)
            return
        if batch_id is not None:
            self._arrived(unsure, batch_id)
            return
        self._require_named(unsure)
        self._fail(unsure, "It did not arrive.")

    def _look_for(self, submission: Submission, tried_at: datetime) -> str | None:
        """Look for a batch that may have arrived, again until the service has had time to make it and to list it."""
        while True:
            batch_id = self._patiently(lambda: self._batches.find(submission))
            if batch_id is not None or utc_now() - tried_at >= timedelta(seconds=SETTLE_SECONDS):
                return batch_id
            self._wait(min(SETTLE_POLL_SECONDS, self._poll_seconds))

    def _require_named(self, unsure: Submitted) -> None:
        """Make sure that a batch which was not found may be submitted again, without being paid for twice.

        Raises:
            TargetError: batches have no names, so only a person can identify them, and none has.
        """
        if self._batches.has_names or unsure.label in self._log.replaceable:
            return
        raise TargetError(
            f"The end of a submission of {unsure.n_requests:,} questions at {unsure.since:%H:%M:%S} UTC is not known, and the "
            f"service gives batches no names by which to find it. Look there for a batch of that size and time: if there is "
            f"none, --retry-failed submits its questions again; if there is one, wait until the service lists it.",
            stops_run=True,
        )

    def _submission(self, begun: Submitted) -> Submission:
        return Submission(begun.label, begun.n_requests, begun.since, frozenset(self._log.ids))

    def _arrived(self, begun: Submitted, batch_id: str) -> None:
        self._writer.event(SUBMITTED, {"label": begun.label, "batch": batch_id, "requests": begun.n_requests})
        self._log.ids.add(batch_id)
        self._log.pending[begun.label] = replace(begun, batch_id=batch_id)

    def _fail(self, begun: Submitted, reason: TargetError | str) -> None:
        """Note that a batch has failed, so that its questions are submitted again."""
        self._writer.event(FAILED, {"label": begun.label, "batch": begun.batch_id, "error": str(reason)})
        del self._log.pending[begun.label]

    def _collect_all(self) -> None:
        """Wait for all pending batches and keep their results as each of them ends."""
        pause = min(FIRST_POLL_SECONDS, self._poll_seconds)
        is_first = True
        while self._log.pending:
            if not is_first:
                self._wait(pause)
                pause = min(pause * 1.5, self._poll_seconds)
            is_first = False
            for batch in list(self._log.pending.values()):
                try:
                    state = self._patiently(partial(self._batches.poll, batch.batch_id or ""))
                    hopeless = self._results(batch, state)
                except TargetError as error:
                    self._lost(batch, error)
                    continue
                if hopeless is not None:
                    raise hopeless

    def _results(self, batch: Submitted, state: BatchState) -> TargetError | None:
        """Keep the results of a batch that has ended; return why no further question makes sense, None if one does."""
        if state.outcome is None:
            return None
        if state.outcome == "failed":
            reason = state.error or "no reason given"
            self._fail(batch, reason)
            return TargetError(f"The service did not begin batch {batch.batch_id}: {reason}", stops_run=True)
        hopeless = self._patiently(partial(self._keep_results, batch))
        self._wait_until_kept()
        self._writer.event(
            COLLECTED, {"label": batch.label, "batch": batch.batch_id, "outcome": state.outcome}
        )
        del self._log.pending[batch.label]
        if not self._log.pending:
            self._release_all()
        if hopeless is None and state.outcome == "cancelled":
            return TargetError(
                f"Batch {batch.batch_id} was cancelled at the service; its answers are kept, and the rest is submitted "
                f"again when the run is resumed.",
                stops_run=True,
            )
        return hopeless

    def _lost(self, batch: Submitted, error: TargetError) -> None:
        """Give a batch up that the service does not know, if that is wanted.

        Raises:
            TargetError: it is not wanted, or the error is another.
        """
        if error.status not in _GONE:
            raise error
        if batch.label not in self._log.replaceable:
            raise TargetError(
                f"{error} If batch {batch.batch_id} is gone for good and the key is that of the account which submitted it, "
                f"--retry-failed submits its questions again.",
                stops_run=True,
                status=error.status,
            ) from error
        self._fail(batch, error)

    def _keep_results(self, batch: Submitted) -> TargetError | None:
        """Hand in every result that is not kept yet; return the first that would meet every other question alike."""
        hopeless: TargetError | None = None
        for custom_id, result in self._batches.results(batch.batch_id or ""):
            task = self._task_of(custom_id)
            if task is None:
                continue
            attempted = self._result(task, result, batch.since)
            self._n_handed_in += 1
            self._journal_queue.keep(attempted)
            if self._stopping.is_set():
                raise _StoppedError
            if hopeless is None and attempted.error is not None and attempted.error.stops_run:
                hopeless = attempted.error
        return hopeless

    def _task_of(self, custom_id: str) -> Task | None:
        """Return the answer of a result; None if it is stored already, or belongs to another run."""
        prompt_id, _, rest = custom_id.partition("-")
        numbers, _, tag = rest.rpartition("-")
        trial, _, attempt = numbers.partition("-")
        if tag != self._tag or not (trial.isdecimal() and attempt.isdecimal()):
            return None
        task = self._todo.get((prompt_id, int(trial)))
        return task if task is not None and int(attempt) == task.attempts + 1 else None

    def _result(self, task: Task, result: Reply | TargetError, asked_at: datetime) -> AttemptResult:
        """Return a result as an attempt, and note whether its trial is done."""
        key = task.prompt.prompt_id, task.trial
        row = new_row(task.prompt, task.trial, task.attempts + 1)
        row.requested_at = asked_at
        error = result if isinstance(result, TargetError) else None
        if isinstance(result, TargetError):
            fill_error(row, task.prompt, result)
            may_help = result.retryable
        else:
            answer = fill_reply(row, task.prompt, result, self._settings.answer)
            charge(self._settings.meter, row, estimated_tokens(task.prompt))
            may_help = is_to_be_asked_again(answer, self._settings.answer)
            self._unusable = self._usability.replied(row)
        if (estimated := self._reserved.pop(key, None)) is not None:
            self._settings.meter.release(estimated)
        self._tries[key] += 1
        has_more = may_help and self._tries[key] < MAX_ATTEMPTS
        row.is_last = not has_more and not (error is not None and error.stops_run)
        if has_more:
            self._todo[key] = replace(task, attempts=row.attempt)
        else:
            del self._todo[key]
        return AttemptResult(row, error)

    def _release_all(self) -> None:
        """Release the reserved cost of questions without a result in a batch that ended."""
        for estimated in self._reserved.values():
            self._settings.meter.release(estimated)
        self._reserved.clear()

    def _wait_until_kept(self) -> None:
        """Wait until all results are on disk: only then may the journal say that a batch is collected."""
        while self._writer.n_responses - self._n_before < self._n_handed_in:
            self._wait(_KEPT_SECONDS)

    def _patiently(self, ask: Callable[[], T]) -> T:
        """Ask the service, again where that may help.

        Raises:
            TargetError: it cannot help, or has not.
        """
        tries = 0
        while True:
            try:
                return ask()
            except TargetError as error:
                tries += 1
                if not error.retryable or tries >= MAX_TRIES:
                    raise
                self._pause(tries, error)

    def _pause(self, tries: int, error: TargetError) -> None:
        seconds = retry_seconds(error, tries, self._settings.backoff_seconds)
        logger.info("%s Asking again in %.1f s.", error, seconds)
        self._wait(seconds)

    def _wait(self, seconds: float) -> None:
        if self._stopping.wait(seconds):
            raise _StoppedError


class _StoppedError(Exception):
    """The run stops; nothing is wrong."""
