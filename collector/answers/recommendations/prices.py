"""Prices of items: levels ("$$", "price level 2"), or amounts of money ("349 €", "EUR 1.299,00", "12,000円", "$1.5M", 349.0).

A level is read only where it is stated: an amount ("$20"), a range ("$$-$$$"), another scale ("2 out of 5") and a word
("moderate") state none. A range ("299–399 €"), two amounts ("349 € statt 399 €") and a number among words are no amount. The
numbers and their currencies are found as those of decisions are (decisions/amounts.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from collector.answers.decisions.amounts import Amount as Number
from collector.answers.decisions.amounts import code_of, find_numbers, range_of
from collector.answers.texts.amount_words import amount_words
from collector.answers.texts.json_text import JsonNumber
from collector.answers.texts.plain import UNSPACED, plain_signs

SEPARATORS = " \t-–—:|,;•·：，；、"
_MARKS = ("**", "__", "*", "_", "`")
_MAX_BRACKET = 80


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of money; the currency is a code, or a sign that several currencies have, None where it is not stated."""

    value: float
    currency: str | None = None


# A price level, or an amount of money.
Price = int | Amount


@dataclass(frozen=True, slots=True)
class StatedPrice:
    """A price in a line: where it and the bracket around it begin and end; None where it is a range or no such level."""

    start: int
    end: int
    price: Price | None


def with_surroundings(line: str, price: StatedPrice) -> tuple[int, int]:
    """Return where a price begins and ends with the separators, and the emphasis of its own, around it."""
    start, end = _between_separators(line, price.start, price.end)
    for mark in _MARKS:
        inner = start - len(mark)
        if (
            line.endswith(mark, 0, start)
            and line.startswith(mark, end)
            and (inner <= 0 or line[inner - 1] in SEPARATORS)
        ):
            return _between_separators(line, inner, end + len(mark))
    return start, end


def _between_separators(line: str, start: int, end: int) -> tuple[int, int]:
    while start > 0 and line[start - 1] in SEPARATORS:
        start -= 1
    while end < len(line) and line[end] in SEPARATORS:
        end += 1
    return start, end


def with_bracket(line: str, start: int, end: int) -> tuple[int, int]:
    """Return start and end of the bracket around a price, with its other content, or start and end of the price."""
    for opening, closing in (("(", ")"), ("[", "]")):
        left = line.rfind(opening, max(0, start - _MAX_BRACKET), start)
        right = line.find(closing, end, end + _MAX_BRACKET)
        if (
            left >= 0
            and right >= 0
            and not {opening, closing} & set(line[left + 1 : start] + line[end:right])
        ):
            return left, right + 1
    return start, end


# -- Levels ---------------------------------------------------------------------------------------------------------

DEFAULT_LEVELS = 4

_SIGN = "[$€£¥₹＄💲💰]"
_NUMBER_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER = rf"(?P<number>\d{{1,2}}(?:\.0+)?|{'|'.join(_NUMBER_WORDS)})"
_OF_LEVELS = r"(?:\s{0,2}(?:/|out of\b|of\b)\s{0,2}(?P<levels>\d{1,2})(?!\d))?"
_KIND = r"(?:level|range|tier|category|point|rating)"
_LABEL = rf"\bprice(?:[ _-]?{_KIND})?[*_]{{0,3}}\s{{0,2}}(?:(?:is|of)\b|[:=–—-])?[*_]{{0,3}}\s{{0,2}}"
# Currency signs without a digit next to them; with one they are an amount.
_SIGNS = rf"(?<![\w.])(?<!{_SIGN})(?<!\d\s)(?P<signs>(?P<sign>{_SIGN})(?P=sign)*)(?!{_SIGN}|\w|\s?\d)"
_RANGE = rf"(?<!{_SIGN})(?P<range>{_SIGN}+(?:\+|\s?(?:[-–—/]|to|or)\s?{_SIGN}+))(?!\d)"

