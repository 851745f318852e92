"""Cells without a value in a file of answers: marks of missing answers, their numbers by column, and possible other marks."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from collector.composed import composed
from collector.hints import quoted
from collector.sql import literal
from collector.tables.missing import is_missing, missing_sentence, sql_is_missing

if TYPE_CHECKING:
    from collector.spec.parts import Answer

# A longer answer is no token.
MOST_CHARACTERS = 500
TOKEN_CHARACTERS = 60
# A text that recurs at least so often may be what a program writes where no answer came.
LEAST_RECURRING = 3
# Outer blanks of every kind, as SQL.
_BLANKS = (
    "' ' || chr(9) || chr(10) || chr(13) || chr(160) || chr(8199) || chr(8203) || chr(8239) || chr(65279)"
)
_BRACKETED = re.compile(r"""\[[^\[\]"]+\]|<[^<>]+>|\([^()]+\)|\{[^{}":]+\}""")
_UPPER_CASE = re.compile(r"[A-Z0-9][A-Z0-9 _/.:!-]*")
_FAILURES = frozenset("ERROR ERRORS TIMEOUT EXCEPTION EMPTY RETRY RETRIES UNAVAILABLE BLANK".split())
_NO_ANSWER = re.compile(
    r"NO[ _-](?:TEXT|RESPONSE|ANSWER|REPLY|OUTPUT|CONTENT|RESULT|DATA|COMPLETION)(?:[ _-].*)?", re.DOTALL
)
_FAILED_WORDS = ("error", "timeout", "empty", "no response", "no answer", "no reply", "no output", "no text")
# Characters with a meaning in a regular expression.
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")
_REFUSED = re.compile(r"refus|block|filter|moderat|safety|declin|censor|policy|guardrail", re.IGNORECASE)


def trimmed(column: str) -> str:
    """Return as SQL a cell's text, composed and without outer blanks; null where nothing is left."""
    return f"nullif(trim(nfc_normalize({column}), {_BLANKS}), '')"


def present(cell: str, known: Collection[str]) -> str:
    """Return SQL for a trimmed cell, null if it means no value and is not a known word."""
    return f"case when not {_is_none(cell, known)} then {cell} end"


def absent(cell: str, known: Collection[str]) -> str:
    """Return SQL for a trimmed cell's mark of a missing value; null if it has a value or is empty."""
    return f"case when {_is_none(cell, known)} then {cell} end"


def _is_none(cell: str, known: Collection[str]) -> str:
    kept = [word for word in known if is_missing(word) and word]
    unless = f" and {cell} not in ({', '.join(map(literal, kept))})" if kept else ""
    return f"({sql_is_missing(cell)}{unless})"


def missing_answer(text: str | None, answer: Answer) -> str | None:
    """Return an answer's mark of a missing value, such as #N/A; None if there is an answer or nothing.

    A label is an answer whatever it is called.
    """
    text = text or ""
    if len(text) > MOST_CHARACTERS:
        return None
    word = composed(text.strip())
    if word in answer.missing:
        return word
    if not word:
        return None
    if not is_missing(word) or word.casefold() in {label.casefold() for label in answer.labels}:
        return None
    return word


class MissingAnswers:
    """Counts cells without an answer by the file's columns of answers, which a row's answers come from in turn."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns
        self._counts: list[Counter[str]] = [Counter() for _ in columns]
        self._n_seen = 0

    def add(self, texts: Iterable[str | None], answer: Answer) -> None:
        """Count the next answers in the file's order."""
        for text in texts:
            if not (text or "").strip():
                self._count(self._n_seen, "")
            elif (word := missing_answer(text, answer)) is not None:
                self._count(self._n_seen, word)
            self._n_seen += 1

    def _count(self, number: int, word: str) -> None:
        self._counts[number % len(self._columns)][word] += 1

    def add_counted(self, column: int, word: str, n: int) -> None:
        """Count cells of a column that hold the same, "" for nothing."""
        self._counts[column][word] += n

    def sentences(self) -> list[str]:
        """Return a sentence for each column that lacks answers."""
        return [
            missing_sentence(column, counts)
            for column, counts in zip(self._columns, self._counts, strict=True)
            if counts
        ]


