"""A second reader: a model extracts the decisions of answers that no rule reads.

What it reads is kept as an event at the end of the run's chain, beside the answer, and never replaces what a rule read. A sample
of answers that the rules did read is given to the same model, so that its agreement with the rules is known.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from collector.answers.decisions import read_label, read_score
from collector.answers.reasoning import split_reasoning
from collector.answers.turns import find_conversation
from collector.asking.costs import estimate_prompt_tokens, estimate_tokens
from collector.errors import InputError, TargetError
from collector.hashing import tagged_hash
from collector.ledger.events import keep_event
from collector.rows import READ

if TYPE_CHECKING:
    from collections.abc import Iterable

    from collector.asking.costs import CostMeter
    from collector.ledger.database import Ledger
    from collector.targets.base import Target

PROMPT = """Below is a reply to a question. Say which decision the reply states. Do not decide yourself, and do not guess.

Possible decisions: {decisions}

Answer with a JSON object and nothing else: {{"decision": <the decision>}}, or {{"decision": null}} if the reply states none, or
more than one without settling on one of them.

The reply, between the lines of equals signs:
==========
{reply}
=========="""
MAX_TRIES = 3
# {"decision": "…"} and what a model may think before it.
ANSWER_TOKENS = 30
# So many answers go into one event, so that little is lost where the reading is stopped.
BATCH = 200
_TO_READ = """
    select
        responses.run_id, prompt_id, trial, attempt, status, response_text, answer_text,
        json_extract(runs.spec, '$.answer') as answer
    from raw.kept_responses as responses
    inner join raw.kept_runs as runs on runs.run_id = responses.run_id
    where
        ($run_id is null or responses.run_id = $run_id)
        and status = $status
        and response_text is not null
        and json_extract_string(runs.spec, '$.answer.kind') in ('label', 'score')
        and (responses.run_id, prompt_id, trial, attempt) not in (
            select (run_id, listed.prompt_id, listed.trial, listed.attempt)
            from (
                select
                    run_id,
                    unnest(
                        from_json(
                            detail -> '$.readings', '[{"prompt_id": "VARCHAR", "trial": "INTEGER", "attempt": "INTEGER"}]'
                        )
                    ) as listed
                from raw.kept_run_events
                where event = $read and detail ->> '$.prompt_hash' = $prompt_hash and detail ->> '$.model' = $model
            )
        )
    order by runs.started_at, responses.run_id, seq
"""


@dataclass(frozen=True, slots=True)
class ToRead:
    """An answer for the second reader; `read` is what a rule read, None where none did."""

    run_id: str
    prompt_id: str
    trial: int
    attempt: int
    text: str
    read: str | None
    labels: tuple[str, ...]
    minimum: float
    maximum: float

    @property
    def prompt(self) -> str:
        """What the second reader is asked."""
        decisions = (
            " | ".join(self.labels) if self.labels else f"a number from {self.minimum:g} to {self.maximum:g}"
        )
        return PROMPT.format(decisions=decisions, reply=self.text)

    def decision_in(self, reply: str) -> str | None:
        """Return the decision that the second reader's reply states, None where it states none."""
        reply = split_reasoning(reply).answer
        if self.labels:
            return read_label(reply, self.labels, key="decision").value
        return read_score(reply, self.minimum, self.maximum, key="decision").value


@dataclass(slots=True)
class Reading:
    """What a second reader did.

    Attributes:
        n_unread: answers that it was given.
        n_read: those in which it found a decision.
        n_failed: those for which the target gave no reply.
        n_checked, n_agreed: answers that rules had read, and how many it read alike.
        cost_usd: what it cost; None where the price is not known.
        is_cut_off: whether the cost limit ended it.
    """

    n_unread: int = 0
    n_read: int = 0
    n_failed: int = 0
    n_checked: int = 0
    n_agreed: int = 0
    cost_usd: float | None = None
    is_cut_off: bool = False


def prompt_hash() -> str:
    """Return the tagged hash of the fixed prompt."""
    return tagged_hash(PROMPT)


