"""The interface of every target: a few facts about itself, and `ask`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collector.rates import RateHints
    from collector.redaction import Redactor

NAME = r"[a-z0-9][a-z0-9_-]*"
"""The form of a target's name."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a conversation; of the target's own answers `is_answer` is true, and `raw_body` the whole reply."""

    role: Literal["user", "assistant"]
    text: str
    raw_body: str | None = None
    is_answer: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """A question: the rendered prompt, its trial number from 1, and a seed that differs by prompt, trial and attempt.

    Attributes:
        prompt_id: the prompt's name in the run, for a target that answers by it.
        timeout_seconds: how long this try may take, where that is less than the target's own limit.
        conversation: of a conversation, a name that no other one has.
        turn: which of its answers is asked for, from 1.
        earlier: its messages before this one, without the system prompt.
    """

    prompt_text: str
    system_prompt: str | None = None
    trial: int = 1
    seed: int | None = None
    prompt_id: str | None = None
    timeout_seconds: float | None = None
    conversation: str | None = None
    turn: int = 1
    earlier: tuple[Message, ...] = ()

    @property
    def messages(self) -> list[dict[str, str]]:
        """Role and content of all messages, the system prompt first and the question last."""
        said = [("system", self.system_prompt)] if self.system_prompt is not None else []
        said += [(one.role, one.text) for one in self.earlier]
        return [{"role": role, "content": text} for role, text in (*said, ("user", self.prompt_text))]


@dataclass(frozen=True, slots=True)
class Reply:
    """A target's reply: `text` is the answer as given, `raw_body` the whole reply; latency in milliseconds.

    `model_answered` is the model that the service says answered, `hints` its rate limits; both are None if it
    says nothing. `instead` is a sentence on what came in place of a text, such as a call of a tool. `reasoning` is the
    model's reasoning if the service sends it apart from the answer.
    """

    text: str | None
    raw_body: str | None = None
    finish_reason: str | None = None
    model_answered: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    latency_ms: float | None = None
    hints: RateHints | None = None
    instead: str | None = None
    reasoning: str | None = None

    def cleaned(self, redact: Redactor) -> Reply:
        """Return the reply with the secrets cut out of every text but the raw body."""
        return replace(
            self,
            text=redact.optional(self.text),
            instead=redact.optional(self.instead),
            reasoning=redact.optional(self.reasoning),
            finish_reason=redact.optional(self.finish_reason),
            model_answered=redact.optional(self.model_answered),
        )


class Target(Protocol):
    """The system under audit.

    Attributes:
        name: its name in targets.yml.
        kind: which module asks it, such as openai or simulator.
        is_simulated: its answers are made up, which is stated wherever they are shown.
        model: the model asked for.
        parameters: what shapes its answers, stored with the run; never a secret.
        concurrency: how many questions it may be asked at once.
        requests_per_minute, tokens_per_minute: caps on what it may be asked; None for none.
        total_timeout_seconds: how long one question may take with all its tries; None for no limit.

    A target that can be asked conversations also has `conversations`: "messages" if it is given all earlier messages, "name" if
    it is given the conversation's name and remembers them.
    """

    name: str
    kind: str
    is_simulated: bool
    model: str
    concurrency: int
    requests_per_minute: float | None
    tokens_per_minute: float | None
    total_timeout_seconds: float | None

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters that shape the answers, as plain data."""
        ...

    def ask(self, request: Request) -> Reply:
        """Ask one question; called from several threads at once.

        Raises:
            TargetError: no usable reply; `retryable` says whether to ask again.
        """
        ...


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """A question of a batch; `custom_id` identifies its result: letters, digits, - and _, at most 64."""

    custom_id: str
    request: Request


Outcome = Literal["completed", "expired", "cancelled", "failed"]


@dataclass(frozen=True, slots=True)
class BatchState:
    """The state of a batch.

    Attributes:
        outcome: None while it is worked on; then whether all of it was asked (completed), time ran out (expired), somebody
            stopped it (cancelled) or the service would not begin (failed).
        error: why it failed.
    """

    outcome: Outcome | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Submission:
    """A batch that is about to be submitted, or was when a process ended.

    Attributes:
        label: its name at the service, if batches can have names.
        n_requests: its questions.
        since: when the submission began, naive UTC.
        known: ids of the batches that are known to be others.
    """

    label: str
    n_requests: int
    since: datetime
    known: frozenset[str] = frozenset()
