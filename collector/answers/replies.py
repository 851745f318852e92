"""From a reply to a status and the words of the answer.

A reply is `ok`, `unread`, `malformed`, `refused`, `truncated` or, where it is a service's error message, `error`. JSON inside
fences, after leading prose or with trailing commas is read; nothing is evaluated and nothing inside a string is touched. JSON
with keys and no text under any of them is malformed. A well-formed answer (JSON, a numbered list) that says something is never
called refused because of its words: refusal patterns are tried only on replies without one, and only at their start; and on JSON
and lists all of whose texts refuse, as in {"error": "I'm sorry, but I can't …"}, which is a refusal written as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, Literal

from collector.answers.answer_language import language_of
from collector.answers.decisions import Decision, read_label, read_score
from collector.answers.decisions.rankings import read_ranking
from collector.answers.failures import (
    OTHER_ERROR,
    RULES_FILE,
    Cause,
    Status,
    failure_of_answer,
    read_finish_reason,
)
from collector.answers.json_refusals import Silence, silence_of, whole_json
from collector.answers.reasoning import Parted, split_reasoning
from collector.answers.recommendations.item_rules import ItemRules
from collector.answers.recommendations.items import FoundItems, find_items, items_text
from collector.answers.recommendations.lists import FoundList, find_list
from collector.answers.texts.json_text import TOO_DEEP, JsonNumber, JsonObject, extract_json
from collector.answers.texts.languages import find_own_refusal, find_refusal, refusal_language
from collector.answers.turns import Turns, find_conversation
from collector.errors import InputError
from collector.files.yaml import read_yaml_mapping

# A shorter label is part of too many other words.
SHORTEST_WORD = 4
SHORT_CHARACTERS = 100
_BRACKETS = " \t\r\n.!()[]<>{}"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer read from a reply.

    Attributes:
        status: ok, unread (no rule finds a decision), malformed, refused, truncated or error (the reply is an error message).
        answer_text: the analysed text; set if the status is ok.
        error: one sentence where the status is not ok.
        n_items: the number of items of a list; set where the status is ok.
        read_by: the rule that read the answer or found the refusal; None where no rule did.
        read_text: the part of the reply that the rule read; None where that is all of it.
        reasoning_text: the model's reasoning, which is not judged; None where the reply holds none.
        language: the ISO 639-1 code of the answer's language; None if the answer is too short.
    """

    status: Status
    answer_text: str | None = None
    error: str | None = None
    n_items: int | None = None
    read_by: str | None = None
    read_text: str | None = None
    reasoning_text: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """The version of the rules, and what JSON may hold without answering.

    labels: where the audit asks for a decision, the words to choose from, if any; None where it asks for something else.
    """

    version: str
    silence: Silence
    labels: tuple[str, ...] | None = None

    def by_pattern(self, text: str) -> Cause | None:
        """Return the refusal that the text opens with in any language."""
        refusal_id = find_refusal(text, self.labels)
        return _refusal(refusal_id) if refusal_id else None

    def by_texts(self, texts: Iterable[str]) -> Cause | None:
        """Return the first refusal, if every text refuses or is a filler."""
        found: Cause | None = None
        for text in texts:
            cause = self.by_pattern(text)
            if cause is None and not self.silence.is_filler(text):
                return None
            found = found or cause
        return found


@cache
def load_rules(path: Path = RULES_FILE) -> AnswerRules:
    """Read the rules that belong to no language.

    Raises:
        InputError: the file cannot be read, or lacks a key.
    """
    document = read_yaml_mapping(path, what="answer rules")
    if not isinstance(document.get("version"), str):
        raise InputError(f"{path}: version is missing; it is text and changes with every rule.")
    return AnswerRules(document["version"], _silence(document, path))


@cache
def _refusal(refusal_id: str) -> Cause:
    language = refusal_language(refusal_id)
    reason = (
        f"it opens with a refusal in {language.name}" if language else "it matches a refusal of the audit"
    )
    return Cause(refusal_id, "refused", reason)


def _silence(document: Mapping[str, Any], path: Path) -> Silence:
    written = document.get("json") or {}
    try:
        return Silence(
            error_keys=frozenset(written["error_keys"]),
            remark_keys=frozenset(written["remark_keys"]),
            filler=re.compile(written["filler"].replace("\n", ""), re.IGNORECASE),
            refusing=re.compile(written["refusing"].replace("\n", ""), re.IGNORECASE),
        )
    except KeyError as error:
        raise InputError(f"{path}: json has no key {error.args[0]!r}.") from None
    except re.error as error:
        raise InputError(f"{path}: a pattern of json is not a regular expression: {error}.") from None


