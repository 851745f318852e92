"""Price levels as people and models write them: numbers, dollar signs and the words around them.

A level is read only where it is stated: an amount ("$20"), a range ("$$-$$$"), another scale ("2 out of 5") and a word
("moderate") state none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collector.answers.recommendations.stated_prices import StatedPrice, with_bracket

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
    found = {one.price if isinstance(one.price, int) else None for one in stated_prices(text, levels)}
    number = _NUMBER_VALUE.fullmatch(text) or _BRACKETED_NUMBER.fullmatch(text)
    if number is not None:
        found.add(_level(number["number"], number.groupdict().get("levels"), levels))
    return found.pop() if len(found) == 1 else None


def is_price_range(written: str) -> bool:
    """Return whether a value is a range of price levels in signs: two levels are not one, and their mean would be invented."""
    found = _STATED.fullmatch(written)
    return found is not None and found["range"] is not None


def stated_prices(line: str, levels: int) -> Iterator[StatedPrice]:
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
