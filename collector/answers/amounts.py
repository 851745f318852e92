"""Numbers and amounts of money in texts: separators, currencies, multipliers, periods, ranges, and numbers out of a highest one.

Libraries were tried first. price-parser reads one amount of a text and drops its sign, its multiplier ("50k") and the end of a range;
Babel knows currencies by locale, and answers name them in words that it does not have ("dollars", "kr."). So amounts are found here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Literal

from collector.answers.decision_words import decision_words
from collector.answers.phrases import Phrases, written_out
from collector.answers.plain import fold, plain_signs
from collector.errors import InputError
from collector.files.yaml import read_yaml_mapping

Separator = Literal[".", ","]
WORDS_FILE = Path(__file__).with_name("amount_words.yml")
_MOST_DIGITS = 30
_TOKEN = re.compile(
    r"(?P<number>\d{1,3}(?: \d{3})+(?![\d])(?:[.,٫]\d+)?|\d+(?:[.,'٫٬_]\d+)*|(?<![\d.,])[.٫]\d+)(?P<part>[½¼¾])?|(?P<lone>[½¼¾])"
)
_PARTS = {"½": Decimal("0.5"), "¼": Decimal("0.25"), "¾": Decimal("0.75")}
_GROUPED = re.compile(r"\d{1,3}(?:\d{3})+|\d{1,2}(?:\d{2})+\d{3}")
_DATE = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/\d{2,4}|\d{1,2}\.\d{1,2}\.\d{2,4}|\d{1,2}:\d{2}(?::\d{2})?(?!\d)"
)
_GAP = re.compile(r"[^\d]{0,40}")
_FACTOR_BEFORE = re.compile(r"\d ?[x×*]\Z")
_FACTOR_AFTER = re.compile(r" ?[x×*] ?\d")
_PERIOD_REACH = 30
_JOINING_MARKS = frozenset("#.,-")
_UNIT = re.compile(r"[ -]?[^\W\d_]")
_INEXACT = re.compile(
    r"\+(?!\d)|\s?(?:or more|or less|or higher|or lower|and above|and up|oder mehr|ou plus|o más|ou mais)\b"
)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number in a text.

    Attributes:
        start, end: its place, with sign, currency, multiplier and period.
        readings: its possible values; one unless its separator is ambiguous, none if it is written as no number is.
        currencies: the codes of the currencies that its sign may stand for; empty without one.
        period: "year", "month", "week", "day" or "hour" where it says so.
        out_of: the highest number that it is said to be out of.
        has_unit: whether a word follows that it counts: "5 years".
        is_percent: whether a percent sign follows.
        is_range: whether it is the middle of a range.
        bounds: the numbers between which a range lies.
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
        """Whether a currency is named."""
        return bool(self.currencies)


@dataclass(frozen=True, slots=True)
class AmountWords:
    """What amount_words.yml says."""

    currencies: Mapping[str, frozenset[str]]
    multipliers: Mapping[str, Decimal]
    periods: Mapping[str, Phrases]
    out_of: Phrases
    scale_words: Phrases
    points: Phrases
    cues: Phrases
    numbered: Phrases
    bounds: Phrases
    ranges: Phrases
    between: Phrases
    qualifiers: Phrases
    before: re.Pattern[str]
    after: re.Pattern[str]
    multiplying: re.Pattern[str]


@cache
def amount_words() -> AmountWords:
    """Read the words.

    Raises:
        InputError: the file cannot be read, or a list is missing or has an expression that cannot be written out.
    """
    document = read_yaml_mapping(WORDS_FILE, what="words around amounts")
    try:
        currencies: dict[str, frozenset[str]] = {}
        for code, text in document["currencies"].items():
            for name in _names(text):
                currencies[name] = currencies.get(name, frozenset()) | {code}
        multipliers = {
            name: Decimal(factor) for factor, text in document["multipliers"].items() for name in _names(text)
        }
        periods = {period: Phrases(_split(text)) for period, text in document["periods"].items()}
        lists = {
            name: Phrases(_split(document[name]))
            for name in (
                "out_of",
                "scale_words",
                "points",
                "cues",
                "numbered",
                "bounds",
                "ranges",
                "between",
                "qualifiers",
            )
        }
    except KeyError as error:
        raise InputError(f"{WORDS_FILE} has no list {error.args[0]!r}.") from None
    signs = "|".join(map(re.escape, sorted(currencies, key=len, reverse=True)))
    factors = "|".join(map(re.escape, sorted(multipliers, key=len, reverse=True)))
    return AmountWords(
        currencies=currencies,
        multipliers=multipliers,
        periods=periods,
        before=re.compile(rf"(?<![^\W\d_])({signs}) ?-?\Z"),
        after=re.compile(rf"[ ]?-?({signs})(?![^\W_])"),
        multiplying=re.compile(rf"[ -]?({factors})"),
        **lists,
    )


def find_amounts(low: str, decimal: Separator | None = None) -> list[Amount]:
    """Find the numbers of a text in order.

    Args:
        low: the text in lower case, with plain digits and signs (plain.Reply.low).
        decimal: the decimal separator of the whole column, if it is known.
    """
    skipped = [found.span() for found in _DATE.finditer(low)]
    found: list[Amount] = []
    at_skipped = 0
    for token in _TOKEN.finditer(low):
        while at_skipped < len(skipped) and skipped[at_skipped][1] <= token.start():
            at_skipped += 1
        if (
            at_skipped < len(skipped)
            and skipped[at_skipped][0] <= token.start()
            and not _is_grouping(token["number"] or "")
        ):
            continue
        amount = _amount(low, token, decimal, found[-1].end if found else 0)
        if amount is not None:
            found.append(amount)
    return _out_of(low, _ranges(low, found))


def decimal_of(texts: Iterable[str]) -> Separator | None:
    """Decide which decimal separator a whole column of texts uses.

    Args:
        texts: the answers of a column.

    Returns:
        "." or ","; None if nothing in the column tells, or if parts of it contradict each other.
    """
    votes: Counter[Separator] = Counter()
    ambiguous: dict[Separator, list[str]] = {".": [], ",": []}
    for text in texts:
        low = fold(plain_signs(text))
        for token in _TOKEN.finditer(low):
            if not token["number"]:
                continue
            vote = _vote(low, token)
            if vote is not None:
                votes[vote] += 1
            elif (mark := _lone_mark(token["number"])) is not None and not low[: token.start()][
                -1:
            ].isalpha():
                ambiguous[mark].append(token["number"])
    if votes:
        (best, n), *rest = votes.most_common()
        return best if not rest or rest[0][1] * 20 <= n else None
    return _from_ambiguous(ambiguous)


def currencies_of(texts: Iterable[str]) -> dict[str, int]:
    """Count in how many texts of a column each currency may be meant, by its code."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(
            {code for amount in find_amounts(fold(plain_signs(text))) for code in amount.currencies}
        )
    return dict(counts)