def classify(
    text: str | None,
    kind: str,
    max_characters: int,
    finish_reason: str | None = None,
    *,
    k: int | None = None,
    labels: Sequence[str] = (),
    minimum: float = 0.0,
    maximum: float = 0.0,
    candidates: Sequence[str] = (),
    levels: int = 4,
    items: ItemRules | None = None,
    refusals: Sequence[str] = (),
    reasoning: str | None = None,
    turns: Turns = "last_assistant",
    key: str | None = None,
    pattern: str | None = None,
    options: Mapping[str, str] | None = None,
    rescale: bool = False,
    points: Mapping[str, float] | None = None,
    decimal: Literal[".", ","] | None = None,
    currency: str | None = None,
    per: Literal["year", "month"] | None = None,
) -> Answer:
    """Read a reply: separate the reasoning, decide whether there is an answer, and extract it.

    Args:
        text: the reply, or None where nothing came back.
        kind: 'json_object', 'list', 'items', 'text', 'label', 'score' or 'ranking', the kind of answer the audit expects.
        max_characters: a longer reply is malformed: kept whole, not analysed.
        finish_reason: why the endpoint stopped, if stated.
        k: how many items a list, of texts or of items, was asked for; a list that was cut off is truncated only if it has
            fewer. None, where the number is not known, calls every list that was cut off truncated.
        labels: of the kind label, those to choose from.
        minimum, maximum: of the kind score, the scale.
        candidates: of the kind ranking, the candidates' names in the order shown.
        levels: of the kind items, how many price levels there are.
        items: of the kind items, how they are read; as levels and by known keys if absent.
        refusals: the audit's own patterns of refusals, regular expressions that are searched in the first 2,000 characters.
        reasoning: the model's reasoning where the service sent it apart from the answer.
        turns: which turns of the assistant are the answer where the reply is a whole conversation.
        key, pattern, options: of the kinds label and score, as in read_label and read_score.
        rescale, points, decimal, currency, per: of the kind score, as in read_score.

    Returns:
        Status ok with the words of the answer (of JSON, its keys and values; of a list, an item a line; the label as listed; the
        number; a ranking and items as their modules keep them), or another status with one sentence.
    """
    # Short replies to a decision are much the same, so those that came last are remembered.
    is_short = kind in ("label", "score") and not reasoning and len(text or "") <= SHORT_CHARACTERS
    return (_classify_short if is_short else _classify)(
        text,
        kind,
        max_characters,
        finish_reason,
        reasoning,
        turns,
        k=k,
        labels=tuple(labels),
        minimum=minimum,
        maximum=maximum,
        candidates=tuple(candidates),
        items=items or ItemRules(levels) if kind == "items" else None,
        refusals=tuple(refusals),
        key=key,
        pattern=pattern,
        options=tuple((options or {}).items()),
        rescale=rescale,
        points=tuple((points or {}).items()),
        decimal=decimal,
        currency=currency,
        per=per,
    )


def _classify(
    text: str | None,
    kind: str,
    max_characters: int,
    finish_reason: str | None,
    reasoning: str | None,
    turns: Turns,
    *,
    k: int | None,
    labels: tuple[str, ...],
    candidates: tuple[str, ...],
    items: ItemRules | None,
    refusals: tuple[str, ...],
    **how: Any,
) -> Answer:
    """Read a reply as `classify` does, whose arguments can all be looked up here where `items` is None."""
    rules, reason = load_rules(), read_finish_reason(finish_reason)
    decide = _decider(kind, labels, candidates, **how)
    if decide is not None:
        rules = replace(rules, labels=(*labels, *candidates))
    conversation = find_conversation(text) if text else None
    judged = text if conversation is None else conversation.answer(turns)
    parted = split_reasoning(judged) if judged else Parted("")
    thoughts = (reasoning, conversation.reasoning if conversation else None, parted.reasoning)
    both = "\n\n".join(filter(None, thoughts)) or None
    if conversation is not None and judged is None:
        answer: Answer | None = Answer("malformed", error=_missing_turn(len(conversation.turns), turns))
    else:
        answer = _without_text(reason, parted, text, max_characters)
    if answer is None:
        answer = _own_refusal(parted.answer, refusals) or _failed(parted.answer, rules, labels)
    if answer is None:
        answer = _read(
            parted.answer,
            kind,
            rules,
            reason if reason is not None and reason.status == "truncated" else None,
            k=k,
            labels=labels,
            decide=decide,
            items=items,
        )
    language = _language(answer, parted.answer, kind)
    return (
        answer
        if both is None and language is None
        else replace(answer, reasoning_text=both, language=language)
    )


_classify_short = lru_cache(maxsize=4_096)(_classify)


