"""Prices as amounts of money: "349 €", "EUR 1.299,00", "$1,299", "12,000円", 349.0.

A range ("299–399 €"), two amounts ("349 € statt 399 €") and a number among words are no amount.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from collector.answers.recommendations.stated_prices import Amount, StatedPrice, with_bracket
from collector.answers.texts.json_text import JsonNumber

# Code of a currency, or the sign of several (kr), and how it is written; case does not matter for words.
_WRITTEN = {
    "EUR": "€ euro euros",
    "USD": "$ US$ dollar dollars",
    "GBP": "£ pound pounds",
    "CHF": "Fr. SFr. franken",
    "JPY": "円 yen 日元 日圓",
    "CNY": "元 人民币 rmb yuan",
    "¥": "¥ ￥",
    "INR": "₹ Rs Rs. rupees",
    "KRW": "₩ 원 won",
    "PLN": "zł zloty złotych złote",
    "CZK": "Kč",
    "kr": "kr kr. kronor kroner",
    "HUF": "Ft forint",
    "RON": "lei",
    "BGN": "лв лв.",
    "UAH": "₴ грн грн.",
    "RUB": "₽ руб руб. рублей rubles",
    "TRY": "₺ TL lira",
    "BRL": "R$ reais",
    "CAD": "C$ CA$",
    "AUD": "A$ AU$",
    "NZD": "NZ$",
    "HKD": "HK$",
    "SGD": "S$",
    "TWD": "NT$",
    "MXN": "MX$ pesos",
    "THB": "฿ บาท",
    "VND": "₫ đ",
    "IDR": "Rp rupiah",
    "PHP": "₱",
    "ILS": "₪",
    "NGN": "₦",
    "MYR": "RM",
    "ZAR": "",
    "SEK": "",
    "NOK": "",
    "DKK": "",
    "AED": "درهم",
    "SAR": "ريال",
    "EGP": "جنيه",
}
_CODES = {word.casefold(): code for code, words in _WRITTEN.items() for word in (code, *words.split())}
_FIRST_OF_CJK = "\u2e80"
_CJK_CODES = {word: code for word, code in _CODES.items() if word[0] >= _FIRST_OF_CJK}
_SIGNS = "[" + "".join(word for word in _CODES if len(word) == 1 and not word.isalpha()) + "]"
_SPACE = r"[ \u00a0\u202f]"
_NUMBER = re.compile(rf"(?<![\d.,])\d{{1,9}}(?:[.,'’٬٫]\d{{1,9}}|{_SPACE}\d{{3}}(?!\d)){{0,4}}(?!\d)")
_NO_CENTS = re.compile(rf"[.,]?[-–—]{{1,2}}(?!{_SPACE}?\d)")
_TIMES = re.compile(rf"{_SPACE}?(?P<times>(?:k|tsd\.?)(?![^\W\d_])|[万萬])", re.IGNORECASE)
_WORD = rf"[A-Za-z]{{0,3}}\$|{_SIGNS}|[^\W\d_]{{1,10}}\.?"
_BEFORE = re.compile(rf"(?P<currency>{_WORD}){_SPACE}?$")
_BEHIND = re.compile(rf"{_SPACE}?(?P<currency>{_WORD})")
# What stands between the ends of a range.
_BETWEEN = re.compile(rf"{_SPACE}?(?:[-–—~～]|to|bis|à|a|hasta|do|до|至|到){_SPACE}?", re.IGNORECASE)
# Words that lead to a price are no part of a name before it.
_LEADING = (
    r"(?:(?<![^\W\d_])(?:für|for|zu|um|à|at|por|per|za|voor|för|til|till|за|kostet|costs?|cuesta|coûte|costa|kosztuje|стоит|nur"
    r"|only|ca\.?|circa|etwa|about|around|approx\.?|ab|from|desde|dès|vanaf|fra|från|od|от|від)[ \u00a0]|[~≈约約]\s?)"
)
_LEADING_BEFORE = re.compile(rf"{_LEADING}{{1,3}}$", re.IGNORECASE)
_LEADING_ALONE = re.compile(rf"{_LEADING}{{0,3}}", re.IGNORECASE)
# A remark behind an amount; behind a number without a currency only one in brackets, as "20 GB" is no price.
_REMARK = re.compile(rf"{_SPACE}{{0,2}}(?:[^\d+–—-][^\d]{{0,80}})?")
_IN_BRACKETS = re.compile(rf"{_SPACE}{{0,2}}(?:[(（\[][^\d]{{0,80}})?")
_MARKUP = re.compile(r"[*_`\\\"“”]+")
_MAX_VALUE = 120
_LONGEST_CURRENCY = 12
_LONGEST_LEADING = 30


@dataclass(frozen=True, slots=True)
class _Number:
    """A number in a line with the currencies around it, and where both begin and end."""

    start: int
    end: int
    written: str
    times: str | None
    codes: frozenset[str]

    @property
    def amount(self) -> Amount | None:
        """The amount where the number and its one currency are clear, else None."""
        value = _value(self.written, self.times)
        return Amount(value, next(iter(self.codes))) if value is not None and len(self.codes) == 1 else None


def currency_code(written: str) -> str | None:
    """Return the code of a currency's sign, name or code, or None where it is unknown."""
    return _CODES.get(written.strip().casefold())


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
    text = " ".join(_MARKUP.sub("", written).split())
    numbers = list(_numbers(text))
    if len(numbers) != 1 or not _LEADING_ALONE.fullmatch(text[: numbers[0].start]):
        return None
    (number,) = numbers
    remark = _REMARK if number.codes else _IN_BRACKETS
    if not remark.fullmatch(text, number.end):
        return None
    if number.codes:
        return number.amount
    value = _value(number.written, number.times)
    return None if value is None else Amount(value, currency)


