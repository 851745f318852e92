"""The words around numbers and amounts of money: amount_words.yml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

from collector.answers.texts.phrases import Phrases, word_lists, written_out
from collector.answers.texts.plain import UNSPACED
from collector.errors import InputError
from collector.files.yaml import read_yaml_mapping

WORDS_FILE = Path(__file__).with_name("amount_words.yml")
# The fields of AmountWords that are made of several lists, or are no lists of words.
_MADE = ("currencies", "multipliers", "periods", "before", "after", "multiplying")


@dataclass(frozen=True, slots=True)
class AmountWords:
    """The content of amount_words.yml."""

    currencies: Mapping[str, frozenset[str]]
    multipliers: Mapping[str, Decimal]
    periods: Mapping[str, Phrases]
    any_period: Phrases
    out_of: Phrases
    scale_words: Phrases
    points: Phrases
    cues: Phrases
    numbered: Phrases
    change_nouns: Phrases
    change_verbs: Phrases
    change_links: Phrases
    operations: Phrases
    corrections: Phrases
    bounds: Phrases
    ranges: Phrases
    between: Phrases
    qualifiers: Phrases
    unit_fillers: Phrases
    unit_factors: frozenset[str]
    unit_keys: frozenset[str]
    top_keys: frozenset[str]
    before: re.Pattern[str]
    after: re.Pattern[str]
    multiplying: re.Pattern[str]


@cache
def amount_words() -> AmountWords:
    """Read the words.

    Raises:
        InputError: the file cannot be read, or a list is missing or has an expression that cannot be written out.
    """
    document = read_yaml_mapping(WORDS_FILE, what="words around amounts")
    try:
        currencies: dict[str, frozenset[str]] = {}
        for code, text in document["currencies"].items():
            for name in _names(text):
                currencies[name] = currencies.get(name, frozenset()) | {code}
        multipliers = {
            name: Decimal(factor) for factor, text in document["multipliers"].items() for name in _names(text)
        }
        periods = {period: Phrases(_split(text)) for period, text in document["periods"].items()}
        lists = {name: _split(text) for name, text in document.items() if isinstance(text, str)}
        every_period = ",".join(document["periods"].values())
        words = word_lists(AmountWords, {**lists, "any_period": _split(every_period)}, _MADE)
    except KeyError as error:
        raise InputError(f"{WORDS_FILE} has no list {error.args[0]!r}.") from None
    signs = "|".join(map(re.escape, sorted(currencies, key=len, reverse=True)))
    factors = "|".join(map(re.escape, sorted(multipliers, key=len, reverse=True)))
    return AmountWords(
        currencies=currencies,
        multipliers=multipliers,
        periods=periods,
        before=re.compile(rf"(?<![^\W\d_{UNSPACED}])({signs}) ?-?\Z"),
        after=re.compile(rf"[ ]?-?({signs})(?![^\W_{UNSPACED}])"),
        multiplying=re.compile(rf"[ -]?({factors})"),
        **words,
    )


def _split(text: str) -> list[str]:
    return [phrase.strip() for phrase in text.split(",") if phrase.strip()]


def _names(text: str) -> list[str]:
    names: list[str] = []
    for expression in _split(text):
        written = written_out(expression.replace("$", r"\$"))
        if written is None:
            raise InputError(f"{WORDS_FILE}: {expression!r} stands for too many names.")
        names += sorted(written)
    return names
