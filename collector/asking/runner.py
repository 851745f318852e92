"""Collect a run: write the journal first, the ledger second; a stopped run can be resumed."""

from __future__ import annotations

import contextlib
import logging
import random
import time
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from collector.answers.replies import load_rules
from collector.asking.askers import Askers, AskSettings, Task
from collector.asking.attempts import AttemptResult
from collector.asking.batch import MAX_POLL_SECONDS, BatchAskers
from collector.asking.breaker import MAX_UNUSABLE, USABLE, Breaker, Usability
from collector.asking.costs import CostMeter
from collector.asking.journal_queue import JournalQueue
from collector.asking.progress import progress
from collector.asking.resuming import (
    RunState,
    TrialProgress,
    require_complete,
    require_same_ledger,
    require_same_target,
)
from collector.errors import InputError, LedgerError, RateLimitTimeoutError, TargetError, UnusableError
from collector.journal.reader import journal_path
from collector.journal.records import AnalysisSettings
from collector.journal.writer import JournalWriter
from collector.ledger.database import Ledger, LedgerLockedError
from collector.ledger.following import LedgerFollower
from collector.ledger.summary import RunSummary, all_versions, new_run_id
from collector.rows import INTERRUPTED, RunRow, utc_now
from collector.spec.prompts import build_prompts, turns_of
from collector.targets.batching import batch_interface
from collector.targets.chat import require_temperature

if TYPE_CHECKING:
    from collector.spec.audit import Audit
    from collector.spec.prompts import Prompt
    from collector.targets.base import Target

BACKOFF_SECONDS = 0.5
# Nothing is lost if the ledger stays locked: the next build loads it.
LOCK_PATIENCE_SECONDS = 30.0
# A run that ends early does not wait for answers that may take a minute, but those that come soon are paid for.
GRACE_SECONDS = 2.0
INTERRUPT_PATIENCE_SECONDS = 2.0
POLL_SECONDS = 0.25
# How many answers of a simulated target or a batch may be written and not on disk.
MOST_UNSYNCED = 1000
# Stop after the service has refused every request for this long; the user can resume.
GIVE_UP_SECONDS = 3600.0
# Statuses that mean a wrong address, model or parameter. A run cannot change these, so it cannot be resumed; a wrong key can be
# fixed and the run resumed.
_WRONG_QUESTION = frozenset({400, 404, 405, 413, 415, 422})

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CollectOptions:
    """How to collect: options that do not change the questions.

    Attributes:
        show_progress: None shows a bar on a terminal only.
        versions: what to store as versions next to Python's and DuckDB's.
        meter: adds up what the run costs, and ends it before a question that might cost too much; None for neither.
        backoff_seconds: pause after a failed attempt; it doubles, and a target's own wish (Retry-After) goes before it.
        lock_patience_seconds: how long to wait at the end while another process has the ledger open.
        poll_seconds: of a batch, the longest pause between two looks at it.
        give_up_seconds: how long the target may refuse everything, after the first pause that it names, before the run stops; it
            can be resumed.
        max_unusable: after so many questions, of whose replies none could be used, the run stops; 0 for never.
    """

    show_progress: bool | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    meter: CostMeter | None = None
    backoff_seconds: float = BACKOFF_SECONDS
    lock_patience_seconds: float = LOCK_PATIENCE_SECONDS
    poll_seconds: float = MAX_POLL_SECONDS
    give_up_seconds: float = GIVE_UP_SECONDS
    max_unusable: int = MAX_UNUSABLE


DEFAULTS = CollectOptions()