def stated_amounts(line: str) -> Iterator[StatedPrice]:
    """Yield the amounts with a currency that a line states, in order; the price of a range is None."""
    numbers = list(_numbers(line))
    at = 0
    while at < len(numbers):
        number, at = numbers[at], at + 1
        price: Amount | None = number.amount
        end = number.end
        if at < len(numbers) and _is_range(line, number, numbers[at]):
            price, end, at = None, numbers[at].end, at + 1
        elif not number.codes:
            continue
        lead = _leading_before(line, number.start)
        if lead is None and _may_be_two_numbers(line, number):
            price = None
        yield StatedPrice(*with_bracket(line, number.start if lead is None else lead, end), price)


def _leading_before(line: str, at: int) -> int | None:
    """Return where the words that lead to a price begin, or None without any."""
    if (
        line[at - 1 : at] not in (" ", "\u00a0", "~", "≈", "约", "約")
        or not line[max(0, at - 2) : at].strip()
    ):
        return None
    found = _LEADING_BEFORE.search(line, max(0, at - _LONGEST_LEADING), at)
    return None if found is None else found.start()


def _numbers(line: str) -> Iterator[_Number]:
    at = 0
    while found := _NUMBER.search(line, at):
        start, at = found.span()
        before = _currency_before(line, start)
        last = line[start - 1 : start]
        if before is None and last.isalpha() and last < _FIRST_OF_CJK:
            # The number of a name, behind which another may follow: "iQ500 799 EUR".
            at = next((start + place + 1 for place, one in enumerate(found[0]) if one.isspace()), at)
            continue
        end = no_cents.end() if (no_cents := _NO_CENTS.match(line, at)) else at
        times = _TIMES.match(line, end)
        end = times.end() if times else end
        behind = _currency_behind(line, end)
        yield _Number(
            before[0] if before else start,
            behind[0] if behind else end,
            found[0],
            times["times"] if times else None,
            frozenset(code for _, code in filter(None, (before, behind))),
        )


