"""Find phrases of many languages at the end of a text or within it.

The language files write phrases as regular expressions. Trying each of them at each word would take too long. So an expression
that stands for a limited number of phrases ("(?:my |the )?answer") is written out once, and its phrases are looked up in a set,
whatever the number of languages. Any other expression is tried only on texts that hold the start of one of its words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from itertools import product
from typing import Any

from collector.answers.texts.plain import MARKS, UNSPACED, fold, is_joined

_MOST_PHRASES = 6_000
_LONGEST = 80
_LETTER = rf"(?:[^\W_{UNSPACED}]|[{MARKS}])"
_WORD = re.compile(rf"{_LETTER}+(?:['-]{_LETTER}+)*")
_RUN = re.compile(r"[^\W\d_]{3,}")
_FIRST_RUN = re.compile(rf"(?:[^\W_]|[{MARKS}])+")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_ASCII_WORD = re.compile(r"[a-z0-9]+(?:['-][a-z0-9]+)*")
_PIECE = re.compile(rf"{_LETTER}+|[^\s]")
_ASCII_PIECE = re.compile(r"[a-z0-9]+|\S")
_ESCAPES_AND_CLASSES = re.compile(r"\\.|\(\?[:=!<]*|\{[\d,]*\}")
_ALPHABET = re.compile(r"[^\W\d_a-zà-ɏ]")


class _NotLimitedError(Exception):
    """An expression with more phrases than can be written out."""


class _Writer:
    """Write out the phrases that an expression matches: literals, groups, alternatives, `?` and sets of characters."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0

    def phrases(self) -> frozenset[str]:
        """Return the phrases.

        Raises:
            _NotLimitedError: the expression holds something else, or matches too many phrases.
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
    """Return the phrases that an expression matches, folded; None if they are not limited or too many."""
    try:
        found = _Writer(fold(expression.replace("\n", ""))).phrases()
    except _NotLimitedError:
        return None
    # An empty phrase would be found everywhere.
    return frozenset(stripped for phrase in found if (stripped := phrase.strip()))


class _Expression:
    """An expression that is not written out. It is compiled when a text may match it, because compiling takes long."""

    def __init__(self, expression: str) -> None:
        self._source = _folded_source(expression)
        self.gate = _gate(self._source)
        self._is_unspaced = _UNSPACED.search(self._source) is not None

    def may_match(self, text: str) -> bool:
        return self._gate_pattern.search(text) is not None

    @cached_property
    def _gate_pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self.gate)))

    @cached_property
    def ending(self) -> re.Pattern[str]:
        return re.compile(rf"{self._boundary}(?:{self._source})\Z")

    @cached_property
    def anywhere(self) -> re.Pattern[str]:
        end = "" if self._is_unspaced else rf"(?![^\W_]|[{MARKS}])"
        return re.compile(rf"{self._boundary}(?:{self._source}){end}")

    @property
    def _boundary(self) -> str:
        return "" if self._is_unspaced else rf"(?<![^\W_])(?<![{MARKS}])"


class Phrases:
    """Phrases, each a regular expression. The texts to look at are folded (plain.fold), their white space single spaces."""

    def __init__(self, expressions: Iterable[str]) -> None:
        phrases: set[str] = set()
        self._expressions: list[_Expression] = []
        for expression in dict.fromkeys(expressions):
            limited = written_out(expression)
            if limited is None:
                self._expressions.append(_Expression(expression))
            else:
                phrases |= limited
        self._phrases = phrases
        unspaced = (phrase for phrase in phrases if not phrase.isascii() and _UNSPACED.search(phrase))
        # A tuple, as str.endswith and str.startswith want it.
        self._unspaced = tuple(sorted(unspaced, key=len, reverse=True))
        self._longest = max(map(len, phrases), default=0)
        self._most_words = max((phrase.count(" ") + phrase.count("'") + 1 for phrase in phrases), default=0)

    def _candidates(self, text: str) -> Sequence[_Expression]:
        """Return the expressions that a text may match; for English texts one search excludes them all."""
        if not self._expressions or (text.isascii() and not self._ascii_gate.search(text)):
            return ()
        return [expression for expression in self._expressions if expression.may_match(text)]

    @cached_property
    def _ascii_gate(self) -> re.Pattern[str]:
        if not all(expression.gate for expression in self._expressions):
            return re.compile("")
        keys = {key for expression in self._expressions for key in expression.gate if key.isascii()}
        return re.compile("|".join(sorted(keys)) or r"(?!)")

    # Most texts neither start nor end with a phrase: checking their first or last word is enough.
    @cached_property
    def first(self) -> frozenset[str]:
        """The words that phrases start with."""
        return frozenset(map(_first_run, self._phrases))

    @cached_property
    def last(self) -> frozenset[str]:
        """The words that phrases end with."""
        return frozenset(map(_last_run, self._phrases))

    @cached_property
    def _words(self) -> frozenset[str]:
        # "/year" is no word of its own.
        spaced = (
            " ".join(_WORD.findall(phrase))
            for phrase in self._phrases.difference(self._unspaced)
            if phrase[0].isalnum()
        )
        return frozenset(words for words in spaced if words)

    @cached_property
    def _first_words(self) -> frozenset[str]:
        return frozenset(words.split(" ")[0] for words in self._words if " " in words)

    @cached_property
    def _glued(self) -> re.Pattern[str] | None:
        return re.compile("|".join(map(re.escape, self._unspaced))) if self._unspaced else None

    def ending(self, text: str) -> int | None:
        """Return where the longest phrase starts that the text ends with; None if it ends with none."""
        start = self._ending_in_set(text) if text else None
        tail = text[-_LONGEST:]
        for expression in self._candidates(tail):
            found = expression.ending.search(tail)
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
        pattern = _ASCII_PIECE if text.isascii() else _PIECE
        for piece in pattern.finditer(text, max(0, len(text) - self._longest)):
            start = piece.start()
            if text[start:] in self._phrases and not (
                start and is_joined(text[start]) and _joins(text[start - 1])
            ):
                return start
        return None

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
        for expression in self._candidates(text[:_LONGEST]):
            found = expression.anywhere.match(text)
            if found is not None:
                return found.end()
        return None

    def within(self, text: str) -> tuple[int, int] | None:
        """Return the place of a phrase of whole words in the text, None if there is none."""
        pattern = _ASCII_WORD if text.isascii() else _WORD
        found = list(pattern.finditer(text)) if self._words else []
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
        for expression in self._candidates(text):
            match = expression.anywhere.search(text)
            if match is not None and match.end() > match.start():
                return match.span()
        return None

    def is_word(self, text: str) -> bool:
        """Return whether the text is one of the phrases."""
        return text in self._phrases or any(one.anywhere.fullmatch(text) for one in self._candidates(text))


def word_lists(
    kind: type, lists: Mapping[str, Iterable[str]], except_: Collection[str] = ()
) -> dict[str, Any]:
    """Return the lists that a class of words has as fields: as Phrases, or as a set or a tuple of folded words.

    Args:
        kind: the dataclass.
        lists: name of a field -> its phrases or words.
        except_: fields of other types, which the caller makes.

    Raises:
        KeyError: a list is missing.
        TypeError: a field that is not in `except_` has another type.
    """
    make: dict[str, Callable[[Iterable[str]], Any]] = {
        "Phrases": Phrases,
        "frozenset[str]": lambda words: frozenset(map(fold, words)),
        "tuple[str, ...]": lambda words: tuple(map(fold, words)),
    }
    listed = [one for one in fields(kind) if one.name not in except_]
    for one in listed:
        if one.type not in make:
            raise TypeError(
                f"{kind.__name__}.{one.name} should be one of {', '.join(make)} and is {one.type}."
            )
    return {one.name: make[str(one.type)](lists[one.name]) for one in listed}


def _joins(character: str) -> bool:
    """Return whether a letter after this character goes on with the same word."""
    return is_joined(character) and not _UNSPACED.match(character)


def _last_run(text: str) -> str:
    """Return the letters and digits that a text ends with, or its last character."""
    word = text.rpartition(" ")[2]
    if word.isalnum():
        return word
    start = len(text)
    while start and is_joined(text[start - 1]):
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
    """Return letters or starts of words, one of which a text must contain for the expression to match."""
    cleaned = _ESCAPES_AND_CLASSES.sub(" ", source)
    letters = tuple(dict.fromkeys(_ALPHABET.findall(cleaned)))
    starts = tuple(dict.fromkeys(run[:3] for run in _RUN.findall(cleaned)))
    return letters or starts
