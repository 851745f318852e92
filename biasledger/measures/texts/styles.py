"""How a text is put: how easily it reads, and how much it hedges."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from biasledger.measures.schema import Table, columns, row, table_of

_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|\n+")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_PARTS = re.compile(r"['’-]")
# Abbreviations whose full stop ends no sentence.
_TITLE = re.compile(r"\b(Mr|Mrs|Ms|Mx|Dr|Prof|St|Sr|Sra|Srta|Mme|Mlle)\.(?=\s)", re.IGNORECASE)
_MASK = "x"

FLESCH: Mapping[str, tuple[str, float, float, float]] = {
    "en": ("en_US", 206.835, 1.015, 84.6),
    "de": ("de_DE", 180.0, 1.0, 58.5),
    "es": ("es", 206.84, 1.02, 60.0),
    "fr": ("fr", 207.0, 1.015, 73.6),
    "it": ("it_IT", 217.0, 1.3, 60.0),
    "nl": ("nl_NL", 206.835, 0.93, 77.0),
    "ru": ("ru_RU", 206.835, 1.3, 60.1),
}
"""Language -> where its words are parted, and the constant, the weight of words a sentence and of syllables a word.

Flesch (1948); Amstad (1978); Fernández Huerta (1959); Kandel & Moles (1958); Vacca & Franchina (1972); Douma (1960);
Oborneva (2006); as textstat has them.
"""


@dataclass(frozen=True)
class Style:
    """Reading ease on Flesch's scale and the share of sentences that hedge (0 to 1); NaN where its language has no such thing."""

    n_words: int
    n_sentences: int
    readability: float
    hedging: float


def style(text: str, language: str, hedges: re.Pattern[str] | None) -> Style | None:
    """Return the style of a text, None if it has no word; hedges: a pattern for hedges of its language, None if there is no list.

    Syllables are counted as places where a word may be hyphenated, plus one: fewer than spoken. Names are masked before
    (`masked_text`). Flesch's scale begins at 0, and a text may lie anywhere below it by its length alone.
    """
    sentences = [part for part in _SENTENCE_END.split(text) if _WORD.search(part)]
    words = _WORD.findall(text)
    if not words:
        return None
    ease = np.nan
    if language in FLESCH:
        dictionary, constant, of_sentence, of_word = FLESCH[language]
        syllables = sum(_syllables(word.lower(), dictionary) for word in words)
        ease = max(
            0.0, constant - of_sentence * len(words) / len(sentences) - of_word * syllables / len(words)
        )
    hedged = np.nan if hedges is None else float(np.mean([bool(hedges.search(one)) for one in sentences]))
    return Style(len(words), len(sentences), float(ease), hedged)


def masked_text(text: str, names: Collection[str]) -> str:
    """The text with one and the same short word for each that names somebody or a group: a long name reads no harder.

    names: in lower case; compounds and possessives of one are masked, too. A title ends no sentence.
    """

    def mask(found: re.Match[str]) -> str:
        word = found[0].lower()
        return _MASK if word in names or any(part in names for part in _PARTS.split(word)) else found[0]

    return _WORD.sub(mask, _TITLE.sub(r"\1", text))


@lru_cache(maxsize=100_000)
def _syllables(word: str, dictionary: str) -> int:
    return 1 + len(_dictionary(dictionary).positions(word))


@lru_cache
def _dictionary(name: str) -> Any:
    import pyphen  # type: ignore[import-untyped]  # ships no types

    return pyphen.Pyphen(lang=name)


def hedge_pattern(terms: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern for any of these words and phrases as a whole, None if there is none."""
    spelled = [re.escape(term) for term in sorted(terms, key=lambda term: (-len(term), term))]
    return re.compile(rf"(?<![\w'’-])(?:{'|'.join(spelled)})(?![\w'’-])", re.IGNORECASE) if spelled else None


def styles(texts: Iterable[tuple[str, str, str]], hedges: Mapping[str, Iterable[str]]) -> Table:
    """A row a text that has words: its key and Style. texts: key, language, text; hedges: language -> words and phrases."""
    patterns = {language: hedge_pattern(terms) for language, terms in hedges.items()}
    found = ((key, style(text, language, patterns.get(language))) for key, language, text in texts)
    return table_of(
        {"text_key": "str", **columns(Style)},
        [{"text_key": key, **row(one)} for key, one in found if one is not None],
    )
