"""Recommended items in plain text: lists of names with their descriptions, and tables.

lists.py finds the names. Prices are taken out of the lines before; they belong to the name on the same line, or to the name
that the line is about.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collector.answers.recommendations.item_rules import ItemRole, ItemRules, plain_key
from collector.answers.recommendations.key_words import Role, column_of_names, first_keys, meaning_of
from collector.answers.recommendations.list_titles import clean_item
from collector.answers.recommendations.lists import find_list
from collector.answers.recommendations.markdown_tables import MarkdownTable, markdown_tables
from collector.answers.recommendations.prices import SEPARATORS, Price, with_surroundings

_REMARK = re.compile(r"\([^()]*\)|[*_`:]+")
_DASH_FOR_PIPE = re.compile(r"(?<=\S)\s{0,20}\|\s{0,20}(?=\S)")
# The beginning of a line before its name or its price.
_MARKS = re.compile(
    r"[\s>#]*(?:[*_]{0,3}[(（]?(?:\d{1,4}|[一二三四五六七八九十]{1,3})[.):、．：）][)*_]{0,3}|[①-⒛❶-➓]|[-*+–—•·‣◦▪●○■])?"
    r"[\s*_`\"“„«《「『]*"
)
# The same in a cell of a table, where quotes are left to those who read the title.
_NUMBER_IN_CELL = re.compile(r"[\s>#]*[*_]{0,3}[(（]?\d{1,4}[.):、．：）][)*_]{0,3}\s*(?=\S)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+\S.*")
_EMPHASISED = re.compile(r"(\*\*|__)[^*\n]{1,150}\1")
_IS_EMPHASISED = re.compile(r"\s{0,3}(\*\*|__)[^*\n:：]{1,150}\1\s{0,20}")
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
_MARKED = re.compile(
    r"[\s>#]*(?:[-*+–—•·‣◦▪●○■]\s|[*_]{0,3}[(（]?(?:\d{1,4}|[一二三四五六七八九十]{1,3})[*_]{0,3}[.):、．：）]|[①-⒛❶-➓])"
)
# The same for a label in any language, which says the price or the category.
_LABELLED = re.compile(
    r"[\s>]*(?:[-*+–—•·‣◦▪●○■]\s*)?[*_]{0,3}(?P<label>[^\W\d_]{2,20}(?:[ -][^\W\d_]{1,20})?)\s?[*_]{0,3}\s?[:：]"
    r"[*_]{0,3}(?P<value>.*)"
)
# If most names of an answer are followed by one of these, it is a description.
_DESCRIPTIONS = (re.compile(r"\s+[-–—|]\s+.*"), re.compile(r":\s.*"), re.compile(r"\s*\([^()]*\)$"))
_COMMAS = (",", ";", "，", "；", "、", ".", "。")
_WINDOW = 20_000
_MAX_TRIES = 8


@dataclass(frozen=True, slots=True)
class NamedInText:
    """An item of a text: its name, its price, and its categories as they are written."""

    name: str
    price: Price | None = None
    categories: str = ""


@dataclass(frozen=True, slots=True)
class _Price:
    position: int
    price: Price | None


def read_items(text: str, rules: ItemRules) -> tuple[list[NamedInText], bool]:
    """Return the items of a table, or else of a list, and whether the form is one that a refusal does not take."""
    table = _from_table(text.splitlines(), rules)
    return (table, True) if table else _from_list(text, rules)


def split_name(written: str, rules: ItemRules) -> tuple[str, Price | None]:
    """Return a name without the price behind it, and that price: "Mill ($$) - pizza" is Mill, 2."""
    prices = list(rules.stated(written))
    if prices:
        name = written[: with_surroundings(written, prices[0])[0]].strip("*_` \t")
        if name:
            return name, _only({one.price for one in prices})
    return written, None


def without_descriptions(names: Sequence[str]) -> list[str]:
    """Return names without the text after a dash, a colon or in brackets, each where most of several names have it."""
    kept = list(names)
    for pattern in _DESCRIPTIONS:
        cut = [pattern.sub("", name, count=1).strip() for name in kept]
        n_cut = sum(short != name and short != "" for short, name in zip(cut, kept, strict=True))
        if n_cut > 1 and 2 * n_cut > len(kept):
            kept = [short or name for short, name in zip(cut, kept, strict=True)]
    return kept


# Tables


def _from_table(lines: Sequence[str], rules: ItemRules) -> list[NamedInText]:
    """Return the items of the first table that names any, and of the tables below it that have the same header."""
    header: tuple[str, ...] | None = None
    found: list[NamedInText] = []
    for table in markdown_tables(lines):
        if header is None or table.header == header:
            columns = _columns(table, rules)
            items = [item for row in table.rows if (item := _of_row(columns, row, rules)) is not None]
            header = table.header if items else header
            found += items
    return found


@dataclass(frozen=True, slots=True)
class _Columns:
    """The table's columns of names, prices and categories, and the currency in the heading of the prices."""

    name: int
    price: int | None
    category: int | None
    currency: str | None