# -- Separators -------------------------------------------------------------------------------------------------------


def _lone_mark(number: str) -> Separator | None:
    """Return the separator of a number that has one, before exactly three digits; None for other numbers."""
    found = re.fullmatch(r"\d{1,3}([.,])\d{3}", number)
    if found is None or number.startswith("0"):
        return None
    return "." if found[1] == "." else ","


def _other(mark: str) -> Separator:
    return "," if mark == "." else "."


def _vote(low: str, token: re.Match[str]) -> Separator | None:
    """Return the decimal separator that a number shows; None if it shows none."""
    number = token["number"]
    marks = re.findall(r"[.,]", number)
    if not marks or not _readings(number, None, is_money=False):
        return None
    if _lone_mark(number) is not None:
        words = amount_words()
        is_money = words.before.search(low[max(0, token.start() - 12) : token.start()]) or words.after.match(
            low, token.end()
        )
        return _other(marks[0]) if is_money else None
    if len(marks) > 1 and len(set(marks)) == 1:
        return _other(marks[0])
    return "." if marks[-1] == "." else ","


def _from_ambiguous(ambiguous: Mapping[Separator, Sequence[str]]) -> Separator | None:
    """Return what many numbers with three digits behind a separator show: amounts are rounded, measured values are not."""
    if ambiguous["."] and ambiguous[","]:
        return None
    for mark, numbers in ambiguous.items():
        n_rounded = sum(number.endswith("0") for number in numbers)
        if len(numbers) >= 3 and (mark == "," or 2 * n_rounded >= len(numbers)) and n_rounded:
            return _other(mark)
    return None


def _is_grouping(number: str) -> bool:
    return "," in number or " " in number


