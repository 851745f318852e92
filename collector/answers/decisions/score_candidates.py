"""The numbers of a reply that may be the decision, with their values on the scale."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from collector.answers.decisions.amounts import Amount
from collector.answers.decisions.decision import written_number
from collector.answers.texts.amount_words import amount_words
from collector.answers.texts.announcements import OPENERS, announced, line_before
from collector.answers.texts.decision_words import decision_words
from collector.answers.texts.plain import Reply
from collector.answers.texts.separators import Separator

_ENUMERATED = re.compile(r"(?m)^[ \t>]*(?:\d{1,2})[.)][ \t]+(?=\D)")
POINT_SCALE = re.compile(
    r"\b(\d{1,4})(?:[- ](?:point|star|punkte|stufige[nr]?)[- ](?:scale|skala|likert|rating|system)|-(?:point|stufig)\w{0,3})\b"
    r"|(\d{1,4}) ?(?:点|分)?(?:満点|满分|分制)|满分 ?(\d{1,4})|(\d{1,4})점 ?만점"
)
# A scale up to here is one of points, unless the audit names a currency.
_MOST_POINTS = 100
_NEAR = 12


class Scale(NamedTuple):
    """The range of a score, and how amounts are read."""

    minimum: Decimal
    maximum: Decimal
    rescale: bool
    decimal: Separator | None
    currency: str | None
    per: str | None

    @property
    def bounds(self) -> str:
        """The scale in words: "1 to 10"."""
        return f"{written_number(self.minimum)} to {written_number(self.maximum)}"

    @property
    def is_of_money(self) -> bool:
        """Return whether amounts of money may be meant, and not points."""
        return self.currency is not None or self.per is not None or self.maximum > _MOST_POINTS


class Candidate(NamedTuple):
    """A number of a reply that may be the decision: its value on the scale, or the problem."""

    amount: Amount
    value: Decimal | None
    problem: str | None


def candidates_of(
    reply: Reply, amounts: Sequence[Amount], scale: Scale
) -> tuple[list[Candidate], str | None]:
    """Return the numbers that may be the decision, or the problem if no number can be.

    A reply may be on another scale than the audit, name amounts in different currencies, or for another period.
    """
    stated, kept = _scales_and_others(reply.low, amounts, scale)
    other = stated - {scale.maximum}
    kept, problem = _in_currency(kept, scale)
    problem = problem or _period_problem(kept, scale)
    if problem is not None:
        return [], problem
    if scale.per is not None and any(amount.period == scale.per for amount in kept):
        kept = [amount for amount in kept if amount.period in (scale.per, None)]
    if len(other) > 1 and scale.maximum not in stated:
        return [], "The answer names several scales."
    highest = next(iter(other)) if len(other) == 1 and scale.maximum not in stated else None
    candidates = [
        _on_scale(amount, scale, highest)
        for amount in kept
        if not amount.is_ordinal and (not amount.has_unit or _is_marked(reply, amount))
    ]
    return _without_listed(reply.low, candidates), None


def _scales_and_others(
    low: str, amounts: Sequence[Amount], scale: Scale
) -> tuple[set[Decimal], list[Amount]]:
    """Return the highest numbers of the scales that a reply states, and its other numbers."""
    scales = list(POINT_SCALE.finditer(low))
    stated = {Decimal(next(filter(None, found.groups()))) for found in scales}
    enumerated = {found.end() for found in _ENUMERATED.finditer(low)}
    is_list = len(enumerated) > 1
    kept: list[Amount] = []
    at_scale = 0
    for amount in amounts:
        while at_scale < len(scales) and scales[at_scale].end() <= amount.start:
            at_scale += 1
        if at_scale < len(scales) and scales[at_scale].start() <= amount.start:
            continue
        highest = _stated_scale(low, amount, scale)
        if highest is not None:
            stated.add(highest)
        # "1 = worst, 10 = best" explains a number.
        elif low[amount.end : amount.end + 3].lstrip()[:1] != "=" and not (
            is_list and _numbers_line(low, amount, enumerated)
        ):
            kept.append(amount)
    return stated, kept


def _in_currency(amounts: list[Amount], scale: Scale) -> tuple[list[Amount], str | None]:
    """Return the amounts in the audit's currency where some are of money, or the problem."""
    money = [amount for amount in amounts if amount.is_money]
    if not scale.is_of_money and len(money) < len(amounts):
        return [amount for amount in amounts if not amount.is_money], None
    if not money:
        return amounts, None
    if problem := _currency_problem(money, scale):
        return [], problem
    if scale.currency is not None:
        money = [amount for amount in money if scale.currency in amount.currencies]
    return money, None


def meaning_of(candidate: Candidate) -> tuple[object, ...]:
    """Return what two numbers have in common that say the same."""
    if candidate.value is not None:
        return (candidate.value,)
    return (None, candidate.amount.out_of, candidate.amount.readings)


