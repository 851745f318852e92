"""Titles inside the items of a list: emphasis, quotes, links, labels and descriptions around them are cut off."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from collector.answers.recommendations.key_words import is_title_label

# The characters of a placeholder; a title may be made of other marks ("?", "÷").
_PLACEHOLDER = re.compile(r"[\s.…_*#|-]*")
_LINK = re.compile(r"\[([^\][]{1,300})\]\([^)\s]{0,300}\)")
_CITATION = re.compile(r"(?<=\S)\s(?:\[\d{1,2}\])+$")
_TAG = re.compile(r"</?(?:a|b|cite|code|em|i|mark|small|span|strong|u)(?:\s[^<>]{0,300})?>", re.IGNORECASE)
_PAIRED = re.compile(r"(?<![\w*])(\*{1,3}|__)(?=[^\s*])([^*\n]{1,150}?)(?<=[^\s*])\1(?![\w*])")
_LEADING_EMPHASIS = re.compile(r"(\*{1,3}|_{1,3}|`)(?=\S)(.+?)(?<=\S)\1(?!\w)")
# Quotation marks of any language around a title. Each closes at its own mark, so that a title may hold another pair.
_QUOTED = (
    r"\"([^\"{n}]+)\"",
    r"“([^“”{n}]+)[”\"]",
    r"„([^„“”{n}]+)[“”]",
    r"«([^«»{n}]+)»",
    r"‘([^‘{n}]+)’(?!\w)",
    r"‚([^‚‘’{n}]+)[‘’]",
    r"»([^«»{n}]+)«",
    r"‹([^‹›{n}]+)›",
    r"›([^‹›{n}]+)‹",
    r"”([^”{n}]+)”",
    r"《([^《》{n}]+)》",
    r"「([^「」{n}]+)」",
    r"『([^『』{n}]+)』",
    r"〈([^〈〉{n}]+)〉",
    r"〝([^〝〞〟{n}]+)[〞〟]",
    r"＂([^＂{n}]+)＂",
    r"｢([^｢｣{n}]+)｣",
)
# Korean titles; in other scripts it is what a tag looks like, unless it is all there is.
_ANGLED = re.compile(r"<([^<>]*[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3][^<>]*)>|<([^<>/|]+)>$")
_LEADING_QUOTE = re.compile("|".join(_QUOTED).replace("{n}", ""))
_OPENING_QUOTES = frozenset('"“„«‘‚»‹›”《「『〈〝＂｢')
_SINGLE_QUOTED = re.compile(r"'([^\n]+?)'(?=$|\s*(?:[,;(–—]|-\s|by\s|de\s))")
# Marks that only titles have, anywhere in an item: 余华《活着》, 村上春樹『ノルウェイの森』.
_TITLE_MARKS = re.compile(r"《([^《》]+)》|『([^『』]+)』")
_CLOSING_TITLE = re.compile(r"[^「」]+「([^「」]+)」")
_IN_LENTICULAR = re.compile(r"【([^【】]+)】")
# An apostrophe that opens a title and closes nothing: 'Til, 'Round, '39.
_ELISION = re.compile(r"['’](?:til|till|round|bout|cause|cuz|tis|twas|em|n|neath|s|\d\d?)\b", re.IGNORECASE)
_DASH = re.compile(r"\s+[-–—]\s+|\s?(?:——|──)\s?")
_EMOJI = re.compile(
    r"\s*(?:[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff][\ufe0f\u200d\U0001f3fb-\U0001f3ff]*){1,4}\s+(?=\S)"
)
_DESCRIBED = re.compile(r"\s*(?P<title>[^:：\n]{1,150}?)(?:\s?:\s+|：)(?P<said>\S.*\S)\s*")
SENTENCE_WORDS = 5
MIN_CHARACTERS = 8
_TRAILING = ",;:，；：、،؛"
# "Title: Hello", and what follows such a title: ", Artist: Adele".
_LABELLED = re.compile(
    r"\s*[*_]{0,3}(?P<label>[^\W\d_]{1,20}(?:[ \t][^\W\d_]{1,12})?)[*_]{0,3}\s?[:：][*_]{0,3}\s?(?P<rest>\S.*)"
)
_NEXT_LABEL = re.compile(r"\s?[,;|，；]\s?[*_]{0,3}[^\W\d_]{2,20}[*_]{0,3}\s?[:：]")


def clean_item(body: str) -> str:
    """Return an item without emphasis, quotes and description; white space is single."""
    return _split_item(body)[0]


def cleaned(bodies: Sequence[str]) -> tuple[str, ...]:
    """Return the titles of a list's items, empty ones left out.

    Text that most items repeat before a dash is a performer and no title; a beginning of all items ("Title: …") is a label.
    """
    written = [body for body in bodies if not _PLACEHOLDER.fullmatch(body)]
    titles = _without_full_stops(_without_descriptions(_without_labels(_without_emoji(written))))
    halves = [_split_item(body) for body in titles]
    pairs = {(before.casefold(), behind.casefold()) for before, behind in halves if behind}
    n_behind = Counter(before for before, _ in pairs)
    n_before = Counter(behind for _, behind in pairs)
    leads = sum(n_behind[before] > 1 for before, _ in pairs)
    trails = sum(n_before[behind] > 1 for _, behind in pairs)
    # If performers come first and most items are pairs, an item whose performer occurs once is taken the same way.
    are_mostly_pairs = 2 * len(pairs) > len(halves)
    items = (
        behind
        if behind and leads > trails and (are_mostly_pairs or n_behind[before.casefold()] > 1)
        else before
        for before, behind in halves
    )
    return tuple(item for item in items if item and not _PLACEHOLDER.fullmatch(item))


def quoted_titles(line: str) -> list[str]:
    """Return the texts in quotation marks or in emphasis in a line, in order."""
    return [next(part for part in found.groups() if part is not None) for found in _IN_PROSE.finditer(line)]


def _in_prose() -> re.Pattern[str]:
    """Return the pattern of titles inside sentences: marks that a sentence uses only for titles."""
    marks = [
        one.replace("{n}", r"\n").replace("]+)", "]{1,150})") for one in _QUOTED if one[0] not in "‘‚”〈"
    ]
    # The same mark opens and closes; it also closes “…”.
    marks.append(r"(?<![\w.,!?…])”([^“”\n]{1,150})”")
    emphasis = r"(?<![*\w])\*{1,3}(?=[^\s*])([^*\n]{1,150})\*{1,3}(?![*\w])"
    return re.compile("|".join([*marks, emphasis]))


_IN_PROSE = _in_prose()


def _split_item(body: str) -> tuple[str, str]:
    """Return an item's title and the text after its dash: a description or a performer, or '' if there is none."""
    item = " ".join(_LINK.sub(r"\1", body).split())
    if item.endswith("]"):
        item = _CITATION.sub("", item)
    if "<" in item:
        item = _TAG.sub("", item).strip()
    for _ in range(3):  # quotes inside emphasis inside quotes is the deepest nesting in use
        if item[:1] in ("*", "_", "`") and (emphasised := _LEADING_EMPHASIS.match(item)):
            item = emphasised[2].strip()
        elif (quoted := _leading_quote(item)) is not None:
            return quoted.rstrip(_TRAILING).strip(), ""
        else:
            break
    if not item.isascii() and (marked := _marked_title(item)) is not None:
        return marked, ""
    before, behind = item, ""
    if dash := _DASH.search(item):
        before, behind = item[: dash.start()], item[dash.end() :]
        title = _leading_quote(behind)
        # The performer may come first, and then it is the title that is in quotes.
        before, behind = (title, "") if title is not None else (before or behind, behind if before else "")
    return _bare(before), _bare(behind)