_STATED = re.compile(
    rf"(?:{_LABEL})?(?:{_RANGE}|{_SIGNS}{_OF_LEVELS.replace('levels', 'of')})"
    # A number is a level only behind its label, and where nothing makes it an amount or a range.
    rf"|{_LABEL}{_NUMBER}{_OF_LEVELS}"
    rf"(?=[*_]{{0,3}}\s{{0,2}}(?:$|[)\];|(•·]|[.,](?!\d)|[-–—]\s{{0,2}}(?!\d|\s|{_SIGN})))",
    re.IGNORECASE,
)
# A value that is a number, perhaps with its name, and a remark without another number.
_NUMBER_VALUE = re.compile(
    rf"(?:price)?\s?{_KIND}?\s?[:=]?\s?{_NUMBER}{_OF_LEVELS}(?:[^\w+.][^\d+]*)?", re.IGNORECASE
)
_BRACKETED_NUMBER = re.compile(r"[^\W\d][^\d()]*\((?P<number>\d)\)")
_MARKUP = re.compile(r"[*_`\\\"“”]+")


def read_price(written: object, levels: int) -> int | None:
    """Return the price level that a value states.

    Args:
        written: 2, "2", "two", "$$", "$$ (moderate)", "Moderate ($$)", "2 ($$)", "price level 2", "2 out of 4"; anything else
            states none.
        levels: the number of levels.

    Returns:
        A level from 1 (the cheapest) to `levels`, or None where the value is no such level: a range, an amount, a word, or
        two levels at once.
    """
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        return None
    text = " ".join(_MARKUP.sub("", str(written)).split())
    found = {one.price if isinstance(one.price, int) else None for one in stated_levels(text, levels)}
    number = _NUMBER_VALUE.fullmatch(text) or _BRACKETED_NUMBER.fullmatch(text)
    if number is not None:
        found.add(_level(number["number"], number.groupdict().get("levels"), levels))
    return found.pop() if len(found) == 1 else None


def is_price_range(written: str) -> bool:
    """Return whether a value is a range of price levels in signs: two levels are not one, and their mean would be invented."""
    found = _STATED.fullmatch(written)
    return found is not None and found["range"] is not None


def stated_levels(line: str, levels: int) -> Iterator[StatedPrice]:
    """Yield the price levels that a line states in signs, or by number behind a label such as "price level", in order."""
    for found in _STATED.finditer(line):
        start, end = with_bracket(line, found.start(), found.end())
        if found["number"] is not None:
            level = _level(found["number"], found["levels"], levels)
        else:
            level = _level(str(len(found["signs"])), found["of"], levels) if found["signs"] else None
        yield StatedPrice(start, end, level)


def _level(number: str, of: str | None, levels: int) -> int | None:
    if of is not None and int(of) != levels:
        return None
    word = number.lower()
    level = _NUMBER_WORDS.index(word) + 1 if word in _NUMBER_WORDS else int(float(number))
    return level if 1 <= level <= levels else None


# -- Amounts of money -----------------------------------------------------------------------------------------------

# Words that lead to a price are no part of a name before it.
_LEADING = (
    r"(?:(?<![^\W\d_])(?:für|for|zu|um|à|at|por|per|za|voor|för|til|till|за|kostet|costs?|cuesta|coûte|costa|kosztuje|стоит|nur"
    r"|only|ca\.?|circa|etwa|about|around|approx\.?|ab|from|desde|dès|vanaf|fra|från|od|от|від) |[~≈约約]\s?)"
)
_LEADING_BEFORE = re.compile(rf"{_LEADING}{{1,3}}$")
_LEADING_ALONE = re.compile(rf"{_LEADING}{{0,3}}")
# A remark behind an amount; behind a number without a currency only one in brackets, as "20 GB" is no price.
_REMARK = re.compile(r" {0,2}(?:[^\d+–—-][^\d]{0,80})?")
_IN_BRACKETS = re.compile(r" {0,2}(?:[(（\[][^\d]{0,80})?")
_GLUED = re.compile(rf"[^\W\d_{UNSPACED}]")
_MAX_VALUE = 120
_LONGEST_LEADING = 30


def currency_code(written: str) -> str | None:
    """Return the code of a currency's sign, name or code, or None where it is unknown."""
    return code_of(amount_words().currencies.get(_lowered(written).strip(), frozenset()))


