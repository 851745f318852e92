"""From a reply to a status and the words of the answer.

A reply is `ok`, `malformed`, `refused` or `truncated`. JSON inside fences, after leading prose or with trailing commas is read;
nothing is evaluated and nothing inside a string is touched. A well-formed answer is never called refused because of its
words: refusal patterns are tried only on replies without one, and only at their start.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from collector.errors import InputError
from collector.yaml_file import read_yaml_mapping

Status = Literal["ok", "malformed", "refused", "truncated", "error"]
RULES_FILE = Path(__file__).with_name("answer_rules.yml")

# How a JSON answer opens; other brackets belong to the prose around it.
_OPENING = re.compile(r'\{\s*["},]|\[\s*[{\]]')
# A string that is never closed is one token that runs to the end, so that scanning stays linear.
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)'
_STRUCTURE = re.compile(_STRING + r"|[\[\]{}]", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*[\]}}])", re.DOTALL)
# What neither DuckDB's readers, other databases nor UTF-8 can carry: NUL and half a surrogate pair.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
TOO_DEEP = "The JSON is nested too deeply."
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reply amounts to; `answer_text` is set when the status is ok, `error` when it is not."""

    status: Status
    answer_text: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One reason to call a reply refused or truncated."""

    id: str
    status: Status
    reason: str
    finish_reasons: frozenset[str]
    pattern: re.Pattern[str] | None
    examples: tuple[str, ...]
    counterexamples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """The versioned rules of answer_rules.yml."""

    version: str
    rules: tuple[Rule, ...]

    def by_finish_reason(self, finish_reason: str | None, status: Status) -> Rule | None:
        """Return the rule of a status that names this finish reason."""
        return next(
            (rule for rule in self.rules if rule.status == status and finish_reason in rule.finish_reasons),
            None,
        )

    def by_pattern(self, text: str) -> Rule | None:
        """Return the first rule whose pattern matches at the start of the text, past quotes, markup and white space."""
        start = re.sub(r"^\W+", "", text[:2000]).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
        return next(
            (rule for rule in self.rules if rule.pattern is not None and rule.pattern.match(start)), None
        )


@cache
def load_rules(path: Path = RULES_FILE) -> AnswerRules:
    """Read the rules.

    Raises:
        InputError: the file cannot be read, or a rule lacks a key or has an invalid pattern.
    """
    document = read_yaml_mapping(path, what="answer rules")
    rules = []
    for index, entry in enumerate(document.get("rules") or ()):
        try:
            rules.append(
                Rule(
                    id=entry["id"],
                    status=entry["status"],
                    reason=entry["reason"],
                    finish_reasons=frozenset(entry.get("finish_reason", ())),
                    # A pattern may be written over several lines; the line breaks are not part of it.
                    pattern=re.compile(entry["pattern"].replace("\n", ""), re.IGNORECASE)
                    if "pattern" in entry
                    else None,
                    examples=tuple(entry.get("examples", ())),
                    counterexamples=tuple(entry.get("counterexamples", ())),
                )
            )
        except KeyError as error:
            raise InputError(f"{path}: rules[{index}] has no key {error.args[0]!r}.") from None
        except re.error as error:
            raise InputError(
                f"{path}: rules[{index}].pattern is not a regular expression: {error}."
            ) from None
    if not isinstance(document.get("version"), str):
        raise InputError(f"{path}: version is missing; it is text and changes with every rule.")
    return AnswerRules(document["version"], tuple(rules))


def storable(text: str) -> str:
    """Return the text with every NUL and lone surrogate replaced by U+FFFD; all other text is returned unchanged."""
    try:
        # Nearly every text passes these two checks, which are much quicker than a search by pattern.
        text.encode("utf-8")
        if "\x00" not in text:
            return text
    except UnicodeEncodeError:
        pass
    return _UNSTORABLE.sub(REPLACEMENT, text)


def classify(text: str | None, kind: str, max_characters: int, finish_reason: str | None = None) -> Answer:
    """Say what a reply amounts to.

    Args:
        text: the reply, or None where nothing came back.
        kind: 'json_object' or 'text', the kind of answer the audit expects.
        max_characters: a longer reply is malformed: kept whole, not analysed.
        finish_reason: why the endpoint stopped, where it says so.

    Returns:
        Status ok with the words of the answer (of JSON, its keys and values), or another status with one sentence.
    """
    rules = load_rules()
    if rule := rules.by_finish_reason(finish_reason, "refused"):
        return Answer(rule.status, error=_sentence(rule))
    cut_off = rules.by_finish_reason(finish_reason, "truncated")
    if text is None or not text.strip():
        if cut_off:
            return Answer(cut_off.status, error=_sentence(cut_off))
        return Answer("malformed", error="The answer is empty.")
    if len(text) > max_characters:
        return Answer(
            "malformed", error=f"The answer has {len(text)} characters; the limit is {max_characters}."
        )
    if kind == "json_object":
        return _classify_json(text, rules, cut_off)
    if rule := rules.by_pattern(text):
        return Answer(rule.status, error=_sentence(rule))
    if cut_off:
        return Answer(cut_off.status, error=_sentence(cut_off))
    return Answer("ok", answer_text=text.strip())


def _classify_json(text: str, rules: AnswerRules, cut_off: Rule | None) -> Answer:
    value, problem, unclosed = extract_json(text)
    if value is not None:
        try:
            words = " ".join(_flatten(value))
        except RecursionError:
            return Answer("malformed", error=TOO_DEEP)
        if words:
            return Answer("ok", answer_text=words)
        return Answer("malformed", error="The JSON answer holds no words.")
    if rule := rules.by_pattern(text):
        return Answer(rule.status, error=_sentence(rule))
    if cut_off:
        return Answer(cut_off.status, error=_sentence(cut_off))
    if unclosed:
        return Answer("truncated", error="The JSON answer is not closed.")
    return Answer("malformed", error=problem)


class JsonObject(tuple[tuple[str, Any], ...]):
    """A JSON object as its (key, value) pairs: a key given twice keeps both values."""

    __slots__ = ()


def extract_json(text: str) -> tuple[JsonObject | list[Any] | None, str, bool]:
    """Find the JSON answer in a reply: an object, or a list of objects, that is not empty.

    Args:
        text: the reply, with or without fences, prose around the JSON, trailing commas and raw line breaks in strings.

    Returns:
        The value, or None with a sentence that says what was found instead, and whether a bracket was left open.
        Numbers stay as they were written.
    """
    value, problem = _parse(text.strip())
    if value is not None:
        return value, "", False
    opening = _OPENING.search(text)
    while opening is not None:
        end = _matching_end(text, opening.start())
        if end is None:
            return None, problem, True
        value, why = _parse(text[opening.start() : end])
        if value is not None:
            return value, "", False
        problem = problem or why
        # What a broken object encloses is a part of the answer, not the answer, so the search goes on behind it.
        opening = _OPENING.search(text, end)
    return None, problem or "The answer holds no JSON object.", False


def _matching_end(text: str, start: int) -> int | None:
    """Return the index after the bracket that closes the one at `start`, or None if nothing does."""
    depth = 0
    for token in _STRUCTURE.finditer(text, start):
        mark = token[0]
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
            if depth == 0:
                return token.end()
    return None


def _parse(candidate: str) -> tuple[JsonObject | list[Any] | None, str]:
    """Return the candidate's value if it is an answer; otherwise None and, where there is one to tell, the reason."""
    if not candidate.startswith(("{", "[")):
        return None, ""
    reason = ""
    for attempt in (candidate, _TRAILING_COMMA.sub(lambda found: found[1] or "", candidate)):
        try:
            value = json.loads(
                attempt,
                strict=False,
                object_pairs_hook=JsonObject,
                parse_int=str,
                parse_float=str,
                parse_constant=str,
            )
        except json.JSONDecodeError as error:
            reason = reason or f"The JSON is not valid: {error.msg} at character {error.pos + 1}."
            continue
        except RecursionError:
            return None, TOO_DEEP
        if isinstance(value, JsonObject):
            return (value, "") if value else (None, "The JSON object is empty.")
        if isinstance(value, list) and value and all(isinstance(one, JsonObject) and one for one in value):
            return value, ""
        return None, "The JSON is a list, but not one of objects." if value else "The JSON list is empty."
    return None, reason


def _flatten(value: Any) -> Iterable[str]:
    """Yield the keys and values of a JSON value in order; null says nothing."""
    if isinstance(value, JsonObject):
        for key, inner in value:
            yield from _flatten(key)
            yield from _flatten(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _flatten(inner)
    elif isinstance(value, bool):
        yield str(value).lower()
    elif isinstance(value, str) and value.strip():
        yield value.strip()


def _sentence(rule: Rule) -> str:
    return f"{rule.reason[0].upper()}{rule.reason[1:]} (rule {rule.id})."
