"""Asks a target all prompts of an audit: bounded threads, three tries, short appends to the ledger."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import queue
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from collector.answers import Answer, load_rules, storable
from collector.errors import LedgerError, TargetError
from collector.ledger import Ledger, LedgerLockedError
from collector.progress import progress
from collector.prompts import Prompt, build_prompts
from collector.rows import ResponseRow, RunRow, response_hash, utc_now
from collector.summary import RunSummary, all_versions, new_run_id
from collector.targets.base import Reply, Request, Target

if TYPE_CHECKING:
    from collector.spec import Audit

MAX_ATTEMPTS = 3
FLUSH_ROWS = 200
FLUSH_SECONDS = 2.0
BACKOFF_SECONDS = 0.5
MAX_BACKOFF_SECONDS = 60.0
LOCK_PATIENCE_SECONDS = 120.0
# So many failures in a row mean that the target is down, and asking on would only fill the ledger with errors.
MAX_FAILURES_IN_A_ROW = 20

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Task:
    prompt: Prompt
    trial: int


@dataclass(frozen=True, slots=True)
class _Attempted:
    """One attempt's row; `is_last` says that its trial is done, `stop` why no further question makes sense."""

    row: ResponseRow
    is_last: bool
    stop: TargetError | None = None


def collect(
    audit: Audit,
    target: Target,
    ledger_path: Path,
    *,
    variants: Sequence[str] = (),
    parts: Sequence[str] = (),
    trials: int | None = None,
    seed: int = 0,
    show_progress: bool | None = None,
    versions: Mapping[str, str] | None = None,
    backoff_seconds: float = BACKOFF_SECONDS,
    lock_patience_seconds: float = LOCK_PATIENCE_SECONDS,
) -> RunSummary:
    """Ask a target every prompt of an audit and keep what comes back.

    Args:
        audit: the spec.
        target: whom to ask.
        ledger_path: the ledger, made if absent.
        variants: mitigations asked beside the plain audit.
        parts: parts of the audit asked beside the templates that are in none.
        trials: how often each prompt is asked, in place of the spec's number; a template's own number stays.
        seed: sets the order of questions and each request's seed; stored with the run.
        show_progress: None shows a bar on a terminal only.
        versions: what to store as versions beside Python's and DuckDB's.
        backoff_seconds: pause after a failed attempt; it doubles, and a target's own wish (Retry-After) goes before it.
        lock_patience_seconds: how long to go on while another process has the ledger open.

    Raises:
        InputError: an unknown variant or part, a spec without templates, fewer than one trial.
        LedgerError: the ledger cannot be used; the message says what was answered and could not be written.
        TargetError: the target cannot be asked at all; what was answered before is in the ledger.
        KeyboardInterrupt: on Ctrl-C, after writing what was answered; the message says how much that is.
    """
    if trials is not None:
        audit = audit.with_trials(trials)
    prompts = build_prompts(audit, variants, parts)
    if len({prompt.prompt_id for prompt in prompts}) < len(prompts):
        raise LedgerError(
            "Two prompts of this audit share a prompt_id, so their answers could not be told apart."
        )
    n_trials = [audit.trials_of(prompt.template) for prompt in prompts]
    started, started_at = time.monotonic(), utc_now()
    run = RunRow(
        run_id=new_run_id(audit.audit, target.name, started_at),
        audit=audit.audit,
        spec=audit.asked(),
        target=target.name,
        target_kind=target.kind,
        is_simulated=target.is_simulated,
        model_asked=target.model,
        parameters=target.parameters,
        answer_rules_version=load_rules().version,
        versions=all_versions(versions),
        origin="collected",
        started_at=started_at,
    )
    ledger = Ledger(ledger_path)
    ledger.create()
    with ledger.append() as append:
        append.reading(audit.audit, audit.reading_document())
        append.relevance(audit.relevance_hash, audit.relevance_rows)
        append.markers(audit.markers_hash, audit.marker_rows, audit.probe_rows)
        append.run(run)
        detail = {
            "prompts": len(prompts),
            "trials": audit.trials,
            "variants": list(dict.fromkeys(variants)),
            "parts": list(dict.fromkeys(parts)),
            "seed": seed,
        }
        append.event(run.run_id, "started", {**detail, "concurrency": target.concurrency})
        append.prompts(run.run_id, prompts)

    sink = _Sink(ledger, run.run_id, lock_patience_seconds)
    workers = _Workers(audit, target, seed, backoff_seconds)
    total = sum(n_trials)
    counts: Counter[str] = Counter()
    try:
        with progress(total, f"{audit.audit} → {target.name}", show_progress) as advance:
            for attempted in workers.run(_tasks(prompts, n_trials, seed)):
                if attempted is not None:
                    sink.add(attempted.row)
                    if attempted.is_last:
                        counts[attempted.row.status] += 1
                    advance(counts.total(), counts.total() - counts["ok"])
                sink.flush_if_due()
        sink.flush()
    except BaseException as error:
        # Whatever happened, what was answered is written first; and an interrupt says how far it got.
        for late in workers.stop():
            sink.add(late.row)
            counts[late.row.status] += late.is_last
        sink.flush_after_failure(error, counts)
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(
                f"Interrupted: run {run.run_id} keeps {counts.total()} of {total} responses; {workers.in_flight} more were "
                f"asked and not waited for."
            ) from None
        raise
    with ledger.append(wait_seconds=lock_patience_seconds) as append:
        append.event(run.run_id, "finished", {"responses": counts.total(), "counts": dict(counts)})
    return RunSummary(
        run_id=run.run_id,
        audit=audit.audit,
        target=target.name,
        is_simulated=target.is_simulated,
        n_prompts=len(prompts),
        n_responses=counts.total(),
        n_attempts=sink.seq,
        counts=dict(counts),
        seconds=time.monotonic() - started,
        warnings=tuple(audit.warnings()),
    )


