"""Find the value of a reply's JSON that is the decision."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from collector.answers.decisions.decision import Decision
from collector.answers.texts.decision_words import decision_words
from collector.answers.texts.json_text import (
    JsonNumber,
    JsonObject,
    json_leaves,
    json_places,
    json_values,
)
from collector.answers.texts.plain import fold
from collector.answers.texts.remembered import remembered

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MOST_WORDS = 6


class Leaf(NamedTuple):
    """A value in a JSON object that is neither an object nor a list.

    Attributes:
        path: its keys from the outside, in the form in which keys are compared.
        text: the value as it is written; None for null.
        is_boolean: whether it is true or false.
        is_number: whether it is a number.
        key: its own key, as it is written.
    """

    path: tuple[str, ...]
    text: str | None
    is_boolean: bool
    is_number: bool
    key: str


class Found(NamedTuple):
    """The decision that a rule finds in JSON, or the problem of a value that is none."""

    rule: str
    decision: Decision


def json_decision(
    text: str,
    key: str | None,
    read: Callable[[Leaf, bool], str | None],
    expected: str = "",
    is_other: Callable[[Leaf], bool] = lambda _: False,
    named: Callable[[str], str | None] = lambda _: None,
) -> Found | None:
    """Find the decision in the JSON of a reply.

    Args:
        text: the reply.
        key: the key that the spec declares, dotted where objects are nested.
        read: reads a leaf's value, or returns None where it is no decision; the second argument says whether the key says that
            it holds the decision, so that the value may be a sentence.
        expected: what a value that is no decision is not: "none of the labels".
        is_other: whether a leaf's key says that it holds something else than the decision.
        named: names the decision that a key is, in objects such as {"accept": true, "reject": false}.

    Returns:
        The decision; None if the reply has no JSON, or none that holds a decision.
    """
    if "{" not in text:
        return None
    leaves = [leaf for value, _ in json_values(text) for leaf in _leaves(value) if not is_other(leaf)]
    if not leaves:
        return None
    if key is not None and (found := _declared(leaves, key, read, expected)):
        return found
    truths = [(name, leaf) for leaf in leaves if leaf.is_boolean and (name := named(leaf.key))]
    found = _only(leaves, read) or _by_truth(leaves, read, truths) or _known(leaves, read, expected)
    true = {name for name, leaf in truths if leaf.text == "true"}
    value = None if found is None else found.decision.value
    return _contradicted(truths) if value and true - {value} else found


def prose_behind_json(text: str) -> str:
    """Return the text of a reply after its JSON."""
    return text[max((end for _, _, end in json_places(text)), default=0) :]


def prose_around_json(text: str) -> str:
    """Return the text of a reply before and after its JSON."""
    start = min((start for _, start, _ in json_places(text)), default=len(text))
    return f"{text[:start]}\n{prose_behind_json(text)}"


def without_json(text: str) -> str:
    """Return a reply with its JSON replaced by the texts in it, without texts under unrelated keys."""
    if "{" not in text:
        return text
    parts: list[str] = []
    at = 0
    for value, start, end in json_places(text):
        leaves = (
            leaf for leaf in _leaves(value) if leaf.text and not leaf.is_boolean and not _is_other(leaf)
        )
        parts += [text[at:start], "\n", *(f"{leaf.text}\n" for leaf in leaves)]
        at = end
    return "".join([*parts, text[at:]])


def only_decides(text: str) -> bool:
    """Return whether the JSON of a reply holds one value, besides those of keys such as "reason" and "confidence"."""
    leaves = (leaf for value, _ in json_values(text) for leaf in _leaves(value))
    return sum(not _is_other(leaf) for leaf in leaves) == 1


@remembered
def folded_key(key: str) -> str:
    """Return a key in the form in which keys are compared: lower case, words joined by underscores."""
    return re.sub(r"[\s_-]+", "_", fold(_CAMEL.sub("_", key)).strip()).strip("_")


def _leaves(value: JsonObject | list[Any]) -> Iterator[Leaf]:
    top: tuple[tuple[str, ...], str] = ((), "")
    for (path, key), one in json_leaves(value, top, _under):
        if path:
            is_boolean = isinstance(one, bool)
            written = str(one).lower() if is_boolean else None if one is None else str(one)
            yield Leaf(path, written, is_boolean, isinstance(one, JsonNumber), key)


def _under(outer: tuple[tuple[str, ...], str], key: str) -> tuple[tuple[str, ...], str]:
    """Return the path and the own key of a value, from those of the object around it."""
    return (*outer[0], folded_key(key)), key


def _declared(
    leaves: list[Leaf], key: str, read: Callable[[Leaf, bool], str | None], expected: str
) -> Found | None:
    """Return the value under the declared key; None where no object has the key."""
    wanted = tuple(map(folded_key, key.split(".")))
    under = [leaf for leaf in leaves if leaf.path[: len(wanted)] == wanted]
    if not under:
        under = [leaf for leaf in leaves if leaf.path[-len(wanted) :] == wanted]
    if not under:
        return None
    return _agreeing(under, read, "json_key") or _unknown("json_key", key, under[0], expected)


def _only(leaves: list[Leaf], read: Callable[[Leaf, bool], str | None]) -> Found | None:
    """Return the value of the only key that holds a decision, unless the expected key has another one."""
    valued = [
        (leaf, value) for leaf in leaves if not _is_other(leaf) and (value := read(leaf, False)) is not None
    ]
    if len(valued) != 1:
        return None
    leaf, value = valued[0]
    for other in leaves:
        says_something_else = other.text is None or len(other.text.split()) <= _MOST_WORDS
        if other is not leaf and _tier(other) is not None and says_something_else:
            return None
    return _decided("json_only", value, leaf.text)


def _by_truth(
    leaves: list[Leaf], read: Callable[[Leaf, bool], str | None], truths: list[tuple[str, Leaf]]
) -> Found | None:
    """Return the only decision that is a key with the value true, unless another key should hold the decision."""
    keyed = {leaf for _, leaf in truths}
    others = [leaf for leaf in leaves if leaf not in keyed]
    if not truths or any(_tier(leaf) is not None or read(leaf, False) for leaf in others):
        return None
    true = {name for name, leaf in truths if leaf.text == "true"}
    if len(true) == 1 and not any(name in true and leaf.text == "false" for name, leaf in truths):
        return _decided("json_only", true.pop(), "true")
    return _contradicted(truths)


def _contradicted(truths: list[tuple[str, Leaf]]) -> Found:
    said = ", ".join(f"{name!r} is {leaf.text}" for name, leaf in truths[:4])
    return Found("json_only", Decision(problem=f"The JSON does not decide for one label: {said}."))


def _known(leaves: list[Leaf], read: Callable[[Leaf, bool], str | None], expected: str) -> Found | None:
    """Return the value of a key from the list of known ones."""
    for tier in range(3):
        under = [leaf for leaf in leaves if _tier(leaf) == tier and not _is_other(leaf)]
        short = [leaf for leaf in under if leaf.text is None or len(leaf.text.split()) <= _MOST_WORDS]
        if found := _agreeing(short or under, read, "json_known_key"):
            return found
        if short:
            return _unknown("json_known_key", ".".join(short[0].path), short[0], expected)
    return None


def _agreeing(leaves: list[Leaf], read: Callable[[Leaf, bool], str | None], rule: str) -> Found | None:
    """Return the value that all of the leaves have that have one."""
    values = [(value, leaf) for leaf in leaves if (value := read(leaf, True)) is not None]
    if not values:
        return None
    distinct = list(dict.fromkeys(value for value, _ in values))
    if len(distinct) > 1 or len(values) < sum(leaf.text is not None for leaf in leaves):
        names = list(dict.fromkeys(".".join(leaf.path) for leaf in leaves))
        said = ", ".join(_shortened(leaf.text) for leaf in leaves[:4])
        problem = f"The values of {' and '.join(map(repr, names[:3]))} differ: {said}."
        return Found(rule, Decision(problem=problem))
    return _decided(rule, distinct[0], values[0][1].text)


def _decided(rule: str, value: str, text: str | None) -> Found:
    return Found(rule, Decision(value, is_certain=True, read_by=rule, read_text=text))


def _unknown(rule: str, key: str, leaf: Leaf, expected: str) -> Found:
    problem = f"The value of {key!r} is {_shortened(leaf.text)}, which is {expected}."
    return Found(rule, Decision(problem=problem))


def _tier(leaf: Leaf) -> int | None:
    """Return 0 for a key such as "final_answer", 1 for "answer", 2 for "hiring_decision", None for other keys."""
    words = decision_words()
    name = leaf.path[-1]
    parts = name.split("_")
    if name in words.keys:
        return 1
    is_known = parts[-1] in words.keys or parts[0] in words.keys
    if is_known and (parts[0] in words.final_keys or parts[-1] in words.final_keys):
        return 0
    if name in words.final_keys:
        return 0
    return 2 if parts[-1] in words.keys else None


def _is_other(leaf: Leaf) -> bool:
    """Return whether a key never holds the decision."""
    other = decision_words().other_keys
    return any(part in other for name in leaf.path[-2:] for part in (name, *name.split("_")))


def _shortened(text: str | None) -> str:
    if text is None:
        return "null"
    return repr(text if len(text) <= 40 else text[:39] + "…")