def _decider(
    kind: str,
    labels: tuple[str, ...],
    candidates: tuple[str, ...],
    *,
    minimum: float,
    maximum: float,
    key: str | None,
    pattern: str | None,
    options: tuple[tuple[str, str], ...],
    points: tuple[tuple[str, float], ...],
    **amounts: Any,
) -> Callable[[str], Decision] | None:
    """Return what reads the decision in a text; None where the audit asks for none."""
    if kind == "label":
        return partial(read_label, labels=labels, key=key, pattern=pattern, options=dict(options))
    if kind == "score":
        return partial(
            read_score,
            minimum=minimum,
            maximum=maximum,
            key=key,
            pattern=pattern,
            points=dict(points),
            **amounts,
        )
    return partial(read_ranking, names=candidates) if kind == "ranking" else None


def answer_part(text: str) -> str | None:
    """Return a reply without its reasoning and its earlier turns; None where it holds no answer, as where it refuses."""
    conversation = find_conversation(text)
    parted = split_reasoning(text if conversation is None else conversation.answer("last_assistant") or "")
    answer, rules = parted.answer.strip(), load_rules()
    if not answer or parted.is_unclosed or _failed(answer, rules, ()) or rules.by_pattern(answer):
        return None
    return None if _silent(whole_json(answer), rules, are_numbers_answers=True) else answer


def _missing_turn(n_turns: int, turns: Turns) -> str:
    if n_turns == 0:
        return "The conversation holds no turn of the assistant."
    return f"The conversation holds {n_turns} turns of the assistant, and answer.turns asks for turn {turns}."


def _without_text(
    reason: Cause | None, parted: Parted, text: str | None, max_characters: int
) -> Answer | None:
    """Return the status of a reply without text, None if it has text."""
    if reason is not None and reason.status in ("refused", "error"):
        return _by_cause(reason)
    if text is not None and len(text) > max_characters:
        return Answer(
            "malformed", error=f"The answer has {len(text)} characters; the limit is {max_characters}."
        )
    if parted.is_unclosed:
        return Answer(
            "truncated", error="The reply ends inside the model's reasoning.", read_by="unclosed_reasoning"
        )
    if parted.answer.strip():
        return None
    if reason is not None and reason.status == "truncated":
        return _by_cause(reason)
    return Answer("malformed", error="The answer is empty.")


def _own_refusal(text: str, patterns: Sequence[str]) -> Answer | None:
    """Return the refusal that an audit's own pattern finds, None where none does."""
    found = find_own_refusal(text, patterns)
    if found is None:
        return None
    return Answer(
        "refused", error=f"The audit's own pattern {found!r} finds a refusal.", read_by="own_pattern"
    )


def _failed(text: str, rules: AnswerRules, labels: Sequence[str]) -> Answer | None:
    """Return what failed where the text is nothing but an error message, and none of the labels; None for any other text."""
    failure = failure_of_answer(text)
    if failure is None or not {text.strip().casefold(), text.strip(_BRACKETS).casefold()}.isdisjoint(
        label.casefold() for label in labels
    ):
        return None
    if failure.status == "error":
        # A model that refuses in JSON writes error bodies, too.
        said = _silent(whole_json(text), rules)
        if said is not None and (failure.rule == OTHER_ERROR or said.read_by != "json"):
            return said
    return _by_cause(failure)


def _language(answer: Answer, text: str, kind: str) -> str | None:
    """Return the language of an answer; titles, names of items and error messages have none."""
    if answer.status == "ok" and kind in ("list", "items", "ranking"):
        return None
    if answer.status != "ok" and failure_of_answer(text):
        return None
    return language_of((answer.answer_text if kind == "json_object" else None) or text)


def _read(
    text: str,
    kind: str,
    rules: AnswerRules,
    cut_off: Cause | None,
    *,
    k: int | None,
    labels: Sequence[str],
    decide: Callable[[str], Decision] | None,
    items: ItemRules | None,
) -> Answer:
    """Read a reply that holds text; `decide` reads the decision where one is asked for."""
    if kind == "json_object":
        return _classify_json(text, rules, cut_off)
    decision = decide(text) if decide is not None else None
    # A key with a decision is an answer, whatever the other text says.
    is_decided = (
        decision is not None and decision.value is not None and (decision.read_by or "").startswith("json")
    )
    silent = _silent(whole_json(text), rules, are_numbers_answers=decide is not None, answers=labels)
    if silent is not None and not is_decided:
        return silent
    if kind in ("list", "items"):
        return _classify_list(text, rules, cut_off, k, items)
    if decision is not None:
        return _classify_decision(decision, text, rules, cut_off)
    if refusal := rules.by_pattern(text):
        return _by_cause(refusal)
    if cut_off:
        return _by_cause(cut_off)
    return Answer("ok", answer_text=text.strip(), read_by="text")


