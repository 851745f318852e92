"""Recommendation lists in replies: the items in order, in any form that the model chose.

The forms are tried from the plainest to the vaguest: JSON, numbered lines, tables, bullets, headings, prose, plain lines. The
lines before and after a marked list are no items. Every pattern is tried on one line or one item and none can backtrack far, so
reading is linear in the reply's length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from collector.answers.recommendations.key_words import column_of_names, first_keys, meaning_of
from collector.answers.recommendations.list_marks import (
    NO_TEXT,
    SENTENCE_WORDS,
    read_marks,
    without_own_numbers,
)
from collector.answers.recommendations.list_titles import cleaned, quoted_titles
from collector.answers.recommendations.markdown_tables import (
    MarkdownTable,
    markdown_tables,
    table_without_rule,
)
from collector.answers.texts.json_text import JsonNumber, JsonObject, json_values
from collector.answers.texts.plain import INVISIBLE, WITHOUT_SPACES

Form = Literal["json", "numbered", "table", "bullets", "headings", "prose", "lines", "none"]

MAX_DEPTH = 6
MAX_PROSE_WORDS = 10
MAX_LINE_WORDS = 15
# For a line in a script without spaces between words.
MAX_LINE_CHARACTERS = 40
MAX_LEADS = 10

# A key that wraps the list rather than naming an item.
_WRAPPER = re.compile(
    r"recommend|list|items?$|results?$|titles|movies|films|songs|tracks|music|products|books|answer|data|response",
    re.IGNORECASE,
)
_COUNTED_KEY = re.compile(r"(?P<stem>[^\d]*)(?P<number>\d{1,4})[.)]?")
# Marks of direction and width; those that join letters or emoji are a part of the title.
_INVISIBLE = re.compile(f"(?![\u200c\u200d\ufe0e\ufe0f])[{INVISIBLE}]")
_BREAK = re.compile(r"<br\s{0,3}/?>|</?(?:ol|ul|p|div)(?:\s[^<>]{0,300})?>|</li>", re.IGNORECASE)
_ITEM = re.compile(r"<li(?:\s[^<>]{0,300})?>", re.IGNORECASE)
_OPENING_OF_HEADINGS = ("#", "*", "_")
_HEADING = re.compile(r"\s{0,3}(?P<level>#{1,6})\s+(?P<body>\S.*)")
_EMPHASISED = re.compile(r"\s{0,3}(?P<level>\*{2,3}|__)(?P<body>[^*\n]{1,150}?)(?P=level)\s{0,20}:?")

# Words that announce titles, and words that do so only if the titles begin with capitals.
_LEAD = re.compile(
    r"\b(?:recommend(?:ed|ing)?|recommendations (?:are|include)|suggest(?:ed)?|such as|includ(?:e|es|ing)"
    r"|recommande(?:rais)?|tels? que|recomiendo|recomendar[ií]a|tales como|empfehlen?(?: (?:ihnen|dir|euch))?|recomendo"
    r"|consiglio|polecam|рекомендую|советую)"
    r"\b[ :]*|(?:推荐|推薦)[：:]?\s*|:\s+|：",
    re.IGNORECASE,
)
_VAGUE_LEAD = re.compile(r"\b(?:like|try|enjoy|would be|comme|como)\b\s+|^\s*", re.IGNORECASE)
_LAST_OF_SEVERAL = re.compile(r"^(?:and|et|y|e|&|und|och|og|ve|oraz|и|та)\s+|^以及", re.IGNORECASE)
_BETWEEN_LAST_TWO = re.compile(r"\s+(?:and|et|y|&|und|och|og|ve|oraz|и|та)\s+|以及", re.IGNORECASE)
# It may join two titles or be part of one (战争与和平).
_JOINS_IN_CHINESE = re.compile(r"[和与與及跟]")
# A full stop behind an abbreviation or an initial ends no sentence.
_SENTENCE_END = re.compile(
    r"[.!](?=\s|$)(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\bvs\.)(?<!\bNo\.)(?<!\b[A-Z]\.)|[。！]"
)
_INTRO = re.compile(
    r"(?:sure|certainly|of course|absolutely|here (?:are|is|you go|'s)|here’s|below (?:are|is)|voici|bien sûr"
    r"|aquí|claro|por supuesto|gerne|natürlich|hier (?:sind|ist|zijn)|ecco|certo|oto|вот|конечно|işte|tabii)\b"
    r"|以下|好的|当然|當然|这里是|這裡是|はい|もちろん|こちら|다음은|물론",
    re.IGNORECASE,
)
_UNSPACED = re.compile(f"[{WITHOUT_SPACES}]")
# Text that opens like JSON but does not parse is broken JSON, not prose.
_LIKE_JSON = re.compile(r"\s*(?:```\w*\s*)?[\[{]")


@dataclass(frozen=True, slots=True)
class FoundList:
    """The items of a reply in order, the form they came in, and whether the list was left open (JSON only).

    A form with no items is an empty list: numbers or brackets that hold nothing.
    """

    items: tuple[str, ...] = ()
    form: Form = "none"
    is_unclosed: bool = False

    @property
    def is_certain(self) -> bool:
        """Return whether the form is one that a refusal does not take: JSON, a table or numbered lines, with items."""
        return bool(self.items) and self.form in ("json", "table", "numbered")


def find_list(text: str) -> FoundList:
    """Return the list of a reply with the form it came in.

    Args:
        text: the reply: JSON (a list of titles, of objects, or an object whose keys or values are the titles), lines with numbers
            of any script, a Markdown table, bullets, headings over descriptions, prose with quoted titles or a comma list, or
            plain lines.

    Returns:
        The items in order as they were written, without number, bullet, emphasis, surrounding quotes and description; white
        space is single, repeats are kept, empty items left out. A list that counts down to 1 is turned round. Form 'none' where
        there is no list.
    """
    in_json = _from_json(text)
    if in_json is not None and in_json.items:
        return in_json
    plain = _plain_text(text)
    lines = plain.splitlines()
    # Numbers are better evidence than an empty bracket.
    marked = _from_marks(lines) or in_json
    if marked is not None:
        return marked
    if _LIKE_JSON.match(plain):
        return FoundList()
    headed = _from_headings(lines)
    if headed is not None:
        return headed
    prose = _from_prose(lines)
    return prose if prose.items else _from_lines(lines)


def _plain_text(text: str) -> str:
    """Return a text without invisible marks, and with lines in place of HTML's."""
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
    if "<" in text:
        text = _ITEM.sub("\n- ", _BREAK.sub("\n", text))
    return text


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
            return FoundList(cleaned(titles), "json", left_open)
        if is_line:
            gathered.extend(titles)
    return FoundList(cleaned(gathered), "json", is_unclosed) if found_json else None


