"""Lines of a list that are marked: numbers in any script, letters, roman and Chinese numerals, bullets.

A number opens an item only as part of a row: 1, 2, 3, … Every pattern is tried on one line and none can backtrack far.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from collector.answers.recommendations.key_words import is_title_label

MAX_NUMBER_GAP = 5  # a model that counts wrongly skips few numbers; a larger jump is a number of another kind
MAX_LINES_ROUND_ONE = 3
MIN_BARE = 3  # numbers without a mark behind them, and rows that do not begin at 1, need so many lines
SENTENCE_WORDS = 5

_SPACE = r"[ \t\u00a0\u202f\u3000]"
_LEAD = rf"(?:{_SPACE}|[>#])*"
# 1. · 1) · 1: · (1) · (#1) · **1.** · **1**. · ## 1. · 1、 · １． · १. ; where a digit follows, see _is_weak.
_NUMBERED = re.compile(
    rf"{_LEAD}(?P<open>[*_]{{0,3}})[(（]?#?(?P<number>\d{{1,4}})(?P<close>[*_]{{0,3}})"
    rf"(?P<mark>{_SPACE}?[、．：）｡。﹒।]|{_SPACE}?\\?[.):]|{_SPACE}?[-–—](?={_SPACE}))"
    rf"(?P<close_after>[)）]?(?:-(?={_SPACE}))?[*_]{{0,3}})(?P<body>.*)"
)
# Before a digit these may be a decimal point or the colon of a time: "1.5 million", "8:30".
_WEAK_MARKS = (".", ":", "：", "﹒")
_INLINE_NUMBER = re.compile(r"(?:^|(?<=\s))(?:\*\*)?\(?(\d{1,3})[.):]\)?(?:\*\*)?(?=\s)")
# A quick look for what every list in one line of ASCII has.
_INLINE_MARK = re.compile(r"[1aA][.):]")
_INLINE_TIGHT = re.compile(r"(?:^|(?<=[\s,;，；、。：:]))[(（]?(\d{1,3})(?:[、．）｡]|[.)](?!\d))")
_SEPARATORS = ",;，；、 \t"
_STRONG_BULLETS = "•·‣◦▪●○■□▫◾◽◆◇❖✦✧➤➢➔➜▶►▸▹▷▻∙・⁃◉⦿⦾✓✔☑☐✅❥※☞☛✱⁎∗★☆⚫⚪►♦◘❯⇒⮞"
_BULLET = re.compile(
    rf"(?P<indent>(?:{_SPACE}|>)*)(?:[-*+–—‐‑‒―−](?={_SPACE})|[{_STRONG_BULLETS}]\ufe0f?|\\item\b)"
    rf"{_SPACE}*(?:\[[ xX✓✔]?\]{_SPACE}+)?(?P<body>.*)"
)
# Marks that may also be a part of a title: they count where every line of the list has one.
_WEAK_BULLET = re.compile(
    rf"(?P<indent>(?:{_SPACE}|>)*)(?:"
    rf"(?:[\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001faff][\ufe0f\u200d\U0001f3fb-\U0001f3ff]*){{1,4}}{_SPACE}+"
    rf"|[o»›~]{_SPACE}+|[-–—−](?=[^\s\d\-–—−])|\*(?=[^\s*])(?!.*\*))(?P<body>.*)"
)
# A bullet at the start of a line or after a colon.
_INLINE_BULLETS = re.compile(
    rf"(?:[^:：]{{0,300}}[:：])?{_SPACE}*(?:(?P<mark>[{_STRONG_BULLETS}])(?![{_STRONG_BULLETS}])|"
    rf"(?P<other>[-–—*\u2700-\u27bf\U0001f300-\U0001faff])(?=\ufe0f?{_SPACE}))(?P<body>.*)"
)
# A horizontal rule, a fence or a table row separates items and is no item.
NO_TEXT = re.compile(r"[ \t]*(?:[-*_=~]{3,}[ \t]*|`{3,}.*|\|.*|)")

_CHINESE = {
    numeral: value
    for numerals in ("零一二三四五六七八九十", "〇壹贰叁肆伍陆柒捌玖拾", "〇壹貳參肆伍陸柒捌玖拾")
    for value, numeral in enumerate(numerals)
}
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_IS_ROMAN = re.compile(r"(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
# Alphabets in the order in which lists count with them; two orders of one script are two alphabets.
_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "абвгдежзиклмнопрстуфхцчшщэюя",
    "абвгдеёжзийклмнопрстуфхцчшщ",
    "абвгґдеєжзиіїйклмнопрстуфхцчшщюя",
    "αβγδεζηθικλμνξοπρστυφχψω",
    "אבגדהוזחטיכלמנסעפצקרשת",
    "أبجدهوزحطيكلمنسعفصقرشتثخذضظغ",
    "ابجدهوزحطي",
    "أبتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "가나다라마바사아자차카타파하",
    "アイウエオカキクケコサシスセソタチツテト",
    "イロハニホヘトチリヌルヲ",
    "あいうえおかきくけこさしすせそ",
    "กขคงจฉชซ",
    "कखगघङचछजझञ",
    "甲乙丙丁戊己庚辛壬癸",
)
_NUMERALS = "[零〇一二三四五六七八九十壹贰貳叁參肆伍陆陸柒捌玖拾]{1,4}"
_LEFT, _RIGHT = "(（[［【〔〖{<", ")）]］】〕〗}>"
_KEYCAP = r"(?:\d\ufe0f?\u20e3){1,3}|\U0001f51f"
_ENCLOSED = "[①-⒛⓪-⓿❶-➓㈠-㈩㊀-㊉㉑-㉟㊱-㊿Ⓐ-ⓩ\U0001f110-\U0001f189]"
_SYMBOL_MARK = re.compile(
    rf"{_LEAD}(?P<open>[*_]{{0,3}})(?:(?P<keycap>{_KEYCAP})|(?P<enclosed>{_ENCLOSED})\ufe0f?)"
    rf"(?P<close>[*_]{{0,3}}){_SPACE}*[.):、．：）]?(?P<body>.*)"
)
_TOKEN_MARK = re.compile(
    rf"{_LEAD}(?P<open>[*_]{{0,3}})(?P<left>[{re.escape(_LEFT)}]?){_SPACE}?#?"
    rf"(?P<token>\d{{1,3}}|{_NUMERALS}|[ivxlcIVXLC]{{1,6}}|[Ⅰ-ⅿ]{{1,4}}|[^\W\d_])(?P<close>[*_]{{0,3}}){_SPACE}?"
    rf"(?P<right>[{re.escape(_RIGHT)}][.:、．：]?|[.、．：:。])(?P<close_after>[*_]{{0,3}})(?P<body>.*)"
)
_ORDINAL_MARK = re.compile(
    rf"{_LEAD}(?P<open>[*_]{{0,3}})(?P<token>\d{{1,3}})(?P<suffix>st|nd|rd|th|er|re|ère|e|ème|º|ª|°|位|番|위|번)"
    rf"[.):]?[*_]{{0,3}}(?:{_SPACE}*[-–—:：]|(?={_SPACE}))(?P<close_after>[*_]{{0,3}})(?P<body>.*)"
)
_WORD_MARK = re.compile(
    rf"{_LEAD}(?P<open>[*_]{{0,3}})(?P<word>第|其|№|N[°º]|[^\W\d_]{{2,20}}\.?){_SPACE}?[#№]?{_SPACE}?"
    rf"(?P<token>\d{{1,3}}|{_NUMERALS})(?P<unit>[本部首位名项項个個条條番款]?[位目]?)(?P<close>[*_]{{0,3}}){_SPACE}?"
    rf"(?P<mark>[.):、．：），,]?(?:{_SPACE}?[-–—](?={_SPACE}))?)(?P<close_after>[*_]{{0,3}})(?P<body>.*)"
)
_INLINE_SYMBOL = re.compile(
    rf"(?P<keycap>{_KEYCAP})|(?P<enclosed>{_ENCLOSED})|(?:^|(?<=[\s,;，；、。：:]))"
    rf"(?:[（(]?(?P<numeral>{_NUMERALS})[、）)．]|\(?(?P<letter>[A-Za-z])\)(?=\s))"
)
_TIGHT_DASH = re.compile(rf"{_LEAD}(?P<token>\d{{1,3}})[-–—−](?P<body>[^\s\d\-–—].*)")
_ALONE = re.compile(rf"{_LEAD}(?P<open>[*_]{{0,3}})#?(?P<token>\d{{1,3}})[*_]{{0,3}}[ \t]*")
_SLASH = re.compile(rf"{_LEAD}(?P<token>\d{{1,3}})(?:[/>](?=[^\d/>])|[,;»›](?={_SPACE})|，)(?P<body>.*)")
_BARE = re.compile(
    rf"{_LEAD}(?P<open>[*_]{{0,3}})#?(?P<token>\d{{1,3}})(?P<close>[*_]{{0,3}}){_SPACE}+"
    rf"(?P<sign>(?:[-–—|=~·•»›>→⇒➜]|->|=>){_SPACE}+)?(?P<body>\S.*)"
)
# A quick look at a line's beginning, which all of the marks above pass.
_MAY_BE_MARK = re.compile(
    rf"{_LEAD}[*_]{{0,3}}(?:[^A-Za-z\s]|[A-Za-z]{{1,6}}[*_]{{0,3}}{_SPACE}?[{re.escape(_RIGHT)}.:、．：。]|[A-Za-z]{{2,20}}\.?{_SPACE}?[#№]?{_SPACE}?\d)"
)
_NUMBER_WORDS = frozenset(
    "第 其 № n° nº no no. nr nr. núm. num. num n. top número numero nummer number pick platz rank option suggestion choice"
    " vorschlag opción opcion sugerencia proposition opção sugestão opzione optie опция вариант"
    " 推荐 建议 选择 おすすめ 추천".split()
)
# Families whose mark may also be a part of a title: "9 to 5", "3-D".
_UNMARKED = ("bare", "tight")
# A numbered or lettered line below an item that describes it: "Year: 2015".
_REMARK = re.compile(r"[*_]{0,3}[^\W\d_][\w ]{0,20}[*_]{0,3}\s?[:：]\s?\S.*")
_ADDRESS = re.compile(r"\W{0,3}(?:https?://|www\.|doi:)", re.IGNORECASE)

Marks = Literal["numbered", "bullets"]
Marked = TypeVar("Marked")


@dataclass(frozen=True, slots=True)
class MarkedLines:
    """The texts after the marks of a list, in order; the kind of the marks, and the number of the first marked line."""

    bodies: list[str]
    form: Marks
    line: int


@dataclass(frozen=True, slots=True)
class _Entry:
    line: int
    number: int
    body: str


@dataclass(frozen=True, slots=True)
class _Bullet:
    line: int
    indent: int
    body: str

    @property
    def is_heading(self) -> bool:
        return _is_heading(self.body)


def read_marks(lines: Sequence[str]) -> MarkedLines | None:
    """Return the list of marked lines, or None where no line is marked.

    Args:
        lines: the lines of a reply.

    Returns:
        The texts after numbers that run 1, 2, 3, … (lists may follow one another), else letters or numerals, else bullets. If
        all of these are headings ("1. Drama:"), the marked lines below them.
    """
    numbered = _numbered(lines)
    bullets = [bullet for at, line in enumerate(lines) if (bullet := _bullet(at, line)) is not None]
    end = bullets[0].line if bullets else len(lines)
    row = (_row_above(lines, numbered) or numbered) if numbered else _first_row(lines, end)
    if row and all(_is_heading(one.body) for one in row):
        below = None if bullets else _first_row(lines, len(lines), behind=row[0].line)
        row = below if bullets or below else row
    if row:
        return MarkedLines([one.body for one in row], "numbered", min(one.line for one in row))
    inline = _inline(lines, end)
    if inline is not None:
        return inline
    bullets = bullets or _weak_bullets(lines)
    if len(bullets) < 2 and (row_of_bullets := _bullets_in_line(lines)) is not None:
        return row_of_bullets
    if not bullets:
        return None
    items = [one for one in bullets if not one.is_heading] or bullets
    margin = min(one.indent for one in items)
    # Lines indented deeper describe an item.
    bodies = without_own_numbers([one.body for one in items if one.indent <= margin + 1])
    return MarkedLines(bodies, "bullets", bullets[0].line)


def without_own_numbers(titles: Sequence[str]) -> list[str]:
    """Return titles without the numbers they begin with, if each begins with its own; those that count down are turned round."""
    matched = [one for title in titles if (one := _NUMBERED.fullmatch(title)) is not None]
    if len(matched) == len(titles):
        numbers = [int(one["number"]) for one in matched]
        runs = numbers == list(range(1, len(numbers) + 1))
        return [one["body"] for one in (matched if runs else _in_turn(matched, numbers))] or list(titles)
    row = _first_row(titles, len(titles)) if len(titles) > 1 else None
    return [one.body for one in row] if row is not None and len(row) == len(titles) else list(titles)


def _is_heading(body: str) -> bool:
    return body.rstrip("*_ \t").endswith((":", "："))


def _bullet(at: int, line: str) -> _Bullet | None:
    if line[:1].isalpha() or NO_TEXT.fullmatch(line):
        return None
    matched = _BULLET.fullmatch(line)
    return _Bullet(at, len(matched["indent"].expandtabs(4)), matched["body"]) if matched else None


def _weak_bullets(lines: Sequence[str]) -> list[_Bullet]:
    """Return the lines that begin with an emoji or another weak mark, if all lines between the first and the last do."""
    found = []
    for at, line in enumerate(lines):
        if line[:1].isalpha() and line[:2] != "o ":
            continue
        matched = _WEAK_BULLET.fullmatch(line)
        if matched is not None and not NO_TEXT.fullmatch(line):
            found.append(_Bullet(at, len(matched["indent"].expandtabs(4)), matched["body"]))
    if len(found) < 2:
        return []
    marked = {one.line for one in found}
    between = range(found[0].line, found[-1].line)
    return found if all(at in marked or NO_TEXT.fullmatch(lines[at]) for at in between) else []


def _bullets_in_line(lines: Sequence[str]) -> MarkedLines | None:
    """Return the list of the only line that holds several bullets: "• A • B"; None where no line or another one does."""
    found = [(at, one) for at, line in enumerate(lines) if (one := _INLINE_BULLETS.fullmatch(line))]
    if len(found) != 1:
        return None
    at, one = found[0]
    mark = re.escape(one["mark"] or one["other"])
    written = re.split(rf"(?<!\s)\s+{mark}\ufe0f?\s*|{mark}\ufe0f?\s+", one["body"].lstrip("\ufe0f"))
    parts = [part.strip() for part in written if part.strip()]
    # "- A - B" may be a title and its author.
    least = 3 if one["other"] in ("-", "–", "—") else 2
    return MarkedLines(without_own_numbers(parts), "bullets", at) if len(parts) >= least else None


# Numbers


def _numbered(lines: Sequence[str]) -> list[_Entry]:
    """Return what follows each number of a list that runs 1, 2, 3, …; lists may follow one another."""
    # Most lines of prose begin with a letter, and so with no number.
    matched = [None if line[:1].isalpha() else _NUMBERED.fullmatch(line) for line in lines]
    marked = [(at, one) for at, one in enumerate(matched) if one is not None]
    if not marked:
        return []
    strong = [(at, one) for at, one in marked if not _is_weak(one)]
    found = _running(strong)
    n_others = sum(
        one is None and not NO_TEXT.fullmatch(line) for line, one in zip(lines, matched, strict=True)
    )
    if len(strong) < len(marked):
        found = _with_weak(found, marked, n_others)
    if len(found) < len(strong):
        found = _in_turn(strong, [int(one["number"]) for _, one in strong], is_all=n_others == 0) or found
    # One number among many lines belongs to a title.
    if len(found) < 2 and not (found and n_others <= MAX_LINES_ROUND_ONE):
        return []
    entries = [_Entry(at, int(one["number"]), _body(lines, at, one)) for at, one in found]
    return _split_at_gaps(entries, found[0][1]["mark"].strip())


def _is_weak(found: re.Match[str]) -> bool:
    """Return whether a mark may be a decimal point or the colon of a time, as a digit follows it at once."""
    mark = found["mark"]
    return found["body"][:1].isdigit() and mark.endswith(_WEAK_MARKS) and not found["close_after"]


def _running(marked: Sequence[tuple[int, re.Match[str]]]) -> list[tuple[int, re.Match[str]]]:
    found: list[tuple[int, re.Match[str]]] = []
    previous = 0
    for at, one in marked:
        number = int(one["number"])
        if number in (0, 1) or (found and previous <= number <= previous + MAX_NUMBER_GAP):
            found.append((at, one))
            previous = number
    return found


def _with_weak(
    found: list[tuple[int, re.Match[str]]], marked: Sequence[tuple[int, re.Match[str]]], n_others: int
) -> list[tuple[int, re.Match[str]]]:
    """Return a list with the titles that begin with a digit right behind their mark: "3.1984"."""
    numbers = [int(one["number"]) for _, one in marked]
    runs = numbers == list(range(1, len(numbers) + 1)) and len(numbers) > 1
    if not found:
        return list(marked) if runs and n_others <= MAX_LINES_ROUND_ONE else []
    is_tight = all(one["body"][:1].strip() for _, one in found if one["body"])
    return list(marked) if runs and is_tight else found


def _in_turn(marked: Sequence[Marked], numbers: Sequence[int], *, is_all: bool = False) -> list[Marked]:
    """Return what is marked if its numbers count down, the first place first, or go on from an earlier list: 6, 7, 8.

    Two count only where 1 is one of them, or where they are all there is.
    """
    if len(numbers) < 2 or (step := numbers[1] - numbers[0]) not in (1, -1):
        return []
    runs = list(numbers) == list(range(numbers[0], numbers[0] + step * len(numbers), step))
    return list(marked[::step]) if runs and (len(numbers) >= MIN_BARE or 1 in numbers or is_all) else []


def _body(lines: Sequence[str], at: int, found: re.Match[str]) -> str:
    body = _emphasised(found, found["close"] + found["close_after"].lstrip(")）-"))
    return body if body.strip("*_ \t") else _below(lines, at, int(found["number"]))


def _below(lines: Sequence[str], at: int, number: int) -> str:
    """Return the line below a number that is alone, unless it is an item of its own; otherwise ''."""
    line = lines[at + 1] if at + 1 < len(lines) else ""
    following = _NUMBERED.fullmatch(line)
    # Any other number belongs to a title: "2001: A Space Odyssey" below "3.".
    is_item = following is not None and int(following["number"]) in (0, 1, number, number + 1)
    return "" if is_item or _BULLET.fullmatch(line) or NO_TEXT.fullmatch(line) else line.strip()


def _split_at_gaps(entries: list[_Entry], mark: str) -> list[_Entry]:
    """Split "A 2. B" where the next line goes on with 3."""
    followers = [one.number for one in entries[1:]] + [0]
    split = []
    for entry, follower in zip(entries, followers, strict=True):
        if follower == entry.number + 1:
            split.append(entry)
            continue
        # A number at the end of the last title belongs to the list only if it is marked like the others.
        is_last = follower == 0 and len(entries) > 1
        parts = _split_inline(entry.number, entry.body, _INLINE_NUMBER, mark if is_last else "")
        if len(parts) == 1 and not is_last:
            parts = _split_inline(entry.number, entry.body, _INLINE_TIGHT)
        split += [_Entry(entry.line, entry.number + place, part) for place, part in enumerate(parts)]
    return split


def _split_inline(number: int, body: str, pattern: re.Pattern[str], mark: str = "") -> list[str]:
    """Split "A 2. B 3. C", which follows the number 1, at the next numbers."""
    parts, start = [], 0
    for found in pattern.finditer(body):
        if int(found[1]) == number + 1 and mark in found[0]:
            parts.append(body[start : found.start()])
            number, start = number + 1, found.end()
    parts.append(body[start:].rstrip().removesuffix("。"))
    return [part.strip().rstrip(_SEPARATORS) for part in parts] if parts[1:] else [body]


def _inline(lines: Sequence[str], before: int) -> MarkedLines | None:
    """Return a list written in one line: "1. A 2. B", "①A②B", "一、A；二、B", "a) A, b) B"."""
    for at, line in enumerate(lines[:before]):
        is_plain = line.isascii() and not _INLINE_MARK.search(line)
        if is_plain or NO_TEXT.fullmatch(line):
            continue
        for pattern in (_INLINE_NUMBER, _INLINE_TIGHT) if "1" in line or not line.isascii() else ():
            start = next((one for one in pattern.finditer(line) if int(one[1]) == 1), None)
            if start is not None and len(several := _split_inline(1, line[start.end() :], pattern)) > 1:
                return MarkedLines(several, "numbered", at)
        if len(several := _split_symbols(lines, at, before)) > 1:
            return MarkedLines(several, "numbered", at)
    return None


def _split_symbols(lines: Sequence[str], at: int, before: int) -> list[str]:
    """Split "①A②B", "一、A；二、B" or "a) A, b) B" at the marks that run from the first on; the first line holds two."""
    if len(_symbols_in_order(lines[at])) < 2:
        return []
    text = "\n".join(lines[at:before])
    marks = _symbols_in_order(text)
    ends = [start for start, _ in marks[1:]] + [len(text)]
    parts = (text[behind:end].split("\n")[0] for (_, behind), end in zip(marks, ends, strict=True))
    return [part.strip(" \t.、．").rstrip(_SEPARATORS + "。") for part in parts]


def _symbols_in_order(text: str) -> list[tuple[int, int]]:
    """Return start and end of the marks in a text that run from the first on."""
    marks: list[tuple[int, int]] = []
    for found in _INLINE_SYMBOL.finditer(text):
        if found["letter"]:
            value: int | None = _ALPHABETS[0].find(found["letter"].lower()) + 1
        elif found["numeral"]:
            value = _chinese(found["numeral"])
        else:
            value = _value_of_symbol(found["keycap"] or found["enclosed"])
        if value == len(marks) + 1:
            marks.append(found.span())
    return marks


# Rows of other marks: letters, numerals, symbols, words with numbers


def _row_above(lines: Sequence[str], numbered: Sequence[_Entry]) -> list[_Entry] | None:
    """Return the row of other marks under whose items the numbered lines say something: "一、水浒传" over "1. 作者：施耐庵"."""
    if sum(one.number == 1 for one in numbered) < 2 or not _are_remarks([one.body for one in numbered]):
        return None
    return _first_row(lines, numbered[0].line)


def _are_remarks(bodies: Sequence[str]) -> bool:
    """Return whether most of these lines say something about an item: "Year: 2015", or a sentence."""
    said = sum(_REMARK.fullmatch(body) is not None or _is_sentence(body) for body in bodies)
    return 2 * said > len(bodies)


def _is_sentence(body: str) -> bool:
    text = body.strip()
    return (len(text.split()) >= SENTENCE_WORDS and text.endswith((".", "!", "?"))) or text.endswith(
        ("。", "！")
    )


def _first_row(lines: Sequence[str], before: int, behind: int = -1) -> list[_Entry] | None:
    """Return the row of marks that begins first between two lines; of two that begin there, the longer one."""
    families: dict[tuple[str, ...], list[_Entry]] = {}
    is_open = False
    for at, line in enumerate(lines):
        if at >= before and not is_open:
            break
        # Most lines of most replies are looked at once, and are no mark.
        if at <= behind or not _MAY_BE_MARK.match(line):
            continue
        for family, value, body in _readings(line):
            entry = _Entry(at, value, body if body.strip("*_ \t") else _below(lines, at, value))
            families.setdefault(family, []).append(entry)
            is_open = True
    rows = [row for family, entries in families.items() for row in _rows(family, entries, lines)]
    begun = [(min(one.line for one in row), -len(row), row) for row in rows]
    return min((one for one in begun if one[0] < before), key=lambda one: one[:2], default=(0, 0, None))[2]


def _rows(family: tuple[str, ...], entries: Sequence[_Entry], lines: Sequence[str]) -> Iterator[list[_Entry]]:
    """Yield the entries of one family that run from 1 on, and all of them where they count down or go on from another list."""
    row: list[_Entry] = []
    for entry in entries:
        if entry.number == 1 or (row and entry.number == row[-1].number + 1):
            row.append(entry)
    if row and _is_row(family, row, lines):
        yield row
    numbers = [one.number for one in entries]
    if family[0] not in _UNMARKED or (len(numbers) >= MIN_BARE and numbers[-1] == 1):
        other = _in_turn(entries, numbers)
        if len(other) > len(row) and _is_row(family, other, lines):
            yield other


def _is_row(family: tuple[str, ...], row: Sequence[_Entry], lines: Sequence[str]) -> bool:
    if len(row) == 1:
        is_symbol = family[0] == "symbol" and not _INLINE_SYMBOL.search(row[0].body)
        return is_symbol and _n_written(lines) <= 1 + MAX_LINES_ROUND_ONE
    if all(one.number == 1 for one in row):
        return False
    if family[0] == "brackets" and any(_ADDRESS.match(one.body) for one in row):
        return False
    marked = {one.line for one in row}
    if family[0] == "alone":
        # The title is in the line below.
        marked |= {one.line + 1 for one in row}
        if len(marked) < 2 * len(row) or not all(one.body for one in row):
            return False
    elif family[0] != "bare":
        return True
    elif len(row) < MIN_BARE and len(row) < _n_written(lines):
        return False
    return all(at in marked or NO_TEXT.fullmatch(lines[at]) for at in range(min(marked), max(marked)))


def _n_written(lines: Sequence[str]) -> int:
    return sum(not NO_TEXT.fullmatch(line) for line in lines)


def _readings(line: str) -> Iterator[tuple[tuple[str, ...], int, str]]:
    """Yield the readings of a line's mark: its family, its number, and the text after it."""
    if not line.isascii() and (found := _SYMBOL_MARK.fullmatch(line)):
        symbol = found["keycap"] or found["enclosed"]
        if (value := _value_of_symbol(symbol)) is not None:
            yield ("symbol",), value, _emphasised(found, found["close"])
            return
    if found := _TOKEN_MARK.fullmatch(line):
        yield from _of_token(found)
    elif found := _ORDINAL_MARK.fullmatch(line):
        yield ("ordinal",), int(found["token"]), _emphasised(found, found["close_after"])
        return
    elif (found := _TIGHT_DASH.fullmatch(line)) or (found := _SLASH.fullmatch(line)):
        yield ("tight" if found.re is _TIGHT_DASH else "slash",), int(found["token"]), found["body"].strip()
    elif found := _BARE.fullmatch(line):
        # "#1 Dune", "**1** Dune" and "1 | Dune" are marked. A tab may divide the columns of a table.
        is_marked = line[found.start("token") - 1 : found.start("token")] == "#" or (
            found["sign"] or (found["open"] and found["close"])
        )
        body = _emphasised(found, found["close"]).split("\t")[0].strip()
        yield ("hash" if is_marked else "bare",), int(found["token"]), body
    elif found := _ALONE.fullmatch(line):
        yield ("alone",), int(found["token"]), ""
    elif found := _WORD_MARK.fullmatch(line):
        yield from _of_word(found)


