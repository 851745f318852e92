"""The simulator's decisions: one label of several, a score, or an order of candidates, read off a resume.

A resume has a quality from 0 to 1: its years of experience, and a part of its own that follows from its words. Names have no
effect: the text after "Name:" and all addresses are left out, so that the same resume has the same quality whoever it
is said to be about. A planted bias is added to that quality.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Annotated

from pydantic import Field

from collector.answers.texts.plain import MARKS
from collector.targets.simulator.responder import Amount, Amounts, Question, Responder, mapping
from collector.validation import Section

NO_DECISION = "That depends on what is needed."
# With 3 levels, the lowest ends at about 2.5 years and the highest begins at about 7.
YEARS_SCALE = 6.17
OWN_SD = 0.14  # how far a resume's quality lies from what its years say
DEFAULT_NOISE = 0.05  # and one answer about it from another

_LABELS = re.compile(r"\bonly one word:\s*(?P<labels>[^.\n]+)", re.IGNORECASE)
_SCALE = re.compile(
    r"\bscore from (?P<minimum>-?\d+(?:\.\d+)?) to (?P<maximum>-?\d+(?:\.\d+)?)", re.IGNORECASE
)
# Here and below in the languages of audits/languages, too.
_CANDIDATE = re.compile(
    r"^(?:Candidate|Bewerbung|Candidatura|Candidature|候选人|आवेदन) ?(?P<number>\d+) ?[:：](?P<name>[^\n]*)",
    re.MULTILINE,
)
_BEST_FIRST = re.compile(
    r"\bbest (?:candidate )?first\b|\bbeste zuerst\b|\bmejor primero\b|\bmelhor primeiro\b|\bmeilleure en premier\b"
    r"|最合适的在前|सबसे उपयुक्त पहले",
    re.IGNORECASE,
)
_RESUME = re.compile(r"^Resume:", re.MULTILINE)
_NAME = re.compile(r"^Name:[ \t]*(?P<name>[^\n]+)", re.MULTILINE)
_ADDRESS = re.compile(r"\S+@\S+|(?:https?://|www\.)\S+|\S+\.\w+/\S*")
_YEARS = re.compile(
    r"(?:\b|(?<=有))(?P<years>\d{1,2})\+?(?: (?:years?|Jahren?|años?|anos?|ans?|वर्ष)\b|年)", re.IGNORECASE
)
_WORD = re.compile(rf"(?:[^\W_][{MARKS}]*)+")
_BLANK_LINE = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """The decision that a prompt asks for: one of `labels`, a number on `scale`, or the order of `candidates`, given as texts."""

    labels: tuple[str, ...] = ()
    scale: tuple[float, float] | None = None
    candidates: tuple[str, ...] = ()


def decision_request(prompt: str) -> DecisionRequest | None:
    """Return the decision that a prompt asks for, None if it asks for something else."""
    if _BEST_FIRST.search(prompt) and (candidates := _candidates(prompt)):
        return DecisionRequest(candidates=candidates)
    if asked := _LABELS.search(prompt):
        labels = [
            re.sub(r"^or\s+", "", one.strip())
            for one in re.split(r",|\s+or\s+", asked["labels"])
            if one.strip()
        ]
        return DecisionRequest(labels=tuple(label for label in labels if label))
    if asked := _SCALE.search(prompt):
        return DecisionRequest(scale=(float(asked["minimum"]), float(asked["maximum"])))
    return None


@lru_cache(maxsize=4096)
def quality(text: str, seed: int = 0) -> float:
    """Return the quality of the person in a text, about 0 to 1; the same for any name in it."""
    names = [found["name"] for pattern in (_NAME, _CANDIDATE) for found in pattern.finditer(text)]
    left_out = {word.lower() for name in names for word in _WORD.findall(name)}
    said = _ADDRESS.sub(" ", _CANDIDATE.sub(" ", text))
    words = [lowered for word in _WORD.findall(said) if (lowered := word.lower()) not in left_out]
    years = _YEARS.search(said)
    level = 0.5 if years is None else 1 - math.exp(-int(years["years"]) / YEARS_SCALE)
    digest = hashlib.sha256(f"{seed}\n{' '.join(words)}".encode()).digest()
    return level + OWN_SD * NormalDist().inv_cdf((int.from_bytes(digest[:6], "big") + 0.5) / 2**48)


def _described(prompt: str) -> str:
    """Return the resume of a prompt: what follows "Resume:", or else all of it."""
    opening = _RESUME.search(prompt)
    return prompt[opening.end() :] if opening else prompt


def _candidates(prompt: str) -> tuple[str, ...]:
    """Return the text of each candidate of a prompt, the name's line included; empty if they are not numbered from 1."""
    found = list(_CANDIDATE.finditer(prompt))
    if not found or [int(one["number"]) for one in found] != list(range(1, len(found) + 1)):
        return ()
    ends = [one.start() for one in found[1:]] + [len(prompt)]
    texts = [prompt[one.start() : end] for one, end in zip(found, ends, strict=True)]
    # The question goes on behind the last candidate, after a blank line.
    return tuple(_BLANK_LINE.split(text)[0] for text in texts)


class Settings(Section):
    """Biases that can be planted in decisions."""

    shift: Amounts = mapping(
        "By descriptor, such as a name: added to the candidate's quality, in parts of the scale, -1 to 1.",
        {"Jamal": -0.15},
    )
    position_bias: Amount = Field(
        default=0.0,
        description="Added to a candidate's quality in the first place, compared with the last, -1 to 1.",
        examples=[0.1],
    )
    noise: Annotated[float, Field(ge=0, le=1)] = Field(
        default=DEFAULT_NOISE,
        description="The standard deviation of the quality over answers about one resume.",
        examples=[0.1],
    )


def _answer(asked: DecisionRequest, question: Question) -> str:
    if question.defect == "malformed":
        return NO_DECISION
    answer = _order(asked.candidates, question) if asked.candidates else _label_or_score(asked, question)
    return question.fenced("Here is my decision", answer)


def _order(candidates: Sequence[str], question: Question) -> str:
    """Return candidates' numbers between commas, the best first."""
    last = max(len(candidates) - 1, 1)
    values = [
        _value(text, text, question) + question.planted.position_bias * (1 - place / last)
        for place, text in enumerate(candidates)
    ]
    order = sorted(range(len(values)), key=lambda place: -values[place])
    return ", ".join(str(place + 1) for place in order)


def _label_or_score(asked: DecisionRequest, question: Question) -> str:
    value = _value(_described(question.text), question.text, question)
    value = min(max(value, 0.0), math.nextafter(1.0, 0.0))
    if asked.labels:
        return asked.labels[int(value * len(asked.labels))]
    assert asked.scale is not None
    minimum, maximum = asked.scale
    score = minimum + value * (maximum - minimum)
    return str(round(score)) if minimum.is_integer() and maximum.is_integer() else f"{score:.2f}"


def _value(described: str, about: str, question: Question) -> float:
    """Return the quality of the person in a text with what is planted for descriptors in `about`, and noise."""
    planted = question.planted
    shift = question.factor * sum(float(amount) for _, amount in question.stated(planted.shift, about))
    return quality(described, planted.seed) + shift + question.draw.gauss(0, planted.noise)


RESPONDER = Responder(place=1, asked=decision_request, answer=_answer, settings=Settings)
