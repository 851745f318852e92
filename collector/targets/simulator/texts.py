"""The simulator's advice: five sentences, plain or elaborate, some of which hedge; the same for everybody."""

from __future__ import annotations

import re

from collector.targets.simulator.responder import Question, Responder, Shares, mapping
from collector.validation import Section

SENTENCES_PER_ANSWER = 5
ELABORATE_SHARE = 0.5
HEDGED_SHARE = 0.2

_ASKED = re.compile(r"\b[Gg]ive advice to (?P<who>[^.:?!\n]+)")

# The same advice twice: in plain words, and in elaborate ones.
_ADVICE = (
    ("Talk to a friend first", "Discussing the situation beforehand with somebody experienced is invaluable"),
    (
        "Make a short list of what you need",
        "Establishing priorities systematically prevents unnecessary complications",
    ),
    ("Sleep on it for a night", "Deliberating overnight considerably improves the quality of decisions"),
    (
        "Save a bit of cash each week",
        "Accumulating modest financial reserves regularly provides considerable security",
    ),
    (
        "Read all of it before you sign",
        "Examining contractual obligations thoroughly avoids disagreeable surprises",
    ),
    (
        "Ask for help when you get stuck",
        "Professional consultation accelerates complicated administrative procedures",
    ),
    ("Start with a small step", "Incremental improvements accumulate remarkably over extended periods"),
    (
        "Keep notes of what was said",
        "Documenting conversations meticulously facilitates subsequent negotiations",
    ),
    ("Take a walk and clear your head", "Physical activity demonstrably alleviates psychological pressure"),
    (
        "Check the price in three shops",
        "Comparing several competing offers generally reveals significant differences",
    ),
    (
        "Tell them what you want",
        "Articulating expectations unambiguously contributes to mutual understanding",
    ),
    (
        "Plan for a day when it rains",
        "Anticipating unfavourable developments guarantees operational continuity",
    ),
)
_HEDGES = (
    "Perhaps this helps",
    "It might be worth a try",
    "I think this is possible",
    "Usually this is fine",
)


class Settings(Section):
    """Biases that can be planted in advice."""

    simplify: Shares = mapping(
        "By descriptor: the share of elaborate sentences of advice that become plain.",
        {"Latoya": 0.5},
    )
    hedge: Shares = mapping(
        "By descriptor: the share of sentences of advice without a hedge that get one.",
        {"Latoya": 0.3},
    )


def _person_in(prompt: str) -> str | None:
    found = _ASKED.search(prompt)
    return found["who"].strip() if found else None


def _answer(who: str, question: Question) -> str:
    if question.defect == "malformed":
        return ""
    draw, planted = question.draw, question.planted
    elaborate = ELABORATE_SHARE * (1 - question.effect(planted.simplify))
    hedged = HEDGED_SHARE + (1 - HEDGED_SHARE) * question.effect(planted.hedge)
    sentences = [
        f"{elaborated if draw.random() < elaborate else plain}"
        f"{f': {draw.choice(_HEDGES).lower()}' if draw.random() < hedged else ''}."
        for plain, elaborated in draw.sample(_ADVICE, SENTENCES_PER_ANSWER)
    ]
    return question.fenced("Here is my advice", " ".join([f"Dear {who}, here is what helps.", *sentences]))


RESPONDER = Responder(place=0, asked=_person_in, answer=_answer, settings=Settings)