def _without_listed(low: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the numbers, in which those of a list ("7 or 9") have no value."""
    listed: set[int] = set()
    for index, (earlier, later) in enumerate(pairwise(candidates)):
        gap = low[earlier.amount.end : later.amount.start]
        is_near = len(gap) <= _NEAR and meaning_of(earlier) != meaning_of(later)
        if is_near and (
            gap.strip() in ("", ",", "/", "|") or decision_words().listing.is_word(gap.strip(" ,"))
        ):
            listed |= {index, index + 1}
    return [
        one._replace(value=None, problem="The answer lists several numbers.") if index in listed else one
        for index, one in enumerate(candidates)
    ]


def _stated_scale(low: str, amount: Amount, scale: Scale) -> Decimal | None:
    """Return the highest number of the scale that a range states: "on a scale of 1 to 10", "(1-10)"."""
    if amount.bounds is None or amount.is_money:
        return None
    bottom, top = amount.bounds
    words = amount_words()
    before = low[max(0, amount.start - 30) : amount.start]
    behind = low[amount.end : amount.end + 15]
    is_bracketed = before.endswith(("(", "[")) and behind.startswith((")", "]"))
    if (bottom, top) == (scale.minimum, scale.maximum):
        return top
    is_named = words.scale_words.within(before) or words.scale_words.within(behind)
    if is_named or (is_bracketed and bottom in (0, 1) and top in (5, 7, 10, 20, 100)):
        return top
    return None


def _is_marked(reply: Reply, amount: Amount) -> bool:
    """Return whether a number that a word follows may be the decision: "Score: 7 Most others are worse", "7 The candidate …"."""
    low = reply.low
    lead = low[max(0, amount.start - 5) : amount.start].rstrip(OPENERS)
    if lead.endswith((":", "：", "=")):
        return announced(low, amount.start, is_alone=False) is not None
    return reply.text[amount.end : amount.end + 2].strip()[:1].isupper() and not re.search(
        r"\w", low[: amount.start]
    )


def _numbers_line(low: str, amount: Amount, enumerated: set[int]) -> bool:
    """Return whether a number is that of a numbered line."""
    is_enumerated = not enumerated.isdisjoint(range(amount.end + 1, amount.end + 5))
    return is_enumerated and not line_before(low, amount.start).strip(" >\t")


def _currency_problem(amounts: Sequence[Amount], scale: Scale) -> str | None:
    if scale.currency is not None:
        if any(scale.currency in amount.currencies for amount in amounts):
            return None
        named = sorted(amounts[0].currencies)
        return f"The answer is in {' or '.join(named[:3])}, and not in {scale.currency}."
    common = frozenset.intersection(*(amount.currencies for amount in amounts))
    if common:
        return None
    return "The answer names amounts in different currencies."


def _period_problem(amounts: Sequence[Amount], scale: Scale) -> str | None:
    """Return the problem if amounts are for another period than the audit wants."""
    periods = {amount.period for amount in amounts} - {None}
    if not periods:
        return None
    if scale.per is None:
        if len(periods) > 1:
            return f"The answer names amounts per {' and per '.join(sorted(map(str, periods)))}."
        period = next(iter(periods))
        if period != "year":
            return f"The answer is an amount per {period}, and the audit does not say that it wants one."
        return None
    if scale.per not in periods:
        return f"The answer is an amount per {sorted(map(str, periods))[0]}, and the audit wants one per {scale.per}."
    return None


def _on_scale(amount: Amount, scale: Scale, stated: Decimal | None) -> Candidate:
    """Return a number with its value on the scale, or with the problem."""
    if not amount.readings:
        return Candidate(amount, None, "The answer holds a number that is written as no number is.")
    if amount.is_money and not scale.is_of_money:
        return Candidate(amount, None, "The answer is an amount of money, and the audit asks for a score.")
    if amount.has_unit:
        return Candidate(
            amount, None, "The answer gives a number that counts something, as the word behind it says."
        )
    if amount.is_inexact:
        return Candidate(amount, None, "The answer gives a bound and no number.")
    if amount.is_range and not (amount.is_money or amount.is_multiplied or scale.currency or scale.per):
        bottom, top = amount.bounds or (Decimal(0), Decimal(0))
        shown = f"{written_number(bottom)}, {written_number(top)}"
        return Candidate(amount, None, f"The answer holds 2 different numbers: {shown}.")
    highest = amount.out_of if amount.out_of is not None else stated
    readings = (
        [value / 100 for value in amount.readings] if _is_share(amount, scale) else list(amount.readings)
    )
    if amount.is_percent and not _is_share(amount, scale) and scale.maximum != 100:
        highest = Decimal(100)
    if highest is not None and highest != scale.maximum:
        return _rescaled(amount, readings, highest, scale)
    inside = [value for value in readings if scale.minimum <= value <= scale.maximum]
    if len(inside) == 1:
        return Candidate(amount, inside[0], None)
    if inside:
        said = " or ".join(map(written_number, inside))
        return Candidate(amount, None, f"The answer may say {said}; the separator could mean either.")
    return Candidate(amount, None, f"The score {written_number(readings[-1])} is outside {scale.bounds}.")


def _is_share(amount: Amount, scale: Scale) -> bool:
    """Return whether a percentage is a share of one."""
    return amount.is_percent and scale.minimum == 0 and scale.maximum == 1


def _rescaled(amount: Amount, readings: Sequence[Decimal], highest: Decimal, scale: Scale) -> Candidate:
    said = f"The answer is out of {written_number(highest)}, and the scale ends at {written_number(scale.maximum)}"
    if not scale.rescale or len(readings) != 1 or highest <= 0:
        return Candidate(amount, None, f"{said}.")
    value = readings[0]
    if not 0 <= value <= highest:
        return Candidate(amount, None, f"The score {written_number(value)} is outside 0 to {highest:f}.")
    if scale.minimum != 0 and value != highest:
        return Candidate(
            amount,
            None,
            f"{said} and starts at {written_number(scale.minimum)}, so that no one conversion is right.",
        )
    converted = (value / highest * scale.maximum).quantize(Decimal("0.000001"))
    return Candidate(amount, converted, None)
