"""Recommendation lists in replies: the items in order, whatever form the model chose.

The forms are tried from the plainest to the vaguest: JSON, numbered lines, bullets, prose, plain lines. Intro and outro
lines of a marked list are no items. Every pattern is tried on one line or one item and none can backtrack far, so reading
is linear in the reply's length.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from collector.answers.json_text import JsonNumber, JsonObject, json_values

Form = Literal["json", "numbered", "bullets", "prose", "lines", "none"]

TITLE_KEYS = ("title", "name", "item", "product", "song", "movie", "film", "track", "book", "recommendation")
MAX_DEPTH = 6
MAX_NUMBER_GAP = 5  # a model that counts wrongly skips few numbers; a larger jump is a number of another kind
MAX_PROSE_WORDS = 10
MAX_LINE_WORDS = 15
MAX_LEADS = 10
MAX_LINES_ROUND_ONE = 3
SENTENCE_WORDS = 5

# A key that wraps the list rather than naming an item.
_WRAPPER = re.compile(
    r"recommend|list|items?$|results?$|titles|movies|films|songs|tracks|music|products|books|answer|data|response",
    re.IGNORECASE,
)
_COUNTED_KEY = re.compile(r"(?P<stem>[^\d]*)(?P<number>\d{1,4})[.)]?")

# 1. · 1) · 1: · (1) · **1.** · **1**. · ## 1. ; what follows may not be a digit: "1.5 million" is no item.
_NUMBERED = re.compile(
    r"[ \t>#]*(?P<open>[*_]{0,3})\(?(?P<number>\d{1,4})(?P<close>[*_]{0,3})(?:[.):]|[ \t][-–—](?=[ \t]))"
    r"(?P<close_after>\)?[*_]{0,3})(?!\d)(?P<body>.*)"
)
_INLINE_NUMBER = re.compile(r"(?:^|(?<=\s))(?:\*\*)?\(?(\d{1,3})[.):]\)?(?:\*\*)?(?=\s)")
_BULLET = re.compile(r"(?P<indent>[ \t>]*)(?:[-*+–—](?=[ \t])|[•·‣◦▪●○■])[ \t]*(?P<body>.*)")
# A rule, a fence or a row of a table stands between lines and is none.
_NO_TEXT = re.compile(r"[ \t]*(?:[-*_=~]{3,}[ \t]*|`{3,}.*|\|.*|)")

# What a placeholder consists of; a title may be made of other marks ("?", "÷").
_PLACEHOLDER = re.compile(r"[\s.…_*#|-]*")
_LINK = re.compile(r"\[([^\][]{1,300})\]\([^)\s]{0,300}\)")
_PAIRED = re.compile(r"(?<![\w*])(\*{1,3}|__)(?=[^\s*])([^*\n]{1,150}?)(?<=[^\s*])\1(?![\w*])")
_LEADING_EMPHASIS = re.compile(r"(\*{1,3}|_{1,3}|`)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_LEADING_QUOTE = re.compile(r"\"([^\"]+)\"|“([^“”]+)[”\"]|„([^„“”]+)[“”]|«([^«»]+)»|‘([^‘]+)’(?!\w)")
_SINGLE_QUOTED = re.compile(r"'([^\n]+?)'(?=$|\s*(?:[,;(–—]|-\s|by\s|de\s))")
# An apostrophe that opens a title and closes nothing: 'Til, 'Round, '39.
_ELISION = re.compile(r"['’](?:til|till|round|bout|cause|cuz|tis|twas|em|n|neath|s|\d\d?)\b", re.IGNORECASE)
_DASH = re.compile(r"\s+[-–—]\s+")

_QUOTED_TITLE = re.compile(
    r"\"([^\"\n]{1,150})\"|“([^“”\n]{1,150})”|«([^«»\n]{1,150})»|(?<![*\w])\*{1,3}(?=[^\s*])([^*\n]{1,150})\*{1,3}(?![*\w])"
)
# What announces titles, and what does so only where the titles begin with capitals.
_LEAD = re.compile(
    r"\b(?:recommend(?:ed|ing)?|recommendations (?:are|include)|suggest(?:ed)?|such as|includ(?:e|es|ing)"
    r"|recommande(?:rais)?|tels? que|recomiendo|recomendar[ií]a|tales como)\b[ :]*|:\s+",
    re.IGNORECASE,
)
_VAGUE_LEAD = re.compile(r"\b(?:like|try|enjoy|would be|comme|como)\b\s+|^\s*", re.IGNORECASE)
_LAST_OF_SEVERAL = re.compile(r"^(?:and|et|y|e|&)\s+", re.IGNORECASE)
_BETWEEN_LAST_TWO = re.compile(r"\s+(?:and|et|y|&)\s+", re.IGNORECASE)
# A full stop behind an abbreviation or an initial ends no sentence.
_SENTENCE_END = re.compile(
    r"[.!](?=\s|$)(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\bvs\.)(?<!\bNo\.)(?<!\b[A-Z]\.)"
)
_INTRO = re.compile(
    r"(?:sure|certainly|of course|absolutely|here (?:are|is|you go|'s)|here’s|below (?:are|is)|voici|bien sûr"
    r"|aquí|claro|por supuesto)\b",
    re.IGNORECASE,
)
# Text that opens like JSON and is none is broken JSON, not prose.
_LIKE_JSON = re.compile(r"\s*(?:```\w*\s*)?[\[{]")


@dataclass(frozen=True, slots=True)
class FoundList:
    """What a reply holds: its items in order, the form they came in, and whether the list was left open (JSON only).

    A form with no items is an empty list: numbers or brackets that hold nothing.
    """

    items: tuple[str, ...] = ()
    form: Form = "none"
    is_unclosed: bool = False

    @property
    def is_certain(self) -> bool:
        """Whether the form is one that a refusal does not take: JSON or numbered lines, with items."""
        return bool(self.items) and self.form in ("json", "numbered")


def find_list(text: str) -> FoundList:
    """Return the list of a reply with the form it came in.

    Args:
        text: the reply: JSON (a list of titles, of objects, or an object whose keys or values are the titles), numbered
            lines, bullets, prose with quoted titles or a comma list, or plain lines.

    Returns:
        The items in order as they were written, without number, bullet, emphasis, surrounding quotes and description; white
        space is single, repeats are kept, empty items left out. Form 'none' where there is no list.
    """
    in_json = _from_json(text)
    if in_json is not None and in_json.items:
        return in_json
    # Numbers tell more than a bracket that holds nothing.
    marked = _from_marks(text) or in_json
    if marked is not None:
        return marked
    if _LIKE_JSON.match(text):
        return FoundList()
    prose = _from_prose(text)
    return prose if prose.items else _from_lines(text)


def clean_item(body: str) -> str:
    """Return an item without emphasis, quotes and description; white space is single."""
    return _split_item(body)[0]


def _split_item(body: str) -> tuple[str, str]:
    """Return an item's title and what stands behind its dash: a description or a performer, or '' where there is none."""
    item = " ".join(_LINK.sub(r"\1", body).split())
    for _ in range(3):  # quotes inside emphasis inside quotes; nobody goes further
        if emphasised := _LEADING_EMPHASIS.match(item):
            item = emphasised[2].strip()
        elif (quoted := _leading_quote(item)) is not None:
            return quoted.rstrip(",;").strip(), ""
        else:
            break
    before, behind = item, ""
    if dash := _DASH.search(item):
        before, behind = item[: dash.start()], item[dash.end() :]
        title = _leading_quote(behind)
        # The performer may come first, and then it is the title that stands in quotes.
        before, behind = (title, "") if title is not None else (before or behind, behind if before else "")
    return _bare(before), _bare(behind)


