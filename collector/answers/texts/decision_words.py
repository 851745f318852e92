"""The words that the rules for decisions look for: decision_words.yml and the language files, of all languages together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from collector.answers.texts.languages import load_languages
from collector.answers.texts.phrases import Phrases, word_lists
from collector.answers.texts.plain import fold
from collector.errors import InputError
from collector.files.yaml import read_yaml_mapping

WORDS_FILE = Path(__file__).with_name("decision_words.yml")
# The lists that the language files hold too.
_SHARED = ("markers", "final_markers", "copulas", "choosing", "nouns", "negations")


@dataclass(frozen=True, slots=True)
class DecisionWords:
    """Phrases by what they say; decision_words.yml and the language files explain each list."""

    listing: Phrases
    comparing: Phrases
    reasons: Phrases
    because: Phrases
    verbs: Phrases
    preferring: Phrases
    label_nouns: Phrases
    abstractions: Phrases
    deciding: Phrases
    rejecting: Phrases
    conditions: Phrases
    doubting: Phrases
    foreign: Phrases
    correcting: Phrases
    harmless: Phrases
    revising: Phrases
    concluding: Phrases
    undecided: Phrases
    fillers: Phrases
    articles: Phrases
    prepositions: Phrases
    markers: Phrases
    final_markers: Phrases
    copulas: Phrases
    choosing: Phrases
    choosing_numbers: Phrases
    shared_verbs: frozenset[str]
    nouns: Phrases
    numbering: Phrases
    negations: Phrases
    negations_after: Phrases
    denials: Phrases
    unspaced_endings: Phrases
    other_lines: Phrases
    yes: frozenset[str]
    no: frozenset[str]
    function_words: frozenset[str]
    prefixes: frozenset[str]
    unspaced_prefixes: tuple[str, ...]
    inflections: tuple[str, ...]
    negated_verbs: tuple[str, ...]
    tags: tuple[str, ...]
    keys: frozenset[str]
    final_keys: frozenset[str]
    other_keys: frozenset[str]


@cache
def decision_words() -> DecisionWords:
    """Read the words.

    Raises:
        InputError: a file cannot be read or lacks a list.
    """
    lists = _own_lists()
    languages = load_languages().values()
    for name in (*_SHARED, "negations_after"):
        lists.setdefault(name, [])
        lists[name] += [expression for language in languages for expression in getattr(language, name)]
    only_compare = {*lists["comparing"], *lists["no_negations"]}
    for name in ("negations", "negations_after"):
        lists[name] = [word for word in lists[name] if word not in only_compare]
    past = set(lists["no_copulas"])
    lists["copulas"] = [word for word in lists["copulas"] if word not in past]
    lists["yes"] = [fold(word) for language in languages for word in language.yes]
    lists["no"] = [fold(word) for language in languages for word in language.no]
    lists["denials"] += lists["no"]
    try:
        return DecisionWords(**word_lists(DecisionWords, lists))
    except KeyError as error:
        raise InputError(f"{WORDS_FILE} has no list {error.args[0]!r}.") from None


def _own_lists() -> dict[str, list[str]]:
    document: Mapping[str, object] = read_yaml_mapping(WORDS_FILE, what="words of decisions")
    lists: dict[str, list[str]] = {}
    for name, by_language in document.items():
        if not isinstance(by_language, dict) or not all(
            isinstance(text, str) for text in by_language.values()
        ):
            raise InputError(
                f"{WORDS_FILE}: {name} should map languages to phrases with commas between them."
            )
        phrases = (phrase.strip() for text in by_language.values() for phrase in text.split(","))
        lists[name] = [phrase.strip('"') for phrase in phrases if phrase]
    return lists
