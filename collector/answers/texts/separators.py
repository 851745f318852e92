"""Separators of numbers: which of "." and "," divides thousands and which begins the decimals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Literal

from collector.answers.texts.amount_words import amount_words
from collector.answers.texts.plain import fold, plain_signs

Separator = Literal[".", ","]
_MOST_DIGITS = 30
NUMBER = re.compile(
    r"(?P<number>\d{1,3}(?: \d{3})+(?![\d])(?:[.,٫]\d+)?|\d+(?:[.,'٫٬_]\d+)*|(?<![\w.,])[.٫]\d+)(?P<part>[½¼¾])?|(?P<lone>[½¼¾])"
)


def decimal_of(texts: Iterable[str]) -> Separator | None:
    """Decide which decimal separator a whole column of texts uses.

    Args:
        texts: the answers of a column.

    Returns:
        "." or ","; None if the column does not show it, or contradicts itself.
    """
    votes: Counter[Separator] = Counter()
    ambiguous: dict[Separator, list[str]] = {".": [], ",": []}
    for text in texts:
        low = fold(plain_signs(text))
        for token in NUMBER.finditer(low):
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


def readings_of(number: str, decimal: Separator | None, *, is_money: bool) -> tuple[Decimal, ...]:
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
    # A comma and three zeros are no decimals of a whole number.
    if marks[0] == "," and grouped.endswith("000"):
        return as_thousands
    return (*as_decimal, *as_thousands)


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
    if not marks or not readings_of(number, None, is_money=False):
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


def _groups_are_valid(number: str, marks: str) -> bool:
    """Return whether marks divide a number into groups of three digits, or of two and then three as in India."""
    whole = re.split(r"[.,٫]", number)[0] if marks == " '٬_" else number
    if not any(mark in number for mark in marks):
        return True
    groups = re.split(f"[{re.escape(marks)}]", whole)
    if len(groups) == 1 or not 1 <= len(groups[0]) <= 3 or len(groups[-1]) != 3:
        return False
    sizes = {len(group) for group in groups[1:-1]}
    return sizes <= {3} or (sizes <= {2} and len(groups[0]) <= 2)


def _values(written: str) -> tuple[Decimal, ...]:
    try:
        return (Decimal(written),) if len(written) <= _MOST_DIGITS else ()
    except InvalidOperation:
        return ()
