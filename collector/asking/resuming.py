"""The state of a run from its journal: its questions and target, the attempts so far, and the trials that are left."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from collector.answers.failures import UnknownReasons
from collector.asking.asked_again import AskedAgain
from collector.asking.attempts import charge, estimated_tokens, spoken
from collector.asking.batch_log import BatchLog
from collector.asking.costs import CostMeter
from collector.errors import InputError, LedgerError
from collector.hashing import canonical_json
from collector.journal.records import event_of, prompt_of, response_of, run_of
from collector.rows import NO_PROGRESS
from collector.spec.prompts import turns_of

if TYPE_CHECKING:
    from pathlib import Path

    from collector.journal.reader import Record
    from collector.rows import ResponseRow, RunRow
    from collector.spec.parts import Answer
    from collector.spec.prompts import Prompt
    from collector.targets.base import Target


@dataclass(slots=True)
class TrialProgress:
    """The attempts at one trial in a journal: how many, the status of the last one, and whether the trial is done.

    For a conversation that goes on, also the text and the raw body of the last one.
    """

    attempts: int = 0
    status: str = ""
    is_done: bool = False
    text: str | None = None
    raw_body: str | None = None


@dataclass(slots=True)
class RunState:
    """A run as far as its journal goes; give `visit` every record in order.

    Attributes:
        run: the run, None before its record was visited.
        started: the detail of its event 'started'.
        prompts: in the order in which they were made.
        kept: (prompt_id, trial) -> its attempts so far.
        meter: is charged with everything kept.
        models: how many answers each model gave, as far as the service names it.
        unknown_reasons: the finish reasons that no table knows.
        asked_again: the trials that were asked again.
        is_finished: its last event says that nothing is left to ask.
        is_retracted: it was retracted.
        starts_again: conversations that have not ended start again, because the target remembers what it was asked.
        batches: those begun, where it is asked by batch.
    """

    run: RunRow | None = None
    started: Mapping[str, Any] = field(default_factory=dict)
    prompts: list[Prompt] = field(default_factory=list)
    kept: dict[tuple[str, int], TrialProgress] = field(default_factory=dict)
    meter: CostMeter = field(default_factory=lambda: CostMeter(None))
    models: Counter[str] = field(default_factory=Counter)
    unknown_reasons: UnknownReasons = field(default_factory=UnknownReasons)
    asked_again: AskedAgain = field(default_factory=AskedAgain)
    is_finished: bool = False
    is_retracted: bool = False
    starts_again: bool = False
    batches: BatchLog = field(default_factory=BatchLog)
    _estimates: dict[str, int] = field(default_factory=dict)
    _by_id: dict[str, Prompt] = field(default_factory=dict)
    _failed_last: list[TrialProgress] = field(default_factory=list)

    def visit(self, record: Record) -> None:
        """Take in one record."""
        body = record.body
        if record.kind == "run":
            self.run = run_of(body)
        elif record.kind == "prompt":
            self.prompts.append(prompt_of(body))
            self._by_id[self.prompts[-1].prompt_id] = self.prompts[-1]
        elif record.kind == "response":
            self._visit_response(response_of(body))
        elif record.kind == "event":
            event = event_of(body)
            if event.event in NO_PROGRESS:
                return
            self.is_finished = event.event == "finished"
            self.is_retracted = self.is_retracted or event.event == "retracted"
            if event.detail.get("by_target"):
                # Trials that failed just before the target was given up are asked again.
                self._reopen(self._failed_last)
            self.batches.visit(event)
            if event.event == "started":
                self.started = event.detail
                if event.detail.get("batch"):
                    self.meter.ask_in_batches()

    def _visit_response(self, row: ResponseRow) -> None:
        kept = self.kept.setdefault((row.prompt_id, row.trial), TrialProgress())
        kept.attempts, kept.status, kept.is_done = row.attempt, row.status, row.is_last
        if kept.is_done and kept.status == "error":
            self._failed_last.append(kept)
        elif kept.is_done:
            self._failed_last.clear()
        # An answer without a text was paid for, too: one that was filtered, or thought about until it was cut off.
        if row.status != "error" or row.response_text is not None:
            charge(self.meter, row, self._estimated(row.prompt_id, row.trial))
        if row.turn is not None:
            self._visit_turn(kept, row)
        self.note(row)

    def note(self, row: ResponseRow) -> None:
        """Count an attempt's model, finish reason and whether it was asked again."""
        if row.model_answered is not None:
            self.models[row.model_answered] += 1
        self.unknown_reasons.note(row.finish_reason)
        self.asked_again.note(
            row.prompt_id, row.trial, status=row.status, read_by=row.read_by, is_last=row.is_last
        )

    def _visit_turn(self, kept: TrialProgress, row: ResponseRow) -> None:
        """Keep a conversation's texts until it ends, except erased ones."""
        kept.text, kept.raw_body = row.response_text, row.raw_body
        said = self._conversation(row.prompt_id, row.trial)
        is_over = kept.is_done and row.trial % self._by_id[row.prompt_id].n_turns == 0
        # One that failed may be asked again.
        if is_over and all(one.status != "error" for one in said):
            for one in said:
                one.text = one.raw_body = None

    def _conversation(self, prompt_id: str, trial: int) -> list[TrialProgress]:
        """Return the kept trials of a trial's conversation, up to it."""
        first = trial - (trial - 1) % self._by_id[prompt_id].n_turns
        trials = (self.kept.get((prompt_id, one)) for one in range(first, trial + 1))
        return [kept for kept in trials if kept is not None]

    def _estimated(self, prompt_id: str, trial: int) -> int:
        if not self._estimates:
            self._estimates = {prompt.prompt_id: estimated_tokens(prompt) for prompt in self.prompts}
        estimate = self._estimates.get(prompt_id, 0)
        if (prompt := self._by_id.get(prompt_id)) is None or prompt.turns is None:
            return estimate
        asked = turns_of(prompt.turns)[: (trial - 1) % prompt.n_turns + 1]
        said = [text for turn in asked for _, text in turn.messages]
        said += (
            [spoken(kept.text) for kept in self._conversation(prompt_id, trial - 1)] if len(asked) > 1 else []
        )
        return estimated_tokens(prompt, said)

    def counts(self) -> Counter[str]:
        """Return status -> number of trials that are done."""
        return Counter(kept.status for kept in self.kept.values() if kept.is_done)

    def reopen_failed(self) -> None:
        """Mark trials that ended without an answer as not done, so that they are asked again.

        Also allow batches that the service no longer knows to be submitted again.
        """
        self.batches.replaceable = frozenset(self.batches.pending)
        self._reopen(kept for kept in self.kept.values() if kept.status == "error")

    def reopen_begun(self) -> None:
        """Mark the answers of conversations that have not ended as not done, so that these start again."""
        self.starts_again = True
        for prompt in self.prompts:
            if prompt.turns is None:
                continue
            for first in range(
                1, self.started["trials_of"][prompt.template] * prompt.n_turns, prompt.n_turns
            ):
                said = self._conversation(prompt.prompt_id, first + prompt.n_turns - 1)
                is_over = len(said) == prompt.n_turns and all(kept.is_done for kept in said)
                if not is_over and all(spoken(kept.text) for kept in said if kept.is_done):
                    self._reopen(said)

    @staticmethod
    def _reopen(trials: Iterable[TrialProgress]) -> None:
        for kept in trials:
            kept.is_done = False

    def answer_form(self) -> Answer:
        """Return the form of answer expected, as frozen with the run."""
        from collector.spec.parts import Answer

        assert self.run is not None
        return Answer.model_validate(self.run.spec["answer"])

    @property
    def is_batch(self) -> bool:
        """Return whether the run is asked by batch."""
        return bool(self.started.get("batch"))

    def trials(self) -> list[int]:
        """Return how many answers each of the prompts gets."""
        return [int(self.started["trials_of"][prompt.template]) * prompt.n_turns for prompt in self.prompts]


