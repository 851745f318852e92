"""Numbers and amounts of money in texts: currencies, multipliers, periods, ranges, and numbers out of a highest one.

Libraries were tried first. price-parser reads one amount of a text and drops its sign, its multiplier ("50k") and the end of a
range. Babel names currencies as a locale does, and answers use words that it does not have ("dollars", "kr."). So amounts are
found here; benchmarks/reading/money.yml has the figures.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from collector.answers.texts.amount_words import amount_words
from collector.answers.texts.announcements import clause_before
from collector.answers.texts.decision_words import decision_words
from collector.answers.texts.plain import fold, plain_signs
from collector.answers.texts.separators import NUMBER, Separator, readings_of

MOST_NUMBERS = 400
_PARTS = {"½": Decimal("0.5"), "¼": Decimal("0.25"), "¾": Decimal("0.75")}
_DATE = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/\d{2,4}|\d{1,2}\.\d{1,2}\.\d{2,4}|\d{1,2}:\d{2}(?::\d{2})?(?!\d)"
)
# "349,- €"
_NO_CENTS = re.compile(r"[.,][-–—]{1,2}(?! ?\d)")
_FACTOR_BEFORE = re.compile(r"\d ?[x×*]\Z")
_FACTOR_AFTER = re.compile(r" ?[x×*] ?\d")
_MAY_BE_PERIOD = re.compile(r"[^\W\d_]")
_PERIOD_REACH = 30
_JOINING_MARKS = frozenset("#.,-")
_JOINING_WORDS = frozenset("and und et y e en i и och og or".split())
_UNIT = re.compile(r"\+?[ -]?[^\W\d_]")
_OPERAND = re.compile(r"\W{0,3}(?:[^\W\d_]{1,5} )?[^\w\s.]?\d")
_OPERATOR = re.compile(r"[ ,(]{0,2}[+÷] ?[^\w\s]?\d| {1,2}\d")
# Weights, and what somebody won.
_OFTEN_NO_MONEY = re.compile(r"\b(?:pounds?|won)\b")
_INEXACT = re.compile(
    r"\+(?!\d)|\s?(?:or more|or less|or higher|or lower|and above|and up|oder mehr|ou plus|o más|ou mais)\b"
)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number in a text.

    Attributes:
        start, end: its place, with sign, currency, multiplier and period.
        readings: its possible values; one unless its separator is ambiguous, none if it is written as no number is.
        currencies: the codes of the currencies that its sign may mean; empty without one.
        period: "year", "month", "week", "day" or "hour" if stated.
        out_of: the highest number that it is said to be out of.
        has_unit: whether a word follows that it counts: "5 years".
        is_percent: whether a percent sign follows.
        is_range: whether it is the middle of a range.
        bounds: the two ends of a range.
        is_multiplied: whether a word like "k" or "million" follows it.
        is_inexact: whether it is a bound: "more than 5", "50k+".
        is_ordinal: whether it only numbers something: "step 7".
    """

    start: int
    end: int
    readings: tuple[Decimal, ...]
    currencies: frozenset[str] = frozenset()
    period: str | None = None
    out_of: Decimal | None = None
    bounds: tuple[Decimal, Decimal] | None = None
    has_unit: bool = False
    is_percent: bool = False
    is_range: bool = False
    is_multiplied: bool = False
    is_inexact: bool = False
    is_ordinal: bool = False

    @property
    def is_money(self) -> bool:
        """Return whether a currency is named."""
        return bool(self.currencies)


def find_amounts(low: str, decimal: Separator | None = None) -> list[Amount]:
    """Find the numbers of a text in order.

    If a reply has more numbers than the limit, the first and the last are found.

    Args:
        low: the text in lower case, with plain digits and signs (plain.Reply.low).
        decimal: the decimal separator of the whole column, if it is known.
    """
    return _out_of(low, _ranges(low, find_numbers(low, decimal)))