def _of_token(found: re.Match[str]) -> Iterator[tuple[tuple[str, ...], int, str]]:
    token, left, right = found["token"], found["left"], found["right"]
    if left and (right[:1] not in _RIGHT or _RIGHT.index(right[:1]) != _LEFT.index(left)):
        return
    # "<b>" is a tag.
    if not token.isdecimal() and (right[:1] in ("}", ">") or (not left and right[:1] in "】〕〗］]")):
        return
    body = _emphasised(found, found["close"] + found["close_after"])
    style = left or right[:1]
    if token.isdecimal():
        if left or right[:1] in _RIGHT:
            yield ("brackets", style), int(token), body
        return
    numeral = _chinese(token)
    if numeral is not None:
        yield ("numeral", style), numeral, body
        return
    # "A.I." is no item: a letter needs a space behind its full stop.
    is_spaced = (
        not found["body"][:1].isascii()
        or found["body"][:1].isspace()
        or not found["body"]
        or right[-1:] not in ".:"
        or bool(found["close_after"])
    )
    if not is_spaced and token.isascii():
        return
    is_upper = token.isupper()
    roman = _roman(token)
    if roman is not None:
        yield ("roman", style, str(is_upper)), roman, body
    if len(token) == 1:
        letter = token.lower()
        for order, alphabet in enumerate(_ALPHABETS):
            if (place := alphabet.find(letter)) >= 0:
                yield ("letter", style, str(is_upper), str(order)), place + 1, body


