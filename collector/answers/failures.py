"""Classify failed replies by finish reason and error message, and find answers that are error messages.

The tables are data: `finish_reasons`, `failures`, `no_errors` and `error_answers` of answer_rules/common.yml.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from collector.answers.texts.languages import COMMON_FILE, RULES_FOLDER
from collector.errors import InputError
from collector.files.yaml import read_yaml_mapping
from collector.hints import shown

Status = Literal["ok", "unread", "malformed", "refused", "truncated", "error"]
RULES_FILE = RULES_FOLDER / COMMON_FILE
# The rule of an error message that says that the service was asked too often. It says nothing about the question.
RATE_LIMIT = "rate_limit"
FILTER_MESSAGE = "filter_message"
# The rule of an error message that no other rule reads.
OTHER_ERROR = "other_error"
_STATUSES = frozenset({"ok", "refused", "truncated", "error"})
_SHAPES = frozenset({"json", "line", "nothing"})

# A message may begin or end with a long traceback; what failed is said at its start or its end.
_HEAD_CHARACTERS = 6_000
_TAIL_CHARACTERS = 2_000
_LINE_CHARACTERS = 1_000
_BODY_CHARACTERS = 20_000
_MOST_OPENINGS = 4
_REASON_CHARACTERS = 80
_MOST_KNOWN = 500
_SHOWN_REASONS = 5

_NO_SIGNS = re.compile(r"[\W_]+")
# `<FinishReason.SAFETY: 3>`, and {"type": "length", "length": 16}.
_ENUM_VALUE = re.compile(r"^\s*<([\w.]{1,60}):[^<>]{0,60}>\s*$")
_TYPE_KEY = re.compile(r"^\s*\{.{0,100}?['\"](?:type|reason)['\"]\s*:\s*['\"]([\w.-]+)['\"]", re.DOTALL)
_FRAME = '\n  File "'
_INDENTED = re.compile(r"\n[ \t][^\n]*")
_BLANK_LINE = re.compile(r"\n[ \t]*\n\s*\S")


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a reply has its status: the id of the rule that says so, and its reason."""

    rule: str
    status: Status
    reason: str

    @property
    def sentence(self) -> str:
        """The sentence that people read."""
        return f"{self.reason[0].upper()}{self.reason[1:]} (rule {self.rule})."


@dataclass(frozen=True, slots=True)
class _Shape:
    """A shape of error messages that come as answers; rest: the text that may follow it."""

    pattern: re.Pattern[str]
    rest: str


@dataclass(frozen=True, slots=True)
class _Tables:
    """The tables of common.yml.

    field: what precedes a finish reason in a message.
    start: the opening or one of the shapes, which every error message begins with.
    """

    finish_reasons: Mapping[str, Cause]
    prefixes: tuple[str, ...]
    failures: tuple[tuple[Cause, re.Pattern[str]], ...]
    no_errors: frozenset[str]
    field: re.Pattern[str]
    opening: re.Pattern[str]
    shapes: tuple[_Shape, ...]
    start: re.Pattern[str]
    tail: re.Pattern[str]


def read_finish_reason(written: str | None) -> Cause | None:
    """Return what the reason why a model stopped means.

    Args:
        written: the reason as the service or a library writes it, as `content_filter`, `FinishReason.SAFETY` or `max-tokens`.

    Returns:
        The status ok, refused, truncated or error with its rule; None where there is no reason, or an unknown one.
    """
    return None if written is None else _known_reason(written[:_REASON_CHARACTERS])


def read_failure(message: str) -> Cause:
    """Classify an error message: a filter refused, the answer was cut off, or the call failed.

    Args:
        message: the text of an error, of an exception, or the body of an HTTP error.
    """
    tables = _tables()
    # Only the exception of a traceback counts: the program's names and lines do not describe the call.
    if (last := message.rfind(_FRAME)) >= 0:
        message = _INDENTED.sub("", message[last:])
    text = message
    if len(message) > _HEAD_CHARACTERS + _TAIL_CHARACTERS:
        text = f"{message[:_HEAD_CHARACTERS]}\n{message[-_TAIL_CHARACTERS:]}"
    for cause, pattern in tables.failures:
        if pattern.search(text):
            return cause
        # A finish reason is as explicit as a filter's own code.
        if cause.rule == FILTER_MESSAGE and (reason := _reason_within(text, tables)):
            return reason
    raise AssertionError("The last pattern of failures is found in every message.")


