"""Recommended items in plain text: lists of names with what is said about each, and tables.

Where the names stand is what `collector.answers.lists` finds; prices are taken out of the lines before, and belong to the name
on whose line, or in the lines about which, they stand.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collector.answers.lists import clean_item, find_list
from collector.answers.price_levels import SEPARATORS, read_price, stated_prices, with_surroundings
from collector.answers.remembered import remembered

# What an item is called in a table's header or an object's keys, the first that is there counts; as plain_key returns them.
NAME_KEYS = ("name", "item", "restaurant", "title", "business", "restaurantname", "businessname", "itemname")
PRICE_KEYS = (
    "pricelevel",
    "price",
    "pricerange",
    "pricetier",
    "cost",
    "pricerating",
    "pricepoint",
    "pricecategory",
)
CATEGORY_KEYS = (
    "categories",
    "category",
    "cuisines",
    "cuisine",
    "type",
    "tags",
    "cuisinetype",
    "cuisinetypes",
    "restauranttype",
)

_BETWEEN_WORDS = re.compile(r"[\s_-]+")
_REMARK = re.compile(r"\([^()]*\)|[*_`:]+")
_PIPE = re.compile(r"(?<!\\)\|")
_DASH_FOR_PIPE = re.compile(r"(?<=\S)\s{0,20}\|\s{0,20}(?=\S)")
# What opens a line before its name or its price.
_MARKS = re.compile(r"[\s>#]*(?:[*_]{0,3}\(?\d{1,4}[.):][)*_]{0,3}|[-*+–—•·‣◦▪●○■])?[\s*_`\"“]*")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+\S.*")
_EMPHASISED = re.compile(r"(\*\*|__)[^*\n]{1,150}\1")
# A line that says one thing about an item: "- **Cuisine:** Thai".
_DETAIL = re.compile(
    r"[\s>]*(?:[-*+–—•·‣◦▪●○■]\s*)?[*_]{0,3}(?P<label>price|cost|cuisines?|categor(?:y|ies)|type|tags?|address|location|area"
    r"|neighbou?rhood|phone|website|rating|hours|why|special(?:ty|ties)|known for|famous for|must[- ]try|signature|atmosphere"
    r"|ambiance|vibe|description|details|notes?|best for|good for|popular|recommended|what to order|highlights?|features?)"
    r"(?:[ /&-][\w()]{1,20}){0,4}\s?[*_]{0,3}\s?[:–—][*_]{0,3}(?P<value>.*)",
    re.IGNORECASE,
)
_CATEGORY_LABEL = re.compile(
    r"\b(?:cuisines?|categor(?:y|ies))(?: types?)?[*_]{0,3}\s?:[*_]{0,3}\s?(?P<value>[^|\n•·.]{1,200})",
    re.IGNORECASE,
)
_BEHIND_CATEGORIES = re.compile(r"\s[-–—]\s|[;,]?\s*[*_]{0,3}\bprice\b", re.IGNORECASE)
_MARKED = re.compile(r"[\s>#]*(?:[-*+–—•·‣◦▪●○■]\s|[*_]{0,3}\(?\d{1,4}[*_]{0,3}[.):])")
# What most names of an answer have behind them is said about them.
_DESCRIPTIONS = (re.compile(r"\s+[-–—|]\s+.*"), re.compile(r":\s.*"), re.compile(r"\s*\([^()]*\)$"))
_WINDOW = 20_000
_MAX_TRIES = 8


@dataclass(frozen=True, slots=True)
class NamedInText:
    """An item of a text: its name, its price level, and its categories as they are written."""

    name: str
    price_level: int | None = None
    categories: str = ""


@dataclass(frozen=True, slots=True)
class _Price:
    position: int
    level: int | None


@remembered
def plain_key(key: str) -> str:
    """Return a key or a table's heading as the names of keys are written: lower case, without spaces, _ and -."""
    return _BETWEEN_WORDS.sub("", key.casefold())


def read_items(text: str, levels: int) -> tuple[list[NamedInText], bool]:
    """Return the items of a table, or else of a list, and whether the form is one that a refusal does not take."""
    table = _from_table(text.splitlines(), levels)
    return (table, True) if table else _from_list(text, levels)


def split_name(written: str, levels: int) -> tuple[str, int | None]:
    """Return a name without the price behind it, and that price level: "Mill ($$) - pizza" is Mill, 2."""
    prices = list(stated_prices(written, levels))
    if prices:
        name = written[: with_surroundings(written, prices[0])[0]].strip("*_` \t")
        if name:
            return name, _only({one.level for one in prices})
    return written, None