def read_amount(written: object, currency: str | None = None) -> Amount | None:
    """Return the amount of money that a value states.

    Args:
        written: a number, or a text that is an amount with or without a currency and a remark behind it.
        currency: the one that the value's key states, which a value without a currency has.

    Returns:
        The amount, or None where the value is none: a range, two numbers, a number below 0, or one among words.
    """
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        return None
    if isinstance(written, JsonNumber | int | float):
        value = _plain_number(str(written))
        return None if value is None else Amount(value, currency)
    if len(written) > _MAX_VALUE:
        return None
    low = _lowered(" ".join(_MARKUP.sub("", written).split()))
    numbers = find_numbers(low)
    if len(numbers) != 1 or not _LEADING_ALONE.fullmatch(low[: numbers[0].start]):
        return None
    (number,) = numbers
    # "5 stars" and "20 %" are no prices.
    is_counted = not (number.is_money or number.is_multiplied) and re.search(
        r"[^\W\d_]|%", low[number.start : number.end]
    )
    remark = _REMARK if number.is_money else _IN_BRACKETS
    amount = _amount_of(low, number)
    if amount is None or amount.value < 0 or is_counted or not remark.fullmatch(low, number.end):
        return None
    return amount if number.is_money else Amount(amount.value, currency)


def stated_amounts(line: str) -> Iterator[StatedPrice]:
    """Yield the amounts with a currency that a line states, in order; the price of a range is None."""
    low = _lowered(line)
    numbers = find_numbers(low)
    at = 0
    while at < len(numbers):
        number, at = numbers[at], at + 1
        price = _amount_of(low, number)
        end = number.end
        if at < len(numbers) and _is_range(low, number, numbers[at]):
            price, end, at = None, numbers[at].end, at + 1
        elif not number.is_money:
            continue
        lead = _leading_before(low, number.start)
        if lead is None and _may_be_two_numbers(low, number):
            price = None
        if price is not None:
            # A dash before a price divides it from a name.
            price = Amount(abs(price.value), price.currency)
        yield StatedPrice(*with_bracket(line, number.start if lead is None else lead, end), price)


def _lowered(text: str) -> str:
    """Return a text in lower case with plain signs, of the same length, without marks of emphasis that may be part of a word."""
    plain = plain_signs(text).replace("_", "*")
    low = plain.lower()
    return low if len(low) == len(plain) else "".join(one.lower()[0] for one in plain)


def _leading_before(low: str, at: int) -> int | None:
    """Return where the words that lead to a price begin, or None without any."""
    if low[at - 1 : at] not in (" ", "~", "≈", "约", "約") or not low[max(0, at - 2) : at].strip():
        return None
    found = _LEADING_BEFORE.search(low, max(0, at - _LONGEST_LEADING), at)
    return None if found is None else found.start()


def _is_range(low: str, first: Number, second: Number) -> bool:
    """Return whether two numbers are the ends of a range, and not a name's number, a dash and a price: "iPhone 15 – 999 €"."""
    if not (first.is_money or second.is_money) or range_of(low, first, second) is None:
        return False
    before = low[max(0, first.start - _LONGEST_LEADING) : first.start]
    is_after_name = (
        before[-2:].rstrip()[-1:].isalnum() and amount_words().between.ending(before.rstrip()) is None
    )
    return first.is_money or not (is_after_name and low[first.end : first.end + 1] == " ")


def _may_be_two_numbers(low: str, number: Number) -> bool:
    """Return whether a number with a space in it may be the end of a name and a price: "Serie 500 799 EUR"."""
    before = low[max(0, number.start - 2) : number.start].rstrip()[-1:]
    return before.isalnum() and re.search(r"\d \d", low[number.start : number.end]) is not None


def _plain_number(written: str) -> float | None:
    """Return a number as JSON writes it."""
    try:
        number = float(written)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _amount_of(low: str, number: Number) -> Amount | None:
    """Return the amount that a number states; None where it has no one value, two currencies, or a letter behind it ("$2X").

    Three digits behind the only separator are thousands, as prices have two decimals: 1.299 is 1299.
    """
    has_two_currencies = number.is_money and amount_words().after.match(low, number.end)
    is_ambiguous = number.is_multiplied and len(number.readings) > 1
    if not number.readings or is_ambiguous or has_two_currencies or _GLUED.match(low, number.end):
        return None
    return Amount(float(number.readings[-1]), code_of(number.currencies))
