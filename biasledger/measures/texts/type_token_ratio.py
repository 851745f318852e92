"""Lexical diversity: the share of different words among a text's words (type-token ratio), in windows of one length."""

from __future__ import annotations

from collections import Counter

import numpy as np

from biasledger.measures.declared import Threshold
from biasledger.measures.texts.outcomes import MASK, Text, TextMeasure

WINDOW = 25
"""Words of a window: the ratio of a whole text falls with its length."""
# Written without a blank between two words.
_UNSPACED = frozenset({"ja", "km", "lo", "my", "th", "zh"})


def type_token_ratio(text: Text) -> float:
    """Return the mean over all windows of 25 words of their share of different words, 1/25 to 1 (Covington & McFall 2010).

    Names count for nothing. NaN for a text of fewer than 25 words, and for a language without blanks between words.
    """
    words = [word.lower() for word in text.words if word != MASK]
    if len(words) < WINDOW or text.language in _UNSPACED:
        return np.nan
    counts = Counter(words[:WINDOW])
    n_different = [len(counts)]
    for left, entered in zip(words, words[WINDOW:], strict=False):
        counts[entered] += 1
        counts[left] -= 1
        if counts[left] == 0:
            del counts[left]
        n_different.append(len(counts))
    return float(np.mean(n_different)) / WINDOW


MEASURES = (
    TextMeasure(
        name="type_token_ratio_gap",
        description=(
            "How much more or less varied the words of answers about a group are; shares of different words in windows of 25, so "
            "that the length of an answer does not matter"
        ),
        scale="difference of shares of different words in 25, group minus reference",
        bounds=(-1, 1),
        side="two-sided",
        unit="prompts or answers about the smaller group",
        label="the gap in different words",
        display=(100, " points"),
        statement="in answers {about_group} %.1f %% of 25 words in a row are different, and in answers {about_reference} %.1f %%",
        threshold=Threshold(
            value=0.05,
            reason="No published value: one word in twenty more is a repetition. Repetition is not wrong by itself, so it warns",
            source="Ours; the measure is Covington & McFall's (2010) moving-average type-token ratio",
            min_units=5,
            severity="warn",
        ),
        of_text=type_token_ratio,
    ),
)