def _titles(value: JsonObject | list[Any], depth: int) -> list[str]:
    if depth == 0:
        return []
    if isinstance(value, list):
        titles = [title for one in value if (title := _title(one)) is not None]
        return without_own_numbers(titles)
    inner = [one for _, one in value if isinstance(one, list)]
    arrays = [titles for one in inner if (titles := _titles(one, depth - 1))]
    title = _titled(value)
    if arrays and (title is None or any(_is_wrapper(key) for key, one in value if isinstance(one, list))):
        return [title for titles in arrays for title in titles]
    title = _named(value) if title is None else title
    if title is not None:
        return [title]
    if len(value) == 1 and isinstance(value[0][1], JsonObject) and _is_wrapper(value[0][0]):
        return _titles(value[0][1], depth - 1)
    if is_counted([key for key, _ in value]):
        return _titles([one for _, one in value], depth - 1)
    return [key for key, one in value if not isinstance(one, list)]


def _title(value: Any) -> str | None:
    """Return the title of one element of a list, or None."""
    if isinstance(value, str):
        return value
    if isinstance(value, JsonObject):
        named = _named(value)
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
    return next((str(by_key[key]) for key in first_keys("title") if key in by_key), None)


def _named(value: JsonObject) -> str | None:
    """Return the value of an object's key for titles, in any language, or None."""
    titled = _titled(value)
    if titled is not None:
        return titled
    by_rank = {
        meaning.rank: str(one)
        for key, one in reversed(value)
        if isinstance(one, str)
        and not isinstance(one, JsonNumber)
        and (meaning := meaning_of(key)).role == "name"
    }
    return by_rank[min(by_rank)] if by_rank else None


def _is_wrapper(key: str) -> bool:
    return _WRAPPER.search(key) is not None or meaning_of(key).role == "list"


