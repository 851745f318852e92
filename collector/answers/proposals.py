"""Propose how the answers of a file are read: their kind, and the labels or the scale that they state.

Refusals, failures and empty answers are set aside first, then the model's reasoning and the earlier turns of a conversation. The
readers of collector.answers.decisions read the rest, so an import reads answers as they are proposed here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from statistics import median_high
from typing import Any

from collector.answers.decisions import Decision, decimal_of, read_score
from collector.answers.decisions.amounts import Amount, find_amounts
from collector.answers.decisions.json_decisions import Leaf, json_decision, only_decides
from collector.answers.decisions.stated_labels import boxed_parts
from collector.answers.replies import answer_part
from collector.answers.texts.announcements import Rank, announced, claim_after, without_noun
from collector.answers.texts.decision_words import decision_words
from collector.answers.texts.json_text import json_value
from collector.answers.texts.plain import Reply
from collector.composed import composed

# The share of the answers that have to look alike; the others may be cut off.
MOST = 0.8
MAX_LABELS = 12
MAX_LABEL_CHARACTERS = 40
MAX_LABEL_WORDS = 3
# A label that is stated once among more answers may be a remark.
_ONCE_AMONG = 100
# The number of answers that choose the kinds and scales to try on all answers.
_SAMPLED, _MOST_OF_SOME = 200, 0.7
# With more text than this, only every second, third … answer is read.
_CHARACTERS_READ = 500_000
_SCALES_TRIED = 3
_AMOUNT_CHARACTERS = 2_000
# The bounds of a scale that every number is on.
_EVERY = 1e15
_DESCRIBING = frozenset("category class level price kategorie klasse categoria catégorie".split())
_BEFORE = " \t\r\n\"'“”‘’*_`()[]"
_AFTER = _BEFORE + ".,;:!"
_CHOICE = re.compile(r"[(\[]?([A-Za-z0-9])[)\].:](?=\s|\Z)")
_COLON = re.compile(r"[:：=](?!.*[:：=])")
_DASH = re.compile(r"\s[-–—]\s")
_WORD = re.compile(r"\S+")
_NAME = r"[^\W\d_][^\d\n]{0,50}"
_POINT = re.compile(
    rf"(-?\d+(?:\.\d+)?)(?:\s*[-–—:=.)(]+\s*|\s+)({_NAME})|({_NAME}?)\s*[-–—:=(]+\s*(-?\d+(?:\.\d+)?)\)?"
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal for reading answers.

    Attributes:
        answer: the keys of a spec's `answer`, `kind` first. For the kind label, `labels` is absent if no answer states one; for
            the kind score, minimum and maximum are absent if no answer holds a number.
        forms: label -> how else the answers write it.
    """

    answer: Mapping[str, Any]
    forms: Mapping[str, Sequence[str]] = field(default_factory=dict)