def answers_to_read(
    ledger: Ledger, model: str, run_id: str | None, *, status: str = "unread"
) -> list[ToRead]:
    """Return the answers of a status that this model has not been given with this prompt, oldest run first.

    Args:
        ledger: the ledger.
        model: the second reader's model.
        run_id: only this run; None takes all.
        status: unread, or ok for answers that rules read.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    with ledger.read() as connection:
        rows = connection.execute(
            _TO_READ,
            {"run_id": run_id, "status": status, "read": READ, "prompt_hash": prompt_hash(), "model": model},
        ).fetchall()
    return [_to_read(*row) for row in rows]


def _to_read(
    run_id: str,
    prompt_id: str,
    trial: int,
    attempt: int,
    status: str,
    text: str,
    answer: str | None,
    form: Any,
) -> ToRead:
    asked = json.loads(form)
    conversation = find_conversation(text)
    judged = (conversation.answer(asked.get("turns", "last_assistant")) if conversation else None) or text
    return ToRead(
        run_id,
        prompt_id,
        trial,
        attempt,
        split_reasoning(judged).answer,
        answer if status == "ok" else None,
        tuple(asked.get("labels") or ()),
        float(asked.get("minimum") or 0),
        float(asked.get("maximum") or 0),
    )


def read_answers(
    ledger: Ledger,
    target: Target,
    unread: Sequence[ToRead],
    checked: Sequence[ToRead],
    meter: CostMeter,
    on_progress: Callable[[int], None] = lambda _n: None,
) -> Reading:
    """Have a target read answers, and keep what it reads as events of their runs.

    Args:
        ledger: the ledger.
        target: the second reader.
        unread: answers that no rule read.
        checked: answers that rules read, to measure its agreement with them.
        meter: adds up the cost, and ends the reading at its limit.
        on_progress: called with the number of answers done so far.

    Raises:
        TargetError: the target cannot be asked at all, as with a wrong key; what was read before is kept.
        InputError: a run is being collected.
        LedgerError: the ledger or a journal cannot be written.
    """
    done = Reading(n_unread=len(unread))
    by_run: dict[str, tuple[list[ToRead], list[ToRead]]] = defaultdict(lambda: ([], []))
    for one in unread:
        by_run[one.run_id][0].append(one)
    for one in checked:
        by_run[one.run_id][1].append(one)
    n_done = 0
    with ThreadPoolExecutor(max(1, target.concurrency)) as pool:
        for run_id, (to_read, to_check) in by_run.items():
            for batch in _batches([*to_read, *to_check]):
                found = [
                    one for one in pool.map(lambda one: _ask(target, one, meter), batch) if one is not None
                ]
                done.is_cut_off = done.is_cut_off or len(found) < len(batch)
                _keep(ledger, run_id, target, found, done)
                n_done += len(batch)
                on_progress(n_done)
                if done.is_cut_off:
                    break
            if done.is_cut_off:
                break
    done.cost_usd = meter.cost_usd
    return done


def _batches(answers: Sequence[ToRead]) -> Iterable[Sequence[ToRead]]:
    return (answers[start : start + BATCH] for start in range(0, len(answers), BATCH))


@dataclass(frozen=True, slots=True)
class _Found:
    answer: ToRead
    decision: str | None
    has_failed: bool = False


def _ask(target: Target, answer: ToRead, meter: CostMeter) -> _Found | None:
    """Ask about one answer; None where the cost limit forbids it."""
    from collector.targets.base import Request

    prompt = answer.prompt
    estimated = estimate_prompt_tokens(prompt, None)
    if not meter.reserve(estimated):
        return None
    try:
        for number in range(1, MAX_TRIES + 1):
            try:
                reply = target.ask(Request(prompt_text=prompt, trial=number))
            except TargetError as error:
                if error.stops_run:
                    raise
                continue
            text = reply.text or ""
            meter.charge(
                reply.prompt_tokens or estimated,
                reply.completion_tokens or estimate_tokens(text),
                estimated_prompt_tokens=estimated,
            )
            return _Found(answer, answer.decision_in(text))
        return _Found(answer, None, has_failed=True)
    finally:
        meter.release(estimated)


def _keep(ledger: Ledger, run_id: str, target: Target, found: Sequence[_Found], done: Reading) -> None:
    """Count what was found, and keep it as one event of the run."""
    answered = [one for one in found if not one.has_failed]
    done.n_failed += len(found) - len(answered)
    readings = [one for one in answered if one.answer.read is None]
    checks = [one for one in answered if one.answer.read is not None]
    agreed = [one for one in checks if one.decision == one.answer.read]
    done.n_read += sum(one.decision is not None for one in readings)
    done.n_checked += len(checks)
    done.n_agreed += len(agreed)
    if not answered:
        return
    detail = {
        "target": target.name,
        "model": target.model,
        "prompt_hash": prompt_hash(),
        "readings": [
            {
                "prompt_id": one.answer.prompt_id,
                "trial": one.answer.trial,
                "attempt": one.answer.attempt,
                "decision": one.decision,
            }
            for one in readings
        ],
        "n_checked": len(checks),
        "n_agreed": len(agreed),
    }
    keep_event(ledger, run_id, READ, detail)


def estimated_cost(answers: Iterable[ToRead], meter: CostMeter) -> float | None:
    """Return what reading would cost in USD, None where the price is not known."""
    tokens = [estimate_prompt_tokens(one.prompt, None) for one in answers]
    return meter.estimate(sum(tokens), len(tokens) * ANSWER_TOKENS)


def sample_to_check(answers: Sequence[ToRead], n: int, seed: int = 0) -> list[ToRead]:
    """Draw answers that rules read, as many of each decision as there are, up to n in all.

    Raises:
        InputError: n is negative.
    """
    if n < 0:
        raise InputError(f"The number of answers to check is {n}; it should be 0 or more.")
    by_decision: dict[str | None, list[ToRead]] = defaultdict(list)
    for one in random.Random(seed).sample(list(answers), len(answers)):
        by_decision[one.read].append(one)
    drawn: list[ToRead] = []
    while len(drawn) < min(n, len(answers)):
        drawn += [left.pop() for left in by_decision.values() if left]
    return drawn[:n]