def tokens_for_nothing(
    counts: Mapping[str, int], n_answers: int, labels: Sequence[str] = (), *, are_labels: bool = False
) -> dict[str, int]:
    """Return recurring texts that look like a program's mark of a missing answer -> their counts, the most frequent first.

    Args:
        counts: how often each short answer recurs.
        n_answers: how many answers there are.
        labels: answers whatever they look like.
        are_labels: whether the answers are short words that recur anyway.
    """
    known = {label.casefold() for label in labels}
    listed = {word: n for word, n in counts.items() if word.casefold() not in known and not is_missing(word)}
    # If most answers look like this, it is their form.
    n_bracketed = sum(n for word, n in counts.items() if _BRACKETED.fullmatch(word))
    n_upper = sum(n for word, n in counts.items() if _UPPER_CASE.fullmatch(word))
    bracketed_say, upper_say = n_bracketed * 2 < n_answers, n_upper * 2 < n_answers
    return {
        word: n
        for word, n in sorted(listed.items(), key=lambda one: (-one[1], one[0]))
        if n >= LEAST_RECURRING
        and (
            _is_failure(word)
            or (bracketed_say and _is_bracketed(word, known))
            or (upper_say and _is_token(word, are_labels=are_labels))
        )
    }


def _is_failure(word: str) -> bool:
    """Return whether a text names a failure, whatever the other answers look like."""
    if word.casefold().strip(".!()[]<>{} ") in _FAILED_WORDS:
        return True
    bare = word.strip("[](){}<> .!")
    if not _UPPER_CASE.fullmatch(bare):
        return False
    words = set(re.split(r"[ _/.:!-]+", bare))
    return _NO_ANSWER.fullmatch(bare) is not None or ("NO" not in words and bool(_FAILURES & words))


def _is_bracketed(word: str, known: Collection[str]) -> bool:
    """Return whether a text in brackets may be a token: not a letter, a label or JSON."""
    inner = word.strip("[](){}<> ")
    if not _BRACKETED.fullmatch(word) or sum(map(str.isalpha, inner)) < 2 or inner.casefold() in known:
        return False
    try:
        json.loads(word)
    except (ValueError, RecursionError):
        return True
    return False


def _is_token(word: str, *, are_labels: bool) -> bool:
    """Return whether a text in capitals among others may be a token: YES and NO are not, and among labels only a name_like_this
    is.
    """
    if not _UPPER_CASE.fullmatch(word) or sum(map(str.isalpha, word)) < 4:
        return False
    return "_" in word or not are_labels


def is_refusal_token(word: str) -> bool:
    """Return whether a token means that an answer was refused or blocked, which is not missing."""
    return _REFUSED.search(word) is not None


def refusal_pattern(word: str) -> str:
    """Return the regular expression that finds a token, as answer.refusals lists it."""
    return _SPECIAL.sub(r"\\\g<0>", word)


def token_sentences(found: Mapping[str, int]) -> Iterator[str]:
    """Yield a sentence on tokens for no answer that a spec does not declare, and one on those for a refusal."""
    refused = {word: n for word, n in found.items() if is_refusal_token(word)}
    none = {word: n for word, n in found.items() if word not in refused}
    if none:
        listed = ", ".join(json.dumps(word, ensure_ascii=False) for word in none)
        yield f"{_counted(none)}; if that means no answer, write answer: {{missing: [{listed}]}}."
    if refused:
        listed = ", ".join(json.dumps(refusal_pattern(word), ensure_ascii=False) for word in refused)
        yield f"{_counted(refused)}; if that means a refusal, write answer: {{refusals: [{listed}]}}."


def _counted(found: Mapping[str, int]) -> str:
    n = sum(found.values())
    answers = "1 answer is" if n == 1 else f"{n:,} answers are"
    words = [f"{quoted([word])} ({count:,})" for word, count in Counter(found).most_common(10)]
    more = f" and {len(found) - 10} more" if len(found) > 10 else ""
    return f"{answers} nothing but {', '.join(words)}{more}, and read as what was answered"
