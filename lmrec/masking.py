"""Names taken out of a text before a recommender reads it, so that it learns what people want and not what a venue is called.

LMRec masks named entities, "mainly restaurant names" (section 3.2). The model card names the method.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from collector.errors import InputError
from collector.hints import quoted
from lmrec.encoders import PLACEHOLDER

Method = Literal["entities", "phrases", "venues", "none"]

DESCRIPTIONS: dict[Method, str] = {
    "entities": "the venue names of the businesses' file, and what spaCy takes for an organisation, facility or product",
    "phrases": "the venue names of the businesses' file, and phrases of two or more capitalised words inside a sentence",
    "venues": "the venue names of the businesses' file",
    "none": "nothing",
}

_CAPITAL = "[A-ZÀ-ÖØ-Þ]"
_WORD = rf"(?!I\b){_CAPITAL}[\w’'&-]*"
# Not at the beginning of a sentence, where every word is capitalised. A single such word may be a cuisine or a person.
_PHRASE = re.compile(rf"(?<=[^.!?:\s]\s){_WORD}(?:\s(?:(?:of|the|and|de|la|&)\s)?{_WORD})+")

# The labels of spaCy (OntoNotes) that venues get. Not PERSON: an audit asks about the people who come along.
ENTITY_LABELS = frozenset({"ORG", "FAC", "PRODUCT"})

_Trie = dict[str, Any]


class Masker:
    """Replaces names in a text by a word of their own.

    Args:
        method: what is masked (DESCRIPTIONS).
        names: the venues' names; of several that begin at a place, the longest is replaced, whatever the case of its letters,
            and never inside a word.
        hidden: words that are left out altogether, likewise, such as people's names (a mitigation of section 5).
        pipeline: of spaCy, an installed package's name or a folder, for the method `entities`.

    Raises:
        InputError: spaCy or the pipeline is not there, or finds no entities.
    """

    def __init__(
        self, method: Method, names: Iterable[str], hidden: Sequence[str] = (), pipeline: str | None = None
    ) -> None:
        self.method = method
        self.pipeline = pipeline if method == "entities" else None
        self._tag = _tagger(pipeline) if method == "entities" else None
        self.names = sorted({name.lower() for name in names}) if method != "none" else []
        self.hidden = sorted({word.lower() for word in hidden})
        self._names = names_pattern(self.names)
        self._hidden = names_pattern(self.hidden)

    def __call__(self, text: str) -> str:
        """Return the text without the names."""
        if self._hidden is not None:
            text = self._hidden.sub(" ", text)
        if self._tag is not None:
            # From the end, so that earlier places stay valid.
            for entity in reversed(self._tag(text).ents):
                if entity.label_ in ENTITY_LABELS:
                    text = f"{text[: entity.start_char]}{PLACEHOLDER}{text[entity.end_char :]}"
        if self._names is not None:
            text = self._names.sub(PLACEHOLDER, text)
        return _PHRASE.sub(PLACEHOLDER, text) if self.method == "phrases" else text


def _tagger(pipeline: str | None) -> Any:
    if pipeline is None:
        raise InputError(
            "--mask entities needs a pipeline of spaCy: name one, as in --pipeline en_core_web_sm."
        )
    try:
        import spacy
    except ImportError as error:
        raise InputError(
            "--mask entities needs the extra 'entities': pip install 'biasledger[entities]' (spaCy); --mask phrases needs none."
        ) from error
    try:
        found = spacy.load(pipeline)
    except (OSError, ValueError) as error:
        raise InputError(
            f"spaCy has no pipeline {pipeline!r} here; `python -m spacy download {pipeline}` fetches it, and --pipeline "
            f"also takes a folder."
        ) from error
    if not {"ner", "entity_ruler"} & set(found.pipe_names):
        raise InputError(
            f"The pipeline {pipeline!r} finds no entities (it has {quoted(found.pipe_names)}); take one with ner."
        )
    return found


def names_pattern(names: Sequence[str]) -> re.Pattern[str] | None:
    """Return a pattern for the longest of these names at a place, in any case; None for none.

    Args:
        names: in lower case.

    Letters that names begin with in common are tried once: a city has thousands of names, and its reviews millions of words.
    """
    if not names:
        return None
    trie: _Trie = {}
    for name in names:
        node = trie
        for letter in name:
            node = node.setdefault(letter, {})
        node[""] = {}
    return re.compile(rf"(?<!\w){_alternatives(trie)}(?!\w)", re.IGNORECASE)


def _alternatives(node: _Trie) -> str:
    branches = [re.escape(letter) + _alternatives(inner) for letter, inner in sorted(node.items()) if letter]
    if not branches:
        return ""
    if len(branches) == 1 and "" not in node:
        return branches[0]
    return f"(?:{'|'.join(branches)}){'?' if '' in node else ''}"