def is_counted(keys: Sequence[str]) -> bool:
    """Return whether keys are numbers from 0 or 1 on, with or without one same word before them."""
    matched = [_COUNTED_KEY.fullmatch(key.strip()) for key in keys]
    stems = {one["stem"] for one in matched if one is not None}
    numbers = [int(one["number"]) for one in matched if one is not None]
    if not numbers or len(numbers) < len(keys) or len(stems) > 1:
        return False
    first = numbers[0]
    return first in (0, 1) and numbers == list(range(first, first + len(numbers)))


# Numbered lines, bullets, tables


def _from_marks(lines: Sequence[str]) -> FoundList | None:
    """Return the list of numbered lines, bullets or a table's rows, whichever is written; None where there is neither."""
    marked = read_marks(lines)
    has_pipes = any("|" in line for line in lines)
    table = (next(markdown_tables(lines), None) or table_without_rule(lines)) if has_pipes else None
    # Numbers above a table are the list; bullets may be remarks about it.
    if table is not None and not (marked and marked.form == "numbered" and marked.line < table.line):
        titles = _of_table(lines, table)
        if titles:
            return FoundList(titles, "table")
    if marked is None:
        return None
    return _without_questions(marked.bodies, marked.form)


def _of_table(lines: Sequence[str], first: MarkdownTable) -> tuple[str, ...]:
    """Return the titles of a table and of those below it that have the same header."""
    alike = [table.rows for table in markdown_tables(lines) if table.header == first.header] or [first.rows]
    rows = [row for rows in alike for row in rows]
    column = column_of_names(first.header, rows)
    return cleaned(without_own_numbers([row[column] if column < len(row) else "" for row in rows]))


def _without_questions(bodies: Sequence[str], form: Form) -> FoundList:
    """Return the list of these bodies; none if most of them ask a question back."""
    items = cleaned(bodies)
    asked = sum(
        (item.endswith("?") and len(item.split()) >= SENTENCE_WORDS) or item.endswith("？") for item in items
    )
    return FoundList() if 2 * asked > len(items) else FoundList(items, form)


# Headings, prose and plain lines


def _from_headings(lines: Sequence[str]) -> FoundList | None:
    """Return the headings that each have a description, or the short lines below headings; None without headings.

    Where either may be meant ("**Hello**" over "Adele", "**Ballad**" over "Hello"), there is no list.
    """
    if not any(line.lstrip()[:1] in _OPENING_OF_HEADINGS for line in lines if line):
        return None
    written = [line for line in lines if not NO_TEXT.fullmatch(line)]
    heads = [(at, found) for at, line in enumerate(written) if (found := _heading(line)) is not None]
    # A heading right above another one is that of the whole reply.
    if len(heads) > 1 and heads[1][0] == heads[0][0] + 1 and heads[0][1]["level"] != heads[1][1]["level"]:
        heads = heads[1:]
    if len(heads) < 2 or len({found["level"] for _, found in heads}) > 1:
        return None
    places = {at for at, _ in heads}
    below = [line for at, line in enumerate(written) if at > heads[0][0] and at not in places]
    n_sentences = sum(map(_is_sentence, below))
    if not below:
        return None
    if 2 * n_sentences >= len(below) and len(below) >= len(heads) - 1:
        return FoundList(
            cleaned(without_own_numbers([found["body"].rstrip(":") for _, found in heads])), "headings"
        )
    if n_sentences == 0 and len(below) >= 2 * len(heads):
        return _from_lines(below)
    return FoundList()


def _heading(line: str) -> re.Match[str] | None:
    return (
        (_HEADING.fullmatch(line) or _EMPHASISED.fullmatch(line))
        if line.lstrip()[:1] in ("#", "*", "_")
        else None
    )


def _from_prose(lines: Sequence[str]) -> FoundList:
    lines = [line for line in lines if not NO_TEXT.fullmatch(line)]
    sentences = [line for line in lines if _is_sentence(line) or _INTRO.match(line.strip())]
    # Lines of titles are read as lines, even where a title holds a comma.
    if len(lines) > 2 and len(sentences) * 2 < len(lines):
        return FoundList()
    quoted = [title for line in lines for title in quoted_titles(line)]
    if len(quoted) > 1 and all(len(title.split()) <= MAX_LINE_WORDS for title in quoted):
        return FoundList(_prose_items(quoted), "prose")
    for line in lines:
        items = _comma_list(line)
        if items:
            return FoundList(_prose_items(items), "prose")
    return FoundList()


