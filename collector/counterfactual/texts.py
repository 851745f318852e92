"""Words of a prompt, what of it is left alone, and the swaps that a language finds in it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

WORD = re.compile(r"(?:(?<!\w)\d+-)?[^\W\d_]+(?:-[^\W\d_]+)*")
# Quoted text, code, addresses and user names are somebody's words or names of things. No pattern reads past another
# opening mark or starts inside of a word, so that a long text is read once.
_QUOTED = re.compile(
    r'"[^"\n]*"|“[^“”]*”|„[^„“”"]*[“”"]|«[^«»]*»|»[^«»]*«|‹[^‹›]*›|```.*?```|`[^`\n]*`'
    # Single quotes, but not the apostrophe of "don't", "the girls' team", "'cause" or "the '90s".
    r"|(?<!\w)['‘‚](?!(?:twas|tis|cause|em|er|til|till|bout|round|cos|coz|n|\d+s?)\b)(?=\w)"
    r"(?:[^'’‘‚\n]|(?<=\w)['’](?=\w)){1,500}(?<=[\w.,!?])['’‘](?!\w)",
    re.DOTALL | re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"https?://\S+|www\.\S+|(?<!\S)[^\s@]+@[^\s.]+\.\S+|(?<!\w)@\w+|<[^<>\s]+>|(?<!\w)\w+\.(?:com|org|net|de|fr)\b"
)
_ENDS = re.compile(r"[.!?:;\n…]")
# A point after these ends no sentence.
TITLES = frozenset(
    "mr mrs ms miss dr prof professor herr frau herrn sr sra srta dra monsieur madame mme mlle m st saint dona don".split()
)
_CLAUSE = re.compile(r"[.!?:;,\n…()–—]")


class NotSafeError(Exception):
    """A word names a person and cannot be swapped without a guess; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Swap:
    """A place in a prompt, and its text for each group."""

    start: int
    end: int
    forms: Mapping[str, str]
    group: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A word that states a group: its forms for all groups, and what kind of word it is."""

    attribute: str
    group: str
    forms: Mapping[str, str]
    kind: str


@dataclass(slots=True)
class Prompt:
    """A prompt's words with their places, whether each is left alone, and whether that is because it is quoted or code."""

    text: str
    words: list[str] = field(default_factory=list)
    lower: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    is_left: list[bool] = field(default_factory=list)
    is_quoted: list[bool] = field(default_factory=list)

    @classmethod
    def of(cls, text: str, fixed: re.Pattern[str]) -> Prompt:
        """Split a text; one that is quoted from its first to its last character is read as if it were not."""
        prompt = cls(text)
        whole = text.strip()
        left = bytearray(len(text))
        for pattern in (_QUOTED, _ADDRESS, fixed):
            for one in pattern.finditer(text):
                if pattern is not _QUOTED or one[0] != whole:
                    left[one.start() : one.end()] = (b"q" if pattern is _QUOTED else b"x") * len(one[0])
        for word in WORD.finditer(text):
            prompt.words.append(word[0])
            prompt.lower.append(word[0].lower())
            prompt.starts.append(word.start())
            prompt.ends.append(word.end())
            prompt.is_left.append(any(left[word.start() : word.end()]))
            prompt.is_quoted.append(b"q" in left[word.start() : word.end()])
        return prompt

    def at(self, index: int) -> str:
        """Return a word in lower case, or nothing outside of the text."""
        return self.lower[index] if 0 <= index < len(self.lower) else ""

    def written(self, index: int) -> str:
        """Return a word as written, or nothing outside of the text."""
        return self.words[index] if 0 <= index < len(self.words) else ""

    def between(self, index: int) -> str:
        """Return the text between a word and the one before it."""
        if not 0 <= index < len(self.words):
            return "\n"
        return self.text[self.ends[index - 1] if index else 0 : self.starts[index]]

    def begins(self, index: int) -> bool:
        """Return whether a word begins a sentence."""
        if index > 0 and self.lower[index - 1] in TITLES and self.between(index).strip() == ".":
            return False
        return index <= 0 or _ENDS.search(self.between(index)) is not None

    def is_last(self, index: int) -> bool:
        """Return whether a word ends a clause: a mark or nothing follows."""
        if index + 1 >= len(self.words):
            return True
        is_title = self.lower[index] in TITLES and self.between(index + 1).strip() == "."
        return not is_title and _CLAUSE.search(self.between(index + 1)) is not None

    def clause(self, index: int) -> tuple[int, int]:
        """Return the first word and the end of the clause that a word is in."""
        first = index
        while first > 0 and _CLAUSE.search(self.between(first)) is None:
            first -= 1
        last = index
        while not self.is_last(last):
            last += 1
        return first, last + 1

    def follows(self, index: int) -> str:
        """Return the next character but spaces after a word."""
        return self.text[self.ends[index] :].lstrip(" \t")[:1]

    def is_question(self, index: int) -> bool:
        """Return whether the sentence of a word ends with a question mark."""
        end = _ENDS.search(self.text, self.ends[index])
        return end is not None and end[0] == "?"


def without_accents(text: str) -> str:
    """Return a text without the marks on its letters."""
    return "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one))


def in_case(written: str, form: str) -> str:
    """Return a form in the same letter case as the word that it replaces."""
    if len(written) > 1 and written.isupper():
        return form.upper()
    return form[:1].upper() + form[1:] if written[:1].isupper() else form


def phrase_pattern(phrases: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of any of some phrases as whole words, whatever their case and apostrophes; with capitals, as written."""
    by_start: dict[
        str, list[str]
    ] = {}  # an alternative for each two letters, so that few are tried at a place
    for one in sorted(phrases, key=len, reverse=True):
        parts = (one[:2], one[2:])
        start, end = (re.escape(part).replace(r"\ ", r"\s+").replace("'", "['’]") for part in parts)
        by_start.setdefault(f"(?{'i' if one.islower() else ''}:{start}", []).append(end)
    starts = (rf"{start}(?:{'|'.join(ends)}))" for start, ends in by_start.items())
    return re.compile(rf"(?<!\w)(?:{'|'.join(starts)})(?!\w)" if by_start else r"(?!)")
