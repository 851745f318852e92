"""Find phrases of many languages at the end of a text or within it.

The language files write phrases as regular expressions. Trying each of them at each word would cost more than reading an answer may.
So an expression that stands for a limited number of phrases ("(?:my |the )?answer") is written out once, and its phrases are looked
up in a set, whatever the number of languages. Any other expression is tried only on texts that hold a letter of its script.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product

from collector.answers.plain import UNSPACED, fold

_MOST_PHRASES = 6_000
_LONGEST = 80
_WORD = re.compile(rf"[^\W_{UNSPACED}]+(?:['’-][^\W_{UNSPACED}]+)*")
_RUN = re.compile(r"[^\W\d_]{3,}")
_FIRST_RUN = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_ESCAPES_AND_CLASSES = re.compile(r"\\.|\(\?[:=!<]*|\{[\d,]*\}")
_ALPHABET = re.compile(r"[^\W\d_a-zà-ɏ]")


class _NotLimitedError(Exception):
    """An expression that stands for more phrases than can be written out."""


class _Writer:
    """Writes out the phrases that an expression stands for: literals, groups, alternatives, `?` and sets of characters."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0

    def phrases(self) -> frozenset[str]:
        """Return the phrases.

        Raises:
            _NotLimitedError: the expression holds something else, or stands for too many phrases.
        """
        found = self._alternatives()
        if self._at < len(self._source):
            raise _NotLimitedError
        return frozenset(found)

    def _alternatives(self) -> set[str]:
        found = self._sequence()
        while self._next() == "|":
            self._at += 1
            found |= self._sequence()
        return found

    def _sequence(self) -> set[str]:
        found = {""}
        while self._next() not in ("", "|", ")"):
            one = self._optional(self._atom())
            if len(found) * len(one) > _MOST_PHRASES:
                raise _NotLimitedError
            found = {start + end for start, end in product(found, one)}
        return found

    def _optional(self, found: set[str]) -> set[str]:
        mark = self._next()
        if mark in ("*", "+", "{"):
            raise _NotLimitedError
        if mark != "?":
            return found
        self._at += 1
        if self._next() in ("?", "+"):
            self._at += 1
        return found | {""}

    def _atom(self) -> set[str]:
        mark = self._take()
        if mark == "(":
            if not self._source.startswith("?:", self._at):
                raise _NotLimitedError
            self._at += 2
            found = self._alternatives()
            if self._take() != ")":
                raise _NotLimitedError
            return found
        if mark == "[":
            return self._set()
        if mark == "\\":
            return {self._escaped()}
        if mark in ".^$":
            raise _NotLimitedError
        return {mark}

    def _set(self) -> set[str]:
        end = self._source.find("]", self._at)
        characters = self._source[self._at : end]
        if end < 0 or not characters or characters[0] == "^" or "\\" in characters or "-" in characters[1:-1]:
            raise _NotLimitedError
        self._at = end + 1
        return set(characters)

    def _escaped(self) -> str:
        mark = self._take()
        if mark == "b":
            return ""
        if not mark or mark.isalnum():
            raise _NotLimitedError
        return mark

    def _next(self) -> str:
        return self._source[self._at : self._at + 1]

    def _take(self) -> str:
        mark = self._next()
        self._at += 1
        return mark


def written_out(expression: str) -> frozenset[str] | None:
    """Return the phrases that an expression stands for, folded; None if they are not limited or too many."""
    try:
        found = _Writer(fold(expression.replace("\n", ""))).phrases()
    except _NotLimitedError:
        return None
    # What stands for nothing would be found everywhere.
    return frozenset(phrase for phrase in found if phrase.strip())


