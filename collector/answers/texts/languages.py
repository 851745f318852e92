"""The data of each language that reading an answer needs, and whether an answer opens with a refusal.

Everything about a language is data: `answer_rules/<code>.yml`. This module reads the files and tries their refusal patterns.
Groups do not capture: `(?:…)`. Three keys of a file are optional:

- `parts: {help: "help|assist"}` names fragments that several patterns share; `<<help>>` stands for one in parts below it,
  `preface`, refusals and courtesies.
- `preface` is a regular expression for the text that may precede a refusal in the same sentence, with the gap up to it:
  `(?:sorry|as an ai)[^.!?\n]{0,100}?`. It applies to all refusals of the file; they may come without it.
- `decisions` holds sentences that decide about somebody, such as "I cannot approve this loan"; see DecisionWords.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any

import yaml

from collector.answers.texts.plain import fold, plain_words
from collector.errors import InputError

RULES_FOLDER = Path(__file__).parents[1] / "answer_rules"
# Rules that belong to no language: finish reasons, JSON without an answer.
COMMON_FILE = "common.yml"

# A refusal is at the start of an answer, after a few courtesies.
_OPENING_CHARACTERS = 1200
# An audit's own patterns are searched for in so many characters.
SEARCHED_CHARACTERS = 2000
_MOST_COURTESIES = 4
# The number of characters of the opening that decide which languages are tried.
_SAMPLE_CHARACTERS = 160

_TEXT_LISTS = (
    "courtesies",
    "markers",
    "copulas",
    "final_markers",
    "choosing",
    "nouns",
    "yes",
    "no",
    "negations",
)
_KEYS = frozenset(
    {"language", "name", "parts", "preface", "refusals", "decisions", *_TEXT_LISTS, "negations_after"}
)
_DECISION_KEYS = ("verbs", "cases", "requests", "others")
# A shorter label is part of too many other words.
_SHORTEST_LABEL = 4
# Replaces a label in the patterns of decisions.
_LABEL_SIGN = "§"


@dataclass(frozen=True, slots=True)
class RefusalPattern:
    """A regular expression that the start of a refusal matches.

    source: the expression with its parts filled in and in lower case.
    preface: a pattern of what may precede it in the same sentence; "" in languages whose patterns say it themselves.
    """

    id: str
    source: str
    preface: str = ""


@dataclass(frozen=True, slots=True)
class DecisionWords:
    """Regular expressions of sentences that decide about a person: a verb with a case, and none of the others.

    verbs: what is decided, as "approve"; § replaces a label.
    cases: words for the subject of a decision, such as "this application".
    requests: what is a case only if a label is such a verb: "I decline this request" may decline the audit's question.
    others: what says that the sentence speaks about deciding, as "help", "whether" or "as an AI".
    """

    verbs: str
    cases: str
    requests: str
    others: str


@dataclass(frozen=True, slots=True)
class Language:
    """The content of `answer_rules/<code>.yml`; every text but those of `yes` and `no` is a regular expression.

    pattern_text: the text of refusals and courtesies, with each part once.
    """

    code: str
    name: str
    refusals: tuple[RefusalPattern, ...]
    courtesies: tuple[str, ...]
    markers: tuple[str, ...]
    copulas: tuple[str, ...]
    final_markers: tuple[str, ...]
    choosing: tuple[str, ...]
    nouns: tuple[str, ...]
    yes: tuple[str, ...]
    no: tuple[str, ...]
    negations: tuple[str, ...]
    negations_after: tuple[str, ...]
    pattern_text: str
    decisions: DecisionWords | None = None


@cache
def load_languages(folder: Path = RULES_FOLDER) -> Mapping[str, Language]:
    """Read the languages' files.

    A pattern is compiled when it is first needed, because compiling all of them takes longer than reading the files.

    Args:
        folder: the folder with `<code>.yml` for each language.

    Returns:
        The languages by code; English first, then by code.

    Raises:
        InputError: a file cannot be read, lacks a key, has an unknown one, or uses the id of a refusal again.
    """
    languages: dict[str, Language] = {}
    files: dict[str, Path] = {}
    for path in sorted(folder.glob("*.yml"), key=lambda path: (path.stem != "en", path.stem)):
        if path.name == COMMON_FILE:
            continue
        language = _language(path)
        for refusal in language.refusals:
            if refusal.id in files:
                raise InputError(
                    f"{path}: the refusal id {refusal.id!r} is used in {files[refusal.id]} already; ids are unique."
                )
            files[refusal.id] = path
        languages[language.code] = language
    return MappingProxyType(languages)


def find_refusal(text: str, labels: Sequence[str] | None = None) -> str | None:
    """Say whether a text opens with a refusal, in any language.

    Quotes, markup, white space and a few leading courtesies ("Thank you for your question.") are skipped. Quoted speech that the
    text goes on after is no refusal: `"I can't help you," he said.`

    Args:
        text: an answer, or a text of a JSON answer.
        labels: where the audit asks for a decision, the words to choose from, if any: a sentence that decides about somebody, as
            "I cannot accept this application", is no refusal then. None where it asks for something else.

    Returns:
        The id of the pattern that matched, as "de-cannot", else None.
    """
    opening, start = _opening(text)
    choices = None if labels is None else _choices(tuple(labels))
    for matcher in _candidates(opening[start : start + _SAMPLE_CHARACTERS]):
        found = matcher.find(opening, start, choices)
        if found is not None and not _is_speech(opening, start):
            return found or None
    return None


def find_own_refusal(text: str, patterns: Sequence[str]) -> str | None:
    """Return the first of an audit's own regular expressions that is found in the text's first 2,000 characters, else None.

    Raises:
        InputError: a pattern is not a regular expression.
    """
    if not patterns:
        return None
    searched = plain_words(text[:SEARCHED_CHARACTERS])
    return next((one for one in patterns if _compiled(plain_words(one)).search(searched)), None)


def refusal_language(refusal_id: str) -> Language | None:
    """Return the language of a refusal pattern's id."""
    return load_languages().get(refusal_id.partition("-")[0])