def collect(
    audit: Audit,
    target: Target,
    ledger_path: Path,
    options: CollectOptions = DEFAULTS,
    *,
    mitigations: Sequence[str] = (),
    parts: Sequence[str] = (),
    trials: int | None = None,
    seed: int = 0,
    batch: bool = False,
) -> RunSummary:
    """Ask a target every prompt of an audit and keep what comes back.

    Args:
        audit: the spec.
        target: the system to ask.
        ledger_path: the ledger, made if absent; the journal is next to it, see `journal_path`.
        options: how to collect.
        mitigations: mitigations asked next to the plain audit.
        parts: parts of the audit asked next to the templates that are in none.
        trials: how often each prompt is asked, in place of the spec's number; a template's own number stays.
        seed: sets the order of questions and each request's seed; stored with the run.
        batch: ask through the target's batch interface, which may take a day; an ended process is resumed like any other.

    Raises:
        InputError: an unknown mitigation or part, a spec without templates, fewer than one trial, a target without batches
            or with another temperature than the audit's.
        LedgerError: the journal cannot be written, or the ledger is none; what was kept before is safe.
        TargetError: the target cannot be asked at all; what was answered before is kept. A RateLimitTimeoutError: it only
            refused.
        KeyboardInterrupt: on Ctrl-C, after keeping what was answered; the message says how much that is.
    """
    if batch:
        batch_interface(target)  # before anything is made for a target that has none
    require_temperature(target, audit.temperature)
    if trials is not None:
        audit = audit.with_trials(trials)
    prompts = build_prompts(audit, mitigations, parts)
    if len({prompt.prompt_id for prompt in prompts}) < len(prompts):
        raise LedgerError(
            "Two prompts of this audit share a prompt_id, so their answers could not be distinguished."
        )
    _require_conversations(prompts, target, batch=batch)
    started_at = utc_now()
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
        versions=all_versions(options.versions),
        origin="collected",
        started_at=started_at,
    )
    trials_of = {prompt.template: audit.trials_of(prompt.template) for prompt in prompts}
    started = {
        "ledger": ledger_path.name,
        "prompts": len(prompts),
        "planned": sum(trials_of[prompt.template] * prompt.n_turns for prompt in prompts),
        "trials": audit.trials,
        "trials_of": trials_of,
        "mitigations": list(dict.fromkeys(mitigations)),
        "parts": list(dict.fromkeys(parts)),
        "seed": seed,
        "concurrency": target.concurrency,
        **({"batch": True} if batch else {}),
    }
    analysis = AnalysisSettings(
        audit.audit,
        audit.analysis_document(),
        started_at,
        audit.relevance_hash,
        audit.relevance_rows,
        audit.markers_hash,
        audit.marker_rows,
        audit.probe_rows,
    )
    ledger = _writable(ledger_path)
    state = RunState(run, started, prompts, meter=options.meter or CostMeter(None))
    if batch:
        state.meter.ask_in_batches()
    with JournalWriter.create(
        journal_path(ledger_path, run.run_id), run, analysis, prompts, started
    ) as writer:
        return _Collection(state, target, writer, ledger, options).collect(audit.warnings())


def resume(
    run_id: str,
    target: Target,
    ledger_path: Path,
    options: CollectOptions = DEFAULTS,
    *,
    retry_failed: bool = False,
) -> RunSummary:
    """Continue a run; everything except the target comes from its journal.

    Args:
        run_id: the run.
        target: the one the run was begun with; only how fast it may be asked can have changed.
        ledger_path: the ledger; the journal is next to it.
        options: how to collect; the cost is that of the whole run.
        retry_failed: also ask again where the last attempt brought no answer, or where the batch with the question is gone.

    Returns:
        A summary of the whole run, with a warning if it was complete before.

    Raises:
        InputError: there is no such journal, another process is writing it, it is another ledger's, or the target has other
            settings.
        LedgerError, TargetError, KeyboardInterrupt: as `collect`.
    """
    state = RunState(meter=options.meter or CostMeter(None))
    with JournalWriter.resume(journal_path(ledger_path, run_id), state.visit) as writer:
        run = require_complete(state, run_id)
        require_same_ledger(state, run_id, ledger_path)
        require_same_target(run, target)
        ledger = _writable(ledger_path)
        warnings = []
        if retry_failed:
            state.reopen_failed()
        if _remembers(target):
            state.reopen_begun()
        n_done = state.counts().total()
        if n_done == sum(state.trials()) and state.is_finished:
            warnings.append(f"Run {run_id} was complete before, so nothing was asked.")
        else:
            now = {"answer_rules_version": load_rules().version, "versions": all_versions(options.versions)}
            writer.event("resumed", {"kept": n_done, "concurrency": target.concurrency, **now})
            state.is_finished = False
            if now["answer_rules_version"] != run.answer_rules_version:
                warnings.append(
                    f"Run {run_id} was begun with version {run.answer_rules_version} of the rules that read answers and goes on "
                    f"with {now['answer_rules_version']}; answers of both may differ in status."
                )
        return _Collection(state, target, writer, ledger, options).collect(warnings)