def without_descriptions(names: Sequence[str]) -> list[str]:
    """Return names without what stands behind a dash, a colon or in brackets, each where most of several names have it."""
    kept = list(names)
    for pattern in _DESCRIPTIONS:
        cut = [pattern.sub("", name, count=1).strip() for name in kept]
        n_cut = sum(short != name and short != "" for short, name in zip(cut, kept, strict=True))
        if n_cut > 1 and 2 * n_cut > len(kept):
            kept = [short or name for short, name in zip(cut, kept, strict=True)]
    return kept


# Tables


def _from_table(lines: Sequence[str], levels: int) -> list[NamedInText]:
    found: list[NamedInText] = []
    for at in range(1, len(lines)):
        if not _is_rule(lines[at]):
            continue
        columns = _columns(_cells(lines[at - 1]))
        for line in lines[at + 1 :]:
            cells = _cells(line)
            if len(cells) < 2:
                break
            if (item := _of_row(columns, cells, levels)) is not None:
                found.append(item)
        if found:
            break
    return found


def _is_rule(line: str) -> bool:
    return set(line) <= set("|:- \t") and "-" in line and "|" in line


def _cells(line: str) -> list[str]:
    cells = [cell.strip() for cell in _PIPE.split(line.strip())]
    return cells[not cells[0] : len(cells) - (not cells[-1])] if len(cells) > 1 else cells


def _columns(header: Sequence[str]) -> tuple[int, int | None, int | None]:
    """Return where name, price and categories stand; without a heading for names, the first that counts nothing."""
    keys = [plain_key(_REMARK.sub("", cell)) for cell in header]

    def column(names: Sequence[str]) -> int | None:
        return next((keys.index(name) for name in names if name in keys), None)

    name = column(NAME_KEYS)
    if name is None:
        name = 1 if keys and keys[0] in ("", "#", "no", "no.", "rank", "number", "nr") else 0
    return name, column(PRICE_KEYS), column(CATEGORY_KEYS)


def _of_row(
    columns: tuple[int, int | None, int | None], cells: Sequence[str], levels: int
) -> NamedInText | None:
    def cell(column: int | None) -> str:
        return cells[column] if column is not None and column < len(cells) else ""

    at_name, at_price, at_categories = columns
    name, level = split_name(clean_item(_MARKS.sub("", cell(at_name), count=1) or cell(at_name)), levels)
    if not name.strip("-: "):
        return None
    stated = read_price(cell(at_price), levels)
    return NamedInText(
        name.strip("*_` "), stated if stated is not None else level, cell(at_categories).strip("*_` ")
    )


# Lists


def _from_list(text: str, levels: int) -> tuple[list[NamedInText], bool]:
    plain, prices = _without_prices(_tidied(text), levels)
    found = find_list(_without_details(plain))
    if found.form == "json":
        return [], False
    names = without_descriptions([one.rstrip(SEPARATORS) or one for one in found.items])
    blocks = list(_blocks(plain, found.items))
    items = [
        NamedInText(name, _price_in(block, prices), _categories_in(block, plain))
        for name, block in zip(names, blocks, strict=True)
    ]
    return items, found.is_certain


def _tidied(text: str) -> list[str]:
    lines = []
    for line in text.replace("\\$", "$").splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        tidy = indent + " ".join(line.split())
        lines.append(tidy if tidy.startswith("|") else _DASH_FOR_PIPE.sub(" - ", tidy))
    return lines


def _without_prices(lines: Sequence[str], levels: int) -> tuple[str, list[_Price]]:
    """Return the lines as one text without price levels, a dash in place of those in the midst, and where each stood."""
    parts: list[str] = []
    prices: list[_Price] = []
    length = 0  # of the parts
    for line in lines:
        cursor = 0
        is_marked = _MARKED.match(line) is not None
        for price in stated_prices(line, levels):
            start, end = with_surroundings(line, price)
            replacement = "" if end == len(line) or line[end] in '*_`"”)' else " - "
            if line[price.start] in "([" and not is_marked:
                # Commas between the names of a sentence stay.
                end, replacement = price.end, ""
            if _MARKS.fullmatch(line, cursor, price.start) and cursor == 0:
                # The line begins with its price: the mark before it stays as it is.
                start, replacement = price.start, ""
            if start >= cursor:
                parts += [line[cursor:start], replacement]
                length += start - cursor + len(replacement)
            prices.append(_Price(length - len(replacement), price.level))
            cursor = max(cursor, end)
        parts += [line[cursor:], "\n"]
        length += len(line) - cursor + 1
    return "".join(parts), prices