def _of_word(found: re.Match[str]) -> Iterator[tuple[tuple[str, ...], int, str]]:
    word, token = found["word"].lower(), found["token"]
    is_number_word = word in _NUMBER_WORDS
    if not (is_number_word or is_title_label(word)) or not (is_number_word or found["mark"]):
        return
    if not token.isdecimal() and word.isascii():
        return
    if word == "第" and not (found["unit"] or found["mark"] or found["body"][:1].isspace()):
        return
    value = int(token) if token.isdecimal() else _chinese(token)
    if value is not None:
        yield ("word", word, found["unit"]), value, _emphasised(found, found["close"] + found["close_after"])


def _emphasised(found: re.Match[str], closing: str) -> str:
    """Return what follows a mark, with the emphasis that opens before the mark and closes behind the item, or only there."""
    body = found["body"].strip()
    if found["open"]:
        return body if closing else found["open"] + body
    return closing + body


def _value_of_symbol(symbol: str) -> int | None:
    if symbol == "\U0001f51f":
        return 10
    if "\u20e3" in symbol:
        return int("".join(one for one in symbol if one.isdecimal()))
    number = unicodedata.numeric(symbol, None)
    if number is not None:
        return int(number) if number == int(number) else None
    letter = unicodedata.normalize("NFKC", symbol).strip("()").lower()
    return _ALPHABETS[0].find(letter) + 1 or None if len(letter) == 1 else None


def _chinese(token: str) -> int | None:
    """Return the number of a Chinese numeral below 100: 三, 十, 十二, 二十, 二十一, 二一; None for any other text."""
    if not token or any(one not in _CHINESE for one in token):
        return None
    token = token.replace("拾", "十")
    if "十" in token:
        tens, _, ones = token.partition("十")
        if len(tens) > 1 or len(ones) > 1:
            return None
        return (_CHINESE[tens] if tens else 1) * 10 + (_CHINESE[ones] if ones else 0)
    return int("".join(str(_CHINESE[one]) for one in token)) if len(token) <= 2 else None


def _roman(token: str) -> int | None:
    """Return the number of a roman numeral below 100, or None."""
    letters = unicodedata.normalize("NFKC", token).lower()
    if not letters or not _IS_ROMAN.fullmatch(letters):
        return None
    values = [_ROMAN[one] for one in letters]
    return sum(-one if one < other else one for one, other in zip(values, [*values[1:], 0], strict=True))
