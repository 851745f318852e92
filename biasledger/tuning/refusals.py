"""Propose patterns for the refusals of one's own bot, from answers that a person labelled."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from collector.answers.reasoning import split_reasoning
from collector.answers.texts.languages import SEARCHED_CHARACTERS, find_own_refusal, find_refusal
from collector.answers.texts.plain import HAN, MARKS, WITHOUT_SPACES, fold, plain_words
from collector.errors import InputError
from collector.tables.rows import read_rows

REFUSED, ANSWERED = "refused", "answered"
_COLUMNS = ("text", "label")
# A refusal says so early, in a phrase of a few words; one that only one answer has may be chance.
_OPENING_CHARACTERS = 400
_FEWEST_ANSWERS = 2
# In scripts without spaces between words a Chinese word has one or two characters, and one of another script three or so.
_SIZES = {"word": 3, "han": 2, "letter": 1}
_LEAST_SIZE, _LARGEST_SIZE = 8, 18
_LETTER = rf"(?:[^\W_{WITHOUT_SPACES}]|[{MARKS}])"
_WORD = re.compile(rf"(?P<word>{_LETTER}+(?:'{_LETTER}+)*)|(?P<han>[{HAN}])|(?P<letter>[{WITHOUT_SPACES}])")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A pattern for `answer.refusals`: how many labelled refusals it finds that no earlier pattern does, and how many in all."""

    pattern: str
    n_new: int
    n_refused: int


@dataclass(frozen=True, slots=True)
class Proposals:
    """What labelled answers tell.

    Attributes:
        n_refused, n_answered: labels of each kind.
        n_known: refusals that the shipped patterns find.
        n_false: answers that the shipped patterns take for refusals.
        n_left: refusals that neither the shipped patterns nor the proposed ones find.
        patterns: proposals, the one that finds most first. None of them finds an answer.
    """

    n_refused: int
    n_answered: int
    n_known: int
    n_false: int
    n_left: int
    patterns: Sequence[Proposal]


def propose_refusals(labels: Path) -> Proposals:
    """Read labelled answers and propose phrases that refusals have and answers have not.

    Args:
        labels: a CSV file with the columns text and label, refused or answered; rows without a label are left out.

    Raises:
        InputError: the file cannot be read, a label is wrong, or no row is labelled refused.
    """
    refused: list[str] = []
    answered: list[str] = []
    for number, row in enumerate(read_rows(labels, "a row for each labelled answer", _COLUMNS), start=1):
        label = row["label"].strip().casefold()
        if label not in (REFUSED, ANSWERED, ""):
            raise InputError(
                f"{labels}: row {number} has {row['label']!r} as 'label'; it should be {REFUSED} or {ANSWERED}."
            )
        if label:
            (refused if label == REFUSED else answered).append(split_reasoning(row["text"]).answer)
    if not refused:
        raise InputError(f"{labels}: no row is labelled {REFUSED}; label some answers of each kind.")
    unknown = [text for text in refused if find_refusal(text) is None]
    patterns = _cover(unknown, answered)
    return Proposals(
        n_refused=len(refused),
        n_answered=len(answered),
        n_known=len(refused) - len(unknown),
        n_false=sum(find_refusal(text) is not None for text in answered),
        n_left=len(unknown) - sum(one.n_new for one in patterns),
        patterns=patterns,
    )


def _cover(refused: Sequence[str], answered: Sequence[str]) -> list[Proposal]:
    """Return phrases that together cover as many refusals as they can, the one that covers most first."""
    found: dict[str, set[int]] = defaultdict(set)
    for number, text in enumerate(refused):
        for phrase in _phrases(text[:_OPENING_CHARACTERS]):
            found[phrase].add(number)
    left = {phrase: numbers for phrase, numbers in found.items() if len(numbers) >= _FEWEST_ANSWERS}
    for text in answered:
        for phrase in left.keys() & _phrases(text[:SEARCHED_CHARACTERS]):
            del left[phrase]
    covered: set[int] = set()
    proposals = []
    while best := _best(left, covered):
        del left[best]
        pattern = r"[\W_]+".join(map(re.escape, best.split()))
        # An audit searches for the pattern, so what it finds there counts.
        finds = {number for number, text in enumerate(refused) if find_own_refusal(text, [pattern])}
        new = finds - covered
        is_sure = len(finds) >= _FEWEST_ANSWERS and not any(
            find_own_refusal(text, [pattern]) for text in answered
        )
        if new and is_sure:
            proposals.append(Proposal(pattern, len(new), len(finds)))
            covered |= new
    return proposals


def _best(found: Mapping[str, set[int]], covered: set[int]) -> str | None:
    """Return the phrase that finds most refusals that are not covered; of several, the longest."""
    counted = {phrase: len(numbers - covered) for phrase, numbers in found.items()}
    best = max(counted, key=lambda phrase: (counted[phrase], len(phrase), phrase), default=None)
    return best if best is not None and counted[best] > 0 else None


def _phrases(text: str) -> set[str]:
    """Return the phrases of a text as they are searched for; a space matches any signs between two words."""
    words = list(_WORD.finditer(fold(plain_words(text))))
    phrases = set()
    for at, first in enumerate(words):
        phrase, size, end = "", 0, first.start()
        for word in words[at : at + _LARGEST_SIZE]:
            phrase += " " * (word.start() > end) + word[0]
            size += _SIZES[word.lastgroup or "word"]
            end = word.end()
            if size > _LARGEST_SIZE:
                break
            if size >= _LEAST_SIZE:
                phrases.add(phrase)
    return phrases