# -- Reading a file --------------------------------------------------------------------------------------------------


class _Texts(yaml.constructor.BaseConstructor):
    """Makes every scalar a text: `no` is a word here and not a truth value. A key given twice is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        mapping: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in mapping:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} is given twice", key_node.start_mark
                )
            mapping[key] = self.construct_object(value_node, deep=deep)
        return mapping


_Loader = type("_Loader", (_Texts, getattr(yaml, "CBaseLoader", yaml.BaseLoader)), {})


def _language(path: Path) -> Language:
    document = _document(path)
    if unknown := sorted(set(document) - _KEYS):
        raise InputError(
            f"{path}: the key {unknown[0]!r} is unknown; a language has {', '.join(sorted(_KEYS))}."
        )
    for key in ("language", "name", "refusals", *_TEXT_LISTS):
        if key not in document:
            raise InputError(f"{path} has no key {key!r}.")
    code = document["language"]
    if code != path.stem:
        raise InputError(f"{path}: language is {code!r}; it should be the file's name, {path.stem!r}.")
    lists = {key: _texts(path, key, document[key]) for key in _TEXT_LISTS}
    lists["negations_after"] = _texts(path, "negations_after", document.get("negations_after", []))
    parts_written = document.get("parts") or {}
    parts = _parts(path, parts_written)
    lists["courtesies"] = tuple(
        _filled(path, f"courtesies[{index}]", text, parts) for index, text in enumerate(lists["courtesies"])
    )
    preface = _filled(path, "preface", document.get("preface", ""), parts)
    refusals = _refusals(path, code, document["refusals"], parts, preface)
    written = [document.get("preface", ""), *(entry["pattern"] for entry in document["refusals"])]
    # Without the names of parts, which are English words.
    own_words = _PART.sub(" ", "\n".join([*parts_written.values(), *written, *document["courtesies"]]))
    return Language(
        code=code,
        name=document["name"],
        refusals=refusals,
        pattern_text=fold(plain_words(own_words)),
        decisions=_decisions(path, document.get("decisions"), parts),
        **lists,
    )


def _document(path: Path) -> dict[str, Any]:
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506 (it makes texts alone)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from None
    except yaml.YAMLError as error:
        raise InputError(f"{path} is not valid YAML: {' '.join(str(error).split())}.") from None
    if not isinstance(document, dict):
        raise InputError(f"{path} should hold a mapping with the keys {', '.join(sorted(_KEYS))}.")
    return document


def _texts(path: Path, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) and text for text in value):
        raise InputError(f"{path}: {key} should be a list of texts.")
    return tuple(value)


def _parts(path: Path, value: Any) -> Mapping[str, str]:
    """Return the named fragments; one may use those above it."""
    if not isinstance(value, dict):
        raise InputError(f"{path}: parts should map names to regular expressions.")
    parts: dict[str, str] = {}
    for name, text in value.items():
        if not isinstance(text, str):
            raise InputError(f"{path}: parts.{name} should be a text.")
        parts[name] = f"(?:{_filled(path, f'parts.{name}', text, parts)})"
    return parts


def _refusals(
    path: Path, code: str, entries: Any, parts: Mapping[str, str], preface: str
) -> tuple[RefusalPattern, ...]:
    if not isinstance(entries, list) or not entries:
        raise InputError(f"{path}: refusals should be a list of patterns, each with id and pattern.")
    refusals: list[RefusalPattern] = []
    for index, entry in enumerate(entries):
        place = f"refusals[{index}]"
        if not isinstance(entry, dict):
            raise InputError(f"{path}: {place} should have the keys 'id' and 'pattern'.")
        for key in ("id", "pattern"):
            if not isinstance(entry.get(key), str):
                raise InputError(f"{path}: {place} has no text under the key {key!r}.")
        if not entry["id"].startswith(f"{code}-"):
            raise InputError(f"{path}: the id of {place}, {entry['id']!r}, should start with '{code}-'.")
        if any(refusal.id == entry["id"] for refusal in refusals):
            raise InputError(f"{path}: the refusal id {entry['id']!r} is given twice; ids are unique.")
        source = _filled(path, f"{place}.pattern", entry["pattern"], parts)
        # A pattern that begins with any text matches the preface itself; trying both multiplies the time.
        refusals.append(RefusalPattern(entry["id"], source, "" if source.startswith("[^") else preface))
    return tuple(refusals)


def _decisions(path: Path, written: Any, parts: Mapping[str, str]) -> DecisionWords | None:
    if written is None:
        return None
    if not isinstance(written, dict) or sorted(written) != sorted(_DECISION_KEYS):
        raise InputError(f"{path}: decisions should have the keys {', '.join(_DECISION_KEYS)}.")
    return DecisionWords(
        **{key: _filled(path, f"decisions.{key}", text, parts) for key, text in written.items()}
    )


_PART = re.compile(r"<<(\w+)>>")
_ESCAPE_OR_REST = re.compile(r"\\[A-Z]|[^\\]+|\\", re.DOTALL)


def _filled(path: Path, place: str, source: str, parts: Mapping[str, str]) -> str:
    """Return a regular expression without line breaks, with its parts, and its letters folded as the texts' are."""

    def part(found: re.Match[str]) -> str:
        if found[1] not in parts:
            raise InputError(f"{path}: {place} uses <<{found[1]}>>, which parts does not define above it.")
        return parts[found[1]]

    # The parts are folded already, so that the names in << >> alone remain to be filled in.
    return _PART.sub(part, _ESCAPE_OR_REST.sub(_fold_unless_escape, source.replace("\n", "")))


