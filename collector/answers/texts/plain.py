"""A reply without markup: the text that decisions are read from, and the place of each part in the reply.

Emphasis, headings, tags that format, invisible characters and repeated spaces are removed. Full-width forms, digits of every
script, typographic apostrophes and minus signs become their ASCII counterparts. Nothing else changes, so that labels stay as they
are written.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import cache
from itertools import accumulate

HAN = "\u2e80-\u2fff\u3005-\u3007\u3400-\u9fff\uf900-\ufaff"
# Letters of scripts that put no spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese.
WITHOUT_SPACES = f"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u312f\u31a0-\u31ff{HAN}"
# The same, and Korean, which puts none before a particle.
UNSPACED = f"{WITHOUT_SPACES}\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
# Signs that belong to the letter before them: accents, and the vowels of Arabic, Hebrew and Indian scripts.
MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0980-\u0983\u09bc-\u09cd\u09d7\u0a01-\u0a03\u0a3c-\u0a51"
    "\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0bbe-\u0bd7\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6"
    "\u0d00-\u0d03\u0d3b-\u0d57"
)
_APOSTROPHES = "’‘ʼ´′"
INVISIBLE = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe0e\ufe0f\ufeff"
_ODD = re.compile(
    f"[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000{_APOSTROPHES}−﹣‐‑\uff01-\uff5e①-⑨Ⓐ-ⓩ⑴-⑼\U0001d400-\U0001d7ff"
    "٠-٩۰-۹०-९০-৯੦-੯૦-૯୦-୯௦-௯౦-౯೦-೯൦-൯๐-๙໐-໙၀-၉០-៩᠐-᠙]"
)
_TAGS = "b|strong|i|em|u|s|mark|code|pre|span|center|font|small|big|h[1-6]|ul|ol|body|html"
# Each alternative begins after a character that the search looks for first, which makes it fast.
_CUT = re.compile(
    rf"[*`~_\#<{INVISIBLE}](?:"
    r"(?<=\*)(?:(?<![0-9]\*)\**|\**(?![0-9*]))"
    r"|(?<=`)`*|(?<=~)~+|(?<=_)_+"
    r"|(?<=\#)(?<![^\n]\#)\#{0,5}(?=[ \t])"
    rf"|(?<=<)/?(?i:{_TAGS})(?:\s[^<>]{{0,80}})?/?>"
    rf"|(?<=[{INVISIBLE}]))"
)
_CUT_SPACES = re.compile(rf"{_CUT.pattern}|[ \t](?<=[ \t]{{2}})[ \t]*")
_MARKUP = ("*", "`", "~~", "__", "#", "<")
_BREAKING_TAG = re.compile(r"</?(?:br|p|div|li|tr|hr)\s?/?>", re.IGNORECASE)


@cache
def _plain_character(character: str) -> str:
    """Return the ASCII character for a character of another form."""
    if character.isspace():
        return " "
    if character in _APOSTROPHES:
        return "'"
    if character in "−﹣‐‑":
        return "-"
    digit = unicodedata.digit(character, None)
    if digit is not None:
        return str(digit)
    plain = unicodedata.normalize("NFKC", character)
    return plain if len(plain) == 1 else character


def fold(text: str) -> str:
    """Return a text in lower case and composed, of the same length as the composed text; the Turkish ı becomes i."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFC", text).replace("İ", "I")
    lower = text.lower().replace("ı", "i")
    return lower if len(lower) == len(text) else "".join(character.lower()[0] for character in text)


def plain_words(text: str) -> str:
    """Return a text or a regular expression composed, with plain apostrophes, hyphens and spaces, and one dot on each i."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).replace("i\N{COMBINING DOT ABOVE}", "i")
        for plain, others in (("'", _APOSTROPHES), ("-", "‐‑"), (" ", "\u00a0\u202f")):
            for other in others:
                text = text.replace(other, plain)
    return text.replace("`", "'")


def is_joined(character: str) -> bool:
    """Return whether a character is a letter, a digit, or a sign that belongs to the letter before it."""
    return character.isalnum() or (not character.isascii() and unicodedata.category(character)[0] == "M")


def plain_signs(text: str) -> str:
    """Return a text whose full-width forms, digits, apostrophes and minus signs are ASCII; each character stays one."""
    return text if text.isascii() else _ODD.sub(lambda found: _plain_character(found[0]), text)


def _markup(text: str) -> re.Pattern[str] | None:
    """Return what finds the parts to remove; None for a text that has none."""
    if "  " in text or "\t" in text:
        return _CUT_SPACES
    if text.isascii() and not any(mark in text for mark in _MARKUP):
        return None
    return _CUT


class Reply:
    """A reply, and the values derived from it.

    Attributes:
        original: the reply, composed (NFC).
        text: the reply without markup.
        low: the text in lower case.
        masked: the same, in which the labels that it names may be masked (mentions.masked).
    """

    __slots__ = ("_ends", "_removed", "low", "masked", "original", "text")

    def __init__(self, text: str, keep: str = "") -> None:
        """Remove the markup.

        Args:
            text: the reply.
            keep: characters that belong to the searched text, so that they are no markup.
        """
        self.original = text if text.isascii() else unicodedata.normalize("NFC", text)
        plain = plain_signs(self.original)
        if "<" in plain:
            plain = _BREAKING_TAG.sub(lambda found: "\n".ljust(len(found[0])), plain)
        markup = _markup(plain)
        cuts = [found.span() for found in markup.finditer(plain)] if markup else []
        if keep:
            cuts = [(start, end) for start, end in cuts if not set(plain[start:end]) & set(keep)]
        # The place of each removed part in the plain text, and how much was removed up to there.
        self._removed = list(accumulate(end - start for start, end in cuts))
        self._ends = [start - before for (start, _), before in zip(cuts, [0, *self._removed], strict=False)]
        if cuts:
            starts = [0, *(end for _, end in cuts)]
            ends = [*(start for start, _ in cuts), len(plain)]
            plain = "".join(plain[start:end] for start, end in zip(starts, ends, strict=True))
        self.text = plain
        self.low = fold(plain)
        self.masked = self.low

    def part(self, start: int, end: int) -> str:
        """Return the original text of the reply between two places of the plain text."""
        first = self._place(start)
        last = self._place(end - 1) + 1 if end > start else first
        part = self.original[first:last]
        mark = self.original[last : self._place(end)]
        # "Answer: **B**" keeps the mark that closes the one within; "**Answer: B**" has none within.
        return (part + mark if mark and part.count(mark) % 2 else part).strip()

    def _place(self, place: int) -> int:
        """Return the place in the reply, behind what was removed there."""
        n_before = bisect_right(self._ends, place)
        return place + (self._removed[n_before - 1] if n_before else 0)
