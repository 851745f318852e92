"""Slots in templates: `{race}` and `{a race}`, filled by plain substitution in one pass.

`{a race}` puts the indefinite article before the descriptor and lets it agree: "an Asian", "a Black". Literal braces are
doubled. Inserted text is never parsed again, so a descriptor may hold braces, percent signs or anything else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

SLOT_NAME = r"[A-Za-z][A-Za-z0-9_]*"
TOKEN = re.compile(r"\{\{|\}\}|\{(?:(?P<article>[aA]) +)?(?P<name>" + SLOT_NAME + r")\}|[{}]")

# The article follows the sound. The vowel rule on the first letter is right except for these openings.
SOUNDS_LIKE_CONSONANT = re.compile(
    r"(?:eu|ew|one\b|once\b|ubiq|uga|ukr|uru|uyg|uta|uk\b|us\b|usa\b|use|usu|ute|uti|uto|un\b|uni(?!m|n|d))"
)
SOUNDS_LIKE_VOWEL = re.compile(r"(?:hour|honest|honou?r|heir|hiv\b|lgbt|mba\b|8|11(?!\d)|18(?!\d))")
CLOSING_PUNCTUATION = ".,;:!?)"


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a template that a group's descriptor fills; `article` is '', 'a' or 'A'."""

    name: str
    article: str


class SlotSyntaxError(ValueError):
    """A template has a brace that opens no slot and is not doubled."""


@lru_cache(maxsize=256)
def parse_template(text: str) -> tuple[str | Slot, ...]:
    """Split a template into literal text and slots, in order.

    Raises:
        SlotSyntaxError: a single brace; the message shows where and what to write instead.
    """
    parts: list[str | Slot] = []
    literal: list[str] = []
    position = 0
    for token in TOKEN.finditer(text):
        literal.append(text[position : token.start()])
        position = token.end()
        if token["name"] is not None:
            if joined := "".join(literal):
                parts.append(joined)
            literal = []
            parts.append(Slot(token["name"], token["article"] or ""))
        elif token[0] in ("{{", "}}"):
            literal.append(token[0][0])
        else:
            around = text[token.start() : token.start() + 20]
            raise SlotSyntaxError(
                f"has a single {token[0]!r} at {around!r}; a slot is written {{race}} or {{a race}}, and a literal brace "
                f"is doubled: {token[0] * 2!r}"
            )
    literal.append(text[position:])
    if joined := "".join(literal):
        parts.append(joined)
    return tuple(parts)


def slot_names(parts: tuple[str | Slot, ...]) -> tuple[str, ...]:
    """Return the names of the slots in order of first use, each once."""
    return tuple(dict.fromkeys(part.name for part in parts if isinstance(part, Slot)))


def fill(parts: tuple[str | Slot, ...], descriptors: Mapping[str, str]) -> str:
    """Return the text with every slot replaced by its descriptor.

    An empty descriptor (a masked slot) takes one neighbouring space with it, and an article before it agrees with the word
    that follows: "for {a race} {gender}" with race masked and gender "person" gives "for a person".

    Raises:
        KeyError: a slot has no descriptor.
    """
    # From the end to the start, because an article in front of an empty descriptor has to know what follows.
    rest = ""
    for index in range(len(parts) - 1, -1, -1):
        part = parts[index]
        if isinstance(part, str):
            if rest == "" or rest[0] in CLOSING_PUNCTUATION:
                follows_empty = index + 1 < len(parts) and _is_empty(parts[index + 1], descriptors)
                part = part[:-1] if follows_empty and part.endswith(" ") else part
            rest = part + rest
            continue
        descriptor = descriptors[part.name]
        if part.article:
            filled = f" {descriptor}" if descriptor else ("" if rest.startswith(" ") else " ")
            article = indefinite_article(descriptor or rest)
            rest = (article.capitalize() if part.article == "A" else article) + filled + rest
        elif descriptor:
            rest = descriptor + rest
        elif rest.startswith(" ") and (index == 0 or _ends_with_space(parts[index - 1])):
            rest = rest[1:]
    return rest


@lru_cache(maxsize=4096)
def indefinite_article(phrase: str) -> str:
    """Return 'a' or 'an' for the first word of a phrase: by its first letter, with a stated list of exceptions."""
    decomposed = unicodedata.normalize("NFD", phrase.lower())
    plain = "".join(character for character in decomposed if not unicodedata.combining(character))
    word = re.sub(r"^[^0-9a-z]+", "", plain)
    if SOUNDS_LIKE_VOWEL.match(word):
        return "an"
    if SOUNDS_LIKE_CONSONANT.match(word):
        return "a"
    return "an" if word[:1] in ("a", "e", "i", "o", "u") else "a"


def _is_empty(part: str | Slot, descriptors: Mapping[str, str]) -> bool:
    return isinstance(part, Slot) and not part.article and descriptors[part.name] == ""


def _ends_with_space(part: str | Slot) -> bool:
    return isinstance(part, str) and part.endswith(" ")