def find_numbers(low: str, decimal: Separator | None = None) -> list[Amount]:
    """Find the numbers of a text, as `find_amounts` does, in which the ends of a range are two."""
    skipped = [found.span() for found in _DATE.finditer(low)]
    found: list[Amount] = []
    at_skipped = 0
    tokens = list(NUMBER.finditer(low))
    if len(tokens) > MOST_NUMBERS:
        tokens = [*tokens[: MOST_NUMBERS // 4], *tokens[MOST_NUMBERS // 4 - MOST_NUMBERS :]]
    for token in tokens:
        while at_skipped < len(skipped) and skipped[at_skipped][1] <= token.start():
            at_skipped += 1
        if (
            at_skipped < len(skipped)
            and skipped[at_skipped][0] <= token.start()
            and {",", " "}.isdisjoint(token["number"] or "")
        ):
            continue
        previous = found[-1].end if found else 0
        amount = _amount(low, token, decimal, previous)
        if (
            amount is None
            and " " in token[0]
            and (behind := NUMBER.match(low, token.start() + token[0].index(" ") + 1))
        ):
            # The number of a name, behind which another follows: "iQ500 799 EUR".
            amount = _amount(low, behind, decimal, previous)
        if amount is not None:
            found.append(amount)
    return found


def currencies_of(texts: Iterable[str]) -> dict[str, int]:
    """Count in how many texts of a column each currency may be meant, by its code."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(
            {code for amount in find_amounts(fold(plain_signs(text))) for code in amount.currencies}
        )
    return dict(counts)


def money_in(text: str) -> list[float]:
    """Return the amounts of money that a text names, a range as its two ends.

    Amounts per month, week, day or hour, those whose separator may be read in two ways, and words that may mean something else
    ("10 pounds", "won 5 medals") are left out. Signs are dropped, as for debts. No currency is converted.
    """
    if not any(letter.isdigit() for letter in text):
        return []
    low = fold(plain_signs(text))
    return [
        abs(float(end))
        for one in find_amounts(low)
        if one.is_money
        and one.period in {None, "year"}
        and not _OFTEN_NO_MONEY.search(low, one.start, one.end)
        for end in one.bounds or (one.readings if len(one.readings) == 1 else ())
    ]


def code_of(currencies: frozenset[str]) -> str | None:
    """Return the code of the currency that is meant: of dollars USD, of another sign that several currencies share the sign."""
    if "USD" in currencies:
        return "USD"
    if len(currencies) == 1:
        return next(iter(currencies))
    names = (name for name, codes in amount_words().currencies.items() if codes == currencies)
    return min(names, key=len, default=None)


# -- The surroundings of a number --------------------------------------------------------------------------------------


def _amount(low: str, token: re.Match[str], decimal: Separator | None, previous: int) -> Amount | None:
    """Return the amount that a number is part of; None if it is part of a word, such as "B2B" or "GPT-4".

    Args:
        low: the text.
        token: the number.
        decimal: the decimal separator of the column, if it is known.
        previous: where the amount before ends.
    """
    number_start, end = token.span()
    currencies, start = _currency_before(low, number_start, end)
    if no_cents := _NO_CENTS.match(low, end):
        end = no_cents.end()
    if _is_part_of_word(low, start, has_currency=bool(currencies), previous=previous):
        return None
    factor, end = _multiplier(low, end, has_currency=bool(currencies))
    currencies, currency_end = _currency_behind(low, end, currencies)
    # "29 € M" is a size.
    if (
        factor is None
        and currency_end > end
        and not re.match(r" [a-z](?<!k)\b", low[currency_end : currency_end + 3])
    ):
        factor, currency_end = _multiplier(low, currency_end, has_currency=True)
    end = currency_end
    has_sign_before = start < number_start
    is_negative, start = _sign(low, start)
    # "$-50"
    is_negative = is_negative or (has_sign_before and low[number_start - 1 : number_start] == "-")
    readings = _read_number(token, decimal, is_money=bool(currencies) and factor is None)
    sign = -1 if is_negative else 1
    readings = tuple(value * sign * (1 if factor is None else factor) for value in readings)
    is_percent = low[end : end + 2].lstrip()[:1] == "%"
    is_counted = False
    if is_percent:
        end = low.index("%", end) + 1
    elif not currencies and factor is None and (point := _points(low, end)):
        end, is_counted = point, True
    period, end = _period(low, start, end)
    is_plain = not (currencies or is_percent or is_counted)
    return Amount(
        start,
        end,
        readings,
        currencies=currencies,
        period=period,
        has_unit=is_plain and period is None and _has_unit(low, end),
        is_ordinal=not currencies and _is_ordinal(low, start),
        is_percent=is_percent,
        is_multiplied=factor is not None,
        is_inexact=_INEXACT.match(low, end) is not None
        or _is_bounded(low, start, end)
        or _is_operated(low, end),
    )


def _currency_before(low: str, start: int, end: int) -> tuple[frozenset[str], int]:
    """Return the currencies that a sign before a number may mean, and where the amount starts with it."""
    words = amount_words()
    before = low[max(0, start - 12) : start]
    sign = words.before.search(before)
    # "$7$" is a formula.
    if sign is None or (sign[1] == "$" and low[end : end + 1] == "$"):
        return frozenset(), start
    return words.currencies[sign[1]], start - len(before) + sign.start()


def _currency_behind(low: str, end: int, before: frozenset[str]) -> tuple[frozenset[str], int]:
    """Return the currencies of an amount, whose sign may follow it, and where the amount ends with it."""
    words = amount_words()
    sign = words.after.match(low, end)
    if sign is None:
        return before, end
    behind = words.currencies[sign[1]]
    if before and not before & behind:
        return before, end
    return before & behind or behind, sign.end()


def _is_part_of_word(low: str, start: int, *, has_currency: bool, previous: int) -> bool:
    """Return whether a letter right before a number makes it a part of a word or of a version."""
    earlier = low[start - 1 : start]
    if earlier and (earlier.isalnum() or earlier == "_") and earlier < "\u2e80":
        return True
    if has_currency or earlier not in _JOINING_MARKS or previous == start - 1:
        return False
    before = low[start - 2 : start - 1]
    if earlier == ",":
        return before.isdigit()
    return before.isalpha() if earlier == "-" else before.isalnum()


def _read_number(token: re.Match[str], decimal: Separator | None, *, is_money: bool) -> tuple[Decimal, ...]:
    readings = readings_of(token["number"] or "0", decimal, is_money=is_money)
    part = token["part"] or token["lone"]
    return tuple(value + _PARTS[part] for value in readings) if part else readings


def _multiplier(low: str, end: int, *, has_currency: bool) -> tuple[Decimal | None, int]:
    words = amount_words()
    found = words.multiplying.match(low, end)
    if found is None:
        return None, end
    name = found[1]
    follows_currency = words.after.match(low, found.end()) is not None
    if (
        name[-1].isalpha()
        and name[-1] < "\u2e80"
        and low[found.end() : found.end() + 1].isalnum()
        and not follows_currency
    ):
        return None, end
    if len(name) == 1 and name.isascii():
        # "5 m" may be metres, "3 t" tons.
        is_attached = (
            found.end() - end == 1 or follows_currency or not low[found.end() : found.end() + 2].strip()
        )
        if not is_attached or (name != "k" and not has_currency and not follows_currency):
            return None, end
    return words.multipliers[name], found.end()


def _sign(low: str, start: int) -> tuple[bool, int]:
    """Say whether a minus sign belongs to a number, and where the number starts with its sign."""
    mark, earlier = low[start - 1 : start], low[start - 2 : start - 1]
    if start == 0 or mark not in ("-", "+", "–", "—"):
        return False, start
    if earlier and (earlier.isalnum() or earlier in ")]%€$£"):
        return False, start
    # A dash and a space is a bullet; a minus sign touches its number.
    return mark in ("-", "–", "—"), start - 1


def _points(low: str, end: int) -> int | None:
    """Return where a word such as "points" ends that follows a number."""
    rest = low[end : end + 20]
    stripped = rest.lstrip(" -")
    if len(rest) - len(stripped) > 1:
        return None
    cut = amount_words().points.starting(stripped)
    if cut is None or (stripped[cut : cut + 1].isalpha() and stripped[cut] < "\u2e80"):
        return None
    return end + len(rest) - len(stripped) + cut


def _has_unit(low: str, end: int) -> bool:
    """Return whether a word follows that a number counts."""
    if not _UNIT.match(low, end):
        return False
    rest = low[end : end + 40].lstrip()
    words = decision_words()
    known = (amount_words().out_of, amount_words().ranges, words.reasons, words.verbs, words.listing)
    for phrases in known:
        cut = phrases.starting(rest)
        if cut is not None and not rest[cut : cut + 1].isalnum():
            return False
    return True


def _is_ordinal(low: str, start: int) -> bool:
    """Return whether a number only numbers something: "#7", "step 7"."""
    lead = low[max(0, start - 30) : start].rstrip(" (")
    if lead.endswith("#"):
        return True
    cut = amount_words().numbered.ending(lead)
    # "I would rate this candidate 7" does not number the candidate.
    return cut is not None and decision_words().articles.ending(lead[:cut].rstrip()) is None


def _is_bounded(low: str, start: int, end: int) -> bool:
    lead = low[max(0, start - 40) : start].rstrip(" \"'(*$~≈")
    if _FACTOR_BEFORE.search(lead) or _FACTOR_AFTER.match(low, end):
        return True
    if lead.endswith((">", "<", "≥", "≤", "±")) or low[start - 1 : start] in (">", "<", "≥", "≤", "±"):
        return not re.search(r"</?[a-z_]{1,20}>\Z|[-=]>\Z", lead)
    words = amount_words()
    link = words.change_links.ending(lead)
    changing = lead if link is None else lead[:link].rstrip()
    return (
        words.bounds.ending(lead) is not None
        or words.change_nouns.ending(changing) is not None
        or words.change_verbs.ending(changing) is not None
    )


def _is_operated(low: str, end: int) -> bool:
    """Return whether what follows an amount changes it, or says that it is a change: "minus 10%", "+ 5", "raise"."""
    if _OPERATOR.match(low, end):
        return True
    words = amount_words()
    rest = low[end : end + 50].lstrip(" ,(")
    cut = words.operations.starting(rest)
    if cut is not None and _OPERAND.match(rest, cut):
        return True
    cut = words.change_nouns.starting(rest) if low[end : end + 1] == " " else None
    return cut is not None and not rest[cut : cut + 1].isalnum()


def _period(low: str, start: int, end: int) -> tuple[str | None, int]:
    """Return the period that an amount is for, as the words behind or before it say, and where the amount ends with it."""
    words = amount_words()
    behind = low[end : end + _PERIOD_REACH]
    if _MAY_BE_PERIOD.search(behind):
        gap = len(behind) - len(behind.lstrip(" )(,-"))
        cut = words.any_period.starting(behind[gap:])
        if cut is not None and not behind[gap + cut : gap + cut + 1].isalpha():
            said = period_in(behind[gap : gap + cut])
            return said, end + gap + cut if not behind[:gap].strip() else end
        # "54,000 gross per year"
        clause = re.split(r"[.\n;,(]", behind)[0]
        if said := period_in(clause):
            return said, end
    line = re.split(r"[.;,]\s", low[max(0, start - 60) : start].rpartition("\n")[2])[-1]
    return (period_in(line) if _MAY_BE_PERIOD.search(line) else None), end


def period_in(text: str) -> str | None:
    """Return the period that a text names."""
    words = amount_words()
    if words.any_period.within(text) is None and not words.any_period.is_word(text):
        return None
    exact = (period for period, phrases in words.periods.items() if phrases.is_word(text))
    named = (period for period, phrases in words.periods.items() if phrases.within(text) is not None)
    return next(exact, None) or next(named, None)


# -- Several numbers together -----------------------------------------------------------------------------------------


def _ranges(low: str, amounts: Sequence[Amount]) -> list[Amount]:
    """Return the amounts, in which two that make a range are one."""
    merged: list[Amount] = []
    for amount in amounts:
        if merged and (both := range_of(low, merged[-1], amount)):
            merged[-1] = both
        else:
            merged.append(amount)
    return merged


def range_of(low: str, first: Amount, second: Amount) -> Amount | None:
    """Return the range from one amount to another, or None if they make none."""
    gap = low[first.end : second.start].strip(" ")
    if second.start - first.end > 12 or not first.readings or not second.readings or first.is_range:
        return None
    words = amount_words()
    if not gap and low[second.start : second.start + 1] in ("-", "–", "—") and len(second.readings) == 1:
        second = replace(second, readings=tuple(-value for value in second.readings))
    elif not words.ranges.is_word(gap):
        return None
    if (first.is_percent and not second.is_percent) or (gap.isalpha() and _is_change(low, first.start)):
        return None
    before = low[max(0, first.start - 30) : first.start].rstrip(" ($€£")
    if second.is_money and not second.is_multiplied and len(first.readings) > 1:
        first = replace(first, readings=first.readings[-1:])
    if gap in _JOINING_WORDS and words.between.ending(before) is None:
        return None
    factor = _shared_factor(first, second)
    lows = tuple(value * factor for value in first.readings)
    middles = tuple((value + high) / 2 for value in lows for high in second.readings if value < high)
    if first.currencies and second.currencies and not first.currencies & second.currencies:
        return None
    if factor == 1 and len(lows) * len(second.readings) > 1:
        # Both are written alike.
        middles = tuple((a + b) / 2 for a, b in zip(lows, second.readings, strict=False) if a < b)
    return replace(
        second,
        start=first.start,
        readings=middles,
        currencies=first.currencies & second.currencies or first.currencies or second.currencies,
        period=second.period or first.period,
        is_range=True,
        bounds=(lows[0], second.readings[0]),
        is_multiplied=first.is_multiplied or second.is_multiplied,
        is_inexact=(first.is_inexact and words.between.ending(before) is None)
        or _is_operated(low, second.end),
    )


def _is_change(low: str, start: int) -> bool:
    """Return whether the clause before an amount says that an amount is changed, so that "to" leads to the new one."""
    clause = clause_before(low[max(0, start - 80) : start])
    words = amount_words()
    return words.change_nouns.within(clause) is not None or words.change_verbs.within(clause) is not None


def _shared_factor(first: Amount, second: Amount) -> Decimal:
    """Return what multiplies the first number of "50-60k"."""
    if first.is_multiplied or not second.is_multiplied:
        return Decimal(1)
    high = second.readings[0]
    for factor in (Decimal(1_000), Decimal(1_000_000)):
        if (
            first.readings[0] * factor < high
            and high % factor == 0
            and first.readings[0] * factor * 1000 > high
        ):
            return factor
    return Decimal(1)


def _out_of(low: str, amounts: Sequence[Amount]) -> list[Amount]:
    """Return the amounts, in which a number and the highest one ("8/10", "8 out of 10") are one."""
    joined: list[Amount] = []
    words = amount_words()
    for amount in amounts:
        first = joined[-1] if joined else None
        gap = low[first.end : amount.start] if first is not None else ""
        is_joined = (
            first is not None
            and first.out_of is None
            and not amount.is_money
            and len(amount.readings) == 1
            and amount.start - first.end <= 30
            and words.out_of.is_word(" ".join(gap.split()))
        )
        if is_joined and first is not None:
            joined[-1] = replace(
                first,
                end=amount.end,
                out_of=amount.readings[0],
                has_unit=amount.has_unit,
                is_inexact=first.is_inexact or _is_operated(low, amount.end),
            )
        else:
            joined.append(amount)
    return joined
