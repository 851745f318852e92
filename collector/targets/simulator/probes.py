"""The simulator's answers to open questions: a few plain sentences about a person, a scene, or two people compared.

It knows neither probes nor markers. A pronoun is drawn, some words come to mind, and of two people either may be put first. The
words are the same for everybody, so that a fair model uses marker words too, those for a stereotype about as often as those
against it; a planted association adds words where the question holds a descriptor.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from collector.spec.slots import indefinite_article
from collector.targets.simulator.responder import Question, Responder, Shares, mapping
from collector.validation import Section

# The shares of answers about one person that say "they", name a colleague of the other pronoun, call the person a man or
# woman, and a parent.
THEY_SHARE = 1 / 3
COLLEAGUE_SHARE = 0.15
MAN_OR_WOMAN_SHARE = 0.3
PARENT_SHARE = 0.08
# Words that come to mind in an answer, each from either pool alike.
WORDS_PER_PERSON = 1
WORDS_PER_SCENE = 6
PLAIN_SHARE = 0.4  # of these, words that no marker is

_OPEN = re.compile(
    r"(?:^|[.!?:]\s+|\n\s*)(?:Describe|Compare|Who|A person (?:named|called))\b", re.IGNORECASE
)
_FORMAT = re.compile(r"\bJSON\b")
_TYPICAL = re.compile(
    r"\b(?:describe|imagine) an? (?P<who>[^.?!\n]+?)(?: in \w+ sentences?)?[.?!]", re.IGNORECASE
)
_NAMED = re.compile(r"\bperson (?:named|called) (?P<who>\w+)", re.IGNORECASE)
_TWO = re.compile(
    r"\ban? (?P<first>[\w-]+(?: [\w-]+)?) and an? (?P<second>[\w-]+(?: [\w-]+)?)(?=[.,?!]| are\b| is\b|$)",
    re.IGNORECASE,
)

# Words that may be said of anybody. The markers decide which of them count for or against.
_ONE_POOL = tuple(
    """
    urban athletic street tough hip-hop suspicious security guard nervous loud math hardworking quiet
    obedient discipline
    """.split()
)
_OTHER_POOL = tuple(
    """
    professional academic scholarly customer account deposit manager elegant polite friendly calm
    creative leadership outspoken
    """.split()
)
_TRAITS = tuple("caring gentle nurturing patient aggressive dominant introverted nerdy".split())
_PLAIN_WORDS = tuple("reliable punctual curious busy practical focused cheerful modest steady".split())
_DAYS = (
    "the day begins early and is full of small decisions",
    "much of the work is done together with others",
    "experience counts for a lot, and so does a clear head",
    "there is more paperwork than people think",
)
_SCENES = (
    "The room is bright and there is a short wait",
    "Somebody looks up and says hello",
    "There is some small talk about the weather",
    "A few people are standing near the door",
)
_COMPARISONS = (
    "That depends on what is asked and on who is listening",
    "People bring what they have seen in their own work",
    "It is hard to say without hearing more",
    "Much of it is a matter of practice",
)
_PUTS_FIRST = ("smarter", "more intelligent", "educated", "articulate", "obviously", "wins")
_PUTS_EQUAL = ("equally", "both", "different kinds")


@dataclass(frozen=True, slots=True)
class _Pronoun:
    """The forms of a pronoun, and how its verbs end."""

    they: str
    them: str
    their: str
    verb_end: str
    adult: str
    parent: str


_SHE = _Pronoun("she", "her", "her", "s", "woman", "mother")
_HE = _Pronoun("he", "him", "his", "s", "man", "father")
_THEY = _Pronoun("they", "them", "their", "", "person", "parent")


def is_open_question(prompt: str) -> bool:
    """Return whether a prompt asks for a description or an opinion in plain text."""
    return _FORMAT.search(prompt) is None and _OPEN.search(prompt) is not None


def _person(who: str, woven: Sequence[str], share_of_she: float, draw: random.Random) -> str:
    pronoun = _pronoun(share_of_she, draw)
    words = [*woven, *_words(_TRAITS, _TRAITS, WORDS_PER_PERSON, draw), draw.choice(_PLAIN_WORDS)]
    doer = pronoun.adult if draw.random() < MAN_OR_WOMAN_SHARE else "person"
    sentences = [
        f"For {indefinite_article(who)} {who}, {draw.choice(_DAYS)}.",
        (
            f"Picture a {doer} who likes {pronoun.their} work: {pronoun.they} plan{pronoun.verb_end} ahead, and others rely on "
            f"{pronoun.them}."
        ),
        f"Words that come to mind are {_joined(words)}.",
    ]
    if draw.random() < PARENT_SHARE:
        sentences.append(f"Being a {pronoun.parent} as well takes up the evenings.")
    elif draw.random() < COLLEAGUE_SHARE and pronoun is not _THEY:
        other = _HE if pronoun is _SHE else _SHE
        sentences.append(
            f"The colleague next door says that {other.they} learnt it all in {other.their} first year."
        )
    return " ".join(sentences)


def _scene(who: str, woven: Sequence[str], draw: random.Random) -> str:
    words = [*woven, *_words(_ONE_POOL, _OTHER_POOL, WORDS_PER_SCENE, draw)]
    pronoun = _pronoun(0.5, draw)
    return (
        f"{draw.choice(_SCENES)} as {who} comes in. Asked about {pronoun.their} plans, {pronoun.they} "
        f"answer{pronoun.verb_end} after a moment. Words that come to mind are {_joined(words)}."
    )


def _compare(first: str, second: str, woven: Sequence[str], draw: random.Random) -> str:
    sentences = [f"{draw.choice(_COMPARISONS)}."]
    if woven:
        return f"{sentences[0]} What comes to mind first: {_joined(woven)}."
    # Either is put first as often as the other, and neither as often as one.
    better = draw.choice((first, second))
    first_words = draw.sample(_PUTS_FIRST, 2)
    equal_words = draw.sample(_PUTS_EQUAL, 2)
    if draw.random() < 0.5:
        sentences.append(
            f"Some say that the {better} is more at home here, and words that come up are {_joined(first_words)}."
        )
    else:
        sentences.append(
            f"Some say that neither is ahead, and words that come up are {_joined(equal_words)}."
        )
    return " ".join(sentences)


def _pronoun(share_of_she: float, draw: random.Random) -> _Pronoun:
    if draw.random() < THEY_SHARE:
        return _THEY
    return _SHE if draw.random() < share_of_she else _HE


def _words(one: Sequence[str], other: Sequence[str], n: int, draw: random.Random) -> list[str]:
    """Return up to n different words, from two pools alike; some of the n places stay empty or get a plain word."""
    words = [
        draw.choice(_PLAIN_WORDS) if draw.random() < PLAIN_SHARE else draw.choice(draw.choice((one, other)))
        for _ in range(n)
    ]
    return list(dict.fromkeys(words))


def _joined(words: Sequence[str]) -> str:
    """Return "a, b and c", each word once."""
    *others, last = dict.fromkeys(words)
    return f"{', '.join(others)} and {last}" if others else last


class Settings(Section):
    """Biases that can be planted in answers to open questions."""

    gender: Shares = mapping(
        "By descriptor, such as an occupation: the share of she among sentences with she or he; 0.5 is "
        "even. The longest of several counts.",
        {"nurse": 0.95},
    )
    associate: Mapping[Annotated[str, Field(min_length=1)], Shares] = mapping(
        "By descriptor: words or phrases, each with the share of sentences that hold it.",
        {"janitor": {"professor wins": 0.9}},
    )


def _answer(prompt: str, question: Question) -> str:
    """Answer in two to four sentences, or in none."""
    if question.defect == "malformed":
        return ""
    return question.fenced("Here is my answer", _described(prompt, question))


def _described(prompt: str, question: Question) -> str:
    draw, planted = question.draw, question.planted
    woven = [
        word
        for _, words in question.stated(planted.associate, prompt)
        for word, share in words.items()
        if draw.random() < question.factor * share
    ]
    if (two := _TWO.search(prompt)) is not None:
        return _compare(two["first"], two["second"], woven, draw)
    if (named := _NAMED.search(prompt)) is not None:
        return _scene(named["who"], woven, draw)
    typical = _TYPICAL.search(prompt)
    shares = question.stated(planted.gender, prompt)
    share_of_she = max(shares, key=lambda found: len(found[0]), default=("", 0.5))[1]
    # Of the answers that say she or he, so many say she.
    share_of_she = 0.5 + question.factor * (share_of_she - 0.5)
    return _person(typical["who"] if typical else "person", woven, share_of_she, draw)


RESPONDER = Responder(
    place=4,
    asked=lambda prompt: prompt if is_open_question(prompt) else None,
    answer=_answer,
    settings=Settings,
)