class _Collection:
    """Collects a run in this process: all of it, or the remaining trials.

    Args:
        state: the run as far as its journal goes.
        target: the system to ask.
        writer: the journal.
        ledger: the ledger.
        options: how to collect.
    """

    def __init__(
        self,
        state: RunState,
        target: Target,
        writer: JournalWriter,
        ledger: Ledger,
        options: CollectOptions,
    ) -> None:
        assert state.run is not None
        self._run = state.run
        self._state = state
        self._target = target
        self._writer = writer
        self._options = options
        self._counts = state.counts()
        # How many of the trials kept last have failed.
        self._n_failed_last = 0
        self._planned = sum(state.trials())
        self._resume_command = f"biasledger collect --resume {self._run.run_id}"
        # Results of a batch come sorted by success or in any order, and all of them are there already.
        self._breaker = None if state.is_batch else Breaker(target.concurrency)
        has_usable = any(self._counts[status] for status in USABLE)
        self._usability = Usability(has_usable=has_usable, most=options.max_unusable)
        self._batches = batch_interface(target) if state.is_batch else None
        self._meter = state.meter
        self._follower = LedgerFollower(writer.path, ledger, lambda: writer.mark.offset)

    def collect(self, warnings: Sequence[str]) -> RunSummary:
        """Ask the remaining trials and store the answers; `warnings` go into the summary."""
        started = time.monotonic()
        stopped = None
        try:
            self._follower.start()
            if not self._state.is_finished:
                stopped = self._ask()
            problem = self._follower.finish(self._options.lock_patience_seconds)
        finally:
            self._follower.stop()
        warnings = [
            *warnings,
            *_model_warnings(self._state.models),
            *self._state.unknown_reasons.sentences(),
            *self._failure_warnings(),
        ]
        if problem is not None:
            warnings.append(
                f"{problem} All of run {self._run.run_id} is in the journal; the next build loads it."
            )
        return RunSummary(
            run_id=self._run.run_id,
            audit=self._run.audit,
            target=self._run.target,
            is_simulated=self._run.is_simulated,
            n_prompts=len(self._state.prompts),
            n_responses=self._counts.total(),
            n_attempts=self._writer.n_responses,
            counts=dict(self._counts),
            seconds=time.monotonic() - started,
            warnings=tuple(warnings),
            seal=self._writer.seal,
            cost_usd=self._meter.cost_usd,
            asked_again=self._state.asked_again.sentence(self._state.prompts),
            stopped=stopped,
        )

    def _failure_warnings(self) -> list[str]:
        n_failed = self._counts["error"]
        if not n_failed:
            return []
        what = "One question" if n_failed == 1 else f"{n_failed:,} questions"
        how = f"{self._resume_command} --retry-failed"
        return [f"{what} got no answer; raw.responses says why, and this asks again: {how}"]

    def _ask(self) -> str | None:
        """Ask what is left; return why not all of it was asked, None if it was."""
        # A lost answer can be fetched again free of charge if the target is simulated or the batch service still has it.
        is_free = self._batches is not None or self._target.is_simulated
        most_unsynced = MOST_UNSYNCED if is_free else 2 * self._target.concurrency
        journal_queue = JournalQueue(self._writer, most_unsynced, self._counts)
        askers = self._askers(journal_queue)
        label = f"{self._run.audit} → {self._run.target}"
        n_before = self._counts.total()
        try:
            with progress(self._planned, label, self._options.show_progress, n_before) as advance:
                askers.start()
                for group in journal_queue.synced_groups(POLL_SECONDS):
                    stop = self._take(group or ()) or self._rate_limit_timeout(askers)
                    n_done = self._counts.total()
                    advance(n_done, n_done - self._counts["ok"], self._meter.cost_usd, askers.pause())
                    if stop is not None:
                        raise stop
        except BaseException as error:
            try:
                self._shut_down(error, askers, journal_queue)
            except KeyboardInterrupt:
                # After a second interrupt, stop waiting and say how to continue.
                raise KeyboardInterrupt(self._interrupted(askers.n_in_flight)) from None
            if isinstance(journal_queue.failure, LedgerError):
                raise LedgerError(
                    f"{journal_queue.failure} Run {self._kept_clause(self._counts.total())}."
                ) from error
            if isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt(self._interrupted(askers.n_in_flight)) from None
            if isinstance(error, TargetError):
                raise self._stopped_by(error) from error
            raise
        journal_queue.close()
        stopped = None
        if askers.is_out_of_budget:
            stopped = self._meter.refusal(self._run.run_id)
        elif self._counts.total() < self._planned:
            stopped = f"Run {self._kept_clause(self._counts.total())} and does not know why; go on with: {self._resume_command}"
        counts = {"responses": self._counts.total(), "counts": dict(self._counts)}
        if stopped is None:
            self._writer.event("finished", counts)
        else:
            self._writer.event("stopped", {"reason": stopped, **counts})
        return stopped

    def _askers(self, journal_queue: JournalQueue) -> Askers | BatchAskers:
        settings = AskSettings(
            self._state.answer_form(),
            self._state.started["seed"],
            self._options.backoff_seconds,
            self._meter,
            self._run.run_id,
        )
        tasks = _tasks(self._state)
        if self._batches is None:
            return Askers(self._target, settings, tasks, journal_queue)
        return BatchAskers(
            self._batches,
            settings,
            tasks,
            journal_queue,
            log=self._state.batches,
            writer=self._writer,
            usability=self._usability,
            poll_seconds=self._options.poll_seconds,
        )

    def _take(self, group: Sequence[AttemptResult]) -> TargetError | None:
        """Look at what was kept; return the error that ends the run, None to go on."""
        stop = None
        for result in group:
            row, error = result.row, result.error
            self._state.note(row)
            if not result.is_asked:
                continue
            if self._breaker is not None and error is not None and (row.is_last or error.stops_run):
                stop = stop or self._breaker.failed(error)
            elif self._breaker is not None and row.is_last:
                self._breaker.answered()
            if self._breaker is not None and row.is_judged is not False:
                stop = stop or self._usability.replied(row)
            if row.is_last:
                self._n_failed_last = self._n_failed_last + 1 if row.status == "error" else 0
        return stop

    def _rate_limit_timeout(self, askers: Askers | BatchAskers) -> TargetError | None:
        """Return the error that ends a run whose target has only refused for too long; None to go on."""
        if askers.refused_seconds() < self._options.give_up_seconds:
            return None
        pause = askers.pause()
        why = "" if pause is None else f" {pause.reason}"
        return RateLimitTimeoutError(
            f"{self._target.name} has refused everything for {askers.refused_seconds() / 60:,.1f} minutes, so the run stops "
            f"(--give-up-after).{why}",
            stops_run=True,
        )

    def _shut_down(
        self, error: BaseException, askers: Askers | BatchAskers, journal_queue: JournalQueue
    ) -> None:
        """Store the answers first, after any error; then record the error in the journal and the ledger."""
        is_interrupt = isinstance(error, KeyboardInterrupt)
        askers.stop()
        if is_interrupt or isinstance(error, TargetError):
            askers.wait(GRACE_SECONDS)
        self._take(journal_queue.close())
        reason = INTERRUPTED if is_interrupt else self._reason(error)
        counts = {status: n for status, n in self._counts.items() if n}
        # A journal that cannot be written is the error itself, and has its sentence already.
        with contextlib.suppress(LedgerError):
            detail = {"reason": reason, "counts": counts, "by_target": isinstance(error, TargetError)}
            self._writer.event("failed", detail)
        patience = min(INTERRUPT_PATIENCE_SECONDS, self._options.lock_patience_seconds)
        problem = self._follower.finish(patience if is_interrupt else self._options.lock_patience_seconds)
        if problem is not None:
            logger.warning("%s The answers so far are in the journal; the next build loads them.", problem)

    def _reason(self, error: BaseException) -> str:
        """Return the detail of an error for an event: without a target's own words, which could not be erased with its answer."""
        if isinstance(error, TargetError) and (error.raw_body is not None or not self._state.is_batch):
            status = "" if error.status is None else f" (status {error.status})"
            return f"The target was given up{status}; the error of its last response says why."
        return str(error) or type(error).__name__

    def _kept_clause(self, n_kept: int) -> str:
        return f"{self._run.run_id} keeps {n_kept} of {self._planned} responses"

    def _interrupted(self, n_in_flight: int) -> str:
        return (
            f"Interrupted: run {self._kept_clause(self._counts.total())}; {n_in_flight} more were asked and not waited for. "
            f"Go on with: {self._resume_command}"
        )

    def _stopped_by(self, error: TargetError) -> TargetError:
        next_step = f"When that is put right, go on with: {self._resume_command}"
        if isinstance(error, UnusableError) or error.status in _WRONG_QUESTION:
            next_step = (
                f"The run keeps the spec and the settings that it was started with. After a change of the spec or of the target, "
                f"start a new run: biasledger collect AUDIT.yml --target {self._run.target}. If only the service was repaired, "
                f"go on with: {self._resume_command}"
            )
        return type(error)(
            f"{str(error).rstrip('.')}. Run {self._kept_clause(self._counts.total() - self._n_failed_last)}. {next_step}",
            stops_run=True,
            raw_body=error.raw_body,
            status=error.status,
        )


