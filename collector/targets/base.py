"""What every target offers: a few facts about itself, and `ask`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Request:
    """One question: the rendered prompt, its trial number from 1, and a seed that differs by prompt, trial and attempt."""

    prompt_text: str
    system_prompt: str | None = None
    trial: int = 1
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: `text` is the answer as given, `raw_body` the whole reply; latency in milliseconds."""

    text: str | None
    raw_body: str | None = None
    finish_reason: str | None = None
    model_answered: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    latency_ms: float | None = None


class Target(Protocol):
    """The system under audit.

    Attributes:
        name: its name in targets.yml.
        kind: which module asks it: openai, simulator.
        is_simulated: its answers are made up; every place that shows them says so.
        model: the model asked for.
        parameters: what shapes its answers, stored with the run; never a secret.
        concurrency: how many questions it may be asked at once.
    """

    name: str
    kind: str
    is_simulated: bool
    model: str
    concurrency: int

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What shapes the answers, as plain data."""
        ...

    def ask(self, request: Request) -> Reply:
        """Ask one question; called from several threads at once.

        Raises:
            TargetError: no usable reply; `retryable` says whether to ask again.
        """
        ...
