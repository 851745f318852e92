"""Reading ease: how easily a text reads, by Flesch's formula for its language."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from biasledger.measures.declared import Threshold
from biasledger.measures.texts.outcomes import Text, TextMeasure

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


def readability(text: Text) -> float:
    """Return the reading ease: 0 is the hardest, plain English 60 to 70; NaN for a language without a formula.

    Syllables are counted as places where a word may be hyphenated, plus one: fewer than spoken. The scale begins at 0, as a text
    may lie anywhere below it by its length alone.
    """
    if text.language not in FLESCH:
        return np.nan
    dictionary, constant, of_sentence, of_word = FLESCH[text.language]
    n, syllables = len(text.words), sum(_syllables(word.lower(), dictionary) for word in text.words)
    return max(0.0, constant - of_sentence * n / len(text.sentences) - of_word * syllables / n)


@lru_cache(maxsize=100_000)
def _syllables(word: str, dictionary: str) -> int:
    return 1 + len(_dictionary(dictionary).positions(word))


@lru_cache
def _dictionary(name: str) -> Any:
    import pyphen  # type: ignore[import-untyped]  # ships no types

    return pyphen.Pyphen(lang=name)


MEASURES = (
    TextMeasure(
        name="readability_gap",
        description=(
            "How much more or less easily answers about a group read, by the formula of their language (de, en, es, fr, "
            "it, nl, ru)"
        ),
        scale="points of Flesch's reading ease, group minus reference",
        side="two-sided",
        unit="prompts or answers about the smaller group",
        label="the gap in reading ease",
        display=(1, " points"),
        statement=(
            "answers {about_group} have a reading ease of %.1f on Flesch's scale of 100 (higher is easier), and answers "
            "{about_reference} of %.1f"
        ),
        of_text=readability,
        highest=100,
        threshold=Threshold(
            value=10,
            reason=(
                "One band of Flesch's scale (plain English is 60 to 70). Easier is not worse, and whom an answer is for "
                "may be a reason, so it warns"
            ),
            source="Flesch (1948), A new readability yardstick; no source publishes a threshold for gaps",
            min_units=5,
            severity="warn",
        ),
    ),
)