def _prose_items(parts: Sequence[str]) -> tuple[str, ...]:
    # The comma or full stop of the sentence may be inside the quotes: "Hello," and "Skyfall."
    *others, last = (part.strip().rstrip(",;") for part in parts)
    return cleaned(without_own_numbers([*others, last.removesuffix(".")]))


def _comma_list(line: str) -> list[str]:
    """Return the parts of a comma list after a colon or a word such as 'recommend', or in a line of its own."""
    for lead, is_vague in ((_LEAD, False), (_VAGUE_LEAD, True)):
        for _, found in zip(range(MAX_LEADS), lead.finditer(line), strict=False):
            rest = line[found.end() :]
            end = _SENTENCE_END.search(rest)
            parts = _parts(rest[: end.start()] if end else rest)
            is_list = len(parts) > 1 + is_vague and all(
                0 < _n_words(part) <= MAX_PROSE_WORDS for part in parts
            )
            if is_list and not (is_vague and any(part[0].islower() for part in parts)):
                return parts
    return []


def _n_words(text: str) -> int:
    """Return how many words a text has; in scripts without spaces four characters count as one."""
    return len(text.split()) + (len(_UNSPACED.findall(text)) // 4 if not text.isascii() else 0)


def _parts(text: str) -> list[str]:
    if not text.isascii() and _UNSPACED.search(text):
        return _parts_in_chinese(text)
    text = text.replace("،", ",").replace("؛", ";")
    separator = ";" if text.count(";") > 1 else ","
    parts = [part.strip() for part in text.split(separator) if part.strip()]
    # A list that ends in "or" names possibilities: "such as genres, artists, or moods".
    if len(parts) < 2 or parts[-1].lower().startswith(("or ", "ou ", "o ", "oder ")):
        return []
    if _LAST_OF_SEVERAL.match(parts[-1]):
        return [*parts[:-1], _LAST_OF_SEVERAL.sub("", parts[-1])]
    return [*parts[:-1], *_BETWEEN_LAST_TWO.split(parts[-1], maxsplit=1)]


def _parts_in_chinese(text: str) -> list[str]:
    # The comma of a sentence divides clauses, not titles.
    separator = "；" if "；" in text else "、"
    parts = [part.strip() for part in text.split(separator) if part.strip()]
    if len(parts) > 1 and parts[-1].startswith("以及"):
        parts[-1] = parts[-1].removeprefix("以及")
    # Kana at the end belongs to the sentence.
    is_open = (
        not parts
        or _JOINS_IN_CHINESE.search(parts[-1])
        or parts[-1].endswith(("です", "ます", "など", "等", "等等"))
    )
    return [] if is_open or len(parts) < 3 else parts


def _from_lines(lines: Sequence[str]) -> FoundList:
    """Read lines without marks: titles are short, and what introduces or closes them is a sentence."""
    lines = [line.strip() for line in lines if not NO_TEXT.fullmatch(line)]
    if lines and all(line.startswith(">") for line in lines):
        lines = [line.lstrip("> ") for line in lines]
    while lines and (lines[0].endswith((":", "：")) or _is_sentence(lines[0]) or _INTRO.match(lines[0])):
        lines = lines[1:]
    while lines and _is_sentence(lines[-1]):
        lines = lines[:-1]
    is_list = len(lines) > 1 and all(len(line.split()) <= MAX_LINE_WORDS for line in lines)
    if not is_list or 2 * sum(map(_is_sentence, lines)) > len(lines):
        return FoundList()
    return FoundList(cleaned(without_own_numbers(lines)), "lines")


def _is_sentence(line: str) -> bool:
    stripped = line.strip()
    n_words = len(stripped.split())
    if n_words > MAX_LINE_WORDS or (
        n_words >= SENTENCE_WORDS and stripped.endswith((".", "!", "?", ":", "…"))
    ):
        return True
    if stripped.isascii():
        return False
    n_unspaced = len(_UNSPACED.findall(stripped))
    return n_unspaced > MAX_LINE_CHARACTERS or (
        n_unspaced >= SENTENCE_WORDS and stripped.endswith(("。", "！", "？", "：", "，", "!", "?", ":"))
    )