def _bare(text: str) -> str:
    return _PAIRED.sub(r"\2", text).rstrip(",;:").strip()


def _leading_quote(item: str) -> str | None:
    """Return what stands in quotes at an item's start, or None."""
    if quoted := _LEADING_QUOTE.match(item):
        return next(part for part in quoted.groups() if part is not None).strip()
    if item.startswith("'") and not _ELISION.match(item) and (quoted := _SINGLE_QUOTED.match(item)):
        return quoted[1].strip()
    return None


def _cleaned(bodies: Sequence[str]) -> tuple[str, ...]:
    """Return the items of a list; what is repeated before a dash while the rest changes is a performer and no title."""
    halves = [_split_item(body) for body in bodies if not _PLACEHOLDER.fullmatch(body)]
    pairs = {(before.casefold(), behind.casefold()) for before, behind in halves if behind}
    n_behind = Counter(before for before, _ in pairs)
    n_before = Counter(behind for _, behind in pairs)
    leads = sum(n_behind[before] > 1 for before, _ in pairs)
    trails = sum(n_before[behind] > 1 for _, behind in pairs)
    # Where performers stand first and most items are pairs, an item whose performer comes once is written that way too.
    are_mostly_pairs = 2 * len(pairs) > len(halves)
    items = (
        behind
        if behind and leads > trails and (are_mostly_pairs or n_behind[before.casefold()] > 1)
        else before
        for before, behind in halves
    )
    return tuple(item for item in items if item and not _PLACEHOLDER.fullmatch(item))


