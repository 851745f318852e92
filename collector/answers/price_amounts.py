"""Prices as amounts of money: "349 €", "EUR 1.299,00", "$1,299", "12,000円", 349.0.

A range ("299–399 €"), two amounts ("349 € statt 399 €") and a number among words are no amount.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collector.answers.json_text import JsonNumber
from collector.answers.stated_prices import Amount, StatedPrice, with_bracket

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
_CURRENCY = "|".join(
    (rf"(?<![^\W\d_]){re.escape(word)}" if word[0].isalpha() and word[0] < _FIRST_OF_CJK else re.escape(word))
    + (r"(?![^\W\d_])" if word[-1].isalpha() and word[-1] < _FIRST_OF_CJK else "")
    for word in sorted(_CODES, key=lambda one: (-len(one), one))
)
_SPACE = r"[ \u00a0\u202f]"
_DIGITS = rf"\d{{1,9}}(?:[.,'’٬٫]\d{{1,9}}|{_SPACE}\d{{3}}(?!\d)){{0,4}}"
_NUMBER = rf"(?<![\d.,]){_DIGITS}(?:[.,]?[-–—]{{1,2}}(?!{_SPACE}?\d))?(?!\d)"
_TIMES = rf"{_SPACE}?(?P<{{times}}>(?:k|tsd\.?)(?![^\W\d_])|[万萬])"
_AMOUNT = (
    rf"(?:(?P<before>{_CURRENCY}){_SPACE}?(?P<number>{_NUMBER})(?:{_TIMES.format(times='times')})?(?:{_SPACE}?(?P<both>{_CURRENCY}))?"
    rf"|(?P<number_too>(?<![^\W_]){_NUMBER})(?:{_TIMES.format(times='times_too')})?{_SPACE}?(?P<behind>{_CURRENCY}))"
)
_BETWEEN = rf"{_SPACE}?(?:[-–—~～]|to\b|bis\b|à\b|a\b|hasta\b|до\b|至|到){_SPACE}?"
# "349–399 €" and "ab 349 € bis 399 €" are ranges; words that lead to a price are no part of a name before it.
_LEADING = (
    r"(?:(?<![^\W\d_])(?:für|for|zu|um|à|at|por|per|za|voor|för|til|till|за|kostet|costs?|cuesta|coûte|costa|kosztuje|стоит|nur"
    r"|only|ca\.?|circa|etwa|about|around|approx\.?|ab|from|desde|dès|vanaf|fra|från|od|от|від)[ \u00a0]|[~≈约約]\s?){0,3}"
)
_STATED = re.compile(
    rf"{_LEADING}(?:(?P<range>(?P<low>(?:(?:{_CURRENCY}){_SPACE}?)?{_DIGITS}(?:{_SPACE}?(?:{_CURRENCY}))?){_BETWEEN}"
    rf"(?:(?:{_CURRENCY}){_SPACE}?{_DIGITS}|{_DIGITS}{_SPACE}?(?:{_CURRENCY})))|{_AMOUNT})",
    re.IGNORECASE,
)
# A remark behind an amount; behind a number without a currency only one in brackets, as "20 GB" is no price.
_IN_BRACKETS = r"[(（\[][^\d]{0,80}"
_VALUE = re.compile(
    rf"{_LEADING}(?:{_AMOUNT}{_SPACE}{{0,2}}(?:[^\d+–—-][^\d]{{0,80}})?"
    rf"|(?P<bare>{_NUMBER})(?:{_TIMES.format(times='times_bare')})?{_SPACE}{{0,2}}(?:{_IN_BRACKETS})?)",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[*_`\\\"“”]+")
_MAX_VALUE = 120


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
        number = _plain_number(str(written))
        return None if number is None else Amount(number, currency)
    text = " ".join(_MARKUP.sub("", written).split())
    found = _VALUE.fullmatch(text) if len(text) <= _MAX_VALUE else None
    if found is None:
        return None
    if found["bare"]:
        number = _number(found["bare"], found["times_bare"])
        return None if number is None else Amount(number, currency)
    return _amount(found)


def stated_amounts(line: str) -> Iterator[StatedPrice]:
    """Yield the amounts with a currency that a line states, in order; the price of a range is None."""
    if not any(one.isdigit() for one in line):
        return
    at = 0
    while found := _STATED.search(line, at):
        at = found.end()
        if found["range"] and _ends_a_name(line, found):
            at = found.end("low")
            continue
        start, end = with_bracket(line, found.start(), found.end())
        is_clear = not found["range"] and not _may_be_two_numbers(line, found)
        yield StatedPrice(start, end, _amount(found) if is_clear else None)


def _ends_a_name(line: str, found: re.Match[str]) -> bool:
    """Return whether what looks like a range is the number of a name, a dash and a price: "iPhone 15 – 999 €"."""
    low = found["low"]
    is_after_name = line[: found.start("low")].rstrip()[-1:].isalnum() and found.start() == found.start("low")
    return low.isdecimal() and is_after_name and line[found.end("low") : found.end("low") + 1].isspace()


def _may_be_two_numbers(line: str, found: re.Match[str]) -> bool:
    """Return whether a number with a space in it may be the end of a name and a price: "Serie 500 799 EUR"."""
    number = found["number_too"] or ""
    before = line[: found.start("number_too")].rstrip()[-1:]
    return " " in number and before.isalnum() and found.start() == found.start("number_too")


def _amount(found: re.Match[str]) -> Amount | None:
    written = [found[name] for name in ("before", "both", "behind") if found[name]]
    codes = {_CODES[one.casefold()] for one in written}
    number = _number(found["number"] or found["number_too"], found["times"] or found["times_too"])
    return Amount(number, codes.pop()) if number is not None and len(codes) == 1 else None


def _plain_number(written: str) -> float | None:
    """Return a number as JSON writes it."""
    try:
        number = float(written)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _number(written: str, times: str | None) -> float | None:
    """Return the number of a text with separators, or None where they contradict each other.

    Three digits behind the only separator are thousands, as prices have two decimals: 1.299 is 1299.
    """
    text = written.rstrip("-–—").rstrip(".,").replace("٬", ",").replace("٫", ".")
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
