"""JSON without an answer: a refusal, or an error's message, in the form that was asked for.

This module decides which texts of a JSON value count; the caller judges what they say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from collector.answers.failures import Cause
from collector.answers.texts.json_text import JsonNumber, JsonObject, json_leaves, json_values
from collector.answers.texts.plain import plain_words
from collector.answers.texts.remembered import remembered

_FENCE = re.compile(r"^\s*(?:`{3,}\s*\w*\s*)?")
_SPACES = re.compile(r"[\s-]+")


@dataclass(frozen=True, slots=True)
class Silence:
    """Parts of JSON that are no answer (common.yml, `json`); keys in lower case, spaces and hyphens as underscores."""

    error_keys: frozenset[str]
    remark_keys: frozenset[str]
    filler: re.Pattern[str]
    refusing: re.Pattern[str]

    def is_filler(self, text: str) -> bool:
        """Return whether a text is in the place of an answer and is none."""
        return self.filler.fullmatch(plain_words(text).strip(" \t\r\n.!?*_-–—\"'()[]")) is not None


def whole_json(text: str) -> list[JsonObject | list[Any]]:
    """Return the JSON that a reply consists of, with or without a fence; None if it opens otherwise or is not closed."""
    if not _FENCE.sub("", text, count=1).startswith(("{", "[")):
        return []
    values = []
    for value, is_left_open in json_values(text):
        # An open value was cut off, so its last text is incomplete.
        if is_left_open:
            return []
        values.append(value)
    return values


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A text, number, true or false of a JSON value; the kind of its key, and whether an error's key is above it.

    The text of true and false is their key: under an error's key, true says that there is one.
    """

    text: str
    type: Literal["text", "number", "true", "false"]
    is_remark: bool
    is_error: bool


def silence_of(
    values: Iterable[JsonObject | list[Any]],
    silence: Silence,
    refusal: Callable[[str], Cause | None],
    *,
    are_numbers_answers: bool = False,
    answers: Sequence[str] = (),
) -> Cause | None:
    """Say whether JSON answers nothing.

    Args:
        values: the JSON of a reply.
        silence: what JSON may hold without answering.
        refusal: what finds a text to be a refusal, or None.
        are_numbers_answers: a number is an answer, except under a remark's or an error's key.
        answers: texts that are answers even where they are fillers, such as a label "none"; case does not matter.

    Returns:
        The result of `refusal` for the first text that refuses, if no other text or number answers. A cause of the rule `json`
        for an error's message that no rule knows, for true under an error's key, and for nothing but fillers. None for any other
        JSON.
    """
    leaves = [leaf for value in values for leaf in _leaves(value, silence)]
    wanted = {answer.casefold() for answer in answers}
    found: Cause | None = None
    open_leaves: list[_Leaf] = []
    for leaf in leaves:
        if leaf.type == "number":
            if are_numbers_answers and not (leaf.is_remark or leaf.is_error):
                return None
            continue
        if leaf.type != "text":
            continue
        is_wanted = leaf.text.strip().casefold() in wanted
        one = None if is_wanted else refusal(leaf.text)
        found = found or one
        if one is None and (is_wanted or not silence.is_filler(leaf.text)):
            if not (leaf.is_error or leaf.is_remark):
                return None
            open_leaves.append(leaf)
    if found is not None:
        return found
    signals = [leaf for leaf in leaves if leaf.type == "true" and leaf.is_error]
    if signals or any(leaf.is_error for leaf in open_leaves):
        if not open_leaves or _refuses([*signals, *open_leaves], silence):
            return Cause("json", "refused", "the JSON answer is an error's message that refuses")
        return Cause("json", "malformed", "the JSON answer is an error's message")
    return _of_fillers(leaves, silence) if not open_leaves else None


def _refuses(leaves: Iterable[_Leaf], silence: Silence) -> bool:
    """Return whether a text, or the key of true, speaks of a refusal."""
    return any(silence.refusing.search(plain_words(leaf.text)) for leaf in leaves)


def _of_fillers(leaves: Sequence[_Leaf], silence: Silence) -> Cause | None:
    """Return the cause of JSON with fillers as its only texts; None if a number, true or false answers, or all are empty."""
    if any(leaf.type != "text" and not (leaf.is_remark or leaf.is_error) for leaf in leaves):
        return None
    texts = [leaf for leaf in leaves if leaf.type == "text" and leaf.text.strip()]
    if not texts:
        return None
    if _refuses(texts, silence):
        return Cause("json", "refused", "the JSON answer holds nothing but fillers that refuse")
    return Cause("json", "malformed", "the JSON answer holds nothing but fillers")


@remembered
def _folded_key(key: str) -> str:
    return _SPACES.sub("_", key.strip().casefold())


class _Keys(NamedTuple):
    """The keys of a value: the innermost one, folded, and what those around the value say.

    `is_outermost` is true of a value under no key, if that is an object: it may have a remark's key.
    """

    key: str = ""
    is_outermost: bool = False
    is_remark: bool = False
    is_error: bool = False


def _leaves(value: JsonObject | list[Any], silence: Silence) -> Iterator[_Leaf]:
    """Yield the values that are not null.

    A remark's key counts in the outermost object only: further in it speaks of an item.
    """

    def under(outer: _Keys, written: str) -> _Keys:
        key = _folded_key(written)
        return _Keys(
            key,
            is_remark=outer.is_remark or (outer.is_outermost and key in silence.remark_keys),
            is_error=outer.is_error or key in silence.error_keys,
        )

    for keys, one in json_leaves(value, _Keys(is_outermost=isinstance(value, JsonObject)), under):
        if isinstance(one, bool):
            yield _Leaf(keys.key, "true" if one else "false", keys.is_remark, keys.is_error)
        elif isinstance(one, str):
            yield _Leaf(
                one, "number" if isinstance(one, JsonNumber) else "text", keys.is_remark, keys.is_error
            )