def is_error(message: str | None) -> bool:
    """Say whether the cell of an error column holds an error, and not a word for none, such as None or ok."""
    return message is not None and message.strip(" \t\r\n.").casefold() not in _tables().no_errors


def failure_of_answer(text: str) -> Cause | None:
    """Return what failed where an answer is nothing but an error message; None for any other answer.

    An answer that speaks about an error, or quotes one and goes on, is no error message.
    """
    return read_failure(text) if _is_error_message(text.strip()) else None


@dataclass(slots=True)
class UnknownReasons:
    """Counts the finish reasons that no table knows; only so many different ones are kept."""

    counts: Counter[str] = field(default_factory=Counter)

    def note(self, finish_reason: str | None) -> None:
        """Count a finish reason if it is unknown."""
        if finish_reason is None or _known_reason(finish_reason[:_REASON_CHARACTERS]) is not None:
            return
        reason = finish_reason.strip()[:_REASON_CHARACTERS]
        if reason in self.counts or len(self.counts) < _MOST_KNOWN:
            self.counts[reason] += 1

    def sentences(self) -> list[str]:
        """Return one sentence that names them with their counts; none where every reason is known."""
        if not self.counts:
            return []
        most = self.counts.most_common(_SHOWN_REASONS)
        listed = ", ".join(f"{shown(reason)} ({n:,})" for reason, n in most)
        rest = len(self.counts) - len(most)
        more = f" and {rest:,} more" if rest else ""
        what = "This finish reason is" if len(self.counts) == 1 else "These finish reasons are"
        return [f"{what} unknown, so these answers are read by their text alone: {listed}{more}."]


# -- Finish reasons --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _known_reason(written: str) -> Cause | None:
    """Return what a finish reason in any spelling means."""
    tables = _tables()
    if found := _ENUM_VALUE.match(written) or _TYPE_KEY.match(written):
        written = found[1]
    plain = _letters_and_digits(written.rpartition(".")[2])
    for name in (plain, _letters_and_digits(written)):
        if name in tables.finish_reasons:
            return tables.finish_reasons[name]
        for prefix in tables.prefixes:
            if name.startswith(prefix) and name[len(prefix) :] in tables.finish_reasons:
                return tables.finish_reasons[name[len(prefix) :]]
    return None


def _letters_and_digits(written: str) -> str:
    """Return the letters and digits of a text in lower case."""
    return _NO_SIGNS.sub("", written).casefold()


def _reason_within(text: str, tables: _Tables) -> Cause | None:
    """Return the first finish reason in a message that says more than that the model ended."""
    for found in tables.field.finditer(text):
        cause = _known_reason(found[1])
        if cause is not None and cause.status in ("refused", "truncated"):
            return cause
    return None


# -- Answers that are error messages ---------------------------------------------------------------------------------


def _is_error_message(text: str) -> bool:
    """Return whether a text is only an error message."""
    tables = _tables()
    if text.startswith(("{", "[{")):
        return _is_error_body(text, tables)
    if tables.start.match(text) is None:
        return False
    start = 0
    for _ in range(_MOST_OPENINGS + 1):
        for shape in tables.shapes:
            found = shape.pattern.match(text, start)
            if found is not None and _ends(text, found.end(), shape.rest, tables):
                return True
        if start and text.startswith("{", start):
            return _is_error_body(text[start:], tables)
        opening = tables.opening.match(text, start)
        if opening is None or opening.end() == start:
            return False
        start = opening.end()
    return False