class Phrases:
    """Phrases, each a regular expression. The texts to look at are folded (plain.fold), their white space single spaces."""

    def __init__(self, expressions: Iterable[str]) -> None:
        phrases: set[str] = set()
        self._endings: list[tuple[tuple[str, ...], re.Pattern[str]]] = []
        self._anywhere: list[tuple[tuple[str, ...], re.Pattern[str]]] = []
        for expression in dict.fromkeys(expressions):
            limited = written_out(expression)
            if limited is not None:
                phrases |= {phrase.strip() for phrase in limited}
                continue
            source = _folded_source(expression)
            gate = _gate(source)
            boundary = "" if _is_unspaced(source) else r"(?<![^\W_])"
            end = "" if _is_unspaced(source) else r"(?![^\W_])"
            self._endings.append((gate, re.compile(rf"{boundary}(?:{source})\Z")))
            self._anywhere.append((gate, re.compile(rf"{boundary}(?:{source}){end}")))
        unspaced = {phrase for phrase in phrases if _UNSPACED.search(phrase)}
        self._phrases = frozenset(phrases)
        # A tuple, as str.endswith and str.startswith want it.
        self._unspaced = tuple(sorted(unspaced, key=len, reverse=True))
        # Most texts neither start nor end with a phrase: one look at their first or last word tells.
        self.first = frozenset(_first_run(phrase) for phrase in phrases)
        self.last = frozenset(_last_run(phrase) for phrase in phrases)
        spaced = {" ".join(_WORD.findall(phrase)): phrase for phrase in phrases - unspaced}
        self._words = frozenset(words for words in spaced if words)
        self._first_words = frozenset(words.split(" ")[0] for words in self._words if " " in words)
        self._most_words = max((words.count(" ") + 1 for words in self._words), default=0)
        self._glued = re.compile("|".join(map(re.escape, self._unspaced))) if self._unspaced else None

    def ending(self, text: str) -> int | None:
        """Return where the longest phrase starts that the text ends with; None if it ends with none."""
        start = self._ending_in_set(text) if text else None
        if not self._endings:
            return start
        tail = text[-_LONGEST:]
        for gate, pattern in self._endings:
            if _may_match(gate, tail):
                found = pattern.search(tail)
                if found is not None and found.end() > found.start():
                    at = len(text) - len(tail) + found.start()
                    start = at if start is None else min(start, at)
        return start

    def _ending_in_set(self, text: str) -> int | None:
        if self._unspaced and _UNSPACED.match(text[-1]):
            found = next((phrase for phrase in self._unspaced if text.endswith(phrase)), None)
            return None if found is None else len(text) - len(found)
        if _last_run(text) not in self.last:
            return None
        start: int | None = None
        at = len(text)
        n_words = 0
        while at > 0 and n_words <= self._most_words:
            at -= 1
            if at > 0 and text[at].isalnum():
                before = text[at - 1]
                if before.isalnum() and (before.isascii() or not _UNSPACED.match(before)):
                    continue
            if text[at:] in self._phrases:
                start = at
            if text[at] == " ":
                n_words += 1
        return start

    def starting(self, text: str) -> int | None:
        """Return where the longest phrase ends that the text starts with; None if it starts with none."""
        if _first_run(text[:_LONGEST]) in self.first:
            words = text[: 2 * _LONGEST].split(" ", self._most_words)
            for n in range(min(len(words), self._most_words), 0, -1):
                bare = " ".join(words[:n]).rstrip(".,;:!?)\"'")
                if bare in self._phrases:
                    return len(bare)
        if self._unspaced and text.startswith(self._unspaced):
            return next(len(phrase) for phrase in self._unspaced if text.startswith(phrase))
        for gate, pattern in self._anywhere:
            if _may_match(gate, text[:_LONGEST]):
                found = pattern.match(text)
                if found is not None:
                    return found.end()
        return None

    def within(self, text: str) -> tuple[int, int] | None:
        """Return where a phrase of whole words stands in the text; None if none does."""
        found = list(_WORD.finditer(text)) if self._words else []
        words = [one[0] for one in found]
        for index, word in enumerate(words):
            if word in self._words:
                return found[index].span()
            if word in self._first_words:
                for n in range(2, min(self._most_words, len(words) - index) + 1):
                    if " ".join(words[index : index + n]) in self._words:
                        return found[index].start(), found[index + n - 1].end()
        if self._glued is not None and _UNSPACED.search(text):
            glued = self._glued.search(text)
            if glued is not None:
                return glued.span()
        for gate, pattern in self._anywhere:
            if _may_match(gate, text):
                match = pattern.search(text)
                if match is not None and match.end() > match.start():
                    return match.span()
        return None

    def is_word(self, text: str) -> bool:
        """Whether the text is one of the phrases."""
        return text in self._phrases or any(pattern.fullmatch(text) for _, pattern in self._anywhere)


def _last_run(text: str) -> str:
    """Return the letters and digits that a text ends with, or its last character."""
    start = len(text)
    while start and text[start - 1].isalnum():
        start -= 1
    return text[start:] or text[-1:]


def _first_run(text: str) -> str:
    """Return the letters and digits that a text starts with, or its first character."""
    found = _FIRST_RUN.match(text)
    return found[0] if found else text[:1]


def _folded_source(expression: str) -> str:
    """Return an expression whose letters are folded and whose escapes are left alone."""
    return re.sub(
        r"\\.|[^\\]+",
        lambda found: found[0] if found[0].startswith("\\") else fold(found[0]),
        expression.replace("\n", ""),
    )


def _gate(source: str) -> tuple[str, ...]:
    """Return what a text must hold one of for the expression to match: letters of its script, or starts of its words."""
    cleaned = _ESCAPES_AND_CLASSES.sub(" ", source)
    letters = tuple(dict.fromkeys(_ALPHABET.findall(cleaned)))
    starts = tuple(dict.fromkeys(run[:3] for run in _RUN.findall(cleaned)))
    return letters or starts


def _may_match(gate: tuple[str, ...], text: str) -> bool:
    return not gate or any(key in text for key in gate)


def _is_unspaced(source: str) -> bool:
    return _UNSPACED.search(source) is not None