def _writable(ledger_path: Path) -> Ledger:
    """Return the ledger, created or migrated; a lock of another process is no error.

    Raises:
        LedgerError: it could never be written, which is better known before anything is asked.
    """
    ledger = Ledger(ledger_path)
    with contextlib.suppress(LedgerLockedError):
        ledger.create(wait_seconds=0)
    return ledger


def _require_conversations(prompts: Sequence[Prompt], target: Target, *, batch: bool) -> None:
    """Make sure that a target can be asked the conversations among prompts.

    Raises:
        InputError: it cannot, or not in batches.
    """
    turns = {turn for prompt in prompts if prompt.turns is not None for turn in turns_of(prompt.turns)}
    if not turns:
        return
    if batch:
        raise InputError("A conversation cannot be asked in a batch; leave --batch out.")
    has_fixed = any(len(turn.messages) > 1 for turn in turns)
    if getattr(target, "conversations", None) == "messages" or (_remembers(target) and not has_fixed):
        return
    what = "conversations with fixed answers" if _remembers(target) else "conversations"
    either = "" if has_fixed else " or conversation"
    ways = {
        "http": f"put {{messages}}{' or {conversation}' if either else ''} into its body or url",
        "python": f"let its function take messages{either}",
    }
    raise InputError(
        f"The audit asks {what}, and the target {target.name!r} is not given earlier messages: "
        f"{ways.get(target.kind, 'choose another one')}."
    )


