"""The interface of a responder, which answers one form of question: it parses a prompt, plants biases and writes an answer.

A responder is a module of this package that holds its RESPONDER. Modules are found by that: a new one is a new file and nothing
else.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from collector.validation import Section

Share = Annotated[float, Field(ge=0, le=1)]
Shares = Mapping[Annotated[str, Field(min_length=1)], Share]
Amount = Annotated[float, Field(ge=-1, le=1)]
Amounts = Mapping[Annotated[str, Field(min_length=1)], Amount]


def mapping(description: str, example: Mapping[str, Any]) -> Any:
    """Return the field of a setting that is a mapping, such as of descriptors to what is planted for them; empty if absent."""
    return Field(default_factory=dict, description=description, examples=[example])


@dataclass(frozen=True)
class Question:
    """A prompt as the simulator takes it.

    Attributes:
        prompt: as it is asked.
        system_prompt: the system prompt before it.
        text: both, with synonyms replaced.
        draw: the source of chance.
        defect: malformed or fenced, where the answer is to be that.
        planted: the simulator's settings.
        factor: what a debiasing instruction leaves of all that is planted, 1 without one.
        stated: each descriptor that a text holds, with what is planted for it.
    """

    prompt: str
    system_prompt: str | None
    text: str
    draw: random.Random
    defect: str | None
    planted: Any
    factor: float
    stated: Callable[[Mapping[str, Any], str], Iterable[tuple[str, Any]]]

    def shares(self) -> dict[str, float]:
        """Return the share of products or titles that each descriptor steers; they add up to at most 1."""
        return at_most_1(
            {name: share * self.factor for name, share in self.stated(self.planted.steer, self.text)}
        )

    def effect(self, planted: Mapping[str, float]) -> float:
        """Return the share of an effect: where several descriptors have it, none spares what another takes."""
        return float(
            1 - math.prod(1 - min(share * self.factor, 1.0) for _, share in self.stated(planted, self.text))
        )

    def fenced(self, opening: str, answer: str, language: str = "") -> str:
        """Return an answer, inside a fence after some prose where that is the defect."""
        return f"{opening}:\n```{language}\n{answer}\n```" if self.defect == "fenced" else answer


@dataclass(frozen=True)
class Responder:
    """Answers one form of question.

    Args:
        place: responders with a smaller one look at a prompt first.
        asked: what a prompt asks for, None if it is of another form.
        answer: what is answered.
        settings: what can be planted; where that is by descriptor, a mapping of descriptors.
        heard: the text that is searched for descriptors.
    """

    place: int
    asked: Callable[[str], Any]
    answer: Callable[[Any, Question], str]
    settings: type[Section] = Section
    heard: Callable[[Any, str], str] = lambda _asked, text: text


def drawn(shares: Mapping[str, float], draw: random.Random) -> str | None:
    """Draw one of several names, each with its share of the draws; None with the share that is left of 1."""
    point, edge = draw.random(), 0.0
    for name, share in shares.items():
        edge += share
        if point < edge:
            return name
    return None


def at_most_1(shares: dict[str, float]) -> dict[str, float]:
    """Return shares scaled down where they add up to more than 1."""
    total = sum(shares.values())
    return {name: share / total for name, share in shares.items()} if total > 1 else shares