def propose_answer(texts: Sequence[str], kind: str | None = None) -> Proposal:
    """Propose how answers are read.

    Args:
        texts: the answers as they were written.
        kind: json_object, list, score, label or text, where it is known.
    """
    read = texts[:: sum(map(len, texts)) // _CHARACTERS_READ + 1]
    parts = [part for text in read if (part := answer_part(composed(text)))]
    looks = Counter(map(_look, parts))
    if kind == "list" or (kind is None and _are_most(looks["list"], parts)):
        return Proposal({"kind": "list", "k": _length_of_lists(parts)})
    if kind == "score" or (kind is None and _are_mostly(parts, lambda some: _Scores(some).n_certain)):
        scores = _Scores(parts)
        if kind or _are_most(scores.n_certain, parts):
            return Proposal({"kind": "score", **scores.keys()})
    if kind == "label" or (
        kind is None and _are_mostly(parts, lambda some: sum(map(bool, map(_stated, some))))
    ):
        forms = _labels(parts, is_known=kind is not None)
        if kind or forms:
            return Proposal({"kind": "label", **({"labels": sorted(forms)} if forms else {})}, forms)
    return Proposal({"kind": kind or ("json_object" if _are_most(looks["json_object"], parts) else "text")})


def _are_most(n: int, parts: Sequence[str]) -> bool:
    return bool(parts) and n >= MOST * len(parts)


def _are_mostly(parts: Sequence[str], count: Callable[[Sequence[str]], int]) -> bool:
    """Return whether some of the answers look as if most were counted."""
    some = _sample(parts)
    return bool(some) and count(some) >= _MOST_OF_SOME * len(some)


def _sample(parts: Sequence[str]) -> Sequence[str]:
    return parts[:: len(parts) // _SAMPLED + 1]


def _look(text: str) -> str | None:
    value = json_value(text)
    if isinstance(value, dict):
        return "json_object"
    is_list = isinstance(value, list) and value and all(isinstance(one, str) for one in value)
    return "list" if is_list else None


def _length_of_lists(parts: Iterable[str]) -> int:
    lengths = [len(value) for value in map(json_value, parts) if isinstance(value, list)]
    return max(median_high(lengths), 1) if lengths else 10


# -- Scores -----------------------------------------------------------------------------------------------------------


class _Scores:
    """The numbers that answers state, and the scale on which most of them are read.

    Attributes:
        n_certain: how many answers state a number explicitly.
    """

    def __init__(self, parts: Sequence[str]) -> None:
        amounts = [
            amount
            for part in parts
            if len(part) <= _AMOUNT_CHARACTERS
            for amount in find_amounts(Reply(part).low)
        ]
        self._stated = {**_money(amounts), **_points(parts)}
        self._decimal = decimal_of(parts)
        every = (-_EVERY, _EVERY)
        scales = [scale for scale, _ in Counter(_scales(amounts)).most_common(_SCALES_TRIED)]
        some = _sample(parts)
        self._scale = max([*scales, every], key=lambda scale: len(self._read_amounts(some, scale)))
        if self._scale == (0, 100) and any(amount.is_percent for amount in amounts):
            # "78%" next to "0.55" is 0.78.
            others = self._read_amounts([part for part in parts if "%" not in part], every)
            if others and all(0 <= value <= 1 for value, _ in others):
                self._scale = (0, 1)
        read = self._read_amounts(parts, self._scale)
        self.n_certain = sum(is_certain for _, is_certain in read)
        self._values = [value for value, _ in read]

    def _read_amounts(self, parts: Iterable[str], scale: tuple[float, float]) -> list[tuple[Decimal, bool]]:
        """Return the numbers that are read, and whether each is all that the answer is about."""
        found = []
        for part in parts:
            one = read_score(part, *scale, decimal=self._decimal, **self._stated)
            if one.value is None:
                continue
            found.append((Decimal(one.value), _is_all(one, part)))
        return found

    def keys(self) -> dict[str, Any]:
        """Return a spec's keys for the scores; the bounds include every number."""
        points = self._stated.get("points", {})
        if self._scale[1] < _EVERY:
            low, high = self._scale
        elif points:
            low, high = min(points.values()), max(points.values())
        elif not self._values:
            return self._stated
        else:
            low, high = _around(min(self._values), max(self._values))
        return {"minimum": low, "maximum": high, **self._stated}


def _is_all(score: Decision, text: str) -> bool:
    """Return whether an answer is about its score: it is short, or gives the score in its first or last line, or alone in
    JSON.
    """
    if (score.read_by or "").startswith("json"):
        return only_decides(text)
    lines = text.splitlines()
    is_there = any((score.read_text or "") in line for line in (lines[0], lines[-1]))
    return len(text) <= MAX_LABEL_CHARACTERS or (score.is_certain and is_there)


def _around(low: Decimal, high: Decimal) -> tuple[float, float]:
    """Return numbers of one digit around all of the scores, 0 and 1 for shares."""
    if low >= 0 and high <= 1:
        return 0, 1
    rounded = [
        (value / (unit := Decimal(1).scaleb(value.adjusted()))).to_integral_value(way) * unit
        if value
        else value
        for value, way in ((low, ROUND_FLOOR), (high, ROUND_CEILING))
    ]
    bottom, top = (int(one) if one == one.to_integral_value() else float(one) for one in rounded)
    return bottom, top if top > bottom else bottom + 1


def _scales(amounts: Iterable[Amount]) -> Iterator[tuple[float, float]]:
    """Yield the scales that answers write: "3/10", "(1-5)", "78%"."""
    for amount in amounts:
        if amount.is_money:
            continue
        if amount.out_of is not None:
            yield 0, _number(amount.out_of)
        elif amount.bounds is not None and amount.bounds[0] < amount.bounds[1]:
            yield _number(amount.bounds[0]), _number(amount.bounds[1])
        elif amount.is_percent:
            yield 0, 100


def _number(value: Decimal) -> float:
    return int(value) if value == value.to_integral_value() else float(value)


def _money(amounts: Iterable[Amount]) -> dict[str, Any]:
    """Return the currency and the period of amounts, as far as most of them name one."""
    money = [amount for amount in amounts if amount.is_money]
    codes = Counter(code for amount in money for code in amount.currencies)
    common = [code for code, n in codes.items() if n >= MOST * len(money)]
    periods = Counter(amount.period for amount in money)
    stated: dict[str, Any] = {}
    # A sign such as "kr." is that of several currencies.
    if len(common) == 1 or "USD" in common:
        stated["currency"] = "USD" if "USD" in common else common[0]
    period = next((one for one in ("month", "year") if 2 * periods[one] > len(money)), None)
    return stated | ({"per": period} if period else {})


def _points(parts: Sequence[str]) -> dict[str, Any]:
    """Return the named points of a scale ("4 - Agree"), where each name has one number and most answers name one."""
    found: dict[str, tuple[str, Decimal]] = {}
    n = 0
    for part in parts:
        point = _POINT.fullmatch(Reply(part).text.strip(_BEFORE))
        if point is None:
            continue
        n += 1
        name = (point[2] or point[3]).strip(_AFTER)
        value = Decimal(point[1] or point[4])
        if found.setdefault(name.casefold(), (name, value))[1] != value or len(found) > MAX_LABELS:
            return {}
    is_scale = 2 <= len(found) == len({value for _, value in found.values()})
    if not is_scale or 2 * n < len(parts) or len(found) * 2 > n:
        return {}
    ordered = sorted(found.values(), key=lambda one: one[1])
    return {"points": {name: _number(value) for name, value in ordered}}


# -- Labels -----------------------------------------------------------------------------------------------------------


def _labels(parts: Sequence[str], *, is_known: bool) -> dict[str, list[str]]:
    """Return label -> its other forms; nothing where the answers state none, or too many.

    Args:
        parts: the answers.
        is_known: whether the answers are labels, however many.
    """
    written = Counter(filter(None, map(_stated, parts)))
    if is_known and not written:
        written = Counter({part: n for part, n in Counter(parts).items() if n > 1})
    by_look: dict[str, list[str]] = {}
    for one in sorted(written, key=lambda one: (len(one), one)):
        by_look.setdefault(_bare(one).casefold(), []).append(one)
    counts = {look: sum(written[one] for one in forms) for look, forms in by_look.items()}
    kept = [look for look, n in counts.items() if n > 1 or len(parts) <= _ONCE_AMONG]
    n_stated = sum(counts[look] for look in kept)
    if not is_known and not (
        2 <= len(kept) <= MAX_LABELS and n_stated >= 2 * len(kept) and _are_most(n_stated, parts)
    ):
        return {}
    return {_bare(by_look[look][0]): by_look[look][1:] for look in kept}


def _stated(text: str) -> str | None:
    """Return the short text that an answer chooses by an explicit rule; None if there is none."""
    found = json_decision(text, None, lambda leaf, is_key: _short_value(text, leaf) if is_key else None)
    if found is not None or text.startswith("{"):
        return found.decision.value if found is not None else None
    reply = Reply(text)
    boxed = [reply.text[start:end] for _, _, start, end, _ in boxed_parts(reply)]
    if boxed:
        return _short(boxed[-1])
    if announced_one := _announced(reply):
        return announced_one
    if whole := _short(text):
        return whole
    last = _short(_bare(reply.text.rpartition("\n")[2]))
    words = decision_words()
    is_decision = last is not None and (len(last) == 1 or last.casefold() in words.yes | words.no)
    return last if is_decision else None


def _short_value(text: str, leaf: Leaf) -> str | None:
    """Return the label that a JSON value may be; a category among other keys describes what the JSON is about."""
    describes = leaf.path[-1] in _DESCRIBING and not only_decides(text)
    return None if describes or leaf.text is None else _short(leaf.text)


def _announced(reply: Reply) -> str | None:
    """Return the last short text that is announced: "Answer: B", "The decision is to reject"."""
    best: tuple[Rank, str] | None = None
    at = 0
    for line in reply.text.splitlines(keepends=True):
        words = [found.start() for found in _WORD.finditer(line)]
        colon = _COLON.search(line.rstrip())
        starts = [*([colon.end()] if colon else ()), *words[: -MAX_LABEL_WORDS - 1 : -1]]
        for start in starts:
            place = at + start + len(line[start:]) - len(line[start:].lstrip())
            claim = _DASH.split(reply.text[place : place + len(claim_after(reply.low, place))])[0]
            value = _short(line[start:]) or _short(claim)
            is_alone = value is not None and start == (words[0] if words else 0)
            found = (
                announced(reply.low, place, is_alone=is_alone, is_at_end=True) if value is not None else None
            )
            if value is not None and found is not None and found.rank > Rank.PREFERRED:
                value = value.removeprefix("to ")
                best = (found.rank, value) if best is None or found.rank >= best[0] else best
                break
        at += len(line)
    return best[1] if best else None


def _short(text: str) -> str | None:
    """Return a text that may be a label, or the letter of a choice: "(B) the second", "candidate B"; None for any other."""
    bare = text.strip()
    if choice := _CHOICE.match(bare.lstrip("*_\"'")):
        return choice[1]
    before, _, last = _bare(bare).rpartition(" ")
    if len(last) == 1 and before and not without_noun(before.casefold()).strip():
        return last
    is_short = len(bare) <= MAX_LABEL_CHARACTERS and len(bare.split()) <= MAX_LABEL_WORDS and "\n" not in bare
    is_label = is_short and re.search(r"\w", bare) and not bare.endswith((":", "?", "{", "["))
    return bare if is_label else None


def _bare(text: str) -> str:
    """Return a text without punctuation around it: "Reject." is "Reject"."""
    return text.lstrip(_BEFORE).rstrip(_AFTER) or text