def _tasks(prompts: Sequence[Prompt], trials: Sequence[int], seed: int) -> Iterator[_Task]:
    """Yield each prompt as often as asked, in a random order that the seed fixes, so that drift hits all groups alike."""
    tasks = [
        _Task(prompt, trial)
        for prompt, n_trials in zip(prompts, trials, strict=True)
        for trial in range(1, n_trials + 1)
    ]
    random.Random(seed).shuffle(tasks)
    yield from tasks


def request_seed(run_seed: int, prompt_hash: str, trial: int, attempt: int) -> int:
    """Return a seed of 31 bits that differs by run seed, prompt, trial and attempt, and is the same every time."""
    text = f"{run_seed}/{prompt_hash}/{trial}/{attempt}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


class _Sink:
    """Numbers rows, holds them back until a batch is due, and writes each batch in one short append."""

    def __init__(self, ledger: Ledger, run_id: str, patience_seconds: float) -> None:
        self.seq = 0
        self._ledger = ledger
        self._run_id = run_id
        self._patience_seconds = patience_seconds
        self._rows: list[ResponseRow] = []
        self._next_flush = time.monotonic() + FLUSH_SECONDS
        self._locked_since: float | None = None

    def add(self, row: ResponseRow) -> None:
        self.seq += 1
        row.seq = self.seq
        self._rows.append(row)

    def flush_if_due(self) -> None:
        """Write if a batch is full or old enough; while the ledger is locked, keep the rows and try again later."""
        now = time.monotonic()
        is_full = len(self._rows) >= FLUSH_ROWS and self._locked_since is None
        if not self._rows or not (is_full or now >= self._next_flush):
            return
        try:
            self._write(wait_seconds=0)
        except LedgerLockedError as error:
            if self._locked_since is None:
                self._locked_since = now
            if now - self._locked_since >= self._patience_seconds:
                raise self._not_written(error) from None
            self._next_flush = time.monotonic() + FLUSH_SECONDS / 4

    def flush(self) -> None:
        """Write everything, waiting for a locked ledger as long as patience allows."""
        try:
            self._write(wait_seconds=self._patience_seconds)
        except LedgerLockedError as error:
            raise self._not_written(error) from None

    def flush_after_failure(self, cause: BaseException, counts: Mapping[str, int]) -> None:
        """Write what is left and the failed event. A ledger that stays locked is the error that has to be told."""
        # A ledger that has been waited for in vain already is not waited for again.
        patience = 0.0 if isinstance(cause, LedgerError) else self._patience_seconds
        reason = "interrupted" if isinstance(cause, KeyboardInterrupt) else str(cause) or type(cause).__name__
        try:
            with self._ledger.append(wait_seconds=patience) as append:
                # The interrupt may have come between a commit and its return.
                written = append.last_seq(self._run_id)
                append.responses(self._run_id, [row for row in self._rows if row.seq > written])
                append.event(
                    self._run_id,
                    "failed",
                    {"reason": reason, "counts": {name: n for name, n in counts.items() if n}},
                )
        except LedgerLockedError as error:
            raise self._not_written(error) from None
        self._rows = []

    def _write(self, *, wait_seconds: float) -> None:
        if self._rows:
            with self._ledger.append(wait_seconds=wait_seconds) as append:
                append.responses(self._run_id, self._rows)
        self._rows = []
        self._locked_since = None
        self._next_flush = time.monotonic() + FLUSH_SECONDS

    def _not_written(self, error: LedgerLockedError) -> LedgerError:
        return LedgerError(
            f"{error} Run {self._run_id}: {len(self._rows)} answered rows could not be written and are lost."
        )


