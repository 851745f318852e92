"""A second reader: a model extracts the decisions of answers that no rule reads.

Its readings are stored as events at the end of the run's chain, next to the answers, and never replace what a rule read. The same
model also reads a sample of each run's answers that the rules did read. Its decisions are used only where it agrees with the
rules
often enough, which the view raw.second_readers decides.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice, zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from collector.answers.decisions import read_label, read_score
from collector.answers.reasoning import split_reasoning
from collector.answers.turns import find_conversation
from collector.asking.costs import estimate_prompt_tokens
from collector.asking.single_questions import SingleQuestions, batches_of
from collector.errors import InputError
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
# {"decision": "…"} and what a model may think before it.
ANSWER_TOKENS = 30
# The number of answers in one event, so that little is lost if reading is stopped.
BATCH = 200
_FORMS = """
    select run_id, json_extract(spec, '$.answer')
    from raw.kept_runs
    where ($run_id is null or run_id = $run_id) and json_extract_string(spec, '$.answer.kind') in ('label', 'score')
"""
_TO_READ = """
    select
        responses.run_id, responses.prompt_id, trial, attempt, status, response_text, answer_text, subject, prompt_text
    from raw.kept_responses as responses
    inner join raw.kept_runs as runs on runs.run_id = responses.run_id
    inner join raw.kept_prompts as prompts
        on prompts.run_id = responses.run_id and prompts.prompt_id = responses.prompt_id
    where
        list_contains($run_ids, responses.run_id)
        and status = $status
        and response_text is not null
        and is_judged is not false
        and (responses.run_id, responses.prompt_id, trial, attempt) not in (
            select (run_id, listed.prompt_id, listed.trial, listed.attempt)
            from (
                select
                    run_id,
                    unnest(
                        from_json(
                            detail -> $list, '[{"prompt_id": "VARCHAR", "trial": "INTEGER", "attempt": "INTEGER"}]'
                        )
                    ) as listed
                from raw.kept_run_events
                where event = $read and detail ->> '$.prompt_hash' = $prompt_hash and detail ->> '$.model' = $model
            )
        )
    order by runs.started_at, responses.run_id, seq
"""
_AGREEMENTS = """
    select run_id, n_checked, n_agreed, n_checked_needed, cast(agreement_needed as double), is_used
    from raw.second_readers
    where model = $model and prompt_hash = $prompt_hash and ($run_id is null or run_id = $run_id)
    order by run_id
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
    form: Mapping[str, Any]
    options: Mapping[str, str]
    question: str | None

    @property
    def prompt(self) -> str:
        """The prompt for the second reader."""
        return PROMPT.format(decisions=self._decisions(), reply=self.text)

    def _decisions(self) -> str:
        if not self._labels:
            return _described_scale(self.form)
        named = [f"{one} ({self.options[one]})" if one in self.options else one for one in self._labels]
        listed = " | ".join(named)
        if not self.form.get("labels_from") or self.options or not self.question:
            return listed
        return f"{listed}, the options of this question:\n{self.question}"

    def decision_in(self, reply: str) -> str | None:
        """Return the decision that the second reader's reply states, None where it states none."""
        reply, form = split_reasoning(reply).answer, self.form
        if self._labels:
            return read_label(reply, self._labels, key="decision", options=self.options).value
        return read_score(
            reply,
            form.get("minimum") or 0.0,
            form.get("maximum") or 0.0,
            key="decision",
            points=form.get("points"),
            currency=form.get("currency"),
            per=form.get("per"),
        ).value

    @property
    def _labels(self) -> Sequence[str]:
        return self.form.get("labels") or ()


def _described_scale(form: Mapping[str, Any]) -> str:
    """Return the scale of a score in words, with its currency, its period and its named points."""
    currency = f", in {form['currency']}" if form.get("currency") else ""
    per = f", per {form['per']}" if form.get("per") else ""
    # Canonical JSON keeps keys in the order of the alphabet.
    in_order = sorted((form.get("points") or {}).items(), key=lambda point: point[1])
    points = ", ".join(f"{name} = {number:g}" for name, number in in_order)
    scale = f"a number from {form.get('minimum') or 0:g} to {form.get('maximum') or 0:g}"
    return f"{scale}{currency}{per}{f' ({points})' if points else ''}"


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of a second reader with the rules in a run, and whether its decisions are used.

    Attributes:
        run_id: the run.
        n_checked, n_agreed: answers that rules had read, and how many both read alike.
        n_needed, share_needed: how many must be checked, and which share of them read alike.
        is_used: whether its decisions are used.
    """

    run_id: str
    n_checked: int
    n_agreed: int
    n_needed: int
    share_needed: float
    is_used: bool

    @property
    def is_measured(self) -> bool:
        """Return whether enough answers were checked."""
        return self.n_checked >= self.n_needed

    def sentence(self) -> str:
        """Return how often the reader agreed, and what is lacking where its decisions are not used."""
        agreed = f"The second reader agreed with the rules on {self.n_agreed:,} of {self.n_checked:,} answers"
        if self.is_used:
            return f"{agreed}; its decisions are used."
        kept = f"{agreed}; its decisions are kept but not used"
        if not self.is_measured:
            return f"{kept}; at least {self.n_needed} answers that rules read must be checked."
        return f"{kept}; at least {100 * self.share_needed:.0f} % is needed."


@dataclass(slots=True)
class Reading:
    """The result of a second reader.

    Attributes:
        n_unread: the answers that it was given.
        n_read: those in which it found a decision.
        n_failed: those for which the target gave no reply.
        cost_usd: the cost; None if the price is not known.
        is_cut_off: whether the cost limit ended it.
    """

    n_unread: int = 0
    n_read: int = 0
    n_failed: int = 0
    cost_usd: float | None = None
    is_cut_off: bool = False


def prompt_hash() -> str:
    """Return the tagged hash of the fixed prompt."""
    return tagged_hash(PROMPT)


def agreements(ledger: Ledger, model: str, run_id: str | None) -> list[Agreement]:
    """Return how often a model that was asked with this prompt agrees with the rules, by run.

    Args:
        ledger: the ledger.
        model: the second reader's model.
        run_id: only this run; None takes all.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    with ledger.read() as connection:
        values = {"run_id": run_id, "model": model, "prompt_hash": prompt_hash()}
        return [Agreement(*row) for row in connection.execute(_AGREEMENTS, values).fetchall()]


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
        forms = {
            run: json.loads(form) for run, form in connection.execute(_FORMS, {"run_id": run_id}).fetchall()
        }
        rows = connection.execute(
            _TO_READ,
            {
                "run_ids": list(forms),
                "status": status,
                "list": "$.readings" if status == "unread" else "$.checks",
                "read": READ,
                "prompt_hash": prompt_hash(),
                "model": model,
            },
        ).fetchall()
    return [_to_read(forms[row[0]], *row) for row in rows]