def _columns(table: MarkdownTable, rules: ItemRules) -> _Columns:
    """Return the role of each column; without a heading for names, the first column that holds no numbering holds names."""
    keys = [plain_key(_REMARK.sub("", cell)) for cell in table.header]
    meanings = [meaning_of(cell) for cell in table.header]

    def column(role: ItemRole, names: Sequence[str], others: Sequence[Role]) -> int | None:
        stated = [plain_key(path[-1]) for path in rules.keys.get(role, ())]
        for name in (*stated, *names):
            if name in keys:
                return keys.index(name)
        known = [(one.rank, at) for at, one in enumerate(meanings) if one.role in others]
        return min(known)[1] if known else None

    name = column("name", first_keys("name"), ())
    price = column(
        "price",
        () if rules.are_amounts else first_keys("price"),
        ("price",) if rules.are_amounts else ("level", "price"),
    )
    return _Columns(
        column_of_names(table.header, table.rows) if name is None else name,
        price,
        column("category", first_keys("category"), ("category",)),
        None if price is None else meanings[price].currency,
    )


def _of_row(columns: _Columns, cells: Sequence[str], rules: ItemRules) -> NamedInText | None:
    def cell(column: int | None) -> str:
        return cells[column] if column is not None and column < len(cells) else ""

    written = cell(columns.name)
    name, price = split_name(clean_item(_NUMBER_IN_CELL.sub("", written, count=1)), rules)
    if not name.strip("-: "):
        return None
    stated = rules.of_key(cell(columns.price), columns.currency)
    if stated is None or (price is not None and type(stated) is not type(price)):
        stated = price if price is not None else stated
    return NamedInText(name.strip("*_` "), stated, cell(columns.category).strip("*_` "))


# Lists


def _from_list(text: str, rules: ItemRules) -> tuple[list[NamedInText], bool]:
    lines = _tidied(text)
    plain, prices = _without_prices(lines, rules)
    # An amount is taken out of its line without the label before it.
    priced = [rules.are_amounts and _is_detail(line) for line in lines]
    found = find_list(_without_details(plain, priced))
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


def _without_prices(lines: Sequence[str], rules: ItemRules) -> tuple[str, list[_Price]]:
    """Return the lines as one text without prices (a dash replaces those in the middle), and where each price was."""
    parts: list[str] = []
    prices: list[_Price] = []
    length = 0  # of the parts
    for line in lines:
        cursor = 0
        is_marked = _MARKED.match(line) is not None
        for price in rules.stated(line):
            start, end = with_surroundings(line, price)
            replacement = "" if end == len(line) or line[end] in '*_`"”)' else " - "
            is_in_sentence = rules.are_amounts and line[price.end : price.end + 1] in _COMMAS
            if (line[price.start] in "([" or is_in_sentence) and not is_marked:
                # Commas between the names of a sentence stay.
                end, replacement = price.end, ""
            if _MARKS.fullmatch(line, cursor, price.start) and cursor == 0:
                # The line begins with its price: the mark before it stays as it is.
                start, replacement = price.start, ""
            if start >= cursor:
                parts += [line[cursor:start], replacement]
                length += start - cursor + len(replacement)
            prices.append(_Price(length - len(replacement), price.price))
            cursor = max(cursor, end)
        parts += [line[cursor:], "\n"]
        length += len(line) - cursor + 1
    return "".join(parts), prices