def _currency_before(line: str, at: int) -> tuple[int, str] | None:
    """Return where the currency before a number begins, and its code."""
    found = _BEFORE.search(line, max(0, at - _LONGEST_CURRENCY), at)
    if found is None:
        return None
    written, end = found["currency"], found.end("currency")
    code = _CODES.get(written.casefold())
    if code is not None and not line[found.start() - 1 : found.start()].isalpha():
        return found.start(), code
    ending = next((word for word in _CJK_CODES if written.endswith(word)), None)
    return None if ending is None else (end - len(ending), _CJK_CODES[ending])


def _currency_behind(line: str, at: int) -> tuple[int, str] | None:
    """Return where the currency behind a number ends, and its code."""
    found = _BEHIND.match(line, at)
    if found is None:
        return None
    written, start = found["currency"], found.start("currency")
    for word in (written, written.removesuffix(".")):
        code = _CODES.get(word.casefold())
        if code is not None and not line[start + len(word) : start + len(word) + 1].isalpha():
            return start + len(word), code
    opening = next((word for word in _CJK_CODES if written.startswith(word)), None)
    return None if opening is None else (start + len(opening), _CJK_CODES[opening])


def _is_range(line: str, low: _Number, high: _Number) -> bool:
    """Return whether two numbers are the ends of a range, and not a name's number, a dash and a price: "iPhone 15 – 999 €"."""
    between = line[low.end : high.start]
    if not (low.codes or high.codes) or not _BETWEEN.fullmatch(between):
        return False
    is_after_name = line[max(0, low.start - 2) : low.start].rstrip()[-1:].isalnum()
    return bool(low.codes) or not (is_after_name and between[:1].isspace())


def _may_be_two_numbers(line: str, number: _Number) -> bool:
    """Return whether a number with a space in it may be the end of a name and a price: "Serie 500 799 EUR"."""
    before = line[max(0, number.start - 2) : number.start].rstrip()[-1:]
    return any(one.isspace() for one in number.written) and before.isalnum()


def _plain_number(written: str) -> float | None:
    """Return a number as JSON writes it."""
    try:
        number = float(written)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _value(written: str, times: str | None) -> float | None:
    """Return the number of a text with separators, or None where they contradict each other.

    Three digits behind the only separator are thousands, as prices have two decimals: 1.299 is 1299.
    """
    text = written.replace("٬", ",").replace("٫", ".")
    text = re.sub(r"[ \u00a0\u202f'’]", "'", text)
    parts = re.split(r"[.,']", text)
    marks = [one for one in text if one in ".,'"]
    factor = 1 if times is None else 10_000 if times in ("万", "萬") else 1_000
    if not marks:
        return float(parts[0]) * factor
    has_decimals = len(set(marks[:-1]) | {marks[-1]}) == 2 or (len(marks) == 1 and not _is_thousands(parts))
    if marks[-1] == "'" and has_decimals:
        return None
    groups = parts[:-1] if has_decimals else parts
    if len(groups) > 1 and (len(set(marks[: len(groups) - 1])) > 1 or not _is_grouped(groups)):
        return None
    if has_decimals and len(parts[-1]) > 2 and times is None and len(groups) > 1:
        return None
    return float("".join(groups) + ("." + parts[-1] if has_decimals else "")) * factor


def _is_thousands(parts: list[str]) -> bool:
    """Return whether the only separator of a number divides thousands: 1.299, and not 0.299 or 1299.50."""
    return len(parts[1]) == 3 and len(parts[0]) <= 3 and parts[0].lstrip("0") != ""


def _is_grouped(groups: list[str]) -> bool:
    """Return whether digits are grouped by three, or as in India by two and at last by three: 1,29,900."""
    first, *others = groups
    sizes = {len(one) for one in others[:-1]}
    return (
        1 <= len(first) <= 3 and len(others[-1]) == 3 and (sizes <= {3} or (sizes <= {2} and len(first) <= 2))
    )