def _ends(text: str, end: int, rest: str, tables: _Tables) -> bool:
    """Say whether what follows a shape is a part of the message, and not an answer."""
    if rest == "nothing":
        return tables.tail.fullmatch(text, end) is not None
    if rest == "line":
        close = text.rfind("}")
        if close > end:
            return tables.tail.fullmatch(text, close + 1) is not None or text.count("{") > text.count("}")
        return len(text) - end <= _LINE_CHARACTERS and _BLANK_LINE.search(text, end) is None
    # A body that was cut off has more braces open than closed.
    close = max(text.rfind("}"), text.rfind("]"))
    if close < end or text.count("{") > text.count("}"):
        return len(text) - end <= _BODY_CHARACTERS and _BLANK_LINE.search(text, max(end, close)) is None
    return tables.tail.fullmatch(text, close + 1) is not None


_ERROR_FIRST = re.compile(
    r"\{\s{0,20}['\"](?:error|errors|type|object|message|detail|code|status|statusCode|request_id|__type|success|promptFeedback)['\"]"
    r"\s{0,20}:",
    re.IGNORECASE,
)
_ERROR_OBJECT = re.compile(r"['\"]error['\"]\s{0,20}:\s{0,20}\{")
_ERROR_KEY = re.compile(r"['\"](code|type|status|param|message|innererror|statusCode)['\"]\s{0,20}:")
_ERROR_TYPE = re.compile(r"['\"](?:type|object)['\"]\s{0,20}:\s{0,20}['\"]error['\"]")
_ERROR_TEXT = re.compile(r"['\"](?:error|message|detail|__type)['\"]\s{0,20}:\s{0,20}['\"]")
_ERROR_NUMBER = re.compile(
    r"['\"](?:code|status|statusCode|status_code)['\"]\s{0,20}:\s{0,20}['\"]?[45]\d\d\b"
)
_EXCEPTION_TYPE = re.compile(r"['\"]__type['\"]\s{0,20}:\s{0,20}['\"][\w.#]{0,80}Exception['\"]")
_BLOCKED = re.compile(r"['\"]block_?reason['\"]\s{0,20}:\s{0,20}['\"](\w{1,40})['\"]", re.IGNORECASE)


def _is_error_body(text: str, tables: _Tables) -> bool:
    """Say whether a JSON object, or a Python mapping as it is printed, is the body of a service's error or of no answer."""
    if not _ERROR_FIRST.match(text):
        return _is_stopped_body(text, tables)
    close = text.rfind("}")
    is_whole = close >= 0 and text.count("{") <= text.count("}")
    if len(text) > _BODY_CHARACTERS or (is_whole and tables.tail.fullmatch(text, close + 1) is None):
        return False
    head = text[:_HEAD_CHARACTERS]
    if found := _ERROR_OBJECT.search(head):
        keys = {name.casefold() for name in _ERROR_KEY.findall(head, found.end())}
        return len(keys) >= 2 or (bool(keys) and not is_whole)
    if _ERROR_TYPE.search(head) or _EXCEPTION_TYPE.search(head):
        return True
    if (blocked := _BLOCKED.search(head)) and (cause := _known_reason(blocked[1])):
        return cause.status == "refused"
    return bool(_ERROR_NUMBER.search(head) and _ERROR_TEXT.search(head))


_BODY_FIRST = re.compile(
    r"\[?\{\s{0,20}['\"](?:choices|candidates|id|object|model|index|created|type|content|role|output|response|(?:finish|stop|block)_?reason)['\"]\s{0,20}:",
    re.IGNORECASE,
)
_BODY_TEXT = re.compile(
    r"['\"](?:content|text|output|answer|response)['\"]\s{0,20}:\s{0,20}(?:'(?!')|\"(?!\"))", re.IGNORECASE
)


def _is_stopped_body(text: str, tables: _Tables) -> bool:
    """Say whether a service's response says that a filter stopped the model, or that it was cut off and wrote nothing."""
    if len(text) > _BODY_CHARACTERS or not _BODY_FIRST.match(text):
        return False
    if tables.tail.fullmatch(text, max(text.rfind("}"), text.rfind("]")) + 1) is None:
        return False
    reason = _reason_within(text, tables)
    return reason is not None and (reason.status == "refused" or _BODY_TEXT.search(text) is None)