def require_complete(state: RunState, name: str) -> RunRow:
    """Return a state's run.

    Raises:
        LedgerError: the journal's head is missing, is another run's, or holds other prompts than it says.
        InputError: the run was taken back.
    """
    if state.run is None or state.run.run_id != name or len(state.prompts) != state.started.get("prompts"):
        raise LedgerError(
            f"The journal of run {name} does not say all that was to be asked; it cannot be resumed."
        )
    if state.is_retracted:
        raise InputError(f"Run {name} was retracted, so nothing more is asked for it: collect a new one.")
    return state.run


def require_same_ledger(state: RunState, name: str, ledger_path: Path) -> None:
    """Make sure that a run goes on in the ledger that it was begun for, and not in another one next to its journal.

    Raises:
        InputError: the ledger has another name.
    """
    begun_for = state.started["ledger"]
    if begun_for != ledger_path.name:
        raise InputError(
            f"Run {name} was collected for the ledger {begun_for}, and this is {ledger_path.name}: name it with "
            f"--ledger {ledger_path.with_name(begun_for)}, or give the file its old name back."
        )


def require_same_target(run: RunRow, target: Target) -> None:
    """Make sure that a resumed run asks the same target in the same way; the speed may differ.

    Raises:
        InputError: a setting differs; names it and both values.
    """
    frozen = {
        "kind": run.target_kind,
        "model": run.model_asked,
        "simulated": run.is_simulated,
        **run.parameters,
    }
    now = {
        "kind": target.kind,
        "model": target.model,
        "simulated": target.is_simulated,
        # As they come back from JSON.
        **json.loads(canonical_json(target.parameters)),
    }
    for name in sorted(frozen.keys() | now.keys()):
        if frozen.get(name) != now.get(name):
            raise InputError(
                f"The target {run.target!r} has another {name} now ({_setting_text(now, name)}) than run {run.run_id} was "
                f"begun with ({_setting_text(frozen, name)}); put it back to go on, or collect a new run."
            )


def _setting_text(settings: Mapping[str, Any], name: str) -> str:
    return repr(settings[name]) if name in settings else "none"