def _to_read(
    form: Mapping[str, Any],
    run_id: str,
    prompt_id: str,
    trial: int,
    attempt: int,
    status: str,
    text: str,
    answer: str | None,
    subject: str | None,
    question: str | None,
) -> ToRead:
    conversation = find_conversation(text)
    judged = (conversation.answer(form.get("turns", "last_assistant")) if conversation else None) or text
    return ToRead(
        run_id,
        prompt_id,
        trial,
        attempt,
        split_reasoning(judged).answer,
        answer if status == "ok" else None,
        form,
        (form.get("options") or {}).get(subject or "") or {},
        question,
    )


def read_answers(
    ledger: Ledger,
    target: Target,
    unread: Sequence[ToRead],
    checked: Sequence[ToRead],
    meter: CostMeter,
    on_progress: Callable[[int], None] = lambda _n: None,
) -> Reading:
    """Have a target read answers, and keep its decisions as events of their runs.

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
    questions = SingleQuestions(target, meter)
    with ThreadPoolExecutor(max(1, target.concurrency)) as pool:
        for run_id, (to_read, to_check) in by_run.items():
            # Whether the rest is of use depends on the checks.
            for batch in batches_of([*to_check, *to_read], BATCH):
                found = [one for one in pool.map(partial(_ask, questions), batch) if one is not None]
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


@dataclass(frozen=True, slots=True)
class _Found:
    answer: ToRead
    decision: str | None
    has_failed: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the decision as an event keeps it."""
        answer = self.answer
        return {
            "prompt_id": answer.prompt_id,
            "trial": answer.trial,
            "attempt": answer.attempt,
            "decision": self.decision,
        }


def _ask(questions: SingleQuestions, answer: ToRead) -> _Found | None:
    """Ask about one answer; None where the cost limit forbids it."""
    said = questions.ask(answer.prompt, answer.decision_in)
    return None if said is None else _Found(answer, said.value, has_failed=said.error is not None)


def _keep(ledger: Ledger, run_id: str, target: Target, found: Sequence[_Found], done: Reading) -> None:
    """Count what was found, and keep it as one event of the run."""
    answered = [one for one in found if not one.has_failed]
    done.n_failed += len(found) - len(answered)
    readings = [one for one in answered if one.answer.read is None]
    checks = [one for one in answered if one.answer.read is not None]
    agreed = [one for one in checks if one.decision == one.answer.read]
    done.n_read += sum(one.decision is not None for one in readings)
    if not answered:
        return
    detail = {
        "target": target.name,
        "model": target.model,
        "prompt_hash": prompt_hash(),
        "readings": [one.as_json() for one in readings],
        "checks": [one.as_json() for one in checks],
        "n_checked": len(checks),
        "n_agreed": len(agreed),
    }
    keep_event(ledger, run_id, READ, detail)


def estimated_cost(answers: Iterable[ToRead], meter: CostMeter) -> float | None:
    """Return what reading would cost in USD, None where the price is not known."""
    tokens = [estimate_prompt_tokens(one.prompt, None) for one in answers]
    return meter.estimate(sum(tokens), len(tokens) * ANSWER_TOKENS)


def sample_to_check(
    answers: Sequence[ToRead], n: int, n_checked: Mapping[str, int] = MappingProxyType({})
) -> list[ToRead]:
    """Draw answers that rules read: of each run as many of each decision as there are, up to n in all with those checked before.

    Args:
        answers: answers that rules read.
        n: how many of each run.
        n_checked: run -> how many of it were checked before.

    Raises:
        InputError: n is negative.
    """
    if n < 0:
        raise InputError(f"The number of answers to check is {n}; it should be 0 or more.")
    by_run: dict[str, dict[str | None, list[ToRead]]] = defaultdict(lambda: defaultdict(list))
    for one in random.Random(0).sample(list(answers), len(answers)):
        by_run[one.run_id][one.read].append(one)
    drawn: list[ToRead] = []
    for run_id, by_decision in by_run.items():
        n_left = max(0, n - n_checked.get(run_id, 0))
        # The first of each decision, then the second of each, and so on.
        rounds = zip_longest(*by_decision.values())
        drawn += list(islice((one for found in rounds for one in found if one is not None), n_left))
    return drawn
