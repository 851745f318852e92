"""Replace a person's name in a text, so that only the name differs.

In prose a name is a whole word in any case; a word that contains it (Art in state-of-the-art, artist) is another word.
In addresses (e-mail, web, handles), where names are written small, without accents and joined, it is also found joined to
the words next to it in the text: emilysmith@ where the text has Emily Smith.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

# An e-mail address; a web address; a domain with a path or a common ending; a handle; a word with an underscore. Each begins
# where a word does and none backtracks, so that reading is linear.
_ADDRESS = re.compile(
    r"""
    (?<![\w.+%-])[\w.+%-]++@[\w-]++(?:\.[\w-]++)+
    | (?<!\w)(?:https?://|www\.)[^\s<>"')\]]+
    | (?<![\w.@-])(?:[\w-]++\.)+(?:[a-zA-Z]{2,}/[^\s<>"')\]]*|(?:com|org|net|dev|io|me|info|edu|example)(?![\w-]))
    | (?<![\w@])@[\w.-]+
    | (?<![\w-])\w*[^\W_]_\w+
    """,
    re.VERBOSE,
)
_LETTERS = re.compile(r"[^\W\d_]+")
# An apostrophe before a name belongs to a longer one (O'Brien), a hyphen between letters makes one word of both, and a combining
# accent belongs to the letter before it.
_BEFORE = r"(?<!\w)(?<!\w-)(?<!\w['’])"
_AFTER = r"(?!\w)(?!-\w)(?![\u0300-\u036f])"


class NameSwap:
    """A person's name in the texts about them, ready to be replaced by others.

    Args:
        name: the name as it is written, of one word or several.
        texts: all texts about the person; capitalised words next to the name in them may be joined to it in addresses.
    """

    def __init__(self, name: str, texts: Iterable[str]) -> None:
        self.name = name
        self._words = name.split()
        written = [_any_form(word) for word in self._words]
        phrase = r"\s+".join(written)
        # "de" in "Ana de Souza" is a word of its own elsewhere; it makes way only within the whole name.
        alone = [
            form
            for word, form in zip(self._words, written, strict=True)
            if not word.islower() or name.islower()
        ]
        self._prose = re.compile(rf"{_BEFORE}(?:{'|'.join([phrase, *alone])}){_AFTER}", re.IGNORECASE)
        in_context = re.compile(
            rf"(?:(?<!\w)(\w++)[ \t]+)?{self._prose.pattern}(?:[ \t]+(\w+))?", re.IGNORECASE
        )
        neighbours = {
            _folded(word)
            for text in texts
            for match in in_context.finditer(text)
            for word in match.groups()
            if word and word[0].isupper()
        }
        own = {_folded(word) for word in self._words} - {""}
        pieces = sorted(own | neighbours - {""}, key=lambda piece: (-len(piece), piece))
        self._piece = re.compile("|".join(map(re.escape, pieces)))
        # Possessive: a run of letters is read once, from left to right, whatever it holds.
        self._joined = re.compile(f"(?:{self._piece.pattern})++")
        self._own = own

    def holds(self, text: str) -> bool:
        """Return whether a text holds the name where `swap` replaces it."""
        return self._swap(text, self._words)[1] > 0

    def swap(self, text: str, new: str) -> str:
        """Return a text with each use of the name replaced, and every other word unchanged.

        Case is kept where it says something: KEISHA for EMILY, keisha for emily, and the new name as given for every other
        form. In addresses it is lower-case, without accents, and letters and digits only. A name of several words is replaced
        word by word.

        Raises:
            ValueError: the name has several words and the new one more or fewer; the message says so.
        """
        words = new.split()
        if len(self._words) == 1:
            words = [new]
        if len(words) != len(self._words):
            raise ValueError(
                f"{new!r} has {len(words)} word{'' if len(words) == 1 else 's'} and {self.name!r}, which it takes the place of, "
                f"has {len(self._words)}; both should have as many"
            )
        return self._swap(text, words)[0]

    def _swap(self, text: str, words: list[str]) -> tuple[str, int]:
        """Return the text with each word of the name replaced by that of the same place, and the number of replacements."""
        in_place_of = {_folded(old): new for old, new in zip(self._words, words, strict=True)}
        n = 0

        def in_prose(match: re.Match[str]) -> str:
            nonlocal n
            n += 1
            if len(match[0].split()) == len(self._words):
                places = iter(zip(self._words, words, strict=True))
                return re.sub(r"\S+", lambda word: _in_case(word[0], *next(places)), match[0])
            old = next(word for word in self._words if _folded(word) == _folded(match[0]))
            return _in_case(match[0], old, in_place_of[_folded(old)])

        def in_address(match: re.Match[str]) -> str:
            nonlocal n
            run = _folded(match[0])
            if not self._joined.fullmatch(run) or self._own.isdisjoint(self._piece.findall(run)):
                return match[0]
            n += 1
            return self._piece.sub(lambda piece: _folded(in_place_of.get(piece[0], piece[0])), run)

        parts, position = [], 0
        for address in _ADDRESS.finditer(text):
            parts.append(self._prose.sub(in_prose, text[position : address.start()]))
            parts.append(_LETTERS.sub(in_address, address[0]))
            position = address.end()
        parts.append(self._prose.sub(in_prose, text[position:]))
        return "".join(parts), n


def _any_form(word: str) -> str:
    """Return the pattern of a word with its accents composed or combining."""
    forms = {word, unicodedata.normalize("NFC", word), unicodedata.normalize("NFD", word)}
    return f"(?:{'|'.join(map(re.escape, sorted(forms)))})"


def _in_case(found: str, old: str, new: str) -> str:
    if found == old:
        return new
    if found.isupper() and len(found) > 1:
        return new.upper()
    return new.lower() if found.islower() else new


def _folded(name: str) -> str:
    """Return a name as in an address: lower-case, without accents, letters and digits only."""
    return "".join(one for one in unicodedata.normalize("NFKD", name.lower()) if one.isalnum())