def _without_details(text: str, are_details: Sequence[bool]) -> str:
    """Return a text without lines on one property of an item, and with bullets before names that head a description."""
    lines = text.split("\n")
    is_detail = [_is_detail(line) for line in lines]
    for at, is_known in enumerate(are_details):
        is_detail[at] |= is_known
    kept = ["" if detail else line for line, detail in zip(lines, is_detail, strict=True)]
    has_marks = any(_MARKED.match(line) for line in kept)
    followers = [*lines[1:], ""]
    for at in range(len(lines) - 2, -1, -1):
        followers[at] = lines[at + 1] if lines[at + 1].strip() else followers[at + 1]
    is_over_detail = [any(is_detail[at + 1 : at + 2]) for at in range(len(lines))]
    names = [
        at
        for at, (line, follower) in enumerate(zip(kept, followers, strict=True))
        if (_HEADING.match(line) and not _MARKED.match(line) and _is_detail(follower))
        or (is_over_detail[at] and _IS_EMPHASISED.fullmatch(line))
        or (not has_marks and _is_name_over_text(line, follower))
    ]
    if len(names) > 1:
        for at in names:
            kept[at] = f"- {lines[at].lstrip(' #')}"
    return "\n".join(kept)


def _is_detail(line: str) -> bool:
    """Return whether a line states one thing about an item: a known label, in any language for price and category."""
    return _DETAIL.fullmatch(line) is not None or _label_of(line, ("price", "level", "category")) is not None


def _label_of(line: str, roles: Sequence[Role]) -> str | None:
    """Return the text after a line's label if the label is a word for one of these, else None."""
    found = _LABELLED.fullmatch(line)
    return found["value"] if found is not None and meaning_of(found["label"]).role in roles else None


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
            _HEADING.match(line) or (is_behind_gap and not _MARKED.match(line) and not _is_detail(line))
        )
        if is_about_others:
            return at
        is_behind_gap = not line.strip()
        at = end
    return at


def _price_in(block: tuple[int, int, int] | None, prices: Sequence[_Price]) -> Price | None:
    if block is None:
        return None
    start = bisect_left(prices, block[0], key=_position)
    # A price at the very end belongs to the line.
    line_end = bisect_right(prices, block[1], key=_position)
    end = max(line_end, bisect_left(prices, block[2], key=_position))
    on_line = {one.price for one in prices[start:line_end]}
    return _only(on_line or {one.price for one in prices[line_end:end]})


def _position(price: _Price) -> int:
    return price.position


def _categories_in(block: tuple[int, int, int] | None, plain: str) -> str:
    """Return the text after a label for categories in the lines about a name."""
    if block is None:
        return ""
    found = _CATEGORY_LABEL.search(plain, block[0], block[2])
    if found is None:
        labelled = (_label_of(line, ("category",)) for line in plain[block[1] : block[2]].split("\n"))
        return next((one.strip(" *_-–—,;") for one in labelled if one is not None), "")
    return _BEHIND_CATEGORIES.split(found["value"], maxsplit=1)[0].strip(" *_-–—,;")


def _only(prices: set[Price | None]) -> Price | None:
    """Return the price if exactly one is stated; a range, or two prices, count as none."""
    return next(iter(prices)) if len(prices) == 1 else None
