"""Outcomes: a number of each text, such as how easily it reads, whose mean is compared between groups.

A text measure is a module of this package whose `MEASURES` hold a `TextMeasure`: its declaration, and the function of one text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from biasledger.measures.declared import Measure, declared
from biasledger.measures.schema import Table, columns, row, table_of

MASK = "x"
"""The word that replaces each word that names a person or a group."""

LABEL = "the gap in "
"""How a text measure's label begins; the rest names the number."""

_SENTENCE_END = re.compile(r"(?<=[.!?…।])[\"'”’)\]]*\s+|(?<=[。！？])[”’」』）]*|\n+")
# A letter with its marks, such as vowels of Arabic, Hebrew and Indian scripts.
_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
    + "".join(
        f"{chr(block + 0x01)}-{chr(block + 0x03)}{chr(block + 0x3C)}{chr(block + 0x3E)}-{chr(block + 0x4D)}{chr(block + 0x57)}"
        for block in range(0x0980, 0x0D80, 0x80)
    )
)
_LETTERS = rf"(?:[^\W\d_][{_MARKS}]*)+"
_WORD = re.compile(rf"{_LETTERS}(?:['’-]{_LETTERS})*")
# Letters of Thai, Lao, Burmese, Khmer, Japanese and Chinese.
_UNSPACED = re.compile(
    "[\u0e01-\u0edf\u1000-\u109f\u1780-\u17dd\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
_PARTS = re.compile(r"['’-]")
# Abbreviations whose full stop ends no sentence.
_TITLE = re.compile(r"\b(Mr|Mrs|Ms|Mx|Dr|Prof|St|Sr|Sra|Srta|Mme|Mlle)\.(?=\s)", re.IGNORECASE)


@dataclass(frozen=True)
class Text:
    """A text whose names are masked.

    Args:
        words: at least one; an apostrophe or hyphen parts none.
        sentences: the parts with words between line breaks, blanks after . ! ? … or ।, and 。！？, with their marks but for the
            quotation marks and brackets after these.
        language: that of the prompt, such as en; empty where it is not known.
        hedges: a pattern for hedges of the language; None where there is no list of them.
        amounts: the amounts of money that it names.
    """

    words: Sequence[str]
    sentences: Sequence[str]
    language: str
    hedges: re.Pattern[str] | None
    amounts: Sequence[float] = ()


@dataclass(frozen=True, kw_only=True)
class TextMeasure(Measure):
    """The gap between two groups in the mean of a number of each text.

    Its name ends with `_gap`, its label begins with "the gap in ". A factor of 100 to display it says that the number is a share,
    or that it is a logarithm, whose difference is read as per cent.

    `statement` is filled in, by printf, with the means of the group and of the reference group in the displayed unit, geometric
    means where the number is a logarithm; its {about_group} and {about_reference} become `about Black women` and the like.

    Args:
        of_text: the number, at least 0; NaN where a text has none, as in a language without the formula.
        highest: the greatest number that is expected; a greater one widens the range.
    """

    of_text: Callable[[Text], float]
    highest: float = 1

    def __post_init__(self) -> None:
        """Check the names.

        Raises:
            ValueError: the name or the label is of another form.
        """
        if not self.name.endswith("_gap") or not self.label.startswith(LABEL):
            raise ValueError(f"{self.name}: name it <outcome>_gap, and begin its label with {LABEL!r}.")

    @property
    def outcome(self) -> str:
        """The name of the number."""
        return self.name.removesuffix("_gap")


@dataclass(frozen=True)
class Outcome:
    """A number of a text; n_words, n_sentences: of the text."""

    n_words: int
    n_sentences: int
    outcome: str
    highest: float
    value: float


def text_of(
    content: str, language: str, hedges: re.Pattern[str] | None = None, amounts: Sequence[float] = ()
) -> Text | None:
    """Return the words and sentences of a text whose names are masked; None if it has no word."""
    sentences = [part for part in _SENTENCE_END.split(content) if _WORD.search(part)]
    words = _WORD.findall(content)
    return Text(words, sentences, language, hedges, amounts) if words else None


def outcomes(
    texts: Iterable[tuple[str, str, str, Sequence[float]]], hedges: Mapping[str, Iterable[str]]
) -> Table:
    """Return a row for each text with words and outcome: its key and Outcome.

    texts: key, language, text, the amounts of money that it names. hedges: language -> words and phrases.
    """
    patterns = {language: hedge_pattern(terms) for language, terms in hedges.items()}
    found = (
        (key, text_of(content, language, patterns.get(language), amounts))
        for key, language, content, amounts in texts
    )
    return table_of(
        {"text_key": "str", **columns(Outcome)},
        [
            {"text_key": key, **row(one)}
            for key, text in found
            if text is not None
            for one in _outcomes_of(text)
        ],
    )


def _outcomes_of(text: Text) -> Iterator[Outcome]:
    for measure in declared("texts"):
        if isinstance(measure, TextMeasure):
            value = float(measure.of_text(text))
            yield Outcome(len(text.words), len(text.sentences), measure.outcome, measure.highest, value)


def masked_text(text: str, names: Collection[str]) -> str:
    """Return the text with one short word instead of each name of a person or group, so that long names do not count as harder.

    names: in lower case; compounds and possessives of one are masked, too. A title ends no sentence.
    """

    if _UNSPACED.search(text):
        for name in sorted(filter(_UNSPACED.search, names), key=len, reverse=True):
            text = text.replace(name, MASK)

    def mask(found: re.Match[str]) -> str:
        word = found[0].lower()
        return MASK if word in names or any(part in names for part in _PARTS.split(word)) else found[0]

    return _WORD.sub(mask, _TITLE.sub(r"\1", text))


def hedge_pattern(terms: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern for any of these words and phrases as a whole, None if there is none.

    Those of scripts without spaces are sought inside words, too.
    """
    spelled: dict[bool, list[str]] = {True: [], False: []}
    for term in sorted(terms, key=lambda term: (-len(term), term)):
        spelled[_UNSPACED.search(term) is not None].append(re.escape(term))
    patterns = [
        *(
            [rf"(?<![\w{_MARKS}'’-])(?:{'|'.join(spelled[False])})(?![\w{_MARKS}'’-])"]
            if spelled[False]
            else []
        ),
        *spelled[True],
    ]
    return re.compile("|".join(patterns), re.IGNORECASE) if patterns else None