def _without_details(text: str) -> str:
    """Return a text without the lines that say one thing of an item, and with bullets where names stand over what is said."""
    lines = text.split("\n")
    is_detail = [_DETAIL.fullmatch(line) is not None for line in lines]
    kept = ["" if detail else line for line, detail in zip(lines, is_detail, strict=True)]
    has_marks = any(_MARKED.match(line) for line in kept)
    followers = [*lines[1:], ""]
    for at in range(len(lines) - 2, -1, -1):
        followers[at] = lines[at + 1] if lines[at + 1].strip() else followers[at + 1]
    names = [
        at
        for at, (line, follower) in enumerate(zip(kept, followers, strict=True))
        if (_HEADING.match(line) and not _MARKED.match(line) and _DETAIL.fullmatch(follower))
        or (not has_marks and _is_name_over_text(line, follower))
    ]
    if len(names) > 1:
        for at in names:
            kept[at] = f"- {lines[at].lstrip(' #')}"
    return "\n".join(kept)


def _is_name_over_text(line: str, follower: str) -> bool:
    emphasised = _EMPHASISED.match(line)
    return emphasised is not None and (
        line[emphasised.end() :].strip() != "" or follower.endswith((".", "!"))
    )


def _blocks(plain: str, names: Sequence[str]) -> Iterator[tuple[int, int, int] | None]:
    """Yield where each name's part of the text begins, where its line ends, and where the part ends; None if it is not found."""
    places: list[tuple[int, int] | None] = []
    at = 0
    for name in names:
        place = _find(plain, name, at)
        places.append(place)
        if place is not None:
            at = place[1]
    starts = [place[0] for place in places if place is not None]
    followers = iter([*starts[1:], len(plain)])
    for place in places:
        if place is None:
            yield None
            continue
        following = next(followers)
        line_end = plain.find("\n", place[1], following)
        line_end = following if line_end < 0 else line_end
        yield place[0], line_end, _end_of_block(plain, line_end, following)


def _find(plain: str, name: str, at: int) -> tuple[int, int] | None:
    """Return start and end of a name's next mention, at best one at the beginning of its line, with the marks before it."""
    first: tuple[int, int] | None = None
    start = at
    for _ in range(_MAX_TRIES):
        found = plain.find(name, start, at + _WINDOW + len(name))
        if found < 0:
            break
        line_start = max(plain.rfind("\n", at, found) + 1, at)
        if _MARKS.fullmatch(plain[line_start:found][-40:]):
            return line_start, found + len(name)
        first = first or (found, found + len(name))
        start = found + 1
    return first


def _end_of_block(plain: str, at: int, limit: int) -> int:
    """Return where the lines about a name end: at a heading, or at a line at the margin, not marked, behind an empty one."""
    is_behind_gap = False
    while at < limit:
        end = plain.find("\n", at + 1, limit)
        end = limit if end < 0 else end
        line = plain[at + 1 : end]
        is_about_others = line[:1].strip() != "" and (
            _HEADING.match(line)
            or (is_behind_gap and not _MARKED.match(line) and not _DETAIL.fullmatch(line))
        )
        if is_about_others:
            return at
        is_behind_gap = not line.strip()
        at = end
    return at


def _price_in(block: tuple[int, int, int] | None, prices: Sequence[_Price]) -> int | None:
    if block is None:
        return None
    start = bisect_left(prices, block[0], key=_position)
    # A price at the line's very end stands on the line.
    line_end = bisect_right(prices, block[1], key=_position)
    end = max(line_end, bisect_left(prices, block[2], key=_position))
    on_line = {one.level for one in prices[start:line_end]}
    return _only(on_line or {one.level for one in prices[line_end:end]})


def _position(price: _Price) -> int:
    return price.position


def _categories_in(block: tuple[int, int, int] | None, plain: str) -> str:
    """Return what stands behind a label for categories in the lines about a name."""
    found = _CATEGORY_LABEL.search(plain, block[0], block[2]) if block is not None else None
    return _BEHIND_CATEGORIES.split(found["value"], maxsplit=1)[0].strip(" *_-–—,;") if found else ""


def _only(levels: set[int | None]) -> int | None:
    """Return the level where just one is stated; a range, or two levels at once, is none."""
    return next(iter(levels)) if len(levels) == 1 else None