def _readings(number: str, decimal: Separator | None, *, is_money: bool) -> tuple[Decimal, ...]:
    """Return the possible values of a number as it is written; none if no number is written so."""
    if len(number) > 2 * _MOST_DIGITS:
        return ()
    grouped = re.sub(r"[ '٬_]", "", number) if _groups_are_valid(number, " '٬_") else None
    if grouped is None:
        return ()
    has_groups = len(grouped) < len(number)
    if "٫" in grouped:
        return _values(grouped.replace("٫", "."))
    marks = re.findall(r"[.,]", grouped)
    if not marks:
        return _values(grouped)
    if len(set(marks)) == 2:
        whole, _, fraction = grouped.rpartition(marks[-1])
        if marks.count(marks[-1]) > 1 or not _groups_are_valid(whole, marks[0]):
            return ()
        return _values(f"{whole.replace(marks[0], '')}.{fraction}")
    if len(marks) > 1:
        return _values(grouped.replace(marks[0], "")) if _groups_are_valid(grouped, marks[0]) else ()
    as_decimal = _values(grouped.replace(",", "."))
    if has_groups or _lone_mark(grouped) is None:
        return as_decimal
    as_thousands = _values(grouped.replace(marks[0], ""))
    if is_money:
        return as_thousands
    if decimal is not None:
        return as_decimal if marks[0] == decimal else as_thousands
    # Nobody writes a comma and three zeros after a whole number.
    if marks[0] == "," and grouped.endswith("000"):
        return as_thousands
    return (*as_decimal, *as_thousands)


def _groups_are_valid(number: str, marks: str) -> bool:
    """Whether marks divide a number into groups of three digits, or of two and then three as in India."""
    whole = re.split(r"[.,٫]", number)[0] if marks == " '٬_" else number
    if not any(mark in number for mark in marks):
        return True
    groups = re.split(f"[{re.escape(marks)}]", whole)
    if len(groups) == 1 or not 1 <= len(groups[0]) <= 3 or len(groups[-1]) != 3:
        return False
    sizes = {len(group) for group in groups[1:-1]}
    return sizes <= {3} or sizes <= {2} and len(groups[0]) <= 2


def _values(written: str) -> tuple[Decimal, ...]:
    try:
        return (Decimal(written),) if len(written) <= _MOST_DIGITS else ()
    except InvalidOperation:
        return ()


# -- What stands around a number --------------------------------------------------------------------------------------


def _amount(low: str, token: re.Match[str], decimal: Separator | None, previous: int) -> Amount | None:
    """Return the amount that a number is part of; None if it is part of a word, such as "B2B" or "GPT-4".

    Args:
        low: the text.
        token: the number.
        decimal: the decimal separator of the column, if it is known.
        previous: where the amount before ends.
    """
    words = amount_words()
    start, end = token.start(), token.end()
    before = low[max(0, start - 12) : start]
    sign = words.before.search(before)
    currencies: frozenset[str] = frozenset()
    if sign is not None:
        currencies = words.currencies[sign[1]]
        start -= len(before) - sign.start()
    earlier = low[start - 1 : start]
    if earlier and (earlier.isalnum() or earlier == "_") and earlier < "\u2e80":
        return None
    if (
        sign is None
        and earlier in _JOINING_MARKS
        and low[start - 2 : start - 1].isalnum()
        and previous != start - 1
    ):
        if earlier != "-" or low[start - 2].isalpha():
            return None
    if sign is not None and sign[1] == "$" and low[end : end + 1] == "$":
        # "$7$" is a formula.
        sign, currencies = None, frozenset()
    factor, end = _multiplier(low, end, has_currency=sign is not None)
    behind = words.after.match(low, end)
    if behind is not None:
        after = words.currencies[behind[1]]
        if not currencies or currencies & after:
            currencies = currencies & after or after
            end = behind.end()
    if factor is None and behind is not None:
        factor, end = _multiplier(low, end, has_currency=True)
    is_negative, start = _sign(low, start)
    readings = _readings(token["number"] or "0", decimal, is_money=bool(currencies) and factor is None)
    if part := token["part"] or token["lone"]:
        readings = tuple(value + _PARTS[part] for value in readings)
    if factor is not None:
        readings = tuple(value * factor for value in readings)
    if is_negative or low[token.start() - 1 : token.start()] == "-" and sign is not None:
        readings = tuple(-value for value in readings)
    is_counted = False
    is_percent = low[end : end + 2].lstrip()[:1] == "%"
    if is_percent:
        end = low.index("%", end) + 1
    elif not currencies and factor is None and (point := _points(low, end)):
        end, is_counted = point, True
    period, end = _period(low, start, end)
    return Amount(
        start,
        end,
        readings,
        currencies=currencies,
        period=period,
        has_unit=not (currencies or is_percent or is_counted) and period is None and _has_unit(low, end),
        is_ordinal=not currencies and _is_ordinal(low, start),
        is_percent=is_percent,
        is_multiplied=factor is not None,
        is_inexact=_INEXACT.match(low, end) is not None or _is_bounded(low, start, end),
    )


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
        if not is_attached or name != "k" and not has_currency and not follows_currency:
            return None, end
    return words.multipliers[name], found.end()