def _remembers(target: Target) -> bool:
    """Return whether a target remembers a conversation: it may have received a question whose answer is not kept."""
    return getattr(target, "conversations", None) == "name"


def _tasks(state: RunState) -> Iterator[Task]:
    """Yield each trial that is not done, in a random order that the seed fixes, so that drift hits all groups alike.

    In a conversation, the first answer that is not done; a conversation that starts again has another name.
    """
    ends = list(
        accumulate(n // prompt.n_turns for n, prompt in zip(state.trials(), state.prompts, strict=True))
    )
    # Eight bytes a trial, however many there are.
    order = array("Q", range(ends[-1] if ends else 0))
    random.Random(state.started["seed"]).shuffle(order)
    for number in order:
        at = bisect_right(ends, number)
        prompt, place = state.prompts[at], number - (ends[at - 1] if at else 0)
        first = place * prompt.n_turns + 1
        kept = [
            state.kept.get((prompt.prompt_id, first + turn), TrialProgress())
            for turn in range(prompt.n_turns)
        ]
        attempts = tuple(one.attempts for one in kept)
        n_begun = attempts[0] if state.starts_again and not kept[0].is_done else 0
        task: Task | None = Task(prompt, first, attempts[0], later=attempts[1:], n_begun=n_begun)
        for one in kept:
            if task is not None and not one.is_done:
                yield task
                break
            task = task and task.next_turn(one.status, one.text, one.raw_body)


def _model_warnings(models: Counter[str]) -> list[str]:
    if len(models) < 2:
        return []
    named = ", ".join(f"{name} ({n:,} answers)" for name, n in sorted(models.items()))
    return [f"{len(models)} models answered in this run, though one was asked: {named}."]
