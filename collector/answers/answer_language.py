"""Detect the language of an answer."""

from __future__ import annotations

import logging
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

logger = logging.getLogger(__name__)

# py3langid needs about this much text; less certain results are not used.
SHORTEST = 20
CONFIDENCE = 0.7
# More text changes the language of no answer, and takes longer.
_MOST = 150
# Scripts of one language, or of few: half as many characters as letters say as much.
_DENSE = range(0x3040, 0xD7B0)
# A text with this many of these words is English. Looking them up takes a fraction of the time that the library takes.
_ENGLISH_WORDS = frozenset(
    "about and are been but can could from had has have her his if into it its not only some than that the their them there "
    "these they this to when which who will with would you your".split()
)
_ENOUGH_ENGLISH_WORDS = 3


def language_of(text: str) -> str | None:
    """Return the ISO 639-1 code of the language of a text, None if the text is too short or mixes languages."""
    start = text[:_MOST]
    if start.isascii() and len(_ENGLISH_WORDS.intersection(start.lower().split())) >= _ENOUGH_ENGLISH_WORDS:
        return "en"
    return _language_of_start(start)


# Answers to one question often start alike.
@lru_cache(maxsize=4_096)
def _language_of_start(start: str) -> str | None:
    n_letters = sum(map(str.isalpha, start))
    if not start.isascii():
        n_letters += 2 * sum(ord(character) in _DENSE for character in start)
    if n_letters < SHORTEST:
        return None
    identifier = _identifier()
    if identifier is None:
        return None
    code, confidence = identifier.classify(start)
    return str(code) if confidence >= CONFIDENCE else None


@cache
def _identifier() -> LanguageIdentifier | None:
    # The model takes a second to load, and most commands read no answers.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    try:
        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    except OSError as error:
        # The library unpacks its model into the temporary folder; a full disk there must not end a run.
        logger.warning("Languages of answers are not detected: %s.", error)
        return None