# JSON


def _from_json(text: str) -> FoundList | None:
    """Return the list that JSON in a reply holds, or None where the reply holds no JSON."""
    gathered: list[str] = []
    found_json = is_unclosed = False
    for value, left_open in json_values(text):
        found_json, is_unclosed = True, is_unclosed or left_open
        titles = _titles(value, MAX_DEPTH)
        # One object a line is one list; otherwise the first value that holds titles is the answer.
        is_line = isinstance(value, JsonObject) and _titled(value) is not None
        if titles and not (is_line or gathered):
            return FoundList(_cleaned(titles), "json", left_open)
        if is_line:
            gathered.extend(titles)
    return FoundList(_cleaned(gathered), "json", is_unclosed) if found_json else None


def _titles(value: JsonObject | list[Any], depth: int) -> list[str]:
    if depth == 0:
        return []
    if isinstance(value, list):
        titles = [title for one in value if (title := _title(one)) is not None]
        return _without_own_numbers(titles)
    inner = [one for _, one in value if isinstance(one, list)]
    arrays = [titles for one in inner if (titles := _titles(one, depth - 1))]
    title = _titled(value)
    if arrays and (title is None or any(_WRAPPER.search(key) for key, one in value if isinstance(one, list))):
        return [title for titles in arrays for title in titles]
    if title is not None:
        return [title]
    if len(value) == 1 and isinstance(value[0][1], JsonObject) and _WRAPPER.search(value[0][0]):
        return _titles(value[0][1], depth - 1)
    if is_counted([key for key, _ in value]):
        return _titles([one for _, one in value], depth - 1)
    return [key for key, one in value if not isinstance(one, list)]


def _title(value: Any) -> str | None:
    """Return the title that one element of a list stands for, or None."""
    if isinstance(value, str):
        return value
    if isinstance(value, JsonObject):
        named = _titled(value)
        if named is not None:
            return named
        values: list[Any] = [one for _, one in value]
    elif isinstance(value, list):
        values = value
    else:
        return None
    return next((one for one in values if isinstance(one, str) and not isinstance(one, JsonNumber)), None)


def _titled(value: JsonObject) -> str | None:
    """Return the value of the first of an object's keys that names titles, or None."""
    by_key = {key.lower().strip(): one for key, one in reversed(value) if isinstance(one, str)}
    return next((str(by_key[key]) for key in TITLE_KEYS if key in by_key), None)


def is_counted(keys: Sequence[str]) -> bool:
    """Return whether keys are numbers from 0 or 1 on, with or without one same word before them."""
    matched = [_COUNTED_KEY.fullmatch(key.strip()) for key in keys]
    stems = {one["stem"] for one in matched if one is not None}
    numbers = [int(one["number"]) for one in matched if one is not None]
    if not numbers or len(numbers) < len(keys) or len(stems) > 1:
        return False
    first = numbers[0]
    return first in (0, 1) and numbers == list(range(first, first + len(numbers)))