def _silent(
    values: Sequence[JsonObject | list[Any]],
    rules: AnswerRules,
    *,
    are_numbers_answers: bool = False,
    answers: Sequence[str] = (),
) -> Answer | None:
    """Return the status of JSON without an answer; None if it may contain one, or without JSON."""
    said = silence_of(
        values, rules.silence, rules.by_pattern, are_numbers_answers=are_numbers_answers, answers=answers
    )
    return None if said is None else _by_cause(said)


def _classify_json(text: str, rules: AnswerRules, cut_off: Cause | None) -> Answer:
    value, problem, unclosed = extract_json(text)
    if value is not None:
        if silent := _silent([value], rules):
            return silent
        try:
            words = list(_flatten(value))
        except RecursionError:
            return Answer("malformed", error=TOO_DEEP)
        if any(one.is_text for one in words):
            return Answer("ok", answer_text=" ".join(one.written for one in words), read_by="json")
        missing = "no text under any of its keys" if words else "no words"
        return Answer("malformed", error=f"The JSON answer holds {missing}.")
    if refusal := rules.by_pattern(text):
        return _by_cause(refusal)
    if cut_off:
        return _by_cause(cut_off)
    if unclosed:
        return Answer("truncated", error="The JSON answer is not closed.")
    return Answer("malformed", error=problem)


def _classify_list(
    text: str, rules: AnswerRules, cut_off: Cause | None, k: int | None, items: ItemRules | None
) -> Answer:
    """Read a list of texts, or of items where there are rules for them."""
    found = find_list(text) if items is None else find_items(text, items.levels, items)
    # Prose and bullets may be what a refusal offers or asks instead, so there the refusal goes first.
    if not found.is_certain and (refusal := rules.by_pattern(text)):
        return _by_cause(refusal)
    if refusal := rules.by_texts(_names(found)):
        return _by_cause(refusal)
    is_short = k is None or len(found.items) < k
    if cut_off and is_short:
        return _by_cause(cut_off)
    if found.is_unclosed and is_short:
        return Answer("truncated", error="The JSON list is not closed.")
    problem = found.problem if isinstance(found, FoundItems) else None
    if found.items and problem is None:
        are_amounts = items is not None and items.are_amounts
        kept = (
            "\n".join(found.items)
            if isinstance(found, FoundList)
            else items_text(found.items, with_amounts=are_amounts)
        )
        return Answer("ok", answer_text=kept, n_items=len(found.items), read_by=found.form)
    if found.form == "none":
        return Answer("malformed", error="The answer holds no list.")
    return Answer("malformed", error=problem or "The list is empty.")


def _names(found: FoundList | FoundItems) -> list[str]:
    """Return the names of a list's items; '' for an item without a name."""
    if isinstance(found, FoundItems):
        return [one.name or "" for one in found.items]
    return list(found.items)


def _is_the_label(decision: Decision, text: str) -> bool:
    """Return whether the word that refuses is the label itself, as in "I would reject." where reject is a label."""
    label = decision.value or ""
    if len(label) < SHORTEST_WORD:
        return False
    return find_refusal(re.sub(re.escape(label), "", text, flags=re.IGNORECASE)) is None


def _classify_decision(decision: Decision, text: str, rules: AnswerRules, cut_off: Cause | None) -> Answer:
    # A label inside prose may be part of a refusal, or of reasoning that was cut off.
    if not decision.is_certain:
        if find_refusal(text) is not None and not _is_the_label(decision, text):
            if refusal := rules.by_pattern(text):
                return _by_cause(refusal)
            if decision.value in (rules.labels or ()):
                # "I refuse to choose Emily" names Emily, and decides against her.
                decision = Decision(problem=f"The answer declines a decision and names {decision.value!r}.")
        if cut_off:
            return _by_cause(cut_off)
    if decision.value is None:
        return Answer("unread", error=decision.problem)
    return Answer("ok", answer_text=decision.value, read_by=decision.read_by, read_text=decision.read_text)


@dataclass(frozen=True, slots=True)
class _Words:
    """The text of a JSON value in one place; is_text: it is a string value, not a key, a number, true or false."""

    written: str
    is_text: bool


def _flatten(value: Any, *, is_key: bool = False) -> Iterable[_Words]:
    """Yield the keys and values of a JSON value in order, without nulls."""
    if isinstance(value, JsonObject):
        for key, inner in value:
            yield from _flatten(key, is_key=True)
            yield from _flatten(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _flatten(inner)
    elif isinstance(value, bool):
        yield _Words(str(value).lower(), is_text=False)
    elif isinstance(value, str) and value.strip():
        yield _Words(value.strip(), is_text=not is_key and not isinstance(value, JsonNumber))


def _by_cause(cause: Cause) -> Answer:
    return Answer(cause.status, error=cause.sentence, read_by=cause.rule)