def _bare(text: str) -> str:
    if "*" in text or "__" in text:
        text = _PAIRED.sub(r"\2", text)
    return text.rstrip(_TRAILING).strip()


def _leading_quote(item: str) -> str | None:
    """Return the text in quotes at an item's start, or None."""
    opening = item[:1]
    if opening in _OPENING_QUOTES and (quoted := _LEADING_QUOTE.match(item)):
        return next(part for part in quoted.groups() if part is not None).strip()
    if opening == "<" and (quoted := _ANGLED.match(item)):
        return str(quoted[1] or quoted[2]).strip()
    if opening == "'" and not _ELISION.match(item) and (quoted := _SINGLE_QUOTED.match(item)):
        return quoted[1].strip()
    return None


def _marked_title(item: str) -> str | None:
    """Return the title that marks single out in an item, such as 《》, or None where none or several do."""
    found: list[str] = [one or other for one, other in _TITLE_MARKS.findall(item)]
    if len(found) == 1:
        return found[0].strip()
    whole = _CLOSING_TITLE.fullmatch(item) or _IN_LENTICULAR.fullmatch(item)
    return str(whole[1]).strip() if whole and not found else None


def _without_emoji(bodies: list[str]) -> list[str]:
    """Return items without the emoji that each of them begins with: "1. 🎵 Hello"."""
    if len(bodies) < 2 or bodies[0].isascii():
        return bodies
    found = [_EMOJI.match(body) for body in bodies]
    if not all(found):
        return bodies
    return [body[one.end() :] for body, one in zip(bodies, found, strict=True) if one is not None]


def _without_descriptions(bodies: list[str]) -> list[str]:
    """Return items without the sentence behind a colon, where each of them has one: "Emma: A novel about matches that fail."."""
    if len(bodies) < 2 or not any(mark in bodies[0] for mark in (":", "：")):
        return bodies
    titles = []
    for body in bodies:
        found = _DESCRIBED.fullmatch(body)
        if found is None or not _is_said(found["said"]):
            return bodies
        titles.append(found["title"])
    return titles


def _is_said(text: str) -> bool:
    """Return whether a text is a sentence of five words, or in a script without spaces of eight characters."""
    if text.endswith(("。", "！")):
        return len(text) >= MIN_CHARACTERS
    return text.endswith((".", "!")) and len(text.split()) >= SENTENCE_WORDS


def _without_labels(bodies: list[str]) -> list[str]:
    """Return items without the label that each of them begins with ("Title: Hello, Artist: Adele" is Hello)."""
    titles = []
    for body in bodies:
        found = _LABELLED.fullmatch(body)
        if found is None or not is_title_label(found["label"]):
            return bodies
        following = _NEXT_LABEL.search(found["rest"])
        titles.append(found["rest"][: following.start()] if following else found["rest"])
    return titles


def _without_full_stops(bodies: list[str]) -> list[str]:
    """Return items without the ideographic full stop that closes each, or the full stop behind the last of "A; B; C."."""
    if len(bodies) < 2:
        return bodies
    *others, last = (body.rstrip() for body in bodies)
    if last.endswith("。") and all(body.endswith("。") for body in others):
        return [body.rstrip().removesuffix("。") for body in bodies]
    if last.endswith((".", "。")) and all(body.endswith((";", "；", ",", "，", "、")) for body in others):
        return [*others, last[:-1]]
    return bodies