def _sign(low: str, start: int) -> tuple[bool, int]:
    """Say whether a minus sign belongs to a number, and where the number starts with its sign."""
    mark, earlier = low[start - 1 : start], low[start - 2 : start - 1]
    if start == 0 or mark not in ("-", "+", "–", "—"):
        return False, start
    if earlier and (earlier.isalnum() or earlier in ")]%€$£"):
        return False, start
    # A dash and a space is a bullet; here nothing stands between.
    return mark in ("-", "–", "—"), start - 1


def _points(low: str, end: int) -> int | None:
    """Return where a word such as "points" ends that follows a number."""
    rest = low[end : end + 20]
    stripped = rest.lstrip(" -")
    if len(rest) - len(stripped) > 1:
        return None
    cut = amount_words().points.starting(stripped)
    if cut is None or stripped[cut : cut + 1].isalpha() and stripped[cut] < "\u2e80":
        return None
    return end + len(rest) - len(stripped) + cut


def _has_unit(low: str, end: int) -> bool:
    """Whether a word follows that a number counts."""
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
    """Whether a number only numbers something: "#7", "step 7"."""
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
    return amount_words().bounds.ending(lead) is not None


def _period(low: str, start: int, end: int) -> tuple[str | None, int]:
    """Return the period that an amount is for, as the words behind or before it say, and where the amount ends with it."""
    words = amount_words()
    behind = low[end : end + _PERIOD_REACH]
    gap = len(behind) - len(behind.lstrip(" )(,-"))
    for period, phrases in words.periods.items():
        cut = phrases.starting(behind[gap:])
        if cut is not None and not behind[gap + cut : gap + cut + 1].isalpha():
            return period, end + gap + cut if not behind[:gap].strip() else end
    # "54,000 gross per year"
    clause = re.split(r"[.\n;,(]", behind)[0]
    for period, phrases in words.periods.items():
        if phrases.within(clause) is not None:
            return period, end
    line = re.split(r"[.;,]\s", low[max(0, start - 60) : start].rpartition("\n")[2])[-1]
    for period, phrases in words.periods.items():
        if phrases.within(line):
            return period, end
    return None, end


# -- Several numbers together -----------------------------------------------------------------------------------------


def _ranges(low: str, amounts: Sequence[Amount]) -> list[Amount]:
    """Return the amounts, in which two that make a range are one."""
    merged: list[Amount] = []
    for amount in amounts:
        if merged and (both := _range(low, merged[-1], amount)):
            merged[-1] = both
        else:
            merged.append(amount)
    return merged


def _range(low: str, first: Amount, second: Amount) -> Amount | None:
    """Return the range from one amount to another, or None if they make none."""
    gap = low[first.end : second.start].strip()
    if second.start - first.end > 12 or not first.readings or not second.readings or first.is_range:
        return None
    words = amount_words()
    if not gap and low[second.start : second.start + 1] in ("-", "–", "—") and len(second.readings) == 1:
        second = replace(second, readings=tuple(-value for value in second.readings))
    elif not words.ranges.is_word(gap):
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
        is_inexact=first.is_inexact and words.between.ending(before) is None,
    )


_JOINING_WORDS = frozenset("and und et y e en i и och og or".split())


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
                is_inexact=first.is_inexact,
            )
        else:
            joined.append(amount)
    return joined


def _split(text: str) -> list[str]:
    return [phrase.strip() for phrase in text.split(",") if phrase.strip()]


def _names(text: str) -> list[str]:
    names: list[str] = []
    for expression in _split(text):
        written = written_out(expression.replace("$", r"\$"))
        if written is None:
            raise InputError(f"{WORDS_FILE}: {expression!r} stands for too many names.")
        names += sorted(written)
    return names