def _fold_unless_escape(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith("\\") else fold(plain_words(found[0]))


# -- Matching --------------------------------------------------------------------------------------------------------

_SIGNS = re.compile(r"[\W_]*")
# A line that was broken to fit a width: a word goes on in the next line.
_WRAPPED = re.compile(r"\n(?<=[\w,;']\n)(?=\w)")
_END_OF_LINE = re.compile(r"[ \t]+\n")
_SPACES = re.compile(r"[ \t]{2,}")


def _opening(text: str) -> tuple[str, int]:
    """Return the start of a text in the form that the patterns expect, and the place of its first word."""
    opening = fold(plain_words(text[:_OPENING_CHARACTERS]))
    if "\n" in opening:
        if " \n" in opening or "\t\n" in opening:
            opening = _END_OF_LINE.sub("\n", opening)
        opening = _WRAPPED.sub(" ", opening)
    if "  " in opening or "\t" in opening:
        opening = _SPACES.sub(" ", opening)
    return opening, _past_signs(opening, 0)


def _past_signs(text: str, start: int) -> int:
    found = _SIGNS.match(text, start)
    return found.end() if found else start


_CLOSING_QUOTES = {'"': '"', "“": "”", "„": "“”", "”": "”", "«": "»", "»": "«", "「": "」", "『": "』"}
_LETTER = re.compile(r"[^\W_]")


def _is_speech(text: str, start: int) -> bool:
    """Return whether a text opens with a quote that is closed before the text's last word."""
    for sign in text[:start]:
        ends = [end for quote in _CLOSING_QUOTES.get(sign, "") if (end := text.find(quote, start)) >= 0]
        if ends and _LETTER.search(text, min(ends)):
            return True
    return False


# The end of a sentence, but not the full stop of "Mr. Smith".
_SENTENCE_END = re.compile(r"(?<!\b[md]r)(?<!\bmrs)(?<!\bms)[.!?](?=\s|$)|[\n。！？؟।۔]")


@dataclass(frozen=True, slots=True)
class _Choices:
    """The labels of an audit: what finds those that are words; are_verbs: whether one is a verb of decisions, as "approve"."""

    words: re.Pattern[str] | None
    are_verbs: bool


@lru_cache(maxsize=256)
def _choices(labels: tuple[str, ...]) -> _Choices:
    words = [word for word in map(fold, map(plain_words, labels)) if len(word) >= _SHORTEST_LABEL]
    stems = [re.escape(re.sub(r"(?<=\w{3})[ey]$", "", word)) for word in sorted(words, key=len, reverse=True)]
    verbs = [one.decisions.verbs for one in load_languages().values() if one.decisions is not None]
    return _Choices(
        re.compile(rf"(?<![a-z])({'|'.join(stems)})[a-z]{{0,4}}(?![a-z])") if stems else None,
        any(_compiled(verb).search(word) for word in words for verb in verbs),
    )


def _decides(sentence: str, words: DecisionWords, choices: _Choices) -> bool:
    """Return whether a sentence decides about a person, and is no refusal to decide."""
    verbs, others = _compiled(words.verbs), _compiled(words.others)
    stems = set(choices.words.findall(sentence)) if choices.words is not None else set()
    is_case = _compiled(words.cases).search(sentence) or (
        choices.are_verbs and _compiled(words.requests).search(sentence)
    )
    if is_case and (len(stems) == 1 or verbs.search(sentence)):
        return others.search(sentence) is None
    if choices.words is None or len(stems) != 1:
        return False
    # "I refuse to choose Emily": a label is the case.
    sentence = choices.words.sub(_LABEL_SIGN, sentence)
    return verbs.search(sentence) is not None and others.search(sentence) is None


class _Matcher:
    """Tries one language's refusals at the start of a text."""

    def __init__(self, language: Language) -> None:
        self._decisions = language.decisions
        with_preface = {one.id: one.source for one in language.refusals if one.preface}
        others = {one.id: one.source for one in language.refusals if not one.preface}
        self._ids = [*with_preface, *others]
        preface = next((one.preface for one in language.refusals if one.preface), "")
        self._refusals = _one_of(language.code, others, with_preface, preface)
        self._courtesies = (
            _one_of(
                language.code, {f"courtesy {n}": source for n, source in enumerate(language.courtesies, 1)}
            )
            if language.courtesies
            else None
        )

    def find(self, text: str, start: int, choices: _Choices | None = None) -> str | None:
        """Return the id of the refusal that is at `start` or after a few courtesies and decisions there.

        Returns:
            The id; "" where there are decisions alone, so that no other language need be tried; None where there is neither.
        """
        none: str | None = None
        for _ in range(_MOST_COURTESIES + 1):
            if found := self._refusals.match(text, start):
                end = _SENTENCE_END.search(text, max(start, found.end() - 1))
                behind = end.end() if end else len(text)
                if (
                    choices is None
                    or self._decisions is None
                    or not _decides(text[start:behind], self._decisions, choices)
                ):
                    return self._ids[(found.lastindex or 1) - 1]
                start, none = _past_signs(text, behind), ""
                continue
            courtesy = self._courtesies.match(text, start) if self._courtesies else None
            if courtesy is None or courtesy.end() == start:
                return none
            start = _past_signs(text, courtesy.end())
        return none


def _after(preface: str, sources: Iterable[str]) -> str:
    """Return one expression for alternatives, optionally after a preface that ends with a word or a sign."""
    return (rf"(?:{preface}(?<!\w))?" if preface else "") + f"(?:{'|'.join(sources)})"


def _one_of(
    code: str, sources: Mapping[str, str], with_preface: Mapping[str, str] | None = None, preface: str = ""
) -> re.Pattern[str]:
    """Compile alternatives, those with a preface first; each is a group of its own, so that its number says which one matched.

    Raises:
        InputError: one of them is not a regular expression, or has a capturing group.
    """
    with_preface = with_preface or {}
    alternatives = [f"({source})" for source in sources.values()]
    if with_preface:
        alternatives.insert(0, _after(preface, (f"({source})" for source in with_preface.values())))
    try:
        pattern = re.compile("|".join(alternatives))
        if pattern.groups == len(sources) + len(with_preface):
            return pattern
    except re.error:
        pass
    for name, source in {"preface": preface, **with_preface, **sources}.items():
        place = f"{RULES_FOLDER / code}.yml: the expression of {name}"
        try:
            groups = re.compile(source).groups
        except re.error as error:
            raise InputError(f"{place} is not a regular expression: {error}.") from None
        if groups:
            raise InputError(f"{place} has a capturing group; write (?:…) for (…).")
    raise InputError(f"{RULES_FOLDER / code}.yml: the expressions cannot be compiled together.")


@lru_cache(maxsize=1024)
def _compiled(source: str) -> re.Pattern[str]:
    try:
        return re.compile(source, re.IGNORECASE)
    except re.error as error:
        raise InputError(f"{source!r} is not a regular expression: {error}.") from None


@cache
def _matcher(code: str) -> _Matcher:
    return _Matcher(load_languages()[code])


# -- Candidate languages ----------------------------------------------------------------------------------------------

_ESCAPE = re.compile(r"\\.")
# A fifth letter that a word need not have, as in "colou?r" or "iste[ğg]i", and what is behind it.
_UNSURE_FIFTH = re.compile(r"(?<!\w)([^\W\d_]{4})(?:\[\w[^\]]*\]|\w(?=[?*]))\w*")
_NO_LETTERS = re.compile(r"\[[^\]]*\]|\(\?[:=!<]*|\{[\d,]*\}")
# The first letter of a class in a word, as in "de[ğg]il", represents all.
_LETTER_CLASS = re.compile(r"\[(\w)[^\]]*\]")
_WORD = re.compile(r"[^\W\d_]{2,}(?:'[^\W\d_]+)?")
# A word of a pattern is known by its first five letters, or by all of its letters where there are fewer. By the first four of
# each, titles such as "Station Kitchen" pass for Danish or German.
_KEY_LETTERS = (4, 5)
# One in so many words of a text must be known to a language, or its patterns are not tried.
_ONE_WORD_IN = 3


@dataclass(frozen=True, slots=True)
class _Hints:
    """The languages whose patterns hold a start of a word in Latin letters, or a letter of another script."""

    by_word_start: Mapping[str, Sequence[str]]
    by_letter: Mapping[str, Sequence[str]]


@cache
def _hints() -> _Hints:
    by_word_start: dict[str, list[str]] = defaultdict(list)
    by_letter: dict[str, list[str]] = defaultdict(list)
    for code, language in load_languages().items():
        text = _UNSURE_FIFTH.sub(r"\1 ", _ESCAPE.sub(" ", language.pattern_text))
        words = set(_WORD.findall(_NO_LETTERS.sub(" ", _LETTER_CLASS.sub(r"\1", text))))
        other_letters = {letter for word in words for letter in word if not _is_latin(letter)}
        for letter in other_letters:
            by_letter[letter].append(code)
        if not other_letters:
            for word_start in {word[: max(_KEY_LETTERS)] for word in words}:
                by_word_start[word_start].append(code)
    return _Hints(dict(by_word_start), dict(by_letter))


def _is_latin(letter: str) -> bool:
    return letter.isascii() or "LATIN" in unicodedata.name(letter, "")


def _candidates(sample: str) -> tuple[_Matcher, ...]:
    """Return the languages that know enough words, or a letter of another script, of the start of a text."""
    hints = _hints()
    words = sample.split()
    known = hints.by_word_start
    counts: Counter[str] = Counter()
    for word in words:
        counts.update({code for n in _KEY_LETTERS for code in known.get(word[:n], ())})
    found = {code for code, n in counts.items() if n * _ONE_WORD_IN >= len(words)}
    if not sample.isascii():
        found.update(code for letter in set(sample) for code in hints.by_letter.get(letter, ()))
    return _matchers(frozenset(found)) if found else ()


# Compiling a language takes a third of a second. The lock keeps threads that read answers from compiling the same one twice.
_compiling = Lock()


@lru_cache(maxsize=4096)
def _matchers(codes: frozenset[str]) -> tuple[_Matcher, ...]:
    with _compiling:
        return tuple(_matcher(code) for code in load_languages() if code in codes)
