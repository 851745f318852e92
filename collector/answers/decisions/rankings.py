"""Rankings: the candidates of a reply in order, and how an answer that ranks candidates is kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from collector.answers.decisions import Decision
from collector.hashing import canonical_json

# Emphasis, quotes and JSON's brackets around a candidate are ignored.
_MARKUP = re.compile(r"[*_`\"“”\[\]{}]+")
# 1. · 1) · 1: · 1st:
_ENUMERATED = re.compile(
    r"[ \t>#-]*(?P<place>\d{1,4})(?:st|nd|rd|th)?[ \t]*[.):][ \t]*(?P<body>\S.*)", re.IGNORECASE
)
_SEPARATOR = re.compile(r"[,;>→]|\s(?:then|and)\s", re.IGNORECASE)
_SENTENCE_END = re.compile(r"\.\s")
_CALLED = r"(?:(?:candidate|applicant|r[eé]sum[eé]|number)\s*)?#?\s*"
_UNKNOWN = 0


@dataclass(frozen=True, slots=True)
class Placed:
    """A candidate shown at `slot` (from 1) and placed at `rank` (1 is best); `is_missing` if the answer does not name it.

    The rank of a missing candidate is None unless a file of answers states one.
    """

    slot: int
    rank: int | None
    is_missing: bool


def ranking_text(placed: Sequence[Placed]) -> str:
    """Return a ranking as it is kept: JSON, a list of objects with slot, rank and is_missing in the order of slots."""
    return canonical_json([asdict(one) for one in sorted(placed, key=lambda one: one.slot)])


def read_ranking(text: str, names: Sequence[str]) -> Decision:
    """Find the ranking that a reply gives, best candidate first.

    Args:
        text: the reply: a numbered list, or candidates between commas, > or line breaks, each by its number or its name.
        names: the candidates' names in the order shown.

    Returns:
        The ranking as it is kept; candidates that the reply does not name are missing. A candidate named twice or unknown is a
        problem.
    """
    slots = _Candidates(names).order(_MARKUP.sub(" ", text))
    if not slots:
        return Decision(problem="The answer ranks no candidate.")
    for slot, n in Counter(slots).items():
        if not 1 <= slot <= len(names):
            which = "that was not shown" if slot == _UNKNOWN else f"{slot}, and there are {len(names)}"
            return Decision(problem=f"The answer ranks a candidate {which}.")
        if n > 1:
            return Decision(problem=f"The answer ranks candidate {slot} {n} times.")
    rank_of = {slot: rank for rank, slot in enumerate(slots, start=1)}
    placed = [Placed(slot, rank_of.get(slot), slot not in rank_of) for slot in range(1, len(names) + 1)]
    # One candidate may be what a refusal speaks of; several in a row are a ranking.
    return Decision(ranking_text(placed), is_certain=len(slots) > 1)


class _Candidates:
    """The candidates of a prompt, by number and by name; a first name will do where only one has it."""

    def __init__(self, names: Sequence[str]) -> None:
        folded = [_folded(name) for name in names]
        first_names = [name.split(" ")[0] for name in folded]
        self._slot_of = {
            first: slot for slot, first in enumerate(first_names, start=1) if first_names.count(first) == 1
        }
        self._slot_of |= {name: slot for slot, name in enumerate(folded, start=1)}
        longest_first = sorted(self._slot_of, key=lambda name: (-len(name), name))
        listed = "|".join(r"\s+".join(map(re.escape, name.split())) for name in longest_first)
        one = rf"(?:{_CALLED}(?P<number>\d{{1,4}})|(?P<name>{listed}))(?![\w-])"
        # A number may be explained by a name, and a name by a number: "3: Ann", "Ann - Candidate 3".
        other = one.replace("<number>", "<number_too>").replace("<name>", "<name_too>")
        self._opening = re.compile(rf"\W*{one}(?:[\s:(–—-]*{other})?", re.IGNORECASE)
        self._whole = re.compile(self._opening.pattern + r"\W*", re.IGNORECASE)
        self._anywhere = re.compile(rf"(?<!\w)(?P<name>{listed})(?!\w)", re.IGNORECASE)

    def order(self, text: str) -> list[int]:
        """Return the slots of the candidates in the order of a reply, 0 for one that was not shown; empty without a ranking."""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if not lines:
            return []
        if not _ENUMERATED.match(lines[0]) and len(found := self._line(lines[0])) > 1:
            return found
        return self._numbered(lines) or self._block(lines)

    def _numbered(self, lines: Sequence[str]) -> list[int]:
        """Return the slots of numbered lines: the numbers are places if they count from 1, else candidates."""
        found = [match for line in lines if (match := _ENUMERATED.match(line))]
        places = [int(match["place"]) for match in found]
        if len(found) < 2:
            return []
        if places == list(range(1, len(places) + 1)):
            return [self._first(match["body"]) for match in found]
        return [self._slot(self._opening.match(f"{match['place']} {match['body']}")) for match in found]

    def _block(self, lines: Sequence[str]) -> list[int]:
        """Return the slots of the first consecutive lines that hold only candidates."""
        slots: list[int] = []
        for line in lines:
            found = self._line(line)
            if not found and slots:
                break
            slots += found
        return slots

    def _line(self, line: str) -> list[int]:
        """Return the slots of a line that holds only candidates, perhaps after "Ranking:"; otherwise nothing."""
        sentence = _SENTENCE_END.split(line)[0]
        for written in (sentence, sentence.partition(":")[2]):
            entries = [entry for entry in _SEPARATOR.split(written) if entry.strip()]
            matches = [self._whole.fullmatch(entry) for entry in entries]
            if matches and all(matches):
                return [self._slot(match) for match in matches]
        return []

    def _first(self, body: str) -> int:
        """Return the slot of the candidate that a numbered line opens with, or else names first."""
        opening = self._opening.match(body)
        if opening is not None:
            return self._slot(opening)
        named = self._anywhere.search(body)
        return self._slot_of[_folded(named["name"])] if named else _UNKNOWN

    def _slot(self, match: re.Match[str] | None) -> int:
        """Return the slot that a match means; a number and a name that contradict each other mean none."""
        if match is None:
            return _UNKNOWN
        said = {int(match[group]) for group in ("number", "number_too") if match[group]}
        said |= {self._slot_of[_folded(match[group])] for group in ("name", "name_too") if match[group]}
        return said.pop() if len(said) == 1 else _UNKNOWN


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())