def _without_own_numbers(titles: list[str]) -> list[str]:
    """Return titles without the numbers they begin with, if each begins with its own."""
    matched = [_NUMBERED.fullmatch(title) for title in titles]
    if all(one is not None and int(one["number"]) == index for index, one in enumerate(matched, start=1)):
        return [one["body"] for one in matched if one is not None]
    return titles


# Numbered lines and bullets


@dataclass(frozen=True, slots=True)
class _Bullet:
    indent: int
    body: str

    @property
    def is_heading(self) -> bool:
        return self.body.rstrip("*_ \t").endswith(":")


def _from_marks(text: str) -> FoundList | None:
    """Return the list of numbered lines or bullets, or None where no line is marked."""
    lines = text.splitlines()
    numbered = _numbered(lines)
    bullets = [_bullet(line) for line in lines]
    marked = [one for one in bullets if one is not None]
    # Numbered headings over bulleted items: "1. Drama:" and below it "- Memento".
    if numbered and marked and all(body.rstrip("*_ \t").endswith(":") for body in numbered):
        numbered = []
    if numbered:
        return _without_questions(numbered, "numbered")
    if not marked:
        return None
    items = [one for one in marked if not one.is_heading] or marked
    margin = min(one.indent for one in items)
    # What stands deeper is said about an item.
    bodies = _without_own_numbers([one.body for one in items if one.indent <= margin + 1])
    return _without_questions(bodies, "bullets")


def _without_questions(bodies: Sequence[str], form: Form) -> FoundList:
    """Return the list of these bodies; where most of them ask something back, there is none."""
    items = _cleaned(bodies)
    asked = sum(item.endswith("?") and len(item.split()) >= SENTENCE_WORDS for item in items)
    return FoundList() if 2 * asked > len(items) else FoundList(items, form)


def _bullet(line: str) -> _Bullet | None:
    if _NO_TEXT.fullmatch(line):
        return None
    matched = _BULLET.fullmatch(line)
    return _Bullet(len(matched["indent"].expandtabs(4)), matched["body"]) if matched else None


def _numbered(lines: Sequence[str]) -> list[str]:
    """Return what follows each number of a list that runs 1, 2, 3, …; lists may follow one another."""
    found: list[tuple[int, str]] = []
    previous = 0
    for at, line in enumerate(lines):
        matched = _NUMBERED.fullmatch(line)
        if matched is None:
            continue
        number = int(matched["number"])
        if number not in (0, 1) and not (found and previous <= number <= previous + MAX_NUMBER_GAP):
            continue
        body = matched["body"].strip()
        if matched["open"] and not (matched["close"] or matched["close_after"].lstrip(")")):
            body = matched["open"] + body
        if not body.strip("*_ \t") and at + 1 < len(lines):
            body = _unmarked(lines[at + 1])
        found.append((number, body))
        previous = number
    n_others = sum(not (_NUMBERED.fullmatch(line) or _NO_TEXT.fullmatch(line)) for line in lines)
    # One number among many lines belongs to a title.
    if len(found) > 1 or (found and n_others <= MAX_LINES_ROUND_ONE):
        followers = [number for number, _ in found[1:]] + [0]
        return [
            one
            for (number, body), follower in zip(found, followers, strict=True)
            for one in ([body] if follower == number + 1 else _split_inline(number, body))
        ]
    for line in lines:
        start = next((one for one in _INLINE_NUMBER.finditer(line) if one[1] == "1"), None)
        if start is not None and len(several := _split_inline(1, line[start.end() :])) > 1:
            return several
    return []


def _unmarked(line: str) -> str:
    """Return a line that is neither numbered nor a bullet, for a number whose title stands below it; otherwise ''."""
    if _NUMBERED.fullmatch(line) or _BULLET.fullmatch(line) or _NO_TEXT.fullmatch(line):
        return ""
    return line.strip()