# -- The tables ------------------------------------------------------------------------------------------------------


@cache
def _tables() -> _Tables:
    return load_failures()


def load_failures(path: Path = RULES_FILE) -> _Tables:
    """Read the tables of failures.

    Raises:
        InputError: a table is missing or has an entry that cannot be used; names the file and the entry.
    """
    document = read_yaml_mapping(path, what="answer rules")
    for key in ("finish_reason_fields", "finish_reasons", "failures", "no_errors", "error_answers"):
        if key not in document:
            raise InputError(f"{path} has no key {key!r}.")
    place = f"{path}: error_answers"
    answers = document["error_answers"]
    names = ("phrase", "fields", "prose", "opening", "tail", "thing", "blocked", "stops")
    parts = {name: _joined(_value(answers, name, place)) for name in names}
    failures = tuple(
        (_cause(entry, of), _pattern(entry, of, parts))
        for of, entry in _places(f"{path}: failures", document["failures"])
    )
    if not failures or failures[-1][1].pattern:
        raise InputError(f"{path}: the last entry of failures should have an empty pattern.")
    shapes = tuple(
        _Shape(_pattern(entry, of, parts), _one_of(entry, "rest", _SHAPES, of))
        for of, entry in _places(f"{place}.shapes", answers.get("shapes") or ())
    )
    starts = (parts["opening"], *(shape.pattern.pattern for shape in shapes))
    return _Tables(
        finish_reasons=_finish_reasons(document["finish_reasons"], path),
        prefixes=tuple(map(_letters_and_digits, document["finish_reason_fields"])),
        failures=failures,
        no_errors=frozenset(str(word).casefold() for word in document["no_errors"]),
        field=_compiled(rf"{parts['fields']}\W{{1,6}}(?:is\W{{1,4}})?([\w.-]{{1,60}})", f"{place}.fields"),
        opening=_compiled(parts["opening"], f"{place}.opening"),
        shapes=shapes,
        start=_compiled("|".join(f"(?:{start})" for start in starts), place),
        tail=_compiled(parts["tail"], f"{place}.tail"),
    )


def _finish_reasons(entries: Iterable[Any], path: Path) -> dict[str, Cause]:
    found: dict[str, Cause] = {}
    for place, entry in _places(f"{path}: finish_reasons", entries):
        cause = _cause(entry, place)
        for name in _value(entry, "names", place):
            known = found.setdefault(_letters_and_digits(str(name)), cause)
            if known != cause:
                raise InputError(
                    f"{path}: the finish reason {name!r} is listed under {known.rule} and {cause.rule}."
                )
    return found


def _places(name: str, entries: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Return the entries of a list, each with its place as errors name it."""
    return ((f"{name}[{index}]", entry) for index, entry in enumerate(entries))


def _cause(entry: Mapping[str, Any], place: str) -> Cause:
    status: Any = _one_of(entry, "status", _STATUSES, place)
    return Cause(_value(entry, "id", place), status, _value(entry, "reason", place))


def _pattern(entry: Mapping[str, Any], place: str, parts: Mapping[str, str]) -> re.Pattern[str]:
    source = _joined(_value(entry, "pattern", place))
    for name, part in parts.items():
        source = source.replace(f"<<{name}>>", part)
    return _compiled(source, place)


def _value(entry: Mapping[str, Any], key: str, place: str) -> Any:
    if key not in entry:
        raise InputError(f"{place} has no key {key!r}.")
    return entry[key]


def _one_of(entry: Mapping[str, Any], key: str, known: frozenset[str], place: str) -> str:
    value = _value(entry, key, place)
    if value not in known:
        raise InputError(f"{place}.{key} is {value!r}; it should be one of {', '.join(sorted(known))}.")
    return str(value)


def _joined(source: str) -> str:
    """Return an expression that is written over several lines."""
    return source.replace("\n", "")


def _compiled(source: str, place: str) -> re.Pattern[str]:
    try:
        return re.compile(source, re.IGNORECASE)
    except re.error as error:
        raise InputError(f"{place} is not a regular expression: {error}.") from None