class _Workers:
    """Threads that ask. Both queues are short, so that neither tasks nor answers pile up in memory."""

    def __init__(self, audit: Audit, target: Target, seed: int, backoff_seconds: float) -> None:
        self._audit = audit
        self._target = target
        self._seed = seed
        self._backoff_seconds = backoff_seconds
        self._stopping = threading.Event()
        self._tasks: queue.Queue[_Task | None] = queue.Queue()
        self._attempts: queue.Queue[_Attempted | BaseException] = queue.Queue()
        self.in_flight = 0

    def run(self, tasks: Iterator[_Task]) -> Iterator[_Attempted | None]:
        """Yield each attempt as it is made, and None now and then so that the caller can write meanwhile.

        Raises:
            TargetError: no further question makes sense.
        """
        capacity = 2 * self._target.concurrency
        for number in range(self._target.concurrency):
            # Daemons: an interrupted run does not wait for answers that may take a minute.
            threading.Thread(target=self._work, name=f"ask-{number + 1}", daemon=True).start()
        failures_in_a_row = 0
        exhausted = False
        while True:
            while not exhausted and self.in_flight < capacity:
                task = next(tasks, None)
                if task is None:
                    exhausted = True
                else:
                    self._tasks.put(task)
                    self.in_flight += 1
            if exhausted and self.in_flight == 0:
                break
            try:
                result = self._attempts.get(timeout=FLUSH_SECONDS / 4)
            except queue.Empty:
                yield None
                continue
            if isinstance(result, BaseException):
                raise result
            self.in_flight -= result.is_last
            yield result
            if result.stop is not None:
                raise result.stop
            if result.is_last:
                failures_in_a_row = failures_in_a_row + 1 if result.row.status == "error" else 0
            if failures_in_a_row >= max(MAX_FAILURES_IN_A_ROW, capacity):
                raise TargetError(
                    f"{failures_in_a_row} questions in a row failed, so the run stops: {result.row.error}"
                )
        self.stop()

    def stop(self) -> list[_Attempted]:
        """Tell the threads to end; return what they had answered and nobody had taken."""
        self._stopping.set()
        with contextlib.suppress(queue.Empty):
            # What nobody has begun to ask is not in flight.
            while self._tasks.get_nowait() is not None:
                self.in_flight -= 1
        for _ in range(self._target.concurrency):
            self._tasks.put(None)
        late: list[_Attempted] = []
        while True:
            try:
                result = self._attempts.get_nowait()
            except queue.Empty:
                return late
            if isinstance(result, _Attempted):
                self.in_flight -= result.is_last
                late.append(result)

    def _work(self) -> None:
        while not self._stopping.is_set():
            task = self._tasks.get()
            if task is None:
                return
            try:
                for attempted in self._attempts_of(task):
                    self._attempts.put(attempted)
            except BaseException as error:  # noqa: BLE001 (a thread's error has to reach the caller, whatever it is)
                self._attempts.put(error)
                return

    def _attempts_of(self, task: _Task) -> Iterator[_Attempted]:
        """Ask up to three times: again after a malformed answer, a failure that may pass, or a short list where the audit
        says so; never after any other.
        """
        for attempt in range(1, MAX_ATTEMPTS + 1):
            is_final = attempt == MAX_ATTEMPTS or self._stopping.is_set()
            row = self._row(task, attempt)
            request = Request(
                prompt_text=task.prompt.prompt_text or "",
                system_prompt=task.prompt.system_prompt,
                trial=task.trial,
                seed=request_seed(self._seed, task.prompt.content_hash, task.trial, attempt),
            )
            try:
                reply = self._target.ask(request)
            except TargetError as error:
                is_last = is_final or not error.retryable
                self._fill_error(row, task, error)
                yield _Attempted(row, is_last, stop=error if error.stops_run else None)
                if is_last:
                    return
                self._pause(attempt, error)
                continue
            answer = self._fill(row, task, reply)
            is_last = is_final or not (answer.status == "malformed" or self._is_too_short(answer))
            yield _Attempted(row, is_last)
            if is_last:
                return

    def _pause(self, attempt: int, error: TargetError) -> None:
        seconds = error.retry_after_seconds
        if seconds is None:
            # Jitter, so that the threads do not all come back at the same moment.
            seconds = self._backoff_seconds * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)
        logger.info("%s Asking again in %.1f s.", error, min(seconds, MAX_BACKOFF_SECONDS))
        self._stopping.wait(min(seconds, MAX_BACKOFF_SECONDS))

    def _row(self, task: _Task, attempt: int) -> ResponseRow:
        return ResponseRow(
            prompt_id=task.prompt.prompt_id,
            trial=task.trial,
            attempt=attempt,
            seq=0,
            status="error",
            content_hash="",
            requested_at=utc_now(),
        )

    def _is_too_short(self, answer: Answer) -> bool:
        """Whether an answer is a good list that the audit wants longer; it is kept as it is, and the last one counts."""
        expected = self._audit.answer
        return (
            expected.short == "ask_again"
            and expected.k is not None
            and answer.n_items is not None
            and answer.n_items < expected.k
        )

    def _fill(self, row: ResponseRow, task: _Task, reply: Reply) -> Answer:
        text = storable(reply.text) if reply.text is not None else None
        answer = self._audit.answer.classify(text, reply.finish_reason, task.prompt.candidates)
        row.status, row.answer_text, row.error = answer.status, _storable(answer.answer_text), answer.error
        row.response_text = text
        row.raw_body = _storable(reply.raw_body)
        row.finish_reason = _storable(reply.finish_reason)
        row.model_answered = _storable(reply.model_answered)
        row.prompt_tokens, row.completion_tokens = reply.prompt_tokens, reply.completion_tokens
        row.latency_ms = reply.latency_ms
        row.content_hash = response_hash(task.prompt.content_hash, row.status, row.response_text)
        return answer

    def _fill_error(self, row: ResponseRow, task: _Task, error: TargetError) -> None:
        row.error = _storable(str(error))
        row.raw_body = _storable(error.raw_body)
        row.content_hash = response_hash(task.prompt.content_hash, row.status, None)


def _storable(text: str | None) -> str | None:
    return None if text is None else storable(text)