def _split_inline(number: int, body: str) -> list[str]:
    """Split "A 2. B 3. C", which stands after the number 1, at the numbers that go on from it."""
    parts, start = [], 0
    for mark in _INLINE_NUMBER.finditer(body):
        if int(mark[1]) == number + 1:
            parts.append(body[start : mark.start()])
            number, start = number + 1, mark.end()
    parts.append(body[start:])
    return [part.strip().rstrip(",;") for part in parts]


# Prose and plain lines


def _from_prose(text: str) -> FoundList:
    lines = [line for line in text.splitlines() if not _NO_TEXT.fullmatch(line)]
    sentences = [line for line in lines if _is_sentence(line) or _INTRO.match(line.strip())]
    # Lines of titles are read as lines, even where a title holds a comma.
    if len(lines) > 2 and len(sentences) * 2 < len(lines):
        return FoundList()
    quoted = [
        next(part for part in found.groups() if part is not None)
        for line in lines
        for found in _QUOTED_TITLE.finditer(line)
    ]
    if len(quoted) > 1 and all(len(title.split()) <= MAX_LINE_WORDS for title in quoted):
        return FoundList(_prose_items(quoted), "prose")
    for line in lines:
        items = _comma_list(line)
        if items:
            return FoundList(_prose_items(items), "prose")
    return FoundList()


def _prose_items(parts: Sequence[str]) -> tuple[str, ...]:
    # The comma or full stop of the sentence may stand inside the quotes: "Hello," and "Skyfall."
    *others, last = (part.strip().rstrip(",;") for part in parts)
    return _cleaned([*others, last.removesuffix(".")])


def _comma_list(line: str) -> list[str]:
    """Return the parts of a comma list after a colon or a word such as 'recommend', or of a line that is nothing else."""
    for lead, is_vague in ((_LEAD, False), (_VAGUE_LEAD, True)):
        for _, found in zip(range(MAX_LEADS), lead.finditer(line), strict=False):
            rest = line[found.end() :]
            end = _SENTENCE_END.search(rest)
            parts = _parts(rest[: end.start()] if end else rest)
            is_list = len(parts) > 1 + is_vague and all(
                0 < len(part.split()) <= MAX_PROSE_WORDS for part in parts
            )
            if is_list and not (is_vague and any(part[0].islower() for part in parts)):
                return parts
    return []


def _parts(text: str) -> list[str]:
    separator = ";" if text.count(";") > 1 else ","
    parts = [part.strip() for part in text.split(separator) if part.strip()]
    # What ends in "or" names possibilities: "such as genres, artists, or moods".
    if len(parts) < 2 or parts[-1].lower().startswith(("or ", "ou ", "o ")):
        return []
    if _LAST_OF_SEVERAL.match(parts[-1]):
        return [*parts[:-1], _LAST_OF_SEVERAL.sub("", parts[-1])]
    return [*parts[:-1], *_BETWEEN_LAST_TWO.split(parts[-1], maxsplit=1)]


def _from_lines(text: str) -> FoundList:
    """Read lines without marks: titles are short, and what introduces or closes them is a sentence."""
    lines = [line.strip() for line in text.splitlines() if not _NO_TEXT.fullmatch(line)]
    while lines and (lines[0].endswith(":") or _is_sentence(lines[0]) or _INTRO.match(lines[0])):
        lines = lines[1:]
    while lines and _is_sentence(lines[-1]):
        lines = lines[:-1]
    is_list = len(lines) > 1 and all(len(line.split()) <= MAX_LINE_WORDS for line in lines)
    if not is_list or 2 * sum(map(_is_sentence, lines)) > len(lines):
        return FoundList()
    return FoundList(_cleaned(lines), "lines")


def _is_sentence(line: str) -> bool:
    stripped = line.strip()
    n_words = len(stripped.split())
    return n_words > MAX_LINE_WORDS or (
        n_words >= SENTENCE_WORDS and stripped.endswith((".", "!", "?", ":", "…"))
    )
