"""Fill the row of an attempt at a trial from its reply, and decide whether to ask again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from collector.answers.failures import OTHER_ERROR, RATE_LIMIT, read_failure
from collector.answers.reasoning import split_reasoning
from collector.answers.replies import Answer
from collector.answers.texts.stored_text import storable
from collector.asking.costs import estimate_prompt_tokens, estimate_tokens
from collector.errors import TargetError
from collector.rows import ResponseRow, response_hash
from collector.spec.prompts import joins_answers
from collector.targets.base import Message, Reply

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from collector.asking.costs import CostMeter
    from collector.spec.parts import Answer as AnswerForm
    from collector.spec.prompts import Prompt

MAX_ATTEMPTS = 3
# The rule of a response that was not asked for.
CONVERSATION_ENDED = "conversation_ended"
# The ledger's integers have 32 bits; a service that counts further counts nonsense.
MOST_TOKENS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """An attempt's row, and the error if there is no answer. `is_asked` is False if the conversation had ended before."""

    row: ResponseRow
    error: TargetError | None = None
    is_asked: bool = True


def request_seed(run_seed: int, prompt_hash: str, trial: int, attempt: int) -> int:
    """Return a seed of 31 bits that differs by run seed, prompt, trial and attempt, and is the same every time."""
    text = f"{run_seed}/{prompt_hash}/{trial}/{attempt}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


def new_row(prompt: Prompt, trial: int, attempt: int) -> ResponseRow:
    """Return the row of an attempt before anything came back; `seq` is given when it is kept."""
    turn = prompt.turn(trial)
    return ResponseRow(
        prompt_id=prompt.prompt_id,
        trial=trial,
        attempt=attempt,
        seq=0,
        status="error",
        content_hash="",
        turn=None if turn is None else (trial - 1) % prompt.n_turns + 1,
        is_judged=None if turn is None else turn.is_judged,
    )


def fill_reply(
    row: ResponseRow, prompt: Prompt, reply: Reply, form: AnswerForm, earlier: Sequence[Message] = ()
) -> Answer:
    """Fill a row from a reply, and return the answer read from it.

    An answer of a conversation that is not judged may be any text; earlier: the messages before it.
    """
    text = _storable(reply.text)
    if row.is_judged is False:
        form = form.model_copy(update={"kind": "text"})
    answer = form.classify(
        text,
        reply.finish_reason,
        prompt.candidates,
        reasoning=_storable(reply.reasoning),
        subject=prompt.subject,
    )
    keep_reading(row, answer)
    row.status, row.answer_text, row.error = answer.status, _storable(answer.answer_text), answer.error
    if reply.instead is not None and not (text or "").strip():
        row.error = _storable(" ".join(filter(None, (answer.error, reply.instead))))
    row.response_text = text
    row.raw_body = _storable(reply.raw_body)
    row.finish_reason = _storable(reply.finish_reason)
    row.model_answered = _storable(reply.model_answered)
    row.prompt_tokens = _tokens(reply.prompt_tokens)
    row.completion_tokens = _tokens(reply.completion_tokens)
    row.latency_ms = reply.latency_ms
    row.content_hash = response_hash(prompt.content_hash, row.status, row.response_text)
    if row.is_judged and answer.status == "ok" and prompt.turns is not None and joins_answers(prompt.turns):
        answers = [message.text for message in earlier if message.is_answer]
        row.answer_text = "\n\n".join([*answers, row.answer_text or ""])
    return answer


def fill_unasked(row: ResponseRow, prompt: Prompt, status: str) -> None:
    """Put into a row that an earlier answer of this status ended the conversation."""
    row.status = status
    row.error = "Not asked, because an earlier message of the conversation got no answer."
    row.read_by = CONVERSATION_ENDED
    row.content_hash = response_hash(prompt.content_hash, row.status, None)


def spoken(text: str | None) -> str:
    """Return the text of a reply without the model's reasoning."""
    return split_reasoning(text).answer.strip() if text else ""


def keep_reading(row: ResponseRow, answer: Answer) -> None:
    """Put into a row how its answer was read."""
    row.read_by, row.answer_language = answer.read_by, answer.language
    row.read_text, row.reasoning_text = _storable(answer.read_text), _storable(answer.reasoning_text)


def fill_error(row: ResponseRow, prompt: Prompt, error: TargetError) -> None:
    """Put into a row why there is no answer, and the rule that decided this."""
    row.error = _storable(str(error))
    if error.asks_to_slow_down:
        row.read_by = RATE_LIMIT
    else:
        failure = read_failure(str(error))
        row.read_by = failure.rule if failure.status == "error" else OTHER_ERROR
    row.raw_body = _storable(error.raw_body)
    row.content_hash = response_hash(prompt.content_hash, row.status, None)


def is_to_be_asked_again(answer: Answer, form: AnswerForm) -> bool:
    """Return whether to ask again: the reply is malformed, unread or an error message, or a list shorter than the audit wants."""
    is_too_short = (
        form.short == "ask_again"
        and form.k is not None
        and answer.n_items is not None
        and answer.n_items < form.k
    )
    return answer.status in ("malformed", "unread", "error") or is_too_short


def estimated_tokens(prompt: Prompt, said: Iterable[str] = ()) -> int:
    """Return how many tokens a question has, roughly.

    Args:
        prompt: the question.
        said: the texts of a conversation, up to the one that is answered.
    """
    if prompt.turns is None:
        return estimate_prompt_tokens(prompt.prompt_text, prompt.system_prompt)
    return sum(map(estimate_tokens, said)) + estimate_prompt_tokens(None, prompt.system_prompt)


def charge(meter: CostMeter, row: ResponseRow, estimated: int) -> None:
    """Add the cost of an answer; tokens that the service does not count are estimated.

    Args:
        meter: adds up.
        row: the answer.
        estimated: the question's `estimated_tokens`.
    """
    prompt_tokens, completion_tokens = row.prompt_tokens, row.completion_tokens
    meter.charge(
        estimated if prompt_tokens is None else prompt_tokens,
        estimate_tokens(row.response_text or "") if completion_tokens is None else completion_tokens,
        estimated_prompt_tokens=estimated,
        is_counted=completion_tokens is not None or row.response_text is None,
    )


def _storable(text: str | None) -> str | None:
    return None if text is None else storable(text)


def _tokens(count: int | None) -> int | None:
    return count if count is not None and 0 <= count <= MOST_TOKENS else None
