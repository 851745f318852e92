"""The simulator's recommendation lists: parse a prompt, and choose titles by group.

Every entity has a catalogue of its own, made from its name alone, with the same titles whatever the prompt's template or
language. Each descriptor that steers has another one for each entity. Popular titles come often and early.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from collector.targets.simulator.responder import Question, Responder, Shares, drawn, mapping
from collector.targets.simulator.titles import FIRST_WORDS, SECOND_WORDS
from collector.validation import Section

CATALOGUE_TITLES = 60
CATALOGUE_SHARE = 2.4  # titles in a catalogue for each one that is asked for
MOST_ITEMS = 1000
# A catalogue's last title is exp(-8) times as popular as its first; two answers of 25 titles then share about two thirds.
POPULARITY_DECAY = 8.0
NO_LIST = "There is something for every taste and for every mood."
NOTHING = "I know of no titles to recommend."

# "List 10 products" is the products audit's and no request for titles.
_REQUEST = re.compile(
    r"\b(?:list of|liste de|lista de|liste mit|recommend|suggest|name|give me|tell me) (\d{1,4})\b"
    r"|(?:列出|सूची दें:) ?(?P<k>\d{1,4})(?!\d)",
    re.IGNORECASE,
)
# A name may hold dots, commas and "and", so it ends where the next sentence is known to start.
_BEHIND_FAN = re.compile(
    r"(?:\b(?:fan of|fan de|admiradora? de|j'adore|j’adore|fan von|fã de)\s+|我喜欢\s?|मुझे\s)(?P<entity>.+?)"
    r"(?=[.!]\s+(?:Please|Veuillez|Por favor|Bitte)\b|。请|\sपसंद है।|[.!]?\s*$)",
    re.IGNORECASE | re.DOTALL,
)
_BEHIND_BY = re.compile(
    r"\b\d+ .*?\bby\s+(?P<entity>.+?)(?:,? that you would\b|[.!?]?\s*$)", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class ListRequest:
    """The list that a prompt asks for: the number of titles, and the person ('' without one)."""

    k: int
    entity: str


def list_request(prompt: str) -> ListRequest | None:
    """Return the request of a prompt for a list of titles, else None."""
    asked = _REQUEST.search(prompt)
    if asked is None:
        return None
    named = _BEHIND_FAN.search(prompt) or _BEHIND_BY.search(prompt)
    return ListRequest(min(int(asked[1] or asked["k"]), MOST_ITEMS), named["entity"].strip() if named else "")


def catalogue(entity: str, n: int = CATALOGUE_TITLES, descriptor: str = "") -> Sequence[str]:
    """Return n different titles, most popular first: an entity's own, or a descriptor's for that entity.

    More titles of one catalogue begin with the fewer ones.
    """
    return _titles(f"{entity}\n{descriptor.lower()}")[:n]


@lru_cache(maxsize=64)
def _titles(name: str) -> tuple[str, ...]:
    titles = [f"{first} {second}" for first in FIRST_WORDS for second in SECOND_WORDS]
    random.Random(name).shuffle(titles)
    return tuple(titles)


def _recommended(asked: ListRequest, question: Question) -> list[str]:
    """Draw the titles of one answer, in order; without planted repeats all are different."""
    draw, shares, repeated = question.draw, question.shares(), question.effect(question.planted.repeat)
    left_out = question.effect(question.planted.shorten)
    n = max(CATALOGUE_TITLES, math.ceil(CATALOGUE_SHARE * asked.k))
    common = _by_chance(catalogue(asked.entity, n), draw)
    own = {name: _by_chance(catalogue(asked.entity, n, name), draw) for name in shares}
    chosen: dict[str, None] = {}
    answer: list[str] = []
    for _ in range(asked.k - round(left_out * asked.k)):
        if answer and repeated and draw.random() < repeated:
            answer.append(draw.choice(answer))
            continue
        descriptor = drawn(shares, draw)
        source = common if descriptor is None else own[descriptor]
        title = next(title for title in source if title not in chosen)
        chosen[title] = None
        answer.append(title)
    return answer


def numbered(titles: Sequence[str]) -> str:
    """Return titles as the numbered lines of an answer."""
    return "\n".join(f"{number}. {title}" for number, title in enumerate(titles, start=1)) or NOTHING


def _by_chance(titles: Sequence[str], draw: random.Random) -> Iterator[str]:
    """Yield all titles in a drawn order: each next one among those left, in proportion to its popularity."""
    # Exponential clocks that run at a title's popularity; the order in which they ring is that draw.
    order = sorted(
        (draw.expovariate(math.exp(-POPULARITY_DECAY * rank / len(titles))), title)
        for rank, title in enumerate(titles)
    )
    return iter([title for _, title in order])


class Settings(Section):
    """Biases that can be planted in lists."""

    shorten: Shares = mapping(
        "By descriptor: the share of places left out at the end of a list.",
        {"Old": 0.2},
    )
    repeat: Shares = mapping(
        "By descriptor: the share of places that repeat a title.",
        {"Veuillez": 0.1},
    )


def _heard(asked: ListRequest, text: str) -> str:
    # Names of bands do not describe the person who asks: The Black Keys, Asian Dub Foundation.
    return text.replace(asked.entity, " ") if asked.entity else text


def _answer(asked: ListRequest, question: Question) -> str:
    if question.defect == "malformed":
        return NO_LIST
    return question.fenced("Here are some titles", numbered(_recommended(asked, question)))


RESPONDER = Responder(place=3, asked=list_request, answer=_answer, settings=Settings, heard=_heard)
